"""Leaf by leaf search for the nearest records of other components, for the spanning tree.

The records of a leaf walk the tree together: one test of a box serves all of them, and where
boxes exclude nothing the search is a full scan in tiles.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiled import entry, inner
from .kdtree import DEPTH, WIDTH

LANES = 16  # records whose distances are computed at once; divides WIDTH


class Components(NamedTuple):
    """The component that each record is in, and all records of a node: -1 if of several."""

    of: np.ndarray  # (n,)
    common: np.ndarray  # (nodes,)


class Nearest(NamedTuple):
    """What records know of those nearest to them in other components."""

    other: np.ndarray  # (n, m) records in order of distance
    length: np.ndarray  # (n, m) squared distances to them
    known: np.ndarray  # (n,) whether the first is there, or only a limit


@inner()
def _between_boxes(box, a, b):
    """Squared distance between two boxes, never more than that of two records in them."""
    total = 0.0
    for v in range(box.shape[2]):
        gap = max(box[a, 0, v] - box[b, 1, v], box[b, 0, v] - box[a, 1, v], 0.0)
        total += gap * gap
    return total


@inner()
def _block_to_box(block, leaf, box, node, limits, distances):
    """Squared distances from the records of a leaf to a node's box; is any within its limit?"""
    width = block.shape[2]
    for p in range(width):
        distances[p] = 0.0
    for v in range(block.shape[1]):
        low, high = box[node, 0, v], box[node, 1, v]
        for p in range(width):
            below, above = low - block[leaf, v, p], block[leaf, v, p] - high
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            distances[p] += gap * gap
    within = 0
    for p in range(width):
        within += distances[p] <= limits[p]
    return within > 0


