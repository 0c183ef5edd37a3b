"""Methods that take groups from a shrinking set, the whole loop on the device.

MDAV and V-MDAV of many records go in rounds (`rounds`). What is here remains for

- problems of a block each, as groups that are split all at once;
- fewer records than `rounds.FEW`, which are scanned as fast as answers are launched;
- groups of more records than a warp has lanes, and records in single precision;
- records of which so many are equally far that lists of the outermost say nothing;
- the centroid- and diameter-based methods.

A step of these loops looks at all records that remain and takes a few microseconds, less than a
launch from Python, so the steps cannot be launched one by one. One cooperative launch does some
ten thousand of them; a problem too small for several blocks gets one, and many such problems (the
trees of M-d and M-c) go in one launch.

Per group of MDAV, with m records left: 2 scans (the farthest from a point, the k nearest to a
record), each of m * d values read and 3 m d floating point operations, 2 grid_syncs of the blocks
and 2k + 1 reductions within a block. No byte goes to the host.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..generic.ward import problems
from ..protocol import Progress
from . import rounds
from .chunks import Slots
from .distant import most_distant_pair
from .fixed_kernels import LEFT, make_kernels
from .fixed_steps import Groups, Lists, Sums
from .launching import Pace, check_room, larger_team, launch, real_type, team_blocks
from .pairwise import farthest_of_each, nearest_of_each
from .round_kernels import aim
from .team import NONE, Board

Within = np.ndarray | None  # the problem of each record; None: all are one
# Bytes of records that one launch may look at, at most: some tenths of a second of a whole card.
_BYTES_PER_LAUNCH = 1 << 38
# A problem of more records than this gets a launch, and all blocks, of its own.
_MANY = 1 << 11


class _Loop:
    """The records of one problem dealt to the blocks of a team, or a problem to each block.

    Parameters
    ----------
    points : array of shape (n, d)
    k : int
    parts : list of int64 arrays, optional
        The records of each problem; without it all are one problem.
    """

    def __init__(self, points: Any, k: int, parts: list[np.ndarray] | None = None) -> None:
        n = points.shape[0]
        self.points = array_namespace(points).ascontiguousarray(points)
        self._k = k
        self._team = team_blocks(n) if parts is None else 1
        self._deal(parts)

    def _deal(self, parts: list[np.ndarray] | None) -> None:
        """Deal the records to the blocks, and make what these keep."""
        (n, d), k, team = self.points.shape, self._k, self._team
        rows, xp, real = self.points, array_namespace(self.points), real_type(self.points)
        if parts is None:
            parts = [np.arange(b, n, team) for b in range(team)]
        sizes = np.array([len(part) for part in parts])
        self.sizes = np.full(team, n) if team > 1 else sizes  # of each block's problem
        self.blocks = len(parts)
        self._kernels = make_kernels(real, team > 1)
        bases = np.zeros(team, dtype=np.int64) if team > 1 else np.cumsum(sizes // k) - sizes // k
        groups = max(1, int(np.sum(self.sizes[: 1 if team > 1 else None] // k)))
        width = max(1, min(k - 1, int(sizes.max())))
        item = rows.dtype.itemsize
        check_room(
            rows,
            n * d * item
            + n * (2 * item + 24)
            + self.blocks * (7 * d * item + 8 * k + 2 * width * (item + 8))
            + groups * 3 * d * item,
        )
        self._pace = Pace(_BYTES_PER_LAUNCH // (d * item))

        def empty(*shape: int, dtype: Any = real) -> Any:
            return xp.empty(shape, dtype=dtype)

        order = np.concatenate(parts)
        record = xp.asarray(order, copy=True)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        start = xp.asarray(np.concatenate([[0], np.cumsum(sizes)]))
        columns = xp.ascontiguousarray(xp.take(rows, record, axis=0).T)
        total = empty(self.blocks, 3, d)
        launch(self._kernels.sum_up, self.blocks, columns, start, total)
        if team > 1:
            own, total = total, empty(self.blocks, 3, d)
            launch(self._kernels.share_sum, self.blocks, own, total)
        self._order = order
        self.label = xp.full((n,), NONE, dtype=xp.int64)
        status = np.zeros((self.blocks, 2), dtype=np.int64)
        status[:, LEFT] = self.sizes
        self._slots = Slots(
            points=rows,
            columns=columns,
            record=record,
            slot_of=xp.asarray(place),
            worth=xp.full((n,), -np.inf, dtype=real),
            start=start,
            held=xp.asarray(sizes, copy=True),
        )
        self._sums = Sums(
            total=total,
            own=empty(self.blocks, 3, d),
            chosen=empty(self.blocks, k, dtype=xp.int64),
            target=empty(self.blocks, d),
        )
        self._lists = Lists(
            near=empty(n),
            values=empty(2, self.blocks, width),
            keys=empty(2, self.blocks, width, dtype=xp.int64),
        )
        self._groups = Groups(
            label=self.label,
            base=xp.asarray(bases),
            total=empty(groups, 3, d),
            size=empty(groups, dtype=xp.int64),
            status=xp.asarray(status),
        )
        self._board = Board(empty(2, self.blocks), empty(2, self.blocks, dtype=xp.int64))

    def centroid(self) -> Any:
        """The centroid of all records, of shape (1, d)."""
        total = self._sums.total
        target = array_namespace(total).empty((1, total.shape[2]), dtype=total.dtype)
        launch(aim, 1, total, len(self._order), target)
        return target

    def run(
        self,
        name: str,
        *options: Any,
        until: Any,
        join: bool = False,
        worth: Any = None,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Launch a kernel until each problem has few enough records left.

        ``join`` tells whether the records left join the groups, which must keep their totals;
        ``worth`` is what a method keeps of each record.

        Returns
        -------
        int64 array of shape (n,)
            The group of each record; NONE for one that is in none.
        """
        kernel = getattr(self._kernels, name)
        state = self._state()
        launches = [(kernel, 1, self._k, *options, *state)]
        if join:
            launches.append((self._kernels.join_leftovers, *self._joining()))
        more = larger_team(self._team, len(self._order), *launches)
        if more > self._team:
            self._team = more
            del self._slots, self._lists, self._groups, state, launches
            self._deal(None)
        if worth is not None:
            xp = array_namespace(worth)
            self._slots.worth[...] = xp.take(worth, xp.asarray(self._order))
        state = self._state()
        while True:
            with self._pace:
                launch(kernel, self.blocks, self._pace.work, self._k, *options, *state)
                left = to_numpy(self._groups.status)[:, LEFT]
            if progress is not None:
                progress(1.0 - float(left[0]) / float(self.sizes[0]))
            if not (left > until).any():
                break
        if join:
            launch(self._kernels.join_leftovers, self.blocks, *self._joining())
        return to_numpy(self.label).copy()

    def _state(self) -> tuple[Any, ...]:
        return self._slots, self._sums, self._lists, self._groups, self._board

    def _joining(self) -> tuple[Any, ...]:
        return self._k, self._slots, self._groups, self._board


