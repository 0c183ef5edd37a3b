"""The search tree of `cpu.boxes` on the device, which a warp walks.

Records lie in leaves, and leaves, and the boxes around them, in blocks of as many as a warp has
lanes, level upon level to a single block on top: a lane to a record or to a box, and what the
lanes read is side by side. There are no pointers: lane i of block b stands for block b * LANES + i
one level below, or for that leaf. No record is ever taken out.

Bounds to boxes add the variables in the order in which distances do. Rounding is monotone, so they
are never beyond the distance of a record in the box: they need no slack.

The order of records in the tree decides nothing but time. So it is made by array expressions, with
the library's own sort.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..arrays import array_namespace
from .arithmetic import product
from .warp import LANES, first_of, lanes_where, least

NONE = 2**62  # above every record
LEVELS = 6  # more than 32**6 leaves have
_KEY_BITS = 40  # of a sort's key, for the place within a run


class Boxes(NamedTuple):
    """The arrays of a tree over all records of a matrix; level 0 has the boxes of leaves."""

    value: Any  # (leaves, d, LANES) of the points' type, NaN in empty places
    record: Any  # (leaves, LANES) int64, -1 in empty places
    start: Any  # (levels + 1,) int64, first block of each level
    low: Any  # (blocks, d, LANES) least values in each box, infinite in an empty one
    high: Any  # (blocks, d, LANES) greatest values, minus infinity in an empty one
    lowest: Any  # (blocks, LANES) int64, lowest record in each box, NONE in an empty one
    held: Any  # (blocks, LANES) int64, records in each box


def build(points: Any) -> Boxes:
    """The tree of all records of a matrix of shape (n, d), n >= 1, C order."""
    xp = array_namespace(points)
    n = points.shape[0]
    order = _arrange(xp, points)
    rows = xp.take(points, order, axis=0)
    level = (
        _padded(xp, rows, math.inf),
        _padded(xp, rows, -math.inf),
        _padded(xp, order, NONE),
        _padded(xp, xp.ones((n,), dtype=xp.int64), 0),
    )
    levels, start = [], [0]
    while not start[1:] or start[-1] - start[-2] > 1:
        low, high, lowest, held = (x.reshape(-1, LANES, *x.shape[1:]) for x in level)
        level = (
            _padded(xp, low.min(axis=1), math.inf),
            _padded(xp, high.max(axis=1), -math.inf),
            _padded(xp, lowest.min(axis=1), NONE),
            _padded(xp, held.sum(axis=1), 0),
        )
        levels.append(level)
        start.append(start[-1] + level[0].shape[0] // LANES)
    low, high, lowest, held = (xp.concatenate(parts, axis=0) for parts in zip(*levels, strict=True))
    return Boxes(
        value=_side_by_side(xp, _padded(xp, rows, math.nan)),
        record=_padded(xp, order, -1).reshape(-1, LANES),
        start=xp.asarray(np.array(start)),
        low=_side_by_side(xp, low),
        high=_side_by_side(xp, high),
        lowest=lowest.reshape(-1, LANES),
        held=held.reshape(-1, LANES),
    )


def _arrange(xp: Any, points: Any) -> Any:
    """Order records so that each aligned run of LANES, 2 LANES, 4 LANES, ... lies close together.

    All runs of one length are halved at once, each along its widest variable: one sort by run,
    then by place within it. Equal records stay in the order of their indices.
    """
    n = points.shape[0]
    order = xp.arange(n, dtype=xp.int64)
    length = LANES
    while length < n:
        length *= 2
    with np.errstate(over="ignore"):  # a spread may be too large for a number
        while length > LANES:
            order = _halve(xp, points, order, length)
            length //= 2
    return order


def _halve(xp: Any, points: Any, order: Any, length: int) -> Any:
    """Sort each run of some length along its widest variable."""
    every = xp.arange(order.shape[0], dtype=xp.int64)
    rows = xp.take(points, order, axis=0)
    low, high = (_of_runs(xp, rows, length, name) for name in ("min", "max"))
    spread = high - low
    runs = xp.arange(spread.shape[0], dtype=xp.int64)
    widest = xp.argmax(spread, axis=1)
    run = every // length
    least_value, width = low[runs, widest], spread[runs, widest]
    unit = xp.where((width > 0) & (width < math.inf), width, xp.ones_like(width))
    within = (rows[every, widest[run]] - least_value[run]) / unit[run]
    place = xp.clip(within, 0, 1).astype(xp.float64) * 2.0 ** (_KEY_BITS - 1)
    key = run * 2**_KEY_BITS + place.astype(xp.int64)
    return xp.take(order, xp.argsort(key, stable=True))


def _of_runs(xp: Any, rows: Any, length: int, name: str) -> Any:
    """The least or greatest values of each run of so many rows; the last one may be shorter."""
    n, d = rows.shape
    whole = n // length * length
    parts = [getattr(rows[:whole].reshape(-1, length, d), name)(axis=1)] if whole else []
    if whole < n:
        parts.append(getattr(rows[whole:], name)(axis=0).reshape(1, d))
    return xp.concatenate(parts, axis=0)


def _padded(xp: Any, rows: Any, value: float) -> Any:
    """Rows in blocks of LANES, the last of which is filled up with a value."""
    missing = -rows.shape[0] % LANES
    filling = xp.full((missing, *rows.shape[1:]), value, dtype=rows.dtype)
    return xp.concatenate([rows, filling], axis=0)


def _side_by_side(xp: Any, rows: Any) -> Any:
    """Blocks of LANES rows, each with the values of one variable side by side."""
    blocks = rows.reshape(-1, LANES, rows.shape[1])
    return xp.ascontiguousarray(blocks.transpose(0, 2, 1))


# Device functions: a warp walks the tree, each lane with its own column of `bounds` in shared
# memory, of shape (LEVELS, THREADS).


# Indices in the two loops are unsigned: Numba asks of a signed one each time if it is negative.


@cuda.jit(device=True)
def distance_in_leaf(tree, leaf, lane, target, row):
    """Squared distance of a row to the lane's record of a leaf; NaN if there is none."""
    at = np.uint64(leaf)
    place = np.uint64(lane)
    of = np.uint64(row)
    total = target.dtype.type(0)
    v = np.uint64(0)
    while v < np.uint64(tree.value.shape[1]):
        difference = tree.value[at, v, place] - target[of, v]
        total += product(difference, difference)
        v += np.uint64(1)
    return total


