"""Correctly rounded sums, as in the generic engine: carried as a pair high + low (Knuth)."""

from typing import Any

import numpy as np
from numba import njit, prange

from ..generic.arrays import to_numpy

# Parts that are summed at the same time; not the number of threads, which may vary.
_PARTS = 64


@njit(cache=True, nogil=True)
def two_sum(a, b):
    """Return s = fl(a + b) and the exact error (a + b) - s (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def correctly_rounded_sum(columns: Any) -> np.ndarray:
    """Sum over the last axis, correctly rounded."""
    x = np.asarray(to_numpy(columns), dtype=np.float64)
    rows = np.moveaxis(x, -1, 0).reshape(x.shape[-1], -1)
    return sum_rows(np.ascontiguousarray(rows))[0].reshape(x.shape[:-1])


@njit(cache=True, nogil=True, parallel=True)
def sum_rows(rows):
    """Sum of the rows of a matrix as a pair: high, the correctly rounded sum, and low."""
    m, d = rows.shape
    total = np.zeros((_PARTS, 2, d))
    for part in prange(_PARTS):
        for i in range(part * m // _PARTS, (part + 1) * m // _PARTS):
            for j in range(d):
                s, error = two_sum(total[part, 0, j], rows[i, j])
                total[part, 0, j], total[part, 1, j] = two_sum(s, error + total[part, 1, j])
    for part in range(1, _PARTS):
        for j in range(d):
            s, error = two_sum(total[0, 0, j], total[part, 0, j])
            error += total[0, 1, j] + total[part, 1, j]
            total[0, 0, j], total[0, 1, j] = two_sum(s, error)
    return total[0]


@njit(cache=True, nogil=True)
def add(total, points, record, sign):
    """Add a record to a running sum of shape (2, d), or with sign -1 take it away."""
    for v in range(points.shape[1]):
        s, error = two_sum(total[0, v], sign * points[record, v])
        total[0, v], total[1, v] = two_sum(s, error + total[1, v])
