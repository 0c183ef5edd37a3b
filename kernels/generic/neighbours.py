"""The nearest other records of every record."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import to_numpy
from .nearest import distances, entries


def neighbours(
    points: Any, m: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The m nearest others from rows of all distances; see `Engine.neighbours`."""
    xp = array_namespace(points)
    n = points.shape[0]
    squares, records = np.empty((n, m)), np.empty((n, m), dtype=np.int64)
    every = xp.arange(n, device=device(points))
    step = max(1, entries(points) // n)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        tile = distances(points[rows, :], points)
        tile = to_numpy(xp.where(xp.reshape(every[rows], (-1, 1)) == every, xp.inf, tile))
        records[rows] = _least(tile, m)
        squares[rows] = np.take_along_axis(tile, records[rows], axis=1)
        if progress is not None:
            progress(rows.stop / n)
    return squares, records


def _least(tile: np.ndarray, m: int) -> np.ndarray:
    """The columns of the m least of each row, in order; of equals the first."""
    columns = np.sort(np.argpartition(tile, m - 1, axis=1)[:, :m], axis=1)
    values = np.take_along_axis(tile, columns, axis=1)
    columns = np.take_along_axis(columns, np.argsort(values, axis=1, stable=True), axis=1)
    # Where more than m are as near, a partition leaves out any of them.
    several = (tile <= values.max(axis=1, keepdims=True, initial=-np.inf)).sum(axis=1) > m
    columns[several] = np.argsort(tile[several], axis=1, stable=True)[:, :m]
    return columns
