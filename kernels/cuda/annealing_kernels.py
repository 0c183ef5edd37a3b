"""Kernels of annealing: a warp to a region. `annealing_steps` has the steps."""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float64, int16

from ..generic.annealing import LANES as PARTS
from ..generic.annealing import ROOM
from .annealing_steps import take_steps
from .annealing_sums import Region, centre
from .compiled import entry
from .warp import LANES, warp_sync


class State(NamedTuple):
    """All regions, one after the other, between launches."""

    begin: Any  # (regions + 1,) first record of each
    room: Any  # (regions + 1,) first group of each
    points: Any  # (n d,)
    near: Any  # (n, .) neighbours in the region
    degree: Any  # (n,) how many
    heat: Any  # (n,) temperatures
    label: Any  # (n,) group
    place: Any  # (n,) place in it
    member: Any  # (groups 3k,)
    size: Any  # (groups,)
    centroid: Any  # (groups d,)
    free: Any  # (groups,) those that are empty come first
    idle: Any  # (regions,) how many are
    moved: Any  # (regions 6k,) records of the change being tried, and where they were
    line: Any  # (regions d,) twice the way from one centroid to another
    share: Any  # (3k + 1,) 1 / number
    random: Any  # (regions,) states of the generators


@entry()
def enter(points, near, heat, inside, position, first, starts, k, state):
    """Fill the state of each region, a warp to a region.

    Parameters
    ----------
    inside : int64 array of shape (n,)
        The records region by region, group by group.
    position : int64 array of shape (n,)
        Where each record is among them.
    first : int64 array of shape (groups + 1,)
        Where each group begins among them.
    starts : int64 array of shape (regions + 1,)
        The first group of each region.
    """
    r = cuda.blockIdx.x
    lane = cuda.threadIdx.x % LANES
    d = points.shape[1]
    most = state.share.shape[0] - 1
    begin = state.begin[r]
    end = state.begin[r + 1]
    for p in range(begin + lane, end, LANES):
        i = inside[p]
        state.heat[p] = heat[i]
        for v in range(d):
            state.points[p * d + v] = points[i, v]
        degree = 0
        for q in range(near.shape[1]):
            j = near[i, q]
            if j >= 0 and begin <= position[j] and position[j] < end:
                state.near[p, degree] = position[j] - begin
                degree += 1
        state.degree[p] = degree
    groups = starts[r + 1] - starts[r]
    for g in range(lane, groups, LANES):
        at = state.room[r] + g
        start = first[starts[r] + g]
        n = first[starts[r] + g + 1] - start
        state.size[at] = n
        for a in range(n):
            p = start + a
            state.member[at * most + a] = p - begin
            state.label[p] = g
            state.place[p] = a
    empty = state.room[r + 1] - state.room[r] - groups
    for a in range(lane, empty, LANES):
        state.size[state.room[r] + groups + a] = 0
        state.free[state.room[r] + a] = groups + a
    if lane == 0:
        state.idle[r] = empty
    warp_sync()
    region = part_of(state, r)
    for g in range(lane, groups, LANES):
        centre(d, most, region.points, region.member, region.size, region.centroid, g)


@cuda.jit(device=True)
def part_of(state, r):
    """A region as it is in the state."""
    begin = state.begin[r]
    end = state.begin[r + 1]
    room = state.room[r]
    last = state.room[r + 1]
    most = state.share.shape[0] - 1
    d = state.line.shape[0] // state.idle.shape[0]
    return Region(
        state.points[begin * d : end * d],
        state.near[begin:end],
        state.degree[begin:end],
        state.heat[begin:end],
        state.label[begin:end],
        state.place[begin:end],
        state.member[room * most : last * most],
        state.size[room:last],
        state.centroid[room * d : last * d],
        state.free[room:last],
        state.moved[2 * r * most : 2 * (r + 1) * most],
        state.line[r * d : (r + 1) * d],
        state.share,
    )


