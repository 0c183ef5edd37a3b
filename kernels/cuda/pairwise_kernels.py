"""Kernels over all pairs of rows of two matrices, a tile of pairs at a time.

A block takes TILE rows of `a` and TILE rows of `b`, brings SIDE variables of both at a time into
shared memory, and each of its SIDE x SIDE threads adds up EACH x EACH distances in registers.
Rows of a thread are SIDE apart, so that threads side by side read and write side by side.

What a distance of d variables costs, on paper, with numbers of w bytes, EACH = 4 and TILE = 64:

================================  ==============  ==============  ===============
                                                  float64         float32
================================  ==============  ==============  ===============
subtract, multiply, add           3 d             3 d flops       3 d flops
shared memory read                2 d w / EACH    4 d bytes       2 d bytes
shared memory written             2 d w / TILE    d / 4 bytes     d / 8 bytes
global memory read (mostly L2)    2 d w / TILE    d / 4 bytes     d / 8 bytes
the matrix: global, written       w               8 bytes         4 bytes
the fused forms: shared, w and r  2 w             16 bytes        8 bytes
================================  ==============  ==============  ===============

That is 12 flops to a byte of global memory in float64 and 24 in float32. For each variable a
thread loads 8 numbers from shared memory (a warp 2 different ones of `a`, 16 of `b`: no two of
them in one bank) and does 48 operations on them, so neither memory bounds the kernels. What does:
for 10 variables the compiler makes 71 instructions of a distance of the matrix and 96 of a fused
one, 30 of them arithmetic; for 32 variables 177 and 203, 96 of them arithmetic. A multiprocessor
issues 128 in a cycle (4 warps), so float32 is bound by issuing, and float64 by its double
precision units wherever there are 32 of them or fewer. Products are rounded before they are
added, so no instruction counts for two, as in the peak that makers print.
"""

from functools import lru_cache
from types import SimpleNamespace

from numba import cuda

from .arithmetic import SIMULATED, product
from .compiled import entry
from .team import NONE, SIDE, THREADS, block_least, make_shared

# Rows and columns of a thread; few in Numba's simulator, where few records must fill many tiles.
EACH = 2 if SIMULATED else 4
TILE = SIDE * EACH
# A line of a tile in shared memory; one more than needed, so that no bank holds a whole column.
LINE = TILE + 1
# Lines for the variables of both matrices, those of `a` first.
STAGES = 2 * SIDE
# Threads that share a row when a tile of distances is looked through.
SHARE = THREADS // TILE


@cuda.jit(device=True)
def remainder(index, size):
    """The index modulo a power of two.

    The compiler sees from the ``and`` that it is not negative. Of other numbers it thinks that
    they might count from the end of an array, and spends registers on it.
    """
    return index & (size - 1)


