"""The decisions of MDAV and V-MDAV, in order, from the answers of a round: see `rounds`.

One block decides, mostly one warp of it, and never waits for another. An answer is used only where
it is still right: records leave and none comes, so of those that were nearest or farthest the first
ones that remain are nearest or farthest of all that remain. Where too few are left of a list of
nearest ones the warp searches the tree; all else that is not known ends the launch with a reason.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .arithmetic import add, product, rounded, row_distance
from .boxes import LEVELS, NONE
from .compiled import entry
from .search_kernels import comes_first, nearest_others
from .team import THREADS
from .warp import LANES, first_of, from_lane, greatest, lanes_where, least, warp_sync

# What `status` holds: records that remain, groups, why the last launch ended, steps and searches so
# far; the record that comes next and the one farthest from the last seed, if they are known, else
# -1 (after NO_FAR the first is that seed); and how far the list of the outermost is used up.
LEFT, GROUPS, REASON, STEPS, SEARCHES, NEXT, FAR, START = range(8)
# Why a launch ended: it took the steps it was given, the method is done, the outermost record is
# not known, it has no row, nobody remains of those farthest from it.
PAUSED, DONE, UNSURE, UNFORESEEN, NO_FAR = range(5)
_GOES_ON = -1
PAIR = 2 * LANES  # records of two groups, or of one that has grown
READ = 512  # of the list, in one step, before a new round makes it shorter
# What is left of a distance after others were taken from it is not used below this, where the
# errors of numbers that vanish would count.
TINY = 2.0**-400


class Listed(NamedTuple):
    """The outermost records around a point, in order."""

    record: Any  # (length,) int64
    key: Any  # (length,) squared distances, -1 of records that had left
    reference: Any  # (1, d)


class Sums(NamedTuple):
    """The sum of the records that remain, and their centroid."""

    total: Any  # (1, 3, d)
    centroid: Any  # (1, d)


@cuda.jit(device=True)
def outermost(records, centroid, listed, start):
    """The record farthest from the centroid, -1 if that is not sure, and where the list begins.

    A centroid that has drifted from the reference is at most the drift nearer to or farther from
    any record: the list is read until what follows cannot be farthest.
    """
    lane = cuda.threadIdx.x % LANES
    length = listed.record.shape[0]
    d = centroid.shape[1]
    slack = 1.0 + product(np.float64(d + 8), 2.0**-49)
    drift = product(math.sqrt(row_distance(listed.reference, 0, centroid, 0)), slack)
    best = -1.0
    name = np.int64(NONE)
    at = start
    while True:
        place = at + lane
        here = np.int64(-1)
        away = -1.0
        if place < length:
            here = listed.record[place]
            if records.label[here] < 0:
                away = row_distance(records.points, here, centroid, 0)
        top = greatest(away)
        if at == start:  # those at the start that have left are not looked at again
            remain = lanes_where(away >= 0.0)
            start += first_of(remain) if remain != 0 else np.int32(LANES)
        if top >= 0.0 and top >= best:
            first = least(here if away == top else np.int64(NONE))
            name = first if top > best else min(first, name)
            best = top
        at += LANES
        if best >= 0.0:
            nearer = math.sqrt(best) / slack - drift
            limit = nearer * nearer / slack if nearer > TINY else 0.0
            beyond = -1.0
            if at < length:
                beyond = listed.key[at]
            elif length < records.label.shape[0]:
                beyond = listed.key[length - 1]
            if beyond < limit:
                return name, start
        if at >= length or at - start >= READ:
            return np.int64(-1), start


@cuda.jit(device=True)
def take(e, k, group, tree, records, rows, bounds, chosen, first):
    """Put a record and the k - 1 nearest to it in a group, and in `chosen` from a place on.

    Returns 1 if the tree had to be searched for them, else 0.
    """
    lane = np.int32(cuda.threadIdx.x % LANES)
    row = rows.row[e]
    other = np.int64(-1)
    if row < rows.near.shape[0] and lane < rows.near.shape[1]:
        other = rows.near[row, lane]
    there = other >= 0
    if there:
        there = records.label[other] < 0
    lanes = lanes_where(there)
    searches = 0
    if cuda.popc(lanes) < k - 1:
        searches = 1
        _, other, _ = nearest_others(
            tree, records.points, e, records.label, k - 1, -math.inf, np.int64(-1), bounds
        )
        there = lane < k - 1
        lanes = lanes_where(there)
    rank = np.int32(cuda.popc(lanes & ((np.int64(1) << lane) - 1)))
    warp_sync()  # all have read the labels
    if there and rank < k - 1:
        chosen[first + 1 + rank] = other
        records.label[other] = group
    if lane == 0:
        chosen[first] = e
        records.label[e] = group
    warp_sync()
    return searches


@cuda.jit(device=True)
def first_far(row, records, rows):
    """The first record of a row of farthest ones that remains; -1 if none does."""
    for begin in range(0, rows.far.shape[1], LANES):
        place = begin + cuda.threadIdx.x % LANES
        other = np.int64(-1)
        if place < rows.far.shape[1]:
            other = rows.far[row, place]
        there = other >= 0
        if there:
            there = records.label[other] < 0
        lanes = lanes_where(there)
        if lanes != 0:
            return from_lane(other, first_of(lanes))
    return np.int64(-1)


@cuda.jit(device=True)
def subtract(points, chosen, first, k, total):
    """Take a group from the total; the last threads of the block, so that the first go on."""
    for j in range(THREADS - 1 - cuda.threadIdx.x, points.shape[1], THREADS):
        for c in range(first, first + k):
            add(total, 0, j, -points[chosen[c], j])


@entry()
def replay_mdav(steps, k, tree, records, sums, listed, rows, status):
    """Take at most so many steps of MDAV, a pair of groups each."""
    bounds = cuda.shared.array((LEVELS, LANES), "float64")
    chosen = cuda.shared.array(PAIR, "int64")
    told = cuda.shared.array(2, "int64")
    t = cuda.threadIdx.x
    decides = t < LANES
    left, count, start = status[LEFT], status[GROUPS], status[START]
    r, s = status[NEXT], status[FAR]
    searches = np.int64(0)
    done = np.int64(0)
    reason = np.int64(PAUSED)
    while done < steps:
        if left < 2 * k and s < 0:
            reason = np.int64(DONE)
            break
        both = s >= 0 or left >= 3 * k
        if s < 0:
            if decides:
                if r < 0:
                    r, start = outermost(records, sums.centroid, listed, start)
                reason = np.int64(_GOES_ON)
                if r < 0:
                    reason = np.int64(UNSURE)
                elif rows.row[r] >= rows.far.shape[0]:
                    reason = np.int64(UNFORESEEN)
                else:
                    searches += take(r, k, count, tree, records, rows, bounds, chosen, 0)
                if t == 0:
                    told[0] = reason
            cuda.syncthreads()
            reason = told[0]
            if reason != _GOES_ON:
                break
            subtract(records.points, chosen, 0, k, sums.total)
            left -= k
            count += 1
            done += 1
        if both:
            if decides:
                if s < 0:
                    s = first_far(rows.row[r], records, rows)
                if s >= 0:
                    searches += take(s, k, count, tree, records, rows, bounds, chosen, LANES)
                if t == 0:
                    told[1] = s
            cuda.syncthreads()
            if told[1] < 0:
                reason = np.int64(NO_FAR)
                break
            subtract(records.points, chosen, LANES, k, sums.total)
            left -= k
            count += 1
        for j in range(THREADS - 1 - t, sums.centroid.shape[1], THREADS):
            sums.centroid[0, j] = rounded(sums.total, 0, j) / np.float64(left)
        cuda.syncthreads()
        r = np.int64(-1)
        s = np.int64(-1)
        reason = np.int64(PAUSED)
    cuda.syncthreads()  # all have read the status
    if t == 0:
        status[LEFT] = left
        status[GROUPS] = count
        status[REASON] = reason
        status[STEPS] += done
        status[SEARCHES] += searches
        status[NEXT] = r
        status[FAR] = np.int64(-1)
        status[START] = start


@cuda.jit(device=True)
def nearest_of_row(member, after, records, rows):
    """Of a lane's own row the first record that remains after a place: it, its place, what follows.

    Where none does, the last record of the row is returned with the place -1: whoever is not in
    the row comes after it; -1 if the record has no row; and NONE if the row has all others.
    """
    row = rows.row[member]
    if row >= rows.near.shape[0]:
        return np.int64(-1), -1
    m = rows.near.shape[1]
    last = np.int64(NONE)
    for place in range(after, m):
        other = rows.near[row, place]
        if other < 0:
            return np.int64(NONE), -1
        if records.label[other] < 0:
            return other, place
        last = other
    return last, -1


@entry()
def replay_vmdav(steps, k, gamma, tree, records, order, batch, rows, status):
    """Take at most so many steps of V-MDAV, a group each; one warp does.

    Parameters
    ----------
    order : int64 array of shape (n,)
        The records, the farthest from the centroid of all first.
    batch : int
        Records with rows below that come first in the order.
    """
    bounds = cuda.shared.array((LEVELS, LANES), "float64")
    chosen = cuda.shared.array(PAIR, "int64")
    t = cuda.threadIdx.x
    if t >= LANES:
        return
    left, count, at = status[LEFT], status[GROUPS], status[START]
    searches = np.int64(0)
    done = np.int64(0)
    reason = np.int64(PAUSED)
    while done < steps:
        if left < k:
            reason = np.int64(DONE)
            break
        here = np.int64(-1)
        there = at + t < order.shape[0]
        if there:
            here = order[at + t]
            there = records.label[here] < 0
        lanes = lanes_where(there)
        if lanes == 0:
            at += LANES
            continue
        e = from_lane(here, first_of(lanes))
        if rows.row[e] >= batch:
            reason = np.int64(UNFORESEEN)
            break
        searches += take(e, k, count, tree, records, rows, bounds, chosen, 0)
        left -= k
        size = np.int64(k)
        while size < 2 * k - 1 and left > 0:
            d_in, other, asked = nearest_to_group(tree, records, rows, bounds, chosen, size)
            searches += asked
            joins, asked = stays_near(d_in, other, gamma, tree, records, rows, bounds, chosen, size)
            searches += asked
            if not joins:
                break
            warp_sync()  # all have read the labels
            if t == 0:
                chosen[size] = other
                records.label[other] = count
            warp_sync()
            size += 1
            left -= 1
        count += 1
        done += 1
    warp_sync()  # all have read the status
    if t == 0:
        status[LEFT] = left
        status[GROUPS] = count
        status[REASON] = reason
        status[STEPS] += done
        status[SEARCHES] += searches
        status[START] = at


@cuda.jit(device=True)
def nearest_to_group(tree, records, rows, bounds, chosen, size):
    """The distance to the record nearest to a group, that record, and searches made for it.

    A member whose row is used up searches if somebody after the end of its row can be nearer than
    what the others know.
    """
    lane = np.int32(cuda.threadIdx.x % LANES)
    points = records.points
    best = math.inf
    name = np.int64(NONE)
    searches = np.int64(0)
    for begin in range(0, size, LANES):
        away = math.inf
        other = np.int64(NONE)
        waits = False
        if begin + lane < size:
            other, place = nearest_of_row(chosen[begin + lane], 0, records, rows)
            waits = place < 0 and other != NONE
            away = -math.inf
            if other >= 0 and other != NONE:
                away = row_distance(points, other, points, chosen[begin + lane])
        known = away if other != NONE and not waits else math.inf
        nearest = least(known)
        first = least(other if known == nearest and nearest < math.inf else np.int64(NONE))
        if comes_first(nearest, first, best, name):
            best = nearest
            name = first
        lanes = lanes_where(waits)
        while lanes != 0:
            giver = first_of(lanes)
            lanes &= lanes - 1
            if comes_first(from_lane(away, giver), from_lane(other, giver), best, name):
                square, found = search_one(tree, records, chosen[begin + giver], bounds)
                searches += 1
                if comes_first(square, found, best, name):
                    best = square
                    name = found
    return best, name, searches


@cuda.jit(device=True)
def search_one(tree, records, r, bounds):
    """Distance to the nearest other record, and that record."""
    away, name, _ = nearest_others(
        tree, records.points, r, records.label, 1, -math.inf, np.int64(-1), bounds
    )
    return from_lane(away, 0), from_lane(name, 0)


@cuda.jit(device=True)
def stays_near(d_in, r, gamma, tree, records, rows, bounds, chosen, size):
    """Whether d_in is at most gamma times the distance from r to its nearest other; and searches.

    That distance is at most the one to any record that remains, and products are rounded in order:
    so where d_in is more than gamma times that one, nobody need know the nearest.
    """
    lane = np.int32(cuda.threadIdx.x % LANES)
    points = records.points
    if rows.row[r] < rows.near.shape[0]:
        other, place = nearest_of_row(r, 0, records, rows)  # the same in all lanes
        if place >= 0:
            return d_in <= product(gamma, row_distance(points, other, points, r)), 0
    away = math.inf
    if lane < size:
        other, place = nearest_of_row(chosen[lane], 0, records, rows)
        if place >= 0 and other == r:
            other, place = nearest_of_row(chosen[lane], place + 1, records, rows)
        if place >= 0:
            away = row_distance(points, other, points, r)
    if not d_in <= product(gamma, least(away)):
        return False, 0
    away, _ = search_one(tree, records, r, bounds)
    return d_in <= product(gamma, away), 1
