"""Annealing of a partition, on all cores: the operation of the generic engine in Numba.

A region has its own copy of everything, small enough for a core's cache, with the variables filled
up with zeros to a multiple of four.
"""

from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from ..arguments import Sweep
from ..generic.annealing import LANES, LOW, RARE, ROOM
from .compiled import entry, inner
from .draws import below, draw, seed_stream, unit
from .threads import on_all_cores


class Division(NamedTuple):
    """What each region has of the groups and records."""

    groups: np.ndarray  # region by region
    starts: np.ndarray  # (regions + 1,) where each region's groups begin
    records: np.ndarray  # (n,) group by group
    first: np.ndarray  # (groups + 1,) where each group's records begin
    region_of: np.ndarray  # (n,) region of each record
    local: np.ndarray  # (n,) number of each record in its region
    begin: np.ndarray  # (regions + 1,) records of the regions before


class Region(NamedTuple):
    """Records and groups of one region, numbered from 0."""

    points: np.ndarray  # (m, width) values
    near: np.ndarray  # (m, .) neighbours, nearest first
    degree: np.ndarray  # (m,) how many
    heat: np.ndarray  # (m,) temperature of each record
    label: np.ndarray  # (m,) group
    place: np.ndarray  # (m,) place in the group
    member: np.ndarray  # (groups, 3k) records of each group
    size: np.ndarray  # (groups,)
    centroid: np.ndarray  # (groups, width)
    free: np.ndarray  # (groups + 1,) groups that are empty; the last: how many
    moved: np.ndarray  # (2, 3k) records of the change being tried, and where they were
    share: np.ndarray  # (3k + 1,) 1 / number
    line: np.ndarray  # (width,) twice the way from one centroid to another
    random: np.ndarray  # (1,) state of the generator


def anneal(points: np.ndarray, near: np.ndarray, labels: np.ndarray, k: int, sweep: Sweep) -> float:
    """Change a partition by random steps; see `protocol.Engine`."""
    groups, starts, heat, rate, seed = sweep
    count = len(starts) - 1
    division = Division(groups, starts, *_divide(labels, int(labels.max()) + 1, groups, starts))
    sums = [0.0] * count

    def work(first: int, last: int) -> None:
        for r in range(first, last):
            sums[r] = _region(points, near, heat, labels, division, k, rate, seed, r)

    on_all_cores(work, count)
    return reduce(add, sums)


@entry()
def _divide(labels, numbers, groups, starts):
    """What a division holds besides the groups and where each region's begin."""
    n, count = len(labels), len(starts) - 1
    first = np.zeros(numbers + 1, dtype=np.int64)
    for g in labels:
        first[g + 1] += 1
    for g in range(len(first) - 1):
        first[g + 1] += first[g]
    at = first[:-1].copy()
    records = np.empty(n, dtype=np.int64)
    for i in range(n):
        records[at[labels[i]]] = i
        at[labels[i]] += 1
    region_of = np.empty(n, dtype=np.int64)
    local = np.empty(n, dtype=np.int64)
    begin = np.zeros(count + 1, dtype=np.int64)
    for r in range(count):
        begin[r + 1] = begin[r]
        for g in groups[starts[r] : starts[r + 1]]:
            for i in records[first[g] : first[g + 1]]:
                region_of[i] = r
                local[i] = begin[r + 1] - begin[r]
                begin[r + 1] += 1
    return records, first, region_of, local, begin


@entry()
def _region(points, near, heat, labels, division, k, rate, seed, r):
    """Anneal one region; its sum of squares."""
    begin = division.begin
    m = begin[r + 1] - begin[r]
    inside = np.empty(m, dtype=np.int64)
    region = _enter(points, near, heat, division, k, r, inside)
    seed_stream(region.random, seed, r)
    _steps(region, k, np.int64(rate * m))
    for a in range(m):
        labels[inside[a]] = begin[r] + region.label[a]
    total = 0.0
    for g in range(len(region.size)):
        if region.size[g] > 0:
            total += _centre(region.points, region.member, region.size, region.centroid, g)
    return total


