"""Loops over pairs of records for the lower bound, with a search tree over the records."""

from typing import Any

import numpy as np

from ..arguments import FEW, PrimalDual
from ..generic.arrays import to_numpy
from . import boxes, relaxation
from .threads import on_all_cores


class PairLoops:
    """Many records are in the order of a tree: those that are near are near in memory.

    Few are in their own order, as in the generic engine, so that both give the same bound.
    """

    def __init__(self, points: Any) -> None:
        values = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
        self.points = values if len(values) <= FEW else values[order_of_tree(values)]
        self._tree = boxes.build(self.points, np.arange(len(values)))

    def squares_of(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Squared distances of pairs."""
        return relaxation.squares_of(self.points, low, high)

    def cheap_pairs(self, y: np.ndarray) -> np.ndarray:
        """All pairs with a squared distance below y_i + y_j."""
        return relaxation.cheap_pairs(self.points, self._tree, y)

    def improve(self, problem: PrimalDual, passes: int, k: int) -> None:
        """Primal-dual steps."""
        relaxation.improve(*problem, passes, k)

    def reduced_costs(
        self, rows: tuple[np.ndarray, ...], squares: np.ndarray, u: np.ndarray
    ) -> np.ndarray:
        """Costs of pairs, less what the rows that they are in pay for."""
        cost = np.empty(len(squares))
        relaxation.reduce_costs(rows, squares, u, cost)
        return cost

    def components(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Number the sets of records that pairs connect."""
        return relaxation.components(len(self.points), low, high)

    def worst_triangles(
        self, start: np.ndarray, other: np.ndarray, w: np.ndarray, own: np.ndarray, least: float
    ) -> np.ndarray:
        """For each record i and each j beside it, the place of the l that breaks most."""
        worst = np.full(len(other), -1)
        for first in range(0, len(start) - 1, relaxation.CHUNK):
            many = min(relaxation.CHUNK, len(start) - 1 - first)
            on_all_cores(
                relaxation.worst_triangles, many, first, start, other, w, own, least, worst
            )
        return worst


def order_of_tree(points: np.ndarray) -> np.ndarray:
    """The records in an order in which those that are near follow each other."""
    n = len(points)
    return boxes.build(points, np.arange(n)).record.reshape(-1)[:n]
