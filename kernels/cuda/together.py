"""Searches by a warp for some neighbouring records of a leaf together, the seekers.

Boxes are chosen by their distance to the box around the seekers, nearest first, and looked into if
one seeker at least may find something there: so the walk is made once for all. PARTS lanes share a
seeker: each bounds some variables, and looks at some records of a leaf.

Bounds to boxes are computed in the points' own precision, and kept and compared in single precision
with the slack of `single`, which is a thousand times their rounding. A box is passed over at equal
distance too if its records come later: so thousands of equal records are not looked at one by one.
That is decided by bounds that are exact.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import cuda

from .arithmetic import product
from .single import PARTS, SEEKERS, at_place, at_value
from .warp import LANES, first_of, from_lane, greatest, lanes_where, least, warp_sync


class Seekers(NamedTuple):
    """Which records search together."""

    home: int  # their leaf
    own: int  # the place there of the lane's seeker
    part: int  # which of its PARTS lanes this is


@cuda.jit(device=True)
def place_in_group(group):
    """The leaf of a group of SEEKERS records, the place there of the lane's, the lane's part."""
    lane = np.int32(cuda.threadIdx.x % LANES)
    first = np.int32(group % PARTS) * np.int32(SEEKERS)
    return group // PARTS, first + lane % np.int32(SEEKERS), lane // np.int32(SEEKERS)


@cuda.jit(device=True)
def span_seekers(tree, seekers, lanes, spans):
    """Note the least and greatest values of the seekers: a lane to each of the first variables.

    Parameters
    ----------
    lanes : int
        Those that seek, as bits.
    spans : array of shape (2, THREADS)
        Shared memory.
    """
    t = cuda.threadIdx.x
    low = spans.dtype.type(math.inf)
    high = spans.dtype.type(-math.inf)
    if t % LANES < tree.variables:
        at = at_value(tree, seekers.home, t % LANES, seekers.own - t % SEEKERS)
        for i in range(SEEKERS):
            if lanes & (1 << i) != 0:
                x = tree.value[at + np.uint64(i)]
                low = min(low, x)
                high = max(high, x)
    spans[0, t] = low
    spans[1, t] = high
    warp_sync()


@cuda.jit(device=True)
def bound_boxes(tree, spans, at):
    """The squared distance in the unit of the box around the seekers to the lane's of a block.

    Of more variables than LANES only the first are added up: `bound_one_box` takes all.
    """
    t = cuda.threadIdx.x
    place = at_value(tree, at, 0, t % LANES)
    of = np.uint64(t - t % LANES)
    end = of + min(np.uint64(tree.variables), np.uint64(LANES))
    zero = tree.low.dtype.type(0)
    total = zero
    while of < end:
        before = tree.low[place] - spans[1, of]
        gap = max(before, spans[0, of] - tree.high[place], zero)
        total += product(gap, gap)
        place += np.uint64(LANES)
        of += np.uint64(1)
    scale = tree.unit[0]
    return np.float32(total * scale * scale)


@cuda.jit(device=True)
def bound_one_box(tree, seekers, at, box):
    """The squared distance in the unit of a seeker to a box, the same for all its lanes."""
    own = at_value(tree, seekers.home, seekers.part, seekers.own)
    place = at_value(tree, at, seekers.part, box)
    zero = tree.low.dtype.type(0)
    total = zero
    v = np.uint64(seekers.part)
    while v < np.uint64(tree.variables):
        x = tree.value[own]
        gap = max(tree.low[place] - x, x - tree.high[place], zero)
        total += product(gap, gap)
        own += np.uint64(PARTS * LANES)
        place += np.uint64(PARTS * LANES)
        v += np.uint64(PARTS)
    scale = tree.unit[0]
    bound = np.float32(total * scale * scale)
    lane = cuda.threadIdx.x % LANES
    step = SEEKERS
    while step < LANES:
        bound += from_lane(bound, lane ^ step)
        step *= 2
    return bound


@cuda.jit(device=True)
def exact_bound(tree, seekers, at, box):
    """Squared distance of the lane's seeker to a box; never beyond that of a record in it."""
    own = at_value(tree, seekers.home, 0, seekers.own)
    place = at_value(tree, at, 0, box)
    zero = tree.low.dtype.type(0)
    total = zero
    for _ in range(tree.variables):
        x = tree.value[own]
        gap = max(tree.low[place] - x, x - tree.high[place], zero)
        total += product(gap, gap)
        own += np.uint64(LANES)
        place += np.uint64(LANES)
    return total


