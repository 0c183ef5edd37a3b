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

from microagg_gpu.kernels.cuda import boxes, cut, launching, mst, search, single
from microagg_gpu.kernels.cuda.boxes import NONE
from microagg_gpu.kernels.cuda.launching import flat
from microagg_gpu.kernels.cuda.mst_kernels import HOPS
from microagg_gpu.kernels.cuda.team import THREADS

from . import together, walks
from .together import may_improve
from .work import Work

LEAVES, BLOCKS, STEPS, INSERTED, RECORDS = range(5)
LANES = 32
# PTX instructions of a warp: for each variable, and besides. A test compares the sum with those
# that ptxrun executes.
INSTRUCTIONS = {
    **{LEAVES: (6, 80), BLOCKS: (12, 90), STEPS: (0, 90)},
    **{INSERTED: (0, 60), RECORDS: (0, 60)},
}
# Array expressions beside a kernel: those of searches, of a round, and of the cutting.
EXPRESSIONS = {"nearest_rows": 1, "find_components": 6, "climb": 1, "decide": 5, "unite": 22}


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
def _span_runs(points, order, length, low, high):
    for i in range(len(order)):
        for v in range(points.shape[1]):
            x = points[order[i], v]
            low[i // length, v] = min(low[i // length, v], x)
            high[i // length, v] = max(high[i // length, v], x)


@njit(cache=True)
def _sort_keys(points, order, length, low, high, key):
    for i in range(len(order)):
        run, width, widest = i // length, 0.0, 0
        for v in range(points.shape[1]):
            spread = 0.5 * high[run, v] - 0.5 * low[run, v]
            if spread > width:
                width, widest = spread, v
        within = 0.0
        if width > 0:
            within = (0.5 * points[order[i], widest] - 0.5 * low[run, widest]) / width
        key[i] = run * 2**40 + int(min(within, 1.0) * 2.0**39)


@contextmanager
def building() -> Iterator[None]:
    """Let trees be built here; `count_build` counts it."""
    twins = {"span_runs": _span_runs, "sort_keys": _sort_keys}

    def launch(kernel: Any, blocks: int, *arguments: Any) -> None:
        twins[kernel.py_func.__name__](*arguments)

    with patch.object(boxes, "launch", launch):
        yield


@njit(cache=True)
def _begin_round(best, waiting, counts, clear, tally):
    best.length[:], best.edge[:], counts[:] = np.inf, NONE, 0
    if clear:
        waiting[:] = 0


@njit(cache=True)
def _unsettled(comp, candidates, best, waiting, counts, tally):
    for r in range(len(comp)):
        if may_improve(r, comp, candidates, best):
            counts[0] += waiting[comp[r]] == 0
            waiting[comp[r]] = 1
    tally[RECORDS] += len(comp) // LANES


@njit(cache=True)
def _hook(comp, best, waiting, parent, edges, lengths, counts, tally):
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
        counts[1] += 1


@njit(cache=True)
def _climb(parent, above, unfinished, tally):
    for r in range(len(parent)):
        p, hops = parent[r], 0
        while hops < HOPS and parent[p] != p:
            p, hops = parent[p], hops + 1
        above[r] = p
        unfinished[0] += parent[p] != p


@njit(cache=True)
def _find_components(tree, comp, waiting, candidates, inside, common, seeks, tally):
    seeks[:] = 0
    for i in range(len(inside)):
        leaf, r = i // LANES, tree.record[i]
        inside[i] = comp[r] if r >= 0 else -2
        if i % LANES == 0:
            common[leaf] = inside[i]
        if r >= 0:
            if inside[i] != inside[leaf * LANES]:
                common[leaf] = -1
            if waiting[comp[r]] and candidates.known[r] == 0:
                seeks[i // together.SEEKERS] = 1


@njit(cache=True)
def _find_common(tree, common, level, tally):
    for below in range(tree.start[level - 1], tree.start[level]):
        box = tree.start[level] * LANES + below - tree.start[level - 1]
        common[box] = common[below * LANES]
        for i in range(below * LANES, (below + 1) * LANES):
            if tree.lowest[i] < NONE and common[i] != common[box]:
                common[box] = -1


TWINS: dict[str, Callable[..., None]] = {
    "nearest_points": _nearest_points,
    "advance": _advance,
    "least_lengths": _least_lengths,
    "first_edges": _first_edges,
    "unsettled": _unsettled,
    "begin_round": _begin_round,
    "climb": _climb,
    "find_components": _find_components,
    "find_common": _find_common,
    "hook": _hook,
    "fill_single": lambda tree, tally: None,
    **together.TWINS,
    **walks.TWINS,
}
# Numbers and indices that a thread to a record reads and writes in such a kernel.
_PER_RECORD = {"advance": (2, 4), "least_lengths": (2, 2), "first_edges": (2, 4)}
_PER_RECORD |= {"unsettled": (2, 4), "hook": (1, 5), "climb": (0, 3), "begin_round": (1, 2)}
_PER_RECORD |= {"find_components": (0, 5), "find_common": (0, 0)}


# Which argument of a kernel is the first of its queries, the next one is the last; and how many
# of them lie in a leaf.
_QUERIES = {"nearest_rows": (1, together.PARTS), "nearest_points": (3, LANES)}


def _sample(name: str, arguments: tuple[Any, ...], every: int, tally: np.ndarray) -> None:
    """Answer the queries of a leaf, leave out those of so many, and so on."""
    at, leaf = _QUERIES[name]
    first, last = arguments[at : at + 2]
    for begin in range(first, last, leaf * every):
        chunk = begin, min(last, begin + leaf)
        TWINS[name](*arguments[:at], *chunk, *arguments[at + 2 :], tally)
    tally[: together.LONGEST] *= every


@contextmanager
def counted(work: Work, every: int = 1) -> Iterator[None]:
    """Let the engine's searches and spanning trees run here, and add what they do to the work.

    Of all queries one of `every` is answered, and counts for the others.
    """

    def launch(kernel: Any, blocks: int, *arguments: Any) -> None:
        name = kernel.py_func.__name__
        tally = np.zeros(together.TALLIES, dtype=np.int64)
        if every > 1 and name in _QUERIES:
            _sample(name, arguments, every, tally)
        else:
            TWINS[name](*arguments, tally)
        work.launch(sum(1 for _ in flat(arguments)))
        work.expressions += EXPRESSIONS.get(name, 0)
        if name in _PER_RECORD:
            records = next(x for x in flat(arguments) if np.ndim(x)).shape[0]
            if name in ("find_components", "find_common"):  # blocks of WARPS boxes
                records = blocks * THREADS
            numbers, indices = (x * records for x in _PER_RECORD[name])
            work.values += numbers
            work.words += indices
            work.instructions += 60 * records // LANES
        elif name in walks.TWINS:
            walks.add(work, tally)
        elif name in together.TWINS:
            m = arguments[3].shape[1] if name == "nearest_rows" else 0
            together.add(work, tally, arguments[0].variables, m)
        elif name == "fill_single":
            work.values += arguments[0].value.size
            work.words += arguments[0].value.size // 2
        else:
            _add_searches(work, tally, arguments[0].value.shape[1])

    def read_number(x: Any) -> int:
        work.waits += 1
        return int(x)

    with ExitStack() as stack:
        stack.enter_context(building())
        for module in (cut, mst, search, single):
            stack.enter_context(patch.object(module, "launch", launch))
            stack.enter_context(patch.object(module, "read_number", read_number, create=True))
        # Launches grow as on a device that is fast.
        stack.enter_context(patch.object(launching.Pace, "SECONDS", math.inf))
        stack.enter_context(patch.object(mst, "prim", _no_prim))
        yield


def _no_prim(*_: Any) -> Any:
    raise NoTree


class NoTree(Exception):
    """The tree excludes too little: Prim's method is used."""


def _add_searches(work: Work, tally: np.ndarray, d: int) -> None:
    leaves, blocks, _, _, queries = map(int, tally[:5])
    work.distances += leaves * LANES
    work.flops += (leaves * 3 + blocks * 4) * LANES * d
    work.values += (leaves + 2 * blocks) * LANES * d + queries * d
    work.words += leaves * LANES + queries * 16
    for what, (each, besides) in INSTRUCTIONS.items():
        work.instructions += int(tally[what]) * (each * d + besides)


def count_build(work: Work, n: int, d: int) -> None:
    """The tree itself: two kernels and four array expressions for each halving, one of them a sort.

    Besides 60 expressions, with the arrays that searches or the rounds of a spanning tree begin
    with and end in.
    """
    halvings = max(0, math.ceil(math.log2(max(1, n) / LANES)))
    work.held = max(work.held, n * (d + 2))
    work.expressions += 4 * halvings + 60
    work.launch(5, halvings)
    work.launch(6, halvings)
    work.waits += 1
    work.values += n * d * (4 * halvings + 8)
    work.words += n * (30 * halvings + 16)  # eight passes of a sort of 8-byte keys with indices
