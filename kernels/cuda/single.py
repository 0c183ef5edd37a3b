"""The leaves of a search tree in single precision, a filter for distances.

It only says which records of a leaf may be within a limit of a seeker; their distances are then
computed from the values in the points' own precision, variables in order, no product fused. Only
here products may be fused.

So that little is lost, values are relative to a record nearby, the first of LANES leaves, and in a
unit (a power of two) in which none is above 1. With u = 2**-24, x the distance of a record to that
point and D its distance to the seeker, in the unit,

- the coordinates of both are off by u of themselves, so the difference of the two vectors is off
  by at most u (x + (x + D)); its square is less than D**2 (1 + u)**2 (1 + 2**-10) + 2**-35.9 x**2,
  for (a + b)**2 <= a**2 (1 + e) + b**2 (1 + 1 / e) with e = 2**-10;
- a sum of d squares is off by less than (d + 3) u of itself, and so is the distance that decides,
  if it is in single precision too; squares that vanish there lose less than d times the least
  number.

`greatest_square` and the margins of leaves allow for more. Numbers too small for single precision
are off by less than 2**-149, far less than `_TINY`.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..arrays import array_namespace
from .arithmetic import product
from .boxes import Boxes
from .compiled import entry
from .launching import launch, real_type
from .warp import LANES, WARPS, greatest

# Lanes that share a seeker, each with a part of a leaf's records: so a warp has SEEKERS seekers.
PARTS = 2
SEEKERS = LANES // PARTS
EACH = LANES // PARTS
_SLACK = 2.0**-10  # of squares, and
_SLACK_EACH = 2.0**-22  # for each variable and nine more
_MARGIN = np.float32(2.0**-35)  # of the square of the farthest record's distance
_TINY = np.float32(1e-36)  # squares near what single precision cannot hold


class Flat(NamedTuple):
    """A tree and its leaves in single precision, all as flat arrays.

    Kernels know the lengths of their axes, so no index takes a product inside a loop.
    """

    variables: int
    start: Any  # as in `Boxes`,
    value: Any
    record: Any
    low: Any
    high: Any
    lowest: Any
    unit: Any  # (3,) of the points' type: one over the unit, what squares may lose, 1 and a slack
    middle: Any  # (leaves / LANES, d) of the points' type, in the unit: what is subtracted
    single: Any  # (leaves, d, LANES) float32, NaN in empty places
    margin: Any  # (leaves,) float32, for the square of a distance


def flattened(tree: Boxes) -> Flat:
    """A tree with its leaves in single precision."""
    xp = array_namespace(tree.value)
    leaves, d, _ = tree.value.shape
    real = real_type(tree.value)
    widest = xp.max(xp.max(tree.high[-1], axis=1) / 2 - xp.min(tree.low[-1], axis=1) / 2)
    # Large enough for numbers; of smaller ones squares vanish, and everything passes.
    exponent = max(math.frexp(float(widest))[1] + 2, int(np.finfo(real).minexp) + 10)
    unit = [
        math.ldexp(1.0, -exponent),
        d * float(np.finfo(real).smallest_subnormal),
        1 + _SLACK + (d + 9) * _SLACK_EACH,
    ]
    named = {name: getattr(tree, name).reshape(-1) for name in Flat._fields if hasattr(tree, name)}
    flat = Flat(
        **named,
        variables=d,
        unit=xp.asarray(np.array(unit, dtype=real)),
        middle=xp.empty((-(-leaves // LANES) * d,), dtype=real),
        single=xp.empty((leaves * d * LANES,), dtype=xp.float32),
        margin=xp.empty((leaves,), dtype=xp.float32),
    )
    launch(fill_single, -(-leaves // WARPS), flat)
    return flat


@cuda.jit(device=True)
def at_place(block, place):
    """Where a place of a block is in a flat array.

    It is unsigned: of a signed index Numba asks each time if it is negative.
    """
    return np.uint64(block) * np.uint64(LANES) + np.uint64(place)


@cuda.jit(device=True)
def at_value(tree, block, variable, place):
    """Where the value of a variable is; that of the next one comes LANES later."""
    return at_place(np.uint64(block) * np.uint64(tree.variables) + np.uint64(variable), place)


@entry()
def fill_single(tree):
    """Bring leaves into single precision, a warp to a leaf."""
    leaf = np.int64(cuda.blockIdx.x) * WARPS + cuda.threadIdx.x // LANES
    if leaf >= tree.margin.shape[0]:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    first = leaf - leaf % LANES
    scale = tree.unit[0]
    away = np.float32(0)
    for v in range(tree.variables):
        at = at_value(tree, leaf, v, lane)
        middle = product(tree.value[at_value(tree, first, v, 0)], scale)
        x = np.float32(product(tree.value[at], scale) - middle)
        tree.single[at] = x
        away += x * x
        if leaf == first and lane == 0:
            tree.middle[leaf // LANES * tree.variables + v] = middle
    farthest = greatest(away if away >= np.float32(0) else np.float32(0))
    if lane == 0:
        tree.margin[leaf] = farthest * _MARGIN + _TINY


@cuda.jit(device=True)
def greatest_square(tree, limit):
    """The square of a distance, in the unit, that no box with a record within a limit is beyond.

    Negative for a negative limit: of who does not seek.
    """
    if limit < tree.unit.dtype.type(0):
        return np.float32(-1)
    scale = tree.unit[0]
    return np.float32((limit + tree.unit[1]) * scale * scale * tree.unit[2]) + _TINY


@cuda.jit(device=True)
def may_be_near(tree, leaf, home, own, part, most):
    """Which records of a leaf may be within a limit of the lane's seeker, as bits.

    Bit i stands for record part * EACH + i of the leaf.

    Parameters
    ----------
    home, own : int
        The leaf of the seeker, and its place there.
    most : float32
        `greatest_square` of the limit.
    """
    sums = cuda.local.array(EACH, np.float32)
    for i in range(EACH):
        sums[i] = np.float32(0)
    middle = np.uint64(leaf) // np.uint64(LANES) * np.uint64(tree.variables)
    at = at_value(tree, home, 0, own)
    there = at_value(tree, leaf, 0, part * EACH)
    scale = tree.unit[0]
    end = middle + np.uint64(tree.variables)
    while middle < end:
        x = np.float32(tree.value[at] * scale - tree.middle[middle])
        for i in range(EACH):
            difference = tree.single[there + np.uint64(i)] - x
            sums[i] += difference * difference
        at += np.uint64(LANES)
        there += np.uint64(LANES)
        middle += np.uint64(1)
    most += tree.margin[np.uint64(leaf)]
    bits = np.int32(0)
    for i in range(EACH):
        if sums[i] <= most:
            bits |= np.int32(1 << i)
    return bits
