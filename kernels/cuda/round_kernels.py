"""The questions of a round, answered by the whole device: see `rounds`.

An answer is exact for the records that remain when the round begins. Which thread finds it and when
does not matter: every answer is in the order of (distance, record).

The farthest records of many are found in three launches. Records lie in chunks of a *shuffled*
order, in single precision around the centroid and in units of the greatest distance to it. First
every chunk's greatest distance to each record asked about is found: that needs no list and no limit
to beat. Chunks are random samples, so the F-th greatest of the chunks' is a tight limit that F
different records reach. Only chunks that reach it are looked at again, and what is found there is
ordered in double precision.

The margin between both precisions: coordinates are at most 1 and rounded to 2**-24 of that, so the
distance of two records is off by at most 2**-23, and the square root of what is added up from d
squares, fused or not, by (d + 8) 2**-24 of itself. A limit is lowered by four times as much, once
for the records that reach it and once for those that are to be found.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from .arithmetic import product, row_distance
from .boxes import LEVELS, NONE
from .chunks import aim_at_centroid
from .compiled import entry
from .search_kernels import comes_first, my_query, nearest_others
from .team import THREADS
from .warp import LANES, WARPS, greatest, lanes_where, least

QUERIES = 8  # that a warp answers together,
TOGETHER = WARPS * QUERIES  # and a block, for one chunk
SLOTS = 4  # of a lane, looked at together
EACH = 2 * SLOTS  # of a chunk
CHUNK = EACH * LANES
UNIT = np.float32(2.0**-21)  # of the margin
VANISHES = 2.0**-900  # squares that are not rounded to some places, but to a unit
STAGE = 32  # variables of the queries in shared memory


class Records(NamedTuple):
    """The records of a matrix and their groups."""

    points: Any  # (n, d)
    label: Any  # (n,) int64, -1 of those that remain


class Rows(NamedTuple):
    """The answers of a round; lists end with -1 where there are no more."""

    row: Any  # (n,) int64, the row of a record, NONE if it has none
    near: Any  # (rows, m) int64, the nearest others of each row's record
    far: Any  # (batch, F) int64, the farthest from the record of each of the first rows


class Single(NamedTuple):
    """Records in single precision, in the order of slots."""

    value: Any  # (d, slots) float32, NaN of those that have left
    record: Any  # (slots,) int64, -1 where a slot only fills up a chunk


@entry()
def aim(total, count, target):
    """The centroid of so many records from their sum."""
    aim_at_centroid(target, total, 0, target.dtype.type(count))


@entry()
def find_keys(records, target, row, keys):
    """Squared distances of those that remain to a row of a matrix; -1 of the others."""
    r = cuda.grid(1)
    if r < keys.shape[0]:
        there = records.label[r] < 0
        keys[r] = row_distance(records.points, r, target, row) if there else -1.0


@entry()
def fill_slots(records, target, key, single):
    """Bring records into single precision, around a target in units of the outermost's distance.

    Parameters
    ----------
    key : float64 array
        The first is the squared distance of the outermost record to the target.
    """
    scale = cuda.shared.array(1, "float64")
    if cuda.threadIdx.x == 0:
        scale[0] = 1.0 / math.sqrt(key[0]) if key[0] > VANISHES else 1.0
    cuda.syncthreads()
    slot = cuda.grid(1)
    if slot >= single.record.shape[0]:
        return
    r = single.record[slot]
    there = r >= 0
    if there:
        there = records.label[r] < 0
    for v in range(single.value.shape[0]):
        x = math.nan
        if there:
            x = product(records.points[r, v] - target[0, v], scale[0])
        single.value[v, slot] = np.float32(x)


@cuda.jit(device=True)
def my_chunk(asked):
    """The chunk of this block, the first of its queries, and the first of this warp's."""
    across = (asked + TOGETHER - 1) // TOGETHER
    first = cuda.blockIdx.x % across * TOGETHER
    return cuda.blockIdx.x // across, first, first + cuda.threadIdx.x // LANES * QUERIES


