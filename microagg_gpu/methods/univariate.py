"""Fixed-size and optimal microaggregation of one ranked variable (2002, sections 3.1 and 4)."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..errors import InputError
from ..kernels import engine_for
from ..partition import labels_from_sizes
from .common import Progress


def ranking(points: Any, engine: str | None) -> tuple[np.ndarray, Any]:
    """Order of the records by their one variable, and the ranked values."""
    xp = array_namespace(points)
    to_numpy = engine_for(points, engine).to_numpy
    values = points[:, 0]
    order = to_numpy(xp.argsort(values, stable=False))
    ranked = xp.take(values, xp.asarray(order, device=device(points)))
    changes = to_numpy(ranked[1:] != ranked[:-1])
    if not changes.all():  # equal values in index order: what a stable sort gives, in less time
        n = len(order)
        place = np.concatenate([[0], np.cumsum(changes)])
        order = np.sort(place * n + order) % n
    return order, ranked


def fixed_sizes(ranked: np.ndarray, k: int, remainder: str) -> np.ndarray:
    """Sizes of consecutive groups of k, one of them with the n mod k records left over.

    That one holds the modal value, the value that most records have (the lowest of several):
    2002, section 4; or it is the last in the ranking: 1999, section 1.
    """
    if remainder not in ("mode", "last"):
        raise InputError(f"remainder={remainder!r} is unknown: choose 'mode' or 'last'")
    sizes = np.full(len(ranked) // k, k)
    large = len(sizes) - 1
    if remainder == "mode":
        changes = ranked[1:] != ranked[:-1]
        first = np.flatnonzero(np.concatenate([[True], changes, [True]]))  # of each value, and n
        large = min(int(first[np.argmax(np.diff(first))]) // k, large)
    sizes[large] += len(ranked) % k
    return sizes


def fixed(
    points: Any,
    k: int,
    *,
    remainder: str = "mode",
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Groups of k consecutive ranked records, F (2002, section 4).

    Parameters
    ----------
    remainder : {"mode", "last"}
        Where the n mod k records left over go: to the group at the modal value (2002), or to
        the last group of the ranking, as in the methods of the nineties (1999, section 1).
    """
    order, ranked = ranking(points, engine)
    values = engine_for(points, engine).to_numpy(ranked)
    return labels_from_sizes(order, fixed_sizes(values, k, remainder))


def optimal(
    points: Any, k: int, *, engine: str | None = None, progress: Progress | None = None
) -> np.ndarray:
    """The optimal k-partition of one variable (Hansen and Mukherjee 2003; 2002 Theorem 1)."""
    order, ranked = ranking(points, engine)
    return labels_from_sizes(order, engine_for(points, engine).optimal_sizes(ranked, k))
