"""The searches of the CUDA engine's tree on the CPU, counted.

The engine's own Python runs on NumPy arrays, with a twin of each kernel that does the same one
query after the other and counts leaves, blocks of boxes, steps of the walk and insertions. So the
rounds, the stages and the launches are those of a device.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numba import njit

from microagg_gpu.kernels.cuda import cut, launching, mst, search
from microagg_gpu.kernels.cuda.boxes import NONE
from microagg_gpu.kernels.cuda.launching import flat

from . import walks
from .work import Work

LEAVES, BLOCKS, STEPS, INSERTED, RECORDS = range(5)
BOXES = INSERTED  # of records that search together: boxes that each lane looks at
TILES = 5  # of these: leaves, each looked at by some of the records one after the other
LANES = 32
# PTX instructions of a warp: for each variable, and besides. A test compares the sum with those
# that ptxrun executes.
INSTRUCTIONS = {
    **{LEAVES: (6, 80), BLOCKS: (12, 90), STEPS: (0, 90)},
    **{INSERTED: (0, 60), RECORDS: (0, 60)},
}
# Of a warp whose lanes have a record each.
TOGETHER = {
    **{LEAVES: (6, 110), BLOCKS: (14, 90), STEPS: (0, 90)},
    **{BOXES: (12, 50), RECORDS: (0, 200)},
}
# Array expressions beside a kernel: those of a round, of parts of a search, and of the cutting.
EXPRESSIONS = {"hook": 24, "search_others": 15, "search_together": 25, "decide": 5, "unite": 25}


@njit(cache=True)
def _enter(tree, target, level, block, bounds, tally):
    """Bounds to the boxes of a block."""
    at = tree.start[level] + block
    tally[BLOCKS] += 1
    for lane in range(LANES):
        bounds[level, lane] = 0.0
    for v in range(len(target)):
        for lane in range(LANES):
            gap = max(tree.low[at, v, lane] - target[v], target[v] - tree.high[at, v, lane], 0.0)
            bounds[level, lane] += gap * gap


@njit(cache=True)
def _bar(tree, common, own, level, block, bounds):
    for lane in range(LANES):
        if common[tree.start[level] + block, lane] == own:
            bounds[level, lane] = np.inf


@njit(cache=True)
def _nearest_box(tree, bounds, level, block, limit, name, tally):
    """As `boxes.nearest_box`; level, block, lane, bound."""
    while level < len(tree.start) - 1:
        tally[STEPS] += 1
        best, chosen = np.inf, -1
        for lane in range(LANES):
            mine = bounds[level, lane]
            barred = mine == limit and tree.lowest[tree.start[level] + block, lane] >= name
            if mine < best and mine <= limit and not barred:
                best, chosen = mine, lane
        if chosen >= 0:
            bounds[level, chosen] = np.inf
            return level, block, chosen, best
        level, block = level + 1, block // LANES
    return level, block, 0, np.inf


@njit(cache=True)
def _distance(tree, leaf, lane, target):
    total = 0.0
    for v in range(len(target)):
        difference = tree.value[leaf, v, lane] - target[v]
        total += difference * difference
    return total


@njit(cache=True)
def _nearest_rows(tree, points, first, last, begin, squares, records, looked, tally):
    levels = len(tree.start) - 1
    bounds = np.empty((levels, LANES))
    wanted = min(LANES, squares.shape[1] - begin)
    best, name = np.empty(wanted), np.empty(wanted, dtype=np.int64)
    for query in range(first, last):
        row = tree.record[query // LANES, query % LANES]
        target = points[row]
        after = squares[row, begin - 1] if begin else -np.inf
        name_after = records[row, begin - 1] if begin else -1
        best[:], name[:] = np.inf, NONE
        level, block = levels - 1, 0
        _enter(tree, target, level, block, bounds, tally)
        while True:
            level, block, box, _ = _nearest_box(
                tree, bounds, level, block, best[-1], name[-1], tally
            )
            if level == levels:
                break
            block = block * LANES + box
            if level > 0:
                level -= 1
                _enter(tree, target, level, block, bounds, tally)
                continue
            tally[LEAVES] += 1
            looked[0] += 1
            limit = best[-1]
            for lane in range(LANES):
                r, distance = tree.record[block, lane], _distance(tree, block, lane, target)
                if not distance <= limit or r == row:
                    continue
                if distance < after or (distance == after and r <= name_after):
                    continue
                tally[INSERTED] += 1
                i = wanted
                while i > 0 and (
                    distance < best[i - 1] or (distance == best[i - 1] and r < name[i - 1])
                ):
                    i -= 1
                    if i + 1 < wanted:
                        best[i + 1], name[i + 1] = best[i], name[i]
                if i < wanted:
                    best[i], name[i] = distance, r
            block //= LANES
        squares[row, begin : begin + wanted] = best
        records[row, begin : begin + wanted] = name
    tally[RECORDS] += last - first


@njit(cache=True)
def _nearest_points(tree, queries, order, first, last, squares, records, ties, tally):
    levels = len(tree.start) - 1
    bounds = np.empty((levels, LANES))
    for query in range(first, last):
        row = order[query]
        target = queries[row]
        limit, name, count = np.inf, NONE, 0
        level, block = levels - 1, 0
        _enter(tree, target, level, block, bounds, tally)
        while True:
            level, block, box, bound = _nearest_box(tree, bounds, level, block, limit, NONE, tally)
            if level == levels:
                break
            at = tree.start[level] + block
            if np.all(tree.low[at, :, box] == tree.high[at, :, box]):
                if bound < limit:
                    limit, name, count = bound, NONE, 0
                name = min(name, tree.lowest[at, box])
                count += tree.held[at, box]
                continue
            block = block * LANES + box
            if level > 0:
                level -= 1
                _enter(tree, target, level, block, bounds, tally)
                continue
            tally[LEAVES] += 1
            for lane in range(LANES):
                distance = _distance(tree, block, lane, target)
                if distance < limit:
                    limit, name, count = distance, NONE, 0
                if distance == limit:
                    name = min(name, tree.record[block, lane])
                    count += 1
            block //= LANES
        if count > 0:
            squares[row], records[row], ties[row] = limit, name, count
    tally[RECORDS] += last - first


@njit(cache=True)
def _edge(r, x, n):
    return NONE if x >= n else min(r, x) * n + max(r, x)


@njit(cache=True)
def _advance(comp, lengths, others, candidates, tally):
    for r in range(len(comp)):
        if candidates.known[r] == 0 or comp[candidates.other[r]] != comp[r]:
            continue
        candidates.known[r] = 0
        place = candidates.place[r]
        while place < others.shape[1]:
            candidates.other[r] = others[r, place]
            candidates.length[r] = lengths[r, place]
            if comp[others[r, place]] != comp[r]:
                candidates.known[r] = 1
                break
            place += 1
        candidates.place[r] = place
    tally[RECORDS] += len(comp) // LANES


@njit(cache=True)
def _least_lengths(comp, candidates, best, tally):
    for r in range(len(comp)):
        if candidates.known[r] != 0:
            best.length[comp[r]] = min(best.length[comp[r]], candidates.length[r])
    tally[RECORDS] += len(comp) // LANES


@njit(cache=True)
def _first_edges(comp, candidates, best, tally):
    for r in range(len(comp)):
        c = comp[r]
        if candidates.known[r] != 0 and candidates.length[r] == best.length[c]:
            best.edge[c] = min(best.edge[c], _edge(r, candidates.other[r], len(comp)))
    tally[RECORDS] += len(comp) // LANES


@njit(cache=True)
def _may_improve(r, comp, candidates, best):
    c = comp[r]
    if candidates.known[r] != 0 or candidates.length[r] > best.length[c]:
        return False
    edge = _edge(r, candidates.other[r], len(comp))
    return candidates.length[r] < best.length[c] or edge < best.edge[c]


@njit(cache=True)
def _unsettled(comp, candidates, best, waiting, tally):
    for r in range(len(comp)):
        if _may_improve(r, comp, candidates, best):
            waiting[comp[r]] = 1
    tally[RECORDS] += len(comp) // LANES


@njit(cache=True)
def _before_edge(r, edge, n):
    low, high = edge // n, edge % n
    if edge == NONE or r < low:
        return NONE
    return high if r == low else low + (r < high)


@njit(cache=True)
def _search_others(
    tree, common, points, seekers, first, last, step, done, comp, candidates, best, tally
):
    levels = len(tree.start) - 1
    bounds = np.empty((levels, LANES))
    for query in range(first, last):
        tally[RECORDS] += 1
        row = seekers[query * step]
        skipped = done > 0 and query * step % done == 0
        if skipped or not _may_improve(row, comp, candidates, best):
            continue
        target, own = points[row], comp[row]
        limit, name = best.length[own], _before_edge(row, best.edge[own], len(comp))
        found = 0
        level, block = levels - 1, 0
        _enter(tree, target, level, block, bounds, tally)
        _bar(tree, common, own, level, block, bounds)
        while True:
            level, block, box, _ = _nearest_box(tree, bounds, level, block, limit, name, tally)
            if level == levels:
                break
            block = block * LANES + box
            if level > 0:
                level -= 1
                _enter(tree, target, level, block, bounds, tally)
                _bar(tree, common, own, level, block, bounds)
                continue
            tally[LEAVES] += 1
            for lane in range(LANES):
                r, distance = tree.record[block, lane], _distance(tree, block, lane, target)
                nearer = distance < limit or (distance == limit and r < name)
                if r >= 0 and nearer and comp[r] != own:
                    limit, name, found = distance, r, 1
            block //= LANES
        candidates.length[row], candidates.other[row] = limit, name
        candidates.known[row] = found


@njit(cache=True)
def _search_together(
    tree, common, points, leaves, first, last, comp, waiting, candidates, best, tally
):
    levels, d = len(tree.start) - 1, tree.value.shape[1]
    bounds = np.empty((levels, LANES))
    own, name = np.empty(LANES, dtype=np.int64), np.empty(LANES, dtype=np.int64)
    limit, found = np.empty(LANES), np.empty(LANES, dtype=np.int8)
    wanted = np.empty(LANES, dtype=np.bool_)
    for query in range(first, last):
        tally[RECORDS] += 1
        home = leaves[query]
        own[:], limit[:], name[:], found[:] = -1, -1.0, 0, 0
        barred, several = np.int64(-2), False
        for lane in range(LANES):
            row = tree.record[home, lane]
            if row >= 0 and waiting[comp[row]] and _may_improve(row, comp, candidates, best):
                own[lane] = c = comp[row]
                limit[lane], name[lane] = best.length[c], _before_edge(row, best.edge[c], len(comp))
                several |= barred not in (-2, c)
                barred = c
        if barred == -2:
            continue
        barred = np.int64(NONE) if several else barred
        low, high = np.empty(d), np.empty(d)
        for v in range(d):
            low[v] = tree.low[home // LANES, v, home % LANES]
            high[v] = tree.high[home // LANES, v, home % LANES]
        level, block, entered = levels - 1, 0, False
        while True:
            if not entered:
                entered = True
                at = tree.start[level] + block
                tally[BLOCKS] += 1
                for lane in range(LANES):
                    total = 0.0
                    for v in range(d):
                        gap = max(tree.low[at, v, lane] - high[v], low[v] - tree.high[at, v, lane])
                        total += max(gap, 0.0) ** 2
                    bounds[level, lane] = np.inf if common[at, lane] == barred else total
            level, block, box, _ = _nearest_box(
                tree, bounds, level, block, limit.max(), NONE, tally
            )
            if level == levels:
                break
            at = tree.start[level] + block
            tally[BOXES] += 1
            wanted[:] = False
            for lane in range(LANES):
                if own[lane] < 0 or common[at, box] == own[lane]:
                    continue
                total = 0.0
                for v in range(d):
                    x = tree.value[home, v, lane]
                    gap = max(tree.low[at, v, box] - x, x - tree.high[at, v, box], 0.0)
                    total += gap * gap
                equal = total == limit[lane] and tree.lowest[at, box] < name[lane]
                wanted[lane] = total < limit[lane] or equal
            if not wanted.any():
                continue
            block = block * LANES + box
            if level > 0:
                level, entered = level - 1, False
                continue
            tally[TILES] += 1
            for lane in range(LANES):
                if not wanted[lane]:
                    continue
                tally[LEAVES] += 1
                target = points[tree.record[home, lane]]
                for j in range(LANES):
                    distance, r = _distance(tree, block, j, target), tree.record[block, j]
                    equal = distance == limit[lane] and r < name[lane]
                    if (distance < limit[lane] or equal) and comp[r] != own[lane]:
                        limit[lane], name[lane], found[lane] = distance, r, 1
            block //= LANES
        for lane in range(LANES):
            if own[lane] >= 0:
                row = tree.record[home, lane]
                candidates.length[row], candidates.other[row] = limit[lane], name[lane]
                candidates.known[row] = found[lane]


@njit(cache=True)
def _hook(comp, best, waiting, parent, edges, lengths, tally):
    n = len(comp)
    tally[RECORDS] += n // LANES
    for c in range(n):
        parent[c] = comp[c]
        edge = best.edge[c]
        if comp[c] != c or waiting[c] != 0 or edge == NONE:
            continue
        onto = comp[edge // n]
        if onto == c:
            onto = comp[edge % n]
        if c < onto and waiting[onto] == 0 and best.edge[onto] == edge:
            continue
        parent[c], edges[c], lengths[c] = onto, edge, best.length[c]


TWINS: dict[str, Callable[..., None]] = {
    "nearest_rows": _nearest_rows,
    "nearest_points": _nearest_points,
    "advance": _advance,
    "least_lengths": _least_lengths,
    "first_edges": _first_edges,
    "unsettled": _unsettled,
    "search_others": _search_others,
    "search_together": _search_together,
    "hook": _hook,
    **walks.TWINS,
}
# Numbers and indices that a thread to a record reads and writes in such a kernel.
_PER_RECORD = {"advance": (2, 4), "least_lengths": (2, 2), "first_edges": (2, 4)}
_PER_RECORD |= {"unsettled": (2, 4), "hook": (1, 5)}


# Which argument of a kernel is the first of its queries; the next one is the last.
_QUERIES = {"nearest_rows": 2, "nearest_points": 3}


def _sample(name: str, arguments: tuple[Any, ...], every: int, tally: np.ndarray) -> None:
    """Answer a warp's number of queries, leave out so many times as many, and so on."""
    at = _QUERIES[name]
    first, last = arguments[at : at + 2]
    for begin in range(first, last, LANES * every):
        chunk = begin, min(last, begin + LANES)
        TWINS[name](*arguments[:at], *chunk, *arguments[at + 2 :], tally)
    tally *= every


