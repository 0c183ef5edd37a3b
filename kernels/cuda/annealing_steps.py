"""The steps of annealing in a region, by one warp.

All lanes draw the same numbers and take the same decisions. Four lanes share the variables of a
distance, each one of the four parts of its sum (see `generic.annealing`), so a warp looks at
eight records at a time. The first lane moves records; the lanes share the variables of a centroid.

Records, groups and variables of a region are numbered from 0. Its matrices are arrays of one
dimension, row by row, because parts of shared memory can only be that.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from ..generic.annealing import LANES as PARTS
from ..generic.annealing import LOW, RARE, ROOM
from .arithmetic import product
from .draws import bits_of, next_state
from .warp import LANES, from_lane, lanes_where, warp_sync

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


# Sums --------------------------------------------------------------------------------------------


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
    return product(away * np.float64(number), region.share[number + 1])


@cuda.jit(device=True)
def leaving(region, i, g, number):
    """By how much the sum of squares of a group of some records falls if one leaves."""
    d = region.line.shape[0]
    away = distance(d, region.points, i, region.centroid, g)
    return product(away * np.float64(number), region.share[number - 1])


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


# Changes -----------------------------------------------------------------------------------------


@cuda.jit(device=True)
def move(region, i, g):
    """Put a record in the last place of another group; the last of its own gets its place."""
    most = region.share.shape[0] - 1
    warp_sync()  # all have read what was
    if cuda.threadIdx.x % LANES == 0:
        h = region.label[i]
        a = region.place[i]
        s = region.size[h] - 1
        last = region.member[h * most + s]
        region.size[h] = s
        region.member[h * most + a] = last
        region.place[last] = a
        t = region.size[g]
        region.label[i] = g
        region.place[i] = t
        region.member[g * most + t] = i
        region.size[g] = t + 1
    warp_sync()


@cuda.jit(device=True)
def shift(region, g, i, share):
    """Take a record into the mean of a group, or with a share below 0 out of it."""
    d = region.line.shape[0]
    for v in range(cuda.threadIdx.x % LANES, d, LANES):
        mean = region.centroid[g * d + v]
        region.centroid[g * d + v] = mean + product(region.points[i * d + v] - mean, share)
    warp_sync()


@cuda.jit(device=True)
def dissolve(region, g, x, idle):
    """Let each record of a group join the group that it costs least, or leave all as it was."""
    d = region.line.shape[0]
    most = region.share.shape[0] - 1
    lane = cuda.threadIdx.x % LANES
    n = np.int32(region.size[g])
    rise = 0.0
    heat = 0.0
    for a in range(n):
        i = region.member[g * most + a]
        rise -= distance(d, region.points, i, region.centroid, g)
        heat += region.heat[i] / np.float64(n)
    for a in range(lane, n, LANES):
        region.moved[a] = region.member[g * most + a]
    x = next_state(x)
    limit = allowance(x, heat)
    done = np.int32(0)
    warp_sync()
    while done < n:
        i = region.moved[done]
        reach = min(region.degree[i], most + most // ROOM)
        best = math.inf
        at = np.int32(-1)
        for begin in range(0, reach, TOGETHER):
            q = np.int32(begin + lane // PARTS)
            h = np.int32(g)
            if q < reach:
                h = np.int32(region.label[region.near[i, q]])
            t = np.int32(region.size[h])
            here = joining(region, i, h, min(t, most - 1))
            if h != g and t < most and here < best:
                best = here
                at = q
        best, at = first_least(best, at)
        if at < 0 or rise + best >= limit:
            break
        rise += best
        to = region.label[region.near[i, at]]
        if lane == 0:
            region.moved[most + done] = to
        done += np.int32(1)
        move(region, i, to)
        shift(region, to, i, region.share[region.size[to]])
    warp_sync()  # all have read who is the last
    if done == n:
        if lane == 0:
            region.free[idle] = g
        warp_sync()
        return x, idle + np.int32(1)
    while done > 0:
        done -= np.int32(1)
        i = region.moved[done]
        to = region.moved[most + done]
        move(region, i, g)
        shift(region, to, i, -region.share[region.size[to]])
    return x, idle


@cuda.jit(device=True)
def can_spare(region, k, i):
    """How many neighbours of a record are in groups of more than k."""
    spare = np.int32(0)
    for begin in range(0, region.degree[i], LANES):
        q = begin + cuda.threadIdx.x % LANES
        larger = False
        if q < region.degree[i]:
            larger = region.size[region.label[region.near[i, q]]] > k
        spare += np.int32(cuda.popc(lanes_where(larger)))
    return spare


@cuda.jit(device=True)
def found(region, k, i, x, idle):
    """Make a group of a record and near ones that other groups can spare, or leave it."""
    d = region.line.shape[0]
    most = region.share.shape[0] - 1
    lane = cuda.threadIdx.x % LANES
    if can_spare(region, k, i) < k - 1:
        return x, idle
    g = np.int32(region.free[idle - 1])
    for v in range(lane, d, LANES):
        region.centroid[g * d + v] = region.points[i * d + v]
    x = next_state(x)
    limit = allowance(x, region.heat[i])
    h = region.label[i]
    least = -leaving(region, i, h, region.size[h])
    best = np.int32(i)
    rise = 0.0
    done = np.int32(0)
    while best >= 0:
        rise += least
        h = region.label[best]
        if lane == 0:
            region.moved[done] = best
            region.moved[most + done] = h
        done += np.int32(1)
        move(region, best, g)
        shift(region, h, best, -region.share[region.size[h]])
        shift(region, g, best, region.share[done])
        if done == k:
            break
        least = math.inf
        at = np.int32(-1)
        for begin in range(0, region.degree[i], TOGETHER):
            q = np.int32(begin + lane // PARTS)
            j = np.int32(i)
            if q < region.degree[i]:
                j = np.int32(region.near[i, q])
            h = region.label[j]
            s = np.int32(region.size[h])
            here = joining(region, j, g, done) - leaving(region, j, h, s)
            if q < region.degree[i] and h != g and s > k and here < least:
                least = here
                at = q
        least, at = first_least(least, at)
        best = np.int32(-1)
        if at >= 0:
            best = np.int32(region.near[i, at])
    if done == k and rise < limit:
        return x, idle - np.int32(1)
    while done > 0:
        done -= np.int32(1)
        j = region.moved[done]
        h = region.moved[most + done]
        move(region, j, h)
        shift(region, h, j, region.share[region.size[h]])
    return x, idle


@cuda.jit(device=True)
def exchange(region, i, g, other, h):
    """Let two records of two groups change places."""
    d = region.line.shape[0]
    most = region.share.shape[0] - 1
    lane = cuda.threadIdx.x % LANES
    if lane == 0:
        a = region.place[i]
        b = region.place[other]
        region.member[g * most + a] = other
        region.place[other] = a
        region.label[other] = g
        region.member[h * most + b] = i
        region.place[i] = b
        region.label[i] = h
    of_g = region.share[region.size[g]]
    of_h = region.share[region.size[h]]
    for v in range(lane, d, LANES):
        w = region.points[other * d + v] - region.points[i * d + v]
        region.centroid[g * d + v] += product(w, of_g)
        region.centroid[h * d + v] -= product(w, of_h)
    warp_sync()


@cuda.jit(device=True)
def take_steps(region, k, count, x, idle):
    """Try a number of changes; the state of the generator and how many groups are empty then."""
    points = region.points
    near = region.near
    label = region.label
    member = region.member
    size = region.size
    share = region.share
    centroid = region.centroid
    line = region.line
    d = line.shape[0]
    most = share.shape[0] - 1
    m = np.uint64(label.shape[0])
    lane = cuda.threadIdx.x % LANES
    for _ in range(count):
        x = next_state(x)
        i = np.uint32((bits_of(x) >> np.uint64(32)) * m >> np.uint64(32))
        degree = region.degree[i]
        if degree == 0:
            continue
        g = np.uint32(label[i])
        s = np.int32(size[g])
        x = next_state(x)
        bits = bits_of(x)
        if bits >> np.uint64(40) < np.uint64(RARE):
            if s == k or bits & np.uint64(1) != np.uint64(0):
                x, idle = dissolve(region, g, x, idle)
            elif idle > 0:
                x, idle = found(region, k, i, x, idle)
            continue
        u = np.float64(bits & np.uint64(LOW)) * 2.0**-40
        h = np.uint32(label[np.uint32(near[i, np.uint32(np.float64(degree) * (u * u))])])
        if h == g:
            continue
        t = np.int32(size[h])
        rise = math.inf
        if s > k and t < most:
            rise = joining(region, i, h, t) - leaving(region, i, g, s)
        both = share[np.uint32(s)] + share[np.uint32(t)]
        mine = row_of(g, d)
        theirs = row_of(h, d)
        v = np.uint64(lane)
        while v < np.uint64(d):
            line[v] = 2.0 * (centroid[theirs + v] - centroid[mine + v])
            v += np.uint64(LANES)
        warp_sync()
        members = row_of(h, most)
        best = math.inf
        at = np.int32(-1)
        for begin in range(0, t, TOGETHER):
            a = np.int32(begin + lane // PARTS)
            z = member[members + np.uint64(np.uint32(min(a, t - np.int32(1))))]
            here = swapped(d, points, i, z, line, both)
            if a < t and here < best:
                best = here
                at = a
        best, at = first_least(best, at)
        other = np.int32(-1)
        if best < rise:
            rise = best
            other = np.int32(member[members + np.uint64(np.uint32(at))])
        warp_sync()  # all have read the line
        if not rise < 0.0:
            limit = 4.0 * region.heat[i]
            if not rise < limit:
                continue
            x = next_state(x)
            if not rise < allowance(x, region.heat[i]):
                continue
        if other >= 0:
            exchange(region, i, g, other, h)
        else:
            move(region, i, h)
            shift(region, g, i, -share[s - 1])
            shift(region, h, i, share[t + 1])
    return x, idle
