"""The record farthest from a point, where the points asked about are mostly near the middle.

From the middle of the data no direction differs much from the others, and a tree's bounds are
weak. So the outermost records are kept in a list, ordered by their distance to a reference point.
A target that has drifted from the reference is at most the drift nearer to or farther from any
record: the list is read until what follows cannot win. It is drawn up anew, around the present
target, when it has been used up or the reading gets long.
"""

import math
from typing import NamedTuple

import numpy as np

from . import boxes, far
from .boxes import NONE, WIDTH
from .compiled import entry, inner

_LENGTH = 2048  # records on the list
_READ = 128  # records read in one search before the list is drawn up anew
GUESSES = 128  # records tried before a search by the tree
_START, _STOP, _PAUSE = 0, 1, 2
_BEYOND, _REACH = 0, 1


class Outer(NamedTuple):
    """The list of outermost records."""

    reference: np.ndarray  # (d,)
    record: np.ndarray  # (_LENGTH,) farthest from the reference first
    row: np.ndarray  # (_LENGTH, d) their values: near each other in memory
    key: np.ndarray  # (_LENGTH,) squared distances to the reference
    state: np.ndarray  # (3,) start and stop of what is in use; searches to do without the list
    limit: np.ndarray  # (2,) no record off the list has a key above the first; greatest key


def empty(d: int) -> Outer:
    """A list that has yet to be drawn up."""
    return Outer(
        np.empty(d),
        np.empty(_LENGTH, dtype=np.int64),
        np.empty((_LENGTH, d)),
        np.empty(_LENGTH),
        np.zeros(3, dtype=np.int64),
        np.array([np.inf, 0.0]),
    )


@inner()
def squared_distance(points, record, target):
    """Squared distance from a record to a point."""
    total = 0.0
    for v in range(len(target)):
        difference = points[record, v] - target[v]
        total += difference * difference
    return total


@entry()
def _keys(tree, target, keys):
    for place in range(len(keys)):
        there = tree.record[place // WIDTH, place % WIDTH] >= 0
        keys[place] = boxes.distance_of(tree, place, target) if there else -1.0


def draw_up(tree: boxes.Boxes, target: np.ndarray, outer: Outer) -> None:
    """List the records farthest from a target, which becomes the reference."""
    keys = np.empty(tree.record.size)
    _keys(tree, target, keys)
    listed = np.arange(len(keys))
    outer.limit[_BEYOND] = -1.0
    if len(keys) > _LENGTH:
        listed = np.argpartition(keys, -_LENGTH)
        outer.limit[_BEYOND] = keys[listed[:-_LENGTH]].max()
        listed = listed[-_LENGTH:]
    listed = listed[np.argsort(-keys[listed])]
    outer.key[: len(listed)] = keys[listed]
    outer.record[: len(listed)] = tree.record.reshape(-1)[listed]
    outer.row[: len(listed)] = tree.row[listed]
    outer.reference[:] = target
    outer.state[_START], outer.state[_STOP] = 0, np.count_nonzero(keys[listed] >= 0.0)
    outer.limit[_REACH] = outer.key[0]


def on_list(tree: boxes.Boxes, outer: Outer) -> np.ndarray:
    """The records on the list that have not left, the outermost first."""
    listed = outer.record[outer.state[_START] : outer.state[_STOP]]
    return listed[tree.place[listed] >= 0]


@inner()
def in_use(outer):
    """Whether searches read the list, and are not made without it for a while."""
    return outer.state[_PAUSE] <= 0


@inner()
def _read(tree, target, outer):
    """The farthest record on the list, its distance, and whether no other can be as far."""
    slack = 1.0 + (len(target) + 8) * 2.0**-49
    drift = 0.0
    for v in range(len(target)):
        difference = outer.reference[v] - target[v]
        drift += difference * difference
    drift = math.sqrt(drift) * slack
    record, distance, least, read = NONE, -1.0, -1.0, 0
    while (
        outer.state[_START] < outer.state[_STOP]
        and tree.place[outer.record[outer.state[_START]]] < 0
    ):
        outer.state[_START] += 1
    for i in range(outer.state[_START], outer.state[_STOP]):
        if outer.key[i] < least:
            return record, distance, True
        here = outer.record[i]
        if tree.place[here] < 0:
            continue
        read += 1
        if read > _READ and drift > 0.0:
            return record, distance, False
        far = squared_distance(outer.row, i, target)
        if far > distance or (far == distance and here < record):
            record, distance = here, far
            nearer = max(math.sqrt(distance) / slack - drift, 0.0)
            least = nearer * nearer / slack
    return record, distance, outer.limit[_BEYOND] < least


@inner()
def _guess(tree, target, outer):
    """The farthest of the first records on the list: something for a search to beat."""
    record, distance = NONE, -1.0
    start = outer.state[_START]
    for i in range(start, min(start + GUESSES, outer.state[_STOP])):
        here = outer.record[i]
        if tree.place[here] >= 0:
            far = squared_distance(outer.row, i, target)
            if far > distance or (far == distance and here < record):
                record, distance = here, far
    return record, distance


@inner()
def search(tree, walk, seen, target, outer):
    """The record farthest from a target, the lowest of several, by the tree."""
    record, distance = _guess(tree, target, outer)
    return far.farthest(tree, walk, seen, target, record, distance)[0]


@inner()
def outermost(tree, walk, seen, total, left, target, outer):
    """The record farthest from a target near the middle; see `farthest`."""
    away = 0.0
    for v in range(len(target)):
        difference = total[0, v] / left - target[v]
        away += difference * difference
    outer.state[_PAUSE] -= 1
    if 16.0 * away > outer.limit[_REACH] or outer.state[_PAUSE] > 0:
        return search(tree, walk, seen, target, outer)
    record, _, sure = _read(tree, target, outer)
    return record if sure else NONE


@entry()
def farthest(tree, seen, total, left, target, outer):
    """The record farthest from a target, the lowest of several.

    Parameters
    ----------
    total, left : array of shape (2, d), int
        Sum and number of the records that remain: where the middle is.

    Returns
    -------
    int
        NONE if the list has to be drawn up to know it.
    """
    return outermost(tree, boxes.begin_walk(tree), seen, total, left, target, outer)


def pause(tree: boxes.Boxes, target: np.ndarray, outer: Outer) -> None:
    """Do without the list for a while: there are more equals than it is long."""
    outer.state[_PAUSE] = 65