@entry()
def find_maxima(single, queries, best):
    """The greatest distance from each query to each chunk; -1 if nobody is there.

    Parameters
    ----------
    single, queries : Single
    best : float32 array of shape (queries, chunks)
        Squares.
    """
    tile = cuda.shared.array((STAGE, TOGETHER), "float32")
    sums = cuda.local.array((SLOTS, QUERIES), "float32")
    most = cuda.local.array(QUERIES, "float32")
    t = cuda.threadIdx.x
    d = single.value.shape[0]
    asked = best.shape[0]
    chunk, top, first = my_chunk(asked)
    for q in range(QUERIES):
        most[q] = -1
    for part in range(2):
        slot = chunk * CHUNK + part * SLOTS * LANES + t % LANES
        for i in range(SLOTS):
            for q in range(QUERIES):
                sums[i, q] = 0
        for begin in range(0, d, STAGE):
            staged = min(STAGE, d - begin)
            cuda.syncthreads()
            for i in range(t, staged * TOGETHER, THREADS):
                q = min(top + i % TOGETHER, asked - 1)
                tile[i // TOGETHER, i % TOGETHER] = queries.value[begin + i // TOGETHER, q]
            cuda.syncthreads()
            for v in range(staged):
                for i in range(SLOTS):
                    x = single.value[begin + v, slot + i * LANES]
                    for q in range(QUERIES):
                        difference = x - tile[v, first - top + q]
                        sums[i, q] += difference * difference
        for i in range(SLOTS):
            for q in range(QUERIES):
                if sums[i, q] > most[q]:
                    most[q] = sums[i, q]
    for q in range(QUERIES):
        here = greatest(most[q])
        if t % LANES == q % LANES and first + q < asked:
            best[first + q, chunk] = here


@entry()
def find_limits(d, wanted, best, limit):
    """A square that so many records reach, less the margin; a warp to a row of `best`."""
    query = my_query(0)
    if query >= best.shape[0]:
        return
    top = np.float32(-1)
    for i in range(cuda.threadIdx.x % LANES, best.shape[1], LANES):
        top = max(top, best[query, i])
    low = np.float32(-1)
    high = greatest(top)
    if how_many(best, query, np.float32(0)) >= wanted:
        low = np.float32(0)
        for _ in range(24):
            middle = np.float32(0.5) * (low + high)
            if how_many(best, query, middle) >= wanted:
                low = middle
            else:
                high = middle
    none = np.float32(0)
    root = math.sqrt(max(low, none)) * (np.float32(1) - np.float32(d + 8) * UNIT) - UNIT - UNIT
    if cuda.threadIdx.x % LANES == 0:
        limit[query] = root * root * (np.float32(1) - UNIT) if root > none else np.float32(-1)


@cuda.jit(device=True)
def how_many(best, query, limit):
    """How many chunks reach a limit; the same in all lanes."""
    count = 0
    for begin in range(0, best.shape[1], LANES):
        i = begin + cuda.threadIdx.x % LANES
        count += cuda.popc(lanes_where(i < best.shape[1] and best[query, i] >= limit))
    return count


@entry()
def look_again(single, queries, best, limit, count, found):
    """Append the records beyond the limits, in any order, from the chunks that reach them."""
    sums = cuda.local.array(EACH, "float32")
    asked = best.shape[0]
    chunk, _, first = my_chunk(asked)
    slot = chunk * CHUNK + cuda.threadIdx.x % LANES
    for query in range(first, min(first + QUERIES, asked)):
        if best[query, chunk] >= limit[query]:
            for i in range(EACH):
                sums[i] = 0
            for v in range(single.value.shape[0]):
                x = queries.value[v, query]
                for i in range(EACH):
                    difference = single.value[v, slot + i * LANES] - x
                    sums[i] += difference * difference
            for i in range(EACH):
                if sums[i] >= limit[query]:
                    place = cuda.atomic.add(count, query, 1)
                    if place < found.shape[1]:
                        found[query, place] = single.record[slot + i * LANES]


@entry()
def put_in_order(points, batch, count, found, away, far):
    """The farthest of those found, in order; a block to a record of the batch.

    None where more were found than there is room for.
    """
    query = cuda.blockIdx.x
    many = count[query]
    for i in range(cuda.threadIdx.x, far.shape[1], THREADS):
        far[query, i] = -1
    if many > found.shape[1]:
        return
    for i in range(cuda.threadIdx.x, many, THREADS):
        away[query, i] = row_distance(points, found[query, i], points, batch[query])
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, many, THREADS):
        rank = 0
        for j in range(many):
            if comes_first(-away[query, j], found[query, j], -away[query, i], found[query, i]):
                rank += 1
        if rank < far.shape[1]:
            far[query, rank] = found[query, i]


@entry()
def claim_rows(first, entries, row):
    """Give each record asked about the first of its places among the entries as its row."""
    q = first + cuda.grid(1)
    if q < entries.shape[0] and entries[q] >= 0:
        cuda.atomic.min(row, entries[q], q)


@entry()
def find_near(first, last, tree, records, entries, rows):
    """The nearest others of the entries from `first` to `last` - 1, each record's once."""
    bounds = cuda.shared.array((LEVELS, THREADS), "float64")
    query = my_query(first)
    if query >= last:
        return
    r = entries[query]
    if r < 0:
        return
    if records.label[r] >= 0 or rows.row[r] != query:
        return
    m = rows.near.shape[1]
    _, name, _ = nearest_others(
        tree, records.points, r, records.label, m, -math.inf, np.int64(-1), bounds
    )
    lane = cuda.threadIdx.x % LANES
    if lane < m:
        rows.near[query, lane] = name if name < NONE else np.int64(-1)


@entry()
def shrink(tree, label, level):
    """Draw in the boxes of a level to what remains in them; a warp to a box."""
    query = my_query(0)
    blocks = tree.start[level + 1] - tree.start[level]
    if query >= blocks * LANES:
        return
    lane = np.int32(cuda.threadIdx.x % LANES)
    at = tree.start[level] + query // LANES
    box = query % LANES
    if level == 0:
        there = False
        name = np.int64(NONE)
        if query < tree.record.shape[0]:
            name = tree.record[query, lane]
            there = name >= 0
            if there:
                there = label[name] < 0
        lowest = least(name if there else np.int64(NONE))
        for v in range(tree.low.shape[1]):
            x = tree.value[query, v, lane] if there else math.inf
            low = least(x)
            high = greatest(x if there else -math.inf)
            if lane == 0:
                tree.low[at, v, box] = low
                tree.high[at, v, box] = high
    else:
        below = tree.start[level - 1] + query
        inside = below < tree.start[level]
        lowest = least(tree.lowest[below, lane] if inside else np.int64(NONE))
        for v in range(tree.low.shape[1]):
            low = least(tree.low[below, v, lane] if inside else math.inf)
            high = greatest(tree.high[below, v, lane] if inside else -math.inf)
            if lane == 0:
                tree.low[at, v, box] = low
                tree.high[at, v, box] = high
    if lane == 0:
        tree.lowest[at, box] = lowest
