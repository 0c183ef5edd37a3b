"""Prim's method for the minimum spanning tree, all steps on the device.

It looks at each pair of records once in all, since a record that is reached leaves the set:
n**2 / 2 distances, and one meeting of the blocks a step, which costs some microseconds. It is for
records of many variables, whose nearest a search tree cannot find.

Per step, with m records outside the tree: m * (d + 1) values read, 3 m d floating point
operations, one meeting, two reductions within a block. No byte goes to the host.
"""

from typing import Any

import numpy as np

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..protocol import Progress
from .chunks import Slots
from .launching import Pace, check_room, larger_team, launch, real_type, team_blocks
from .prim_kernels import make_kernels
from .team import Board

# Bytes that one launch may look at, for about 0.1 s, and what a step costs besides: meeting and
# reducing, as a number of bytes.
BYTES_PER_LAUNCH = 1 << 37
BYTES_PER_STEP = 1 << 23


def steps_per_launch(looked_at: int) -> int:
    """Steps of a loop that one launch may take if each looks at so many bytes."""
    return max(1, BYTES_PER_LAUNCH // (looked_at + BYTES_PER_STEP))


def prim(points: Any, progress: Progress | None = None) -> tuple[Any, Any]:
    """Edges and squared lengths, in order; see `Engine.minimum_spanning_tree`."""
    xp = array_namespace(points)
    n, d = points.shape
    if n < 2:
        return xp.empty((0, 2), dtype=xp.int64), xp.empty((0,), dtype=xp.float64)
    item = points.dtype.itemsize
    check_room(points, n * (2 * d * item + 2 * item + 32))
    blocks = team_blocks(n)
    kernel = make_kernels(real_type(points), blocks > 1).prim
    state = _dealt(points, blocks)
    more = larger_team(blocks, n, (kernel, 0, 1, *state))
    if more > blocks:
        blocks = more
        del state
        state = _dealt(points, blocks)
    *_, edges, lengths, _ = state
    step, pace = 0, Pace(BYTES_PER_LAUNCH)
    while step < n - 1:
        steps = pace.work // ((n - step) * (d + 1) * item + BYTES_PER_STEP)
        last = min(n - 1, step + max(1, steps))
        with pace:
            launch(kernel, blocks, step, last, *state)
            to_numpy(edges[:1])  # waits for the device, so that Ctrl-C need not wait for all
        step = last
        if progress is not None:
            progress(1.0 - (1.0 - step / n) ** 2)
    return in_order(edges, lengths, n)


def in_order(codes: Any, lengths: Any, n: int) -> tuple[Any, Any]:
    """Edges, lower end * n + higher, and their lengths as `minimum_spanning_tree` has them."""
    xp = array_namespace(codes)
    order = xp.argsort(codes)
    order = order[xp.argsort(lengths[order], stable=True)]
    codes = codes[order]
    return xp.stack([codes // n, codes % n], axis=1), lengths[order].astype(xp.float64)


def _dealt(points: Any, blocks: int) -> tuple[Any, ...]:
    """What the kernel works on, the records dealt to the blocks of a team."""
    xp, real, n = array_namespace(points), real_type(points), points.shape[0]
    shares = [np.arange(b, n, blocks) for b in range(blocks)]
    sizes = np.array([len(share) for share in shares])
    order = np.concatenate(shares)
    record = xp.asarray(order)
    rows = xp.ascontiguousarray(points)
    edges = xp.empty((n - 1,), dtype=xp.int64)
    lengths = xp.empty((n - 1,), dtype=real)
    slots = Slots(
        points=rows,
        columns=xp.ascontiguousarray(xp.take(rows, record, axis=0).T),
        record=record,
        slot_of=xp.asarray(np.argsort(order)),
        worth=xp.full((n,), np.inf, dtype=real),
        start=xp.asarray(np.append(0, np.cumsum(sizes))),
        held=xp.asarray(sizes),
    )
    edge = xp.full((n,), 2 * n * n, dtype=xp.int64)  # none yet
    reached = xp.zeros((blocks,), dtype=xp.int64)
    board = Board(xp.empty((2, blocks), dtype=real), xp.empty((2, blocks), dtype=xp.int64))
    return slots, edge, reached, edges, lengths, board
