"""The two records farthest apart, without looking at all pairs.

Two records are at most as far apart as both are from the centre together. So once two records are
known to be far apart, by going from the outermost record to the one farthest from it and on, only
pairs whose distances to the centre add up to as much are looked at: of 100,000 records in clusters
some 50,000 pairs, of 1,000,000 some 35 million. Of records on a sphere it would be all: those are
left to tiles of pairs.

Distances to the centre are array expressions, which add squares in any order. They and their roots
are off by less than (d + 8) units in the last place; the slack is sixteen times as much.
"""

from typing import Any

from numba import cuda

from ..arrays import array_namespace
from .arithmetic import product
from .boxes import NONE
from .compiled import entry
from .launching import launch
from .search import blocks_for
from .search_kernels import my_query
from .warp import LANES, least

SWEEPS = 3  # from a record to the one farthest from it
PAIRS = 2**31  # looked at, at most: some tenths of a second


@entry()
def find_farthest(columns, name, until, square, pair):
    """The farthest of the records up to a place from the record at a place before; a warp to each.

    Parameters
    ----------
    columns : array of shape (d, places)
    name : int64 array
        The record at each place.
    until : int64 array
        Of each place, the first one that need not be looked at.
    square, pair : arrays
        Of each place the greatest squared distance, -1 if there is none, and the first pair at it:
        lower record * n + higher record.
    """
    place = my_query(0)
    if place >= square.shape[0]:
        return
    lane = cuda.threadIdx.x % LANES
    n = until.shape[0]
    best = -1.0
    code = NONE
    for other in range(place + 1 + lane, until[place], LANES):
        total = 0.0
        for v in range(columns.shape[0]):
            difference = columns[v, other] - columns[v, place]
            total += product(difference, difference)
        if total >= best:
            low = min(name[place], name[other])
            here = low * n + max(name[place], name[other])
            code = min(code, here) if total == best else here
            best = total
    top = -least(-best)
    code = least(code if best == top else NONE)
    if lane == 0:
        square[place] = top
        pair[place] = code


def most_distant_pair(points: Any) -> tuple[float, int, int] | None:
    """The squared distance and the records of the most distant pair; None if it takes all pairs.

    Of equal pairs the one of the lowest records.

    Parameters
    ----------
    points : float64 array of shape (n, d), C order, n >= 2
        Their squares are numbers, and not so small that rounding errors are not relative.
    """
    xp = array_namespace(points)
    n, d = points.shape
    slack = 1.0 + (d + 8) * 2.0**-48

    def distances(target: Any) -> Any:
        return xp.sqrt(xp.sum((points - target) ** 2, axis=1))

    away = distances(xp.mean(points, axis=0))
    order = xp.argsort(-away)
    away = away[order]
    known, farthest = 0.0, order[0]
    for _ in range(SWEEPS):
        others = distances(points[farthest])
        farthest = xp.argmax(others)
        known = max(known, float(others[farthest]))
    # The place in descending order up to which both together are far enough.
    needed = known / slack / slack - away
    until = xp.astype(n - xp.searchsorted(away[::-1], needed, side="left"), xp.int64)
    if int(xp.sum(until)) > PAIRS:
        return None
    places = max(2, int(until[0]))
    columns = xp.ascontiguousarray(xp.take(points, order[:places], axis=0).T)
    square = xp.empty((places,), dtype=xp.float64)
    pair = xp.empty((places,), dtype=xp.int64)
    launch(find_farthest, blocks_for(places), columns, order, until, square, pair)
    top = xp.max(square)
    first = int(xp.min(xp.where(square == top, pair, NONE)))
    return float(top), first // n, first % n
