"""k-partitions: labels, group sizes, centroids, and the proof that every group has k records."""

from functools import cached_property

import numpy as np

from ..data.labels import by_first_record
from .problem import Problem


class Partition:
    """A partition of n records in groups of at least k.

    Parameters
    ----------
    labels : int array of shape (n,)
        Any numbering; groups are renumbered 0, 1, ... in order of their first record.
    k : int
    cells : int array of shape (n,), optional
        Records of one group must be in the same cell.

    Raises
    ------
    RuntimeError
        If a record is in no group, or a group is smaller than k or in several cells: such a
        partition never leaves.
    """

    def __init__(self, labels: np.ndarray, k: int, cells: np.ndarray | None = None) -> None:
        if len(labels) == 0 or labels.min() < 0:
            raise RuntimeError("internal error: a record is in no group; nothing is returned")
        self.k = k
        self.labels, self.sizes, first = by_first_record(labels)
        if self.sizes.min() < k:
            raise RuntimeError(
                f"internal error: a group has {self.sizes.min()} records, fewer than k={k}; "
                "nothing is returned"
            )
        if cells is not None and (cells != cells[first][self.labels]).any():
            raise RuntimeError("internal error: a group crosses strata; nothing is returned")

    def protect(self, values: np.ndarray) -> np.ndarray:
        """Replace each record by the centroid of its group.

        A centroid never leaves the range of its group's values, so a group of equal values
        keeps that value to the last digit.
        """
        starts = np.cumsum(self.sizes) - self.sizes
        ranked = np.take(values, self._order, axis=0)
        means = np.add.reduceat(ranked, starts, axis=0) / self.sizes[:, np.newaxis]
        lowest = np.minimum.reduceat(ranked, starts, axis=0)
        highest = np.maximum.reduceat(ranked, starts, axis=0)
        return np.take(np.clip(means, lowest, highest), self.labels, axis=0)

    @cached_property
    def _order(self) -> np.ndarray:
        """Records group by group, in index order. No two keys are equal: any sort is stable."""
        n = len(self.labels)
        key = self.labels * n
        key += np.arange(n)
        key.sort()
        key %= n
        return key


def prove(problem: Problem, labels: np.ndarray) -> list[Partition]:
    """The partition of the records, or one for each variable; each has groups of k in one cell.

    If records belong to units, each group has k units, and all records of them.
    """
    if problem.units is not None:
        own, cells = labels[problem.units.first], problem.units.cells(problem.cells).cell
        if (own[problem.units.of] != labels).any():
            raise RuntimeError("internal error: a unit is in two groups; nothing is returned")
        for column in np.atleast_2d(own.T):
            Partition(column, problem.k, cells)
    return [Partition(column, problem.k, problem.cells.cell) for column in np.atleast_2d(labels.T)]