@contextmanager
def counted(work: Work, every: int = 1) -> Iterator[None]:
    """Let the engine's searches and spanning trees run here, and add what they do to the work.

    Of all queries one of `every` is answered, and counts for the others.
    """

    def launch(kernel: Any, blocks: int, *arguments: Any) -> None:
        name = kernel.py_func.__name__
        tally = np.zeros(6, dtype=np.int64)
        if every > 1 and name in _QUERIES:
            _sample(name, arguments, every, tally)
        else:
            TWINS[name](*arguments, tally)
        work.launch(sum(1 for _ in flat(arguments)))
        work.expressions += EXPRESSIONS.get(name, 0)
        if name in _PER_RECORD:
            numbers, indices = (x * len(arguments[0]) for x in _PER_RECORD[name])
            work.values += numbers
            work.words += indices
            work.instructions += 60 * len(arguments[0]) // LANES
        elif name in walks.TWINS:
            walks.add(work, tally)
        else:
            d = arguments[0].value.shape[1]
            (_add_together if name == "search_together" else _add_searches)(work, tally, d)

    def read_number(x: Any) -> int:
        work.waits += 1
        return int(x)

    with ExitStack() as stack:
        for module in (cut, mst, search):
            stack.enter_context(patch.object(module, "launch", launch))
            stack.enter_context(patch.object(module, "read_number", read_number))
        # Launches grow as on a device that is fast.
        stack.enter_context(patch.object(launching.Pace, "SECONDS", math.inf))
        stack.enter_context(patch.object(mst, "prim", _no_prim))
        yield


