"""The nearest of some points to each of some queries, by a search tree over the points.

Queries are answered in the order of a tree of their own, so that one is near the one before:
the distance to what that one found is where its search begins. All points at the least
distance count, so boxes that are as near have to be looked into; but a box whose points are
all equal has its own distance as theirs, and is counted as a whole.
"""

from time import perf_counter
from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from ..protocol import Progress
from . import boxes
from .arranging import in_order
from .boxes import NONE, WIDTH, begin_walk, descend, enter_top, nearest_box
from .compiled import entry, inner
from .lanes import first_lane
from .outer import squared_distance
from .threads import on_all_cores

_RUN = 32  # queries that one thread answers in a row


def nearest_records(
    points: Any, queries: Any, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The point nearest to each query, and how many are as near; see `protocol.Engine`."""
    points = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    queries = np.ascontiguousarray(to_numpy(queries), dtype=np.float64)
    m = len(queries)
    squares, first = np.empty(m), np.empty(m, dtype=np.int64)
    ties = np.empty(m, dtype=np.int64)
    if m == 0:
        return squares, first, ties
    tree = boxes.build(points, np.arange(len(points)))
    order = in_order(queries, np.arange(m))
    start, size = 0, 16 * _RUN
    while start < m:
        begun = perf_counter()
        some = order[start : start + size]
        on_all_cores(
            _search, len(some), tree, points, queries, some, squares, first, ties, run=_RUN
        )
        start = min(start + size, m)
        size = max(4 * _RUN, int(size * min(2.0, 0.2 / (perf_counter() - begun))))
        if progress is not None:
            progress(start / m)
    beyond = squares == np.inf  # squares too large for a number: all points are as near
    first[beyond], ties[beyond] = 0, len(points)
    return squares, first, ties


@entry()
def _search(start, stop, tree, points, queries, order, squares, first, ties):
    """Answer some queries."""
    walk = begin_walk(tree)
    before = np.int64(0)
    for i in range(start, stop):
        q = order[i]
        limit = squared_distance(points, before, queries[q])
        squares[q], first[q], ties[q] = _nearest(tree, queries[q], limit, walk)
        before = first[q] if ties[q] > 0 else np.int64(0)


@inner()
def _nearest(tree, target, distance, walk):
    """The least distance to a target, its lowest record, and how many records are at it.

    Parameters
    ----------
    distance : float
        A squared distance that some record has.
    """
    found, count = NONE, 0
    level = enter_top(tree, walk, target)
    while True:
        level, lane = nearest_box(tree, walk, level, distance)
        if level == len(walk.at):
            return distance, found, count
        block = walk.at[level]
        if tree.equal[block, lane]:
            here = boxes.distance_of_equals(tree, walk, level, lane, target)
            if here < distance:
                distance, found, count = here, NONE, 0
            if here == distance:
                found = min(found, tree.lowest[block, lane])
                count += tree.held[block, lane]
            continue
        level, leaf = descend(tree, walk, level, lane, target)
        if leaf < 0:
            continue
        lanes = boxes.candidates(tree, leaf, walk, distance)
        while lanes:
            i = first_lane(lanes)
            lanes &= lanes - 1
            here = boxes.distance_of(tree, leaf * WIDTH + i, target)
            if here < distance:
                distance, found, count = here, tree.record[leaf, i], 1
            elif here == distance:
                found = min(found, tree.record[leaf, i])
                count += 1