@cuda.jit(device=True)
def steps_of(state, r, rate, first, last):
    """How many of the steps from `first` to `last` - 1 a region takes."""
    m = state.begin[r + 1] - state.begin[r]
    return min(np.int64(last), np.int64(rate * np.float64(m))) - first


@entry()
def anneal_in_memory(state, k, rate, first, last):
    """Try the changes `first` to `last` - 1 in each region."""
    r = cuda.blockIdx.x
    count = steps_of(state, r, rate, first, last)
    if count <= 0:
        return
    x, idle = take_steps(part_of(state, r), k, count, state.random[r], state.idle[r])
    warp_sync()  # all have read the state
    if cuda.threadIdx.x == 0:
        state.random[r] = x
        state.idle[r] = idle


@cuda.jit(device=True)
def copy(source, target):
    """Copy an array, by all lanes."""
    for a in range(cuda.threadIdx.x % LANES, source.shape[0], LANES):
        target[a] = source[a]


@cuda.jit(device=True)
def copy_region(source, target):
    """Copy what changes in a region."""
    copy(source.label, target.label)
    copy(source.place, target.place)
    copy(source.member, target.member)
    copy(source.size, target.size)
    copy(source.centroid, target.centroid)
    copy(source.free, target.free)
    warp_sync()


@entry()
def anneal_in_shared(state, k, rate, first, last):
    """Try the changes `first` to `last` - 1 in each region, in `shared_bytes` of shared memory."""
    numbers = cuda.shared.array(0, float64)
    integers = cuda.shared.array(0, int16)
    r = cuda.blockIdx.x
    count = steps_of(state, r, rate, first, last)
    if count <= 0:
        return
    source = part_of(state, r)
    m = source.label.shape[0]
    rooms = source.size.shape[0]
    d = source.line.shape[0]
    most = source.share.shape[0] - 1
    centroids = m * d
    line = centroids + rooms * d
    share = line + d
    label = PARTS * (share + most + 1)  # four of these numbers in one of those
    place = label + m
    member = place + m
    size = member + rooms * most
    free = size + rooms
    moved = free + rooms
    region = Region(
        numbers[:centroids],
        source.near,
        source.degree,
        source.heat,
        integers[label:place],
        integers[place:member],
        integers[member:size],
        integers[size:free],
        numbers[centroids:line],
        integers[free:moved],
        integers[moved : moved + 2 * most],
        numbers[line:share],
        numbers[share : share + most + 1],
    )
    copy(source.points, region.points)
    copy(source.share, region.share)
    copy_region(source, region)
    x, idle = take_steps(region, k, count, state.random[r], state.idle[r])
    warp_sync()
    copy_region(region, part_of(state, r))  # found again: to keep it would take registers
    if cuda.threadIdx.x == 0:
        state.random[r] = x
        state.idle[r] = idle


def shared_bytes(m: int, d: int, k: int) -> int:
    """Shared memory that a region of m records takes."""
    rooms, most = m // k, ROOM * k
    numbers = m * d + rooms * d + d + most + 1
    integers = 2 * m + rooms * (most + 2) + 2 * most
    return 8 * (numbers + -(-integers // PARTS))


@entry()
def leave(inside, state, labels, within, sums):
    """Write the new labels, and the sum of squares of each region."""
    r = cuda.blockIdx.x
    lane = cuda.threadIdx.x % LANES
    most = state.share.shape[0] - 1
    begin = state.begin[r]
    region = part_of(state, r)
    d = region.line.shape[0]
    for a in range(lane, region.label.shape[0], LANES):
        labels[inside[begin + a]] = begin + region.label[a]
    room = state.room[r]
    for g in range(lane, region.size.shape[0], LANES):
        within[room + g] = 0.0
        if region.size[g] > 0:
            within[room + g] = centre(
                d, most, region.points, region.member, region.size, region.centroid, g
            )
    warp_sync()
    if lane == 0:
        total = 0.0
        for g in range(region.size.shape[0]):
            total += within[room + g]
        sums[r] = total
