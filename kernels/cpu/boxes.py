"""A search tree over the records that remain, made for scanning side by side.

Records lie in leaves of 32, and leaves, and the boxes around them, in blocks of 32, level upon
level to a single block on top; a block of boxes has one row per variable, so that a target's
distances to 32 records or bounds to 32 boxes are computed together. There are no pointers:
lane i of block b stands for block 32 b + i one level below.

A record is taken out by writing NaN over it, which wins no comparison; the boxes around it
shrink, and an empty one turns inside out.

Bounds to boxes add the variables in the order in which distances do. Rounding is monotone, so
they are never beyond the distance of a record in the box: they need no slack.
"""

import math
from typing import NamedTuple

import numpy as np

from .compiled import entry, inner
from .kdtree import WIDTH, below_mean, choose_keys, enclose, fill_leaves, select

NONE = 2**63 - 1  # above every record
LEVELS = 8  # more than 32**8 records have
ROW = 4  # leaves that are scanned together in single precision


class Boxes(NamedTuple):
    """The arrays of a tree over some records of a matrix; level 0 has the boxes of leaves."""

    value: np.ndarray  # (leaves, d, WIDTH)
    record: np.ndarray  # (leaves, WIDTH), -1 in empty places
    place: np.ndarray  # (n,) leaf * WIDTH + lane of each record, -1 of those not here
    start: np.ndarray  # (levels + 1,) first block of each level
    low: np.ndarray  # (blocks, d, WIDTH) least values in each box
    high: np.ndarray  # (blocks, d, WIDTH) greatest values
    centre: np.ndarray  # (blocks, d, WIDTH) centre and
    radius: np.ndarray  # (blocks, WIDTH) radius of a ball around what was in the box first
    held: np.ndarray  # (blocks, WIDTH) records in each box
    lowest: np.ndarray  # (blocks, WIDTH) lowest record that was in it first
    single: np.ndarray  # (leaves / ROW, d, ROW * WIDTH) values less the middle, if wanted
    middle: np.ndarray  # (d + 1,) the middle, and what no record was farther away from it