@cuda.jit(device=True)
def distance_to_box(tree, block, lane, target, row):
    """Squared distance of a row to the lane's box; infinite to an empty one."""
    at = np.uint64(block)
    place = np.uint64(lane)
    of = np.uint64(row)
    zero = target.dtype.type(0)
    total = zero
    v = np.uint64(0)
    while v < np.uint64(tree.low.shape[1]):
        x = target[of, v]
        gap = max(tree.low[at, v, place] - x, x - tree.high[at, v, place], zero)
        total += product(gap, gap)
        v += np.uint64(1)
    return total


@cuda.jit(device=True)
def nearest_box(tree, bounds, level, block, limit, name):
    """Level, block and lane of the nearest box on the way with a record before a limit.

    The limit is a squared distance and a record at it. The box counts as visited from then on.
    Where a block has none the walk goes up to the block around it; there is no box left when it
    comes to a level that is not there. The bound of the box is returned too.
    """
    t = cuda.threadIdx.x
    infinite = bounds.dtype.type(math.inf)
    levels = tree.start.shape[0] - 1
    while level < levels:
        mine = bounds[level, t]
        if mine == limit and tree.lowest[tree.start[level] + block, t % LANES] >= name:
            mine = infinite
        bound = least(mine)
        if bound <= limit and bound < infinite:
            lane = first_of(lanes_where(mine == bound))
            if t % LANES == lane:
                bounds[level, t] = infinite
            return level, block, lane, bound
        level += 1
        block //= LANES
    return level, block, np.int32(0), infinite


# The same for the records of a leaf, `home`, which walk together, a lane to each.


@cuda.jit(device=True)
def distance_between_boxes(tree, block, lane, home):
    """Squared distance of the box around a leaf to the lane's box; infinite to an empty one."""
    at = np.uint64(block)
    place = np.uint64(lane)
    of = np.uint64(home // LANES)
    own = np.uint64(home % LANES)
    zero = tree.value.dtype.type(0)
    total = zero
    v = np.uint64(0)
    while v < np.uint64(tree.low.shape[1]):
        before = tree.low[at, v, place] - tree.high[of, v, own]
        after = tree.low[of, v, own] - tree.high[at, v, place]
        gap = max(before, after, zero)
        total += product(gap, gap)
        v += np.uint64(1)
    return total


@cuda.jit(device=True)
def distance_to_one_box(tree, block, box, home, lane):
    """Squared distance of the lane's record of a leaf to a box, the same for all lanes."""
    at = np.uint64(block)
    place = np.uint64(box)
    of = np.uint64(home)
    own = np.uint64(lane)
    zero = tree.value.dtype.type(0)
    total = zero
    v = np.uint64(0)
    while v < np.uint64(tree.low.shape[1]):
        x = tree.value[of, v, own]
        gap = max(tree.low[at, v, place] - x, x - tree.high[at, v, place], zero)
        total += product(gap, gap)
        v += np.uint64(1)
    return total
