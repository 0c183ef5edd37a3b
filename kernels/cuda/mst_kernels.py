"""The kernels of Boruvka's rounds: a thread to a record; a warp to some neighbours that search.

A component is named by one of its records; arrays of components have a place for every record, and
only the places of such names are used. Edges are numbers, lower end * n + higher end, so that among
edges of one length their order is that of the numbers.

The best of a component is found by atomic operations in two launches: first the least length, then
the least edge of that length. Neither depends on the order in which threads come.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .boxes import LEVELS, NONE
from .compiled import entry
from .search_kernels import comes_first, my_query
from .single import EACH, PARTS, SEEKERS, at_place, greatest_square, may_be_near
from .team import THREADS
from .together import Seekers, begin_walk, distance_between, next_leaf, place_in_group
from .warp import LANES, first_of, from_lane, lanes_where

WAITING, HUNG = range(2)  # what is counted in a round: components
HOPS = 64  # of a component upwards in one launch


class Candidates(NamedTuple):
    """Of each record, its first edge to another component as far as it is known.

    Where it is not, the other record is a limit: what comes before it in the record's order of
    (squared distance, other record) is in the record's own component. NONE comes after all.
    """

    length: Any  # (n,) squared
    other: Any  # (n,) int64
    known: Any  # (n,) int8
    place: Any  # (n,) int64, its place in the record's list


class Best(NamedTuple):
    """The first edge known of each component to another one."""

    length: Any  # (n,) squared, infinite if there is none
    edge: Any  # (n,) int64


@cuda.jit(device=True)
def edge_of(r, x, n):
    """The number of the edge between two records; a limit of NONE comes after all edges."""
    if x >= n:
        return np.int64(NONE)
    return r * n + x if r < x else x * n + r


@entry()
def advance(comp, lengths, others, candidates):
    """Move candidates that are in the record's own component by now on in the record's list.

    A record at the end of its list keeps what it has, the last entry or what it found, as a limit.
    """
    r = cuda.grid(1)
    if r >= comp.shape[0] or candidates.known[r] == 0:
        return
    own = comp[r]
    other = candidates.other[r]
    if other < comp.shape[0] and comp[other] != own:
        return
    candidates.known[r] = 0
    place = candidates.place[r]
    while place < others.shape[1]:
        other = others[r, place]
        candidates.other[r] = other
        candidates.length[r] = lengths[r, place]
        if other >= comp.shape[0]:  # squares too large for numbers: others are not known
            break
        if comp[other] != own:
            candidates.known[r] = 1
            break
        place += 1
    candidates.place[r] = place


@entry()
def begin_round(best, waiting, counts, clear):
    """Forget the best edges and what was counted, and which components wait if that is to be."""
    r = cuda.grid(1)
    if r < best.edge.shape[0]:
        best.length[r] = math.inf
        best.edge[r] = NONE
        if clear != 0:
            waiting[r] = 0
    if r < counts.shape[0]:
        counts[r] = 0


@entry()
def least_lengths(comp, candidates, best):
    """The length of each component's first edge that its records know."""
    r = cuda.grid(1)
    if r < comp.shape[0] and candidates.known[r] != 0:
        cuda.atomic.min(best.length, comp[r], candidates.length[r])


@entry()
def first_edges(comp, candidates, best):
    """Of the edges of that length the first."""
    r = cuda.grid(1)
    n = comp.shape[0]
    if r < n and candidates.known[r] != 0 and candidates.length[r] == best.length[comp[r]]:
        cuda.atomic.min(best.edge, comp[r], edge_of(r, candidates.other[r], n))


@entry()
def unsettled(comp, candidates, best, waiting, counts):
    """Note and count the components that may have an edge before the best one known."""
    r = cuda.grid(1)
    if r >= comp.shape[0] or not may_improve(r, comp, candidates, best):
        return
    if cuda.atomic.max(waiting, comp[r], 1) == 0:
        cuda.atomic.add(counts, WAITING, 1)


@cuda.jit(device=True)
def may_improve(r, comp, candidates, best):
    """Whether a record may have an edge before the best one known of its component."""
    if candidates.known[r] != 0:
        return False
    c = comp[r]
    edge = edge_of(r, candidates.other[r], comp.shape[0])
    return comes_first(candidates.length[r], edge, best.length[c], best.edge[c])


