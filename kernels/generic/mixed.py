"""Records of numeric, ordinal and nominal variables, as MDAV-generic needs them.

References
----------
2005  Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through
      microaggregation" (MDAV-generic)
"""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from .arrays import to_numpy
from .points import PointSet

NUMERIC, ORDINAL, NOMINAL = 0, 1, 2


class MixedPointSet(PointSet):
    """A `PointSet` whose average record and distances are those of mixed variables.

    See `Engine.MixedPointSet`.
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
