"""Annealing of a partition on the device: a warp to a region, in shared memory where it fits.

Shared memory answers in about a tenth of the time of the memory that all multiprocessors share, and
a step is a chain of some hundred instructions that wait for each other. A block gets at most
SHARED bytes, the same on every card. Larger regions, of many records, many variables or large
groups, stay in the device's memory, of which each multiprocessor caches what it uses.
"""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..arguments import Sweep
from ..arrays import array_namespace
from ..generic.annealing import ROOM
from ..generic.arrays import to_numpy
from .annealing_kernels import (
    State,
    anneal_in_memory,
    anneal_in_shared,
    enter,
    leave,
    shared_bytes,
)
from .draws import seeded
from .launching import Pace, launch
from .warp import LANES

SHARED = 48 * 1024  # bytes of shared memory that a block may have
# Steps of the first launches: as many as take some hundredths of a second even if 32 warps are on
# one multiprocessor and each step of them is a thousand instructions.
FIRST = 256


def anneal(points: Any, near: Any, labels: Any, k: int, sweep: Sweep) -> float:
    """Change a partition by random steps; see `protocol.Engine`."""
    xp = array_namespace(points)
    n, d = points.shape
    groups, starts = xp.asarray(sweep.groups), to_numpy(sweep.starts)
    regions = len(starts) - 1
    rank = xp.empty_like(groups)
    rank[groups] = xp.arange(groups.shape[0])
    inside = xp.argsort(rank[labels], stable=True)
    position = xp.empty_like(inside)
    position[inside] = xp.arange(n)
    first = xp.searchsorted(rank[labels][inside], xp.arange(groups.shape[0] + 1))
    begin = to_numpy(first[xp.asarray(starts)])
    state = _state(xp, begin, d, k, near.shape[1], sweep.seed)
    launch(
        enter, regions, xp.ascontiguousarray(points), near, xp.asarray(sweep.heat), inside,
        position, first, xp.asarray(starts), k, state, threads=LANES,
    )  # fmt: skip
    largest = int(np.diff(begin).max())
    needed = shared_bytes(largest, d, k)
    kernel, shared = (anneal_in_shared, needed) if needed <= SHARED else (anneal_in_memory, 0)
    steps, done = int(sweep.rate * largest), 0
    pace = Pace(steps, FIRST)
    while done < steps:
        last = min(steps, done + pace.work)
        with pace:
            launch(
                kernel, regions, state, k, float(sweep.rate), done, last,
                threads=LANES, shared=shared,
            )  # fmt: skip
            to_numpy(state.idle[:1])
        done = last
    within = xp.empty(state.size.shape, dtype=xp.float64)
    sums = xp.empty((regions,), dtype=xp.float64)
    launch(leave, regions, inside, state, labels, within, sums, threads=LANES)
    return reduce(add, to_numpy(sums).tolist())


def _state(xp: Any, begin: np.ndarray, d: int, k: int, width: int, seed: np.uint64) -> State:
    """The state of regions whose records begin at some places, to be filled on the device."""
    most, n, regions = ROOM * k, int(begin[-1]), len(begin) - 1
    room = np.append(0, np.cumsum(np.diff(begin) // k))
    rooms = int(room[-1])

    def integers(*shape: int) -> Any:
        return xp.zeros(shape, dtype=xp.int32)

    def numbers(*shape: int) -> Any:
        return xp.empty(shape, dtype=xp.float64)

    return State(
        begin=xp.asarray(begin),
        room=xp.asarray(room),
        points=numbers(n * d),
        near=integers(n, width),
        degree=integers(n),
        heat=numbers(n),
        label=integers(n),
        place=integers(n),
        member=integers(rooms * most),
        size=integers(rooms),
        centroid=numbers(rooms * d),
        free=integers(rooms),
        idle=integers(regions),
        moved=integers(2 * regions * most),
        line=numbers(regions * d),
        share=xp.asarray(np.append(np.inf, 1.0 / np.arange(1, most + 1))),
        random=xp.asarray(seeded(seed, np.arange(regions))),
    )