@inner(allocates=True)
def _enter(points, near, heat, division, k, r, inside):
    """The arrays of a region; fill `inside` with its records."""
    records, first, local = division.records, division.first, division.local
    groups = division.groups[division.starts[r] : division.starts[r + 1]]
    m, d = len(inside), points.shape[1]
    width = (d + LANES - 1) // LANES * LANES
    room = m // k
    region = Region(
        np.zeros((m, width)),
        np.empty((m, near.shape[1]), dtype=np.int32),
        np.zeros(m, dtype=np.int32),
        np.empty(m),
        np.empty(m, dtype=np.int32),
        np.empty(m, dtype=np.int32),
        np.empty((room, ROOM * k), dtype=np.int32),
        np.zeros(room, dtype=np.int32),
        np.empty((room, width)),
        np.empty(room + 1, dtype=np.int32),
        np.empty((2, ROOM * k), dtype=np.int32),
        1.0 / np.arange(ROOM * k + 1),
        np.empty(width),
        np.empty(1, dtype=np.uint64),
    )
    for g in range(len(groups)):
        for i in records[first[groups[g]] : first[groups[g] + 1]]:
            a = local[i]
            inside[a] = i
            region.heat[a] = heat[i]
            for v in range(d):
                region.points[a, v] = points[i, v]
            for j in near[i]:
                if j >= 0 and division.region_of[j] == r:
                    region.near[a, region.degree[a]] = local[j]
                    region.degree[a] += 1
            _put(region.label, region.place, region.member, region.size, a, g)
        _centre(region.points, region.member, region.size, region.centroid, g)
    region.free[room] = room - len(groups)
    for g in range(len(groups), room):
        region.free[g - len(groups)] = g
    return region


@inner()
def _steps(region, k, count):
    """Try a number of changes."""
    # Arrays by themselves: to hand on the whole tuple costs more than a distance.
    points, near, degree, heat = region.points, region.near, region.degree, region.heat
    label, place, share, line = region.label, region.place, region.share, region.line
    member, size, centroid = region.member, region.size, region.centroid
    random = region.random
    m, most = len(label), member.shape[1]
    for _ in range(count):
        i = below(random, m)
        if degree[i] == 0:
            continue
        g = label[i]
        bits = draw(random)
        if (bits >> np.uint64(40)) < RARE:
            if size[g] == k or bits & np.uint64(1):
                _dissolve(region, g)
            elif region.free[-1] > 0:
                _found(region, k, i)
            continue
        u = np.float64(bits & np.uint64(LOW)) * 2.0**-40
        h = label[near[i, np.int64(degree[i] * (u * u))]]
        if h == g:
            continue
        s, t = size[g], size[h]
        rise, other = np.inf, -1
        if s > k and t < most:
            rise = _joining(points, i, centroid, h, t, share)
            rise -= _leaving(points, i, centroid, g, s, share)
        both = share[s] + share[t]
        for v in range(len(line)):
            line[v] = 2.0 * (centroid[h, v] - centroid[g, v])
        for a in range(t):
            z = member[h, a]
            here = _swapped(points, i, z, line, both)
            if here < rise:
                rise, other = here, z
        if not _accept(random, rise, heat[i]):
            continue
        if other >= 0:
            a, b = place[i], place[other]
            member[g, a], place[other], label[other] = other, a, g
            member[h, b], place[i], label[i] = i, b, h
            for v in range(len(line)):
                w = points[other, v] - points[i, v]
                centroid[g, v] += w * share[s]
                centroid[h, v] -= w * share[t]
        else:
            _take(label, place, member, size, i)
            _put(label, place, member, size, i, h)
            _shift(points, i, centroid, g, -share[s - 1])
            _shift(points, i, centroid, h, share[t + 1])


@inner()
def _dissolve(region, g):
    """Let each record of a group join the group that it costs least, or leave all as it was."""
    points, label, place, share = region.points, region.label, region.place, region.share
    member, size, centroid, moved = region.member, region.size, region.centroid, region.moved
    n = size[g]
    most = member.shape[1]
    reach = most + most // 3  # neighbours to look at: 4k
    rise, heat = 0.0, 0.0
    for a in range(n):
        i = member[g, a]
        moved[0, a] = i
        rise -= _distance(points, i, centroid, g)
        heat += region.heat[i] / n
    limit = _allowance(region.random, heat)
    done = 0
    while done < n:
        i = moved[0, done]
        least, to = np.inf, -1
        for q in range(min(region.degree[i], reach)):
            h = label[region.near[i, q]]
            t = size[h]
            if h != g and t < most:
                here = _joining(points, i, centroid, h, t, share)
                if here < least:
                    least, to = here, h
        if to < 0 or rise + least >= limit:
            break
        rise += least
        moved[1, done] = to
        done += 1
        _take(label, place, member, size, i)
        _put(label, place, member, size, i, to)
        _shift(points, i, centroid, to, share[size[to]])
    if done == n:
        region.free[region.free[-1]] = g
        region.free[-1] += 1
        return
    while done > 0:
        done -= 1
        _take(label, place, member, size, moved[0, done])
        _put(label, place, member, size, moved[0, done], g)
        _shift(points, moved[0, done], centroid, moved[1, done], -share[size[moved[1, done]]])


