"""What is published for a group: the mean, median or trimmed mean; of categories median or mode."""

import numpy as np

from .partition import Partition
from .table import NOMINAL, NUMBER

AGGREGATES = ("mean", "median", "trimmed")


def aggregate(
    partition: Partition,
    values: np.ndarray,
    how: str = "mean",
    kinds: np.ndarray | None = None,
    sampling: np.ndarray | None = None,
) -> np.ndarray:
    """Replace each record by what is published for its group.

    Parameters
    ----------
    values : array of shape (n, p)
        Numbers, and categories by their numbers. Where a value is missing (NaN), it is so in the
        whole group.
    how : {"mean", "median", "trimmed"}
        For numbers. "trimmed" is the mean without the lowest and the highest fifth of the group,
        at least one value each in groups of three or more.
    kinds : int array of shape (p,), optional
        An ordinal variable gets the median category (of two the lower), a nominal one the most
        frequent (of several the first).
    sampling : array of shape (n,), optional
        Sampling weights: means become weighted ones, medians those of half the weight, and
        categories count by weight.
    """
    if how == "mean" and sampling is None and (kinds is None or not kinds.any()):
        return partition.protect(values)
    groups = _Groups(partition, sampling)
    kinds = np.zeros(values.shape[1], dtype=np.int64) if kinds is None else kinds
    columns = []
    for column, kind in zip(values.T, kinds, strict=True):
        if kind == NOMINAL:
            one = groups.mode(column)
        elif kind != NUMBER:
            one = groups.median(column, lower=True)
        else:
            one = {"mean": groups.mean, "median": groups.median, "trimmed": groups.trimmed}[how](
                column
            )
        columns.append(one[partition.labels])
    return np.stack(columns, axis=1)


class _Groups:
    """The groups of a partition, with the weights of their records."""

    def __init__(self, partition: Partition, sampling: np.ndarray | None) -> None:
        self.labels, self.sizes = partition.labels, partition.sizes
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.weighted = sampling is not None
        self.weights = np.ones(len(self.labels)) if sampling is None else sampling

    def _ranked(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights group by group, from the lowest to the highest."""
        order = np.lexsort((column, self.labels))
        return column[order], self.weights[order]

    def _sums(self, ranked: np.ndarray) -> np.ndarray:
        return np.add.reduceat(ranked, self.starts)

    def mean(self, column: np.ndarray) -> np.ndarray:
        values, weights = self._ranked(column)
        return self._within(values, self._sums(weights * values) / self._sums(weights))

    def _within(self, values: np.ndarray, means: np.ndarray) -> np.ndarray:
        """A mean never leaves the range of its group, whatever the rounding."""
        return np.clip(means, values[self.starts], values[self.starts + self.sizes - 1])

    def trimmed(self, column: np.ndarray) -> np.ndarray:
        values, weights = self._ranked(column)
        ends = np.where(self.sizes >= 3, np.maximum(1, self.sizes // 5), 0)
        place = np.arange(len(values)) - np.repeat(self.starts, self.sizes)
        low, high = np.repeat(ends, self.sizes), np.repeat(self.sizes - ends, self.sizes)
        weights = np.where((place >= low) & (place < high), weights, 0.0)
        return self._within(values, self._sums(weights * values) / self._sums(weights))

    def median(self, column: np.ndarray, lower: bool = False) -> np.ndarray:
        values, weights = self._ranked(column)
        if not self.weighted:
            low, high = self.starts + (self.sizes - 1) // 2, self.starts + self.sizes // 2
        else:
            # The first value at which half the weight is reached; exactly half: this and the next.
            reached = np.cumsum(weights)
            before = np.repeat((reached - weights)[self.starts], self.sizes)
            twice = 2 * (reached - before)
            total = np.repeat(self._sums(weights), self.sizes)
            low = self.starts + self._sums((twice < total).astype(np.int64))
            high = self.starts + self._sums((twice <= total).astype(np.int64))
            last = self.starts + self.sizes - 1
            low, high = np.minimum(low, last), np.minimum(high, last)
        if lower:
            return values[low]
        return values[low] + (values[high] - values[low]) / 2

    def mode(self, column: np.ndarray) -> np.ndarray:
        values, weights = self._ranked(column)
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        missing = np.isnan(values)
        new = np.ones(len(values), dtype=bool)
        same = (values[1:] == values[:-1]) | (missing[1:] & missing[:-1])
        new[1:] = ~(same & (labels[1:] == labels[:-1]))
        runs = np.flatnonzero(new)
        counts = np.add.reduceat(weights, runs)
        best = np.lexsort((values[runs], -counts, labels[runs]))
        first = np.searchsorted(labels[runs][best], np.arange(len(self.sizes)))
        return values[runs][best][first]
