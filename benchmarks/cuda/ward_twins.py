"""The kernels of k-Ward in batches, as plain loops that count.

Each does what the kernel of the same name in `kernels.cuda.ward_round_kernels` does.
"""

import numpy as np
from numba import njit

from microagg_gpu.kernels.cuda.boxes import NONE
from microagg_gpu.kernels.cuda.ward_events import (
    BEFORE,
    FREED,
    KEPT,
    MOVED,
    MOVED_ROW,
    MOVED_SIZE,
    NEW_ROW,
    OTHER,
    OTHER_ROW,
    OWNER,
    ROW,
    SIZE,
)
from microagg_gpu.kernels.cuda.ward_round_kernels import (
    HELD,
    HIGHEST,
    LEAST,
    LOWEST,
    MANY,
    NAME,
    SMALL,
)

from .round_twins import add, rounded
from .trees import INSERTED, INSTRUCTIONS, LANES, LEAVES, RECORDS, STEPS, _distance
from .trees import _enter as _bound

# In a tally: looks of warps at groups that a batch makes; instructions of the longest search.
MADE_ONES, LONGEST = range(5, 7)
TALLY = LONGEST + 1

EACH = np.array([INSTRUCTIONS[what] for what in range(RECORDS + 1)])


@njit(cache=True)
def _sum_groups(points, member, begin, total, tally):
    for g in range(len(begin) - 1):
        for v in range(points.shape[1]):
            total[g, :, v] = 0.0
            for m in range(begin[g], begin[g + 1]):
                add(total, g, v, points[member[m], v])


@njit(cache=True)
def _find_centroids(total, row, size, centroid, tally):
    for g in range(len(centroid)):
        for v in range(centroid.shape[1]):
            centroid[g, v] = rounded(total, row[g], v) / size[g]


