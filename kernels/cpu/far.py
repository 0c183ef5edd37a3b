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

from .boxes import WIDTH, Boxes, begin_walk, distances_to_leaf, inside
from .compiled import inner

_NEAR = 8.0  # a target is this many times nearer to its reference than to what it looks for
_MOST = 2**26  # values kept, at 4 bytes


class Seen(NamedTuple):
    """What searches have seen from each reference point."""

    reference: np.ndarray  # (references, d)
    excess: np.ndarray  # (references, blocks, WIDTH) K(q) - |m - q|^2 of each box, infinite
    # until seen


def unseen(tree: Boxes) -> Seen:
    """Choose the references of a tree: as many as there is room for, none for a small one."""
    blocks, d = tree.low.shape[:2]
    for level in range(1, len(tree.start) - 1):
        centres = tree.centre[tree.start[level] : tree.start[level + 1]]
        there = tree.held[tree.start[level] : tree.start[level + 1]] > 0
        if there.sum() * blocks * WIDTH <= _MOST:
            reference = np.ascontiguousarray(centres.transpose(0, 2, 1)[there])
            return Seen(reference, np.full((len(reference), blocks, WIDTH), np.inf, np.float32))
    return Seen(np.empty((0, d)), np.empty((1, blocks, WIDTH), np.float32))


@inner()
def bound_block(tree, block, target, away, excess, bounds, level, scratch):
    """Bounds on the squared distance from a target to any record in the boxes of a block.

    Parameters
    ----------
    away : float
        Distance from the target to the reference; negative if there is none.
    excess : array of shape (blocks, WIDTH)
        What has been seen from the reference.
    """
    width = tree.low.shape[2]
    for i in range(width):
        bounds[level, i] = 0.0
        scratch[i] = 0.0
    for v in range(len(target)):
        x = target[v]
        for i in range(width):
            below, above = x - tree.low[block, v, i], tree.high[block, v, i] - x
            reach = below if below > above else above
            reach = reach if reach > 0.0 else 0.0
            bounds[level, i] += reach * reach
            difference = tree.centre[block, v, i] - x
            scratch[i] += difference * difference
    slack = 1.0 + (len(target) + 8) * 2.0**-49
    for i in range(width):
        ball = math.sqrt(scratch[i]) + tree.radius[block, i]
        ball = ball * ball * slack
        bounds[level, i] = ball if ball < bounds[level, i] else bounds[level, i]
    if away >= 0.0:
        for i in range(width):
            seen = scratch[i] + 2.0 * tree.radius[block, i] * away
            seen = excess[block, i] + seen * slack
            bounds[level, i] = seen if seen < bounds[level, i] else bounds[level, i]


@inner()
def _note(tree, block, lane, reference, greatest, excess):
    """Note the largest squared distance to the reference that a box can have."""
    gap = 0.0
    for v in range(len(reference)):
        difference = tree.centre[block, v, lane] - reference[v]
        gap += difference * difference
    # 2**-22 covers the rounding to single precision, and that of the sums many times over;
    # what single precision cannot hold is not noted.
    if 1e-30 < greatest + gap < 1e37:
        excess[block, lane] = greatest - gap + (greatest + gap) * 2.0**-22


@inner()
def note_leaf(tree, leaf, reference, excess, scratch):
    distances_to_leaf(tree, leaf, reference, scratch)
    greatest = 0.0
    for i in range(WIDTH):
        greatest = scratch[i] if scratch[i] > greatest else greatest
    _note(tree, leaf // WIDTH, leaf % WIDTH, reference, greatest, excess)


@inner()
def _note_block(tree, block, above, lane, reference, excess, scratch):
    """Note for a block's own box the largest of its boxes' bounds."""
    bounds = np.empty((1, WIDTH))
    bound_block(tree, block, reference, 0.0, excess, bounds, 0, scratch)
    greatest = 0.0
    for i in range(WIDTH):
        if tree.held[block, i] > 0:
            greatest = max(greatest, bounds[0, i])
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


@inner()
def farthest(tree, seen, target, record, distance):
    """Find the record farthest from a point, the lowest of several.

    Parameters
    ----------
    record, distance : int, float
        What the search is to beat: a record and its squared distance, else NONE and -1.
    """
    levels = len(tree.start) - 1
    walk = begin_walk(tree)
    bounds, at, here = walk.bounds, walk.at, walk.here
    news = np.zeros(levels, dtype=np.bool_)
    q, away = nearest_reference(seen, target)
    reference = seen.reference[q] if away >= 0.0 else target
    excess = seen.excess[q]
    level = levels - 1
    at[level] = tree.start[level]
    bound_block(tree, at[level], target, away, excess, bounds, level, here)
    reach = 0.0
    for i in range(WIDTH):
        reach = max(reach, bounds[level, i])
    if (_NEAR * away) ** 2 > reach:
        away = -1.0  # too far from the reference for its view to tell anything
    while True:
        lane, bound = 0, bounds[level, 0]
        for i in range(1, WIDTH):
            if bounds[level, i] > bound:
                lane, bound = i, bounds[level, i]
        if bound < distance or bound < 0.0:
            level += 1
            if level == levels:
                return record, distance
            if news[level - 1]:
                news[level - 1], news[level] = False, True
                block = at[level - 1]
                lane = (block - tree.start[level - 1]) % WIDTH
                _note_block(tree, block, at[level], lane, reference, excess, here)
            continue
        bounds[level, lane] = -1.0
        if tree.held[at[level], lane] == 0:
            continue
        if bound == distance and tree.lowest[at[level], lane] > record:
            continue
        below = inside(tree, walk, level, lane)
        if level > 0:
            level -= 1
            at[level] = below
            bound_block(tree, at[level], target, away, excess, bounds, level, here)
            continue
        distances_to_leaf(tree, below, target, here)
        for i in range(WIDTH):
            if here[i] >= distance:
                candidate = tree.record[below, i]
                if here[i] > distance or candidate < record:
                    record, distance = candidate, here[i]
        if away >= 0.0 and excess[at[0], lane] == np.inf:
            note_leaf(tree, below, reference, excess, here)
            news[0] = True
