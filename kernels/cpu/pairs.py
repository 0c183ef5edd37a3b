"""The most distant pair of the records that remain.

For each record an upper bound is kept on the distance to its farthest partner. Records only
leave, so a bound stays one; only the record with the largest bound need be looked at again,
until its partner is still there. The bounds stand at the leaves of a tournament.

Before a search the way through the middle is tried: no two records are farther apart than the
sum of their distances to it, and the largest of these falls as the outermost records leave.
"""

from typing import NamedTuple

import numpy as np

from . import far
from .boxes import NONE, begin_walk
from .compiled import entry, inner

_SEARCHES = 2048  # in one call


class Pairs(NamedTuple):
    """Bounds on the squared distance of each record to its farthest partner."""

    top: np.ndarray  # (2 * leaves,) node i has the larger of 2i and 2i + 1, records at the end
    partner: np.ndarray  # (n,) the partner at that distance, -1 before any search
    away: np.ndarray  # (n,) distance to the middle, with slack
    outermost: np.ndarray  # (n,) records, the one farthest from the middle first
    gone: np.ndarray  # (1,) how many at the head of `outermost` have left


def start(points: np.ndarray, middle: np.ndarray) -> Pairs:
    """Begin with bounds that are infinite."""
    n, d = points.shape
    leaves = 1 << (n - 1).bit_length()
    top = np.full(2 * leaves, np.inf)
    away = np.linalg.norm(points - middle, axis=1) * (1.0 + (d + 8) * 2.0**-49)
    return Pairs(top, np.full(n, -1), away, np.argsort(-away), np.zeros(1, dtype=np.int64))


@inner()
def _revise(pairs, record, bound):
    i = len(pairs.top) // 2 + record
    pairs.top[i] = bound
    while i > 1:
        i //= 2
        pairs.top[i] = max(pairs.top[2 * i], pairs.top[2 * i + 1])


@entry()
def most_distant(tree, seen, points, pairs):
    """The lower record of the most distant pair; -1 if more searches are needed to know it."""
    n, leaves, searches = len(points), len(pairs.top) // 2, 0
    walk = begin_walk(tree)
    while tree.place[pairs.outermost[pairs.gone[0]]] < 0:
        pairs.gone[0] += 1
    reach = pairs.away[pairs.outermost[pairs.gone[0]]]
    while searches < _SEARCHES:
        i = 1
        while i < leaves:
            i = 2 * i + (pairs.top[2 * i] < pairs.top[2 * i + 1])
        record = i - leaves
        if record >= n or tree.place[record] < 0:
            _revise(pairs, record, -1.0)
            continue
        partner = pairs.partner[record]
        if partner >= 0 and tree.place[partner] >= 0:
            return record
        bound = (pairs.away[record] + reach) * (1.0 + 2.0**-49)
        if bound * bound < pairs.top[i]:
            _revise(pairs, record, bound * bound)
            continue
        searches += 1
        partner, distance = far.farthest(tree, walk, seen, points[record], NONE, 0.0)
        if partner == record:  # all others are in the same place: the lowest of them
            partner = 0
            while partner == record or tree.place[partner] < 0:
                partner += 1
        pairs.partner[record] = partner
        _revise(pairs, record, distance)
    return -1
