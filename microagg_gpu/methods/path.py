"""Paths through the records, cut optimally: multivariate Hansen-Mukherjee, MHM.

Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz and Sebe (2006), "Efficient multivariate
data-oriented microaggregation": order the records, then cut that path into groups of k to 2k - 1
with the least SSE. We could not read its text; nearest point next (NPN) and the order of MDAV are
what others say of it. How groups are joined here, and the curve, are ours; tours were also cut by
Maya-Lopez, Casino and Solanas (2021), "Improving multivariate microaggregation through Hamiltonian
paths and optimal univariate microaggregation", Symmetry 13(6).
"""

from typing import Any, Literal

import numpy as np
from array_api_compat import device, is_cupy_array

from ..data.labels import labels_from_sizes, numbered
from ..kernels import array_namespace, to_numpy
from ..kernels.protocol import Engine
from ..progress import Progress, share
from .common import take_records
from .mdav import mdav
from .ranked import ranking

Order = Literal["nearest", "tour", "mdav", "mdav-tour", "curve"]
# Each order with the most records for which "all" tries it.
ORDERS: dict[Order, float] = {
    "nearest": 200_000,
    "tour": 50_000,
    "mdav": np.inf,
    "mdav-tour": 50_000,
    "curve": np.inf,
}
# Neighbours of a record that 2-opt and Or-opt look at.
_NEAR = 10
# Values added up in all cuts of a closed tour: some seconds.
_TRIED = 2**32


def path(
    points: Any,
    k: int,
    *,
    order: Literal["all"] | Order = "all",
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """Order the records along a path and cut it optimally, MHM (2006).

    One variable is ranked, whatever the order: the result is that of `optimal`.

    Parameters
    ----------
    order : {"all", "nearest", "tour", "mdav", "mdav-tour", "curve"}
        - "nearest" goes from the record farthest from the centroid always to the nearest left.
        - "mdav" takes the groups of MDAV in this order of their centroids, and in each group
          those records first that are nearer to the group before than to the group after.
        - "tour" and "mdav-tour" close these two paths and shorten them by 2-opt and Or-opt. A
          closed path is cut first at each of 2k - 1 places in turn (fewer for large n k**2).
        - "curve" is a Hilbert curve in the principal components, for very many records.
        - "all" keeps the best of those that take seconds: tours up to 50,000 records, "nearest"
          up to 200,000.
    """
    n, d = points.shape
    if d == 1:
        records = ranking(points)[0]
        return labels_from_sizes(records, _cut(points, records, k, engine)[0])
    tried = [name for name, most in ORDERS.items() if n <= most] if order == "all" else [order]
    least, labels = np.inf, np.zeros(n, dtype=np.int64)
    known: dict[str, np.ndarray] = {}
    for i, name in enumerate(tried):
        part = share(progress, i, 1, len(tried))
        path = path_order(points, k, name, engine, part, known)
        for start in _starts(n, d, k) if name.endswith("tour") else [0]:
            records = np.roll(path, -start)
            sizes, sse = _cut(_where_cut(points, known), records, k, engine)
            if sse < least:
                least, labels = sse, labels_from_sizes(records, sizes)
        part(1.0)
    return labels


def _cut(points: Any, records: np.ndarray, k: int, engine: Engine) -> tuple[np.ndarray, float]:
    """Sizes of the optimal groups along a path, and their SSE."""
    return engine.optimal_path_sizes(take_records(points, records), k)


def _where_cut(points: Any, known: dict[str, np.ndarray]) -> Any:
    """The records where paths are built and cut: those of a GPU on the host, copied once."""
    if not is_cupy_array(points):
        return points
    if "values" not in known:
        known["values"] = to_numpy(points)
    return known["values"]


def _starts(n: int, d: int, k: int) -> list[int]:
    """Where to cut a closed path first: every grouping has a cut at one of 2k - 1 places."""
    starts = np.arange(min(2 * k - 1, n))
    return starts[:: 1 + len(starts) * 2 * k * n * d // _TRIED].tolist()


def path_order(
    points: Any,
    k: int,
    order: str,
    engine: Engine,
    progress: Progress | None = None,
    known: dict[str, np.ndarray] | None = None,
) -> np.ndarray:
    """The records in one of the orders of `path`; `known` keeps what other orders need too."""
    known = {} if known is None else known

    def half(fraction: float) -> None:
        if progress is not None:
            progress(fraction / 2)

    if order in known:
        return known[order]
    if order == "curve":
        found = engine.hilbert_path(points)
    elif order == "nearest":
        found = engine.nearest_path(_where_cut(points, known), progress)
    elif order == "mdav":
        labels = mdav(points, k, engine=engine, progress=progress)
        found = _join_groups(_where_cut(points, known), labels, engine)
    else:
        longer = "mdav" if order == "mdav-tour" else "nearest"
        found = path_order(points, k, longer, engine, half, known)
        if "near" not in known:
            known["near"] = engine.neighbours(points, min(_NEAR, len(found) - 1))[1]
        values = _where_cut(points, known)
        found = engine.shorten_tour(values, found, known["near"], lambda f: half(1 + f))
    known[order] = found
    return found


def _join_groups(points: Any, labels: np.ndarray, engine: Engine) -> np.ndarray:
    """Groups by nearest centroid next, their records from the group before to the group after."""
    matrix = np.asarray(to_numpy(points), dtype=np.float64)
    group, sizes = numbered(labels)
    ranked = matrix[np.argsort(group, kind="stable")]
    centroids = np.add.reduceat(ranked, np.cumsum(sizes) - sizes) / sizes[:, np.newaxis]
    groups = engine.nearest_path(array_namespace(points).asarray(centroids, device=device(points)))
    place = np.empty_like(groups)
    place[groups] = np.arange(len(groups))
    at = place[group]
    before = centroids[groups[np.maximum(at - 1, 0)]]
    after = centroids[groups[np.minimum(at + 1, len(groups) - 1)]]
    nearer = np.zeros(len(matrix))  # the squared distance to one less that to the other
    for x, b, a in zip(matrix.T, before.T, after.T, strict=True):
        nearer += (x - b) ** 2 - (x - a) ** 2
    return np.lexsort((nearer, at))
