"""What MDAV will ask next, found for many records at once and on all cores.

Each step of MDAV takes the record r farthest from the centroid, asks for the record s farthest
from r, and takes those nearest to r and to s. The steps depend on each other, but the list of
outermost records (outer.py) tells well which records the next ones will be. So for some of them
the few farthest records are found together, and the few nearest to them and to the farthest.

Answers stay exact while records leave: of the few that were farthest, the first that is still
there is the farthest of all that are; and k of the m that were nearest, the first k still there,
are the k nearest. Where too few are left, or a record was not foreseen, one asks anew.

In ten dimensions the far side of a set is too flat for bounds to tell its leaves apart: looking
at their records in single precision costs no more than their bounds. Errors there are covered by
a margin, and what comes near the few farthest is looked at again in double precision.
"""

import math
import time

import numpy as np

from . import boxes
from .boxes import NONE, ROW, WIDTH, Boxes, distances_to_leaf
from .compiled import entry, inner
from .far import bound_block
from .outer import _GUESSES, _START, _STOP, Outer, squared_distance
from .threads import on_all_cores

_FEW = 8  # farthest records found for each
_MORE = 3  # nearest ones found beyond those asked for
_CHUNK = 16  # records that go through the tree together, so that a leaf is read once for all
_LEAST, _MOST = 4, 256  # records foreseen at once
_TRIAL = 32  # steps at least to time a way, and
_PERIOD = 4096  # steps to go the faster one


