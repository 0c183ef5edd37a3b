"""Correctly rounded sums on the device: every thread carries three numbers, a block adds them up.

One launch; each term is read once and takes 13 additions.
"""

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from array_api_compat import device
from numba import cuda

from ..arrays import array_namespace
from .arithmetic import add, rounded
from .compiled import entry
from .launching import launch, real_type
from .team import SIDE, THREADS

# Blocks enough to fill any device; each takes every so-manieth row.
_BLOCKS = 1024


@cuda.jit(device=True)
def begin(total):
    """Begin the total of each thread: of a shared array of shape (THREADS, 3, 1)."""
    cuda.syncthreads()
    for part in range(3):
        total[cuda.threadIdx.x, part, 0] = 0


@cuda.jit(device=True)
def join_totals(total, step, count):
    """Threads below ``step`` add to their totals ``count - 1`` others, each ``step`` farther."""
    t = cuda.threadIdx.x
    cuda.syncthreads()
    if t < step:
        for i in range(1, count):
            for part in range(3):
                add(total, t, 0, total[t + i * step, part, 0])


@cuda.jit(device=True)
def add_up(total):
    """Add the totals of all threads to the first one, for the whole block to read."""
    join_totals(total, SIDE, SIDE)
    join_totals(total, 1, SIDE)
    cuda.syncthreads()


@lru_cache
def make_kernels(real):
    """The kernel for numbers of type ``real``."""

    @entry(real)
    def sum_rows(rows, sums):
        """The sum of each row; a row to a block."""
        total = cuda.shared.array((THREADS, 3, 1), real)
        for row in range(cuda.blockIdx.x, rows.shape[0], cuda.gridDim.x):
            begin(total)
            for i in range(cuda.threadIdx.x, rows.shape[1], THREADS):
                add(total, cuda.threadIdx.x, 0, rows[row, i])
            add_up(total)
            if cuda.threadIdx.x == 0:
                sums[row] = rounded(total, 0, 0)

    return SimpleNamespace(sum_rows=sum_rows)


def correctly_rounded_sum(columns: Any) -> Any:
    """Sum over the last axis, correctly rounded."""
    xp = array_namespace(columns)
    rows = xp.ascontiguousarray(xp.reshape(columns, (-1, columns.shape[-1])))
    sums = xp.empty((rows.shape[0],), dtype=columns.dtype, device=device(columns))
    kernel = make_kernels(real_type(columns)).sum_rows
    launch(kernel, max(1, min(rows.shape[0], _BLOCKS)), rows, sums)
    return xp.reshape(sums, columns.shape[:-1])
