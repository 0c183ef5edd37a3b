"""The Euclidean minimum spanning tree on the device: Boruvka's method over a search tree.

As `cpu.mst` has it. Edges are ordered by squared length, then lower, then higher end; so from one
record the order is that of (squared distance, other record), and a component that knows its first
edge to another component may take it whatever the others know. First every record's few nearest
others are listed. They settle most components; the records of the rest then search the tree for a
nearer record of another component, with the component's best edge as the limit. The largest
component never needs to search.

The host decides after each round whether to search or to unite, and when to end; all else is on the
device, and the tree stays there to be cut. A round takes seven launches and three numbers read, and
some ten launches more if components search.
"""

import math
from typing import Any

from ..arrays import array_namespace
from ..protocol import Progress
from .boxes import NONE, build
from .launching import Pace, check_room, launch, read_number
from .mst_kernels import (
    HUNG,
    WAITING,
    Best,
    Candidates,
    advance,
    begin_round,
    climb,
    find_common,
    find_components,
    first_edges,
    hook,
    least_lengths,
    search_together,
    unsettled,
)
from .prim import in_order, prim
from .search import blocks_for, fill_rows, groups_in, portions, search_pace, tree_bytes
from .single import Flat, flattened
from .team import THREADS
from .warp import LANES

LISTED = 8  # nearest records in a list: hardly dearer to find than one
SAMPLE = 64  # groups of neighbouring records that show whether the tree helps
# Of the groups that search, every so many first: the limits of their components are then near for
# the rest.
STAGES = (8, 1)


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
    tree = flattened(build(points))
    lengths = xp.empty((n, min(LISTED, n - 1)), dtype=points.dtype)
    others = xp.empty(lengths.shape, dtype=xp.int64)
    groups = groups_in(tree)
    if groups > 4 * SAMPLE:
        looked = fill_rows(tree, 0, SAMPLE, lengths, others)
        if looked * LANES > 0.4 * SAMPLE * n:
            return prim(points, progress)
    pace = search_pace(groups)
    for first, last in portions(groups, pace):
        fill_rows(tree, first, last, lengths, others)
        if progress is not None:
            progress(0.5 * last / groups)
    found = _boruvka(tree, lengths, others, pace, progress)
    return prim(points, progress) if found is None else found


def _boruvka(
    tree: Flat, lengths: Any, others: Any, pace: Pace, progress: Progress | None
) -> tuple[Any, Any] | None:
    """Unite components by the first edge of each until there is one; None if that is impossible.

    It is where squared distances are too large for numbers.
    """
    xp = array_namespace(lengths)
    n = lengths.shape[0]
    blocks = -(-n // THREADS)
    comp = xp.arange(n, dtype=xp.int64)
    candidates = Candidates(
        xp.ascontiguousarray(lengths[:, 0]),
        xp.ascontiguousarray(others[:, 0]),
        xp.ones((n,), dtype=xp.int8),
        xp.zeros((n,), dtype=xp.int64),
    )
    best = Best(xp.empty((n,), dtype=lengths.dtype), xp.empty((n,), dtype=xp.int64))
    waiting = xp.empty((n,), dtype=xp.int32)
    counts = xp.empty((2,), dtype=xp.int64)
    edges = xp.full((n,), NONE, dtype=xp.int64)
    edge_lengths = xp.full((n,), math.inf, dtype=lengths.dtype)
    count = n
    while count > 1:
        launch(advance, blocks, comp, lengths, others, candidates)
        _find_best(comp, candidates, best, waiting, counts, True)
        launch(unsettled, blocks, comp, candidates, best, waiting, counts)
        if 2 * read_number(counts[WAITING]) > count:
            waiting[xp.argmax(xp.bincount(comp, minlength=n))] = 0
            _search(tree, comp, waiting, candidates, best, counts, pace)
            launch(unsettled, blocks, comp, candidates, best, waiting, counts)
        parent = xp.empty_like(comp)
        launch(hook, blocks, comp, best, waiting, parent, edges, edge_lengths, counts)
        hung = read_number(counts[HUNG])
        if hung == 0:
            return None
        comp = roots(parent)
        count -= hung
        if progress is not None:
            progress(0.5 + 0.5 * (1 - count / n))
    of_tree = xp.nonzero(edges != NONE)[0]
    return in_order(edges[of_tree], edge_lengths[of_tree], n)


def _find_best(
    comp: Any, candidates: Candidates, best: Best, waiting: Any, counts: Any, clear: bool
) -> None:
    """Find the first edge that the records of each component know; forget which wait, if asked."""
    blocks = -(-comp.shape[0] // THREADS)
    launch(begin_round, blocks, best, waiting, counts, int(clear))
    launch(least_lengths, blocks, comp, candidates, best)
    launch(first_edges, blocks, comp, candidates, best)


def _search(
    tree: Flat,
    comp: Any,
    waiting: Any,
    candidates: Candidates,
    best: Best,
    counts: Any,
    pace: Pace,
) -> None:
    """Let the records of waiting components search the tree; find the best edges then."""
    xp = array_namespace(comp)
    inside, common = xp.empty_like(tree.record), xp.empty_like(tree.lowest)
    seeks = xp.empty((groups_in(tree),), dtype=xp.int8)
    leaves = blocks_for(tree.margin.shape[0])
    launch(find_components, leaves, tree, comp, waiting, candidates, inside, common, seeks)
    for level in range(1, tree.start.shape[0] - 1):
        launch(find_common, -(-leaves // LANES**level), tree, common, level)
    groups = xp.nonzero(seeks)[0]
    done = 0
    for step in STAGES:
        for first, last in portions(-(-groups.shape[0] // step), pace):
            launch(
                search_together, blocks_for(last - first),
                tree, common, inside, groups, first, last, step, done,
                comp, waiting, candidates, best,
            )  # fmt: skip
            read_number(waiting[0])
        _find_best(comp, candidates, best, waiting, counts, step == STAGES[-1])
        done = step


def roots(parent: Any) -> Any:
    """What each component hangs onto in the end."""
    xp = array_namespace(parent)
    while True:
        above = xp.empty_like(parent)
        unfinished = xp.zeros((1,), dtype=xp.int64)
        launch(climb, -(-parent.shape[0] // THREADS), parent, above, unfinished)
        if read_number(unfinished[0]) == 0:
            return above
        parent = above
