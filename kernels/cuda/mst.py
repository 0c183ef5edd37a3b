"""The Euclidean minimum spanning tree on the device: Boruvka's method over a search tree.

As `cpu.mst` has it. Edges are ordered by squared length, then lower, then higher end; so from one
record the order is that of (squared distance, other record), and a component that knows its first
edge to another component may take it whatever the others know. First every record's few nearest
others are listed. They settle most components; the records of the rest then search the tree for a
nearer record of another component, with the component's best edge as the limit. The largest
component never needs to search.

The host decides after each round whether to search or to unite, and when to end; all else is on the
device, and the tree stays there to be cut. Per round some ten launches, and as many numbers read.
"""

import math
from typing import Any

from ..arrays import array_namespace
from ..protocol import Progress
from .boxes import NONE, Boxes, build
from .launching import Pace, check_room, launch, read_number
from .mst_kernels import (
    Best,
    Candidates,
    advance,
    first_edges,
    hook,
    least_lengths,
    search_others,
    search_together,
    unsettled,
)
from .prim import in_order, prim
from .search import blocks_for, fill_rows, portions, search_pace, tree_bytes
from .team import THREADS
from .warp import LANES

LISTED = 8  # nearest records in a list: hardly dearer to find than one
SAMPLE = 512  # records that show whether the tree helps
# Of those that search, every so many first: their components' limits are then near for the rest,
# which search together, leaf by leaf.
STAGES = (64, 8)
TOGETHER = 8  # searches by single records that are as much work as one of a leaf, about


def minimum_spanning_tree(points: Any, progress: Progress | None = None) -> tuple[Any, Any]:
    """Boruvka's method on lists of nearest records and a search tree, or Prim's.

    Prim's if the first searches have to look at more than 0.4 of all records, as in noise of
    many variables.
    """
    xp = array_namespace(points)
    n, d = points.shape
    if n < 2:
        return xp.empty((0, 2), dtype=xp.int64), xp.empty((0,), dtype=xp.float64)
    item = points.dtype.itemsize
    check_room(points, tree_bytes(n, d, item) + n * (LISTED * (item + 8) + 12 * 8))
    points = xp.ascontiguousarray(points)
    tree = build(points)
    lengths = xp.empty((n, min(LISTED, n - 1)), dtype=points.dtype)
    others = xp.empty(lengths.shape, dtype=xp.int64)
    if n > 4 * SAMPLE:
        looked = fill_rows(tree, points, 0, SAMPLE, lengths, others)
        if looked * LANES > 0.4 * SAMPLE * n:
            return prim(points, progress)
    pace = search_pace(n)
    for first, last in portions(n, pace):
        fill_rows(tree, points, first, last, lengths, others)
        if progress is not None:
            progress(0.5 * last / n)
    found = _boruvka(tree, points, lengths, others, pace, progress)
    return prim(points, progress) if found is None else found


