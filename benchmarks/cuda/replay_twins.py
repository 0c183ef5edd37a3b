"""The replays of MDAV and V-MDAV, as plain loops that count: the methods, given answers.

They decide as the kernels of the same names in `kernels.cuda.replay_kernels`.
"""

import math

import numpy as np
from numba import njit

from microagg_gpu.kernels.cuda.boxes import NONE
from microagg_gpu.kernels.cuda.replay_kernels import (
    DONE,
    FAR,
    GROUPS,
    LEFT,
    NEXT,
    NO_FAR,
    PAUSED,
    READ,
    REASON,
    SEARCHES,
    START,
    STEPS,
    TINY,
    UNFORESEEN,
    UNSURE,
)

from .round_twins import _nearest_others, _square, add, rounded
from .trees import LANES

# What a tally holds besides that of the searches: steps of a replay, windows of the list, groups
# taken, windows of a row of farthest records or of V-MDAV's order, looks at members' rows, why
# replays ended.
DECIDED, WINDOWS, TAKEN, LOOKED_UP, MEMBERS, ENDS = range(5, 11)
TALLY = ENDS + NO_FAR + 1


@njit(cache=True)
def _outermost(records, centroid, listed, start, tally):
    length = len(listed.record)
    slack = 1.0 + (centroid.shape[1] + 8) * 2.0**-49
    drift = math.sqrt(_square(listed.reference, 0, centroid, 0)) * slack
    best, name, at = -1.0, NONE, start
    while True:
        tally[WINDOWS] += 1
        leading = at == start
        for place in range(at, min(at + LANES, length)):
            here = listed.record[place]
            if records.label[here] < 0:
                leading = False
                away = _square(records.points, here, centroid, 0)
                if away > best or (away == best and here < name):
                    best, name = away, here
            elif leading:
                start += 1
        at += LANES
        if best >= 0.0:
            nearer = math.sqrt(best) / slack - drift
            limit = nearer * nearer / slack if nearer > TINY else 0.0
            beyond = -1.0
            if at < length:
                beyond = listed.key[at]
            elif length < len(records.label):
                beyond = listed.key[length - 1]
            if beyond < limit:
                return name, start
        if at >= length or at - start >= READ:
            return -1, start


@njit(cache=True)
def _take(e, k, group, tree, records, rows, chosen, first, tally):
    tally[TAKEN] += 1
    size, searches = 1, 0
    row = rows.row[e]
    if row < len(rows.near):
        for other in rows.near[row]:
            if size < k and other >= 0 and records.label[other] < 0:
                chosen[first + size] = other
                size += 1
    if size < k:
        searches = 1
        best, name = np.empty(k - 1), np.empty(k - 1, dtype=np.int64)
        _nearest_others(tree, records.points, e, records.label, k - 1, best, name, tally)
        chosen[first + 1 : first + k] = name
    chosen[first] = e
    for i in range(k):
        records.label[chosen[first + i]] = group
    return searches


@njit(cache=True)
def _first_far(row, records, rows, tally):
    for place in range(rows.far.shape[1]):
        tally[LOOKED_UP] += place % LANES == 0
        other = rows.far[row, place]
        if other >= 0 and records.label[other] < 0:
            return other
    return -1


@njit(cache=True)
def _subtract(points, chosen, first, k, total):
    for j in range(points.shape[1]):
        for c in range(first, first + k):
            add(total, 0, j, -points[chosen[c], j])


@njit(cache=True)
def _replay_mdav(steps, k, tree, records, sums, listed, rows, status, tally):
    chosen = np.empty(2 * LANES, dtype=np.int64)
    left, count, start = status[LEFT], status[GROUPS], status[START]
    r, s = status[NEXT], status[FAR]
    searches = done = 0
    reason = PAUSED
    while done < steps:
        if left < 2 * k and s < 0:
            reason = DONE
            break
        both = s >= 0 or left >= 3 * k
        if s < 0:
            if r < 0:
                r, start = _outermost(records, sums.centroid, listed, start, tally)
            if r < 0:
                reason = UNSURE
                break
            if rows.row[r] >= len(rows.far):
                reason = UNFORESEEN
                break
            searches += _take(r, k, count, tree, records, rows, chosen, 0, tally)
            _subtract(records.points, chosen, 0, k, sums.total)
            left, count, done = left - k, count + 1, done + 1
        if both:
            if s < 0:
                s = _first_far(rows.row[r], records, rows, tally)
            if s < 0:
                reason = NO_FAR
                break
            searches += _take(s, k, count, tree, records, rows, chosen, LANES, tally)
            _subtract(records.points, chosen, LANES, k, sums.total)
            left, count = left - k, count + 1
        for j in range(sums.centroid.shape[1]):
            sums.centroid[0, j] = rounded(sums.total, 0, j) / left
        r = s = -1
    tally[DECIDED] += done
    tally[ENDS + reason] += 1
    status[LEFT], status[GROUPS], status[REASON], status[START] = left, count, reason, start
    status[STEPS] += done
    status[SEARCHES] += searches
    status[NEXT], status[FAR] = r, -1


