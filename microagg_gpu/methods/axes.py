"""Axes that rank records: first principal component, sum of z-scores, a particular variable."""

from typing import Any, Literal

import numpy as np

from ..errors import InputError, option
from ..kernels import array_namespace, to_numpy
from ..kernels.protocol import Engine

Axis = Literal["fpc", "sz", "pv"]


def first_component_weights(points: Any, engine: Engine) -> np.ndarray:
    """Weights of the variables on the first principal component, their sum not negative.

    The cross products are correctly rounded sums and the eigenvector is found on the host, so
    the weights do not depend on the array library.
    """
    xp = array_namespace(points)
    n, d = points.shape
    columns = points.T
    means = engine.correctly_rounded_sum(columns) / n
    centred = columns - xp.reshape(means, (d, 1))
    products = np.empty((d, d))
    for i in range(d):
        row = engine.correctly_rounded_sum(centred * centred[i : i + 1, :])
        products[i] = to_numpy(row)
    weights = np.linalg.eigh(products)[1][:, -1]
    return -weights if weights.sum() < 0 else weights


def scores(points: Any, projection: Axis, variable: int | None = None, *, engine: Engine) -> Any:
    """Place of each record on the axis that ranks them.

    Parameters
    ----------
    projection : {"fpc", "sz", "pv"}
        First principal component, sum of z-scores, or a particular variable.
    variable : int
        The particular variable.
    """
    d = points.shape[1]
    if projection == "pv":
        if variable is None or not 0 <= variable < d:
            raise InputError(
                option("variable", variable),
                f" names none of the {d} variables: 'pv' needs the one to rank by, as ",
                option("variable"),
            )
        return points[:, variable]
    weights = np.ones(d) if projection == "sz" else first_component_weights(points, engine)
    total = points[:, 0] * float(weights[0])
    for j in range(1, d):
        total = total + points[:, j] * float(weights[j])
    return total
