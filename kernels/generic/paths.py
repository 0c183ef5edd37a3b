"""Paths through all records, along which neighbours are close together.

References
----------
2004  Skilling, "Programming the Hilbert curve"
2006  Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz and Sebe, "Efficient multivariate
      data-oriented microaggregation"
"""

import math
from collections import deque
from typing import Any

import numpy as np

from ..protocol import Progress
from .arrays import to_numpy
from .points import PointSet

# A move must shorten a tour by more than what rounding could make of it.
LEAST_GAIN = 1e-10
# Records that Or-opt moves at a time, at most.
LONGEST = 3
# A Hilbert curve goes through 2**BITS cells in each direction, and through so many directions.
BITS = 16
DIRECTIONS = 16


def nearest_path(points: Any, progress: Progress | None = None) -> np.ndarray:
    """Nearest point next; see `Engine.nearest_path`."""
    records = PointSet(points)
    n = len(records)
    record = records.farthest_from(records.centroid())
    path = records.take([record])
    while len(records):
        record, _ = records.nearest_to_group([record])
        path += records.take([record])
        if progress is not None:
            progress(len(path) / n)
    return np.array(path, dtype=np.int64)


def shorten_tour(
    points: Any, path: np.ndarray, near: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """Improve a closed tour by 2-opt and Or-opt; see `Engine.shorten_tour`."""
    tour = _Tour(to_numpy(points).tolist(), path.tolist())
    n = len(path)
    waiting = deque(path.tolist() if n >= 2 * LONGEST + 2 else [])
    queued = set(waiting)
    done = 0.0
    while waiting:
        a = waiting.popleft()
        while move := tour.best_move(a, near[a].tolist()):
            for record in tour.make(*move):
                if record not in queued:
                    queued.add(record)
                    waiting.append(record)
        queued.remove(a)
        if progress is not None:
            done = max(done, 1 - len(waiting) / n)
            progress(done)
    return np.array(tour.order, dtype=np.int64)


class _Tour:
    """A closed tour as the records in their order, and the place of each."""

    def __init__(self, points: list[list[float]], order: list[int]) -> None:
        self.points = points
        self.order = order
        self.place = dict(zip(order, range(len(order)), strict=True))

    def step(self, record: int, by: int) -> int:
        """The record some places on."""
        return self.order[(self.place[record] + by) % len(self.order)]

    def length(self, a: int, b: int) -> float:
        total = 0.0
        for x, y in zip(self.points[a], self.points[b], strict=True):
            total += (x - y) * (x - y)
        return math.sqrt(total)

    def best_move(self, a: int, near: list[int]) -> tuple[int, ...] | None:
        """The move of `shorten_tour` that gains most: a, c, side of b, records, side of c.

        With 2-opt the number of records is 0.
        """
        best, most = None, 0.0
        for side in (1, -1):
            b = self.step(a, side)
            old = self.length(a, b)
            for c in near:
                new = self.length(a, c)
                if new >= old:
                    break
                d = self.step(c, side)
                removed = old + self.length(c, d)
                gain = removed - (new + self.length(b, d))
                if gain > most and gain > LEAST_GAIN * removed:
                    best, most = (a, c, side, 0, side), gain
                for count in range(1, LONGEST + 1):
                    last, after = self.step(a, -side * (count - 1)), self.step(a, -side * count)
                    if c == last:
                        break
                    cut = old + self.length(last, after)
                    for beside in (1, -1):
                        e = self.step(c, beside)
                        if e == last:
                            continue
                        removed = cut + self.length(c, e)
                        gain = removed - (new + self.length(last, e) + self.length(b, after))
                        if gain > most and gain > LEAST_GAIN * removed:
                            best, most = (a, c, side, count, beside), gain
        return best

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
        start, count = self.place[first], (self.place[last] - self.place[first]) % n + 1
        if 2 * count > n:  # turning round the rest makes the same tour
            start, count = start + count, n - count
        places = [(start + i) % n for i in range(count)]
        for place, record in zip(places, [self.order[p] for p in reversed(places)], strict=True):
            self.order[place] = record
            self.place[record] = place


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
