"""Ward's method with the group sizes held down, in batches: the host decides, the device searches.

Every group keeps a pair, and the first of all kept pairs is dealt with (`cpu.ward_tree`): 2.8 times
for each record. One search is too little work for a device. But the next pairs are nearly known, so
a round searches for what some hundred events will need, all at once, and the host takes of these as
many as were foreseen rightly (`ward_events`). Nothing but time depends on what was foreseen.

Per round two launches, 16 bytes to the host for each event and 96 from there: pairs of groups, and
where in the tree and among the sums they are. Values stay on the device. For a new tree the host
gets the place of each group.
"""

from typing import Any

import numpy as np

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..protocol import Progress
from .boxes import build
from .launching import check_room, launch
from .search import blocks_for, search_pace, tree_bytes
from .team import THREADS
from .ward_events import (
    COLUMNS,
    EVENTS,
    LIVE,
    MERGERS,
    MOVES,
    OTHER,
    OWNER,
    ROW,
    SIZE,
    SMALL,
    Pairs,
    advance,
    keep_all,
    make_pairs,
)
from .ward_round_kernels import (
    Batch,
    GroupBoxes,
    find_centroids,
    find_pairs,
    refresh,
    sum_groups,
    unite,
)
from .warp import LANES

FEW = 5_000  # groups that are merged as fast by a look at all of them
EVENTS_AT_ONCE = 64, 2048  # at least and at most
AHEAD = 2.0  # events foreseen for each that was foreseen rightly in the round before
SHRUNK = 0.6  # the tree is built anew when so few of its groups are left
REFRESHED = 8  # rounds after which boxes are drawn in
AT_FIRST = 1 << 17  # groups that look in one launch at the start, at most
# If in so many rounds less than so many events each are foreseen rightly, rounds are no help.
WINDOW, ENOUGH = 64, 8


def possible(points: Any, groups: int) -> bool:
    """Whether batches can be used: enough groups, in double precision, squares that are numbers."""
    xp = array_namespace(points)
    if groups < max(FEW, 2) or points.dtype != xp.float64:
        return False
    return float(xp.max(xp.max(points, axis=0) - xp.min(points, axis=0))) < 2.0**500


def merge(
    points: Any, records: np.ndarray, begin: np.ndarray, k: int, progress: Progress
) -> tuple[np.ndarray, bool]:
    """Merge groups, in order of their lowest records, until each has k records.

    Parameters
    ----------
    records, begin : int64 arrays
        Records ``records[begin[g]:begin[g + 1]]`` are in group g.

    Returns
    -------
    array
        The group that each is in at last.
    bool
        Whether all is done: if not, rounds are no help, and the rest is to be merged in another
        way.
    """
    state = _Rounds(points, records, begin, k, progress)
    done = state.run()
    names = state.pairs.into
    while not np.array_equal(names, further := names[names]):
        names = further
    return names, done


