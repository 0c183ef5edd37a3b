"""The nearest of some points to each of some queries, and how many are as near."""

from typing import Any

import numpy as np
from array_api_compat import device, is_numpy_array

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import to_numpy

_WIDE = 2**14  # points of a tile, if there are as many


def nearest_records(
    points: Any, queries: Any, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest point of each query by tiles of all distances; see `Engine.nearest_records`."""
    xp = array_namespace(points)
    n, m = points.shape[0], queries.shape[0]
    squares = np.full(m, np.inf)
    found, ties = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    wide = min(n, _WIDE)
    step = max(1, entries(points) // wide)
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        for left in range(0, n, wide):
            tile = distances(queries[rows, :], points[left : min(left + wide, n), :])
            least = xp.min(tile, axis=1)
            as_near = xp.sum(xp.astype(tile == xp.reshape(least, (-1, 1)), xp.int64), axis=1)
            near = to_numpy(least).astype(np.float64)
            index, count = to_numpy(xp.argmin(tile, axis=1)), to_numpy(as_near)
            nearer, equal = near < squares[rows], near == squares[rows]
            found[rows] = np.where(nearer, left + index, found[rows])
            ties[rows] = np.where(nearer, count, ties[rows] + np.where(equal, count, 0))
            squares[rows] = np.where(nearer, near, squares[rows])
        if progress is not None:
            progress(rows.stop / m)
    return squares, found, ties


def entries(points: Any) -> int:
    """How many distances to compute at once: what stays in a processor's cache, or 32 MB."""
    return 2**17 if is_numpy_array(points) else 2**22


def distances(rows: Any, columns: Any) -> Any:
    """Squared distances of all rows of a matrix to all rows of another."""
    xp = array_namespace(rows)
    shape = (rows.shape[0], columns.shape[0])
    total = xp.zeros(shape, dtype=rows.dtype, device=device(rows))
    for v in range(rows.shape[1]):
        difference = xp.reshape(columns[:, v], (1, -1)) - xp.reshape(rows[:, v], (-1, 1))
        difference *= difference
        total += difference
    return total
