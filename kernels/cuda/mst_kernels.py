"""The kernels of Boruvka's rounds: a thread to a record; a warp to a record or leaf that searches.

A component is named by one of its records; arrays of components have a place for every record, and
only the places of such names are used. Edges are numbers, lower end * n + higher end, so that among
edges of one length their order is that of the numbers.

The best of a component is found by atomic operations in two launches: first the least length, then
the least edge of that length. Neither depends on the order in which threads come.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .boxes import (
    LEVELS,
    NONE,
    distance_between_boxes,
    distance_in_leaf,
    distance_to_one_box,
    nearest_box,
)
from .compiled import entry
from .search_kernels import comes_first, enter, my_query
from .team import THREADS
from .warp import LANES, first_of, from_lane, lanes_where, least, warp_sync


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
    if comp[candidates.other[r]] != own:
        return
    candidates.known[r] = 0
    place = candidates.place[r]
    while place < others.shape[1]:
        other = others[r, place]
        candidates.other[r] = other
        candidates.length[r] = lengths[r, place]
        if comp[other] != own:
            candidates.known[r] = 1
            break
        place += 1
    candidates.place[r] = place


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
def unsettled(comp, candidates, best, waiting):
    """Note the components that may have an edge before the best one known."""
    r = cuda.grid(1)
    if r < comp.shape[0] and may_improve(r, comp, candidates, best):
        cuda.atomic.max(waiting, comp[r], 1)


@cuda.jit(device=True)
def may_improve(r, comp, candidates, best):
    """Whether a record may have an edge before the best one known of its component."""
    if candidates.known[r] != 0:
        return False
    c = comp[r]
    edge = edge_of(r, candidates.other[r], comp.shape[0])
    return comes_first(candidates.length[r], edge, best.length[c], best.edge[c])


@entry()
def search_others(tree, common, points, seekers, first, last, step, done, comp, candidates, best):
    """Search the tree for the nearest records of other components, a warp to a seeker.

    What comes after the best edge of the seeker's component is not looked for: where nothing comes
    before it, the limit of the seeker moves there.

    Parameters
    ----------
    common : int64 array of shape (blocks, LANES)
        The component that all records of a box are in; -1 if they are in several.
    seekers : int64 array
        Those at places `step` * i, i from `first` to `last` - 1, search, but not those at multiples
        of `done`, if that is not 0.
    """
    bounds = cuda.shared.array((LEVELS, THREADS), points.dtype)
    query = my_query(first)
    if query >= last or (done > 0 and query * step % done == 0):
        return
    row = seekers[query * step]
    if not may_improve(row, comp, candidates, best):
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    own = comp[row]
    limit = best.length[own]
    name = before_edge(row, best.edge[own], comp.shape[0])
    found = False
    levels = tree.start.shape[0] - 1
    level = levels - 1
    block = np.int64(0)
    enter_others(tree, common, own, points, row, bounds, level, block)
    while True:
        level, block, box, _ = nearest_box(tree, bounds, level, block, limit, name)
        if level == levels:
            break
        block = block * LANES + box
        if level > 0:
            level -= 1
            enter_others(tree, common, own, points, row, bounds, level, block)
            continue
        record = tree.record[block, lane]
        distance = distance_in_leaf(tree, block, lane, points, row)
        nearer = record >= 0 and comes_first(distance, record, limit, name)
        nearer = nearer and comp[record] != own
        if lanes_where(nearer) != 0:
            found = True
            limit = least(distance if nearer else limit)
            nearest = nearer and distance == limit
            name = least(record if nearest else np.int64(NONE))
        block //= LANES
    warp_sync()  # before what all lanes read is changed
    if lane == 0:
        candidates.length[row] = limit
        candidates.other[row] = name
        candidates.known[row] = found


@cuda.jit(device=True)
def enter_others(tree, common, own, points, row, bounds, level, block):
    """Step into a block of some level, but not into boxes that are all of a record's component."""
    enter(tree, points, row, bounds, level, block)
    at = tree.start[level] + block
    t = cuda.threadIdx.x
    if common[at, t % LANES] == own:
        bounds[level, t] = points.dtype.type(np.inf)