@cuda.jit(device=True)
def place_in_tile():
    """The column and the row of this thread among SIDE x SIDE."""
    t = cuda.threadIdx.x
    return remainder(t, SIDE), remainder(t // SIDE, SIDE)


@lru_cache
def make_kernels(real):
    """The kernels for points of type ``real``."""
    shared_arrays = make_shared(real)

    @cuda.jit(device=True)
    def stage(points, first, variable, tile, line):
        """Bring SIDE variables of TILE rows into shared memory, a variable to a line."""
        x, y = place_in_tile()
        for i in range(EACH):
            r = first + y + i * SIDE
            if r < points.shape[0] and variable + x < points.shape[1]:
                tile[line + x, y + i * SIDE] = points[r, variable + x]
            else:
                tile[line + x, y + i * SIDE] = real(0)

    @cuda.jit(device=True)
    def measure(a, b, row, column, tile, sums):
        """Squared distances of this thread's rows and columns of a tile of pairs.

        ``tile`` is shared memory of STAGES lines or more, free for other use afterwards when
        all threads have met.
        """
        x, y = place_in_tile()
        for i in range(EACH):
            for j in range(EACH):
                sums[i, j] = real(0)
        for variable in range(0, a.shape[1], SIDE):
            cuda.syncthreads()
            stage(a, row, variable, tile, 0)
            stage(b, column, variable, tile, SIDE)
            cuda.syncthreads()
            for v in range(min(SIDE, a.shape[1] - variable)):
                line = remainder(v, SIDE)
                for i in range(EACH):
                    for j in range(EACH):
                        difference = tile[line, y + i * SIDE] - tile[SIDE + line, x + j * SIDE]
                        sums[i, j] += product(difference, difference)

    @entry(real)
    def pairwise(a, b, symmetric, first, squares):
        """Squared distances of the rows of a from ``first`` on to all rows of b.

        If symmetric, a tile below the diagonal is left to the block of its mirror image, which
        writes both.
        """
        tile = cuda.shared.array((STAGES, LINE), real)
        sums = cuda.local.array((EACH, EACH), real)
        across = (b.shape[0] + TILE - 1) // TILE
        row = first + cuda.blockIdx.x // across * TILE
        column = cuda.blockIdx.x % across * TILE
        if symmetric and column < row:
            return
        measure(a, b, row, column, tile, sums)
        x, y = place_in_tile()
        for i in range(EACH):
            r = row + y + i * SIDE
            for j in range(EACH):
                c = column + x + j * SIDE
                if r < a.shape[0] and c < b.shape[0]:
                    squares[r, c] = sums[i, j]
                    if symmetric and column > row:
                        squares[c, r] = sums[i, j]

    @cuda.jit(device=True)
    def insert(worth, key, held, row, part, worths, keys):
        """Put a key in its place in a sorted list, behind its equals; the last may drop out."""
        p = min(held, worths.shape[2] - 1)
        while p > 0 and worths[row, part, p - 1] > worth:
            worths[row, part, p] = worths[row, part, p - 1]
            keys[row, part, p] = keys[row, part, p - 1]
            p -= 1
        worths[row, part, p] = worth
        keys[row, part, p] = key

    @entry(real)
    def list_best(a, b, allowed, apart, sign, first, splits, worths, keys):
        """For the rows of a from ``first`` on, lists of the columns of least worth.

        The worth of a column is ``sign`` times its squared distance. A block compares TILE rows
        with every ``splits``-th tile of columns. Each thread lists the best that it meets itself
        of every SHARE-th column, so that no thread waits for another's list. If ``apart``, a row
        is not compared with the column of the same number.
        """
        tile = cuda.shared.array((TILE, LINE), real)
        sums = cuda.local.array((EACH, EACH), real)
        x, y = place_in_tile()
        line = remainder(cuda.threadIdx.x, TILE)
        start = cuda.threadIdx.x // TILE
        split = cuda.blockIdx.x % splits
        top = cuda.blockIdx.x // splits * TILE
        row = top + line
        part = split * SHARE + start
        held = 0
        worst = sign
        for column in range(split * TILE, b.shape[0], splits * TILE):
            measure(a, b, first + top, column, tile, sums)
            cuda.syncthreads()
            for i in range(EACH):
                for j in range(EACH):
                    tile[y + i * SIDE, x + j * SIDE] = sums[i, j]
            cuda.syncthreads()
            if row < worths.shape[0]:
                for c in range(start, min(TILE, b.shape[0] - column), SHARE):
                    worth = sign * tile[line, c]
                    key = column + c
                    wanted = held < worths.shape[2] or worth < worst
                    if wanted and allowed[key] and not (apart and key == first + row):
                        insert(worth, key, held, row, part, worths, keys)
                        held = min(held + 1, worths.shape[2])
                        worst = worths[row, part, held - 1]
        if row < worths.shape[0]:
            for p in range(held, worths.shape[2]):
                keys[row, part, p] = NONE

    @entry(real)
    def merge_lists(sign, first, worths, keys, squares, indices):
        """Write the best of all lists of a row, in order; a block to a row, a thread to a list."""
        shared = shared_arrays()
        t = cuda.threadIdx.x
        row = cuda.blockIdx.x
        place = 0
        for c in range(squares.shape[1]):
            worth = sign
            key = NONE
            if t < worths.shape[1] and place < worths.shape[2]:
                worth = worths[row, t, place]
                key = keys[row, t, place]
            best, best_key = block_least(worth, key, shared)
            if key == best_key:
                place += 1
            if t == 0:
                squares[first + row, c] = sign * best
                indices[first + row, c] = best_key

    return SimpleNamespace(pairwise=pairwise, list_best=list_best, merge_lists=merge_lists)
