"""Loops over pairs of records for the lower bound, spelled out."""

from typing import Any

import numpy as np

from ..arguments import PrimalDual
from .arrays import to_numpy
from .nearest import distances

_ROWS = 64  # of a tile of distances
_SLACK = 1.0 + 2.0**-46


class PairLoops:
    """Records in their own order; every pair is looked at."""

    def __init__(self, points: Any) -> None:
        self.points = np.asarray(to_numpy(points), dtype=np.float64)

    def squares_of(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Squared distances of pairs."""
        total = np.zeros(len(low))
        for column in self.points.T:
            difference = column[low] - column[high]
            total += difference * difference
        return total

    def cheap_pairs(self, y: np.ndarray) -> np.ndarray:
        """All pairs with a squared distance below y_i + y_j."""
        n = len(self.points)
        found = []
        for first in range(0, n, _ROWS):
            i = np.arange(first, min(first + _ROWS, n))
            j = np.arange(first, n)
            squares = distances(self.points[i], self.points[j])
            cheap = squares < (y[i][:, np.newaxis] + y[j]) * _SLACK
            row, column = np.nonzero(cheap & (j > i[:, np.newaxis]))
            found.append(i[row] * n + j[column])
        return np.concatenate(found)

    def improve(self, problem: PrimalDual, passes: int, k: int) -> None:
        """Primal-dual steps."""
        rows, squares, steps, state, sums = problem
        start, pair, sign, right = rows
        row = np.repeat(np.arange(len(right)), np.diff(start))
        w, u = state
        for _ in range(passes):
            cost = self.reduced_costs(rows, squares, u)
            new = np.clip(w - steps[0] * cost, 0.0, 1.0 / k)
            ahead = 2.0 * new - w
            w[:] = new
            total = np.bincount(row, sign * ahead[pair], len(u))  # in their order, one by one
            u[:] = np.maximum(0.0, u + steps[1] * (right - total))
            sums[0][:] += w
            sums[1][:] += u

    def reduced_costs(
        self, rows: tuple[np.ndarray, ...], squares: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        """Costs of pairs, less what the rows that they are in pay for."""
        start, pair, sign, _ = rows
        cost = squares.copy()
        np.subtract.at(cost, pair, sign * np.repeat(u, np.diff(start)))  # in their order
        return cost

    def components(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Number the sets of records that pairs connect."""
        lowest = np.arange(len(self.points))
        changed = True
        while changed:
            before = lowest.copy()
            np.minimum.at(lowest, low, before[high])
            np.minimum.at(lowest, high, before[low])
            lowest = lowest[lowest]
            changed = bool((lowest < before).any())
        return np.unique(lowest, return_inverse=True)[1]

    def worst_triangles(
        self, start: np.ndarray, other: np.ndarray, w: np.ndarray, own: np.ndarray, least: float
    ) -> np.ndarray:
        """For each record i and each j beside it, the place of the l that breaks most."""
        worst = np.full(len(other), -1)
        n, lengths = len(own), np.diff(start)
        record = np.repeat(np.arange(n), lengths)
        keys = record * n + other
        # Each p with each q of its record, in that order.
        many = lengths[record]
        p = np.repeat(np.arange(len(other)), many)
        q = np.arange(len(p)) - np.repeat(np.cumsum(many) - many, many) + start[record[p]]
        apart = (other[p] != record[p]) & (other[q] != record[p])
        p, q = p[apart], q[apart]
        excess = w[p] + w[q] - own[record[p]]
        key = other[p] * n + other[q]
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        excess -= np.where(keys[at] == key, w[at], 0.0)
        p, q, excess = p[excess > least], q[excess > least], excess[excess > least]
        order = np.lexsort((-excess, p))  # of equal ones the first q
        p, first = np.unique(p[order], return_index=True)
        worst[p] = q[order][first]
        return worst
