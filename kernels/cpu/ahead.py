"""What MDAV will ask next, found for many records at once and on all cores.

In ten dimensions the far side of a set is too flat for bounds to tell its leaves apart: looking
at their records costs no more than their bounds, so only larger boxes are bounded.
"""

from typing import NamedTuple

import numpy as np

from ..compiling import clock
from . import boxes
from .boxes import NONE, WIDTH, Boxes, begin_walk, distance_of, relate
from .compiled import entry, inner
from .far import below, bound_block
from .lanes import TOGETHER, first_lane, write_lanes_beyond
from .outer import GUESSES, Outer, on_list, squared_distance
from .threads import on_all_cores

# With fewer records or variables than these a search is too short to be worth doing ahead, and in
# a set that began with fewer it saves less than its kernels take to compile.
_LARGE = 50_000
_BROAD = 8
_BEGUN = 200_000
_FEW = 8  # farthest records found for each
_MORE = 3  # nearest ones found beyond those asked for
_CHUNK = 16  # records that go through the tree together, so that a leaf is read once for all
_LEAST, _MOST = 4, 256  # records foreseen at once
_TRIAL = 128  # steps at least to time a way
_PERIOD = 4096  # steps to go the faster one, and twice as many each time that it wins again


class Rows(NamedTuple):
    """The answers."""

    far_row: np.ndarray  # (n,) the row of a record in `far`, -1 if it has none
    near_row: np.ndarray  # (n,) the same in `near`
    far: np.ndarray  # (records, _FEW) farthest first, NONE after the last
    near: np.ndarray  # (records, m) nearest first, itself among them


