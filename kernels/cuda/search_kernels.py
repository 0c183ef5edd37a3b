"""Kernels that search the tree of `boxes`: a warp to a query, nearest boxes first.

A box is skipped only if every record in it comes after what was found, by distance and then by
index; so what is found is what a full scan would find, whatever the order in which boxes come.
"""

import math

import numpy as np
from numba import cuda

from .boxes import LEVELS, NONE, distance_in_leaf, distance_to_box, nearest_box
from .compiled import entry
from .team import THREADS
from .warp import (
    LANES,
    WARPS,
    first_of,
    from_lane,
    from_lane_before,
    lanes_where,
    least,
    warp_sync,
)


@cuda.jit(device=True)
def my_query(first):
    """The query that the warp answers, counted from the first of the launch."""
    return first + np.int64(cuda.blockIdx.x) * WARPS + cuda.threadIdx.x // LANES


@cuda.jit(device=True)
def enter(tree, target, row, bounds, level, block):
    """Step into a block of some level: bound the distances from a row to its boxes."""
    at = tree.start[level] + block
    lane = cuda.threadIdx.x % LANES
    bounds[level, cuda.threadIdx.x] = distance_to_box(tree, at, lane, target, row)


@cuda.jit(device=True)
def comes_first(distance, record, other, other_record):
    """Whether a record at some distance comes before another one."""
    return distance < other or (distance == other and record < other_record)


@cuda.jit(device=True)
def put_in_place(distance, record, lanes, best, name):
    """Put what some lanes offer in its place in a list, of which each lane holds an entry.

    A lane whose entry comes after the new one takes it if the lane before does not, else the entry
    of the lane before; so the list stays in order and its last entry is lost.
    """
    lane = cuda.threadIdx.x % LANES
    while lanes != 0:
        giver = first_of(lanes)
        lanes &= lanes - 1
        new = from_lane(distance, giver)
        new_record = from_lane(record, giver)
        before = from_lane_before(best)
        name_before = from_lane_before(name)
        if comes_first(new, new_record, best, name):
            if lane > 0 and comes_first(new, new_record, before, name_before):
                best = before
                name = name_before
            else:
                best = new
                name = new_record
    return best, name


@cuda.jit(device=True)
def nearest_others(tree, points, row, label, wanted, after, name_after, bounds):
    """The records nearest to one, itself left out: an entry to a lane, in order.

    Parameters
    ----------
    label : int64 array, optional
        Only records of a negative label count. A leaf without such is passed over from then on, so
        no other warp may search meanwhile if there is one.
    wanted : int
        At most LANES.
    after, name_after : float, int
        What comes after this distance and record is looked for.
    bounds : array of shape (LEVELS, threads)
        Shared memory.

    Returns
    -------
    squares, records
        Infinite and NONE where there are no more.
    leaves : int
        How many were looked at.
    """
    lane = np.int32(cuda.threadIdx.x % LANES)
    best = points.dtype.type(math.inf)
    name = np.int64(NONE)
    levels = tree.start.shape[0] - 1
    level = levels - 1
    block = np.int64(0)
    leaves = 0
    enter(tree, points, row, bounds, level, block)
    while True:
        limit = from_lane(best, wanted - 1)
        last_name = from_lane(name, wanted - 1)
        level, block, box, _ = nearest_box(tree, bounds, level, block, limit, last_name)
        if level == levels:
            break
        block = block * LANES + box
        if level > 0:
            level -= 1
            enter(tree, points, row, bounds, level, block)
            continue
        leaves += 1
        record = tree.record[block, lane]
        distance = distance_in_leaf(tree, block, lane, points, row)
        offered = distance <= limit and record != row
        if label is not None:
            there = record >= 0
            if there:
                there = label[record] < 0
            if lanes_where(there) == 0:
                warp_sync()  # all have read the box
                if lane == 0:
                    tree.low[block // LANES, 0, box] = math.inf
                warp_sync()
            offered = offered and there
        offered = offered and comes_first(after, name_after, distance, record)
        best, name = put_in_place(distance, record, lanes_where(offered), best, name)
        block //= LANES
    return best, name, leaves


@entry()
def nearest_rows(tree, points, first, last, begin, squares, records, looked):
    """The nearest other records of some records: columns `begin` to `begin` + LANES of their rows.

    Parameters
    ----------
    first, last : int
        The records, by their places in the tree.
    begin : int
        The columns before are filled. What comes after the last of them in the row's order is
        looked for.
    squares, records : arrays of shape (n, m)
        Rows of squared distances and records, in order.
    looked : int64 array of shape (1,)
        The number of leaves looked at is added to it.
    """
    bounds = cuda.shared.array((LEVELS, THREADS), points.dtype)
    query = my_query(first)
    if query >= last:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    row = tree.record[query // LANES, query % LANES]
    wanted = np.int32(min(LANES, squares.shape[1] - begin))
    after = -points.dtype.type(math.inf)
    name_after = np.int64(-1)
    if begin > 0:
        after = squares[row, begin - 1]
        name_after = records[row, begin - 1]
    best, name, leaves = nearest_others(tree, points, row, None, wanted, after, name_after, bounds)
    if lane < wanted:
        squares[row, begin + lane] = best
        records[row, begin + lane] = name
    if lane == 0:
        cuda.atomic.add(looked, 0, leaves)


@entry()
def nearest_points(tree, queries, order, first, last, squares, records, ties):
    """The record nearest to each of some queries, and how many records are as near.

    All records at the least distance count, so boxes that are as near have to be looked into; but a
    box whose records are all equal has its own distance as theirs, and is counted as a whole.

    Parameters
    ----------
    order : int64 array
        The queries `order[first]` to `order[last - 1]` are answered.
    squares, records, ties : arrays
        Least squared distance, lowest record at it, and number of records at it, of each query.
        Not written where the least distance is infinite.
    """
    bounds = cuda.shared.array((LEVELS, THREADS), queries.dtype)
    query = my_query(first)
    if query >= last:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    row = order[query]
    limit = queries.dtype.type(math.inf)
    name = np.int64(NONE)
    count = np.int64(0)
    levels = tree.start.shape[0] - 1
    level = levels - 1
    block = np.int64(0)
    enter(tree, queries, row, bounds, level, block)
    while True:
        level, block, box, bound = nearest_box(tree, bounds, level, block, limit, NONE)
        if level == levels:
            break
        at = tree.start[level] + block
        if all_equal(tree, at, box):
            if bound < limit:
                limit = bound
                name = np.int64(NONE)
                count = np.int64(0)
            name = min(name, tree.lowest[at, box])
            count += tree.held[at, box]
            continue
        block = block * LANES + box
        if level > 0:
            level -= 1
            enter(tree, queries, row, bounds, level, block)
            continue
        distance = distance_in_leaf(tree, block, lane, queries, row)
        within = distance <= limit
        if lanes_where(within) != 0:
            here = least(distance if within else queries.dtype.type(math.inf))
            if here < limit:
                limit = here
                name = np.int64(NONE)
                count = np.int64(0)
            as_near = distance == limit
            name = min(name, least(tree.record[block, lane] if as_near else np.int64(NONE)))
            count += cuda.popc(lanes_where(as_near))
        block //= LANES
    if lane == 0 and count > 0:
        squares[row] = limit
        records[row] = name
        ties[row] = count


@cuda.jit(device=True)
def all_equal(tree, at, box):
    """Whether all records in a box are equal, so that the bound to it is their distance."""
    equal = True
    for v in range(tree.low.shape[1]):
        equal &= tree.low[at, v, box] == tree.high[at, v, box]
    return equal