def _boruvka(
    tree: Boxes, points: Any, lengths: Any, others: Any, pace: Pace, progress: Progress | None
) -> tuple[Any, Any] | None:
    """Unite components by the first edge of each until there is one; None if that is impossible.

    It is where squared distances are too large for numbers.
    """
    xp = array_namespace(points)
    n = points.shape[0]
    blocks = -(-n // THREADS)
    comp = xp.arange(n, dtype=xp.int64)
    every = xp.arange(n, dtype=xp.int64)
    candidates = Candidates(
        xp.ascontiguousarray(lengths[:, 0]),
        xp.ascontiguousarray(others[:, 0]),
        xp.ones((n,), dtype=xp.int8),
        xp.zeros((n,), dtype=xp.int64),
    )
    edges = xp.full((n,), NONE, dtype=xp.int64)
    edge_lengths = xp.full((n,), math.inf, dtype=points.dtype)
    count = n
    while count > 1:
        launch(advance, blocks, comp, lengths, others, candidates)
        best = _best_edges(comp, candidates)
        waiting = _unsettled(comp, candidates, best)
        if 2 * read_number(xp.count_nonzero(waiting)) > count:
            waiting[xp.argmax(xp.bincount(comp, minlength=n))] = 0
            best = _search(tree, points, comp, waiting, candidates, best, pace)
            waiting = _unsettled(comp, candidates, best)
        parent = xp.empty_like(comp)
        launch(hook, blocks, comp, best, waiting, parent, edges, edge_lengths)
        comp = roots(parent)
        left = read_number(xp.count_nonzero(comp == every))
        if left == count:
            return None
        count = left
        if progress is not None:
            progress(0.5 + 0.5 * (1 - count / n))
    of_tree = xp.nonzero(edges != NONE)[0]
    return in_order(edges[of_tree], edge_lengths[of_tree], n)


def _best_edges(comp: Any, candidates: Candidates) -> Best:
    """The first edge that the records of each component know."""
    xp = array_namespace(comp)
    n = comp.shape[0]
    blocks = -(-n // THREADS)
    best = Best(
        xp.full((n,), math.inf, dtype=candidates.length.dtype),
        xp.full((n,), NONE, dtype=xp.int64),
    )
    launch(least_lengths, blocks, comp, candidates, best)
    launch(first_edges, blocks, comp, candidates, best)
    return best


def _unsettled(comp: Any, candidates: Candidates, best: Best) -> Any:
    """Which components may have an edge that comes before the best one known."""
    xp = array_namespace(comp)
    waiting = xp.zeros(comp.shape, dtype=xp.int32)
    launch(unsettled, -(-comp.shape[0] // THREADS), comp, candidates, best, waiting)
    return waiting


def _search(
    tree: Boxes,
    points: Any,
    comp: Any,
    waiting: Any,
    candidates: Candidates,
    best: Best,
    pace: Pace,
) -> Best:
    """Let the records of waiting components search the tree; the best edges then."""
    xp = array_namespace(points)
    searches = (waiting[comp] != 0) & (candidates.known == 0)
    in_leaves = searches[tree.record] & (tree.record >= 0)
    seekers = tree.record[in_leaves]
    common = _common_components(tree, comp)
    done = 0
    for step in STAGES:
        for first, last in portions(-(-seekers.shape[0] // step), pace):
            launch(
                search_others, blocks_for(last - first),
                tree, common, points, seekers, first, last, step, done, comp, candidates, best,
            )  # fmt: skip
            read_number(waiting[0])
        best = _best_edges(comp, candidates)
        done = step
    leaves = xp.nonzero(xp.any(in_leaves, axis=1))[0]
    for first, last in portions(leaves.shape[0], pace, TOGETHER):
        launch(
            search_together, blocks_for(last - first),
            tree, common, points, leaves, first, last, comp, waiting, candidates, best,
        )  # fmt: skip
        read_number(waiting[0])
    return _best_edges(comp, candidates)


def _common_components(tree: Boxes, comp: Any) -> Any:
    """The component that all records of each box are in, -1 if there are several or none."""
    xp = array_namespace(comp)
    inside = xp.where(tree.record >= 0, comp[tree.record], -2)  # -2: nobody
    levels = []
    while True:
        first = inside[:, :1]
        same = xp.all((inside == first) | (inside == -2), axis=1)
        of_each = xp.where(same, first[:, 0], -1)
        filling = xp.full((-of_each.shape[0] % LANES,), -2, dtype=xp.int64)
        inside = xp.concatenate([of_each, filling]).reshape(-1, LANES)
        levels.append(inside)
        if inside.shape[0] == 1:
            return xp.concatenate(levels, axis=0)


def roots(parent: Any) -> Any:
    """What each component hangs onto in the end: every step doubles the ways."""
    xp = array_namespace(parent)
    while True:
        above = parent[parent]
        if read_number(xp.count_nonzero(above != parent)) == 0:
            return parent
        parent = above
