"""Methods that rank records on one axis: projection and individual ranking.

References
----------
1999  Mateo-Sanz and Domingo-Ferrer, "A method for data-oriented multivariate microaggregation"
2002  Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation"
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..kernels import array_namespace
from ..kernels.protocol import Engine, Progress
from .axes import Axis, scores
from .genetic import genetic
from .options import parameters_of
from .ranked import fixed, optimal
from .ward import kward

Inner = Literal["fixed", "kward", "optimal", "genetic"]
INNER: dict[Inner, Callable[..., np.ndarray]] = {
    "fixed": fixed,
    "kward": kward,
    "optimal": optimal,
    "genetic": genetic,
}


def group_ranked(
    axis: Any, k: int, inner: Inner, seed: int, options: dict[str, Any], **common: Any
) -> np.ndarray:
    """Group records of one variable by the inner method."""
    takes = parameters_of(INNER[inner])
    options = takes.check(inner, options)
    if takes.seed:
        options["seed"] = seed
    return INNER[inner](axis, k, **common, **options)


def projection(
    points: Any,
    k: int,
    *,
    projection: Axis = "fpc",
    variable: int | None = None,
    descending: bool = False,
    inner: Inner = "fixed",
    seed: int = 0,
    engine: Engine,
    progress: Progress | None = None,
    **options: Any,
) -> np.ndarray:
    """Project the records on one axis and group them there: PF and Pk-W (2002, section 5).

    Parameters
    ----------
    projection : {"fpc", "sz", "pv"}
        The axis: first principal component, sum of z-scores, or a particular variable.
    variable : int or str
        With "pv", the variable.
    descending : bool
        Rank from the highest to the lowest.
    inner : {"fixed", "kward", "optimal", "genetic"}
        The univariate method. With "fixed" the last group of the ranking takes the records left
        over, as in the printed tables.
    **options
        Options of the inner method.
    """
    xp = array_namespace(points)
    axis = scores(points, projection, variable, engine=engine)
    if inner == "fixed":
        options = {"remainder": "last", **options}
    axis = xp.reshape(-axis if descending else axis, (-1, 1))
    return group_ranked(axis, k, inner, seed, options, engine=engine, progress=progress)


def individual(
    points: Any,
    k: int,
    *,
    inner: Inner = "fixed",
    seed: int = 0,
    engine: Engine,
    progress: Progress | None = None,
    **options: Any,
) -> np.ndarray:
    """Individual ranking: each variable grouped by itself (1999, section 1; 2002, section 3.1).

    Records as a whole are not k-anonymous: each variable has its own groups.

    Parameters
    ----------
    inner : {"fixed", "kward", "optimal", "genetic"}
        The univariate method.
    **options
        Options of the inner method.

    Returns
    -------
    int64 array of shape (n, p)
    """
    if inner in ("fixed", "optimal"):  # which label each variable by themselves, all at once
        labels = group_ranked(points, k, inner, seed, options, engine=engine)
        return np.reshape(labels, points.shape)
    columns = []
    for j in range(points.shape[1]):
        variable = points[:, j : j + 1]
        columns.append(group_ranked(variable, k, inner, seed, options, engine=engine))
        if progress is not None:
            progress((j + 1) / points.shape[1])
    return np.stack(columns, axis=1)