@njit(cache=True)
def _nearest_of_row(member, after, records, rows):
    row = rows.row[member]
    if row >= len(rows.near):
        return -1, -1
    last = NONE
    for place in range(after, rows.near.shape[1]):
        other = rows.near[row, place]
        if other < 0:
            return NONE, -1
        if records.label[other] < 0:
            return other, place
        last = other
    return last, -1


@njit(cache=True)
def _nearest_to_group(tree, records, rows, chosen, size, tally):
    points = records.points
    one, names = np.empty(1), np.empty(1, dtype=np.int64)
    best, name, searches = np.inf, NONE, 0
    for i in range(size):
        tally[MEMBERS] += i % LANES == 0
        other, place = _nearest_of_row(chosen[i], 0, records, rows)
        if place >= 0:
            away = _square(points, other, points, chosen[i])
            if away < best or (away == best and other < name):
                best, name = away, other
    for i in range(size):
        other, place = _nearest_of_row(chosen[i], 0, records, rows)
        if place >= 0 or other == NONE:
            continue
        end = _square(points, other, points, chosen[i]) if other >= 0 else -np.inf
        if end < best or (end == best and other < name):
            _nearest_others(tree, points, chosen[i], records.label, 1, one, names, tally)
            searches += 1
            if one[0] < best or (one[0] == best and names[0] < name):
                best, name = one[0], names[0]
    return best, name, searches


@njit(cache=True)
def _stays_near(d_in, r, gamma, tree, records, rows, chosen, size, tally):
    points = records.points
    tally[MEMBERS] += 1
    if rows.row[r] < len(rows.near):
        other, place = _nearest_of_row(r, 0, records, rows)
        if place >= 0:
            return d_in <= gamma * _square(points, other, points, r), 0
    away = np.inf
    for i in range(min(size, LANES)):
        other, place = _nearest_of_row(chosen[i], 0, records, rows)
        if place >= 0 and other == r:
            other, place = _nearest_of_row(chosen[i], place + 1, records, rows)
        if place >= 0:
            away = min(away, _square(points, other, points, r))
    if not d_in <= gamma * away:
        return False, 0
    one, names = np.empty(1), np.empty(1, dtype=np.int64)
    _nearest_others(tree, points, r, records.label, 1, one, names, tally)
    return d_in <= gamma * one[0], 1


@njit(cache=True)
def _replay_vmdav(steps, k, gamma, tree, records, order, batch, rows, status, tally):
    chosen = np.empty(2 * LANES, dtype=np.int64)
    left, count, at = status[LEFT], status[GROUPS], status[START]
    searches = done = 0
    reason = PAUSED
    while done < steps:
        if left < k:
            reason = DONE
            break
        tally[LOOKED_UP] += 1
        e = -1
        for place in range(at, min(at + LANES, len(order))):
            if records.label[order[place]] < 0:
                e = order[place]
                break
        if e < 0:
            at += LANES
            continue
        if rows.row[e] >= batch:
            reason = UNFORESEEN
            break
        searches += _take(e, k, count, tree, records, rows, chosen, 0, tally)
        left, size = left - k, k
        while size < 2 * k - 1 and left > 0:
            d_in, other, asked = _nearest_to_group(tree, records, rows, chosen, size, tally)
            searches += asked
            joins, asked = _stays_near(d_in, other, gamma, tree, records, rows, chosen, size, tally)
            searches += asked
            if not joins:
                break
            chosen[size] = other
            records.label[other] = count
            size, left = size + 1, left - 1
        count, done = count + 1, done + 1
    tally[DECIDED] += done
    tally[ENDS + reason] += 1
    status[LEFT], status[GROUPS], status[REASON], status[START] = left, count, reason, at
    status[STEPS] += done
    status[SEARCHES] += searches
