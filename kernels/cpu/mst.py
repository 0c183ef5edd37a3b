"""The Euclidean minimum spanning tree and the cutting of it.

Boruvka's method. Edges are ordered by squared length, then lower, then higher end; so from one
record the order is that of (squared distance, other record), and a component that knows its
first edge to another component may take it whatever the others know. First every record's few
nearest others are listed. They settle most components; the records of the rest then search the
tree for a nearer record of another component, with the component's best edge as the limit.
The largest component never needs to search.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..generic.arrays import to_numpy
from ..protocol import Progress
from .boxes import Boxes, build
from .compiled import entry, inner
from .disjoint_sets import number_sets, unite
from .kdtree import WIDTH
from .mst_search import Components, Nearest, fill_lists, search
from .threads import on_all_cores

LISTED = 8  # nearest records in a list: hardly dearer to find than one


class Best(NamedTuple):
    """The first edge known of each component to another one."""

    length: np.ndarray  # (components,) squared, infinite if there is none
    low: np.ndarray  # (components,) its lower end
    high: np.ndarray  # (components,) its higher end


def minimum_spanning_tree(
    points: Any, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Boruvka's method on lists of nearest records and a search tree.

    In noise of many variables, where the tree excludes nothing, the lists take a full scan and
    settle nearly all.

    Returns
    -------
    edges : int64 array of shape (n - 1, 2)
        The lower end first, ordered by squared length, lower end, higher end.
    lengths : float64 array of shape (n - 1,)
        Squared lengths.
    """
    points = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    n = len(points)
    if n < 2:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    tree = build(points, np.arange(n))
    shape = n, min(LISTED, n - 1)
    lists = Nearest(np.empty(shape, np.int64), np.empty(shape), np.empty(n, np.bool_))
    alone = Components(np.arange(n), np.full(tree.held.shape, -1), np.empty(0))
    for leaves, done in _chunks(np.arange(len(tree.record))):
        on_all_cores(fill_lists, len(leaves), tree, points, leaves, alone, lists)
        if progress is not None:
            progress(0.5 * done)
    edges, lengths = _boruvka(tree, points, lists, progress)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[order], lengths[order]


def _boruvka(
    tree: Boxes, points: np.ndarray, lists: Nearest, progress: Progress | None
) -> tuple[np.ndarray, np.ndarray]:
    """Unite components by the first edge of each until there is one; the edges and lengths.

    Each record has a candidate, (`length`, `other`): its first edge to another component if
    `known`, else a place in the record's order before which there is none.
    """
    n = count = len(points)
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    comp = np.arange(n)
    at = np.zeros(n, dtype=np.int64)  # the candidate's place in the list
    known, wanted = np.ones(n, dtype=np.bool_), np.empty(n, dtype=np.bool_)
    nearest = Nearest(lists.other[:, :1].copy(), lists.length[:, :1].copy(), known)
    found = 0
    while count > 1:
        _advance(comp, lists, at, nearest)
        best = Best(np.full(count, np.inf), np.full(count, n), np.full(count, n))
        _find_best(comp, nearest, best)
        waiting = _unsettled(comp, nearest, best)
        if 2 * np.count_nonzero(waiting) > count:
            waiting[np.argmax(np.bincount(comp))] = False
            components = Components(comp, _common_component(tree, comp), best.length.copy())
            leaves = _scattered(_leaves_of(tree, comp, waiting, known))
            for part, _ in _chunks(leaves):
                _choose_wanted(tree, part, comp, waiting, nearest, wanted, best)
                on_all_cores(search, len(part), tree, points, part, components, wanted, nearest)
                _collect(tree, part, comp, wanted, nearest, best)
            waiting = _unsettled(comp, nearest, best)
        found, count = _unite(waiting, comp, best, edges, lengths, found)
        if progress is not None:
            progress(0.5 + 0.5 * found / n)
    return edges, lengths


def _chunks(leaves: np.ndarray) -> Iterator[tuple[np.ndarray, float]]:
    """Cut leaves into portions of about 0.2 s; the fraction done when each is."""
    size, start = 16, 0
    while start < len(leaves):
        begun = perf_counter()
        stop = min(start + size, len(leaves))
        yield leaves[start:stop], stop / len(leaves)
        start = stop
        size = max(4, int(size * min(2.0, 0.2 / (perf_counter() - begun))))


def _scattered(leaves: np.ndarray) -> np.ndarray:
    """Leaves in an order that soon visits every region: the limits tighten early."""
    return leaves[np.argsort(np.arange(len(leaves)) * 0.6180339887498949 % 1.0, kind="stable")]


