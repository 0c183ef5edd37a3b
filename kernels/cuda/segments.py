"""Words about ranked variables cut into connected groups, all variables at once.

The SSE of all runs of k to 2k - 1 values from a chunk of starts is grown by a thread to each
start. Then a block to each variable goes through the chunk: groups that start within k places of
each other end after all of them, so k starts are tried at a time. What is added to what, and in
which order, is as in the generic engine, so no other scheme would give the same last bits; the
blocks' n / k steps, of about k**2 sums each, are what takes time.

Per value: 2k values read, k costs written and read again, 13k floating point operations of which
2k are divisions, and 1 / k of a barrier. Two launches a chunk; the sizes go to the host once.
"""

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from array_api_compat import device
from numba import cuda

from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..generic.segments import walk_back
from .arithmetic import product
from .compiled import entry
from .launching import Pace, check_room, launch, read_number, real_type
from .team import THREADS

# Costs kept at a time, and starts of a launch, at most.
_COSTS = 2**25
_STARTS = 2**18


@lru_cache
def make_kernels(real):
    """The kernels for values of type ``real``."""

    @entry(real)
    def grow(k, first, last, columns, costs):
        """SSE of every run of m = k, ..., 2k - 1 values that starts from first to last - 1."""
        n = columns.shape[1]
        starts = last - first
        for i in range(cuda.grid(1), columns.shape[0] * starts, cuda.gridsize(1)):
            j = i // starts
            s = i % starts
            mean = columns[j, first + s]
            cost = real(0)
            for m in range(1, min(2 * k - 1, n - first - s) + 1):
                if m > 1:
                    value = columns[j, first + s + m - 1]
                    before = value - mean
                    mean += before / real(m)
                    cost += product(before, value - mean)
                if m >= k:
                    costs[j, m - k, s] = cost

    @entry(real)
    def connect(k, first, last, costs, best, size):
        """Try the groups that start from first to last - 1 after the best grouping up to there."""
        j = cuda.blockIdx.x
        n = best.shape[1] - 1
        for begin in range(first, last, k):
            stop = min(begin + k, last)
            ends = min(stop - 1 + 2 * k - 1, n) + 1
            for end in range(begin + k + cuda.threadIdx.x, ends, THREADS):
                least = best[j, end]
                chosen = size[j, end]
                for start in range(max(begin, end - 2 * k + 1), min(stop - 1, end - k) + 1):
                    m = end - start
                    total = best[j, start] + costs[j, m - k, start - first]
                    if total < least or (total == least and m < chosen):
                        least = total
                        chosen = m
                best[j, end] = least
                size[j, end] = chosen
            cuda.syncthreads()

    return SimpleNamespace(grow=grow, connect=connect)


def optimal_sizes(values: Any, k: int) -> list[np.ndarray]:
    """Sizes of the optimal connected groups of each variable; see `generic.optimal_sizes`."""
    xp = array_namespace(values)
    n, variables = values.shape
    starts = n - k + 1
    width = max(1, min(starts, _STARTS, _COSTS // (k * variables)))
    item = values.dtype.itemsize
    check_room(values, variables * (k * width * item + n * (2 * item + 8)))
    kernels = make_kernels(real_type(values))
    columns = xp.ascontiguousarray(values.T)
    costs = xp.empty((variables, k, width), dtype=values.dtype, device=device(values))
    best = xp.full((variables, n + 1), np.inf, dtype=values.dtype, device=device(values))
    best[:, 0] = 0
    size = xp.zeros((variables, n + 1), dtype=xp.int64, device=device(values))
    first, pace = 0, Pace(width)
    while first < starts:
        last = min(first + pace.work, starts)
        blocks = -(-variables * (last - first) // THREADS)
        with pace:
            launch(kernels.grow, blocks, k, first, last, columns, costs)
            launch(kernels.connect, variables, k, first, last, costs, best, size)
            read_number(size[0, last])
        first = last
    return [walk_back(column) for column in to_numpy(size)]
