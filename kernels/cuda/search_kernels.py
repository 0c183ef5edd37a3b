"""Kernels that search the tree of `boxes`: a warp to a query, nearest boxes first.

A box is skipped only if every record in it comes after what was found, by distance and then by
index; so what is found is what a full scan would find, whatever the order in which boxes come.
"""

import math

import numpy as np
from numba import cuda

from .boxes import LEVELS, NONE, distance_in_leaf, distance_to_box, nearest_box
from .compiled import entry
from .single import EACH, PARTS, SEEKERS, at_place, greatest_square, may_be_near
from .team import THREADS
from .together import Seekers, begin_walk, distance_between, next_leaf, place_in_group
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
def nearest_rows(tree, first, last, squares, records, looked):
    """The nearest other records of each, as many as a row has places; a warp to some neighbours.

    Parameters
    ----------
    first, last : int
        The groups of SEEKERS records, by their places in the tree.
    squares, records : arrays of shape (n, m)
        Rows of squared distances and records, in order; infinite and NONE where there are no more.
    looked : int64 array of shape (1,)
        The number of leaves looked at is added to it.
    """
    bounds = cuda.shared.array((LEVELS, THREADS), np.float32)
    spans = cuda.shared.array((2, THREADS), squares.dtype)
    group = my_query(first)
    if group >= last:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    home, own, part = place_in_group(group)
    row = tree.record[at_place(home, own)]
    lanes = lanes_where(row >= 0)
    if lanes == 0:
        return
    m = squares.shape[1]
    limit = squares.dtype.type(-1)
    name = np.int64(-1)
    if row >= 0:
        limit = squares.dtype.type(math.inf)
        name = np.int64(NONE)
        if part == 0:
            for i in range(m):
                squares[row, i] = limit
                records[row, i] = name
    seekers = Seekers(home, own, part)
    most = greatest_square(tree, limit)
    begin_walk(tree, seekers, lanes, spans, None, NONE, bounds)
    level = np.int32(0)
    leaf = home
    leaves = 0
    while True:
        leaves += 1
        bits = may_be_near(tree, leaf, home, own, part, most)
        waiting = lanes_where(bits != 0)
        if waiting != 0:
            while waiting != 0:
                distance = squares.dtype.type(math.inf)
                record = np.int64(NONE)
                if bits != 0:
                    place = part * EACH + first_of(bits)
                    bits &= bits - np.int32(1)
                    other = tree.record[at_place(leaf, place)]
                    if other != row:
                        record = other
                        distance = distance_between(tree, leaf, place, home, own)
                for i in range(PARTS):
                    giver = i * SEEKERS + lane % SEEKERS
                    new = from_lane(distance, giver)
                    new_record = from_lane(record, giver)
                    if part == 0 and comes_first(new, new_record, limit, name):
                        put_in_row(squares, records, row, new, new_record)
                        limit = squares[row, m - 1]
                        name = records[row, m - 1]
                limit = from_lane(limit, lane % SEEKERS)
                name = from_lane(name, lane % SEEKERS)
                waiting = lanes_where(bits != 0)
            most = greatest_square(tree, limit)
        level, leaf = next_leaf(
            tree, seekers, spans, None, NONE, NONE, bounds, level, leaf, limit, name, most
        )
        if level != 0:
            break
    if lane == 0:
        cuda.atomic.add(looked, 0, leaves)


@cuda.jit(device=True)
def put_in_row(squares, records, row, distance, record):
    """Put a record in its place in a row that is in order; the last entry is lost."""
    i = squares.shape[1] - 1
    while i > 0 and comes_first(distance, record, squares[row, i - 1], records[row, i - 1]):
        squares[row, i] = squares[row, i - 1]
        records[row, i] = records[row, i - 1]
        i -= 1
    squares[row, i] = distance
    records[row, i] = record


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
