"""The search tree of `cpu.boxes` on the device, which a warp walks.

Records lie in leaves, and leaves, and the boxes around them, in blocks of as many as a warp has
lanes, level upon level to a single block on top: a lane to a record or to a box, and what the
lanes read is side by side. There are no pointers: lane i of block b stands for block b * LANES + i
one level below, or for that leaf. No record is ever taken out.

Bounds to boxes add the variables in the order in which distances do. Rounding is monotone, so they
are never beyond the distance of a record in the box: they need no slack.

The order of records in the tree decides nothing but time: the library's own sort makes it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..arrays import array_namespace
from .arithmetic import product
from .box_kernels import PIECE, sort_keys, span_runs
from .launching import launch
from .team import THREADS
from .warp import LANES, WARPS, first_of, lanes_where, least

NONE = 2**62  # above every record
LEVELS = 6  # more than 32**6 leaves have


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
    n, d = points.shape
    order = xp.arange(n, dtype=xp.int64)
    key = xp.empty((n,), dtype=xp.int64)
    length = LANES
    while length < n:
        length *= 2
    while length > LANES:
        low = xp.full((-(-n // length), d), math.inf, dtype=points.dtype)
        high = xp.full(low.shape, -math.inf, dtype=points.dtype)
        pieces = -(-n // min(length, PIECE))
        launch(span_runs, -(-pieces // WARPS), points, order, length, low, high)
        launch(sort_keys, -(-n // THREADS), points, order, length, low, high, key)
        order = xp.take(order, xp.argsort(key, stable=True))
        length //= 2
    return order


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
