"""Device functions on the records that a block looks after.

The records that remain are dealt out to the blocks of a team. A block keeps its own in
consecutive slots, ``first`` to ``first + held``, one row of ``columns`` per variable, so that
threads side by side read side by side. A record that leaves is replaced by the last one held:
the work shrinks with the set, and no other block need know. Each thread looks after every
THREADS-th slot. Loops over variables go in steps of ``blockDim`` instead: with a constant there
the compiler needed 225 registers for MDAV and not 146, and spilled some for other methods.
"""

from numba import cuda

from .arithmetic import add, rounded, squared_distance
from .team import NONE, THREADS, less


@cuda.jit(device=True)
def nearest_here(columns, record, first, held, target, row, excluded):
    """Of this thread's slots the record nearest to a target, with its squared distance."""
    best = target[row, 0]
    key = NONE
    for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
        distance = squared_distance(columns, slot, target, row)
        if key == NONE or distance <= best:
            r = record[slot]
            if r != excluded and less(distance, r, best, key):
                best = distance
                key = r
    return best, key


@cuda.jit(device=True)
def farthest_here(columns, record, first, held, target, row, excluded):
    """Of this thread's slots the record farthest from a target; the least negative distance."""
    best = target[row, 0]
    key = NONE
    for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
        distance = -squared_distance(columns, slot, target, row)
        if key == NONE or distance <= best:
            r = record[slot]
            if r != excluded and less(distance, r, best, key):
                best = distance
                key = r
    return best, key


@cuda.jit(device=True)
def least_here(worth, record, first, held, nothing):
    """Of this thread's slots the record of least worth; ``nothing`` where there is none."""
    best = nothing
    key = NONE
    for slot in range(first + cuda.threadIdx.x, first + held, THREADS):
        if key == NONE or worth[slot] <= best:
            r = record[slot]
            if less(worth[slot], r, best, key):
                best = worth[slot]
                key = r
    return best, key


@cuda.jit(device=True)
def take_out(r, first, held, columns, record, slot_of, worth):
    """Remove record r from the slots of its block; the last record moves to its place."""
    t = cuda.threadIdx.x
    cuda.syncthreads()
    slot = slot_of[r]
    last = first + held - 1
    moved = record[last]
    cuda.syncthreads()
    for j in range(t, columns.shape[0], cuda.blockDim.x):
        columns[j, slot] = columns[j, last]
    if t == 0:
        worth[slot] = worth[last]
        record[slot] = moved
        slot_of[moved] = slot
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
