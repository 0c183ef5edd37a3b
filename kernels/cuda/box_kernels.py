"""Kernels that find the order in which a tree holds its records."""

import math

import numpy as np
from numba import cuda

from .compiled import entry
from .warp import LANES, WARPS, greatest, least

PIECE = 32 * LANES  # places that a warp looks at
_KEY_BITS = 40  # of a sort's key, for the place within a run


@entry()
def span_runs(points, order, length, low, high):
    """The least and greatest values in each run of so many places; a warp to a piece of a run."""
    piece = min(length, PIECE)
    begin = (np.int64(cuda.blockIdx.x) * WARPS + cuda.threadIdx.x // LANES) * piece
    end = min(begin + piece, order.shape[0])
    lane = cuda.threadIdx.x % LANES
    if begin >= end:
        return
    run = begin // length
    for v in range(points.shape[1]):
        lowest = points.dtype.type(math.inf)
        highest = points.dtype.type(-math.inf)
        for i in range(begin + lane, end, LANES):
            x = points[order[i], v]
            lowest = min(lowest, x)
            highest = max(highest, x)
        lowest = least(lowest)
        highest = greatest(highest)
        if lane == 0:
            cuda.atomic.min(low, (run, v), lowest)
            cuda.atomic.max(high, (run, v), highest)


@entry()
def sort_keys(points, order, length, low, high, key):
    """Numbers that sort the places of each run along its widest variable."""
    i = cuda.grid(1)
    if i >= order.shape[0]:
        return
    run = i // length
    half = points.dtype.type(0.5)  # a spread may be too large for a number
    one = points.dtype.type(1)
    widest = 0
    width = points.dtype.type(0)
    for v in range(points.shape[1]):
        spread = half * high[run, v] - half * low[run, v]
        if spread > width:
            width = spread
            widest = v
    within = points.dtype.type(0)
    if width > within:
        x = points[order[i], widest]
        within = min((half * x - half * low[run, widest]) / width, one)
    key[i] = run * 2**_KEY_BITS + np.int64(within * points.dtype.type(2 ** (_KEY_BITS - 1)))