@entry()
def search_together(tree, common, points, leaves, first, last, comp, waiting, candidates, best):
    """Search as `search_others` for all records of a leaf at once, a warp to a leaf.

    Boxes are chosen by their distance to the box around the leaf, and looked into if one record
    at least may find something there: so the walk is made once for all. In another leaf the lanes
    look at a record each, for one after the other of those that may find something.

    Parameters
    ----------
    leaves : int64 array
        Those at places `first` to `last` - 1 search.
    waiting : int32 array
        The components whose records search.
    """
    bounds = cuda.shared.array((LEVELS, THREADS), candidates.length.dtype)
    query = my_query(first)
    if query >= last:
        return
    home = leaves[query]
    lane = np.int32(cuda.threadIdx.x % LANES)
    row = tree.record[home, lane]
    own = np.int64(-1)
    limit = candidates.length.dtype.type(-1)  # of who does not search: nothing is nearer
    name = np.int64(0)
    seeks = row >= 0 and waiting[comp[row]] != 0 and may_improve(row, comp, candidates, best)
    if seeks:
        own = comp[row]
        limit = best.length[own]
        name = before_edge(row, best.edge[own], comp.shape[0])
    seekers = lanes_where(seeks)
    if seekers == 0:
        return
    barred = from_lane(own, first_of(seekers))
    if lanes_where(seeks and own != barred) != 0:  # several components
        barred = np.int64(NONE)
    found = False
    farthest = -least(-limit)
    levels = tree.start.shape[0] - 1
    level = levels - 1
    block = np.int64(0)
    enter_together(tree, common, barred, home, bounds, level, block)
    while True:
        level, block, box, _ = nearest_box(tree, bounds, level, block, farthest, NONE)
        if level == levels:
            break
        at = tree.start[level] + block
        bound = distance_to_one_box(tree, at, box, home, lane)
        wanted = comes_first(bound, tree.lowest[at, box], limit, name) and common[at, box] != own
        if lanes_where(wanted) == 0:
            continue
        block = block * LANES + box
        if level > 0:
            level -= 1
            enter_together(tree, common, barred, home, bounds, level, block)
            continue
        record = tree.record[block, lane]
        component = comp[record] if record >= 0 else own
        seekers = lanes_where(wanted)
        while seekers != 0:
            seeker = first_of(seekers)
            seekers &= seekers - 1
            distance = distance_in_leaf(tree, block, lane, points, from_lane(row, seeker))
            its_limit = from_lane(limit, seeker)
            if lanes_where(distance <= its_limit) == 0:
                continue
            its_name = from_lane(name, seeker)
            other = component != from_lane(own, seeker)
            nearer = other and record >= 0 and comes_first(distance, record, its_limit, its_name)
            if lanes_where(nearer) != 0:
                its_limit = least(distance if nearer else its_limit)
                nearest = nearer and distance == its_limit
                its_name = least(record if nearest else np.int64(NONE))
                if lane == seeker:
                    limit = its_limit
                    name = its_name
                    found = True
        farthest = -least(-limit)
        block //= LANES
    if seeks:
        candidates.length[row] = limit
        candidates.other[row] = name
        candidates.known[row] = found


@cuda.jit(device=True)
def enter_together(tree, common, barred, home, bounds, level, block):
    """Step into a block of some level, but not into boxes that are all of one component."""
    at = tree.start[level] + block
    t = cuda.threadIdx.x
    bound = distance_between_boxes(tree, at, t % LANES, home)
    if common[at, t % LANES] == barred:
        bound = bounds.dtype.type(np.inf)
    bounds[level, t] = bound


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
def hook(comp, best, waiting, parent, edges, lengths):
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
