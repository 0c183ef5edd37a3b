"""The diameter-based and the centroid-based method on many problems of few records, by scans.

The trees of M-d and M-c have some dozen records each: to build a search tree over them takes
longer than to group them. The texts are in `microagg_gpu.methods.extremes`.
"""

import numpy as np

from .compiled import entry, inner
from .outer import squared_distance
from .sums import add
from .threads import on_all_cores

FEW = 256  # records; of more a search tree saves time


def groups_of_few(
    points: np.ndarray, within: np.ndarray, k: int, by_diameter: bool, gathered: bool
) -> np.ndarray:
    """Groups of each problem with few records, numbered from 0 in each; -1 in all others."""
    order = np.argsort(within, kind="stable")
    starts = np.append(np.flatnonzero(np.diff(within[order], prepend=-1)), len(order))
    sizes = np.diff(starts)
    few = np.flatnonzero((sizes >= k) & (sizes <= FEW))
    labels, partner = np.full(len(points), -1), np.full(len(points), -1)
    reach = np.full(len(points), np.inf)
    arrays = points, order, starts, labels, partner, reach
    on_all_cores(_divide, len(few), few, *arrays, k, by_diameter, gathered)
    return labels


@entry()
def _divide(
    first, last, few, points, order, starts, labels, partner, reach, k, by_diameter, gathered
):  # fmt: skip
    """Group some problems."""
    for i in range(first, last):
        rest = order[starts[few[i]] : starts[few[i] + 1]].copy()
        if by_diameter:
            left, groups = _diameter(points, rest, k, gathered, labels, partner, reach)
        else:
            left, groups = _centroid(points, rest, k, gathered, labels)
        if left >= k:
            for record in rest[:left]:
                labels[record] = groups
        elif left > 0:
            records = order[starts[few[i]] : starts[few[i] + 1]]
            _join_closest(points, records, rest[:left], groups, labels)


@inner(allocates=True)
def _centroid(points, rest, k, gathered, labels):
    """Take groups around the record farthest from the centroid; how many records are left."""
    left, groups = len(rest), 0
    total = np.zeros((2, points.shape[1]))
    for record in rest:
        add(total, points, record, 1.0)
    while left >= k:
        farthest = _farthest(points, rest[:left], total[0] / left)
        left = _take(points, rest, left, farthest, k, gathered, total, labels, groups)
        groups += 1
    return left, groups


@inner(allocates=True)
def _diameter(points, rest, k, gathered, labels, partner, reach):
    """Take groups around the two records farthest apart; how many records are left.

    The distance to what was a record's farthest partner is never too small: records only leave.
    """
    left, groups = len(rest), 0
    total = np.zeros((2, points.shape[1]))
    while left >= 2 * k:
        while True:
            a = rest[0]
            for record in rest[:left]:
                if reach[record] > reach[a]:
                    a = record
            if partner[a] >= 0 and labels[partner[a]] < 0:
                break
            partner[a] = _farthest_other(points, rest[:left], a)
            reach[a] = squared_distance(points, a, points[partner[a]])
        b = partner[a]
        left = _take(points, rest, left, a, k, gathered, total, labels, groups)
        if labels[b] >= 0:
            b = _farthest(points, rest[:left], points[a])
        left = _take(points, rest, left, b, k, gathered, total, labels, groups + 1)
        groups += 2
    return left, groups


@inner()
def _farthest(points, rest, target):
    """The record farthest from a point, of equals the first."""
    farthest, most = rest[0], -1.0
    for record in rest:
        distance = squared_distance(points, record, target)
        if distance > most:
            farthest, most = record, distance
    return farthest


@inner()
def _farthest_other(points, rest, record):
    """The record farthest from one of them, itself left out; of equals the first."""
    farthest, most = np.int64(-1), -1.0
    for other in rest:
        distance = squared_distance(points, other, points[record])
        if other != record and distance > most:
            farthest, most = other, distance
    return farthest


@inner(allocates=True)
def _take(points, rest, left, record, k, gathered, total, labels, group):
    """Take a record and k - 1 nearest to it, or to the growing group's centroid, out of the rest.

    Returns
    -------
    left : int
        How many records remain, in their order.
    """
    own = np.zeros((2, points.shape[1]))
    target = points[record].copy()
    for size in range(1, k + 1):
        labels[record] = group
        add(total, points, record, -1.0)
        add(own, points, record, 1.0)
        if gathered:
            target = own[0] / size
        stay, nearest, least = 0, np.int64(-1), np.inf
        for i in range(left):
            other = rest[i]
            if other == record:
                continue
            rest[stay] = other
            stay += 1
            if size < k:
                distance = squared_distance(points, other, target)
                if distance < least or nearest < 0:
                    nearest, least = other, distance
        left, record = stay, nearest
    return left


@inner(allocates=True)
def _join_closest(points, records, rest, groups, labels):
    """Add each record of the rest to the group with the closest centroid, one after the other."""
    total, sizes = np.zeros((groups, 2, points.shape[1])), np.zeros(groups)
    for record in records:
        if labels[record] >= 0:
            add(total[labels[record]], points, record, 1.0)
            sizes[labels[record]] += 1.0
    for record in rest:
        closest, least = 0, np.inf
        for g in range(groups):
            distance = 0.0
            for v in range(points.shape[1]):
                difference = total[g, 0, v] / sizes[g] - points[record, v]
                distance += difference * difference
            if distance < least:
                closest, least = g, distance
        labels[record] = closest
        add(total[closest], points, record, 1.0)
        sizes[closest] += 1.0
