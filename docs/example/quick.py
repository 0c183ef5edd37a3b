"""An engine to learn from: all operations of the generic one, and a faster set of records."""

import numpy as np

from microagg_gpu.kernels import generic
from microagg_gpu.kernels.generic import *  # noqa: F403
from microagg_gpu.kernels.generic.arrays import squared_distances


class PointSet(generic.PointSet):
    """Takes the nearest records without sorting all of them, for NumPy arrays."""

    def take_nearest(self, record: int, k: int) -> list[int]:
        """Remove a record and the k - 1 nearest to it."""
        distances = squared_distances(self._columns, self[record])
        distances[self._position(record)] = -1.0
        last = min(k, len(self)) - 1
        # A partial sort takes any of equal records. So: all that are near enough, then in order.
        limit = np.partition(distances, last)[last]
        near = np.flatnonzero(distances <= limit)
        near = near[np.argsort(distances[near], kind="stable")[: last + 1]]
        return self.take(self._index[near].tolist())
