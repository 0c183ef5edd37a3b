"""Ward's method with the group sizes held down, on the device.

A large problem is solved in rounds (`ward_rounds`). What is here remains for

- many small problems, which a recursion of k-Ward hands over: each gets a block, all in one launch;
- a problem of few groups, of records in single precision, or of so many equal distances that rounds
  are no help: a team of all blocks solves it, which meet once a step.

In each step a group that was merged, or whose nearest group has changed, is compared with all m
groups left: m * (d + 3) values read, m * (3 d + 4) floating point operations, one meeting, four
reductions within a block. There are about three steps a merger. At the start all pairs are
compared in tiles, 3 d + 4 operations a pair. No byte goes to the host.
"""

from typing import Any

import numpy as np

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..protocol import Progress
from . import ward_rounds
from .launching import (
    Pace,
    check_room,
    larger_team,
    launch,
    read_number,
    real_type,
    team_blocks,
)
from .pairwise_kernels import TILE
from .prim import steps_per_launch
from .team import THREADS, Board
from .ward_kernels import CHANGED, GroupSlots, GroupSums, make_kernels, make_start_kernels

# A problem of more records than this gets a launch of its own.
LARGE = 4 * THREADS
# Variables of pairs that one launch compares at the start, at most, and blocks enough to fill any
# device.
WORK = 2**33
BLOCKS = 256


def merge_until_k(
    points: Any, labels: np.ndarray, within: np.ndarray, k: int, progress: Progress | None = None
) -> np.ndarray:
    """Merge groups by Ward's method until each has k records; see `protocol.Engine`."""
    points = array_namespace(points).ascontiguousarray(points)
    records = np.lexsort((labels, within))  # by problem, then group
    _, sizes = np.unique(within, return_counts=True)
    large = np.repeat(sizes > LARGE, sizes)
    batches = [records[~large], *np.split(records[large], np.cumsum(sizes[sizes > LARGE])[:-1])]
    merged = labels.copy()
    done = 0
    for batch in batches:
        if len(batch) == 0:
            continue

        def part_progress(fraction: float, done: int = done, more: int = len(batch)) -> None:
            if progress is not None:
                progress((done + fraction * more) / len(records))

        merged[batch] = _merge(points, batch, labels[batch], within[batch], k, part_progress)
        done += len(batch)
    return merged


def _merge(
    points: Any,
    records: np.ndarray,
    labels: np.ndarray,
    within: np.ndarray,
    k: int,
    progress: Progress,
) -> np.ndarray:
    """Merge the groups of one problem in rounds or by a team, or those of many by a block for each.

    Parameters
    ----------
    records, labels, within : int64 arrays
        The records, their groups and their problems, sorted by problem and then by group.

    Returns
    -------
    int64 array
        The group each of these records is in at last.
    """
    begin = np.append(np.flatnonzero(np.diff(labels, prepend=-1)), len(records))
    one = within[0] == within[-1]
    if not one or not ward_rounds.possible(points, len(begin) - 1):
        return _merge_by_looks(points, records, labels, within, k, progress)
    reached = 0.0

    def of_rounds(fraction: float) -> None:
        nonlocal reached
        reached = fraction
        progress(fraction)

    names, done = ward_rounds.merge(points, records, begin, k, of_rounds)
    merged = np.repeat(labels[begin[:-1]][names], np.diff(begin))
    if not done:
        order, before = np.argsort(merged, kind="stable"), reached

        def of_rest(fraction: float) -> None:
            progress(before + (1.0 - before) * fraction)

        merged[order] = _merge_by_looks(points, records[order], merged[order], within, k, of_rest)
    return merged


def _merge_by_looks(
    points: Any,
    records: np.ndarray,
    labels: np.ndarray,
    within: np.ndarray,
    k: int,
    progress: Progress,
) -> np.ndarray:
    """The same by looks at all groups: of a team of all blocks, or of a block to a problem."""
    xp = array_namespace(points)
    real = real_type(points)
    d = points.shape[1]
    begin = np.flatnonzero(np.diff(labels, prepend=-1))
    sizes = np.diff(begin, append=len(records))
    m = len(begin)
    item = points.dtype.itemsize
    check_room(points, m * ((4 * d + 5) * item + 40) + 8 * len(records))
    _, starts = np.unique(within[begin], return_index=True)
    few = np.add.reduceat((sizes < k).astype(np.int64), starts)  # groups, in each problem

    def empty(*shape: int, dtype: Any = real) -> Any:
        return xp.empty(shape, dtype=dtype)

    def dealt(team: int) -> tuple[Any, ...]:
        """What the kernel works on, the groups dealt to the blocks of a team or of problems."""
        shares = [np.arange(b, m, team) for b in range(team)]
        if team == 1:
            shares = np.split(np.arange(m), starts[1:])
        blocks = len(shares)
        order = np.concatenate(shares)
        held = np.array([len(share) for share in shares])
        slots = GroupSlots(
            columns=empty(d, m),
            size=empty(m),
            group=xp.asarray(order),
            slot_of=xp.asarray(np.argsort(order)),
            distance=xp.full((m,), -1, dtype=real),
            near=xp.full((m,), CHANGED, dtype=xp.int64),
            start=xp.asarray(np.cumsum(held) - held),
            held=xp.asarray(held),
        )
        sums = GroupSums(empty(m, 3, d + 1), empty(blocks, 3, d + 1), empty(blocks, d))
        board = Board(empty(4, blocks), empty(4, blocks, dtype=xp.int64))
        into = xp.arange(m, dtype=xp.int64)
        return slots, sums, into, xp.asarray(np.repeat(few, team), copy=True), board

    team = team_blocks(m) if len(starts) == 1 else 1
    kernel = make_kernels(real, team > 1).merge
    if team > 1:
        team = larger_team(team, m, (kernel, 1, k, *dealt(team)))
    slots, sums, into, left, board = dealt(team)
    blocks, small = len(left), np.repeat(few, team)
    start = make_start_kernels(real)
    launch(
        start.sum_up, min(BLOCKS, -(-m * d // THREADS)),
        points, xp.asarray(records), xp.asarray(np.append(begin, len(records))), slots, sums.total,
    )  # fmt: skip
    if len(starts) == 1 and small[0]:
        tiles, first, pace = -(-m // TILE), 0, Pace(WORK)
        while first < tiles:
            # Fewer blocks than fill the device would take as long.
            rows = min(tiles - first, max(BLOCKS, pace.work // (TILE * m * d)))
            with pace:
                launch(start.find_first, rows, first, k, slots)
                read_number(slots.near[0])
            progress(0.25 * first / tiles)
            first += rows
    pace = Pace(steps_per_launch(m * (d + 3) * item))
    now = small
    while now.any():
        progress(1.0 - 0.75 * float(now.sum()) / float(small.sum()))
        with pace:
            launch(kernel, blocks, pace.work, k, slots, sums, into, left, board)
            now = to_numpy(left)
    names = to_numpy(into)
    while not np.array_equal(names, further := names[names]):
        names = further
    return np.repeat(labels[begin][names], sizes)
