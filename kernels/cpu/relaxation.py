"""Loops over pairs of records that may share a group, for a lower bound on the loss.

`microagg_gpu.measures.bound` says what they compute and why.
"""

import numpy as np

from . import boxes
from .boxes import WIDTH, begin_walk, descend, enter_top
from .compiled import entry, inner
from .disjoint_sets import number_sets, unite
from .lanes import first_lane
from .outer import squared_distance
from .threads import on_all_cores

_RUN = 32  # records that one thread asks about in a row
CHUNK = 2**15  # records asked about in one call


@entry()
def squares_of(points, low, high):
    """Squared distances of pairs."""
    squares = np.empty(len(low))
    for p in range(len(low)):
        squares[p] = squared_distance(points, low[p], points[high[p]])
    return squares


@entry()
def improve(rows, squares, steps, state, sums, passes, k):
    """Primal-dual steps (Chambolle and Pock 2011) of the relaxation, with sums for averages.

    Parameters
    ----------
    rows : start, pair, sign, right
        The inequalities: pairs from start[r] on and their signs, and the right sides.
    steps : step lengths of pairs and rows
    state : w of pairs, u of rows; changed
    sums : as `state`; what it is after each pass is added
    """
    start, pair, sign, right = rows
    pair_step, row_step = steps
    w, u = state
    w_sum, u_sum = sums
    top = 1.0 / k
    cost, ahead = np.empty(len(w)), np.empty(len(w))
    for _ in range(passes):
        reduce_costs(rows, squares, u, cost)
        for p in range(len(w)):
            new = min(max(w[p] - pair_step[p] * cost[p], 0.0), top)
            ahead[p] = 2.0 * new - w[p]
            w[p] = new
            w_sum[p] += new
        for r in range(len(u)):
            total = 0.0
            for e in range(start[r], start[r + 1]):
                total += sign[e] * ahead[pair[e]]
            u[r] = max(0.0, u[r] + row_step[r] * (right[r] - total))
            u_sum[r] += u[r]


@entry()
def reduce_costs(rows, squares, u, cost):
    """Costs c of pairs: their squares, less what the rows that they are in pay for."""
    start, pair, sign, _ = rows
    for p in range(len(squares)):
        cost[p] = squares[p]
    for r in range(len(u)):
        if u[r] > 0.0:
            for e in range(start[r], start[r + 1]):
                cost[pair[e]] -= sign[e] * u[r]


def cheap_pairs(points: np.ndarray, tree: boxes.Boxes, y: np.ndarray) -> np.ndarray:
    """All pairs i < j with a squared distance below y_i + y_j, as numbers i * n + j.

    With some more where it is as good as equal, so that none is missed if y is rounded.
    """
    n = len(points)
    most = np.full(tree.lowest.shape, -np.inf)
    here = np.where(tree.record < 0, -np.inf, y[tree.record]).max(axis=1)
    for first, stop in zip(tree.start[:-1], tree.start[1:], strict=True):
        most[first:stop].reshape(-1)[: len(here)] = here
        here = most[first:stop].max(axis=1)
    order = tree.record.reshape(-1)[:n]
    found = []
    for start in range(0, n, CHUNK):
        some = order[start : start + CHUNK]
        stops = np.zeros(len(some) + 1, dtype=np.int64)
        none = np.empty(0, dtype=np.int64)
        on_all_cores(_search, len(some), tree, points, y, most, some, stops, none, run=_RUN)
        stops = np.cumsum(stops)
        keys = np.empty(stops[-1], dtype=np.int64)
        on_all_cores(_search, len(some), tree, points, y, most, some, stops, keys, run=_RUN)
        found.append(keys)
    return np.sort(np.concatenate(found))


@entry()
def _search(first, last, tree, points, y, most, order, stops, keys):
    """Count the cheap pairs of some records, or write them down if there are keys to fill."""
    walk = begin_walk(tree)
    for i in range(first, last):
        count = _cheap_with(tree, points, y, most, order[i], walk, keys, stops[i])
        if len(keys) == 0:
            stops[i + 1] = count


@inner(allocates=True)
def _cheap_with(tree, points, y, most, record, walk, keys, place):
    """Count the cheap pairs of a record with higher ones, or write them down from a place on."""
    slack = 1.0 + 2.0**-46
    count, level = 0, enter_top(tree, walk, points[record])
    lane = np.zeros(len(walk.at), dtype=np.int64)
    while level < len(lane):
        i = lane[level]
        if i == WIDTH:
            level += 1
            continue
        lane[level] += 1
        # Boxes that are not there hold -inf.
        limit = (y[record] + most[walk.at[level], i]) * slack
        if not (limit > 0.0 and walk.bounds[level, i] <= boxes.above(tree, limit)):
            continue
        level, leaf = descend(tree, walk, level, i, points[record])
        if leaf < 0:
            lane[level] = 0
            continue
        lanes = boxes.candidates(tree, leaf, walk, limit)
        while lanes:
            other = tree.record[leaf, first_lane(lanes)]
            lanes &= lanes - 1
            square = squared_distance(points, other, points[record])
            if other > record and square < (y[record] + y[other]) * slack:
                if len(keys) > 0:
                    keys[place + count] = record * len(points) + other
                count += 1
    return count


@entry()
def worst_triangles(begin, end, first, start, other, w, own, least, worst):
    """See `bounding.PairLoops`: here for some records that follow `first`, written to `worst`."""
    for i in range(first + begin, first + end):
        for p in range(start[i], start[i + 1]):
            greatest = least
            j = other[p]
            for q in range(start[i], start[i + 1]):
                excess = w[p] + w[q] - own[i]
                if j != i and other[q] != i and excess > greatest:
                    at = start[j] + np.searchsorted(other[start[j] : start[j + 1]], other[q])
                    if at < start[j + 1] and other[at] == other[q]:
                        excess -= w[at]
                    if excess > greatest:
                        greatest, worst[p] = excess, q


@entry()
def components(n, low, high):
    """Number the sets of records that pairs connect; every record has its set's number."""
    above = np.arange(n)
    for p in range(len(low)):
        unite(above, low[p], high[p])
    return number_sets(above)[0]