@entry()
def _arrange(points, order):
    """Sort records so that each aligned run of 32, 1024, ... of them lies close together.

    A run is divided at the mean of its widest variable, moved to the next multiple of the size
    that its parts will be packed in.
    """
    keys = np.empty(len(order))
    box = np.empty((1, 2, points.shape[1]))
    waiting = np.empty((64 * LEVELS, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = 0, len(order)
    height = 1
    while height:
        height -= 1
        start, stop = waiting[height, 0], waiting[height, 1]
        size = stop - start
        if size <= WIDTH:
            continue
        unit = WIDTH
        while unit * WIDTH < size:
            unit *= WIDTH
        enclose(points, order, start, stop, box, 0)
        choose_keys(points, order, start, stop, box, 0, keys)
        units = (below_mean(keys, start, stop) + unit // 2) // unit
        middle = start + min(max(units, 1), (size - 1) // unit) * unit
        select(keys, order, start, stop, middle)
        waiting[height, 0], waiting[height, 1] = start, middle
        waiting[height + 1, 0], waiting[height + 1, 1] = middle, stop
        height += 2


@entry()
def _enclose(tree, points, order):
    """Fill in a tree's boxes."""
    n, d = len(order), points.shape[1]
    slack = 1.0 + (d + 8) * 2.0**-50
    inside = WIDTH
    for level in range(len(tree.start) - 1):
        for first in range(0, n, inside):
            last = min(first + inside, n)
            block, lane = tree.start[level] + first // inside // WIDTH, first // inside % WIDTH
            tree.held[block, lane] = last - first
            lowest = order[first]
            for i in range(first, last):
                lowest = min(lowest, order[i])
            tree.lowest[block, lane] = lowest
            for v in range(d):
                low = high = points[order[first], v]
                total = 0.0
                for i in range(first, last):
                    x = points[order[i], v]
                    low, high = min(low, x), max(high, x)
                    total += x / (last - first)
                tree.low[block, v, lane], tree.high[block, v, lane] = low, high
                tree.centre[block, v, lane] = total
            radius = 0.0
            for i in range(first, last):
                distance = 0.0
                for v in range(d):
                    difference = points[order[i], v] - tree.centre[block, v, lane]
                    distance += difference * difference
                radius = max(radius, distance)
            tree.radius[block, lane] = math.sqrt(radius) * slack
        inside *= WIDTH


def build(points: np.ndarray, records: np.ndarray, single: bool = False) -> Boxes:
    """Build the tree of some records of a matrix.

    Parameters
    ----------
    points : float64 array of shape (n, d), C order
    records : int64 array, at least one
    single : bool
        Whether to keep the values in single precision as well.
    """
    order = np.array(records)
    _arrange(points, order)
    value, record, place = fill_leaves(points, order)
    leaves, d = value.shape[:2]
    start = [0, -(-leaves // WIDTH)]
    while start[-1] - start[-2] > 1:
        start.append(start[-1] - (start[-2] - start[-1]) // WIDTH)
    shape = (start[-1], d, WIDTH)
    middle = np.append(points[order].mean(axis=0), 0.0) if single else np.zeros(d + 1)
    rows = np.full((-(-leaves // ROW) if single else 0, ROW, d, WIDTH), np.nan, np.float32)
    if single:
        middle[d] = _reach(points, order, middle)
        with np.errstate(over="ignore"):
            rows.reshape(-1, d, WIDTH)[:leaves] = value - middle[:d, np.newaxis]
    tree = Boxes(
        value=value,
        record=record,
        place=place,
        start=np.array(start),
        low=np.full(shape, np.inf),
        high=np.full(shape, -np.inf),
        centre=np.zeros(shape),
        radius=np.zeros((start[-1], WIDTH)),
        held=np.zeros((start[-1], WIDTH), dtype=np.int64),
        lowest=np.full((start[-1], WIDTH), NONE),
        single=np.ascontiguousarray(rows.transpose(0, 2, 1, 3)).reshape(len(rows), d, ROW * WIDTH),
        middle=middle,
    )
    _enclose(tree, points, record.reshape(-1)[: len(order)])
    return tree


@entry()
def _reach(points, order, middle):
    """The greatest distance of any record to the middle, with slack."""
    greatest = 0.0
    for record in order:
        distance = 0.0
        for v in range(points.shape[1]):
            difference = points[record, v] - middle[v]
            distance += difference * difference
        greatest = max(greatest, distance)
    return math.sqrt(greatest) * (1.0 + (points.shape[1] + 8) * 2.0**-50)


# The loops over lanes below end at `width`, an array's own, because a number that the compiler
# knows makes it unroll them instead of vectorising.


@inner()
def distances_to_leaf(tree, leaf, target, distances):
    """Squared distances from a point to the records of a leaf; NaN for empty places."""
    width = tree.value.shape[2]
    for i in range(width):
        distances[i] = 0.0
    for v in range(len(target)):
        x = target[v]
        for i in range(width):
            difference = tree.value[leaf, v, i] - x
            distances[i] += difference * difference


@inner()
def least_distances(tree, block, target, bounds, level):
    """Squared distances from a point to the boxes of a block; infinite to empty ones."""
    width = tree.low.shape[2]
    for i in range(width):
        bounds[level, i] = 0.0
    for v in range(len(target)):
        x = target[v]
        for i in range(width):
            below, above = tree.low[block, v, i] - x, x - tree.high[block, v, i]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            bounds[level, i] += gap * gap


class Walk(NamedTuple):
    """The way from the top of a tree to a leaf, and room for the distances to its records."""

    bounds: np.ndarray  # (levels, WIDTH) to the boxes of the block on each level
    at: np.ndarray  # (levels,) that block
    here: np.ndarray  # (WIDTH,)


@inner()
def begin_walk(tree):
    """Room for a walk."""
    levels = len(tree.start) - 1
    return Walk(np.empty((levels, WIDTH)), np.empty(levels, dtype=np.int64), np.empty(WIDTH))


@inner()
def enter(tree, walk, level, block, target):
    """Step into a block of some level: bound the distances from a point to its boxes."""
    walk.at[level] = block
    least_distances(tree, block, target, walk.bounds, level)


@inner()
def enter_top(tree, walk, target):
    """Begin a walk at the top of the tree; the level."""
    level = len(walk.at) - 1
    enter(tree, walk, level, tree.start[level], target)
    return level


@inner()
def inside(tree, walk, level, lane):
    """The block that is in a box on the way, or on level 0 the leaf."""
    below = (walk.at[level] - tree.start[level]) * WIDTH + lane
    return below + tree.start[level - 1] if level > 0 else below


@inner()
def descend(tree, walk, level, lane, target):
    """Step into a box on the way: the level after it, and the leaf if it was one, else -1."""
    below = inside(tree, walk, level, lane)
    if level == 0:
        return level, below
    enter(tree, walk, level - 1, below, target)
    return level - 1, -1


@inner()
def nearest_box(walk, level, limit):
    """Level, lane and bound of the nearest box on the way that is not beyond a limit.

    It counts as visited from then on. Where a level has none the walk goes up; there is no box
    left if it comes to a level that is not there.
    """
    while level < len(walk.at):
        lane, bound = 0, walk.bounds[level, 0]
        for i in range(1, WIDTH):
            if walk.bounds[level, i] < bound:
                lane, bound = i, walk.bounds[level, i]
        if bound <= limit and bound < np.inf:
            walk.bounds[level, lane] = np.inf
            return level, lane, bound
        level += 1
    return level, 0, np.inf


@inner()
def nearest(tree, target, k, found, distances):
    """Find the k records nearest to a point, by distance and then by index.

    Parameters
    ----------
    found, distances : arrays of k places
        Records and squared distances that the search is to beat, in order, NONE and infinity
        where any will do; they are replaced by what is found.
    """
    walk = begin_walk(tree)
    last = k - 1
    level = enter_top(tree, walk, target)
    while True:
        level, lane, bound = nearest_box(walk, level, distances[last])
        if level == len(walk.at):
            return
        if bound == distances[last] and tree.lowest[walk.at[level], lane] > found[last]:
            continue
        level, leaf = descend(tree, walk, level, lane, target)
        if leaf < 0:
            continue
        distances_to_leaf(tree, leaf, target, walk.here)
        for i in range(WIDTH):
            if walk.here[i] <= distances[last]:
                _insert(found, distances, last, tree.record[leaf, i], walk.here[i])


@inner()
def _insert(found, distances, last, record, distance):
    """Put a record in its place among the nearest, if it is one of them."""
    i = last
    if distance == distances[i] and record > found[i]:
        return
    while i > 0 and (
        distance < distances[i - 1] or (distance == distances[i - 1] and record < found[i - 1])
    ):
        found[i], distances[i] = found[i - 1], distances[i - 1]
        i -= 1
    found[i], distances[i] = record, distance


@inner()
def take_out(tree, record):
    """Take a record out of the tree and shrink the boxes that it was in."""
    at = tree.place[record]
    leaf, lane = at // WIDTH, at % WIDTH
    tree.place[record] = -1
    tree.record[leaf, lane] = -1
    if len(tree.single) > 0:
        tree.single[leaf // ROW, 0, leaf % ROW * WIDTH + lane] = np.nan
    inner = leaf
    for level in range(len(tree.start) - 1):
        block, lane_up = tree.start[level] + inner // WIDTH, inner % WIDTH
        tree.held[block, lane_up] -= 1
        inner //= WIDTH
    for v in range(tree.value.shape[1]):
        x = tree.value[leaf, v, lane]
        tree.value[leaf, v, lane] = np.nan
        _shrink(tree, leaf, v, x)


@inner()
def _shrink(tree, leaf, v, x):
    """Draw in one variable of the boxes that a value x has left."""
    inner = leaf
    for level in range(len(tree.start) - 1):
        block, lane = tree.start[level] + inner // WIDTH, inner % WIDTH
        if x != tree.low[block, v, lane] and x != tree.high[block, v, lane]:
            return
        low, high = np.inf, -np.inf
        if level == 0:
            for i in range(WIDTH):
                y = tree.value[leaf, v, i]
                low = y if y < low else low
                high = y if y > high else high
        else:
            below = tree.start[level - 1] + inner
            for i in range(WIDTH):
                y, z = tree.low[below, v, i], tree.high[below, v, i]
                low = y if y < low else low
                high = z if z > high else high
        tree.low[block, v, lane], tree.high[block, v, lane] = low, high
        inner //= WIDTH
