"""Paths through all records, along which neighbours are close together.

References
----------
2004  Skilling, "Programming the Hilbert curve"
2006  Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz and Sebe, "Efficient multivariate
      data-oriented microaggregation"
"""

import math
from collections import deque
from functools import lru_cache
from operator import sub
from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import squared_distances, to_numpy
from .points import PointSet

# A move must shorten a tour by more than what rounding could make of it.
LEAST_GAIN = 1e-10
# Records that Or-opt moves at a time, at most.
LONGEST = 3
# A Hilbert curve goes through 2**BITS cells in each direction, and through so many directions.
BITS = 16
DIRECTIONS = 16
# Distances that are kept in Python's own numbers: some 200 MB.
_KEPT = 2**20


def nearest_path(points: Any, progress: Progress | None = None) -> np.ndarray:
    """Nearest point next; see `Engine.nearest_path`."""
    xp = array_namespace(points)
    n = points.shape[0]
    columns = xp.asarray(points.T, copy=True)
    gone = xp.zeros((n,), dtype=columns.dtype, device=device(points))  # infinite on the path
    records = PointSet(points)
    path = np.empty(n, dtype=np.int64)
    path[0] = records.farthest_from(records.centroid())
    for step in range(1, n):
        last = int(path[step - 1])
        gone[last] = xp.inf
        path[step] = int(xp.argmin(squared_distances(columns, points[last, :]) + gone))
        if progress is not None:
            progress((step + 1) / n)
    return path


