"""The steps of annealing in a region, by one warp.

All lanes draw the same numbers and take the same decisions. The first lane moves records; the lanes
share the variables of a centroid.
"""

import math

import numpy as np
from numba import cuda

from ..generic.annealing import LANES as PARTS
from ..generic.annealing import LOW, RARE, ROOM
from .annealing_sums import (
    TOGETHER,
    allowance,
    changing,
    distance,
    first_least,
    joining,
    leaving,
    row_of,
    swapped,
)
from .arithmetic import product
from .draws import bits_of, next_state
from .warp import LANES, lanes_where, warp_sync


@cuda.jit(device=True)
def shift(region, g, i, share):
    """Take a record into the mean of a group, or with a share below 0 out of it."""
    points = region.points
    centroid = region.centroid
    width = np.uint64(region.line.shape[0])
    mean = row_of(g, width)
    own = row_of(i, width)
    v = np.uint64(cuda.threadIdx.x % LANES)
    while v < width:
        before = centroid[mean + v]
        centroid[mean + v] = before + product(points[own + v] - before, share)
        v += np.uint64(LANES)


@cuda.jit(device=True)
def move(region, i, g, leaves, joins):
    """Put a record in the last place of another group; the last of its own gets its place.

    If it `leaves`, the mean of its own follows; if it `joins`, that of the other one.
    """
    label = region.label
    place = region.place
    size = region.size
    member = region.member
    share = region.share
    most = share.shape[0] - 1
    i = np.uint32(i)
    g = np.uint32(g)
    h = np.uint32(label[i])
    s = np.uint32(size[h]) - np.uint32(1)
    t = np.uint32(size[g])
    warp_sync()  # all have read what was
    if cuda.threadIdx.x % LANES == 0:
        a = place[i]
        last = member[row_of(h, most) + s]
        size[h] = s
        member[row_of(h, most) + np.uint64(np.uint32(a))] = last
        place[np.uint32(last)] = a
        label[i] = g
        place[i] = t
        member[row_of(g, most) + t] = i
        size[g] = t + np.uint32(1)
    if leaves:
        shift(region, h, i, -share[np.uint32(s)])
    if joins:
        shift(region, g, i, share[np.uint32(t + np.uint32(1))])
    warp_sync()


