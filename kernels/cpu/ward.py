"""k-Ward's two steps: the extreme groups and Ward's method with the group sizes held down.

A recursion of k-Ward hands over thousands of tiny problems: they are solved in one call, each by
trying everything. Larger ones go to the search tree and the point set.
"""

from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from ..generic.ward import gather_extremes
from ..protocol import Progress
from .compiled import entry, inner
from .disjoint_sets import resolve
from .points import PointSet
from .ward_tree import add, better, join, merge_lazily, rise_of_sse, sum_up

TINY = 200  # records in a problem that is solved by trying everything, at most


@inner()
def _squared_distance(a, b):
    total = 0.0
    for v in range(len(a)):
        difference = a[v] - b[v]
        total += difference * difference
    return total


@inner()
def _scan(centroid, size, i, k):
    """Find the group to merge group i with, of equals the one that `ward_tree` takes."""
    floor = i if size[i] == 1.0 else -1
    best, nearest = np.inf, i
    for g in range(len(size)):
        if size[g] > 0 and g != i and (size[i] < k or size[g] < k):
            rise = rise_of_sse(size[i], size[g], _squared_distance(centroid[i], centroid[g]))
            if rise < best or (rise == best and nearest <= floor < g):
                best, nearest = rise, g
    return best, nearest


@inner(allocates=True)
def _merge_plainly(points, labels, k):
    """Solve one problem as `ward_tree` does, but look at all groups instead of a tree."""
    n, d = points.shape
    high, low, centroid = np.zeros((n, d)), np.zeros((n, d)), np.zeros((n, d))
    size, near_size = np.zeros(n), np.zeros(n)
    rises, near = np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    sum_up(points, labels, high, low, centroid, size)
    for i in range(n):
        if size[i] > 0:
            rises[i], near[i] = _scan(centroid, size, i, k)
            near_size[i] = size[near[i]]
    while True:
        i = 0
        for g in range(1, n):
            i = better(rises, near, i, g)
        if rises[i] == np.inf:
            break
        if size[near[i]] == near_size[i]:
            i, j = min(i, near[i]), max(i, near[i])
            join(high, low, centroid, size, i, j)
            labels[j] = i
            rises[j] = np.inf
        rises[i], near[i] = _scan(centroid, size, i, k)
        near_size[i] = size[near[i]]
    resolve(labels)


@entry()
def _merge_tiny(points, labels, starts, stops, k):
    """Solve tiny problems, each of a run of records."""
    for s in range(len(starts)):
        run = slice(starts[s], stops[s])
        _merge_plainly(points[run], labels[run], k)


@inner()
def _most_distant(points):
    """The two records farthest apart; of equal pairs the lowest."""
    best, a, b = -1.0, -1, -1
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            squared = _squared_distance(points[i], points[j])
            if squared > best:
                best, a, b = squared, i, j
    return a, b


@inner(allocates=True)
def _gather(points, labels, free, record, k):
    """Label a record and, k - 1 times, the free one nearest to the growing group's centroid."""
    d = points.shape[1]
    high, low, centroid = np.zeros((1, d)), np.zeros((1, d)), np.zeros(d)
    group = np.zeros(k, dtype=np.int64)
    lowest = record
    for size in range(k):
        group[size] = record
        lowest = min(lowest, record)
        free[record] = False
        for v in range(d):
            add(high, low, 0, v, points[record, v], 0.0)
            centroid[v] = high[0, v] / (size + 1)
        best = np.inf
        for i in range(len(points)):
            if free[i]:
                squared = _squared_distance(points[i], centroid)
                if squared < best:
                    best, record = squared, i
    for member in group:
        labels[member] = lowest


@entry()
def _tiny_extremes(points, labels, starts, stops, k, descending):
    """Gather the extreme groups of tiny problems, each of a run of records."""
    for s in range(len(starts)):
        part, names = points[starts[s] : stops[s]], labels[starts[s] : stops[s]]
        a, b = _most_distant(part)
        if descending:
            a, b = b, a
        free = np.full(len(part), True)
        _gather(part, names, free, a, k)
        if not free[b]:
            best = -1.0
            for i in range(len(part)):
                squared = _squared_distance(part[i], part[a])
                if free[i] and squared > best:
                    best, b = squared, i
        _gather(part, names, free, b, k)


class _Problems:
    """Records sorted by problem and by index within it, labelled by places in their problem.

    Attributes
    ----------
    points : the sorted records
    tiny : starts and stops of the tiny problems in them
    large : slices of the larger ones
    """

    def __init__(self, points: Any, within: np.ndarray) -> None:
        self._order = np.argsort(within, kind="stable")
        self.points = np.asarray(to_numpy(points), dtype=np.float64)[self._order]
        starts = np.flatnonzero(np.diff(within[self._order], prepend=-1))
        stops = np.append(starts[1:], len(within))
        self._start = np.repeat(starts, stops - starts)
        few = stops - starts <= TINY
        self.tiny = starts[few], stops[few]
        self.large = [slice(*ends) for ends in zip(starts[~few], stops[~few], strict=True)]

    def local(self, labels: np.ndarray) -> np.ndarray:
        """Labels of the sorted records from those of the records as given."""
        place = np.empty_like(self._order)
        place[self._order] = np.arange(len(place)) - self._start
        return place[labels[self._order]]

    def overall(self, local: np.ndarray) -> np.ndarray:
        """Labels of the records as given from those of the sorted records."""
        labels = np.empty_like(self._order)
        labels[self._order] = self._order[local + self._start]
        return labels


def extreme_groups(points: Any, within: np.ndarray, k: int, descending: bool) -> np.ndarray:
    """Form the two extreme groups of each problem; see `generic.extreme_groups`."""
    problems = _Problems(points, within)
    labels = problems.local(np.arange(len(within)))
    _tiny_extremes(problems.points, labels, *problems.tiny, k, descending)
    for run in problems.large:
        part = problems.points[run]
        for end in gather_extremes(part, PointSet(part).most_distant_pair(), k, descending):
            labels[run][end] = min(end)
    return problems.overall(labels)


def merge_until_k(
    points: Any, labels: np.ndarray, within: np.ndarray, k: int, progress: Progress | None = None
) -> np.ndarray:
    """Merge groups by Ward's method until each has k records; see `generic.merge_until_k`."""
    problems = _Problems(points, within)
    merged = problems.local(labels)
    _merge_tiny(problems.points, merged, *problems.tiny, k)
    for run in problems.large:
        merge_lazily(problems.points[run], merged[run], k, progress)
    return problems.overall(merged)
