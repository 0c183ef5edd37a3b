"""The kernels that cut a spanning tree: every edge decides for itself, a thread to an edge.

Edges are numbered in the order in which they are looked at, the longest first. Edge e has two ends,
2e and 2e + 1, so the other end of end p is p ^ 1. The ends at one record form a ring: `beside`
leads from each to the next. So a walk needs no memory: it goes around the ring of a record, across
an edge, on around the ring of the record there, and so comes across every edge twice until it is
back where it began.
"""

import numpy as np
from numba import cuda

from .compiled import entry

WAITING, CUT, KEPT = 0, 1, 2  # states of an edge
FEW, ENOUGH, UNKNOWN = 0, 1, 2  # records on a side of an edge
SLOTS, SLOTS_EACH = 64, 16  # ends that a walk looks at before it gives up, and for each of k


@entry()
def decide(waiting, first, last, beside, before, after, k):
    """Decide what the states of the round before allow, for the waiting edges from first to last.

    When the turn of an edge comes, those after it are all there, and of those before it the ones
    that were kept. So it is cut if both sides have k records even without the edges before it that
    still wait, and kept if one side has fewer even with all of them.
    """
    i = first + cuda.grid(1)
    if i >= last:
        return
    e = waiting[i]
    one, other = 2 * e, 2 * e + 1
    most = side(beside, before, one, k, True)
    if most != FEW:
        most = side(beside, before, other, k, True)
    if most == FEW:
        after[e] = KEPT
        return
    least = side(beside, before, one, k, False)
    if least == ENOUGH:
        least = side(beside, before, other, k, False)
    if least == ENOUGH:
        after[e] = CUT


@cuda.jit(device=True)
def side(beside, state, home, k, with_waiting):
    """Whether an end of an edge has k records on its side, itself counted.

    A walk of 2 (k - 1) crossings that has not come home has been at k records: of the crossings at
    most half were the second across their edge. A walk that comes home earlier has been at fewer.
    Where a record has too many edges the walk gives up, and the edge goes on waiting.
    """
    e = home // 2
    p = beside[home]
    left = 2 * (k - 1)
    patience = SLOTS + SLOTS_EACH * k
    while left > 0:
        if p == home:
            return np.int32(FEW)
        if patience == 0:
            return np.int32(UNKNOWN)
        patience -= 1
        edge = p // 2
        crosses = edge > e
        if not crosses:
            known = state[edge]
            crosses = known == KEPT or (with_waiting and known == WAITING)
        if crosses:
            p ^= 1
            left -= 1
        p = beside[p]
    return np.int32(ENOUGH)


@entry()
def unite(ends, state, above):
    """Unite the records of every edge that is kept.

    Of each tree the lowest record comes to be above all others, whatever the order of threads.
    """
    e = cuda.grid(1)
    if e >= state.shape[0] or state[e] == CUT:
        return
    a = ends[2 * e]
    b = ends[2 * e + 1]
    while True:
        a = lowest(above, a)
        b = lowest(above, b)
        low = min(a, b)
        high = max(a, b)
        if cuda.atomic.cas(above, high, high, low) == high:
            return
        a = low
        b = high


@cuda.jit(device=True)
def lowest(above, i):
    """The lowest record of the set of a record, which other threads may be uniting with another."""
    while True:
        j = cuda.atomic.add(above, i, 0)  # reads what other threads write
        if j == i:
            return i
        i = j
