"""The Euclidean minimum spanning tree and the cutting of it.

Boruvka's method. Edges are ordered by squared length, then lower, then higher end; so from one
record the order is that of (squared distance, other record), and a component that knows its
first edge to another component may take it whatever the others know. First every record's few
nearest others are listed. They settle most components; the records of the rest then search the
tree for a nearer record of another component, with the component's best edge as the limit.
The largest component never needs to search. Searches go leaf by leaf: all records of a leaf
walk the tree together, which costs no more than a full scan where boxes exclude nothing.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from ..protocol import Progress
from .compiled import entry, inner
from .kdtree import WIDTH, Tree, build
from .mst_search import LANES, limit_of, search
from .prim import prim

LISTED = 8  # nearest records in a list: hardly dearer to find than one
SAMPLE = 16  # leaves that show whether the tree helps


def minimum_spanning_tree(
    points: Any, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Boruvka's method on lists of nearest records and a search tree, or Prim's.

    Prim's if the first searches have to look at more than 0.4 of all records, as in noise of
    many variables.

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
    tree = build(points)
    listed = np.full((n, min(LISTED, n - 1)), n)
    list_lengths = np.full(listed.shape, np.inf)
    sample = _scattered(np.arange(len(tree.node)))[:SAMPLE]
    visits = _fill_lists(tree, points, sample, listed, list_lengths)
    if len(tree.node) > 4 * SAMPLE and visits * LANES > 0.4 * SAMPLE * WIDTH * n:
        edges, lengths = prim(points, tree, progress)
    else:
        others = np.setdiff1d(np.arange(len(tree.node)), sample)
        for leaves, done in _chunks(others):
            _fill_lists(tree, points, leaves, listed, list_lengths)
            if progress is not None:
                progress(0.5 * done)
        edges, lengths = _boruvka(tree, points, listed, list_lengths, progress)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[order], lengths[order]


def _fill_lists(
    tree: Tree,
    points: np.ndarray,
    leaves: np.ndarray,
    listed: np.ndarray,
    list_lengths: np.ndarray,
) -> int:
    """List the nearest others of the records of some leaves; see `search` for what it returns."""
    comp = np.arange(len(points))
    wanted, known = np.ones(len(points), dtype=np.bool_), np.empty(len(points), dtype=np.bool_)
    common = np.full(len(tree.right), -1)
    return search(tree, points, leaves, comp, common, wanted, listed, list_lengths, known)


def _boruvka(
    tree: Tree,
    points: np.ndarray,
    listed: np.ndarray,
    list_lengths: np.ndarray,
    progress: Progress | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Unite components by the first edge of each until there is one; the edges and lengths.

    Each record has a candidate, (`length`, `other`): its first edge to another component if
    `known`, else a place in the record's order before which there is none.
    """
    n = count = len(points)
    edges, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    comp = np.arange(n)
    at = np.zeros(n, dtype=np.int64)  # the candidate's place in the list
    other, length = listed[:, :1].copy(), list_lengths[:, :1].copy()
    known, wanted = np.ones(n, dtype=np.bool_), np.empty(n, dtype=np.bool_)
    found = 0
    while count > 1:
        _advance(comp, listed, list_lengths, at, other, length, known)
        best = _best_edges(comp, count, other, length, known)
        waiting = _unsettled(comp, other, length, known, *best)
        if 2 * np.count_nonzero(waiting) > count:
            waiting[np.argmax(np.bincount(comp))] = False
            common = _common_component(tree, comp)
            leaves = _scattered(_leaves_of(tree, comp, waiting, known))
            for part, _ in _chunks(leaves):
                _aim(tree, part, comp, waiting, other, length, known, wanted, *best)
                search(tree, points, part, comp, common, wanted, other, length, known)
                _collect(tree, part, comp, wanted, other, length, known, *best)
            waiting = _unsettled(comp, other, length, known, *best)
        found, count = _unite(waiting, comp, edges, lengths, found, *best)
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
    """The component that all records of a node are in, -1 if there are several."""
    common = np.empty(len(tree.right), dtype=np.int64)
    for node in range(len(common) - 1, -1, -1):
        if tree.right[node]:
            left = common[node + 1]
            common[node] = left if left == common[tree.right[node]] else -1
        else:
            row = tree.record[tree.leaf[node]]
            common[node] = comp[row[0]]
            for record in row:
                if record >= 0 and comp[record] != common[node]:
                    common[node] = -1
    return common