class Ahead:
    """Answers for records to come, where that is faster than asking one by one.

    Which way is faster depends on the data and on how many have left. Both are timed for some
    steps now and then; the answers are the same.

    Parameters
    ----------
    n, d, k : int
        How many records and variables there are, and how many records make a group.
    """

    def __init__(self, n: int, d: int, k: int) -> None:
        self._possible = n > _BEGUN and d >= _BROAD
        self.looking = False
        self._trial: str | None = None  # the way that is being timed
        self._pace = {"one by one": 0.0, "ahead": 0.0}  # seconds a step
        self._period, self._chosen = 2 * _TRIAL, "one by one"  # the first steps are slower
        self._begun, self._since = 0, 0.0
        self._k = k
        self._many = 4 * _CHUNK
        self._coming = self._ends = np.empty(0, dtype=np.int64)
        nobody = np.full(n, -1, dtype=np.int32)
        nothing = np.empty((0, _FEW), np.int64), np.empty((0, k), np.int64)
        self.rows = Rows(nobody, nobody.copy(), *nothing)

    def possible(self, left: int) -> bool:
        """Whether it can be worth while with so many records left."""
        return self._possible and left > _LARGE

    def steps(self, left: int, step: int) -> int:
        """Choose the way of the next steps: how many may be made until this is called again."""
        if not self.possible(left):
            self._look(False)
            return _PERIOD
        if step - self._begun >= self._length():
            now = clock()
            if self._trial is not None:
                self._pace[self._trial] = (now - self._since) / (step - self._begun)
            self._trial = {None: "one by one", "one by one": "ahead"}.get(self._trial)
            if self._trial is None:
                before, self._chosen = self._chosen, min(self._pace, key=self._pace.__getitem__)
                self._period = 2 * max(self._period, _PERIOD // 2)
                if self._chosen != before:
                    self._period = _PERIOD
            self._look((self._trial or self._chosen) == "ahead")
            self._begun, self._since = step, now
        return self._length() - (step - self._begun)

    def _length(self) -> int:
        """Steps until the next choice; a trial uses what is found at once twice over."""
        if self._trial is None:
            return self._period
        return max(_TRIAL, 2 * self._many) if self._trial == "ahead" else _TRIAL

    def _look(self, looking: bool) -> None:
        """Begin to look ahead or go on with it, or stop and forget what was found."""
        self.looking = looking
        if not looking:
            self._forget()

    def _forget(self) -> None:
        self.rows.far_row[self._coming] = self.rows.near_row[self._ends] = -1
        self._coming = self._ends = self._coming[:0]

    def find(self, record: int, used: int, tree: Boxes, points: np.ndarray, outer: Outer) -> None:
        """Find the answers for a record and those that are likely to come next.

        Parameters
        ----------
        used : int
            How many of the answers found last were asked for.
        """
        if 4 * used > 3 * len(self._coming):
            self._many = min(2 * self._many, _MOST)
        elif 2 * used < len(self._coming):
            self._many = max(self._many // 2, _LEAST)
        self._forget()
        listed = on_list(tree, outer)
        guesses = listed[:GUESSES]
        distances = np.sort(np.square(points[guesses] - points[record]).sum(axis=1))[-_FEW:]
        too_many_equals = len(distances) == _FEW and distances[0] == distances[-1]
        self._possible = not too_many_equals
        if not self._possible:
            self.looking = False
            return
        coming = np.append(record, listed[listed != record][: self._many - 1])
        farthest = np.full((len(coming), _FEW), NONE)
        on_all_cores(
            _few_farthest, len(coming), tree, points, coming, guesses, farthest, run=_CHUNK
        )
        ends = coming[:0]
        if 1 < self._k <= _MOST:
            ends = np.unique(np.append(coming, farthest[farthest[:, 0] != NONE, 0]))
        nearest = np.full((len(ends), self._k + _MORE), NONE)
        on_all_cores(_few_nearest, len(ends), tree, points, ends, nearest)
        far_row, near_row = self.rows.far_row, self.rows.near_row
        far_row[coming], near_row[ends] = np.arange(len(coming)), np.arange(len(ends))
        self._coming, self._ends = coming, ends
        self.rows = Rows(far_row, near_row, farthest, nearest)


@inner()
def _insert(found, distances, record, distance):
    """Put a record in its place among the farthest, if it is one of them."""
    i = len(found) - 1
    if distance < distances[i] or (distance == distances[i] and record >= found[i]):
        return
    for j in range(len(found)):
        if found[j] == record:
            return
    while i > 0 and (
        distance > distances[i - 1] or (distance == distances[i - 1] and record < found[i - 1])
    ):
        found[i], distances[i] = found[i - 1], distances[i - 1]
        i -= 1
    found[i], distances[i] = record, distance


@entry()
def _few_farthest(start, stop, tree, points, records, guesses, found):
    """Find the records farthest from each of some, by distance and then by index.

    Parameters
    ----------
    guesses : int64 array
        Records that are likely to be among them.
    found : int64 array of shape (records, few), filled with NONE
    """
    last = found.shape[1] - 1
    bounds = np.empty((_CHUNK, WIDTH), dtype=np.float32)
    walk = begin_walk(tree)
    targets = np.empty((TOGETHER, points.shape[1]), dtype=np.float32)
    squares, limits = np.empty(TOGETHER), np.empty(TOGETHER)
    rows, asking = np.empty(TOGETHER, dtype=np.int64), np.empty(_CHUNK, dtype=np.int64)
    seen = np.empty((WIDTH, TOGETHER), dtype=np.int64)
    for first in range(start, stop, _CHUNK):
        many = min(_CHUNK, stop - first)
        distances = np.full((many, last + 1), -1.0)
        for j in range(many):
            for guess in guesses:
                far = squared_distance(points, guess, points[records[first + j]])
                _insert(found[first + j], distances[j], guess, far)
        for above in range(tree.start[1], tree.start[2]):
            for j in range(many):
                target = points[records[first + j]]
                bound_block(tree, walk, above, target, -1.0, tree.radius, bounds, j)
            for lane in range(WIDTH):
                if tree.held[above, lane] == 0:
                    continue
                asked = 0
                for j in range(many):
                    if bounds[j, lane] >= below(tree, distances[j, last]):
                        asking[asked] = j
                        asked += 1
                block = (above - tree.start[1]) * WIDTH + lane
                for some in range(0, asked, TOGETHER):
                    for i in range(TOGETHER):
                        j = asking[min(some + i, asked - 1)]
                        rows[i] = first + j
                        limits[i] = distances[j, last] * tree.square
                        relate(tree, block, points[records[first + j]], walk)
                        targets[i], squares[i] = walk.relative, walk.square[0]
                    count = min(TOGETHER, asked - some)
                    _look_into(
                        tree, block, points, records, targets, squares, limits, seen, rows[:count],
                        found, distances, first,
                    )  # fmt: skip


@inner()
def _look_into(
    tree, block, points, records, targets, squares, limits, seen, rows, found, distances, first
):  # fmt: skip
    """Put those records of a block of leaves that are among the farthest into their places."""
    leaves = range(block * WIDTH, min((block + 1) * WIDTH, len(tree.record)))
    for leaf in leaves:
        write_lanes_beyond(
            tree.single, tree.half, tree.reach, leaf, targets, squares, limits, seen, leaf % WIDTH
        )
    for leaf in leaves:
        for i in range(len(rows)):
            lanes = seen[leaf % WIDTH, i]
            while lanes:
                lane = first_lane(lanes)
                lanes &= lanes - 1
                r = rows[i]
                far = distance_of(tree, leaf * WIDTH + lane, points[records[r]])
                if far >= distances[r - first, -1]:
                    _insert(found[r], distances[r - first], tree.record[leaf, lane], far)


@entry()
def _few_nearest(start, stop, tree, points, records, found):
    """Find the records nearest to each of some, itself included."""
    walk, distances = begin_walk(tree), np.empty(found.shape[1])
    for r in range(start, stop):
        distances[:] = np.inf
        boxes.nearest(tree, walk, points[records[r]], found[r], distances)
