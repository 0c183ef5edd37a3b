"""The nearest other records of every record, by a search tree.

Records are asked about in the order of the tree, so that one is near the one before: what that
one found is as many records, and the farthest of them is where a search begins.
"""

from time import perf_counter
from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from ..protocol import Progress
from . import boxes
from .boxes import NONE
from .boxes import nearest as find_nearest
from .compiled import entry
from .outer import squared_distance
from .threads import on_all_cores

_RUN = 32  # records that one thread asks about in a row


def neighbours(
    points: Any, m: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The m records nearest to each record, itself left out; see `protocol.Engine`."""
    points = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    n = len(points)
    squares, records = np.empty((n, m)), np.empty((n, m), dtype=np.int64)
    tree = boxes.build(points, np.arange(n))
    order = tree.record.reshape(-1)[:n]
    start, size = 0, 16 * _RUN
    while start < n:
        begun = perf_counter()
        some = order[start : start + size]
        on_all_cores(_search, len(some), tree, points, some, squares, records, run=_RUN)
        start = min(start + size, n)
        size = max(4 * _RUN, int(size * min(2.0, 0.2 / (perf_counter() - begun))))
        if progress is not None:
            progress(start / n)
    return squares, records


@entry()
def _search(first, last, tree, points, order, squares, records):
    """Find the neighbours of some records."""
    m, walk = records.shape[1], boxes.begin_walk(tree)
    # A record is among the m + 1 nearest to itself, or m others before it are equal to it.
    found, distances = np.empty(m + 1, dtype=np.int64), np.empty(m + 1)
    for i in range(first, last):
        here = order[i]
        limit = np.inf
        if i > first:
            limit = 0.0
            for j in range(m + 1):
                limit = max(limit, squared_distance(points, found[j], points[here]))
        for j in range(m + 1):
            found[j], distances[j] = NONE, limit
        find_nearest(tree, walk, points[here], found, distances)
        place = 0
        for j in range(m + 1):
            if found[j] != here and place < m:
                records[here, place], squares[here, place] = found[j], distances[j]
                place += 1
