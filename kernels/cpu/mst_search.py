"""Search for the nearest records of other components, for the spanning tree."""

from typing import NamedTuple

import numpy as np

from .boxes import (
    NONE,
    begin_walk,
    candidates,
    descend,
    distance_of,
    distance_of_equals,
    enter_top,
    insert,
    nearest_box,
)
from .compiled import entry, inner
from .kdtree import WIDTH
from .lanes import first_lane


class Components(NamedTuple):
    """The component of each record, of all records of a box, and what is known of its best edge."""

    of: np.ndarray  # (n,)
    common: np.ndarray  # (blocks, WIDTH), -1 where there are several
    limit: np.ndarray  # (components,) not below the squared length of its best edge


class Nearest(NamedTuple):
    """What records know of those nearest to them in other components."""

    other: np.ndarray  # (n, m) records in order of distance
    length: np.ndarray  # (n, m) squared distances to them
    known: np.ndarray  # (n,) whether the first is there, or only a limit


@inner()
def _nearest_others(tree, target, own, components, walk, other, length):
    """Put the nearest records of other components in a list.

    The list is what they are to beat, by distance and then by index. Boxes of the own component
    alone are skipped.
    """
    last = len(other) - 1
    level = enter_top(tree, walk, target)
    while True:
        level, lane = nearest_box(tree, walk, level, length[last])
        if level == len(walk.at):
            return
        block = walk.at[level]
        if components.common[block, lane] == own or (
            tree.lowest[block, lane] >= other[last]
            and tree.equal[block, lane]
            and distance_of_equals(tree, walk, level, lane, target) >= length[last]
        ):
            continue
        level, leaf = descend(tree, walk, level, lane, target)
        if leaf < 0:
            continue
        lanes = candidates(tree, leaf, walk, length[last])
        while lanes:
            lane = first_lane(lanes)
            lanes &= lanes - 1
            record = tree.record[leaf, lane]
            if components.of[record] != own:
                distance = distance_of(tree, leaf * WIDTH + lane, target)
                if distance <= length[last]:
                    insert(other, length, last, record, distance)


@entry()
def fill_lists(first, last, tree, points, leaves, alone, nearest):
    """List the nearest others of all records of some leaves.

    What a record found and the record itself are as many others for the next one, so the farthest
    of them is where its search begins.
    """
    walk = begin_walk(tree)
    m = nearest.other.shape[1]
    for i in range(first, last):
        before = np.int64(-1)
        for r in tree.record[leaves[i]]:
            if r < 0:
                continue
            limit = np.inf
            if before >= 0:
                limit = _distance(points, before, r)
                for x in nearest.other[before]:
                    limit = max(limit, _distance(points, x, r))
            for j in range(m):
                nearest.other[r, j], nearest.length[r, j] = NONE, limit
            _nearest_others(tree, points[r], r, alone, walk, nearest.other[r], nearest.length[r])
            nearest.known[r], before = True, r


@entry()
def search(first, last, tree, points, leaves, components, wanted, nearest):
    """Find the wanted records' nearest records of other components, for some leaves.

    What one record finds limits the others of its component, in all threads: a limit that another
    thread has just replaced is only less tight.

    Parameters
    ----------
    wanted : bool array of shape (n,)
        The records that search.
    nearest : Nearest
        Of records that found none within the limit, `known` is false and the limit is there.
    """
    walk = begin_walk(tree)
    for i in range(first, last):
        for r in tree.record[leaves[i]]:
            if r < 0 or not wanted[r]:
                continue
            own = components.of[r]
            other, length = nearest.other[r], nearest.length[r]
            limit = components.limit[own]
            other[0], length[0] = NONE, limit
            _nearest_others(tree, points[r], own, components, walk, other, length)
            nearest.known[r] = other[0] != NONE
            if not nearest.known[r]:
                other[0], length[0] = -1, np.nextafter(limit, np.inf)
            elif length[0] < components.limit[own]:
                components.limit[own] = length[0]


@inner()
def _distance(points, a, b):
    """Squared distance of two records."""
    total = 0.0
    for v in range(points.shape[1]):
        difference = points[a, v] - points[b, v]
        total += difference * difference
    return total