def _no_prim(*_: Any) -> Any:
    raise NoTree


class NoTree(Exception):
    """The tree excludes too little: Prim's method is used."""


def _add_searches(work: Work, tally: np.ndarray, d: int) -> None:
    leaves, blocks, _, _, queries, _ = map(int, tally)
    work.distances += leaves * LANES
    work.flops += (leaves * 3 + blocks * 4) * LANES * d
    work.values += (leaves + 2 * blocks) * LANES * d + queries * d
    work.words += leaves * LANES + queries * 16
    for what, (each, besides) in INSTRUCTIONS.items():
        work.instructions += int(tally[what]) * (each * d + besides)


def _add_together(work: Work, tally: np.ndarray, d: int) -> None:
    """A leaf comes from memory once for all records that look at it one after the other."""
    leaves, blocks, _, boxes, homes, tiles = map(int, tally)
    work.distances += leaves * LANES
    work.flops += (leaves * 3 + (boxes + blocks) * 4) * LANES * d
    work.values += (tiles + 2 * blocks + homes) * LANES * d + 2 * boxes * d
    work.words += 2 * tiles * LANES + homes * LANES * 16
    for what, (each, besides) in TOGETHER.items():
        work.instructions += int(tally[what]) * (each * d + besides)


def count_build(work: Work, n: int, d: int) -> None:
    """The tree itself: array expressions, about 20 for each halving of runs, with one sort."""
    halvings = max(0, math.ceil(math.log2(max(1, n) / LANES)))
    work.held = max(work.held, n * (d + 2))
    work.expressions += 20 * halvings + 40
    work.values += n * d * (4 * halvings + 8)
    work.words += n * (30 * halvings + 16)  # eight passes of a sort of 8-byte keys with indices