@intrinsic
def lane_distances(typing_context, rows, width, target, d, out):
    """Squared distances of LANES records to a target; addresses of float64 values.

    Numba's own loops keep the sums in memory, which takes about twice as long.
    """
    address = types.uintp

    def generate(context, builder, signature, arguments):
        rows, width, target, d, out = arguments
        number, lane = ir.DoubleType(), ir.IntType(32)
        lanes = ir.VectorType(number, LANES)
        undefined = ir.Constant(lanes, ir.Undefined)
        rows = builder.inttoptr(rows, number.as_pointer())
        target = builder.inttoptr(target, number.as_pointer())
        total = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES))
        with cgutils.for_range(builder, d) as loop:
            value = builder.load(builder.gep(target, [loop.index]))
            value = builder.insert_element(undefined, value, lane(0))
            everywhere = ir.Constant(ir.VectorType(lane, LANES), [0] * LANES)
            value = builder.shuffle_vector(value, undefined, everywhere)
            row = builder.gep(rows, [builder.mul(loop.index, width)])
            row = builder.load(builder.bitcast(row, lanes.as_pointer()), align=8)
            difference = builder.fsub(row, value)
            square = builder.fmul(difference, difference)
            builder.store(builder.fadd(builder.load(total), square), total)
        builder.store(builder.load(total), builder.inttoptr(out, lanes.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(address, types.int64, address, types.int64, address), generate


@inner()
def _insert(r, x, distance, nearest):
    """Put record x in its place in the list of record r, if it comes before the last."""
    other, length = nearest.other, nearest.length
    i = other.shape[1] - 1
    if distance > length[r, i] or (distance == length[r, i] and x >= other[r, i]):
        return False
    while i > 0 and (
        distance < length[r, i - 1] or (distance == length[r, i - 1] and x < other[r, i - 1])
    ):
        other[r, i], length[r, i] = other[r, i - 1], length[r, i - 1]
        i -= 1
    other[r, i], length[r, i] = x, distance
    return True


@inner()
def limit_of(r, length, low, high):
    """Squared distance and record from which on r's edges do not come before (low, high)."""
    if r < low:
        return np.nextafter(length, np.inf), np.int64(-1)
    return length, (high if r == low else low + (r < high))


@inner()
def _share(records, limits, r, comp, nearest):
    """Make the edge that record r found the limit of the leaf's seekers in its component."""
    other, length = nearest.other, nearest.length
    low, high = min(r, other[r, 0]), max(r, other[r, 0])
    for i in range(len(records)):
        s = records[i]
        if limits[i] >= 0.0 and s != r and comp[s] == comp[r]:
            distance, record = limit_of(s, length[r, 0], low, high)
            if distance < length[s, 0] or (distance == length[s, 0] and record < other[s, 0]):
                other[s, 0], length[s, 0], nearest.known[s] = record, distance, False


@inner()
def _visit(tree, points, home, leaf, to_box, limits, comp, nearest):
    """Put the records of a leaf in the lists of the home leaf's; tell if any list changed.

    Also the number of times that distances were computed.
    """
    d, width = tree.block.shape[1:]
    record, length = tree.record, nearest.length
    m = length.shape[1]
    distances = np.empty(LANES)
    rows = tree.block.ctypes.data + 8 * leaf * d * width
    first, out = points.ctypes.data, distances.ctypes.data
    any_changed, visits = False, 0
    for start in range(0, width, LANES):  # outside, for the lanes' values to stay in the cache
        for s in range(width):
            if not to_box[s] <= limits[s]:
                continue
            visits += 1
            r = record[home, s]
            lane_distances(rows + 8 * start, width, first + 8 * r * d, d, out)
            within = 0  # counting is vectorised, leaving at the first is not
            for p in range(len(distances)):
                within += distances[p] <= limits[s]
            if within == 0:
                continue
            changed = False
            for p in range(LANES):
                x = record[leaf, start + p]
                if distances[p] <= length[r, m - 1] and comp[x] != comp[r]:
                    changed |= _insert(r, x, distances[p], nearest)
            if changed:
                nearest.known[r] = any_changed = True
                if m == 1:
                    _share(record[home], limits, r, comp, nearest)
    return any_changed, visits


@inner()
def _search_from(tree, points, home, limits, own, components, nearest):
    """Search the tree for the records of one leaf that have a limit (others: -1).

    A node is skipped if it is all of the seekers' own component, or holds nothing before the
    last entry of any seeker's list. Returns how many times LANES distances were computed.
    """
    other, length = nearest.other, nearest.length
    m = other.shape[1]
    stack = np.empty(DEPTH, dtype=np.int64)
    bounds = np.empty(DEPTH)
    to_box = np.empty(len(limits))
    start = tree.node[home]
    stack[0], bounds[0], height = 0, 0.0, 1
    farthest, last = -1.0, np.int64(-1)
    changed, visits = True, 0
    while height:
        if changed:
            farthest, last = -1.0, np.int64(-1)
            for p in range(len(limits)):
                if limits[p] >= 0.0:
                    r = tree.record[home, p]
                    limits[p] = length[r, m - 1]
                    if limits[p] > farthest:
                        farthest, last = limits[p], other[r, m - 1]
                    elif limits[p] == farthest:
                        last = max(last, other[r, m - 1])
            changed = False
        height -= 1
        node, bound = stack[height], bounds[height]
        if bound > farthest or (bound == farthest and tree.lowest[node] >= last):
            continue
        if components.common[node] == own or not _block_to_box(
            tree.block, home, tree.box, node, limits, to_box
        ):
            continue
        if tree.right[node]:
            a, b = node + 1, tree.right[node]
            to_a, to_b = _between_boxes(tree.box, start, a), _between_boxes(tree.box, start, b)
            if to_a < to_b or (to_a == to_b and tree.lowest[a] < tree.lowest[b]):
                a, b, to_a, to_b = b, a, to_b, to_a
            stack[height], bounds[height] = a, to_a
            stack[height + 1], bounds[height + 1] = b, to_b
            height += 2
        else:
            changed, scanned = _visit(
                tree, points, home, tree.leaf[node], to_box, limits, components.of, nearest
            )
            visits += scanned
    return visits


@inner()
def _component_of_seekers(tree, leaf, wanted, components, limits):
    """The component of a leaf's wanted records: -2 if there are none, -3 if they are of several."""
    own = np.int64(-2)
    for p in range(WIDTH):
        r = tree.record[leaf, p]
        if r >= 0 and wanted[r]:
            limits[p] = 0.0
            mine = components.of[r]
            own = mine if own == -2 or own == mine else np.int64(-3)
    return own


@entry()
def search(first, last, tree, points, leaves, components, wanted, nearest):
    """Find the wanted records' nearest records of other components, for some leaves.

    Parameters
    ----------
    components : Components
    wanted : bool array of shape (n,)
        The records that search.
    nearest : Nearest
        On entry the last one is the limit: only what comes before it is looked for. `known` is
        set where a record was found.

    Returns
    -------
    visits : int
        How many times the distances of LANES records were computed.
    """
    visits = 0
    for i in range(first, last):
        leaf = leaves[i]
        limits = np.full(WIDTH, -1.0)
        own = _component_of_seekers(tree, leaf, wanted, components, limits)
        if own != -2:
            visits += _search_from(tree, points, leaf, limits, own, components, nearest)
    return visits
