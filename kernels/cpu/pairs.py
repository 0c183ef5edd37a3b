"""The most distant pair of the records that remain.

For each record an upper bound is kept on the distance to its farthest partner. Records only
leave, so a bound stays one; only the record with the largest bound need be looked at again,
until its partner is still there. The bounds stand at the leaves of a tournament.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from . import boxes, far, outer
from .boxes import NONE

_SEARCHES = 2048  # in one call


class Pairs(NamedTuple):
    """Bounds on the squared distance of each record to its farthest partner."""

    top: np.ndarray  # (2 * leaves,) node i has the larger of 2i and 2i + 1, records at the end
    partner: np.ndarray  # (n,) the partner at that distance, -1 before any search


def start(tree: boxes.Boxes, points: np.ndarray, middle: np.ndarray) -> Pairs:
    """Bound each record's distances by way of the middle."""
    leaves = 1 << (len(points) - 1).bit_length()
    pairs = Pairs(np.full(2 * leaves, -1.0), np.full(len(points), -1))
    _bound(tree, points, middle, pairs)
    return pairs


@njit(cache=True, nogil=True)
def _bound(tree, points, middle, pairs):
    leaves = len(pairs.top) // 2
    reach = 0.0
    for record in range(len(points)):
        if tree.place[record] >= 0:
            distance = np.sqrt(outer.squared_distance(points, record, middle))
            pairs.top[leaves + record] = distance
            reach = max(reach, distance)
    slack = 1.0 + (len(middle) + 8) * 2.0**-49
    for record in range(len(points)):
        if tree.place[record] >= 0:
            bound = (pairs.top[leaves + record] + reach) * slack
            pairs.top[leaves + record] = bound * bound
    for i in range(leaves - 1, 0, -1):
        pairs.top[i] = max(pairs.top[2 * i], pairs.top[2 * i + 1])


@njit(cache=True, nogil=True)
def _revise(pairs, record, bound):
    i = len(pairs.top) // 2 + record
    pairs.top[i] = bound
    while i > 1:
        i //= 2
        pairs.top[i] = max(pairs.top[2 * i], pairs.top[2 * i + 1])


@njit(cache=True, nogil=True)
def most_distant(tree, seen, points, pairs):
    """The lower record of the most distant pair; -1 if more searches are needed to know it."""
    leaves = len(pairs.top) // 2
    for _ in range(_SEARCHES):
        i = 1
        while i < leaves:
            i = 2 * i + (pairs.top[2 * i] < pairs.top[2 * i + 1])
        record = i - leaves
        if tree.place[record] < 0:
            _revise(pairs, record, -1.0)
            continue
        partner = pairs.partner[record]
        if partner >= 0 and tree.place[partner] >= 0:
            return record
        partner, distance = _partner(tree, seen, points, record)
        pairs.partner[record] = partner
        _revise(pairs, record, distance)
    return -1


@njit(cache=True, nogil=True)
def _partner(tree, seen, points, record):
    """The record farthest from another one, itself left aside."""
    partner, distance = far.farthest(tree, seen, points[record], NONE, 0.0)
    if partner == record:  # all others are in the same place: the lowest of them
        found, distances = np.full(2, NONE), np.full(2, np.inf)
        boxes.nearest(tree, points[record], 2, found, distances)
        partner = found[1] if found[0] == record else found[0]
    return partner, distance
