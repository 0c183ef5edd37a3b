"""Device functions on the records that a block looks after.

The records that remain are dealt out to the blocks of a team. A block keeps its own in
consecutive slots, ``first`` to ``first + held``, one row of ``columns`` per variable, so that
threads side by side read side by side. A record that leaves is replaced by the last one held:
the work shrinks with the set, and no other block need know. Each thread looks after every
THREADS-th slot. Loops over variables go in steps of ``blockDim`` instead: with a constant there
the compiler needed 225 registers for MDAV and not 146, and spilled some for other methods.
"""

from typing import Any, NamedTuple

from numba import cuda

from .arithmetic import add, rounded, squared_distance
from .team import NONE, THREADS, less


class Slots(NamedTuple):
    """The records that remain, dealt out to the blocks of a team."""

    points: Any  # (n, d) all records, a row each
    columns: Any  # (d, n) values of the record in each slot
    record: Any  # (n,) the record in each slot
    slot_of: Any  # (n,) the slot of each record
    worth: Any  # (n,) what a method keeps of the record in each slot
    start: Any  # (blocks + 1,) first slot of each block
    held: Any  # (blocks,) how many records each block holds


def _make_scan(sign):
    @cuda.jit(device=True)
    def best_here(slots, first, held, target, row, excluded):
        best = target[row, 0]
        key = NONE
        for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
            distance = squared_distance(slots.columns, slot, target, row)
            if sign < 0:
                distance = -distance
            if key == NONE or distance <= best:
                r = slots.record[slot]
                if r != excluded and less(distance, r, best, key):
                    best = distance
                    key = r
        return best, key

    return best_here


# Of this thread's slots the record nearest to a target, with its squared distance; and the one
# farthest from it, with the least negative distance.
nearest_here = _make_scan(1)
farthest_here = _make_scan(-1)


@cuda.jit(device=True)
def least_here(slots, first, held, nothing):
    """Of this thread's slots the record of least worth; ``nothing`` where there is none."""
    best = nothing
    key = NONE
    for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
        if key == NONE or slots.worth[slot] <= best:
            r = slots.record[slot]
            if less(slots.worth[slot], r, best, key):
                best = slots.worth[slot]
                key = r
    return best, key


@cuda.jit(device=True)
def fill_gap(r, first, held, columns, record, slot_of):
    """Move the last record that a block holds to the slot of record r; both slots.

    What else is kept of a slot is for the caller to move, and then to wait for all threads.
    """
    t = cuda.threadIdx.x
    cuda.syncthreads()
    slot = slot_of[r]
    last = first + held - 1
    moved = record[last]
    cuda.syncthreads()
    for j in range(t, columns.shape[0], cuda.blockDim.x):
        columns[j, slot] = columns[j, last]
    if t == 0:
        record[slot] = moved
        slot_of[moved] = slot
    return slot, last


@cuda.jit(device=True)
def take_out(r, first, held, slots):
    """Remove record r from the slots of its block; the last record moves to its place."""
    slot, last = fill_gap(r, first, held, slots.columns, slots.record, slots.slot_of)
    if cuda.threadIdx.x == 0:
        slots.worth[slot] = slots.worth[last]
    cuda.syncthreads()


@cuda.jit(device=True)
def add_record(total, row, points, r):
    """Add a record to a total; thread by thread the same variables each time."""
    for j in range(cuda.threadIdx.x, points.shape[1], cuda.blockDim.x):
        add(total, row, j, points[r, j])


@cuda.jit(device=True)
def subtract_record(total, row, points, r):
    """Take a record from a total."""
    for j in range(cuda.threadIdx.x, points.shape[1], cuda.blockDim.x):
        add(total, row, j, -points[r, j])


@cuda.jit(device=True)
def clear(total, row):
    """Begin a total anew."""
    for j in range(cuda.threadIdx.x, total.shape[2], cuda.blockDim.x):
        for part in range(total.shape[1]):
            total[row, part, j] = 0


@cuda.jit(device=True)
def aim_at_centroid(target, total, row, count):
    """Write the centroid of a total into a row of targets, for the whole block to read."""
    for j in range(cuda.threadIdx.x, target.shape[1], cuda.blockDim.x):
        target[row, j] = rounded(total, row, j) / count
    cuda.syncthreads()