@cuda.jit(device=True)
def next_box(bounds, level, levels, block, most):
    """Level, block and lane of the nearest box on the way within a square; it counts as visited.

    Where a block has none the walk goes up to the block around it; there is no box left when it
    comes to a level that is not there.
    """
    t = np.uint64(cuda.threadIdx.x)
    infinite = np.float32(math.inf)
    while level < levels:
        mine = bounds[np.uint64(level), t]
        bound = least(mine)
        if bound <= most and bound < infinite:
            lane = first_of(lanes_where(mine == bound))
            if cuda.threadIdx.x % LANES == lane:
                bounds[np.uint64(level), t] = infinite
            return level, block, lane
        level += np.int32(1)
        block = np.int64(np.uint64(block) // np.uint64(LANES))
    return level, block, np.int32(0)


@cuda.jit(device=True)
def enter_block(tree, spans, common, barred, bounds, level, block):
    """Step into a block of some level, but not into boxes that are all of one component."""
    at = tree.start[np.uint64(level)] + block
    t = cuda.threadIdx.x
    bound = bound_boxes(tree, spans, at)
    if common is not None:
        own = common[at_place(at, t % LANES)] == barred
        bound = np.float32(math.inf) if own else bound
    bounds[np.uint64(level), np.uint64(t)] = bound


@cuda.jit(device=True)
def begin_walk(tree, seekers, lanes, spans, common, barred, bounds):
    """Begin at the seekers' own leaf, as if all around it had been visited but the top."""
    top = np.int32(tree.start.shape[0] - 2)
    for level in range(top):
        bounds[level, cuda.threadIdx.x] = np.float32(math.inf)
    span_seekers(tree, seekers, lanes, spans)
    enter_block(tree, spans, common, barred, bounds, top, np.int64(0))


@cuda.jit(device=True)
def next_leaf(
    tree, seekers, spans, common, barred, component, bounds, level, leaf, limit, name, most
):
    """Go on to the next leaf in which a seeker may find something, but not to that of the seekers.

    Parameters
    ----------
    common : int64 array of shape (blocks * LANES,), optional
        The component that all records of a box are in; -1 if they are in several.
    barred, component : int
        Those of all seekers, if they are in one, and of the lane's: boxes of theirs alone hold
        nothing to find.
    level, leaf : int
        0, and where the walk is.
    limit, name : float, int
        What the lane's seeker is to beat: a squared distance and a record at it.
    most : float32
        `greatest_square` of it.

    Returns
    -------
    level, leaf
        0 and the leaf; a level that is not there if there is none.
    """
    block = np.int64(np.uint64(leaf) // np.uint64(LANES))
    levels = np.int32(tree.start.shape[0] - 1)
    farthest = greatest(most)
    while True:
        level, block, box = next_box(bounds, level, levels, block, farthest)
        if level == levels:
            return level, block
        at = tree.start[np.uint64(level)] + block
        inside = block * LANES + box
        if level == 0 and inside == seekers.home:
            continue
        of_box = at_place(at, box)
        wanted = bound_one_box(tree, seekers, at, box) <= most
        if common is not None:
            wanted = wanted and common[of_box] != component
        lanes = lanes_where(wanted)
        if lanes != 0 and lanes == lanes_where(wanted and tree.lowest[of_box] >= name):
            wanted = wanted and exact_bound(tree, seekers, at, box) < limit
            lanes = lanes_where(wanted)
        if lanes == 0:
            continue
        if level == 0:
            return level, inside
        level -= np.int32(1)
        block = inside
        enter_block(tree, spans, common, barred, bounds, level, block)


@cuda.jit(device=True)
def distance_between(tree, leaf, place, home, own):
    """Squared distance of two records by their places in leaves, variables in order."""
    there = at_value(tree, leaf, 0, place)
    here = at_value(tree, home, 0, own)
    total = tree.value.dtype.type(0)
    for _ in range(tree.variables):
        difference = tree.value[there] - tree.value[here]
        total += product(difference, difference)
        there += np.uint64(LANES)
        here += np.uint64(LANES)
    return total
