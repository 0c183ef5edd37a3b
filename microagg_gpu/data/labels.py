"""Labels of groups."""

from collections.abc import Iterable, Sequence

import numpy as np


def labels_from_groups(groups: Iterable[Sequence[int]], n: int) -> np.ndarray:
    """Label n records by the group they are in; -1 where a record is in none."""
    labels = np.full(n, -1, dtype=np.int64)
    for g, group in enumerate(groups):
        labels[np.asarray(group, dtype=np.int64)] = g
    return labels


def labels_from_sizes(order: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Label ranked records cut into connected groups of the given sizes."""
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def members_of(labels: np.ndarray) -> list[np.ndarray]:
    """The records of each group, in index order, the groups in the order of their labels."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def numbered(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels as numbers 0, 1, ... in their order and without gaps, and the size of each group.

    What `numpy.unique` gives, without sorting where the labels are small numbers, as ours are.
    """
    if labels.min() < 0 or labels.max() >= len(labels):
        _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        return numbers.reshape(-1), sizes
    labels = labels.astype(np.int64, copy=False)
    sizes = np.bincount(labels)
    used = sizes > 0
    if used.all():
        return labels, sizes
    return (np.cumsum(used) - 1)[labels], sizes[used]


def by_first_record(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels numbered in the order of the groups' first records; sizes and these records."""
    numbers, sizes = numbered(labels)
    first = np.full(len(sizes), len(labels))
    np.minimum.at(first, numbers, np.arange(len(labels)))
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(sizes))
    return rank[numbers], sizes[order], first[order]
