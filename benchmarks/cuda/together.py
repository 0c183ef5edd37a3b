"""Searches of neighbouring records together by the CUDA engine on the CPU, counted; see `trees`."""

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg_gpu.kernels.cuda.boxes import NONE

from .work import Work

LANES, PARTS = 32, 2  # of a warp; lanes that share a seeker
SEEKERS = EACH = LANES // PARTS
# What is counted: leaves, blocks and boxes looked at, steps of the walk, turns in which lanes
# compute distances that decide, places that entries of lists move on, and groups of seekers.
LEAVES, BLOCKS, BOXES, STEPS, TURNS, SHIFTS, GROUPS = range(7)
LONGEST = 7  # instructions of the warp that has most of them
TALLIES = 8
# PTX instructions of a warp: for each variable, and besides. A test compares the sum with those
# that ptxrun executes.
INSTRUCTIONS = np.zeros((LONGEST, 2), dtype=np.int64)
INSTRUCTIONS[LEAVES] = 57, 140
INSTRUCTIONS[BLOCKS] = 14, 90
INSTRUCTIONS[BOXES] = 8, 75
INSTRUCTIONS[STEPS] = 0, 45
INSTRUCTIONS[TURNS] = 6, 100
INSTRUCTIONS[SHIFTS] = 0, 20
INSTRUCTIONS[GROUPS] = 20, 400
PASSES = 1 + 2.0**-10  # of a limit's square, what the filter lets through


class _Shaped(NamedTuple):
    start: np.ndarray
    value: np.ndarray
    record: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lowest: np.ndarray


@njit(cache=True)
def _shaped(tree):
    """The arrays of a tree as `boxes` has them."""
    d = tree.variables
    return _Shaped(
        tree.start,
        tree.value.reshape(-1, d, LANES),
        tree.record.reshape(-1, LANES),
        tree.low.reshape(-1, d, LANES),
        tree.high.reshape(-1, d, LANES),
        tree.lowest.reshape(-1, LANES),
    )


@njit(cache=True)
def _span(tree, home, first, seeks):
    """The box around the seekers, of the first variables."""
    d = min(tree.value.shape[1], LANES)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    for q in range(SEEKERS):
        if seeks[q]:
            for v in range(d):
                x = tree.value[home, v, first + q]
                low[v], high[v] = min(low[v], x), max(high[v], x)
    return low, high


@njit(cache=True)
def _enter(tree, common, barred, low, high, bounds, level, block, tally):
    """Bounds to the boxes of a block."""
    tally[BLOCKS] += 1
    at = tree.start[level] + block
    for lane in range(LANES):
        total = 0.0
        for v in range(len(low)):
            gap = max(tree.low[at, v, lane] - high[v], low[v] - tree.high[at, v, lane], 0.0)
            total += gap * gap
        bounds[level, lane] = np.inf if common[at, lane] == barred else total


@njit(cache=True)
def _next_box(tree, bounds, level, block, limit, tally):
    while level < len(tree.start) - 1:
        tally[STEPS] += 1
        lane = bounds[level].argmin()
        bound = bounds[level, lane]
        if bound <= limit * PASSES and bound < np.inf:
            bounds[level, lane] = np.inf
            return level, block, lane
        level, block = level + 1, block // LANES
    return level, block, 0


@njit(cache=True)
def _bound_one(tree, at, box, home, place):
    total = 0.0
    for v in range(tree.low.shape[1]):
        x = tree.value[home, v, place]
        gap = max(tree.low[at, v, box] - x, x - tree.high[at, v, box], 0.0)
        total += gap * gap
    return total


@njit(cache=True)
def _begin(tree, common, barred, home, first, seeks, bounds, tally):
    levels = len(tree.start) - 1
    low, high = _span(tree, home, first, seeks)
    bounds[:] = np.inf
    _enter(tree, common, barred, low, high, bounds, levels - 1, 0, tally)
    return low, high