@inner()
def _before(length, a, b, best_length, low, high):
    """Whether edge (a, b) comes before (low, high)."""
    if length != best_length:
        return length < best_length
    return min(a, b) < low or (min(a, b) == low and max(a, b) < high)


@entry()
def _advance(comp, listed, list_lengths, at, other, length, known):
    """Move candidates that are in the record's own component by now on in the lists."""
    m = listed.shape[1]
    for r in range(len(comp)):
        if not known[r] or comp[other[r, 0]] != comp[r]:
            continue
        known[r] = False
        while at[r] < m and not known[r]:
            other[r, 0], length[r, 0] = listed[r, at[r]], list_lengths[r, at[r]]
            known[r] = comp[other[r, 0]] != comp[r]
            at[r] += not known[r]


@entry()
def _best_edges(comp, count, other, length, known):
    """Length, lower and higher end of each component's first edge known."""
    n = len(comp)
    best_length = np.full(count, np.inf)
    low, high = np.full(count, n), np.full(count, n)
    for r in range(n):
        if known[r]:
            _improve(comp[r], r, other, length, best_length, low, high)
    return best_length, low, high


@inner()
def _improve(c, r, other, length, best_length, low, high):
    """Give component c the candidate of record r if that comes first."""
    x = other[r, 0]
    if _before(length[r, 0], r, x, best_length[c], low[c], high[c]):
        best_length[c], low[c], high[c] = length[r, 0], min(r, x), max(r, x)


@entry()
def _unsettled(comp, other, length, known, best_length, low, high):
    """Which components may have an edge that comes before the best one known."""
    waiting = np.zeros(len(low), dtype=np.bool_)
    for r in range(len(comp)):
        c = comp[r]
        if not known[r] and _before(length[r, 0], r, other[r, 0], best_length[c], low[c], high[c]):
            waiting[c] = True
    return waiting


@entry()
def _leaves_of(tree, comp, waiting, known):
    """The leaves with records that may have to search."""
    some = np.zeros(len(tree.node), dtype=np.bool_)
    for leaf in range(len(some)):
        for r in tree.record[leaf]:
            some[leaf] |= r >= 0 and waiting[comp[r]] and not known[r]
    return np.flatnonzero(some)


@entry()
def _aim(tree, leaves, comp, waiting, other, length, known, wanted, best_length, low, high):
    """Choose the records that must search and set their limits."""
    for leaf in leaves:
        for r in tree.record[leaf]:
            if r < 0:
                continue
            c = comp[r]
            wanted[r] = (
                waiting[c]
                and not known[r]
                and _before(length[r, 0], r, other[r, 0], best_length[c], low[c], high[c])
            )
            if wanted[r]:
                length[r, 0], other[r, 0] = limit_of(r, best_length[c], low[c], high[c])


@entry()
def _collect(tree, leaves, comp, wanted, other, length, known, best_length, low, high):
    """Give components the edges that their records have found."""
    for leaf in leaves:
        for r in tree.record[leaf]:
            if r >= 0 and wanted[r] and known[r]:
                _improve(comp[r], r, other, length, best_length, low, high)


@entry()
def _unite(waiting, comp, edges, lengths, found, best_length, low, high):
    """Unite each settled component with the one its first edge leads to, and renumber."""
    count = len(low)
    root = np.arange(count)
    for c in range(count):
        if waiting[c]:
            continue
        a, b = _root(root, comp[low[c]]), _root(root, comp[high[c]])
        if a != b:
            root[max(a, b)] = min(a, b)
            edges[found, 0], edges[found, 1] = low[c], high[c]
            lengths[found] = best_length[c]
            found += 1
    number = np.empty(count, dtype=np.int64)
    left = 0
    for c in range(count):  # a root is the lowest of its set
        if root[c] == c:
            number[c] = left
            left += 1
        else:
            number[c] = number[root[c]]
    for r in range(len(comp)):
        comp[r] = number[comp[r]]
    return found, left


@inner()
def _root(root, c):
    while root[c] != c:
        root[c] = root[root[c]]
        c = root[c]
    return c


def cut_edges(edges: np.ndarray, lengths: np.ndarray, n: int, k: int) -> np.ndarray:
    """Delete removable edges from the longest on, and label the trees that remain.

    As `generic.cut_edges`, in O(n log n): a Fenwick tree over the nodes in preorder counts what
    is still connected below a node, and each cut renames the smaller of the two parts.
    """
    longest_first = np.lexsort((edges[:, 1], edges[:, 0], -lengths))
    return _cut(np.ascontiguousarray(edges[longest_first], dtype=np.int64), n, k)


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
    return top[part]


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


@inner()
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


@inner()
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
