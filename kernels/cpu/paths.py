"""Paths through all records: nearest point next by a search tree, tours in arrays."""

import math
from time import perf_counter
from typing import Any

import numpy as np

from ..generic.arrays import squared_distances, to_numpy
from ..generic.paths import LEAST_GAIN, LONGEST
from ..protocol import Progress
from . import boxes
from .boxes import NONE
from .compiled import entry, inner
from .sums import sum_rows

_SECONDS = 0.2  # of a call of a kernel, about
_FIRST = 256  # steps of the first call


def nearest_path(points: Any, progress: Progress | None = None) -> np.ndarray:
    """Nearest point next, from the record farthest from the centroid; see `protocol.Engine`."""
    matrix = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    n = len(matrix)
    path = np.empty(n, dtype=np.int64)
    # Asked once: the kernels that search a tree for it would take 8 s to compile.
    path[0] = np.argmax(squared_distances(matrix.T, sum_rows(matrix)[0] / n))
    built, tree = n, boxes.build(matrix, np.arange(n))
    step, size = 1, _FIRST
    while step < n:
        if boxes.WIDTH < n - step + 1 <= built // 2:  # half of the records have left the tree
            built, tree = n - step + 1, boxes.build(matrix, np.flatnonzero(tree.place >= 0))
        last = min(step + size, n)
        begun = perf_counter()
        _walk(tree, matrix, path, step, last)
        size = max(_FIRST, int(size * min(2.0, _SECONDS / (perf_counter() - begun))))
        step = last
        if progress is not None:
            progress(step / n)
    return path


@entry()
def _walk(tree, points, path, step, last):
    """Fill in the path from a step on."""
    distance, walk = np.empty(1), boxes.begin_walk(tree)
    for i in range(step, last):
        boxes.take_out(tree, path[i - 1])
        path[i] = NONE
        distance[0] = np.inf
        boxes.nearest(tree, walk, points[path[i - 1]], path[i : i + 1], distance)


def shorten_tour(
    points: Any, path: np.ndarray, near: np.ndarray, progress: Progress | None = None
) -> np.ndarray:
    """Improve a closed tour by 2-opt and Or-opt; see `protocol.Engine`."""
    matrix = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    n = len(path)
    if n < 2 * LONGEST + 2:
        return np.array(path, dtype=np.int64)
    order = np.array(path, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    queue, queued = order.copy(), np.ones(n, dtype=np.bool_)
    head, waiting = 0, n
    done, turns = 0.0, _FIRST
    near = np.ascontiguousarray(near)
    while waiting:
        begun = perf_counter()
        head, waiting = _improve(matrix, order, place, near, queue, queued, head, waiting, turns)
        turns = min(n, max(16, int(turns * min(2.0, _SECONDS / (perf_counter() - begun)))))
        if progress is not None:
            done = max(done, 1 - waiting / n)
            progress(done)
    return order


@entry()
def _improve(points, order, place, near, queue, queued, head, waiting, turns):
    """Give some records that wait in a ring their turn; return its head and how many wait."""
    n = len(order)
    ends = np.empty(5, dtype=np.int64)
    for _ in range(min(turns, waiting)):
        a = queue[head]
        head = (head + 1) % n
        waiting -= 1
        while True:
            c, side, count, beside = _best_move(points, order, place, near, a)
            if c < 0:
                break
            for i in range(_make(order, place, a, c, side, count, beside, ends)):
                if not queued[ends[i]]:
                    queued[ends[i]] = True
                    queue[(head + waiting) % n] = ends[i]
                    waiting += 1
        queued[a] = False
    return head, waiting


@inner()
def _step(order, place, record, by):
    """The record some places on, fewer than there are."""
    n = len(order)
    at = place[record] + by
    if at >= n:
        at -= n
    elif at < 0:
        at += n
    return order[at]


@inner()
def _length(points, a, b):
    total = 0.0
    for j in range(points.shape[1]):
        difference = points[a, j] - points[b, j]
        total += difference * difference
    return math.sqrt(total)


@inner()
def _best_move(points, order, place, near, a):
    """The move of record a that gains most: to c, side of b, records moved, side of c."""
    best = (-1, 0, 0, 0)
    most = 0.0
    for side in (1, -1):
        b = _step(order, place, a, side)
        old = _length(points, a, b)
        for i in range(near.shape[1]):
            c = near[a, i]
            new = _length(points, a, c)
            if new >= old:
                break
            d = _step(order, place, c, side)
            removed = old + _length(points, c, d)
            gain = removed - (new + _length(points, b, d))
            if gain > most and gain > LEAST_GAIN * removed:
                best, most = (c, side, 0, side), gain
            forward, backward = _step(order, place, c, 1), _step(order, place, c, -1)
            to_forward, to_backward = _length(points, c, forward), _length(points, c, backward)
            last = a
            for count in range(1, LONGEST + 1):
                if c == last:
                    break
                after = _step(order, place, a, -side * count)
                cut = old + _length(points, last, after)
                closing = _length(points, b, after)
                for beside in (1, -1):
                    e = forward if beside == 1 else backward
                    if e == last:
                        continue
                    removed = cut + (to_forward if beside == 1 else to_backward)
                    gain = removed - (new + _length(points, last, e) + closing)
                    if gain > most and gain > LEAST_GAIN * removed:
                        best, most = (c, side, count, beside), gain
                last = after
    return best


@inner()
def _make(order, place, a, c, side, count, beside, ends):
    """Make a move; write the other ends of the edges changed and return how many."""
    b = _step(order, place, a, side)
    ends[0], ends[1] = b, c
    if count == 0:
        ends[2] = _step(order, place, c, side)
        _exchange(order, place, a, b, c, ends[2])
        return 3
    last, after = _step(order, place, a, -side * (count - 1)), _step(order, place, a, -side * count)
    e = _step(order, place, c, beside)
    ends[2], ends[3], ends[4] = e, last, after
    before, first, final, behind = b, a, last, after
    if side == 1:
        before, first, final, behind = after, last, a, b
    u, v = c, e
    if beside == -1:
        u, v = e, c
    _exchange(order, place, before, first, u, v)
    _exchange(order, place, before, u, behind, final)
    if (c == u) == (a == first):
        _exchange(order, place, u, final, first, v)
    return 5


@inner()
def _exchange(order, place, a, b, c, d):
    """Replace the edges ab and cd by ac and bd: turn round the shorter way between them."""
    n = len(order)
    first, last = a, d
    if _step(order, place, a, 1) == b:
        first, last = b, c
    start, end = place[first], place[last]
    count = end - start + 1 if end >= start else end - start + 1 + n
    if 2 * count > n:
        start, end = (end + 1) % n, (start - 1) % n
        count = n - count
    for _ in range(count // 2):
        x, y = order[start], order[end]
        order[start], place[y] = y, start
        order[end], place[x] = x, end
        start = start + 1 if start + 1 < n else 0
        end = end - 1 if end > 0 else n - 1