@inner()
def _found(region, k, i):
    """Make a group of a record and near ones that other groups can spare, or leave it."""
    points, label, place, share = region.points, region.label, region.place, region.share
    member, size, centroid, moved = region.member, region.size, region.centroid, region.moved
    spare = 0
    for q in range(region.degree[i]):
        spare += size[label[region.near[i, q]]] > k
    if spare < k - 1:
        return
    g = region.free[region.free[-1] - 1]
    for v in range(centroid.shape[1]):
        centroid[g, v] = points[i, v]
    limit = _allowance(region.random, region.heat[i])
    least, best = -_leaving(points, i, centroid, label[i], size[label[i]], share), i
    rise, done = 0.0, 0
    while best >= 0:
        rise += least
        h = label[best]
        moved[0, done], moved[1, done] = best, h
        done += 1
        _take(label, place, member, size, best)
        _put(label, place, member, size, best, g)
        _shift(points, best, centroid, h, -share[size[h]])
        _shift(points, best, centroid, g, share[done])
        if done == k:
            break
        least, best = np.inf, -1
        for q in range(region.degree[i]):
            j = region.near[i, q]
            h = label[j]
            if h != g and size[h] > k:
                here = _joining(points, j, centroid, g, done, share)
                here -= _leaving(points, j, centroid, h, size[h], share)
                if here < least:
                    least, best = here, j
    if done == k and rise < limit:
        region.free[-1] -= 1
        return
    while done > 0:
        done -= 1
        j, h = moved[0, done], moved[1, done]
        _take(label, place, member, size, j)
        _put(label, place, member, size, j, h)
        _shift(points, j, centroid, h, share[size[h]])


@inner()
def _take(label, place, member, size, i):
    """Take a record out of its group; the last one gets its place."""
    g, a = label[i], place[i]
    size[g] -= 1
    last = member[g, size[g]]
    member[g, a], place[last] = last, a


@inner()
def _put(label, place, member, size, i, g):
    """Add a record to a group, in the last place."""
    label[i], place[i] = g, size[g]
    member[g, size[g]] = i
    size[g] += 1


@inner()
def _joining(points, i, centroid, g, number, share):
    """By how much the sum of squares of a group of some records rises if another one joins it."""
    return _distance(points, i, centroid, g) * number * share[number + 1]


@inner()
def _leaving(points, i, centroid, g, number, share):
    """By how much the sum of squares of a group of some records falls if one leaves."""
    return _distance(points, i, centroid, g) * number * share[number - 1]


@inner()
def _shift(points, i, centroid, g, share):
    """Take a record into the mean of a group, or with a share below 0 out of it."""
    for v in range(centroid.shape[1]):
        centroid[g, v] += (points[i, v] - centroid[g, v]) * share


@inner()
def _centre(points, member, size, centroid, g):
    """Compute the centroid of a group from its records, and their sum of squares about it."""
    n = size[g]
    for v in range(points.shape[1]):
        total = 0.0
        for a in range(n):
            total += points[member[g, a], v]
        centroid[g, v] = total / n
    total = 0.0
    for a in range(n):
        total += _distance(points, member[g, a], centroid, g)
    return total


@inner()
def _distance(points, i, others, j):
    """Squared distance of a record to another or to a centroid."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for v in range(0, points.shape[1], LANES):
        p = points[i, v] - others[j, v]
        q = points[i, v + 1] - others[j, v + 1]
        r = points[i, v + 2] - others[j, v + 2]
        s = points[i, v + 3] - others[j, v + 3]
        a += p * p
        b += q * q
        c += r * r
        d += s * s
    return (a + b) + (c + d)


@inner()
def _swapped(points, i, z, line, share):
    """By how much the sum of squares rises if i and z of another group change places."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for v in range(0, points.shape[1], LANES):
        p = points[z, v] - points[i, v]
        q = points[z, v + 1] - points[i, v + 1]
        r = points[z, v + 2] - points[i, v + 2]
        s = points[z, v + 3] - points[i, v + 3]
        a += p * (line[v] - p * share)
        b += q * (line[v + 1] - q * share)
        c += r * (line[v + 2] - r * share)
        d += s * (line[v + 3] - s * share)
    return (a + b) + (c + d)


@inner()
def _accept(random, rise, heat):
    """Whether to make a change. A fall needs no draw."""
    return rise < 0 or (rise < 4 * heat and rise < _allowance(random, heat))


@inner()
def _allowance(random, heat):
    """By how much a change may raise the sum of squares."""
    return 4 * heat * (1 - np.sqrt(np.sqrt(unit(random))))
