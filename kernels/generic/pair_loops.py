"""Loops over pairs of records for the lower bound, spelled out."""

from itertools import pairwise
from typing import Any

import numpy as np

from ..arguments import PrimalDual
from .arrays import to_numpy

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
        for i in range(n):
            j = np.arange(i + 1, n)
            cheap = self.squares_of(np.full(len(j), i), j) < (y[i] + y[j]) * _SLACK
            found.append(i * n + j[cheap])
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
            total = np.zeros(len(u))
            np.add.at(total, row, sign * ahead[pair])  # in their order, one by one
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
        for a, b in zip(low.tolist(), high.tolist(), strict=True):
            one, two = sorted((int(lowest[a]), int(lowest[b])))
            lowest[lowest == two] = one
        return np.unique(lowest, return_inverse=True)[1]

    def worst_triangles(
        self, start: np.ndarray, other: np.ndarray, w: np.ndarray, own: np.ndarray, least: float
    ) -> np.ndarray:
        """For each record i and each j beside it, the place of the l that breaks most."""
        worst = np.full(len(other), -1)
        beside = [
            dict(zip(other[a:b].tolist(), w[a:b].tolist(), strict=True))
            for a, b in pairwise(start.tolist())
        ]
        for i in range(len(start) - 1):
            for p in range(start[i], start[i + 1]):
                j, greatest = other[p], least
                for q in range(start[i], start[i + 1]):
                    if j != i and other[q] != i:
                        excess = w[p] + w[q] - own[i] - beside[j].get(int(other[q]), 0.0)
                        if excess > greatest:
                            greatest, worst[p] = excess, q
        return worst
