"""A set of records that shrinks as groups are taken from it."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from .arrays import squared_distances, to_numpy
from .sums import Total


class PointSet:
    """The records not yet in a group.

    Records are named by their index in the original matrix throughout. Those that remain are
    kept compact and in index order, so the first of equals is the lowest index.

    Parameters
    ----------
    points : array of shape (n, d)
    """

    def __init__(self, points: Any) -> None:
        self._xp = array_namespace(points)
        self._points = points
        self._columns = self._xp.asarray(points.T, copy=True)
        self._index = np.arange(points.shape[0])
        self._total = Total(self._columns).fold()
        self._reach: np.ndarray | None = None  # see most_distant_pair
        self._partner = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, record: int) -> bool:
        p = self._position(record)
        return p < len(self._index) and self._index[p] == record

    def __getitem__(self, record: int) -> Any:
        """Coordinates of any record, taken or not."""
        return self._points[record, :]

    def _position(self, record: int) -> int:
        return int(np.searchsorted(self._index, record))

    def centroid(self) -> Any:
        """Centroid of the records that remain."""
        return self._total.value / len(self)

    def farthest_from(self, target: Any) -> int:
        """The record farthest from a point."""
        distances = squared_distances(self._columns, target)
        return int(self._index[int(self._xp.argmax(distances))])

    def nearest_to_group(self, group: list[int]) -> tuple[int, float]:
        """The record nearest to any member of a group, and its squared distance."""
        distances = squared_distances(self._columns, self[group[0]])
        for member in group[1:]:
            other = squared_distances(self._columns, self[member])
            distances = self._xp.minimum(distances, other)
        p = int(self._xp.argmin(distances))
        return int(self._index[p]), float(distances[p])

    def distance_to_nearest(self, record: int) -> float:
        """Squared distance from a record of the set to the nearest other; infinite if none."""
        distances = squared_distances(self._columns, self[record])
        distances[self._position(record)] = self._xp.inf
        return float(self._xp.min(distances))

    def take(self, records: list[int]) -> list[int]:
        """Remove records from the set."""
        keep = np.ones(len(self), dtype=bool)
        for record in records:
            keep[self._position(record)] = False
            self._total.subtract(self[record])
        kept = np.flatnonzero(keep)
        where = self._xp.asarray(kept, device=device(self._columns))
        self._columns = self._xp.take(self._columns, where, axis=1)
        self._index = self._index[kept]
        if self._reach is not None:
            self._reach = self._reach[kept]
            self._partner = self._partner[kept]
        return records

    def take_rest(self) -> list[int]:
        """Remove all records that remain."""
        return self.take(self._index.tolist())

    def take_nearest(self, record: int, k: int) -> list[int]:
        """Remove a record and the k - 1 nearest to it."""
        distances = squared_distances(self._columns, self[record])
        distances[self._position(record)] = -1.0
        nearest = self._xp.argsort(distances, stable=True)[:k]
        return self.take(self._index[to_numpy(nearest)].tolist())

    def take_gathered(self, record: int, k: int) -> list[int]:
        """Remove a record and, k - 1 times, the one nearest to the growing group's centroid.

        The procedure `gather` of Laszlo and Mukherjee (2005), section 4.2.
        """
        group = [record]
        total = Total(self[record])
        while len(group) < k:
            distances = squared_distances(self._columns, total.value / len(group))
            distances[self._xp.asarray(np.isin(self._index, group))] = self._xp.inf
            q = int(self._index[int(self._xp.argmin(distances))])
            group.append(q)
            total.add(self[q])
        return self.take(group)

    def most_distant_pair(self) -> tuple[int, int]:
        """The two records farthest apart, the lower index first.

        For each record the distance to its farthest partner is kept. When the partner leaves,
        the distance stays as an upper bound, so only the record with the largest bound need be
        looked at again, until its partner is still there.
        """
        if self._reach is None:
            self._reach = np.empty(len(self))
            self._partner = np.empty(len(self), dtype=np.int64)
            for p in range(len(self)):
                self._find_partner(p)
        while self._partner[p := int(np.argmax(self._reach))] not in self:
            self._find_partner(p)
        return int(self._index[p]), int(self._partner[p])

    def _find_partner(self, p: int) -> None:
        assert self._reach is not None
        distances = squared_distances(self._columns, self._columns[:, p])
        distances[p] = -1.0
        q = int(self._xp.argmax(distances))
        self._reach[p] = float(distances[q])
        self._partner[p] = self._index[q]
