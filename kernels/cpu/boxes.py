"""A search tree over the records that remain, made for scanning side by side.

Records lie in leaves of 32, and leaves, and the boxes around them, in blocks of 32, level upon
level to a single block on top; a block of boxes has one row per variable, so that a target's
distances to 32 records or bounds to 32 boxes are computed together. There are no pointers:
lane i of block b stands for block 32 b + i one level below.

A record is taken out by writing NaN over its distance, which wins no comparison; the boxes around
it shrink, and an empty one turns inside out.

The tree is in single precision, which is half as much to read and twice as many lanes (lanes.py).
It only says which records may be the ones looked for: their distances are then computed from the
values in double precision. So that little is lost, values are relative to a point nearby, in a
unit (a power of two) in which none is above 1. With u = 2**-24,

- what bounds a box is moved outwards by 4 u of itself, which covers its rounding, that of the
  record's value that it was taken from, and that of the target, but for u times the gap between
  them; a sum of d squares is off by less than (d + 4) u of itself;
- the squares of a record's distance x to that point and of the target's distance t are off by
  less than 2 u of themselves, and each of d products by 3 u; a sum of these by less than
  2 (d + 4) u (x**2 + t**2).

`SLACK` and lanes.py allow for more. Squares too small for single precision are 0, which passes.
"""

import math
from typing import NamedTuple

import numpy as np

from .arranging import in_order
from .compiled import entry, inner
from .kdtree import WIDTH, sort_leaves
from .lanes import extent, first_lane, lanes_within, least_lane, write_gaps

NONE = 2**63 - 1  # above every record
SLACK = 2.0**-22  # for each variable and 8 more, of squared distances in single precision
_TINY = 1e-36  # squares near what single precision cannot hold
FAR = 2.0**30  # units: squares of what is farther out than this must be numbers too


class Boxes(NamedTuple):
    """The arrays of a tree over some records of a matrix; level 0 has the boxes of leaves."""

    row: np.ndarray  # (leaves * WIDTH, d) values of each record, also after it has left
    record: np.ndarray  # (leaves, WIDTH), -1 in empty places
    place: np.ndarray  # (n,) leaf * WIDTH + lane of each record, -1 of those not here
    start: np.ndarray  # (levels + 1,) first block of each level
    scale: float  # the unit of all that is in single precision is 1 / scale
    square: float  # of the scale
    middle: np.ndarray  # (blocks, d) a point in each block, to which its boxes, and on level 0
    # the records in them, are relative
    single: np.ndarray  # (leaves, d, WIDTH) values
    half: np.ndarray  # (leaves, WIDTH) half of their squared distance to it, NaN in empty places
    reach: np.ndarray  # (leaves,) what no record in it was farther away
    far: np.ndarray  # (blocks,) the greatest of the squared distances of centres
    low: np.ndarray  # (blocks, d, WIDTH) not above the least values in each box
    high: np.ndarray  # (blocks, d, WIDTH) not below the greatest
    centre: np.ndarray  # (blocks, d, WIDTH) centre and
    away: np.ndarray  # (blocks, WIDTH) half of the centre's squared distance to the middle
    radius: np.ndarray  # (blocks, WIDTH) radius of a ball around what was in the box first
    held: np.ndarray  # (blocks, WIDTH) records in each box
    lowest: np.ndarray  # (blocks, WIDTH) lowest record that was in it first
    equal: np.ndarray  # (blocks, WIDTH) whether all that were in it first are equal