class _Rounds:
    """The groups of one problem."""

    def __init__(
        self, points: Any, records: np.ndarray, begin: np.ndarray, k: int, progress: Progress
    ) -> None:
        self._xp = xp = array_namespace(points)
        self._k, self._progress = k, progress
        sizes = np.diff(begin)
        m, d = len(sizes), points.shape[1]
        self._most = min(EVENTS_AT_ONCE[1], max(1, m // 2))
        self._d = d
        self.pairs: Pairs = make_pairs(sizes, k, self._most)
        self._at_first = self.pairs.state[SMALL]
        check_room(points, 2 * tree_bytes(m, d, 8) + 24 * d * (m + self._most) + 40 * m)
        self._total = xp.empty((m + self._most, 3, d), dtype=xp.float64)
        self._last = xp.full((m,), -1, dtype=xp.int64)
        self._first = 0  # number of the batch's first event
        blocks = -(-m * d // THREADS)
        member, starts = xp.asarray(records), xp.asarray(begin)
        launch(sum_groups, blocks, xp.ascontiguousarray(points), member, starts, self._total)

    def run(self) -> bool:
        """Merge groups; whether it came to an end."""
        pairs, state = self.pairs, self.pairs.state
        if not state[SMALL]:
            return True
        self._plant()
        self._find_first()
        work = np.zeros((self._most, COLUMNS), dtype=np.int64)
        found = np.empty((2, 0))
        most, rounds, taken = min(256, self._most), 0, 0
        while True:
            done = advance(pairs, self._k, most, found, work)
            if not state[EVENTS]:
                return True
            rounds, taken = rounds + 1, taken + done
            if rounds % WINDOW == 0:
                if taken < WINDOW * ENOUGH:
                    return False
                taken = 0
            if done:
                least, limit = EVENTS_AT_ONCE
                most = min(self._most, limit, max(least, int(AHEAD * done)))
            if state[LIVE] <= self._enough:
                self._plant()
                state[MOVES] = 0  # the new tree has them already
            found = self._round(work, rounds % REFRESHED == 0)
            self._progress(1.0 - 0.75 * float(state[SMALL]) / float(self._at_first))

    def _plant(self) -> None:
        """Make the tree of the groups that there are."""
        xp, pairs = self._xp, self.pairs
        names = np.flatnonzero(pairs.group["size"])
        self._enough = int(SHRUNK * len(names))
        centroid = xp.empty((len(names), self._d), dtype=xp.float64)
        rows, sizes, on_device = (
            xp.asarray(x) for x in (pairs.group["row"][names], pairs.group["size"][names], names)
        )
        blocks = -(-len(names) * self._d // THREADS)
        launch(find_centroids, blocks, self._total, rows, sizes, centroid)
        tree = build(centroid)
        order = tree.record.reshape(-1)
        filled = order >= 0
        group = xp.stack(
            [xp.where(filled, on_device[order], -1), xp.where(filled, sizes[order], 0)], axis=1
        )
        blocks_of_boxes = tree.low.shape[0]
        self._tree = GroupBoxes(
            value=tree.value,
            group=xp.ascontiguousarray(group.reshape(-1, LANES, 2).transpose(0, 2, 1)),
            start=tree.start,
            low=tree.low,
            high=tree.high,
            kind=xp.empty((blocks_of_boxes, 4, LANES), dtype=xp.int64),
        )
        self._starts = to_numpy(tree.start)
        order = to_numpy(order)
        places = np.flatnonzero(order >= 0)
        pairs.group["place"][names[order[places]]] = places
        self._order = names[order[places]]
        self._refresh()

    def _refresh(self) -> None:
        for level in range(len(self._starts) - 1):
            boxes = int(self._starts[level + 1] - self._starts[level]) * LANES
            launch(refresh, blocks_for(boxes), self._k, level, self._tree)

    def _find_first(self) -> None:
        """The pair that each group keeps at first, in the order of the tree."""
        pairs, total, start = self.pairs, len(self._order), 0
        pace = search_pace(min(AT_FIRST, total))
        while start < total:
            owners = self._order[start : start + pace.work]
            work = np.zeros((len(owners), COLUMNS), dtype=np.int64)
            work[:, OWNER], work[:, OTHER] = owners, -1
            work[:, ROW], work[:, SIZE] = pairs.group["row"][owners], pairs.group["size"][owners]
            with pace:
                found = self._search(work, len(owners), 0, 0)
            keep_all(pairs, owners, found)
            start += len(owners)
            self._progress(0.25 * start / total)

    def _round(self, work: np.ndarray, shrink: bool) -> np.ndarray:
        """Search for the pairs of a batch."""
        state = self.pairs.state
        events, moves, mergers = (int(state[x]) for x in (EVENTS, MOVES, MERGERS))
        found = self._search(work[: max(events, moves)], events, moves, mergers, shrink)
        self._first += events
        return found

    def _search(
        self, work: np.ndarray, events: int, moves: int, mergers: int, shrink: bool = False
    ) -> np.ndarray:
        xp, d = self._xp, self._d
        batch = Batch(
            work=xp.asarray(work),
            target=xp.empty((events, d), dtype=xp.float64),
            made=xp.empty((d, mergers), dtype=xp.float64),
            made_group=xp.empty((2, mergers), dtype=xp.int64),
            last=self._last,
            found=xp.empty((2, events), dtype=xp.float64),
        )
        blocks = blocks_for(max(events, moves))
        launch(unite, blocks, self._k, self._first, events, moves, self._total, batch, self._tree)
        if shrink:
            self._refresh()
        launch(find_pairs, blocks_for(events), self._k, self._first, events, batch, self._tree)
        return to_numpy(batch.found)
