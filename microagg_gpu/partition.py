"""k-partitions: labels, group sizes, centroids, and the proof that every group has k records."""

from collections.abc import Iterable, Sequence

import numpy as np


def labels_from_groups(groups: Iterable[Sequence[int]], n: int) -> np.ndarray:
    """Label n records by the group they are in; -1 where a record is in none."""
    labels = np.full(n, -1, dtype=np.int64)
    for g, group in enumerate(groups):
        labels[np.asarray(group, dtype=np.int64)] = g
    return labels


def labels_from_sizes(order: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Label ranked records cut into connected groups of the given sizes."""
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def groups_from_labels(labels: np.ndarray) -> list[list[int]]:
    """Record indices of each group, groups and records in ascending order."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels))[:-1]
    return [group.tolist() for group in np.split(order, ends)]


class Partition:
    """A partition of n records in groups of at least k.

    Parameters
    ----------
    labels : int array of shape (n,)
        Any numbering; groups are renumbered 0, 1, ... in order of their first record.
    k : int

    Raises
    ------
    RuntimeError
        If a record is in no group or a group is smaller than k: such a partition never leaves.
    """

    def __init__(self, labels: np.ndarray, k: int) -> None:
        if len(labels) == 0 or labels.min() < 0:
            raise RuntimeError("internal error: a record is in no group; nothing is returned")
        _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        self.k = k
        self.labels = rank[numbers.reshape(-1)]
        self.sizes = np.bincount(self.labels)
        if self.sizes.min() < k:
            raise RuntimeError(
                f"internal error: a group has {self.sizes.min()} records, fewer than k={k}; "
                "nothing is returned"
            )

    def protect(self, values: np.ndarray) -> np.ndarray:
        """Replace each record by the centroid of its group.

        A centroid never leaves the range of its group's values, so a group of equal values
        keeps that value to the last digit.
        """
        order = np.argsort(self.labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        ranked = values[order]
        means = np.add.reduceat(ranked, starts, axis=0) / self.sizes[:, np.newaxis]
        lowest = np.minimum.reduceat(ranked, starts, axis=0)
        highest = np.maximum.reduceat(ranked, starts, axis=0)
        return np.clip(means, lowest, highest)[self.labels]
