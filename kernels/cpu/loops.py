"""MDAV, V-MDAV and centroid as compiled loops, which come back to Python a few times a second.

The texts are in `microagg_gpu.methods`; the groups are the same. A step asks for the record
farthest from a point, which a list of outermost records answers (outer.py), and takes the nearest
to it.

The steps of MDAV depend on each other, but the list tells well which records the next ones will be.
So in large sets the few farthest records are found together for some of them, and the few nearest
to them and to the farthest (ahead.py): all cores answer, one decides. Answers stay exact while
records leave: of the few that were farthest, the first that is still there is the farthest of all
that are; and k of the m that were nearest, the first k still there, are the k nearest. Where too
few are left, or a record was not foreseen, a search is made then.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..generic import join_closest_groups, join_nearest_records
from ..generic.arrays import to_numpy
from ..protocol import Progress
from . import ahead, boxes, far, outer
from .boxes import NONE, WIDTH
from .compiled import entry, inner
from .few import groups_of_few
from .kdtree import select
from .points import distance_to_nearest, gather, nearest_to_group
from .sums import add, sum_rows

_MANY = 256  # with more neighbours to a group, all distances are computed
_BUDGET = 2e8  # differences of values that a call may look at: some tenths of a second
_DONE, _LIST, _UNFORESEEN, _HALVED, _PAUSED = range(5)  # why a call returns
_LEFT, _GROUPS, _STEPS, _NEXT, _USED = range(5)  # what the state holds


def mdav_groups(
    points: Any, k: int, within: np.ndarray | None = None, progress: Progress | None = None
) -> np.ndarray:
    """The groups of `mdav`; those of a problem are numbered in the order they were formed."""
    points = _matrix(points)
    if within is not None:
        none = np.full(len(points), -1)
        return _each_problem(lambda part: mdav_groups(part, k), points, within, none)
    n, d = points.shape
    labels = _run(_mdav, points, k, progress, answers=ahead.Ahead(n, d, k))
    labels[labels < 0] = labels.max() + 1
    return labels


def vmdav_groups(points: Any, k: int, gamma: float, progress: Progress | None = None) -> np.ndarray:
    """The groups of `vmdav`."""
    points = _matrix(points)
    centroid = sum_rows(points)[0] / len(points)
    labels = _run(_vmdav, points, k, progress, centroid, float(gamma))
    return _with_rest(points, labels, join_nearest_records)


def centroid_groups(
    points: Any,
    k: int,
    gather: str,
    within: np.ndarray | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """The groups of `centroid`."""
    points = _matrix(points)
    if within is not None:
        few = groups_of_few(points, within, k, False, gather == "centroid")
        return _each_problem(lambda part: centroid_groups(part, k, gather), points, within, few)
    labels = _run(_centroid, points, k, progress, gather == "centroid")
    return _with_rest(points, labels, join_closest_groups)


def _each_problem(
    groups_of: Callable[[np.ndarray], np.ndarray],
    points: np.ndarray,
    within: np.ndarray,
    labels: np.ndarray,
) -> np.ndarray:
    """Labels of each problem's groups, no label in two problems.

    Parameters
    ----------
    labels
        What is known of them: from 0 on in a problem, or -1. Changed.
    """
    used = 0
    order = np.argsort(within, kind="stable")
    for problem in np.split(order, np.flatnonzero(np.diff(within[order])) + 1):
        if labels[problem[0]] < 0:
            labels[problem] = groups_of(points[problem])
        labels[problem] += used
        used = labels[problem].max() + 1
    return labels


def _matrix(points: Any) -> np.ndarray:
    return np.ascontiguousarray(to_numpy(points), dtype=np.float64)


def _with_rest(
    points: np.ndarray, labels: np.ndarray, join: Callable[[Any, list[list[int]], list[int]], None]
) -> np.ndarray:
    """Labels with which the records that are left over have joined groups."""
    rest = np.flatnonzero(labels < 0)
    if len(rest):
        order = np.argsort(labels, kind="stable")[len(rest) :]
        cuts = np.flatnonzero(np.diff(labels[order])) + 1
        groups = [group.tolist() for group in np.split(order, cuts)]
        join(points, groups, rest.tolist())
        for g, group in enumerate(groups):
            labels[group] = g
    return labels


def _run(
    steps_of: Any,
    points: np.ndarray,
    k: int,
    progress: Progress | None,
    *given: Any,
    answers: ahead.Ahead | None = None,
) -> np.ndarray:
    """Run a loop to its end: the group of each record, -1 of those that are in none.

    Parameters
    ----------
    steps_of : kernel
        Takes steps; returns why it stopped.
    given
        More arguments of it. The first is the point from which the outermost records are looked
        for, if that is not the centroid of those that remain.
    answers : Ahead, optional
        What the loop takes answers from.
    """
    n, d = points.shape
    labels = np.full(n, -1, dtype=np.int64)
    state = np.array([n, 0, 0, NONE, 0])
    total, listed = sum_rows(points), outer.empty(d)
    tree, seen, half = _trees(points, np.arange(n))
    reason = _PAUSED
    while reason != _DONE:
        left, last = int(state[_LEFT]), reason
        steps, more = int(_BUDGET / (left * d)) + 1, given
        if answers is not None:
            steps = min(answers.steps(left, int(state[_STEPS])), steps)
            more = (answers.rows, answers.looking)
        reason = steps_of(
            tree, seen, points, total, listed, labels, state, k, half, steps, *more
        )  # fmt: skip
        if reason == _LIST:  # at once again: there are more equals than the list is long
            again = last == _LIST and left == state[_LEFT]
            remedy = outer.pause if again else outer.draw_up
            middle = given[0] if given and np.ndim(given[0]) else total[0] / state[_LEFT]
            remedy(tree, middle, listed)
        elif reason == _UNFORESEEN and answers is not None:
            answers.find(int(state[_NEXT]), int(state[_USED]), tree, points, listed)
            state[_USED] = 0
        elif reason == _HALVED:
            tree, seen, half = _trees(points, np.flatnonzero(tree.place >= 0))
        if progress is not None:
            progress(1 - state[_LEFT] / n)
        if not state[_LEFT]:
            break
    return labels


def _trees(points: np.ndarray, records: np.ndarray) -> tuple[boxes.Boxes, far.Seen, int]:
    """The tree of some records, what searches have seen in it, and when it is built anew."""
    n = len(records)
    tree = boxes.build(points, records)
    return tree, far.unseen(tree), n // 2 if n > 2 * WIDTH else 0


@entry()
def _mdav(
    tree, seen, points, total, listed, labels, state, k, half, steps, rows, looking
):  # fmt: skip
    """Take steps of MDAV, from answers where there are any."""
    group, distances = np.empty(k, dtype=np.int64), np.empty(k)
    centroid, walk = np.empty(points.shape[1]), boxes.begin_walk(tree)
    for _ in range(steps):
        left = state[_LEFT]
        if left < 2 * k:
            return _DONE
        if left <= half:
            return _HALVED
        _divide(total, left, centroid)
        r = outer.outermost(tree, walk, seen, total, left, centroid, listed)
        if r == NONE:
            return _LIST
        if looking and rows.far_row[r] < 0 and outer.in_use(listed):
            state[_NEXT] = r
            return _UNFORESEEN
        state[_STEPS] += 1
        state[_USED] += 1
        _take_foreseen(tree, walk, points, total, labels, state, r, group, distances, rows)
        if left >= 3 * k:
            s = _first_there(tree, rows.far, rows.far_row[r])
            if s == NONE:
                s = outer.search(tree, walk, seen, points[r], listed)
            _take_foreseen(tree, walk, points, total, labels, state, s, group, distances, rows)
    return _PAUSED


@entry()
def _vmdav(
    tree, seen, points, total, listed, labels, state, k, half, steps, centroid, gamma
):  # fmt: skip
    """Take steps of V-MDAV."""
    group, distances = np.empty(2 * k - 1, dtype=np.int64), np.empty(k)
    walk, nearest, square = boxes.begin_walk(tree), np.empty(1, dtype=np.int64), np.empty(1)
    two, squares = np.empty(2, dtype=np.int64), np.empty(2)
    for _ in range(steps):
        left = state[_LEFT]
        if left < k:
            return _DONE
        if left <= half:
            return _HALVED
        e = outer.outermost(tree, walk, seen, total, left, centroid, listed)
        if e == NONE:
            return _LIST
        _take_nearest(tree, walk, points, total, labels, state, e, group[:k], distances)
        size = k
        while size < 2 * k - 1 and state[_LEFT] > 0:
            nearest_to_group(tree, walk, points, group[:size], nearest, square)
            e_min, d_in = nearest[0], square[0]
            if not d_in <= gamma * distance_to_nearest(tree, walk, points, e_min, two, squares):
                break
            group[size] = e_min
            size += 1
            _take_out(tree, points, total, e_min)
            labels[e_min] = state[_GROUPS] - 1
            state[_LEFT] -= 1
    return _PAUSED


@entry()
def _centroid(
    tree, seen, points, total, listed, labels, state, k, half, steps, gathered
):  # fmt: skip
    """Take steps of the centroid-based method."""
    group, distances = np.empty(k, dtype=np.int64), np.empty(k)
    centroid, walk = np.empty(points.shape[1]), boxes.begin_walk(tree)
    own, centre = np.empty((2, points.shape[1])), np.empty(points.shape[1])
    for _ in range(steps):
        left = state[_LEFT]
        if left < k:
            return _DONE
        if left <= half:
            return _HALVED
        _divide(total, left, centroid)
        r = outer.outermost(tree, walk, seen, total, left, centroid, listed)
        if r == NONE:
            return _LIST
        if gathered:
            gather(tree, walk, points, total, r, group, own, centre, distances[:1])
            _put_label(labels, state, group)
        else:
            _take_nearest(tree, walk, points, total, labels, state, r, group, distances)
    return _PAUSED


@inner()
def _divide(total, left, centroid):
    for v in range(len(centroid)):
        centroid[v] = total[0, v] / left


@inner(forceinline=True)
def _take_out(tree, points, total, record):
    boxes.take_out(tree, record)
    add(total, points, record, -1.0)


@inner(forceinline=True)
def _put_label(labels, state, group):
    """Number a group that was taken."""
    for record in group:
        labels[record] = state[_GROUPS]
    state[_LEFT] -= len(group)
    state[_GROUPS] += 1


@inner(forceinline=True)
def _first_there(tree, lists, row):
    """The first record of a list that has not left; NONE if all have, or there is no list."""
    if row >= 0:
        for record in lists[row]:
            if record != NONE and tree.place[record] >= 0:
                return record
    return NONE


@inner()
def _take_foreseen(
    tree, walk, points, total, labels, state, record, group, distances, rows
):  # fmt: skip
    """Take a record and the k - 1 nearest to it, from answers if these have them."""
    size, row = 1, rows.near_row[record]
    if row >= 0:
        for other in rows.near[row]:
            if size < len(group) and other != NONE and other != record and tree.place[other] >= 0:
                group[size] = other
                size += 1
    if size < len(group):
        _take_nearest(tree, walk, points, total, labels, state, record, group, distances)
        return
    group[0] = record
    for other in group:
        _take_out(tree, points, total, other)
    _put_label(labels, state, group)


@inner()
def _take_nearest(tree, walk, points, total, labels, state, record, group, distances):
    """Take a record and the k - 1 nearest to it."""
    k = len(group)
    group[:] = NONE
    group[0] = record
    _take_out(tree, points, total, record)
    if 1 < k <= _MANY:
        distances[:] = np.inf
        boxes.nearest(tree, walk, points[record], group[1:], distances[1:])
    elif k > 1:
        _nearest_of_all(tree, points, record, group[1:])
    for other in group[1:]:
        _take_out(tree, points, total, other)
    _put_label(labels, state, group)


@inner(allocates=True)
def _nearest_of_all(tree, points, record, found):
    """The records nearest to one that was taken, from the distances of all."""
    n, there = len(points), 0
    keys, order = np.empty(n), np.arange(n)
    for i in range(n):
        if tree.place[i] >= 0:
            keys[there] = outer.squared_distance(points, i, points[record])
            there += 1
    last = len(found) - 1
    select(keys, order, 0, there, last)
    limit, equals = keys[last], len(found)
    for i in range(last):
        equals -= keys[i] < limit
    size = 0
    for i in range(n):
        if tree.place[i] >= 0:
            distance = outer.squared_distance(points, i, points[record])
            if distance < limit or (distance == limit and equals > 0):
                equals -= distance == limit
                found[size] = i
                size += 1