@njit(cache=True)
def _unite(k, first, events, moves, total, batch, tree, tally):
    work, levels = batch.work, len(tree.start) - 1
    for item in range(moves):
        kept, freed, name = work[item, KEPT], work[item, FREED], work[item, MOVED]
        tree.group[kept // LANES, NAME, kept % LANES] = name
        tree.group[kept // LANES, HELD, kept % LANES] = work[item, MOVED_SIZE]
        tree.group[freed // LANES, NAME, freed % LANES] = -1
        for v in range(batch.target.shape[1]):
            x = rounded(total, work[item, MOVED_ROW], v) / work[item, MOVED_SIZE]
            tree.value[kept // LANES, v, kept % LANES] = x
            tree.value[freed // LANES, v, freed % LANES] = np.nan
            place = kept // LANES
            for level in range(levels):
                at, place, box = tree.start[level] + place // LANES, place // LANES, place % LANES
                tree.low[at, v, box] = min(tree.low[at, v, box], x)
                tree.high[at, v, box] = max(tree.high[at, v, box], x)
        place = kept // LANES
        for level in range(levels):
            at, place, box = tree.start[level] + place // LANES, place // LANES, place % LANES
            tree.kind[at, LOWEST, box] = min(tree.kind[at, LOWEST, box], name)
            if work[item, MOVED_SIZE] < k:
                tree.kind[at, SMALL, box] = min(tree.kind[at, SMALL, box], name)
    for item in range(events):
        row = work[item, ROW]
        merges = work[item, OTHER] >= 0
        for v in range(batch.target.shape[1]):
            if merges:
                new = work[item, NEW_ROW]
                total[new, :, v] = total[row, :, v]
                for part in range(3):
                    add(total, new, v, total[work[item, OTHER_ROW], part, v])
            x = rounded(total, work[item, NEW_ROW] if merges else row, v) / work[item, SIZE]
            batch.target[item, v] = x
            if merges:
                batch.made[v, work[item, BEFORE]] = x
        if merges:
            batch.made_group[NAME, work[item, BEFORE]] = work[item, OWNER]
            batch.made_group[HELD, work[item, BEFORE]] = work[item, SIZE]
            batch.last[work[item, OWNER]] = batch.last[work[item, OTHER]] = first + item


@njit(cache=True)
def _rank(other, floor, groups):
    return other if other > floor else other + groups


@njit(cache=True)
def _enter(tree, target, n, small, level, block, bounds, tally):
    _bound(tree, target, level, block, bounds, tally)
    at = tree.start[level] + block
    for lane in range(LANES):
        if tree.kind[at, small, lane] < NONE:
            m = float(tree.kind[at, LEAST, lane])
            bounds[level, lane] *= n * m / (n + m)
        else:
            bounds[level, lane] = np.inf


@njit(cache=True)
def _nearest_box(tree, small, floor, groups, bounds, level, block, best, code, tally):
    while level < len(tree.start) - 1:
        tally[STEPS] += 1
        bound, chosen = np.inf, -1
        for lane in range(LANES):
            mine = bounds[level, lane]
            if mine == best:
                at = tree.start[level] + block
                first = tree.kind[at, small, lane]
                above = max(first, floor + 1)
                here = above if tree.kind[at, HIGHEST, lane] > floor else first
                if _rank(here, floor, groups) >= code:
                    continue
            if mine < bound and mine <= best:
                bound, chosen = mine, lane
        if chosen >= 0:
            bounds[level, chosen] = np.inf
            return level, block, chosen
        level, block = level + 1, block // LANES
    return level, block, 0


@njit(cache=True)
def _find_pairs(k, first, events, batch, tree, tally):
    work, groups, levels = batch.work, len(batch.last), len(tree.start) - 1
    d = batch.target.shape[1]
    bounds, before = np.empty((levels, LANES)), tally.copy()
    for event in range(events):
        before[:] = tally
        tally[RECORDS] += 1
        own, size, target = work[event, OWNER], work[event, SIZE], batch.target[event]
        n = float(size)
        floor = own if size == 1 else -1
        small = SMALL if size >= k else LOWEST
        best, code = np.inf, NONE
        for q in range(work[event, BEFORE]):
            tally[MADE_ONES] += q % LANES == 0
            m = float(batch.made_group[HELD, q])
            if n < k or m < k:
                square = 0.0
                for v in range(d):
                    difference = batch.made[v, q] - target[v]
                    square += difference * difference
                rise, here = (
                    n * m / (n + m) * square,
                    _rank(batch.made_group[NAME, q], floor, groups),
                )
                if rise < best or (rise == best and here < code):
                    best, code = rise, here
        level, block = levels - 1, 0
        _enter(tree, target, n, small, level, block, bounds, tally)
        while True:
            level, block, box = _nearest_box(
                tree, small, floor, groups, bounds, level, block, best, code, tally
            )
            if level == levels:
                break
            block = block * LANES + box
            if level > 0:
                level -= 1
                _enter(tree, target, n, small, level, block, bounds, tally)
                continue
            tally[LEAVES] += 1
            improved = False
            for lane in range(LANES):
                other, m = tree.group[block, NAME, lane], float(tree.group[block, HELD, lane])
                if other < 0 or other == own or (n >= k and m >= k):
                    continue
                if 0 <= batch.last[other] - first <= event:
                    continue
                rise = n * m / (n + m) * _distance(tree, block, lane, target)
                here = _rank(other, floor, groups)
                if rise < best or (rise == best and here < code):
                    best, code, improved = rise, here, True
            tally[INSERTED] += improved
            block //= LANES
        batch.found[0, event] = best
        batch.found[1, event] = code - groups if code >= groups else code
        search = 0
        for what in range(RECORDS + 1):
            search += (tally[what] - before[what]) * (EACH[what, 0] * d + EACH[what, 1])
        tally[LONGEST] = max(tally[LONGEST], search)


@njit(cache=True)
def _refresh(k, level, tree, tally):
    for at in range(tree.start[level], tree.start[level + 1]):
        tree.low[at], tree.high[at] = np.inf, -np.inf
        tree.kind[at, LOWEST], tree.kind[at, SMALL] = NONE, NONE
        tree.kind[at, HIGHEST], tree.kind[at, LEAST] = -1, MANY
        for box in range(LANES):
            below = (at - tree.start[level]) * LANES + box
            kind = tree.kind[at, :, box]
            if level == 0:
                if below >= len(tree.group):
                    continue
                for lane in range(LANES):
                    name, size = tree.group[below, NAME, lane], tree.group[below, HELD, lane]
                    if name < 0:
                        continue
                    kind[LOWEST] = min(kind[LOWEST], name)
                    kind[HIGHEST] = max(kind[HIGHEST], name)
                    kind[LEAST] = min(kind[LEAST], size)
                    if size < k:
                        kind[SMALL] = min(kind[SMALL], name)
                    for v in range(tree.low.shape[1]):
                        x = tree.value[below, v, lane]
                        tree.low[at, v, box] = min(tree.low[at, v, box], x)
                        tree.high[at, v, box] = max(tree.high[at, v, box], x)
            elif tree.start[level - 1] + below < tree.start[level]:
                inside = tree.start[level - 1] + below
                for what in (LOWEST, SMALL, LEAST):
                    kind[what] = tree.kind[inside, what].min()
                kind[HIGHEST] = tree.kind[inside, HIGHEST].max()
                for v in range(tree.low.shape[1]):
                    tree.low[at, v, box] = tree.low[inside, v].min()
                    tree.high[at, v, box] = tree.high[inside, v].max()


@njit(cache=True)
def _find_farthest(columns, name, until, square, pair, tally):
    n, d = len(until), len(columns)
    for place in range(len(square)):
        square[place], pair[place] = -1.0, NONE
        for other in range(place + 1, until[place]):
            total = 0.0
            for v in range(d):
                difference = columns[v, other] - columns[v, place]
                total += difference * difference
            low, high = min(name[place], name[other]), max(name[place], name[other])
            code = low * n + high
            if total > square[place] or (total == square[place] and code < pair[place]):
                square[place], pair[place] = total, code
