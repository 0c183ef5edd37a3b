"""A kd-tree over records with full leaves, for the spanning tree and for Ward's method.

Nodes are in preorder: the left child of node i is i + 1. All leaves but the last are full. A
leaf's records lie in a block, one row per variable, so that the distances of a target to all of
them are computed side by side. Empty places of a block hold NaN, which wins no comparison.

Distances to boxes add the variables in the same order as distances to records do. Rounding is
monotone, so such a bound is never beyond the distance of a record in the box: no slack needed.
"""

from typing import NamedTuple

import numpy as np

from .compiled import entry, inner
from .threads import on_all_cores

WIDTH = 32  # records in a leaf
_RUN = 16  # leaves that one thread fills in a row
DEPTH = 512  # places on a stack: no node has less than an eighth of the leaves above it


class Tree(NamedTuple):
    """The arrays of a tree over some records of a matrix."""

    right: np.ndarray  # (nodes,) right child, 0 in a leaf
    parent: np.ndarray  # (nodes,) -1 at the root
    leaf: np.ndarray  # (nodes,) number of the leaf, -1 if not one
    node: np.ndarray  # (leaves,) node of each leaf
    box: np.ndarray  # (nodes, 2, d) least and greatest value of each variable
    lowest: np.ndarray  # (nodes,) lowest record in it
    block: np.ndarray  # (leaves, d, WIDTH) values, NaN in empty places
    record: np.ndarray  # (leaves, WIDTH) records in index order, -1 in empty places
    place: np.ndarray  # (n,) leaf * WIDTH + place in the block, -1 if not in the tree


def build(points: np.ndarray, records: np.ndarray | None = None) -> Tree:
    """Build the tree of some records of a matrix, of all if none are named.

    Parameters
    ----------
    points : float64 array of shape (n, d), C order
    records : int64 array, at least one
    """
    order = np.arange(len(points)) if records is None else np.array(records)
    leaves = -(-len(order) // WIDTH)
    right = np.zeros(2 * leaves - 1, dtype=np.int64)
    box = np.empty((len(right), 2, points.shape[1]))
    _grow(points, order, right, box)
    rows, record, place = sort_leaves(points, order)
    block = np.ascontiguousarray(rows.reshape(leaves, WIDTH, -1).transpose(0, 2, 1))
    node = np.flatnonzero(right == 0)
    inner = np.flatnonzero(right)
    leaf = np.full(len(right), -1)
    leaf[node] = np.arange(leaves)
    parent = np.full(len(right), -1)
    parent[inner + 1] = parent[right[inner]] = inner
    lowest = np.empty(len(right), dtype=np.int64)
    lowest[node] = record[:, 0]
    for above in inner[::-1].tolist():
        lowest[above] = min(lowest[above + 1], lowest[right[above]])
    return Tree(right, parent, leaf, node, box, lowest, block, record, place)


def sort_leaves(points: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, records and places of leaves that hold records in some order, a row each."""
    leaves = -(-len(order) // WIDTH)
    record = np.empty((leaves, WIDTH), dtype=np.int64)
    rows = np.empty((leaves * WIDTH, points.shape[1]))
    place = np.full(len(points), -1)
    on_all_cores(_fill_leaves, leaves, points, order, rows, record, place, run=_RUN)
    return rows, record, place


@entry()
def _fill_leaves(first, last, points, order, rows, record, place):
    """Fill in some leaves: their records in index order, -1 and NaN in empty places."""
    for leaf in range(first, last):
        here = record[leaf]
        start = leaf * WIDTH
        count = min(WIDTH, len(order) - start)
        here[count:] = -1
        for i in range(count):
            j = i
            while j > 0 and here[j - 1] > order[start + i]:
                here[j] = here[j - 1]
                j -= 1
            here[j] = order[start + i]
        for i in range(WIDTH):
            if i < count:
                place[here[i]] = start + i
            for v in range(points.shape[1]):
                rows[start + i, v] = points[here[i], v] if i < count else np.nan


@entry()
def _grow(points, order, right, box):
    """Order the records so that each node's are side by side; fill `right` and `box`."""
    keys = np.empty(len(order))
    waiting = np.empty((DEPTH, 3), dtype=np.int64)  # node, start, stop
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, 0, len(order)
    height = 1
    while height:
        height -= 1
        node, start, stop = waiting[height, 0], waiting[height, 1], waiting[height, 2]
        enclose(points, order, start, stop, box, node)
        if stop - start <= WIDTH:
            continue
        choose_keys(points, order, start, stop, box, node, keys)
        leaves = (stop - start + WIDTH - 1) // WIDTH
        half = (below_mean(keys, start, stop) + WIDTH // 2) // WIDTH
        if min(half, leaves - half) < max(1, leaves // 8):
            half = leaves // 2
        select(keys, order, start, stop, start + half * WIDTH)
        right[node] = node + 2 * half
        for child, first, last in (
            (node + 2 * half, start + half * WIDTH, stop),
            (node + 1, start, start + half * WIDTH),
        ):
            waiting[height, 0], waiting[height, 1], waiting[height, 2] = child, first, last
            height += 1


@inner()
def enclose(points, order, start, stop, box, node):
    """Box of the records at places start to stop - 1 of an order."""
    for v in range(points.shape[1]):
        box[node, 0, v] = np.inf
        box[node, 1, v] = -np.inf
    for i in range(start, stop):
        for v in range(points.shape[1]):
            x = points[order[i], v]
            box[node, 0, v] = min(box[node, 0, v], x)
            box[node, 1, v] = max(box[node, 1, v], x)


@inner()
def choose_keys(points, order, start, stop, box, node, keys):
    """What to divide records by: their widest variable, or their indices if all are equal."""
    widest, spread = -1, 0.0
    for v in range(points.shape[1]):
        if box[node, 1, v] - box[node, 0, v] > spread:
            widest, spread = v, box[node, 1, v] - box[node, 0, v]
    for i in range(start, stop):
        keys[i] = points[order[i], widest] if widest >= 0 else order[i]


@inner()
def below_mean(keys, start, stop):
    """How many keys are up to their mean: dividing there finds gaps between clusters."""
    mean, below = 0.0, 0
    for i in range(start, stop):
        mean += keys[i] / (stop - start)
    for i in range(start, stop):
        below += keys[i] <= mean
    return below


@inner()
def select(keys, order, low, stop, middle):
    """Sort so far that no key before the middle is above one from there on (Hoare)."""
    high = stop - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@inner()
def distance_to_box(target, box, node):
    """Squared distance from a point to the nearest place of a node's box, never too large."""
    total = 0.0
    for v in range(len(target)):
        gap = max(box[node, 0, v] - target[v], target[v] - box[node, 1, v], 0.0)
        total += gap * gap
    return total


@inner()
def distances_to_block(target, block, leaf, distances):
    """Squared distances from a point to all places of a leaf's block; NaN for empty ones."""
    width = block.shape[2]  # a number known to the compiler would keep it from vectorising
    for p in range(width):
        distances[p] = 0.0
    for v in range(len(target)):
        for p in range(width):
            difference = block[leaf, v, p] - target[v]
            distances[p] += difference * difference
