"""MDAV on records of numeric, ordinal and nominal variables.

References
----------
2005  Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through
      microaggregation" (MDAV-generic)
"""

from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..protocol import Progress
from .arrays import to_numpy
from .fixed_size import mdav_groups
from .points import PointSet

NUMERIC, ORDINAL, NOMINAL = 0, 1, 2


class MixedPointSet(PointSet):
    """A `PointSet` whose average record and distances are those of mixed variables.

    Parameters
    ----------
    points, kinds, weights
        As in `mixed_mdav_groups`.
    """

    def __init__(self, points: Any, kinds: np.ndarray, weights: np.ndarray) -> None:
        super().__init__(points)
        self._kinds = kinds
        self._weights = self._xp.asarray(weights, dtype=points.dtype, device=device(points))

    def centroid(self) -> Any:
        """The average record of those that remain: means, medians and modes."""
        average = super().centroid()
        for v, kind in enumerate(self._kinds):
            if kind == ORDINAL:
                average[v] = self._xp.sort(self._columns[v, :])[(len(self) - 1) // 2]
            elif kind == NOMINAL:
                average[v] = _mode(self._columns[v, :])
        return average

    def farthest_from(self, target: Any) -> int:
        """The record farthest from a point."""
        return int(self._index[int(self._xp.argmax(self._distances(target)))])

    def take_nearest(self, record: int, k: int) -> list[int]:
        """Remove a record and the k - 1 nearest to it."""
        distances = self._distances(self[record])
        distances[self._position(record)] = -1.0
        nearest = self._xp.argsort(distances, stable=True)[:k]
        return self.take(self._index[to_numpy(nearest)].tolist())

    def _distances(self, target: Any) -> Any:
        """Squared distances of the records that remain to a target."""
        total = self._columns[0, :] * 0.0
        for v, kind in enumerate(self._kinds):
            if kind == NOMINAL:
                other = self._xp.astype(self._columns[v, :] != target[v], total.dtype)
                total = total + other * self._weights[v]
            else:
                difference = self._columns[v, :] - target[v]
                total = total + difference * difference
        return total


def _mode(values: Any) -> Any:
    """The most frequent value, the lowest of several."""
    xp = array_namespace(values)
    different, counts = xp.unique_counts(values)
    return xp.min(different[counts == xp.max(counts)])


def mixed_mdav_groups(
    points: Any, kinds: Any, weights: Any, k: int, progress: Progress | None = None
) -> np.ndarray:
    """MDAV-generic (Domingo-Ferrer and Torra 2005): the loop of `mdav_groups`, other averages.

    The average record has, of the records that remain, the mean of a numeric variable, the
    median of an ordinal one (of an even number the lower of the two in the middle, since it
    must be a category), and the mode of a nominal one (of several the lowest code).

    Parameters
    ----------
    points : array of shape (n, d)
        A nominal variable as the codes of its categories, 0, 1, ...
    kinds : int array of shape (d,)
        0 numeric, 1 ordinal: adds (a - b)**2 to the squared distance of two records; 2 nominal:
        adds 0 if the codes are equal, else its weight.
    weights : float array of shape (d,)
        Used for nominal variables only.
    k : int
    progress : callable, optional

    Returns
    -------
    int64 array of shape (n,)
        The group of each record, in the order in which they were formed.
    """
    records = partial(MixedPointSet, kinds=np.asarray(kinds), weights=np.asarray(weights))
    return mdav_groups(points, k, progress, PointSet=records)
