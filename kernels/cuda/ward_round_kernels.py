"""The searches of Ward's method in batches: see `ward_rounds` and `ward_events`.

A warp finds the first pair that a group could make, by (rise of SSE, other group), in a tree over
the groups as they were before the batch. An event comes after some mergers of its batch: groups
that these use up are passed over, and those that they make, which are in no tree, are compared with
one by one. So what is found is what a look at all groups would find after the event.

Bounds are those of `cpu.ward_tree`: n * m and n + m are exact and rounding is monotone, so the
computed rise never falls as m or the distance grows. With the least size in a box and the distance
to the box it is a bound without slack. As groups leave, bounds stay bounds; a group that takes a
place widens the boxes around it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .arithmetic import add, rounded, squared_distance
from .boxes import LEVELS, NONE, distance_in_leaf, distance_to_box
from .compiled import entry
from .search_kernels import my_query
from .team import THREADS
from .ward_events import (
    BEFORE,
    FREED,
    KEPT,
    MOVED,
    MOVED_ROW,
    MOVED_SIZE,
    NEW_ROW,
    OTHER,
    OTHER_ROW,
    OWNER,
    ROW,
    SIZE,
)
from .ward_kernels import rank, rise_of_sse
from .warp import LANES, first_of, lanes_where, least

# What `kind` holds of each box: the lowest group, the lowest of fewer than k records, the highest
# group and the least size. NONE, -1 and MANY where there is no such group.
LOWEST, SMALL, HIGHEST, LEAST = range(4)
MANY = 2**40
NAME, HELD = 0, 1  # what `group` holds of each place of a leaf: the group, -1 if none, and its size


class GroupBoxes(NamedTuple):
    """A tree as `boxes.Boxes`, of groups."""

    value: Any  # (leaves, d, LANES) centroids, NaN in empty places
    group: Any  # (leaves, 2, LANES) int64
    start: Any  # (levels + 1,) int64
    low: Any  # (blocks, d, LANES)
    high: Any  # (blocks, d, LANES)
    kind: Any  # (blocks, 4, LANES) int64


class Batch(NamedTuple):
    """What a batch works on; columns of `work` are those of `ward_events`."""

    work: Any  # (events, COLUMNS) int64
    target: Any  # (events, d) centroids of the groups that look
    made: Any  # (d, mergers) centroids of the groups that are made
    made_group: Any  # (2, mergers) int64 as `group` of the tree
    last: Any  # (groups,) int64 number of the last event that merges a group, over all batches
    found: Any  # (2, events) float64 rises and groups of the pairs found


@entry()
def sum_groups(points, member, begin, total):
    """The sums of groups; ``member[begin[g]:begin[g + 1]]`` are in g."""
    d = points.shape[1]
    groups = begin.shape[0] - 1
    for e in range(cuda.grid(1), groups * d, cuda.gridsize(1)):
        g = e // d
        v = e % d
        for part in range(3):
            total[g, part, v] = 0.0
        for m in range(begin[g], begin[g + 1]):
            add(total, g, v, points[member[m], v])


@entry()
def find_centroids(total, row, size, centroid):
    """The centroids of groups whose sums are in some rows."""
    d = centroid.shape[1]
    for e in range(cuda.grid(1), centroid.shape[0] * d, cuda.gridsize(1)):
        centroid[e // d, e % d] = rounded(total, row[e // d], e % d) / np.float64(size[e // d])


@entry()
def unite(k, first, events, moves, total, batch, tree):
    """Put the groups that were merged into the tree, and add up those that may be next.

    Parameters
    ----------
    first : int
        The number of the batch's first event, over all batches.
    events, moves : int
        Events of this batch, and mergers of the one before that are final.
    """
    item = my_query(0)
    lane = cuda.threadIdx.x % LANES
    d = batch.target.shape[1]
    work = batch.work
    if item < moves:
        kept = work[item, KEPT]
        freed = work[item, FREED]
        row = work[item, MOVED_ROW]
        count = np.float64(work[item, MOVED_SIZE])
        for v in range(lane, d, LANES):
            x = rounded(total, row, v) / count
            tree.value[kept // LANES, v, kept % LANES] = x
            tree.value[freed // LANES, v, freed % LANES] = math.nan
            place = kept // LANES
            for level in range(tree.start.shape[0] - 1):
                at = tree.start[level] + place // LANES
                cuda.atomic.min(tree.low, (at, v, place % LANES), x)
                cuda.atomic.max(tree.high, (at, v, place % LANES), x)
                place //= LANES
        if lane == 0:
            name = work[item, MOVED]
            tree.group[kept // LANES, NAME, kept % LANES] = name
            tree.group[kept // LANES, HELD, kept % LANES] = work[item, MOVED_SIZE]
            tree.group[freed // LANES, NAME, freed % LANES] = -1
            place = kept // LANES
            for level in range(tree.start.shape[0] - 1):
                # The name is not above that of the group which was here, nor the size below.
                at = tree.start[level] + place // LANES
                cuda.atomic.min(tree.kind, (at, LOWEST, place % LANES), name)
                if work[item, MOVED_SIZE] < k:
                    cuda.atomic.min(tree.kind, (at, SMALL, place % LANES), name)
                place //= LANES
    if item < events:
        row = work[item, ROW]
        merges = work[item, OTHER] >= 0
        count = np.float64(work[item, SIZE])
        for v in range(lane, d, LANES):
            if merges:
                new = work[item, NEW_ROW]
                for part in range(3):
                    total[new, part, v] = total[row, part, v]
                for part in range(3):
                    add(total, new, v, total[work[item, OTHER_ROW], part, v])
                x = rounded(total, new, v) / count
                batch.made[v, work[item, BEFORE]] = x
            else:
                x = rounded(total, row, v) / count
            batch.target[item, v] = x
        if lane == 0 and merges:
            batch.made_group[NAME, work[item, BEFORE]] = work[item, OWNER]
            batch.made_group[HELD, work[item, BEFORE]] = work[item, SIZE]
            batch.last[work[item, OWNER]] = first + item
            batch.last[work[item, OTHER]] = first + item


@cuda.jit(device=True)
def enter(tree, target, row, n, small, bounds, level, block):
    """Step into a block of some level: bound the rises with groups in its boxes."""
    at = tree.start[level] + block
    t = cuda.threadIdx.x
    lane = t % LANES
    bound = math.inf
    if tree.kind[at, small, lane] < NONE:
        fewest = np.float64(tree.kind[at, LEAST, lane])
        bound = rise_of_sse(n, fewest, distance_to_box(tree, at, lane, target, row))
    bounds[level, t] = bound


@cuda.jit(device=True)
def nearest_box(tree, small, floor, groups, bounds, level, block, best, code):
    """As `boxes.nearest_box`: the box of the least bound that may have a pair before the best."""
    t = cuda.threadIdx.x
    lane = t % LANES
    levels = tree.start.shape[0] - 1
    while level < levels:
        mine = bounds[level, t]
        if mine == best and mine < math.inf:
            at = tree.start[level] + block
            first = tree.kind[at, small, lane]
            above = floor + 1 if floor >= first else first
            if (
                rank(above if tree.kind[at, HIGHEST, lane] > floor else first, floor, groups)
                >= code
            ):
                mine = math.inf
        bound = least(mine)
        if bound <= best and bound < math.inf:
            box = first_of(lanes_where(mine == bound))
            if lane == box:
                bounds[level, t] = math.inf
            return level, block, box
        level += 1
        block //= LANES
    return level, block, np.int32(0)


@entry()
def find_pairs(k, first, events, batch, tree):
    """The first pair that the owner of each event could make after the event; a warp to each."""
    bounds = cuda.shared.array((LEVELS, THREADS), "float64")
    event = my_query(0)
    if event >= events:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    work = batch.work
    target = batch.target
    groups = batch.last.shape[0]
    own = work[event, OWNER]
    size = work[event, SIZE]
    n = np.float64(size)
    floor = own if size == 1 else np.int64(-1)
    small = SMALL if size >= k else LOWEST
    best = math.inf
    code = np.int64(NONE)
    for q in range(lane, work[event, BEFORE], LANES):
        m = batch.made_group[HELD, q]
        if size < k or m < k:
            rise = rise_of_sse(n, np.float64(m), squared_distance(batch.made, q, target, event))
            here = rank(batch.made_group[NAME, q], floor, groups)
            if rise < best or (rise == best and here < code):
                best = rise
                code = here
    best, code = first_pair(best, code)
    levels = tree.start.shape[0] - 1
    level = levels - 1
    block = np.int64(0)
    enter(tree, target, event, n, small, bounds, level, block)
    while True:
        level, block, box = nearest_box(
            tree, small, floor, groups, bounds, level, block, best, code
        )
        if level == levels:
            break
        block = block * LANES + box
        if level > 0:
            level -= 1
            enter(tree, target, event, n, small, bounds, level, block)
            continue
        other = tree.group[block, NAME, lane]
        m = tree.group[block, HELD, lane]
        there = other >= 0 and other != own and (size < k or m < k)
        if there:
            since = batch.last[other] - first
            there = since < 0 or since > event
        rise = math.inf
        here = np.int64(NONE)
        if there:
            square = distance_in_leaf(tree, block, lane, target, event)
            rise = rise_of_sse(n, np.float64(m), square)
            here = rank(other, floor, groups)
        there = there and (rise < best or (rise == best and here < code))
        if lanes_where(there) != 0:
            best, code = first_pair(rise if there else best, here if there else code)
        block //= LANES
    if lane == 0:
        batch.found[0, event] = best
        batch.found[1, event] = np.float64(code - groups if code >= groups else code)


@cuda.jit(device=True)
def first_pair(rise, code):
    """The first of the pairs that all lanes offer."""
    best = least(rise)
    return best, least(code if rise == best else np.int64(NONE))


@entry()
def refresh(k, level, tree):
    """Make the boxes of a level those of the groups in them; a warp to a box."""
    query = my_query(0)
    if query >= (tree.start[level + 1] - tree.start[level]) * LANES:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    at = tree.start[level] + query // LANES
    box = query % LANES
    below = query if level == 0 else tree.start[level - 1] + query
    inside = below < (tree.group.shape[0] if level == 0 else tree.start[level])
    lowest = np.int64(NONE)
    small = np.int64(NONE)
    highest = np.int64(-1)
    fewest = np.int64(MANY)
    if inside and level == 0:
        name = tree.group[below, NAME, lane]
        inside = name >= 0
        if inside:
            lowest = name
            highest = name
            fewest = tree.group[below, HELD, lane]
            small = name if fewest < k else np.int64(NONE)
    elif inside:
        lowest = tree.kind[below, LOWEST, lane]
        small = tree.kind[below, SMALL, lane]
        highest = tree.kind[below, HIGHEST, lane]
        fewest = tree.kind[below, LEAST, lane]
    for v in range(tree.low.shape[1]):
        low = math.inf
        high = -math.inf
        if inside:
            low = tree.value[below, v, lane] if level == 0 else tree.low[below, v, lane]
            high = tree.value[below, v, lane] if level == 0 else tree.high[below, v, lane]
        low = least(low)
        high = -least(-high)
        if lane == 0:
            tree.low[at, v, box] = low
            tree.high[at, v, box] = high
    lowest = least(lowest)
    small = least(small)
    highest = -least(-highest)
    fewest = least(fewest)
    if lane == 0:
        tree.kind[at, LOWEST, box] = lowest
        tree.kind[at, SMALL, box] = small
        tree.kind[at, HIGHEST, box] = highest
        tree.kind[at, LEAST, box] = fewest