@entry()
def _common_component(tree, comp):
    """The component that all records of a box are in, -1 if there are several."""
    common = np.full(tree.held.shape, -1)
    for leaf in range(len(tree.record)):
        row = tree.record[leaf]
        same = comp[row[0]]
        for record in row:
            if record >= 0 and comp[record] != same:
                same = -1
        common[leaf // WIDTH, leaf % WIDTH] = same
    for level in range(1, len(tree.start) - 1):
        for below in range(tree.start[level - 1], tree.start[level]):
            same = common[below, 0]
            for lane in range(WIDTH):
                if tree.held[below, lane] and common[below, lane] != same:
                    same = -1
            inner = below - tree.start[level - 1]
            common[tree.start[level] + inner // WIDTH, inner % WIDTH] = same
    return common


@inner()
def _comes_first(r, nearest, best, c):
    """Whether the candidate of record r comes before the best edge of component c."""
    x, length = nearest.other[r, 0], nearest.length[r, 0]
    if length != best.length[c]:
        return length < best.length[c]
    low, high = best.low[c], best.high[c]
    return min(r, x) < low or (min(r, x) == low and max(r, x) < high)


@entry()
def _advance(comp, lists, at, nearest):
    """Move candidates that are in the record's own component by now on in the lists."""
    other, length, known = nearest.other, nearest.length, nearest.known
    m = lists.other.shape[1]
    for r in range(len(comp)):
        if not known[r] or comp[other[r, 0]] != comp[r]:
            continue
        known[r] = False
        while at[r] < m and not known[r]:
            other[r, 0], length[r, 0] = lists.other[r, at[r]], lists.length[r, at[r]]
            known[r] = comp[other[r, 0]] != comp[r]
            at[r] += not known[r]


@entry()
def _find_best(comp, nearest, best):
    """Give each component the first edge that its records know."""
    for r in range(len(comp)):
        if nearest.known[r]:
            _improve(r, nearest, best, comp[r])


@inner()
def _improve(r, nearest, best, c):
    """Give component c the candidate of record r if that comes first."""
    if _comes_first(r, nearest, best, c):
        x = nearest.other[r, 0]
        best.length[c], best.low[c], best.high[c] = nearest.length[r, 0], min(r, x), max(r, x)


@entry()
def _unsettled(comp, nearest, best):
    """Which components may have an edge that comes before the best one known."""
    waiting = np.zeros(len(best.low), dtype=np.bool_)
    for r in range(len(comp)):
        if not nearest.known[r] and _comes_first(r, nearest, best, comp[r]):
            waiting[comp[r]] = True
    return waiting


@entry()
def _leaves_of(tree, comp, waiting, known):
    """The leaves with records that may have to search."""
    some = np.zeros(len(tree.record), dtype=np.bool_)
    for leaf in range(len(some)):
        for r in tree.record[leaf]:
            some[leaf] |= r >= 0 and waiting[comp[r]] and not known[r]
    return np.flatnonzero(some)


@entry()
def _choose_wanted(tree, leaves, comp, waiting, nearest, wanted, best):
    """Choose the records that must search."""
    for leaf in leaves:
        for r in tree.record[leaf]:
            if r >= 0:
                c, known = comp[r], nearest.known[r]
                wanted[r] = waiting[c] and not known and _comes_first(r, nearest, best, c)


@entry()
def _collect(tree, leaves, comp, wanted, nearest, best):
    """Give components the edges that their records have found."""
    for leaf in leaves:
        for r in tree.record[leaf]:
            if r >= 0 and wanted[r] and nearest.known[r]:
                _improve(r, nearest, best, comp[r])


@entry()
def _unite(waiting, comp, best, edges, lengths, found):
    """Unite each settled component with the one its first edge leads to, and renumber."""
    sets = np.arange(len(best.low))
    for c in range(len(sets)):
        if not waiting[c] and unite(sets, comp[best.low[c]], comp[best.high[c]]):
            edges[found, 0], edges[found, 1] = best.low[c], best.high[c]
            lengths[found] = best.length[c]
            found += 1
    number, count = number_sets(sets)
    for r in range(len(comp)):
        comp[r] = number[comp[r]]
    return found, count


def cut_edges(edges: np.ndarray, lengths: np.ndarray, n: int, k: int) -> np.ndarray:
    """Delete removable edges from the longest on, and label the trees that remain.

    As `generic.cut_edges`, in O(n log n): a Fenwick tree over the nodes in preorder counts what
    is still connected below a node, and each cut renames the smaller of the two parts.
    """
    longest_first = _longest_first(edges, lengths, n)
    return _cut(np.ascontiguousarray(edges[longest_first], dtype=np.int64), n, k)


def _longest_first(edges: np.ndarray, lengths: np.ndarray, n: int) -> np.ndarray:
    """The order in which edges are looked at; soon found if they come as the engines return them.

    Then a sort that keeps the order of equal lengths has only to turn it round.
    """
    codes = edges[:, 0] * n + edges[:, 1]
    longer, as_long = lengths[1:] > lengths[:-1], lengths[1:] == lengths[:-1]
    if (longer | (as_long & (codes[1:] > codes[:-1]))).all():
        return np.argsort(-lengths, kind="stable")
    return np.lexsort((edges[:, 1], edges[:, 0], -lengths))


@entry()
def _cut(edges, n, k):
    start, neighbours = _adjacency(edges, n)
    parent, place, end = _preorder(start, neighbours)
    below = np.empty(n + 1, dtype=np.int64)  # Fenwick tree: a one for each node
    for i in range(n + 1):
        below[i] = i & -i
    part = np.zeros(n, dtype=np.int64)  # of each node
    top, size = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)  # of each part
    size[0], parts = n, 1
    queue = np.empty(n, dtype=np.int64)
    for e in range(len(edges)):
        node = edges[e, 0] if parent[edges[e, 0]] == edges[e, 1] else edges[e, 1]
        old = part[node]
        count = _sum_before(below, end[node]) - _sum_before(below, place[node])
        if count < k or size[old] - count < k:
            continue
        above = parent[node]
        _add(below, place[above], -count)  # for the nodes from here up to the part's top,
        if parent[top[old]] >= 0:
            _add(below, place[parent[top[old]]], count)  # but not beyond
        top[parts], size[parts] = node, count
        first, barred = node, above
        if 2 * count > size[old]:  # the upper part is the smaller one and takes the new number
            top[parts], top[old] = top[old], node
            size[parts] = size[old] - count
            first, barred = above, node
        size[old] -= size[parts]
        _rename(start, neighbours, part, first, barred, parts, queue)
        parts += 1
    lowest = np.empty(parts, dtype=np.int64)
    for node in range(n - 1, -1, -1):
        lowest[part[node]] = node
    return lowest[part]


@inner()
def _rename(start, neighbours, part, first, barred, new, queue):
    """Give a new number to the nodes of a part that are on the first node's side of an edge."""
    old = part[first]
    part[first] = new
    queue[0], length, i = first, 1, 0
    while i < length:
        node = queue[i]
        i += 1
        for e in range(start[node], start[node + 1]):
            other = neighbours[e]
            if part[other] == old and not (node == first and other == barred):
                part[other] = new
                queue[length] = other
                length += 1


@inner(allocates=True)
def _adjacency(edges, n):
    """The neighbours of node i are neighbours[start[i]:start[i + 1]]."""
    start = np.zeros(n + 2, dtype=np.int64)
    for node in edges.flat:
        start[node + 2] += 1
    start = np.cumsum(start)
    neighbours = np.empty(2 * len(edges), dtype=np.int64)
    for a, b in edges:
        neighbours[start[a + 1]], neighbours[start[b + 1]] = b, a
        start[a + 1] += 1
        start[b + 1] += 1
    return start[:-1], neighbours


@inner(allocates=True)
def _preorder(start, neighbours):
    """Parent of each node (-1 at the root, node 0), and the range of its subtree in preorder."""
    n = len(start) - 1
    parent = np.full(n, -1)
    place, end = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    order, stack = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    stack[0], height, visited = 0, 1, 0
    while height:
        height -= 1
        node = stack[height]
        order[visited], place[node] = node, visited
        visited += 1
        end[node] = visited
        for e in range(start[node], start[node + 1]):
            if neighbours[e] != parent[node]:
                parent[neighbours[e]] = node
                stack[height] = neighbours[e]
                height += 1
    for node in order[:0:-1]:
        end[parent[node]] = max(end[parent[node]], end[node])
    return parent, place, end


@inner()
def _add(sums, place, value):
    i = place + 1
    while i < len(sums):
        sums[i] += value
        i += i & -i


@inner()
def _sum_before(sums, place):
    total = 0
    while place > 0:
        total += sums[place]
        place -= place & -place
    return total
