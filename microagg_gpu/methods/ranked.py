"""Fixed-size and optimal microaggregation of ranked variables (2002, sections 3.1 and 4).

Of several variables each is ranked and grouped by itself: its labels are a column.
"""

from typing import Any, Literal

import numpy as np

from ..data.labels import labels_from_sizes
from ..kernels import array_namespace, to_numpy
from ..kernels.protocol import Engine, Progress

Remainder = Literal["mode", "last"]


def ranking(points: Any, j: int = 0) -> tuple[np.ndarray, Any]:
    """Order of the records by variable j, and the ranked values."""
    xp = array_namespace(points)
    values = points[:, j]
    sorting = xp.argsort(values, stable=False)
    ranked, order = xp.take(values, sorting), to_numpy(sorting)
    changes = to_numpy(ranked[1:] != ranked[:-1])
    if not changes.all():  # equal values in index order: what a stable sort gives, in less time
        n = len(order)
        place = np.concatenate([[0], np.cumsum(changes)])
        order = np.sort(place * n + order) % n
    return order, ranked


def rankings(points: Any) -> tuple[list[np.ndarray], list[Any]]:
    """Order of the records by each variable, and the ranked values."""
    ranks = [ranking(points, j) for j in range(points.shape[1])]
    return [order for order, _ in ranks], [ranked for _, ranked in ranks]


def label_columns(orders: list[np.ndarray], sizes: list[np.ndarray]) -> np.ndarray:
    """Labels of shape (n,) for one variable, (n, p) for several."""
    labels = [labels_from_sizes(*column) for column in zip(orders, sizes, strict=True)]
    return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)


def fixed_sizes(ranked: Any, k: int, remainder: Remainder) -> np.ndarray:
    """Sizes of consecutive groups of k, one of them with the n mod k records left over.

    That one holds the modal value, the value that most records have (the lowest of several):
    2002, section 4; or it is the last in the ranking: 1999, section 1.
    """
    n = ranked.shape[0]
    sizes = np.full(n // k, k)
    large = len(sizes) - 1
    if remainder == "mode":
        changes = to_numpy(ranked[1:] != ranked[:-1])
        first = np.flatnonzero(np.concatenate([[True], changes, [True]]))  # of each value, and n
        large = min(int(first[np.argmax(np.diff(first))]) // k, large)
    sizes[large] += n % k
    return sizes


def fixed(
    points: Any,
    k: int,
    *,
    remainder: Remainder = "mode",
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """Groups of k consecutive ranked records, F (2002, section 4).

    Parameters
    ----------
    remainder : {"mode", "last"}
        Where the n mod k records left over go: to the group at the modal value (2002), or to
        the last group of the ranking, as in earlier methods (1999, section 1).
    """
    orders, ranked = rankings(points)
    sizes = [fixed_sizes(values, k, remainder) for values in ranked]
    return label_columns(orders, sizes)


def optimal(points: Any, k: int, *, engine: Engine, progress: Progress | None = None) -> np.ndarray:
    """The optimal k-partition of a variable (Hansen and Mukherjee 2003; 2002 Theorem 1)."""
    orders, ranked = rankings(points)
    columns = array_namespace(points).stack(ranked, axis=1)
    return label_columns(orders, engine.optimal_sizes(columns, k))
