"""Nearest records by the tree of `boxes`: lists of neighbours, and record linkage.

Queries are answered in the order of a tree, so that warps side by side look at the same leaves.
Records of the tree itself search together (`together`).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..protocol import Progress
from .boxes import build
from .launching import Pace, check_room, launch, read_number
from .search_kernels import nearest_points, nearest_rows
from .single import PARTS, Flat, flattened
from .warp import WARPS

# Queries of the first launch, which take less than a second even if each looks at ten million
# records.
_FIRST = 512


def search_pace(queries: int) -> Pace:
    """How many queries launches may answer, of so many in all."""
    return Pace(queries, _FIRST)


def portions(total: int, pace: Pace | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of queries, each of about 0.1 s; whoever takes one waits for the device in between.

    Parameters
    ----------
    pace : Pace, optional
        That of searches before.
    """
    pace = search_pace(total) if pace is None else pace
    start = 0
    while start < total:
        stop = min(total, start + max(WARPS, pace.work))
        with pace:
            yield start, stop
        start = stop


def tree_bytes(n: int, d: int, item: int) -> int:
    """Bytes that a tree of n records takes while it is built."""
    return n * (6 * d * item + 4 * d + 64)


def blocks_for(queries: int) -> int:
    """Blocks that have a warp for each query."""
    return -(-queries // WARPS)


def fill_rows(tree: Flat, first: int, last: int, squares: Any, records: Any) -> int:
    """List the nearest others of some groups of neighbouring records; see `nearest_rows`.

    Returns
    -------
    int
        How many leaves were looked at.
    """
    xp = array_namespace(squares)
    looked = xp.zeros((1,), dtype=xp.int64)
    launch(nearest_rows, blocks_for(last - first), tree, first, last, squares, records, looked)
    return read_number(looked[0])


def groups_in(tree: Flat) -> int:
    """How many groups of records search together."""
    return int(tree.margin.shape[0]) * PARTS


def neighbours(
    points: Any, m: int, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The m records nearest to each record, itself left out; see `protocol.Engine`."""
    xp = array_namespace(points)
    n, d = points.shape
    if m == 0:
        return np.empty((n, 0)), np.empty((n, 0), dtype=np.int64)
    check_room(points, tree_bytes(n, d, points.dtype.itemsize) + 16 * n * m)
    points = xp.ascontiguousarray(points)
    tree = flattened(build(points))
    squares = xp.empty((n, m), dtype=points.dtype)
    records = xp.empty((n, m), dtype=xp.int64)
    groups = groups_in(tree)
    for first, last in portions(groups):
        fill_rows(tree, first, last, squares, records)
        if progress is not None:
            progress(last / groups)
    return to_numpy(squares).astype(np.float64), to_numpy(records)


def nearest_records(
    points: Any, queries: Any, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The point nearest to each query, and how many are as near; see `protocol.Engine`."""
    xp = array_namespace(points)
    (n, d), m = points.shape, queries.shape[0]
    check_room(points, tree_bytes(n + m, d, points.dtype.itemsize) + 24 * m)
    points, queries = xp.ascontiguousarray(points), xp.ascontiguousarray(queries)
    # Squares too large for a number stay as they are here: all points are as near.
    squares = xp.full((m,), np.inf, dtype=queries.dtype)
    first = xp.zeros((m,), dtype=xp.int64)
    ties = xp.full((m,), n, dtype=xp.int64)
    if m > 0:
        tree, order = build(points), build(queries).record.reshape(-1)
        for begin, end in portions(m):
            launch(
                nearest_points, blocks_for(end - begin),
                tree, queries, order, begin, end, squares, first, ties,
            )  # fmt: skip
            read_number(ties[0])
            if progress is not None:
                progress(end / m)
    return to_numpy(squares).astype(np.float64), to_numpy(first), to_numpy(ties)