def mdav_groups(
    points: Any, k: int, within: Within = None, progress: Progress | None = None
) -> np.ndarray:
    """MDAV; see `optional.HasLoops`."""

    def solve(part: Any, parts: list[np.ndarray] | None) -> np.ndarray:
        if parts is None and rounds.possible(part, k):
            outcome = rounds.mdav(part, k, progress)
            labels = _with_rest(part, k, outcome, "mdav", (), 2 * k - 1, progress)
        else:
            labels = _Loop(part, k, parts).run("mdav", until=2 * k - 1, progress=progress)
        # A problem of m records has m // k groups. The last one takes the rest.
        last = -1
        for records in [np.arange(len(labels))] if parts is None else parts:
            last += max(1, len(records) // k)
            labels[records] = np.where(labels[records] == NONE, last, labels[records])
        return labels

    return _each_problem(points, within, solve)


def vmdav_groups(points: Any, k: int, gamma: float, progress: Progress | None = None) -> np.ndarray:
    """V-MDAV; see `optional.HasLoops`."""
    gain = real_type(points)(gamma)
    if rounds.possible(points, k):
        outcome = rounds.vmdav(points, k, float(gain), progress)
        options = gain, outcome.centroid
        labels = _with_rest(points, k, outcome, "vmdav", options, k - 1, progress)
    else:
        loop = _Loop(points, k)
        labels = loop.run("vmdav", gain, loop.centroid(), until=k - 1, progress=progress)
    rest = np.flatnonzero(labels == NONE)
    if len(rest):
        xp = array_namespace(points)
        leftovers = xp.take(points, xp.asarray(rest), axis=0)
        _, nearest = nearest_of_each(leftovers, points, xp.asarray(labels != NONE))
        labels[rest] = labels[to_numpy(nearest)]
    return labels


def _with_rest(
    points: Any,
    k: int,
    outcome: rounds.Outcome,
    name: str,
    options: tuple[Any, ...],
    until: int,
    progress: Progress | None,
) -> np.ndarray:
    """The groups that rounds have formed, and those that a loop forms of the rest if it has to."""
    labels = outcome.labels
    if not outcome.done:
        xp = array_namespace(points)
        rest = np.flatnonzero(labels == NONE)
        share = len(rest) / len(labels)

        def of_all(done: float) -> None:
            if progress is not None:
                progress(1.0 - share * (1.0 - done))

        loop = _Loop(xp.take(points, xp.asarray(rest), axis=0), k)
        found = loop.run(name, *options, until=until, progress=of_all)
        labels[rest] = np.where(found == NONE, NONE, outcome.groups + found)
    return labels


def diameter_groups(
    points: Any, k: int, gather: str, within: Within = None, progress: Progress | None = None
) -> np.ndarray:
    """Diameter-based groups; see `optional.HasDiameterLoop`."""

    def solve(part: Any, parts: list[np.ndarray] | None) -> np.ndarray:
        return _diameter(part, k, gather == "seed", False, True, parts, progress)

    return _each_problem(points, within, solve)


def centroid_groups(
    points: Any, k: int, gather: str, within: Within = None, progress: Progress | None = None
) -> np.ndarray:
    """Centroid-based groups; see `optional.HasLoops`."""

    def solve(part: Any, parts: list[np.ndarray] | None) -> np.ndarray:
        name = "centroid_by_seed" if gather == "seed" else "centroid"
        return _Loop(part, k, parts).run(name, until=k - 1, join=True, progress=progress)

    return _each_problem(points, within, solve)


def extreme_groups(points: Any, within: np.ndarray, k: int, descending: bool) -> np.ndarray:
    """The two extreme groups of each problem; see `protocol.Engine`."""

    def solve(part: Any, parts: list[np.ndarray] | None) -> np.ndarray:
        return _diameter(part, k, False, descending, False, parts, None)

    groups = _each_problem(points, within, solve)
    labels = np.arange(len(within))
    taken = np.flatnonzero(groups >= 0)
    lowest = np.full(int(groups.max()) + 1, len(within))
    np.minimum.at(lowest, groups[taken], taken)
    labels[taken] = lowest[groups[taken]]
    return labels


def _diameter(
    points: Any,
    k: int,
    by_seed: bool,
    descending: bool,
    all_groups: bool,
    parts: list[np.ndarray] | None,
    progress: Progress | None,
) -> np.ndarray:
    """Groups around the most distant records: all of them, or only the first two."""
    xp = array_namespace(points)
    loop = _Loop(points, k, parts)
    worth, partner = None, xp.full((points.shape[0],), NONE, dtype=xp.int64)
    if parts is None and points.shape[0] > 1:  # else each is looked for when it is needed
        pair = None
        if not all_groups and rounds.possible(points, 1):
            pair = most_distant_pair(loop.points)
        if pair is None:
            distance, partner = farthest_of_each(loop.points)
            worth = -distance
        else:
            square, low, high = pair
            worth = xp.full((points.shape[0],), xp.inf, dtype=points.dtype)
            worth[low], partner[low] = -square, high
    return loop.run(
        "diameter_by_seed" if by_seed else "diameter",
        *(int(descending), points.shape[0] if all_groups else 2, partner),
        until=2 * k - 1 if all_groups else (loop.sizes if parts else len(partner)) - 2 * k,
        join=all_groups,
        worth=worth,
        progress=progress,
    )


def _each_problem(
    points: Any,
    within: Within,
    solve: Callable[[Any, list[np.ndarray] | None], np.ndarray],
) -> np.ndarray:
    """Labels of each problem's groups, large problems one by one and the small ones at once."""
    if within is None or len(parts := problems(within)) < 2:
        return solve(points, None)
    xp = array_namespace(points)
    small = [part for part in parts if len(part) <= _MANY]
    batches = [[part] for part in parts if len(part) > _MANY] + ([small] if small else [])
    labels = np.empty(len(within), dtype=np.int64)
    used = 0
    for batch in batches:
        records = np.sort(np.concatenate(batch))
        part = xp.take(points, xp.asarray(records), axis=0)
        local = None if len(batch) == 1 else [np.searchsorted(records, each) for each in batch]
        found = solve(part, local)
        labels[records] = np.where(found == NONE, NONE, used + found)
        used += int(found.max()) + 1
    return labels