@entry()
def search_together(
    tree, common, inside, groups, first, last, step, done, comp, waiting, candidates, best
):
    """Search the tree for the nearest records of other components, a warp to some neighbours.

    What comes after the best edge of a seeker's component is not looked for: where nothing comes
    before it, the limit of the seeker moves there.

    Parameters
    ----------
    common : int64 array of shape (blocks * LANES,)
        The component that all records of a box are in; -1 if they are in several.
    inside : int64 array of shape (leaves * LANES,)
        The component of each record in the tree.
    groups : int64 array
        Of these groups of SEEKERS records, those at places `step` * i search, i from `first` to
        `last` - 1, but not those at multiples of `done`, if that is not 0.
    waiting : int32 array
        The components whose records search.
    """
    bounds = cuda.shared.array((LEVELS, THREADS), np.float32)
    spans = cuda.shared.array((2, THREADS), candidates.length.dtype)
    query = my_query(first)
    if query >= last or (done > 0 and query * step % done == 0):
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    home, own, part = place_in_group(groups[query * step])
    row = tree.record[at_place(home, own)]
    component = inside[at_place(home, own)]
    limit = candidates.length.dtype.type(-1)  # of who does not seek: nothing is nearer
    name = np.int64(0)
    seeks = row >= 0 and waiting[component] != 0 and may_improve(row, comp, candidates, best)
    if seeks:
        limit = best.length[component]
        name = before_edge(row, best.edge[component], comp.shape[0])
    lanes = lanes_where(seeks)
    if lanes == 0:
        return
    barred = from_lane(component, first_of(lanes))
    if lanes_where(seeks and component != barred) != 0:  # several components
        barred = np.int64(NONE)
    found = False
    seekers = Seekers(home, own, part)
    most = greatest_square(tree, limit)
    begin_walk(tree, seekers, lanes, spans, common, barred, bounds)
    level = np.int32(0)
    leaf = home
    while True:
        bits = may_be_near(tree, leaf, home, own, part, most)
        if lanes_where(bits != 0) != 0:
            others = of_others(inside[at_place(leaf, lane)], component, seeks)
            bits &= np.int32(others >> (part * EACH))
        left = lanes_where(bits != 0)
        if left != 0:
            while left != 0:
                distance = candidates.length.dtype.type(math.inf)
                record = np.int64(NONE)
                if bits != 0:
                    place = part * EACH + first_of(bits)
                    bits &= bits - np.int32(1)
                    record = tree.record[at_place(leaf, place)]
                    distance = distance_between(tree, leaf, place, home, own)
                distance, record = first_of_parts(distance, record, lane)
                if comes_first(distance, record, limit, name):
                    limit = distance
                    name = record
                    found = True
                left = lanes_where(bits != 0)
            most = greatest_square(tree, limit)
        level, leaf = next_leaf(
            tree, seekers, spans, common, barred, component,
            bounds, level, leaf, limit, name, most,
        )  # fmt: skip
        if level != 0:
            break
    if seeks and part == 0:
        candidates.length[row] = limit
        candidates.other[row] = name
        candidates.known[row] = found


@cuda.jit(device=True)
def of_others(component, own, seeks):
    """The lanes whose component is not that of this lane's seeker, as bits; none if it is none."""
    others = np.int64(0)
    left = lanes_where(seeks)
    while left != 0:
        its = from_lane(own, first_of(left))
        lanes = lanes_where(component != its)
        if seeks and own == its:
            others = lanes
        left &= ~lanes_where(own == its)
    return others


@cuda.jit(device=True)
def first_of_parts(distance, record, lane):
    """What comes first of what the lanes of a seeker hold."""
    step = SEEKERS
    while step < LANES:
        other = from_lane(distance, lane ^ step)
        other_record = from_lane(record, lane ^ step)
        if comes_first(other, other_record, distance, record):
            distance = other
            record = other_record
        step *= 2
    return distance, record


@cuda.jit(device=True)
def before_edge(r, edge, n):
    """The record from which on the edges of r, as long as an edge, do not come before it."""
    if edge == NONE:
        return np.int64(NONE)
    low = edge // n
    high = edge % n
    if r < low:
        return np.int64(NONE)
    if r == low:
        return high
    return low + 1 if r < high else low


@entry()
def hook(comp, best, waiting, parent, edges, lengths, counts):
    """Hang components onto those that their first edges lead to; the edges are the tree's.

    Edges are in a strict order, so two components that have the same edge first are the only cycle:
    the one of the lower name stays where it is. A component hangs onto another once at the most, so
    its edge has the place of its name.
    """
    c = cuda.grid(1)
    n = comp.shape[0]
    if c >= n:
        return
    parent[c] = comp[c]
    if comp[c] != c or waiting[c] != 0 or best.edge[c] == NONE:
        return
    edge = best.edge[c]
    onto = comp[edge // n]
    if onto == c:
        onto = comp[edge % n]
    if c < onto and waiting[onto] == 0 and best.edge[onto] == edge:
        return
    parent[c] = onto
    edges[c] = edge
    lengths[c] = best.length[c]
    cuda.atomic.add(counts, HUNG, 1)


@entry()
def climb(parent, above, unfinished):
    """What each component hangs onto some hops up, and how many are not at the end there."""
    r = cuda.grid(1)
    if r >= parent.shape[0]:
        return
    p = parent[r]
    for _ in range(HOPS):
        if parent[p] == p:
            break
        p = parent[p]
    above[r] = p
    if parent[p] != p:
        cuda.atomic.add(unfinished, 0, 1)


@entry()
def find_components(tree, comp, waiting, candidates, inside, common, seeks):
    """The components of the records in each leaf, and which groups have to search.

    Parameters
    ----------
    inside : int64 array of shape (leaves * LANES,)
        The component of each record, -2 in empty places.
    common : int64 array of shape (blocks * LANES,)
        That of all records of a leaf, -1 if they are in several.
    seeks : int8 array of shape (leaves * PARTS,)
    """
    leaf = my_query(0)
    if leaf >= tree.margin.shape[0]:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    r = tree.record[at_place(leaf, lane)]
    component = np.int64(-2)
    searches = False
    if r >= 0:
        component = comp[r]
        searches = waiting[component] != 0 and candidates.known[r] == 0
    inside[at_place(leaf, lane)] = component
    first = from_lane(component, 0)
    several = lanes_where(component != first and r >= 0)
    searching = lanes_where(searches)
    if lane == 0:
        common[leaf] = first if several == 0 else -1
    if lane < PARTS:
        seeks[leaf * PARTS + lane] = (searching >> (lane * SEEKERS)) & ((1 << SEEKERS) - 1) != 0


@entry()
def find_common(tree, common, level):
    """The component of all records of each box of a level, from those of the level below."""
    box = my_query(0)
    below = tree.start[level - 1] + box
    if below >= tree.start[level]:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    component = common[at_place(below, lane)]
    there = tree.lowest[at_place(below, lane)] < NONE
    first = from_lane(component, 0)
    several = lanes_where(there and component != first)
    if lane == 0:
        common[at_place(tree.start[level], box)] = first if several == 0 else -1
