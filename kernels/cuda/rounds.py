"""MDAV and V-MDAV in rounds: the device answers what will be asked, one block decides.

Each step of these methods depends on the one before. But the records that the next steps will ask
about are nearly known: the outermost ones. So a round finds for some of them, all at once and with
the whole device, what their steps will need: the records nearest to them, for MDAV the farthest
ones, and the nearest to those. Then one block takes the steps in order (the replay), and looks up.
Records only leave, so of an ordered list the first that remain are right; a list that is used up is
not an answer. What has no answer ends the replay, or is searched for on the spot. So nothing but
time depends on what was foreseen, how long lists are, and the order in which threads come.

The replay ends when the outermost record is not sure or was not foreseen: then there is a new
round, which begins with a centroid and so with an outermost record that is sure. MDAV's replay also
ends where all records of a list of farthest ones have left: one scan finds the farthest then.

When half of many records have left, those that remain become a matrix of their own.

Per round of MDAV some ten launches and ten array expressions; the host waits for three numbers.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..protocol import Progress
from .boxes import NONE, build
from .fixed_kernels import make_kernels
from .launching import Pace, check_room, launch, read_number
from .replay_kernels import (
    FAR,
    GROUPS,
    LEFT,
    NEXT,
    NO_FAR,
    PAUSED,
    REASON,
    SEARCHES,
    START,
    STEPS,
    Listed,
    Sums,
    replay_mdav,
    replay_vmdav,
)
from .round_kernels import (
    CHUNK,
    TOGETHER,
    Records,
    Rows,
    Single,
    aim,
    claim_rows,
    fill_slots,
    find_keys,
    find_limits,
    find_maxima,
    find_near,
    look_again,
    put_in_order,
    shrink,
)
from .search import blocks_for, tree_bytes
from .team import THREADS
from .warp import LANES

FEW = 5_000  # records that a loop over all of them takes as fast
LISTED = 2048  # outermost records in a list
FARTHEST = 128  # records in a row of farthest ones, at most,
# How many of these get rows of nearest ones, and how many where more than MANY remain: there an
# outlying cluster lasts for several rounds, and the same records are in all rows.
ENDS, MANY = (16, 128), 300_000
FOUND = 2048  # records that can be candidates for such a row
MEMBERS = 12  # nearest records of a row that get rows too, for V-MDAV
NEAR = 3, 5  # times k: nearest records in a row, for MDAV and for V-MDAV
BATCH = 256, 512  # records foreseen in a round, by MDAV and by V-MDAV
SUM_BLOCKS = 256
# A replay does at most so many steps, and a launch answers so many queries.
STEPS_PER_LAUNCH, QUERIES_PER_LAUNCH = 1 << 10, 1 << 17
# Over so many steps a return to the host counts as so many searches; with more searches a step the
# rest is left to a loop over all records.
WINDOW, RETURN, SEARCHES_PER_STEP = 64, 32, 16


def possible(points: Any, k: int) -> bool:
    """Whether rounds can be used: enough records, in double precision, groups within a warp.

    Squares must be numbers, and not so small that rounding errors are not relative.
    """
    xp = array_namespace(points)
    if points.shape[0] < max(FEW, 2) or k > LANES or points.dtype != xp.float64:
        return False
    widest = float(xp.max(xp.max(points, axis=0) - xp.min(points, axis=0)))
    return 2.0**-300 < widest < 2.0**500


class Outcome(NamedTuple):
    """What rounds have come to."""

    labels: np.ndarray  # (n,) the group of each record, -1 of those in none
    groups: int
    done: bool  # if not, rounds are no help: the rest is to be grouped in another way
    centroid: Any  # (1, d) of the records in no group; for V-MDAV that of all


class _Rounds(ABC):
    """The records of one problem, those that remain in a matrix of their own.

    Parameters
    ----------
    points : array of shape (n, d)
    k : int
    width : int
        Nearest records in a row.
    progress : callable, optional
    """

    def __init__(self, points: Any, k: int, width: int, progress: Progress | None) -> None:
        n, d = points.shape
        self._xp = xp = array_namespace(points)
        self._k, self._width, self._progress = k, min(LANES, max(1, k - 1, width)), progress
        answers = max(BATCH) * (8 * LANES * (1 + max(ENDS)) + 16 * FOUND)
        check_room(points, 2 * tree_bytes(n, d, 8) + n * (20 * d + 100) + answers)
        points = xp.ascontiguousarray(points)
        self._names = xp.arange(n, dtype=xp.int64)
        self._label = xp.full((n,), -1, dtype=xp.int64)
        self._begin(points)
        status = np.zeros(START + 1, dtype=np.int64)
        status[LEFT], status[NEXT], status[FAR] = n, -1, -1
        self.status = xp.asarray(status)
        self.known = status.copy()
        self._sums = _sums(points)
        launch(aim, 1, self._sums.total, n, self._sums.centroid)
        self._near_pace, self._step_pace = Pace(QUERIES_PER_LAUNCH), Pace(STEPS_PER_LAUNCH)

    def _begin(self, points: Any) -> None:
        """Begin with a matrix of records, all of which remain."""
        xp = self._xp
        n = points.shape[0]
        self.n, self._points = n, points
        self._records = Records(points, xp.full((n,), -1, dtype=xp.int64))
        self._tree = build(points)
        self._starts = to_numpy(self._tree.start)
        self._keys = xp.empty((n,), dtype=xp.float64)
        self._chunks = -(-n // CHUNK)
        self._slots = xp.full((self._chunks * CHUNK,), -1, dtype=xp.int64)
        self._slots[:n] = xp.argsort(_mixed(xp.arange(n, dtype=xp.int64)))

    def _shed(self) -> None:
        """Make those that remain a matrix of their own."""
        xp = self._xp
        self._note()
        keep = xp.nonzero(self._records.label < 0)[0]
        self._names = self._names[keep]
        self._begin(xp.take(self._points, keep, axis=0))

    def _note(self) -> None:
        self._label[self._names] = self._records.label

    def run(self) -> Outcome:
        """Take groups until the method is done, or rounds are no help."""
        n = int(self.known[LEFT])
        seen, returns, counted = self.known, 0, 0
        while not self._ends():
            if self.known[LEFT] <= self.n // 2 and self.n > FOUND:
                self._shed()
            returns += self._round()
            if self._progress is not None:
                self._progress(1.0 - float(self.known[LEFT]) / n)
            steps, searches = (int(self.known[i] - seen[i]) for i in (STEPS, SEARCHES))
            if steps >= WINDOW:
                counted = RETURN * returns + searches
                if counted > SEARCHES_PER_STEP * steps:
                    break
                seen, returns = self.known, 0
        self._note()
        labels = to_numpy(self._label).copy()
        return Outcome(labels, int(self.known[GROUPS]), self._ends(), self._sums.centroid)

    @abstractmethod
    def _ends(self) -> bool:
        """Whether too few records remain for another step."""

    @abstractmethod
    def _round(self) -> int:
        """Ask and replay; how often the replay came back."""

    def _find_keys(self, target: Any, row: int) -> Any:
        """Squared distances of the records that remain, -1 of the others."""
        launch(find_keys, self._blocks(), self._records, target, row, self._keys)
        return self._keys

    def _blocks(self) -> int:
        return -(-self.n // THREADS)

    def _shrink(self) -> None:
        for level in range(len(self._starts) - 1):
            boxes = int(self._starts[level + 1] - self._starts[level]) * LANES
            launch(shrink, blocks_for(boxes), self._tree, self._records.label, level)

    def _no_rows(self, entries: int, far: Any) -> Rows:
        xp = self._xp
        return Rows(
            row=xp.full((self.n,), NONE, dtype=xp.int64),
            near=xp.full((entries, self._width), -1, dtype=xp.int64),
            far=far,
        )

    def _answer(self, entries: Any, rows: Rows, first: int) -> None:
        """Find the nearest records of the entries from a place on."""
        total = entries.shape[0]
        launch(claim_rows, -(-(total - first) // THREADS), first, entries, rows.row)
        while first < total:
            last = min(total, first + self._near_pace.work)
            with self._near_pace:
                launch(
                    find_near, blocks_for(last - first),
                    first, last, self._tree, self._records, entries, rows,
                )  # fmt: skip
                read_number(rows.near[0, 0])
            first = last

    def _replay(self, kernel: Any, *arguments: Any) -> int:
        """Take steps until something is not known; the reason."""
        while True:
            with self._step_pace:
                launch(kernel, 1, self._step_pace.work, self._k, *arguments, self.status)
                self.known = to_numpy(self.status).copy()
            if self.known[REASON] != PAUSED:
                return int(self.known[REASON])


class _Mdav(_Rounds):
    def _ends(self) -> bool:
        return bool(self.known[LEFT] < 2 * self._k)

    def _round(self) -> int:
        """A round and its replay; how often the host had to find something."""
        xp, sums = self._xp, self._sums
        keys = self._find_keys(sums.centroid, 0)
        order = xp.argsort(-keys, stable=True)[:LISTED]
        listed = Listed(order, keys[order], xp.asarray(sums.centroid, copy=True))
        self._shrink()
        batch = self._foreseen(order)
        far = self._farthest(batch, listed)
        entries = xp.concatenate([batch, far[:, : ENDS[self.n > MANY]].reshape(-1)])
        rows = self._no_rows(entries.shape[0], far)
        self._answer(entries, rows, 0)
        self.status[START] = 0
        self.status[NEXT] = order[0]
        returns = 1
        while True:
            reason = self._replay(replay_mdav, self._tree, self._records, sums, listed, rows)
            if reason != NO_FAR:
                return returns
            keys = self._find_keys(self._points, int(self.known[NEXT]))
            self.status[FAR] = xp.argmax(keys)
            returns += 1

    def _foreseen(self, order: Any) -> Any:
        """The records that steps are likely to begin with; the first one is sure to."""
        return self._xp.asarray(order[: BATCH[0]], copy=True)

    def _farthest(self, batch: Any, listed: Listed) -> Any:
        """Rows of the records farthest from each of a batch; see `round_kernels`."""
        xp = self._xp
        (asked,), d, chunks = batch.shape, self._points.shape[1], self._chunks
        single, queries = (
            Single(xp.empty((d, record.shape[0]), dtype=xp.float32), record)
            for record in (self._slots, batch)
        )
        for each in (single, queries):
            blocks = -(-each.record.shape[0] // THREADS)
            launch(fill_slots, blocks, self._records, listed.reference, listed.key, each)
        best = xp.empty((asked, chunks), dtype=xp.float32)
        limit = xp.empty((asked,), dtype=xp.float32)
        count = xp.zeros((asked,), dtype=xp.int64)
        found = xp.empty((asked, FOUND), dtype=xp.int64)
        few = self.n <= FOUND  # so all are candidates
        far = xp.empty((asked, min(FARTHEST, self.n if few else chunks)), dtype=xp.int64)
        wanted = self.n if few else far.shape[1]
        blocks = chunks * -(-asked // TOGETHER)
        launch(find_maxima, blocks, single, queries, best)
        launch(find_limits, blocks_for(asked), d, wanted, best, limit)
        launch(look_again, blocks, single, queries, best, limit, count, found)
        away = xp.empty(found.shape, dtype=xp.float64)
        launch(put_in_order, asked, self._points, batch, count, found, away, far)
        return far


class _Vmdav(_Rounds):
    def __init__(self, points: Any, k: int, gamma: float, progress: Progress | None) -> None:
        super().__init__(points, k, NEAR[1] * k, progress)
        self._gamma = float(gamma)
        self._in_order()

    def _in_order(self) -> None:
        """The order in which records are looked at: their centroid is that of all, for good."""
        keys = self._find_keys(self._sums.centroid, 0)
        self._order = self._xp.argsort(-keys, stable=True)

    def _shed(self) -> None:
        super()._shed()
        self._in_order()
        self.known[START] = self.status[START] = 0

    def _ends(self) -> bool:
        return bool(self.known[LEFT] < self._k)

    def _round(self) -> int:
        """A round and its replay."""
        xp = self._xp
        self._shrink()
        window = self._order[int(self.known[START]) :][: 4 * BATCH[1]]
        left = self._records.label[window] >= 0
        batch = window[xp.argsort(xp.astype(left, xp.int64), stable=True)[: BATCH[1]]]
        members = min(MEMBERS, self._width)
        count = batch.shape[0]
        entries = xp.full((count * (1 + members),), -1, dtype=xp.int64)
        entries[:count] = batch
        rows = self._no_rows(entries.shape[0], xp.empty((0, 0), dtype=xp.int64))
        self._answer(entries[:count], rows, 0)
        entries[count:] = rows.near[:count, :members].reshape(-1)
        self._answer(entries, rows, count)
        self._replay(replay_vmdav, self._gamma, self._tree, self._records, self._order, count, rows)
        return 1


def _mixed(numbers: Any) -> Any:
    """Other numbers, in no order that could be that of records."""
    numbers = numbers * -7046029254386353131  # odd, of no pattern; what is too large wraps around
    return (numbers ^ (numbers >> 29)) * -4658895280553007687


def _sums(points: Any) -> Sums:
    """The sum of all records, and room for a centroid."""
    xp = array_namespace(points)
    n, d = points.shape
    blocks = max(1, min(SUM_BLOCKS, n // THREADS))
    kernels = make_kernels(np.float64, False)
    start = xp.asarray(np.arange(blocks + 1) * n // blocks)
    parts = xp.empty((blocks, 3, d), dtype=xp.float64)
    total = xp.empty((1, 3, d), dtype=xp.float64)
    launch(kernels.sum_up, blocks, xp.ascontiguousarray(points.T), start, parts)
    launch(kernels.share_sum, 1, parts, total)
    return Sums(total, xp.empty((1, d), dtype=xp.float64))


def mdav(points: Any, k: int, progress: Progress | None = None) -> Outcome:
    """MDAV's groups, all but the last one."""
    return _Mdav(points, k, NEAR[0] * k, progress).run()


def vmdav(points: Any, k: int, gamma: float, progress: Progress | None = None) -> Outcome:
    """V-MDAV's groups, without the records that are left over."""
    return _Vmdav(points, k, gamma, progress).run()
