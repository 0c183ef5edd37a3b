"""The record farthest from a point, by a tree's boxes and by what earlier searches have seen.

In ten dimensions the corners of a box and the far side of a ball are well beyond the records
in them. But targets come in the neighbourhood of earlier ones. For a reference point q near
the target t, a box with centre m and radius rho, and any record x in it

    |x - t|^2 = |x - q|^2 + 2 (x - m).(q - t) + |m - t|^2 - |m - q|^2
             <= K(q) + 2 rho |q - t| + |m - t|^2 - |m - q|^2

where K(q) is the largest |x - q|^2 in the box. That is short of tight by a small part of what
the ball is. K(q) is found when a leaf has to be looked at for the first time, and goes up to
the boxes around it; as records leave it stays a bound. The references are the centres of the
boxes of one level, and what is kept is K(q) - |m - q|^2, rounded up to single precision.
"""

import math
from typing import NamedTuple

import numpy as np

from . import boxes
from .boxes import SLACK, WIDTH, Boxes
from .compiled import inner
from .lanes import first_lane, greatest_lane, lanes_beyond, lanes_from, write_reaches

_NEAR = 8.0  # a target is this many times nearer to its reference than to what it looks for
_MOST = 2**26  # values kept, at 4 bytes


class Seen(NamedTuple):
    """What searches have seen from each reference point."""

    reference: np.ndarray  # (references, d)
    excess: np.ndarray  # (references, blocks, WIDTH) K(q) - |m - q|^2 of each box, infinite
    # until seen, in the tree's unit


def unseen(tree: Boxes) -> Seen:
    """Choose the references of a tree: as many as there is room for, none for a small one."""
    blocks, d = tree.low.shape[:2]
    for level in range(1, len(tree.start) - 1):
        some = slice(tree.start[level], tree.start[level + 1])
        there = tree.held[some] > 0
        if there.sum() * blocks * WIDTH <= _MOST:
            centres = tree.centre[some].astype(np.float64) / tree.scale
            centres += tree.middle[some, :, np.newaxis]
            reference = np.ascontiguousarray(centres.transpose(0, 2, 1)[there])
            return Seen(reference, np.full((len(reference), blocks, WIDTH), np.inf, np.float32))
    return Seen(np.empty((0, d)), np.empty((1, blocks, WIDTH), np.float32))


@inner(forceinline=True)
def bound_block(tree, walk, block, target, away, excess, bounds, level):
    """Bounds on the squared distance from a target to any record in the boxes of a block.

    Parameters
    ----------
    away : float
        Distance from the target to the reference; negative if there is none.
    excess : array of shape (blocks, WIDTH)
        What has been seen from the reference.
    """
    reach, d = walk.reach, len(target)
    boxes.relate(tree, block, target, walk)
    square = walk.square[0]
    write_reaches(tree.low, tree.high, tree.centre, tree.away, block, walk.relative, square, reach)
    # The squares of the centre's and the target's distances to the middle are at most square + m,
    # where m is the greatest in the block.
    slack = np.float32(1.0 + (d + 8) * SLACK)
    off = np.float32((d + 8) * SLACK * (square + tree.far[block]) + 1e-36)
    twice = np.float32(2.0 * max(away, 0.0) * tree.scale) * slack
    for i in range(WIDTH):
        gap = reach[1, i] + off
        gap = math.sqrt(gap if gap > np.float32(0.0) else np.float32(0.0)) * slack
        ball = gap + tree.radius[block, i]
        ball *= ball
        bound = reach[0, i] if reach[0, i] < ball else ball
        if away >= 0.0:
            seen = excess[block, i] + (gap * gap + tree.radius[block, i] * twice) * slack
            bound = seen if seen < bound else bound
        bounds[level, i] = bound * slack


@inner()
def _note(tree, block, lane, reference, greatest, excess):
    """Note the largest squared distance to the reference that a box can have."""
    gap = 0.0
    for v in range(len(reference)):
        relative = (reference[v] - tree.middle[block, v]) * tree.scale
        difference = tree.centre[block, v, lane] - relative
        gap += difference * difference
    greatest *= tree.scale * tree.scale
    # 2**-22 covers the rounding to single precision, and that of the sums many times over.
    excess[block, lane] = greatest - gap + (greatest + gap) * 2.0**-22 + 1e-36