class Ahead:
    """Answers for records to come, where that is faster than asking one by one.

    Which way is faster depends on the data and on how many have left. Both are timed for some
    steps every few thousand; the answers are the same.
    """

    def __init__(self) -> None:
        self._possible = True
        self._trial: str | None = "one by one"
        self._looking = False
        self._steps = -8 * _TRIAL  # since the trial began, or ended; the first are slower
        self._since = 0.0
        self._one_by_one = 0.0  # seconds a step
        self._many = _CHUNK
        self._found = 0  # records foreseen in the last round and
        self._used = 0  # those of them that were asked for
        self._far: dict[int, np.ndarray] = {}
        self._near: dict[int, np.ndarray] = {}
        self._k = 0

    def begin_step(self) -> None:
        """Note that a step of MDAV begins, and choose its way."""
        self._steps += 1
        if self._steps == 0:
            self._since = time.perf_counter()
        elif self._trial == "one by one" and self._steps > _TRIAL:
            self._one_by_one = self._pace()
            self._begin("ahead", self._possible)
            self._far, self._near = {}, {}
        elif self._trial is None and self._steps > _PERIOD:
            self._begin("one by one", False)

    def _pace(self) -> float:
        return (time.perf_counter() - self._since) / self._steps

    def _begin(self, trial: str | None, looking: bool) -> None:
        self._trial, self._looking = trial, looking
        self._steps, self._since = 0, time.perf_counter()

    def farthest(self, record: int, tree: Boxes, points: np.ndarray, outer: Outer) -> int:
        """The record farthest from another one, the lowest of several; NONE if not looked for."""
        if not self._looking:
            return NONE
        there = _still(self._far.get(record), tree)
        if there is None or not len(there):
            if self._trial == "ahead" and self._steps > _TRIAL:  # a whole round is over
                self._begin(None, self._pace() < self._one_by_one)
            if self._looking:
                self._foresee(record, tree, points, outer)
            there = self._far.get(record) if self._looking else None
        self._used += 1
        return NONE if there is None else int(there[0])

    def nearest(self, record: int, k: int, tree: Boxes) -> np.ndarray | None:
        """The k - 1 records nearest to another one, or None if they were not foreseen."""
        self._k = k
        there = _still(self._near.get(record), tree) if self._looking else None
        return there[: k - 1] if there is not None and len(there) >= k - 1 else None

    def _foresee(self, record: int, tree: Boxes, points: np.ndarray, outer: Outer) -> None:
        """Find the answers for a record and those that are likely to come next."""
        self._far, self._near = {}, {}
        if 4 * self._used > 3 * self._found:
            self._many = min(2 * self._many, _MOST)
        elif 2 * self._used < self._found:
            self._many = max(self._many // 2, _LEAST)
        listed = outer.record[outer.state[_START] : outer.state[_STOP]]
        listed = listed[tree.place[listed] >= 0]
        guesses = listed[:_GUESSES]
        far = np.sort(np.square(points[guesses] - points[record]).sum(axis=1))[-_FEW:]
        reach = tree.middle[-1]
        self._possible = (
            1e-9 < reach < 1e15  # squares are far from what single precision cannot hold
            and not (len(far) == _FEW and far[0] == far[-1])  # too many equals to keep a few of
        )
        if not self._possible:
            self._begin(None, False)
            return
        coming = np.append(record, listed[listed != record][: self._many - 1])
        farthest = np.full((len(coming), _FEW), NONE)
        on_all_cores(
            _few_farthest, len(coming), tree, points, coming, guesses, farthest, run=_CHUNK
        )
        self._far = {int(r): row[row != NONE] for r, row in zip(coming, farthest, strict=True)}
        self._found, self._used = len(coming), 0
        if 1 < self._k <= _MOST:
            ends = np.unique(np.append(coming, farthest[:, 0]))
            nearest = np.full((len(ends), self._k + _MORE), NONE)
            on_all_cores(_few_nearest, len(ends), tree, points, ends, nearest)
            self._near = {
                int(r): row[(row != NONE) & (row != r)]
                for r, row in zip(ends, nearest, strict=True)
            }


def _still(records: np.ndarray | None, tree: Boxes) -> np.ndarray | None:
    return None if records is None else records[tree.place[records] >= 0]


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


@inner()
def _limit(least, reach, d):
    """A squared distance in single precision that any record at least this far exceeds.

    With u = 2**-24, coordinates are off by u times the reach, differences by twice that and
    more, and the sum of d squares by (d + 2) u of itself; the margins are larger.
    """
    root = math.sqrt(max(least, 0.0)) * (1.0 - (d + 8) * 2.0**-22) - reach * 2.0**-20
    return np.float32(root * root * (1.0 - 2.0**-21)) if root > 0.0 else np.float32(-1.0)


@inner()
def _come_near(tree, row, target, limit, here):
    """How many records of a row of leaves are beyond a limit, in single precision."""
    width = tree.single.shape[2]
    for i in range(width):
        here[i] = np.float32(0.0)
    for v in range(len(target)):
        x = target[v]
        for i in range(width):
            difference = tree.single[row, v, i] - x
            here[i] += difference * difference
    beyond = 0
    for i in range(width):
        beyond += here[i] >= limit
    return beyond


@entry()
def _few_farthest(start, stop, tree, points, records, guesses, found):
    """Find the records farthest from each of some, by distance and then by index.

    Parameters
    ----------
    guesses : int64 array
        Records that are likely to be among them.
    found : int64 array of shape (records, few), filled with NONE
    """
    few, d = found.shape[1], points.shape[1]
    last = few - 1
    for first in range(start, stop, _CHUNK):
        many = min(_CHUNK, stop - first)
        distances = np.full((many, few), -1.0)
        limits = np.empty(many, dtype=np.float32)
        single = np.empty((many, d), dtype=np.float32)
        bounds = np.empty((many, WIDTH))
        here, there = np.empty(WIDTH), np.empty(ROW * WIDTH, dtype=np.float32)
        for j in range(many):
            target = points[records[first + j]]
            for v in range(d):
                single[j, v] = target[v] - tree.middle[v]
            for guess in guesses:
                far = squared_distance(points, guess, target)
                _insert(found[first + j], distances[j], guess, far)
            limits[j] = _limit(distances[j, last], tree.middle[d], d)
        for above in range(tree.start[1], tree.start[2]):
            for j in range(many):
                bound_block(
                    tree, above, points[records[first + j]], -1.0, tree.radius, bounds, j, here
                )
            for lane in range(WIDTH):
                if tree.held[above, lane] == 0:
                    continue
                rows = ((above - tree.start[1]) * WIDTH + lane) * (WIDTH // ROW)
                for row in range(rows, min(rows + WIDTH // ROW, len(tree.single))):
                    for j in range(many):
                        if bounds[j, lane] >= distances[j, last] and _come_near(
                            tree, row, single[j], limits[j], there
                        ):
                            target = points[records[first + j]]
                            _look_again(tree, row, target, found[first + j], distances[j], here)
                            limits[j] = _limit(distances[j, last], tree.middle[d], d)


@inner()
def _look_again(tree, row, target, found, distances, here):
    for leaf in range(row * ROW, min((row + 1) * ROW, len(tree.value))):
        distances_to_leaf(tree, leaf, target, here)
        for i in range(WIDTH):
            if here[i] >= distances[-1]:
                _insert(found, distances, tree.record[leaf, i], here[i])


@entry()
def _few_nearest(start, stop, tree, points, records, found):
    """Find the records nearest to each of some, itself included."""
    for r in range(start, stop):
        distances = np.full(found.shape[1], np.inf)
        boxes.nearest(tree, points[records[r]], found.shape[1], found[r], distances)
