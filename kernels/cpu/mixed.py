"""MDAV on records of numeric, ordinal and nominal variables, by scans of what remains.

Records lie in one row per variable, in index order, so that the first of equals is the lowest.
A record that leaves gets NaN in the row that every sum of a distance starts with, and so wins
no comparison; when enough have left the rows are made compact. The median and the mode are
read from counts of the categories, kept up to date as records leave.
"""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..generic.arrays import to_numpy
from ..generic.mixed import NOMINAL, NUMERIC, ORDINAL
from ..protocol import Progress
from .compiled import entry, inner
from .sums import add, sum_rows

_TILE = 512  # records whose distances are computed in the cache
_MANY = 256  # more neighbours than this are found by partition, not by a list
_LEFT, _PLACES, _GROUPS = 0, 1, 2


class Records(NamedTuple):
    """The records that remain, and what is known of them."""

    points: np.ndarray  # (n, d) all records
    kinds: np.ndarray  # (d,)
    weights: np.ndarray  # (d,)
    value: np.ndarray  # (d, places)
    there: np.ndarray  # (places,) 0, or NaN where the record has left
    record: np.ndarray  # (places,) the record in each place
    total: np.ndarray  # (2, d) sum of the records that remain
    category: np.ndarray  # all categories, variable by variable, in order
    counts: np.ndarray  # how often each remains
    start: np.ndarray  # (d + 1,) where each variable's categories start
    code: np.ndarray  # (n, d) category of each record, counted from the variable's start
    median: np.ndarray  # (d, 2) the median's category, and how many records are below it
    state: np.ndarray  # records that remain, places in use, groups formed


def mixed_mdav_groups(
    points: Any, kinds: Any, weights: Any, k: int, progress: Progress | None = None
) -> np.ndarray:
    """MDAV-generic (Domingo-Ferrer and Torra 2005); see `optional.HasMixedLoop`."""
    points = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    kinds = np.asarray(kinds, dtype=np.int64)
    records = _prepare(points, kinds, np.asarray(weights, dtype=np.float64))
    n = len(points)
    labels = np.full(n, -1)
    rounds = 1
    while records.state[_LEFT] >= 2 * k:
        begun = perf_counter()
        _take_groups(records, k, rounds, labels)
        rounds = max(1, int(rounds * min(2.0, 0.2 / (perf_counter() - begun))))
        if progress is not None:
            progress(1.0 - records.state[_LEFT] / n)
    labels[labels < 0] = records.state[_GROUPS]
    return labels


def _prepare(points: np.ndarray, kinds: np.ndarray, weights: np.ndarray) -> Records:
    n, d = points.shape
    code = np.zeros((n, d), dtype=np.int64)
    category, count = [], []
    for v in range(d):
        column = points[:, v] if kinds[v] != NUMERIC else points[:0, v]
        different, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        code[: len(codes), v] = codes
        category.append(different)
        count.append(counts)
    return Records(
        points=points,
        kinds=kinds,
        weights=weights,
        value=points.T.copy(),
        there=np.zeros(n),
        record=np.arange(n),
        total=sum_rows(points),
        category=np.concatenate(category),
        counts=np.concatenate(count),
        start=np.cumsum([0, *map(len, category)]),
        code=code,
        median=np.zeros((d, 2), dtype=np.int64),
        state=np.array([n, n, 0]),
    )


@entry()
def _take_groups(records, k, rounds, labels):
    """Take two groups, some times, while 3k records remain, and one if 2k do."""
    distances = np.empty(records.state[_PLACES])
    average = np.empty(len(records.kinds))
    for _ in range(rounds):
        left = records.state[_LEFT]
        if left < 2 * k:
            return
        _find_average(records, average)
        r = _farthest(records, average, distances)
        _take_nearest(records, r, k, distances, labels)
        if left >= 3 * k:
            s = _greatest(distances[: records.state[_PLACES]])  # still the distances to r
            _take_nearest(records, s, k, distances, labels)
        if 8 * records.state[_LEFT] < 7 * records.state[_PLACES]:
            _make_compact(records)


@inner()
def _find_average(records, average):
    """Mean, median or mode of each variable over the records that remain."""
    left = records.state[_LEFT]
    for v in range(len(average)):
        first = records.start[v]
        count = records.counts[first : records.start[v + 1]]
        if records.kinds[v] == NUMERIC:
            average[v] = records.total[0, v] / left
        elif records.kinds[v] == ORDINAL:
            at, below = records.median[v]
            middle = (left - 1) // 2
            while below > middle:
                at -= 1
                below -= count[at]
            while below + count[at] <= middle:
                below += count[at]
                at += 1
            records.median[v, 0], records.median[v, 1] = at, below
            average[v] = records.category[first + at]
        else:
            average[v] = records.category[first + np.argmax(count)]


