"""Correctly rounded sums, as in the generic engine: carried as a pair high + low (Knuth)."""

from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from .compiled import entry, inner
from .threads import on_all_cores

# Parts that are summed at the same time; not the number of threads, which may vary.
_PARTS = 64
_MANY = 2**20  # numbers that are worth the waking of other threads


@inner()
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


def sum_rows(rows: np.ndarray) -> np.ndarray:
    """Sum of the rows of a matrix as a pair: high, the correctly rounded sum, and low."""
    m, d = rows.shape
    total = np.zeros((_PARTS + 1, 2, d))
    if rows.size < _MANY:
        _add_rows(total, 0, rows, 0, m)
        return total[0]

    def add_parts(first: int, last: int) -> None:
        for part in range(first, last):
            _add_rows(total, part, rows, part * m // _PARTS, (part + 1) * m // _PARTS)

    on_all_cores(add_parts, _PARTS)
    for part in range(_PARTS):
        _add_rows(total, _PARTS, total[part], 0, 2)
    return total[_PARTS]


@entry()
def _add_rows(total, part, rows, start, stop):
    for i in range(start, stop):
        for j in range(rows.shape[1]):
            s, error = two_sum(total[part, 0, j], rows[i, j])
            total[part, 0, j], total[part, 1, j] = two_sum(s, error + total[part, 1, j])


@inner()
def add(total, points, record, sign):
    """Add a record to a running sum of shape (2, d), or with sign -1 take it away."""
    for v in range(points.shape[1]):
        s, error = two_sum(total[0, v], sign * points[record, v])
        total[0, v], total[1, v] = two_sum(s, error + total[1, v])
