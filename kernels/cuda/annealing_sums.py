"""What a step of annealing computes: sums over variables, by four lanes or by one.

Four lanes share the variables of a distance, each one of the four parts of its sum (see
`generic.annealing`), so a warp looks at eight records at a time.

Records, groups and variables of a region are numbered from 0. Its matrices are arrays of one
dimension, row by row, because parts of shared memory can only be that.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..generic.annealing import LANES as PARTS
from .arithmetic import product
from .draws import bits_of
from .warp import LANES, from_lane

TOGETHER = LANES // PARTS  # records that a warp looks at


class Region(NamedTuple):
    """What a warp works on: parts of a `State`, or their copies in shared memory."""

    points: Any
    near: Any
    degree: Any
    heat: Any
    label: Any
    place: Any
    member: Any
    size: Any
    centroid: Any
    free: Any
    moved: Any
    line: Any
    share: Any


@cuda.jit(device=True)
def allowance(x, heat):
    """By how much a change may raise the sum of squares, by a state."""
    unit = (np.float64(bits_of(x) >> np.uint64(12)) + 0.5) * 2.0**-52
    return 4.0 * heat * (1.0 - math.sqrt(math.sqrt(unit)))


@cuda.jit(device=True)
def sum_of_parts(part):
    """The sum of what four lanes hold, for all of them."""
    lane = cuda.threadIdx.x % LANES
    part += from_lane(part, lane ^ 1)
    return part + from_lane(part, lane ^ 2)


@cuda.jit(device=True)
def row_of(i, width):
    """Where a row begins. Numba tests an index for its sign, but not one that can have none."""
    return np.uint64(np.uint32(i)) * np.uint64(np.uint32(width))


@cuda.jit(device=True)
def distance(d, points, i, others, j):
    """Squared distance of a record to another or to a centroid, by four lanes."""
    own = row_of(i, d)
    other = row_of(j, d)
    v = np.uint64(cuda.threadIdx.x % PARTS)
    total = 0.0
    while v < np.uint64(d):
        p = points[own + v] - others[other + v]
        total += product(p, p)
        v += np.uint64(PARTS)
    return sum_of_parts(total)


@cuda.jit(device=True)
def swapped(d, points, i, z, line, share):
    """By how much the sum of squares rises if i and z of another group change places."""
    own = row_of(i, d)
    other = row_of(z, d)
    v = np.uint64(cuda.threadIdx.x % PARTS)
    total = 0.0
    while v < np.uint64(d):
        p = points[other + v] - points[own + v]
        total += product(p, line[v] - product(p, share))
        v += np.uint64(PARTS)
    return sum_of_parts(total)


@cuda.jit(device=True)
def joining(region, i, g, number):
    """By how much the sum of squares of a group of some records rises if another one joins it."""
    d = region.line.shape[0]
    away = distance(d, region.points, i, region.centroid, g)
    return product(away * np.float64(number), region.share[np.uint32(number + 1)])


@cuda.jit(device=True)
def leaving(region, i, g, number):
    """By how much the sum of squares of a group of some records falls if one leaves."""
    d = region.line.shape[0]
    away = distance(d, region.points, i, region.centroid, g)
    return product(away * np.float64(number), region.share[np.uint32(number - 1)])


@cuda.jit(device=True)
def changing(region, i, g, s, h, t):
    """By how much the sum of squares rises if a record of a group of s joins one of t records."""
    points = region.points
    centroid = region.centroid
    width = np.uint64(region.line.shape[0])
    own = row_of(i, width)
    mine = row_of(g, width)
    theirs = row_of(h, width)
    v = np.uint64(cuda.threadIdx.x % PARTS)
    joined = 0.0
    left = 0.0
    while v < width:
        p = points[own + v] - centroid[theirs + v]
        q = points[own + v] - centroid[mine + v]
        joined += product(p, p)
        left += product(q, q)
        v += np.uint64(PARTS)
    rise = product(sum_of_parts(joined) * np.float64(t), region.share[np.uint32(t + 1)])
    return rise - product(sum_of_parts(left) * np.float64(s), region.share[np.uint32(s - 1)])


@cuda.jit(device=True)
def first_least(value, at):
    """The least value that four lanes each hold, and its place; of equals the first place."""
    lane = cuda.threadIdx.x % LANES
    away = LANES // 2
    while away >= PARTS:
        other = from_lane(value, lane ^ away)
        other_at = from_lane(at, lane ^ away)
        if other < value or (other == value and other_at < at):
            value = other
            at = other_at
        away //= 2
    return value, at


@cuda.jit(device=True)
def centre(d, most, points, member, size, centroid, g):
    """Compute the centroid of a group and the sum of squares about it, by one lane."""
    n = size[g]
    for v in range(d):
        total = 0.0
        for a in range(n):
            total += points[member[g * most + a] * d + v]
        centroid[g * d + v] = total / np.float64(n)
    squares = 0.0
    for a in range(n):
        i = member[g * most + a]
        # The four parts by name: an array of them would be in slow memory.
        first = 0.0
        second = 0.0
        third = 0.0
        fourth = 0.0
        for v in range(d):
            p = points[i * d + v] - centroid[g * d + v]
            square = product(p, p)
            part = v % PARTS
            if part == 0:
                first += square
            elif part == 1:
                second += square
            elif part == 2:
                third += square
            else:
                fourth += square
        squares += (first + second) + (third + fourth)
    return squares