@inner()
def note_leaf(tree, leaf, reference, excess):
    greatest = 0.0
    for i in range(WIDTH):
        if tree.record[leaf, i] >= 0:
            distance = boxes.distance_of(tree, leaf * WIDTH + i, reference)
            greatest = max(greatest, distance)
    _note(tree, leaf // WIDTH, leaf % WIDTH, reference, greatest, excess)


@inner()
def _note_block(tree, walk, block, above, lane, reference, excess):
    """Note for a block's own box the largest of its boxes' bounds."""
    bound_block(tree, walk, block, reference, 0.0, excess, walk.spare, 0)
    greatest = 0.0
    for i in range(WIDTH):
        if tree.held[block, i] > 0:
            greatest = max(greatest, walk.spare[0, i] / tree.square)
    _note(tree, above, lane, reference, greatest, excess)


@inner()
def nearest_reference(seen, target):
    """The reference nearest to a target and its distance, with slack; -1 if there is none."""
    nearest, least = 0, np.inf
    for q in range(len(seen.reference)):
        distance = 0.0
        for v in range(len(target)):
            difference = seen.reference[q, v] - target[v]
            distance += difference * difference
        if distance < least:
            nearest, least = q, distance
    if least == np.inf:
        return 0, -1.0
    return nearest, math.sqrt(least) * (1.0 + (len(target) + 8) * 2.0**-49)


@inner(forceinline=True)
def below(tree, distance):
    """What is not above the bound of any record as far as a squared distance."""
    return np.float32(distance * tree.square * (1.0 - SLACK) - 1e-36)


@inner(forceinline=True)
def candidates(tree, leaf, walk, limit):
    """The lanes of a leaf whose squared distance to the target may reach a limit, as bits.

    The leaf is in the block that was entered last.
    """
    return lanes_beyond(
        tree.single, tree.half, tree.reach, leaf, walk.relative, walk.square[0], limit * tree.square
    )


@inner()
def _scan(tree, target, record, distance):
    """As `farthest`, by looking at all records."""
    for leaf in range(len(tree.record)):
        for i in range(WIDTH):
            candidate = tree.record[leaf, i]
            if candidate >= 0:
                far = boxes.distance_of(tree, leaf * WIDTH + i, target)
                if far > distance or (far == distance and candidate < record):
                    record, distance = candidate, far
    return record, distance


@inner()
def farthest(tree, walk, seen, target, record, distance):
    """Find the record farthest from a point, the lowest of several.

    Parameters
    ----------
    record, distance : int, float
        What the search is to beat: a record and its squared distance, else NONE and -1.
    """
    levels = len(tree.start) - 1
    bounds, at, news = walk.bounds, walk.at, walk.news
    news[:] = False
    q, away = nearest_reference(seen, target)
    reference = seen.reference[q] if away >= 0.0 else target
    excess = seen.excess[q]
    level = levels - 1
    at[level] = tree.start[level]
    bound_block(tree, walk, at[level], target, away, excess, bounds, level)
    if walk.square[0] > boxes.FAR:  # long before it is cut off; and all records are far anyway
        return _scan(tree, target, record, distance)
    if (_NEAR * away) ** 2 * tree.square > greatest_lane(bounds, level)[1]:
        away = -1.0  # too far from the reference for its view to tell anything
    while level < levels:
        least = max(below(tree, distance), np.float32(0.0))
        if level == 0:  # to choose the best first would take as long as to look into it
            lanes = lanes_from(bounds, 0, least)
            while lanes:
                lane = first_lane(lanes)
                lanes &= lanes - 1
                if bounds[0, lane] < least or tree.held[at[0], lane] == 0:
                    continue
                if (
                    tree.lowest[at[0], lane] > record
                    and tree.equal[at[0], lane]
                    and boxes.distance_of_equals(tree, walk, 0, lane, target) <= distance
                ):
                    continue
                leaf = boxes.inside(tree, walk, 0, lane)
                found = candidates(tree, leaf, walk, distance)
                while found:
                    i = first_lane(found)
                    found &= found - 1
                    candidate = tree.record[leaf, i]
                    far = boxes.distance_of(tree, leaf * WIDTH + i, target)
                    if far > distance or (far == distance and candidate < record):
                        record, distance = candidate, far
                        least = below(tree, distance)
                if away >= 0.0 and excess[at[0], lane] == np.inf:
                    note_leaf(tree, leaf, reference, excess)
                    news[0] = True
        else:
            lane, bound = greatest_lane(bounds, level)
            if bound >= least:
                bounds[level, lane] = -1.0
                if tree.held[at[level], lane] == 0 or (
                    tree.lowest[at[level], lane] > record
                    and tree.equal[at[level], lane]
                    and boxes.distance_of_equals(tree, walk, level, lane, target) <= distance
                ):
                    continue
                inside = boxes.inside(tree, walk, level, lane)
                level -= 1
                at[level] = inside
                bound_block(tree, walk, inside, target, away, excess, bounds, level)
                continue
        level += 1
        if level < levels and news[level - 1]:
            news[level - 1], news[level] = False, True
            block = at[level - 1]
            lane = (block - tree.start[level - 1]) % WIDTH
            _note_block(tree, walk, block, at[level], lane, reference, excess)
    return record, distance
