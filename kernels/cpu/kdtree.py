"""A search tree over records, shared by the words of the CPU engine.

A kd-tree in preorder: the left child of node i is i + 1, the right one `right[i]`, and
`right[i]` is 0 in a leaf. A leaf's records lie in a block, one row per variable, so that the
distances of a target to all of them are computed side by side; within a leaf records are in
index order. Empty places of a block hold NaN, which wins no comparison: a record is taken out
of the tree by writing NaN over it.

Distances to boxes add the variables in the same order as distances to records do. Rounding is
monotone, so such a bound is never beyond the distance of a record in the box: no slack needed.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

WIDTH = 32  # records in a leaf, at most
DEPTH = 512  # places on a search's stack: more than any tree is deep, see _split


class Tree(NamedTuple):
    """The arrays of a tree of n records and d variables."""

    right: np.ndarray  # (nodes,) right child, 0 in a leaf
    parent: np.ndarray  # (nodes,) -1 at the root
    leaf: np.ndarray  # (nodes,) number of the leaf, -1 if not one
    box: np.ndarray  # (nodes, 2, d) least and greatest value of each variable
    lowest: np.ndarray  # (nodes,) lowest record in it
    held: np.ndarray  # (nodes,) records in it; the words that take records out bring it down
    node: np.ndarray  # (leaves,) node of each leaf
    block: np.ndarray  # (leaves, d, WIDTH) values
    record: np.ndarray  # (leaves, WIDTH) records, -1 in empty places
    place: np.ndarray  # (records in the matrix,) leaf * WIDTH + place in the block, -1 if absent


@njit(cache=True, nogil=True)
def _swap(rows, order, i, j):
    order[i], order[j] = order[j], order[i]
    for v in range(rows.shape[1]):
        rows[i, v], rows[j, v] = rows[j, v], rows[i, v]


@njit(cache=True, nogil=True)
def _part(rows, order, start, stop, v, limit, inclusive):
    """Bring rows below (or up to) a limit to the front; return where the others start."""
    i, j = start, stop - 1
    while True:
        while i <= j and (rows[i, v] < limit or (inclusive and rows[i, v] == limit)):
            i += 1
        while i <= j and not (rows[j, v] < limit or (inclusive and rows[j, v] == limit)):
            j -= 1
        if i >= j:
            return i
        _swap(rows, order, i, j)


@njit(cache=True, nogil=True)
def _split(rows, order, start, stop, box):
    """Divide rows start..stop - 1 in two and return where the second part starts.

    At the mean of the widest variable, which finds the gaps between clusters; at the median
    if the mean leaves less than an eighth on one side, so that no tree is deeper than
    log(n) / log(8/7), 155 for a billion records.
    """
    size = stop - start
    v, widest = 0, -1.0
    for j in range(rows.shape[1]):
        width = box[1, j] - box[0, j]
        if width > widest:
            v, widest = j, width
    if widest <= 0.0:  # all equal: by index
        order[start:stop].sort()
        return start + size // 2
    total = 0.0
    for i in range(start, stop):
        total += rows[i, v] / size
    middle = _part(rows, order, start, stop, v, total, True)
    if min(middle - start, stop - middle) * 8 >= size:
        return middle
    median = np.partition(rows[start:stop, v].copy(), size // 2)[size // 2]
    below = _part(rows, order, start, stop, v, median, False)
    upto = _part(rows, order, below, stop, v, median, True)
    return min(max(start + size // 2, below), upto)


@njit(cache=True, nogil=True)
def _grow(rows, order):
    """Sort rows into a tree; return its right children, parents, ranges and boxes."""
    n, d = rows.shape
    most = 2 * (8 * n // WIDTH + 1)
    right = np.zeros(most, dtype=np.int64)
    parent = np.empty(most, dtype=np.int64)
    start = np.empty(most, dtype=np.int64)
    stop = np.empty(most, dtype=np.int64)
    box = np.empty((most, 2, d))
    waiting = np.empty((DEPTH, 3), dtype=np.int64)  # start, stop, parent of nodes to come
    waiting[0] = (0, n, -1)
    height, nodes = 1, 0
    while height:
        height -= 1
        first, last, above = waiting[height]
        here = nodes
        nodes += 1
        start[here], stop[here], parent[here] = first, last, above
        if above >= 0 and above != here - 1:
            right[above] = here
        for v in range(d):
            box[here, 0, v] = box[here, 1, v] = rows[first, v]
        for i in range(first + 1, last):
            for v in range(d):
                box[here, 0, v] = min(box[here, 0, v], rows[i, v])
                box[here, 1, v] = max(box[here, 1, v], rows[i, v])
        if last - first > WIDTH:
            middle = _split(rows, order, first, last, box[here])
            waiting[height] = (middle, last, here)
            waiting[height + 1] = (first, middle, here)
            height += 2
    return (
        right[:nodes].copy(),
        parent[:nodes].copy(),
        start[:nodes].copy(),
        stop[:nodes].copy(),
        box[:nodes].copy(),
    )


@njit(cache=True, nogil=True)
def _fill(points, order, right, start, stop, leaf, node, block, record, lowest, place):
    """Copy the records of each leaf to its block, in index order."""
    for leaf_number in range(len(node)):
        here = node[leaf_number]
        leaf[here] = leaf_number
        members = np.sort(order[start[here] : stop[here]])
        for p in range(len(members)):
            record[leaf_number, p] = members[p]
            place[members[p]] = leaf_number * WIDTH + p
            for v in range(points.shape[1]):
                block[leaf_number, v, p] = points[members[p], v]
        lowest[here] = members[0]
    for here in range(len(right) - 1, -1, -1):
        if right[here]:
            lowest[here] = min(lowest[here + 1], lowest[right[here]])


def build(points: np.ndarray, records: np.ndarray | None = None) -> Tree:
    """Build the tree of some records of a matrix, of all if none are named.

    Parameters
    ----------
    points : float64 array of shape (n, d), C order
    records : int64 array, at least one
    """
    n, d = points.shape
    order = np.arange(n) if records is None else np.array(records, dtype=np.int64)
    right, parent, start, stop, box = _grow(points[order], order)
    node = np.flatnonzero(right == 0)
    leaf = np.full(len(right), -1)
    block = np.full((len(node), d, WIDTH), np.nan)
    record = np.full((len(node), WIDTH), -1)
    lowest = np.empty(len(right), dtype=np.int64)
    place = np.full(n, -1)
    _fill(points, order, right, start, stop, leaf, node, block, record, lowest, place)
    return Tree(right, parent, leaf, box, lowest, stop - start, node, block, record, place)


@njit(cache=True, nogil=True)
def distance_to_box(target, box, node):
    """Squared distance from a point to the nearest place of a node's box, never too large."""
    total = 0.0
    for v in range(len(target)):
        gap = max(box[node, 0, v] - target[v], target[v] - box[node, 1, v], 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def distances_to_block(target, block, leaf, distances):
    """Squared distances from a point to all places of a leaf's block; NaN for empty ones."""
    width = block.shape[2]  # a number known to the compiler would keep it from vectorising
    for p in range(width):
        distances[p] = 0.0
    for v in range(len(target)):
        for p in range(width):
            difference = block[leaf, v, p] - target[v]
            distances[p] += difference * difference


@njit(cache=True, nogil=True)
def take_out(tree, record):
    """Take a record out of the tree."""
    at = tree.place[record]
    leaf, p = at // WIDTH, at % WIDTH
    tree.record[leaf, p] = -1
    tree.place[record] = -1
    for v in range(tree.block.shape[1]):
        tree.block[leaf, v, p] = np.nan
    node = tree.node[leaf]
    while node >= 0:
        tree.held[node] -= 1
        node = tree.parent[node]


@njit(cache=True, nogil=True)
def nearest(tree, target, k, found, distances):
    """The k records nearest to a point, by distance and then by index.

    Parameters
    ----------
    found, distances : arrays of at least k places
        Receive the records and their squared distances; -1 and infinity where there is none.
        What is beyond `distances[k - 1]` on entry, or level with it and at or above
        `found[k - 1]`, is not looked for: fill both with infinity and -1... to look for all.
    """
    stack = np.empty(DEPTH, dtype=np.int64)
    bounds = np.empty(DEPTH)
    level = np.empty(WIDTH)
    stack[0], bounds[0], height = 0, distance_to_box(target, tree.box, 0), 1
    while height:
        height -= 1
        node, bound = stack[height], bounds[height]
        if bound > distances[k - 1] or (
            bound == distances[k - 1] and tree.lowest[node] >= found[k - 1]
        ):
            continue
        while tree.right[node]:
            a, b = node + 1, tree.right[node]
            if tree.held[a] == 0:
                node = b
                continue
            if tree.held[b] == 0:
                node = a
                continue
            to_a = distance_to_box(target, tree.box, a)
            to_b = distance_to_box(target, tree.box, b)
            if to_b < to_a:
                a, b, to_a, to_b = b, a, to_b, to_a
            if to_b <= distances[k - 1]:
                stack[height], bounds[height] = b, to_b
                height += 1
            node, bound = a, to_a
        if bound > distances[k - 1]:
            continue
        leaf = tree.leaf[node]
        distances_to_block(target, tree.block, leaf, level)
        for p in range(WIDTH):
            if level[p] <= distances[k - 1]:
                insert(found, distances, k, tree.record[leaf, p], level[p])


@njit(cache=True, nogil=True)
def insert(found, distances, k, record, distance):
    """Put a record in its place among the k nearest, if it is one of them."""
    i = k - 1
    if distance == distances[i] and record > found[i]:
        return
    while i > 0 and (
        distance < distances[i - 1] or (distance == distances[i - 1] and record < found[i - 1])
    ):
        found[i], distances[i] = found[i - 1], distances[i - 1]
        i -= 1
    found[i], distances[i] = record, distance