@cuda.jit(device=True)
def dissolve(region, g, x):
    """Let each record of a group join the group that it costs least, as long as that is allowed.

    Returns the state of the generator, and how many did: if not all, it is for `take_back`.
    """
    d = region.line.shape[0]
    label = region.label
    size = region.size
    near = region.near
    moved = region.moved
    most = region.share.shape[0] - 1
    lane = cuda.threadIdx.x % LANES
    n = np.int32(size[g])
    rise = 0.0
    heat = 0.0
    for a in range(n):
        i = np.uint32(region.member[row_of(g, most) + np.uint64(a)])
        rise -= distance(d, region.points, i, region.centroid, g)
        heat += region.heat[i] / np.float64(n)
        if lane == 0:
            moved[np.uint32(a)] = i
    x = next_state(x)
    limit = allowance(x, heat)
    done = np.int32(0)
    warp_sync()
    while done < n:
        i = np.uint32(moved[np.uint32(done)])
        reach = min(region.degree[i], most + most // ROOM)
        best = math.inf
        at = np.int32(-1)
        for begin in range(0, reach, TOGETHER):
            q = np.int32(begin + lane // PARTS)
            h = np.uint32(g)
            if q < reach:
                h = np.uint32(label[np.uint32(near[i, np.uint32(q)])])
            t = np.int32(size[h])
            here = joining(region, i, h, min(t, most - 1))
            if h != g and t < most and here < best:
                best = here
                at = q
        best, at = first_least(best, at)
        if at < 0 or rise + best >= limit:
            break
        rise += best
        to = np.uint32(label[np.uint32(near[i, np.uint32(at)])])
        if lane == 0:
            moved[np.uint32(most + done)] = to
        done += np.int32(1)
        move(region, i, to, False, True)
    return x, done


@cuda.jit(device=True)
def can_spare(region, k, i):
    """How many neighbours of a record are in groups of more than k."""
    degree = region.degree[i]
    spare = np.int32(0)
    for begin in range(0, degree, LANES):
        q = np.uint32(begin + cuda.threadIdx.x % LANES)
        larger = False
        if q < degree:
            h = np.uint32(region.label[np.uint32(region.near[i, q])])
            larger = region.size[h] > k
        spare += np.int32(cuda.popc(lanes_where(larger)))
    return spare


@cuda.jit(device=True)
def found(region, k, i, g, x):
    """Make a group of a record and near ones that other groups can spare.

    Returns the state of the generator, how many were taken, and whether that may stay.
    """
    label = region.label
    size = region.size
    near = region.near
    d = region.line.shape[0]
    most = region.share.shape[0] - 1
    lane = cuda.threadIdx.x % LANES
    degree = region.degree[i]
    v = np.uint64(lane)
    while v < np.uint64(d):
        region.centroid[row_of(g, d) + v] = region.points[row_of(i, d) + v]
        v += np.uint64(LANES)
    x = next_state(x)
    limit = allowance(x, region.heat[i])
    h = np.uint32(label[i])
    least = -leaving(region, i, h, np.int32(size[h]))
    best = np.int32(i)
    rise = 0.0
    done = np.int32(0)
    while best >= 0:
        rise += least
        if lane == 0:
            region.moved[np.uint32(done)] = best
            region.moved[np.uint32(most + done)] = label[np.uint32(best)]
        done += np.int32(1)
        move(region, best, g, True, True)
        if done == k:
            break
        least = math.inf
        at = np.int32(-1)
        for begin in range(0, degree, TOGETHER):
            q = np.int32(begin + lane // PARTS)
            j = np.uint32(i)
            if q < degree:
                j = np.uint32(near[i, np.uint32(q)])
            h = np.uint32(label[j])
            s = np.int32(size[h])
            here = changing(region, j, h, s, g, done)
            if q < degree and h != g and s > k and here < least:
                least = here
                at = q
        least, at = first_least(least, at)
        best = np.int32(-1)
        if at >= 0:
            best = np.int32(near[i, np.uint32(at)])
    return x, done, done == k and rise < limit


@cuda.jit(device=True)
def take_back(region, done, g):
    """Move records back, the last first: into group g, or with g < 0 to where they came from."""
    most = region.share.shape[0] - 1
    while done > 0:
        done -= np.int32(1)
        i = np.uint32(region.moved[np.uint32(done)])
        to = np.int32(region.moved[np.uint32(most + done)])
        if g >= 0:
            to = g
        move(region, i, to, g >= 0, g < 0)


@cuda.jit(device=True)
def exchange(region, i, g, other, h):
    """Let two records of two groups change places."""
    label = region.label
    place = region.place
    member = region.member
    points = region.points
    centroid = region.centroid
    width = np.uint64(region.line.shape[0])
    most = region.share.shape[0] - 1
    other = np.uint32(other)
    lane = cuda.threadIdx.x % LANES
    if lane == 0:
        a = place[i]
        b = place[other]
        member[row_of(g, most) + np.uint64(np.uint32(a))] = other
        place[other] = a
        label[other] = g
        member[row_of(h, most) + np.uint64(np.uint32(b))] = i
        place[i] = b
        label[i] = h
    of_g = region.share[np.uint32(region.size[g])]
    of_h = region.share[np.uint32(region.size[h])]
    v = np.uint64(lane)
    while v < width:
        w = points[row_of(other, width) + v] - points[row_of(i, width) + v]
        centroid[row_of(g, width) + v] += product(w, of_g)
        centroid[row_of(h, width) + v] -= product(w, of_h)
        v += np.uint64(LANES)
    warp_sync()


@cuda.jit(device=True)
def least_change(region, k, i, g, h):
    """The least rise of the sum of squares, and the member to change places with or -1 to join."""
    points = region.points
    member = region.member
    centroid = region.centroid
    share = region.share
    line = region.line
    d = line.shape[0]
    most = share.shape[0] - 1
    lane = cuda.threadIdx.x % LANES
    s = np.int32(region.size[g])
    t = np.int32(region.size[h])
    rise = math.inf
    if s > k and t < most:
        rise = changing(region, i, g, s, h, t)
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
    return rise, other


@cuda.jit(device=True)
def take_steps(region, k, count, x, idle):
    """Try a number of changes; the state of the generator and how many groups are empty then."""
    label = region.label
    m = np.uint64(label.shape[0])
    for _ in range(count):
        x = next_state(x)
        i = np.uint32((bits_of(x) >> np.uint64(32)) * m >> np.uint64(32))
        degree = region.degree[i]
        if degree == 0:
            continue
        g = np.uint32(label[i])
        x = next_state(x)
        bits = bits_of(x)
        if bits >> np.uint64(40) < np.uint64(RARE):
            done = np.int32(0)
            back = np.int32(-1)
            stays = True
            if region.size[g] == k or bits & np.uint64(1) != np.uint64(0):
                n = np.int32(region.size[g])
                x, done = dissolve(region, g, x)
                back = np.int32(g)
                stays = done == n
                if stays:
                    if cuda.threadIdx.x % LANES == 0:
                        region.free[np.uint32(idle)] = g
                    idle += np.int32(1)
            elif idle > 0 and can_spare(region, k, i) >= k - 1:
                new = np.uint32(region.free[np.uint32(idle - 1)])
                x, done, stays = found(region, k, i, new, x)
                if stays:
                    idle -= np.int32(1)
            if not stays:
                take_back(region, done, back)
            warp_sync()  # all have read, or have to read, what is moved and free
            continue
        u = np.float64(bits & np.uint64(LOW)) * 2.0**-40
        h = np.uint32(label[np.uint32(region.near[i, np.uint32(np.float64(degree) * (u * u))])])
        if h == g:
            continue
        rise, other = least_change(region, k, i, g, h)
        if not rise < 0.0:
            if not rise < 4.0 * region.heat[i]:
                continue
            x = next_state(x)
            if not rise < allowance(x, region.heat[i]):
                continue
        if other >= 0:
            exchange(region, i, g, other, h)
        else:
            move(region, i, h, True, True)
    return x, idle