@entry()
def _enclose(tree, n):
    """Fill in a tree's boxes."""
    d = tree.row.shape[1]
    low, high, centre = np.empty(d), np.empty(d), np.empty(d)
    inside = WIDTH
    for level in range(len(tree.start) - 1):
        for first in range(0, n, inside):
            last = min(first + inside, n)
            block, lane = tree.start[level] + first // inside // WIDTH, first // inside % WIDTH
            middle = tree.middle[block]
            if lane == 0:
                for v in range(d):
                    middle[v] = tree.row[first, v]
            _span(tree.row, first, last, low, high)
            lowest = tree.record[first // WIDTH, 0]
            for leaf in range(first // WIDTH, (last + WIDTH - 1) // WIDTH):
                lowest = min(lowest, tree.record[leaf, 0])
            equal, away = True, 0.0
            for v in range(d):
                equal &= low[v] == high[v]
                x, y = (low[v] - middle[v]) * tree.scale, (high[v] - middle[v]) * tree.scale
                tree.low[block, v, lane], tree.high[block, v, lane] = down(x), up(y)
                centre[v] = np.float32(0.5 * (x + y))
                tree.centre[block, v, lane] = centre[v]
                away += centre[v] * centre[v]
            tree.held[block, lane] = last - first
            tree.lowest[block, lane], tree.equal[block, lane] = lowest, equal
            tree.away[block, lane] = 0.5 * away
            tree.far[block] = max(tree.far[block], away)
            radius = 0.0
            for i in range(first, last):
                distance = 0.0
                for v in range(d):
                    x = (tree.row[i, v] - middle[v]) * tree.scale - centre[v]
                    distance += x * x
                radius = max(radius, distance)
            tree.radius[block, lane] = up(math.sqrt(radius) * (1.0 + d * SLACK) + 2.0**-40)
        inside *= WIDTH


@inner()
def _span(rows, first, last, low, high):
    """The least and greatest values of some rows."""
    for i in range(first, last):
        for v in range(len(low)):
            x = rows[i, v]
            if i == first:
                low[v] = high[v] = x
            low[v] = x if x < low[v] else low[v]
            high[v] = x if x > high[v] else high[v]


@entry()
def _fill(tree, n):
    """Fill in the leaves in single precision."""
    d = tree.row.shape[1]
    for leaf in range(len(tree.record)):
        first, last = leaf * WIDTH, min((leaf + 1) * WIDTH, n)
        middle, reach = tree.middle[leaf // WIDTH], 0.0
        for i in range(first, last):
            distance = 0.0
            for v in range(d):
                x = (tree.row[i, v] - middle[v]) * tree.scale
                tree.single[leaf, v, i - first] = x
                distance += x * x
            tree.half[leaf, i - first] = 0.5 * distance
            reach = max(reach, distance)
        tree.reach[leaf] = math.sqrt(reach) * (1.0 + d * SLACK)


@inner()
def down(x):
    """The number in single precision below another."""
    return np.float32(x - abs(x) * 2.0**-22 - 1e-40)


@inner()
def up(x):
    """The number in single precision above another."""
    return np.float32(x + abs(x) * 2.0**-22 + 1e-40)


def build(points: np.ndarray, records: np.ndarray) -> Boxes:
    """Build the tree of some records of a matrix.

    Parameters
    ----------
    points : float64 array of shape (n, d), C order
    records : int64 array, at least one
    """
    order = in_order(points, records)
    row, record, place = sort_leaves(points, order)
    leaves, d = len(record), points.shape[1]
    start = [0, -(-leaves // WIDTH)]
    while start[-1] - start[-2] > 1:
        start.append(start[-1] - (start[-2] - start[-1]) // WIDTH)
    shape = (start[-1], d, WIDTH)
    values = row[: len(order)]
    widest = float(values.max() / 2 - values.min() / 2)
    exponent = min(max(math.frexp(widest)[1] + 2, -500), 500)  # its square must be a number
    tree = Boxes(
        row=row,
        record=record,
        place=place,
        start=np.array(start),
        scale=2.0**-exponent,
        square=math.ldexp(1.0, -2 * exponent),
        middle=np.zeros((start[-1], d)),
        single=np.zeros((leaves, d, WIDTH), np.float32),
        half=np.full((leaves, WIDTH), np.nan, np.float32),
        reach=np.zeros(leaves),
        far=np.zeros(start[-1]),
        low=np.full(shape, np.inf, np.float32),
        high=np.full(shape, -np.inf, np.float32),
        centre=np.zeros(shape, np.float32),
        away=np.zeros((start[-1], WIDTH), np.float32),
        radius=np.zeros((start[-1], WIDTH), np.float32),
        held=np.zeros((start[-1], WIDTH), dtype=np.int64),
        lowest=np.full((start[-1], WIDTH), NONE),
        equal=np.zeros((start[-1], WIDTH), dtype=np.bool_),
    )
    _enclose(tree, len(order))
    _fill(tree, len(order))
    return tree


@inner(forceinline=True)
def distance_of(tree, place, target):
    """Squared distance from a point to the record at a place."""
    total = 0.0
    for v in range(len(target)):
        difference = tree.row[place, v] - target[v]
        total += difference * difference
    return total


class Walk(NamedTuple):
    """The way from the top of a tree to a leaf, used by one search after the other."""

    bounds: np.ndarray  # (levels, WIDTH) to the boxes of the block on each level, in the unit
    at: np.ndarray  # (levels,) that block
    relative: np.ndarray  # (d,) the target, relative to the middle of the block entered last
    square: np.ndarray  # (1,) its squared distance to that
    reach: np.ndarray  # (2, WIDTH) and
    spare: np.ndarray  # (1, WIDTH) for bounds from above (far.py)
    news: np.ndarray  # (levels,) whether these are new


@inner(allocates=True)
def begin_walk(tree):
    """Room for a walk."""
    levels = len(tree.start) - 1
    return Walk(
        np.empty((levels, WIDTH), dtype=np.float32),
        np.empty(levels, dtype=np.int64),
        np.empty(tree.row.shape[1], dtype=np.float32),
        np.empty(1),
        np.empty((2, WIDTH), dtype=np.float32),
        np.empty((1, WIDTH), dtype=np.float32),
        np.empty(levels, dtype=np.bool_),
    )


@inner(forceinline=True)
def relate(tree, block, target, walk):
    """Make a target relative to the middle of a block.

    One that is farther out than `FAR` is taken as if it were there, nearer to all records. So
    bounds from below stay so; searches for the farthest do without the tree then.
    """
    square = 0.0
    for v in range(len(target)):
        x = (target[v] - tree.middle[block, v]) * tree.scale
        x = x if x < FAR else FAR
        x = x if x > -FAR else -FAR
        walk.relative[v] = x
        square += x * x
    walk.square[0] = square


@inner(forceinline=True)
def enter(tree, walk, level, block, target):
    """Step into a block of some level: bound the distances from a point to its boxes."""
    walk.at[level] = block
    relate(tree, block, target, walk)
    write_gaps(tree.low, tree.high, block, walk.relative, walk.bounds, level)


@inner(forceinline=True)
def candidates(tree, leaf, walk, limit):
    """The lanes of a leaf whose squared distance to the target may be within a limit, as bits.

    The leaf is in the block that was entered last.
    """
    return lanes_within(
        tree.single, tree.half, tree.reach, leaf, walk.relative, walk.square[0], limit * tree.square
    )


@inner()
def enter_top(tree, walk, target):
    """Begin a walk at the top of the tree; the level."""
    level = len(walk.at) - 1
    enter(tree, walk, level, tree.start[level], target)
    return level


@inner(forceinline=True)
def inside(tree, walk, level, lane):
    """The block that is in a box on the way, or on level 0 the leaf."""
    below = (walk.at[level] - tree.start[level]) * WIDTH + lane
    return below + tree.start[level - 1] if level > 0 else below


@inner(forceinline=True)
def descend(tree, walk, level, lane, target):
    """Step into a box on the way: the level after it, and the leaf if it was one, else -1."""
    below = inside(tree, walk, level, lane)
    if level == 0:
        return level, below
    enter(tree, walk, level - 1, below, target)
    return level - 1, -1


@inner(forceinline=True)
def above(tree, limit):
    """A squared distance, in the tree's unit, that no bound for one within a limit is above."""
    return np.float32(limit * tree.square * (1.0 + (tree.row.shape[1] + 9) * SLACK) + _TINY)


@inner(forceinline=True)
def nearest_box(tree, walk, level, limit):
    """Level and lane of the nearest box on the way that is not beyond a squared distance.

    It counts as visited from then on. Where a level has none the walk goes up; there is no box
    left if it comes to a level that is not there.
    """
    most = above(tree, limit)
    while level < len(walk.at):
        lane, bound = least_lane(walk.bounds, level)
        if bound <= most and bound < np.inf:
            walk.bounds[level, lane] = np.inf
            return level, lane
        level += 1
    return level, 0


@inner(forceinline=True)
def distance_of_equals(tree, walk, level, lane, target):
    """The squared distance from a point to the records of a box in which all are equal."""
    first = (walk.at[level] - tree.start[level]) * WIDTH + lane
    return distance_of(tree, first * WIDTH ** (level + 1), target)


@inner()
def nearest(tree, walk, target, found, distances):
    """Find the records nearest to a point, by distance and then by index.

    Parameters
    ----------
    found, distances : arrays of as many places
        Records and squared distances that the search is to beat, in order, NONE and infinity
        where any will do; they are replaced by what is found.
    """
    last = len(found) - 1
    level = enter_top(tree, walk, target)
    while True:
        level, lane = nearest_box(tree, walk, level, distances[last])
        if level == len(walk.at):
            return
        if (
            tree.lowest[walk.at[level], lane] > found[last]
            and tree.equal[walk.at[level], lane]
            and distance_of_equals(tree, walk, level, lane, target) >= distances[last]
        ):
            continue
        level, leaf = descend(tree, walk, level, lane, target)
        if leaf < 0:
            continue
        lanes = candidates(tree, leaf, walk, distances[last])
        while lanes:
            lane = first_lane(lanes)
            lanes &= lanes - 1
            distance = distance_of(tree, leaf * WIDTH + lane, target)
            if distance <= distances[last]:
                insert(found, distances, last, tree.record[leaf, lane], distance)


@inner(forceinline=True)
def insert(found, distances, last, record, distance):
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


@inner(forceinline=True)
def take_out(tree, record):
    """Take a record out of the tree and shrink the boxes that it was in."""
    at = tree.place[record]
    leaf, lane = at // WIDTH, at % WIDTH
    tree.place[record] = -1
    tree.record[leaf, lane] = -1
    tree.half[leaf, lane] = np.nan
    inner = leaf
    for level in range(len(tree.start) - 1):
        block, lane_up = tree.start[level] + inner // WIDTH, inner % WIDTH
        tree.held[block, lane_up] -= 1
        inner //= WIDTH
    for v in range(tree.row.shape[1]):
        _shrink(tree, leaf, v, tree.row[at, v])


@inner(forceinline=True)
def _shrink(tree, leaf, v, x):
    """Draw in one variable of the boxes that a value x has left."""
    inner = leaf
    for level in range(len(tree.start) - 1):
        block, lane = tree.start[level] + inner // WIDTH, inner % WIDTH
        middle = tree.middle[block, v]
        low, high = tree.low[block, v, lane], tree.high[block, v, lane]
        relative = (x - middle) * tree.scale
        near = (abs(low) + abs(high)) * 2.0**-18  # boxes grew when they were rounded
        if low + near < relative < high - near:
            return
        if level == 0:
            low, high = extent(tree.single, tree.single, tree.half, leaf, v)
        else:  # empty boxes are inside out, so all count
            below = tree.start[level - 1] + inner
            low, high = extent(tree.low, tree.high, tree.away, below, v)
            away = (tree.middle[below, v] - middle) * tree.scale
            off = (abs(away) + 2.0) * 2.0**-50
            low, high = low + away - off, high + away + off
        if low <= high:
            low, high = down(low), up(high)
        tree.low[block, v, lane], tree.high[block, v, lane] = low, high
        inner //= WIDTH