def shorten_tour(
    points: Any, path: np.ndarray, near: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """Improve a closed tour by 2-opt and Or-opt; see `Engine.shorten_tour`."""
    matrix = np.asarray(to_numpy(points), dtype=np.float64)
    tour = _Tour(matrix, path, near)
    n = len(path)
    waiting = deque(path.tolist() if n >= 2 * LONGEST + 2 else [])
    queued = set(waiting)
    done = 0.0
    while waiting:
        a = waiting.popleft()
        while move := tour.best_move(a):
            for record in tour.make(*move):
                if record not in queued:
                    queued.add(record)
                    waiting.append(record)
        queued.remove(a)
        if progress is not None:
            done = max(done, 1 - len(waiting) / n)
            progress(done)
    return tour.order


class _Tour:
    """A closed tour as the records in their order, and the place of each.

    Most of the time goes into distances, so those that are needed again are kept: of a record to
    its neighbours, and of any two that were asked for.
    """

    def __init__(self, points: np.ndarray, path: np.ndarray, near: np.ndarray) -> None:
        self.points = points.tolist()
        self.order = path.copy()
        self.place = np.argsort(path)
        # Single numbers are read sooner through a memory view than from an array.
        self.record_at, self.place_of = self.order.data, self.place.data
        squares = np.zeros(near.shape)
        for column in points.T:
            squares += (column[:, np.newaxis] - column[near]) ** 2
        self.near = near.tolist()
        self.near_lengths = np.sqrt(squares).tolist()
        self.length = lru_cache(_KEPT)(self._length)

    def step(self, record: int, by: int) -> int:
        """The record some places on."""
        return self.record_at[(self.place_of[record] + by) % len(self.order)]

    def _length(self, a: int, b: int) -> float:
        total = 0.0
        for difference in map(sub, self.points[a], self.points[b]):
            total += difference * difference
        return math.sqrt(total)

    def best_move(self, a: int) -> tuple[int, ...] | None:
        """The move of `shorten_tour` that gains most: a, c, side of b, records, side of c.

        With 2-opt the number of records is 0.
        """
        best, most = None, 0.0
        length, step = self.length, self.step
        for side in (1, -1):
            b = step(a, side)
            old = length(a, b)
            moved: list[tuple[int, int, float, float]] = []
            for c, new in zip(self.near[a], self.near_lengths[a], strict=True):
                if new >= old:
                    break
                d = step(c, side)
                removed = old + length(c, d)
                gain = removed - (new + length(b, d))
                if gain > most and gain > LEAST_GAIN * removed:
                    best, most = (a, c, side, 0, side), gain
                if not moved:
                    moved = self.pieces(a, b, side, old)
                ends = [(beside, e := step(c, beside), length(c, e)) for beside in (1, -1)]
                for count, last, cut, closing in moved:
                    if c == last:
                        break
                    for beside, e, edge in ends:
                        if e == last:
                            continue
                        removed = cut + edge
                        gain = removed - (new + length(last, e) + closing)
                        if gain > most and gain > LEAST_GAIN * removed:
                            best, most = (a, c, side, count, beside), gain
        return best

    def pieces(self, a: int, b: int, side: int, old: float) -> list[tuple[int, int, float, float]]:
        """What Or-opt can move that begins with a, away from b.

        For each number of records the last of them, the length of the edges that are cut, and
        that of the edge which closes the gap.
        """
        found = []
        last = a
        for count in range(1, LONGEST + 1):
            after = self.step(a, -side * count)
            cut, closing = old + self.length(last, after), self.length(b, after)
            found.append((count, last, cut, closing))
            last = after
        return found

    def make(self, a: int, c: int, side: int, count: int, beside: int) -> tuple[int, ...]:
        """Make a move; return the other ends of the edges changed."""
        b = self.step(a, side)
        if count == 0:
            d = self.step(c, side)
            self.exchange(a, b, c, d)
            return b, c, d
        last, after = self.step(a, -side * (count - 1)), self.step(a, -side * count)
        e = self.step(c, beside)
        # Read forwards: before, first to final, behind, ..., u, v.
        before, first, final, behind = b, a, last, after
        if side == 1:
            before, first, final, behind = after, last, a, b
        u, v = (c, e) if beside == 1 else (e, c)
        self.exchange(before, first, u, v)
        self.exchange(before, u, behind, final)
        if (c == u) == (a == first):  # not to be turned round, which it was
            self.exchange(u, final, first, v)
        return b, c, e, last, after

    def exchange(self, a: int, b: int, c: int, d: int) -> None:
        """Replace the edges ab and cd, b and d on the same side, by ac and bd."""
        first, last = (b, c) if self.step(a, 1) == b else (a, d)
        n = len(self.order)
        start, count = self.place_of[first], (self.place_of[last] - self.place_of[first]) % n + 1
        if 2 * count > n:  # turning round the rest makes the same tour
            start, count = (start + count) % n, n - count
        places = np.arange(start, start + count) % n
        turned = self.order[places[::-1]]
        self.order[places] = turned
        self.place[turned] = places


def hilbert_path(points: Any) -> np.ndarray:
    """Records in the order of a Hilbert curve; see `Engine.hilbert_path`."""
    x = np.asarray(to_numpy(points), dtype=np.float64)
    columns = np.ascontiguousarray((x - x.mean(axis=0)).T)
    weights = np.linalg.eigh(np.einsum("ji,ki->jk", columns, columns))[1]
    axes = np.zeros((min(x.shape[1], DIRECTIONS), len(x)))
    for axis, weight in zip(axes, weights.T[::-1], strict=False):
        for column, w in zip(columns, weight.tolist(), strict=True):  # not by BLAS: in order
            axis += column * w
    axes -= axes.min(axis=1, keepdims=True)
    unit = axes.max() / 2**BITS
    cells = np.minimum(axes / (unit or 1.0), 2**BITS - 1).astype(np.uint32)
    return np.lexsort(_hilbert_keys(cells)[::-1])


def _hilbert_keys(cells: np.ndarray) -> list[np.ndarray]:
    """Numbers that rank cells along the curve, 64 bits of each at a time (Skilling 2004)."""
    d, n = cells.shape
    x = cells.astype(np.uint32)
    one = np.uint32(1)
    for bit in range(BITS - 1, 0, -1):
        below = np.uint32((1 << bit) - 1)
        for i in range(d):
            low = (x[i] >> np.uint32(bit) & one) - one  # all ones where the bit is 0
            swapped = (x[0] ^ x[i]) & low & below
            x[i] ^= swapped
            x[0] ^= swapped | ~low & below
    for i in range(1, d):
        x[i] ^= x[i - 1]
    turned = np.zeros(n, dtype=np.uint32)
    for bit in range(BITS - 1, 0, -1):
        turned ^= (x[d - 1] >> np.uint32(bit) & one) * np.uint32((1 << bit) - 1)
    x ^= turned
    keys = []
    for number in range(BITS * d):
        if number % 64 == 0:
            keys.append(np.zeros(n, dtype=np.uint64))
        keys[-1] <<= np.uint64(1)
        keys[-1] |= x[number % d] >> np.uint32(BITS - 1 - number // d) & one
    return keys
