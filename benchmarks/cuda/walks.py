"""The cutting of a spanning tree by the CUDA engine on the CPU, counted; see `trees`."""

import numpy as np
from numba import njit

from microagg_gpu.kernels.cuda.cut_kernels import (
    CUT,
    ENOUGH,
    FEW,
    KEPT,
    SLOTS,
    SLOTS_EACH,
    UNKNOWN,
    WAITING,
)  # fmt: skip

from .work import Work

STEPS, LOOKED = range(2)  # of warps along the tree, and ends that their lanes looked at
LANES = 32
INSTRUCTIONS = 25  # of PTX for a step; a test compares the sum with what ptxrun executes
BYTES = 64  # for an end: it and a state come from anywhere, 32 bytes each


@njit(cache=True)
def _side(beside, state, home, k, with_waiting):
    """As `cut_kernels.side`; how many ends were looked at too."""
    looked, left, p = 0, 2 * (k - 1), beside[home]
    while left > 0:
        if p == home:
            return FEW, looked
        if looked == SLOTS + SLOTS_EACH * k:
            return UNKNOWN, looked
        looked += 1
        edge = p // 2
        known = state[edge]
        if edge > home // 2 or known == KEPT or (with_waiting and known == WAITING):
            p ^= 1
            left -= 1
        p = beside[p]
    return ENOUGH, looked


@njit(cache=True)
def _decide(waiting, first, last, beside, before, after, k, tally):
    """A warp takes as many steps as the longest walk of its lanes."""
    walks, longest = np.empty(4, dtype=np.int64), np.empty(4, dtype=np.int64)
    for begin in range(first, last, LANES):
        longest[:] = 0
        for e in waiting[begin : min(last, begin + LANES)]:
            walks[:] = 0
            found, walks[0] = _side(beside, before, 2 * e, k, True)
            if found != FEW:
                found, walks[1] = _side(beside, before, 2 * e + 1, k, True)
            if found == FEW:
                after[e] = KEPT
            else:
                found, walks[2] = _side(beside, before, 2 * e, k, False)
                if found == ENOUGH:
                    found, walks[3] = _side(beside, before, 2 * e + 1, k, False)
                    if found == ENOUGH:
                        after[e] = CUT
            tally[LOOKED] += walks.sum()
            longest = np.maximum(longest, walks)
        tally[STEPS] += longest.sum()


@njit(cache=True)
def _unite(ends, state, above, tally):
    for e in range(len(state)):
        if state[e] != CUT:
            a, b = ends[2 * e], ends[2 * e + 1]
            while above[a] != a:
                a = above[a]
            while above[b] != b:
                b = above[b]
            above[max(a, b)] = min(a, b)
    tally[LOOKED] += 3 * len(state)
    tally[STEPS] += 3 * len(state) // LANES


TWINS = {"decide": _decide, "unite": _unite}


def add(work: Work, tally: np.ndarray) -> None:
    """Add what walks take."""
    work.instructions += INSTRUCTIONS * int(tally[STEPS])
    work.words += BYTES // 8 * int(tally[LOOKED])