@njit(cache=True)
def _next_leaf(
    tree, common, barred, own, home, first, low, high, bounds, level, leaf, limit, name, tally
):
    levels, block = len(tree.start) - 1, leaf // LANES
    while True:
        level, block, box = _next_box(tree, bounds, level, block, limit.max(), tally)
        if level == levels:
            return level, block
        at, inside = tree.start[level] + block, block * LANES + box
        if level == 0 and inside == home:
            continue
        tally[BOXES] += 1
        wanted = False
        for q in range(SEEKERS):
            if limit[q] >= 0 and common[at, box] != own[q]:
                bound = _bound_one(tree, at, box, home, first + q)
                if tree.lowest[at, box] >= name[q]:
                    wanted |= bound < limit[q]
                else:
                    wanted |= bound <= limit[q] * PASSES
        if not wanted:
            continue
        if level == 0:
            return level, inside
        level, block = level - 1, inside
        _enter(tree, common, barred, low, high, bounds, level, block, tally)


@njit(cache=True)
def _distance(tree, leaf, j, home, place):
    total = 0.0
    for v in range(tree.value.shape[1]):
        difference = tree.value[leaf, v, j] - tree.value[home, v, place]
        total += difference * difference
    return total


@njit(cache=True)
def _let_through(tree, leaf, home, first, own, inside, limit, distances, waiting):
    """The distances of the records that the filter lets through, each lane's one after the other.

    Those of its component do not count for a seeker. Returned is how many a lane has at most.
    """
    waiting[:] = 0
    for q in range(SEEKERS):
        if limit[q] < 0:
            continue
        for j in range(LANES):
            if tree.record[leaf, j] >= 0 and inside[leaf, j] != own[q]:
                distance = _distance(tree, leaf, j, home, first + q)
                if distance <= limit[q] * PASSES:
                    part = j // EACH
                    distances[q, part, waiting[q, part], 0] = distance
                    distances[q, part, waiting[q, part], 1] = tree.record[leaf, j]
                    waiting[q, part] += 1
    return waiting.max()


@njit(cache=True)
def _note(tally, before, d):
    used = 0
    for i in range(LONGEST):
        used += (tally[i] - before[i]) * (INSTRUCTIONS[i, 0] * d + INSTRUCTIONS[i, 1])
    tally[LONGEST] = max(tally[LONGEST], used)


@njit(cache=True)
def _nearest_rows(tree, first, last, squares, records, looked, tally):
    tree = _shaped(tree)
    levels, m = len(tree.start) - 1, squares.shape[1]
    bounds, limit = np.empty((levels, LANES)), np.empty(SEEKERS)
    own, name = np.empty(SEEKERS, dtype=np.int64), np.empty(SEEKERS, dtype=np.int64)
    distances = np.empty((SEEKERS, PARTS, EACH, 2))
    waiting = np.empty((SEEKERS, PARTS), dtype=np.int64)
    nobody = np.full(tree.lowest.shape, -1)
    for group in range(first, last):
        before = tally.copy()
        home, place = group // PARTS, group % PARTS * SEEKERS
        for q in range(SEEKERS):
            own[q] = row = tree.record[home, place + q]
            limit[q], name[q] = (np.inf, NONE) if row >= 0 else (-1.0, -1)
            if row >= 0:
                squares[row], records[row] = np.inf, NONE
        if limit.max() < 0:
            continue
        tally[GROUPS] += 1
        low, high = _begin(tree, nobody, -2, home, place, limit >= 0, bounds, tally)
        level, leaf = 0, home
        while level == 0:
            tally[LEAVES] += 1
            looked[0] += 1
            turns = _let_through(
                tree, leaf, home, place, own, tree.record, limit, distances, waiting
            )
            tally[TURNS] += turns
            for turn in range(turns):
                for part in range(PARTS):
                    most = 0
                    for q in range(SEEKERS):
                        if turn < waiting[q, part]:
                            row = own[q]
                            distance, r = distances[q, part, turn, 0], distances[q, part, turn, 1]
                            i = m
                            while i > 0 and (
                                distance < squares[row, i - 1]
                                or (distance == squares[row, i - 1] and r < records[row, i - 1])
                            ):
                                i -= 1
                                if i + 1 < m:
                                    squares[row, i + 1] = squares[row, i]
                                    records[row, i + 1] = records[row, i]
                            if i < m:
                                squares[row, i], records[row, i] = distance, r
                                limit[q], name[q] = squares[row, m - 1], records[row, m - 1]
                                most = max(most, m - i)
                    tally[SHIFTS] += most
            level, leaf = _next_leaf(
                tree, nobody, -2, own, home, place, low, high,
                bounds, level, leaf, limit, name, tally,
            )  # fmt: skip
        _note(tally, before, tree.value.shape[1])


