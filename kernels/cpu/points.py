"""A set of records that shrinks as groups are taken from it, with a search tree over the rest."""

from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from . import boxes, far, outer, pairs
from .boxes import NONE
from .compiled import entry, inner
from .sums import add, sum_rows

# With more neighbours than this to a group, sorting all distances is faster than a search.
_MANY = 256


class PointSet:
    """The records not yet in a group; see the generic engine's class of this name.

    The tree shrinks with the set and is built anew when half of its records have left.

    Parameters
    ----------
    points : array of shape (n, d)
    """

    def __init__(self, points: Any) -> None:
        self._points = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
        self._total = sum_rows(self._points)
        self._left = len(self._points)
        self._outer = outer.empty(self._points.shape[1])
        self._pairs: pairs.Pairs | None = None
        self._build()

    def _build(self, records: np.ndarray | None = None) -> None:
        self._built = self._left
        self._tree = boxes.build(
            self._points, np.arange(self._left) if records is None else records
        )
        self._seen = far.unseen(self._tree)

    def _rest(self) -> np.ndarray:
        return np.flatnonzero(self._tree.place >= 0)

    def __len__(self) -> int:
        return self._left

    def __contains__(self, record: int) -> bool:
        return bool(self._tree.place[record] >= 0)

    def __getitem__(self, record: int) -> np.ndarray:
        """Coordinates of any record, taken or not."""
        return self._points[record]

    def centroid(self) -> np.ndarray:
        """Centroid of the records that remain."""
        return self._total[0] / self._left

    def farthest_from(self, target: np.ndarray) -> int:
        """The record farthest from a point."""
        for remedy in (outer.draw_up, outer.pause, None):
            record = outer.farthest(
                self._tree,
                self._seen,
                self._total,
                self._left,
                target,
                self._outer,
            )
            if record != NONE or remedy is None:
                break
            remedy(self._tree, target, self._outer)
        return record

    def nearest_to_group(self, group: list[int]) -> tuple[int, float]:
        """The record nearest to any member of a group, and its squared distance."""
        return _nearest_to_group(self._tree, self._points, np.array(group))

    def distance_to_nearest(self, record: int) -> float:
        """Squared distance from a record of the set to the nearest other; infinite if none."""
        return _distance_to_nearest(self._tree, self._points, record)

    def take(self, records: list[int]) -> list[int]:
        """Remove records from the set."""
        _take(self._tree, self._points, self._total, np.array(records, dtype=np.int64))
        return self._taken(records)

    def _taken(self, group: list[int]) -> list[int]:
        self._left -= len(group)
        if boxes.WIDTH < self._left <= self._built // 2:
            self._build(self._rest())
        return group

    def take_rest(self) -> list[int]:
        """Remove all records that remain."""
        return self.take(self._rest().tolist())

    def take_nearest(self, record: int, k: int) -> list[int]:
        """Remove a record and the k - 1 nearest to it."""
        if k > _MANY:
            rest = self._rest()
            distances = _distances(self._points, rest, record)
            distances[np.searchsorted(rest, record)] = -1.0
            return self.take(rest[np.argsort(distances, stable=True)[:k]].tolist())
        group = _take_nearest(self._tree, self._points, self._total, record, min(k, self._left))
        return self._taken(group.tolist())

    def take_gathered(self, record: int, k: int) -> list[int]:
        """Remove a record and, k - 1 times, the one nearest to the growing group's centroid.

        The procedure `gather` of Laszlo and Mukherjee (2005), section 4.2.
        """
        group = _take_gathered(self._tree, self._points, self._total, record, min(k, self._left))
        return self._taken(group.tolist())

    def most_distant_pair(self) -> tuple[int, int]:
        """The two records farthest apart, the lower index first."""
        if self._pairs is None:
            self._pairs = pairs.start(self._points, self.centroid())
        while (first := pairs.most_distant(self._tree, self._seen, self._points, self._pairs)) < 0:
            pass  # some thousand searches a call, so that Ctrl-C is heard in between
        return int(first), int(self._pairs.partner[first])


@entry()
def _take(tree, points, total, records):
    for record in records:
        boxes.take_out(tree, record)
        add(total, points, record, -1.0)


@entry()
def _take_nearest(tree, points, total, record, k):
    group = np.full(k, NONE)
    group[0] = record
    boxes.take_out(tree, record)
    add(total, points, record, -1.0)
    if k > 1:
        walk = boxes.begin_walk(tree)
        boxes.nearest(tree, walk, points[record], group[1:], np.full(k - 1, np.inf))
        _take(tree, points, total, group[1:])
    return group


@entry()
def _take_gathered(tree, points, total, record, k):
    group = np.full(k, NONE)
    own, centre = np.empty((2, points.shape[1])), np.empty(points.shape[1])
    gather(tree, boxes.begin_walk(tree), points, total, record, group, own, centre, np.empty(1))
    return group


@inner()
def gather(tree, walk, points, total, record, group, own, centre, distance):
    """Take a record and, for each other place of a group, the nearest to the group's centroid.

    Parameters
    ----------
    own, centre, distance : arrays of shapes (2, d), (d,) and (1,)
        Room for the sum of the group, its centroid and a distance.
    """
    own[:] = 0.0
    for size in range(1, len(group) + 1):
        boxes.take_out(tree, record)
        add(total, points, record, -1.0)
        add(own, points, record, 1.0)
        group[size - 1] = record
        if size < len(group):
            for v in range(len(centre)):
                centre[v] = own[0, v] / size
            group[size], distance[0] = NONE, np.inf
            boxes.nearest(tree, walk, centre, group[size : size + 1], distance)
            record = group[size]


@entry()
def _nearest_to_group(tree, points, group):
    found, distance = np.empty(1, dtype=np.int64), np.empty(1)
    nearest_to_group(tree, boxes.begin_walk(tree), points, group, found, distance)
    return found[0], distance[0]


@inner()
def nearest_to_group(tree, walk, points, group, found, distance):
    """Find the record nearest to any member of a group, and its squared distance."""
    found[0], distance[0] = NONE, np.inf
    for member in group:
        boxes.nearest(tree, walk, points[member], found, distance)


@entry()
def _distance_to_nearest(tree, points, record):
    found, distances = np.empty(2, dtype=np.int64), np.empty(2)
    return distance_to_nearest(tree, boxes.begin_walk(tree), points, record, found, distances)


@inner()
def distance_to_nearest(tree, walk, points, record, found, distances):
    """Squared distance from a record to the nearest other, with room for two of them."""
    found[:], distances[:] = NONE, np.inf
    boxes.nearest(tree, walk, points[record], found, distances)
    return distances[1] if found[0] == record else distances[0]


@entry()
def _distances(points, records, target):
    distances = np.zeros(len(records))
    for i in range(len(records)):
        distances[i] = outer.squared_distance(points, records[i], points[target])
    return distances
