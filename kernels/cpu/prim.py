"""The minimum spanning tree by Prim's method, for data in which boxes exclude little.

It computes each distance once, half as many as a full scan for nearest records.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, prange

from ..protocol import Progress
from .compiled import entry, inner
from .kdtree import WIDTH, Tree
from .mst_search import LANES, lane_distances


class Outside(NamedTuple):
    """The records outside the tree, close together in blocks, and their edges to the tree."""

    block: np.ndarray  # (blocks, d, WIDTH) values, NaN in empty places
    record: np.ndarray  # (blocks, WIDTH)
    other: np.ndarray  # (blocks, WIDTH) end of the shortest edge
    length: np.ndarray  # (blocks, WIDTH) its squared length
    least: np.ndarray  # (blocks,) least length in each block


def prim(
    points: np.ndarray, tree: Tree, progress: Progress | None
) -> tuple[np.ndarray, np.ndarray]:
    """Edges and squared lengths in the order found, as `generic.minimum_spanning_tree` has it.

    The records outside the tree are kept close together in blocks: the last one takes the
    place of one that goes.
    """
    n = len(points)
    shape = tree.record.shape
    outside = Outside(
        tree.block.copy(),
        tree.record.copy(),
        np.full(shape, n),
        np.full(shape, np.inf),
        np.full(len(tree.record), np.inf),
    )
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    found, steps = 0, 16
    vertex = outside.record[0, 0]
    _take_out(outside, 0, n - 1)
    rate = {1: 0.0, get_num_threads(): np.inf}
    while found < n - 1:
        threads = max(rate, key=lambda number: rate[number])
        begun = perf_counter()
        stop = min(found + steps, n - 1)
        vertex = _steps(points, vertex, found, stop, threads, outside, edges, lengths)
        taken = perf_counter() - begun
        # Threads meet after every vertex, and wait long for each other on a busy machine: use
        # what was faster, and now and then try again what was not.
        rate = {number: 1.1 * speed for number, speed in rate.items()}
        rate[threads] = (stop - found) * (n - found) / taken
        rate[1] = rate[1] or np.inf
        found = stop
        steps = max(4, int(steps * min(2.0, 0.2 / taken)))
        if progress is not None:
            progress(1.0 - (1.0 - found / n) ** 2)
    return edges, lengths


@entry()
def _steps(points, vertex, found, stop, threads, outside, edges, lengths):
    """Add vertices to the tree; return the last, whose distances are still to be computed."""
    record, other, length, least = outside.record, outside.other, outside.length, outside.least
    n = len(points)
    for step in range(found, stop):
        left = n - 1 - step
        blocks = (left + WIDTH - 1) // WIDTH
        if threads == 1:
            _offer_all(points, vertex, 0, blocks, outside)
        else:
            _offer_threaded(points, vertex, blocks, threads, outside)
        shortest = least[0]
        for b in range(1, blocks):
            shortest = min(shortest, least[b])
        low, high, best = n, n, 0
        for b in range(blocks):
            if least[b] != shortest:
                continue
            for p in range(WIDTH):
                i, j = min(record[b, p], other[b, p]), max(record[b, p], other[b, p])
                if length[b, p] == shortest and (i < low or (i == low and j < high)):
                    low, high, best = i, j, b * WIDTH + p
        edges[step, 0], edges[step, 1], lengths[step] = low, high, shortest
        vertex = record[best // WIDTH, best % WIDTH]
        _take_out(outside, best, left - 1)
    return vertex


@inner(parallel=True)
def _offer_threaded(points, vertex, blocks, threads, outside):
    for t in prange(threads):
        start, stop = blocks * t // threads, blocks * (t + 1) // threads
        _offer_all(points, vertex, start, stop, outside)


@inner()
def _offer_all(points, vertex, start, stop, outside):
    """Offer the edges to a vertex to the records of some blocks; they take what comes before."""
    block, other, length, least = outside.block, outside.other, outside.length, outside.least
    d, width = block.shape[1:]
    distances = np.empty(width)
    target, out = points.ctypes.data + 8 * vertex * d, distances.ctypes.data
    for b in range(start, stop):
        rows = block.ctypes.data + 8 * b * d * width
        for p in range(0, 8 * width, 8 * LANES):
            lane_distances(rows + p, width, target, d, out + p)
        within = 0  # counting is vectorised, leaving at the first is not
        for p in range(width):
            within += distances[p] <= length[b, p]
        if within == 0:
            continue
        for p in range(width):
            if distances[p] < length[b, p] or (
                distances[p] == length[b, p] and vertex < other[b, p]
            ):
                length[b, p], other[b, p] = distances[p], vertex
        least[b] = np.min(length[b])


@entry()
def _take_out(outside, place, last):
    """Move the last record to a place and leave the last place empty."""
    block, record, other, length, least = outside
    b, p = place // WIDTH, place % WIDTH
    c, q = last // WIDTH, last % WIDTH
    for v in range(block.shape[1]):
        block[b, v, p] = block[c, v, q]
        block[c, v, q] = np.nan
    record[b, p], other[b, p], length[b, p] = record[c, q], other[c, q], length[c, q]
    record[c, q], length[c, q] = -1, np.inf
    least[b] = np.min(length[b])
    least[c] = np.min(length[c])