@njit(cache=True)
def may_improve(r, comp, candidates, best):
    """As `mst_kernels.may_improve`."""
    c, n = comp[r], len(comp)
    if candidates.known[r] != 0 or candidates.length[r] > best.length[c]:
        return False
    x = candidates.other[r]
    edge = NONE if x >= n else min(r, x) * n + max(r, x)
    return candidates.length[r] < best.length[c] or edge < best.edge[c]


@njit(cache=True)
def _before_edge(r, edge, n):
    low, high = edge // n, edge % n
    if edge == NONE or r < low:
        return NONE
    return high if r == low else low + (r < high)


@njit(cache=True)
def _search_together(
    tree, common, inside, groups, first, last, step, done, comp, waiting, candidates, best,
    tally,
):  # fmt: skip
    tree = _shaped(tree)
    common, inside = common.reshape(-1, LANES), inside.reshape(-1, LANES)
    levels = len(tree.start) - 1
    bounds, limit = np.empty((levels, LANES)), np.empty(SEEKERS)
    own, name = np.empty(SEEKERS, dtype=np.int64), np.empty(SEEKERS, dtype=np.int64)
    found = np.empty(SEEKERS, dtype=np.int8)
    distances = np.empty((SEEKERS, PARTS, EACH, 2))
    passed = np.empty((SEEKERS, PARTS), dtype=np.int64)
    for query in range(first, last):
        if done > 0 and query * step % done == 0:
            continue
        before = tally.copy()
        tally[GROUPS] += 1
        group = groups[query * step]
        home, place = group // PARTS, group % PARTS * SEEKERS
        limit[:], found[:] = -1.0, 0
        barred, several = np.int64(-3), False
        for q in range(SEEKERS):
            row = tree.record[home, place + q]
            own[q], name[q] = inside[home, place + q], 0
            if row >= 0 and waiting[own[q]] and may_improve(row, comp, candidates, best):
                c = own[q]
                limit[q], name[q] = best.length[c], _before_edge(row, best.edge[c], len(comp))
                several |= barred not in (-3, c)
                barred = c
        if barred == -3:
            continue
        barred = np.int64(NONE) if several else barred
        low, high = _begin(tree, common, barred, home, place, limit >= 0, bounds, tally)
        level, leaf = 0, home
        while level == 0:
            tally[LEAVES] += 1
            tally[TURNS] += _let_through(
                tree, leaf, home, place, own, inside, limit, distances, passed
            )
            for q in range(SEEKERS):
                for part in range(PARTS):
                    for turn in range(passed[q, part]):
                        distance, r = distances[q, part, turn, 0], distances[q, part, turn, 1]
                        if distance < limit[q] or (distance == limit[q] and r < name[q]):
                            limit[q], name[q], found[q] = distance, r, 1
            level, leaf = _next_leaf(
                tree, common, barred, own, home, place, low, high,
                bounds, level, leaf, limit, name, tally,
            )  # fmt: skip
        for q in range(SEEKERS):
            if limit[q] >= 0:
                row = tree.record[home, place + q]
                candidates.length[row], candidates.other[row] = limit[q], name[q]
                candidates.known[row] = found[q]
        _note(tally, before, tree.value.shape[1])


TWINS = {"nearest_rows": _nearest_rows, "search_together": _search_together}


def add(work: Work, tally: np.ndarray, d: int, m: int = 0) -> None:
    """Add what groups of seekers take, whose lists have m places.

    Numbers in single precision are half an index, whatever the points are. A leaf is read once for
    all seekers, and they themselves once: then they are in the multiprocessor's own cache.
    """
    leaves, blocks, boxes, _, turns, shifts, groups = map(int, tally[:LONGEST])
    work.distances += leaves * SEEKERS * LANES
    each = leaves * (2 * d + 5) + blocks * (4 * d + 2) + boxes * (4 * d // PARTS + 2)
    work.flops += (each + turns * 3 * d) * LANES
    work.values += (blocks * 2 * LANES + turns * LANES + leaves + 2 * boxes) * d
    work.values += groups * SEEKERS * (d + m) + 2 * shifts * SEEKERS
    work.words += leaves * LANES * d // 2 + turns * 2 * LANES
    work.words += groups * SEEKERS * (10 + m) + 2 * shifts * SEEKERS
    work.instructions += int((tally[:LONGEST] * (INSTRUCTIONS @ [d, 1])).sum())
    work.longest += int(tally[LONGEST])