@inner()
def _find_distances(records, start, target, distances):
    """Squared distances to a target of a tile of records; NaN of those that have left."""
    stop = min(start + _TILE, records.state[_PLACES])
    here, there = distances[start:stop], records.there[start:stop]
    for i in range(len(here)):
        here[i] = there[i]
    for v in range(len(target)):
        x = target[v]
        row = records.value[v, start:stop]
        if records.kinds[v] == NOMINAL:
            weight = records.weights[v]
            for i in range(len(here)):
                here[i] += 0.0 if row[i] == x else weight
        else:
            for i in range(len(here)):
                difference = row[i] - x
                here[i] += difference * difference


@inner()
def _farthest(records, target, distances):
    """The place of the record farthest from a target."""
    for start in range(0, records.state[_PLACES], _TILE):
        _find_distances(records, start, target, distances)
    return _greatest(distances[: records.state[_PLACES]])


@inner()
def _greatest(distances):
    """The place of the greatest distance, the first of several."""
    place, greatest = 0, -1.0
    for start in range(0, len(distances), _TILE):
        here = distances[start : start + _TILE]
        above = 0  # counting is vectorised, leaving at the first is not
        for i in range(len(here)):
            above += here[i] > greatest
        if above:
            for i in range(len(here)):
                if here[i] > greatest:
                    place, greatest = start + i, here[i]
    return place


@inner(allocates=True)
def _take_nearest(records, place, k, distances, labels):
    """Remove the record in some place and the k - 1 nearest to it.

    Leaves in `distances` those of the records that remain to it.
    """
    places = records.state[_PLACES]
    target = records.points[records.record[place]]
    nearest = np.full(min(k, _MANY), np.inf)
    own = place // _TILE
    for tile in range((places + _TILE - 1) // _TILE):
        _find_distances(records, tile * _TILE, target, distances)
        if tile == own:
            distances[place] = -1.0
        if k <= _MANY:
            _note_nearest(distances[tile * _TILE : min((tile + 1) * _TILE, places)], nearest)
    limit = nearest[-1]
    if k > _MANY:
        known = distances[:places]
        limit = np.partition(known[known > -2.0], k - 1)[k - 1]
    wanted = k
    for start in range(0, places, _TILE):
        here = distances[start : min(start + _TILE, places)]
        below = 0
        for i in range(len(here)):
            below += here[i] < limit
        if below:
            for i in range(len(here)):
                if here[i] < limit:
                    _remove(records, start + i, distances, labels)
                    wanted -= 1
    for i in range(places):
        if wanted == 0:
            break
        if distances[i] == limit:
            _remove(records, i, distances, labels)
            wanted -= 1
    records.state[_GROUPS] += 1


@inner()
def _note_nearest(here, nearest):
    """Keep the least distances, in order."""
    last = len(nearest) - 1
    below = 0
    for i in range(len(here)):
        below += here[i] < nearest[last]
    if below == 0:
        return
    for i in range(len(here)):
        if here[i] < nearest[last]:
            at = last
            while at > 0 and here[i] < nearest[at - 1]:
                nearest[at] = nearest[at - 1]
                at -= 1
            nearest[at] = here[i]


@inner()
def _remove(records, place, distances, labels):
    """Remove the record in some place from all that is known, to the group being formed."""
    record = records.record[place]
    labels[record] = records.state[_GROUPS]
    distances[place] = records.there[place] = np.nan
    records.state[_LEFT] -= 1
    add(records.total, records.points, record, -1.0)
    for v in range(len(records.kinds)):
        if records.kinds[v] != NUMERIC:
            code = records.code[record, v]
            records.counts[records.start[v] + code] -= 1
            records.median[v, 1] -= code < records.median[v, 0]


@inner()
def _make_compact(records):
    """Move the records that remain together, in their order."""
    to = 0
    for place in range(records.state[_PLACES]):
        if records.there[place] == 0.0:
            for v in range(len(records.kinds)):
                records.value[v, to] = records.value[v, place]
            records.record[to] = records.record[place]
            records.there[to] = 0.0
            to += 1
    records.state[_PLACES] = to
