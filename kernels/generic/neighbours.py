"""The nearest other records of every record."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import to_numpy
from .nearest import ENTRIES, _distances


def neighbours(
    points: Any, m: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The m nearest others by sorting rows of all distances; see `Engine.neighbours`."""
    xp = array_namespace(points)
    n = points.shape[0]
    squares, records = np.empty((n, m)), np.empty((n, m), dtype=np.int64)
    every = xp.arange(n, device=device(points))
    step = max(1, ENTRIES // n)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        tile = _distances(points[rows, :], points)
        tile = xp.where(xp.reshape(every[rows], (-1, 1)) == every, xp.inf, tile)
        nearest = xp.argsort(tile, axis=1, stable=True)[:, :m]
        records[rows] = to_numpy(nearest)
        squares[rows] = np.take_along_axis(to_numpy(tile), records[rows], axis=1)
        if progress is not None:
            progress(rows.stop / n)
    return squares, records
