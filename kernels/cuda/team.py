"""How the threads of a block, and the blocks of a team, agree on the least of what they hold.

A team is either the whole grid (one problem; the blocks meet by grid synchronisation, so the
launch is cooperative) or a single block (as many problems as blocks). Every thread learns the
answer, so that all blocks of a team take the same decisions without asking each other.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

from numba import cuda

from .arithmetic import SIMULATED

# Threads reduce in two stages of SIDE steps, which takes fewer barriers than a tree of halves.
# Numba's simulator runs every thread as one of Python's, so it gets few.
SIDE = 2 if SIMULATED else 16
THREADS = SIDE * SIDE
NONE = -1


class Shared(NamedTuple):
    """Arrays of THREADS in shared memory, where the threads of a block compare what they hold."""

    values: Any
    keys: Any


class Board(NamedTuple):
    """Where the blocks of a team show each other what they hold, of shape (turns, blocks)."""

    values: Any
    keys: Any


@cuda.jit(device=True)
def less(value, key, best, best_key):
    """Whether (value, key) comes before the best; keys are not negative, NONE is no best yet."""
    return best_key == NONE or value < best or (value == best and key < best_key)


@cuda.jit(device=True)
def block_least(value, key, shared):
    """The least (value, key) of all threads of the block; NONE where none has a key."""
    t = cuda.threadIdx.x
    values = shared.values
    keys = shared.keys
    cuda.syncthreads()
    values[t] = value
    keys[t] = key
    cuda.syncthreads()
    if t < SIDE:
        for i in range(t + SIDE, THREADS, SIDE):
            if keys[i] != NONE and less(values[i], keys[i], values[t], keys[t]):
                values[t] = values[i]
                keys[t] = keys[i]
    cuda.syncthreads()
    value = values[0]
    key = keys[0]
    for i in range(1, SIDE):
        if keys[i] != NONE and less(values[i], keys[i], value, key):
            value = values[i]
            key = keys[i]
    return value, key


def make_shared(real):
    """A device function that gives a block its shared arrays for values of type ``real``."""

    @cuda.jit(device=True)
    def shared_arrays():
        values = cuda.shared.array(THREADS, real)
        keys = cuda.shared.array(THREADS, "int64")
        return Shared(values, keys)

    return shared_arrays


def make_team(cooperative):
    """The device functions of a team: of the whole grid, or of a block by itself.

    Returns
    -------
    team_sync : device function ()
        Wait for the team; what was written before is seen after.
    show : device function (value, key, shared, board, turn)
        The least (value, key) of all threads of the block, put on the board.
    read : device function (value, key, shared, board, turn)
        The least (value, key) on the board after a meeting; without a board what is given.
    team_least : device function (value, key, shared, board, turn)
        The least (value, key) of all threads of the team. ``turn`` alternates between 0 and 1
        from call to call, so that nobody writes what another still reads.
    """
    if cooperative:

        @cuda.jit(device=True)
        def team_sync():
            cuda.cg.this_grid().sync()

        @cuda.jit(device=True)
        def show(value, key, shared, board, turn):
            value, key = block_least(value, key, shared)
            if cuda.threadIdx.x == 0:
                board.values[turn, cuda.blockIdx.x] = value
                board.keys[turn, cuda.blockIdx.x] = key
            return value, key

        @cuda.jit(device=True)
        def read(value, key, shared, board, turn):
            key = NONE
            for b in range(cuda.threadIdx.x, cuda.gridDim.x, THREADS):
                other = board.keys[turn, b]
                if other != NONE and less(board.values[turn, b], other, value, key):
                    value = board.values[turn, b]
                    key = other
            return block_least(value, key, shared)

        @cuda.jit(device=True)
        def team_least(value, key, shared, board, turn):
            value, key = show(value, key, shared, board, turn)
            team_sync()
            return read(value, key, shared, board, turn)

    else:

        @cuda.jit(device=True)
        def team_sync():
            cuda.syncthreads()

        @cuda.jit(device=True)
        def show(value, key, shared, board, turn):
            return block_least(value, key, shared)

        @cuda.jit(device=True)
        def read(value, key, shared, board, turn):
            return value, key

        @cuda.jit(device=True)
        def team_least(value, key, shared, board, turn):
            return block_least(value, key, shared)

    return SimpleNamespace(team_sync=team_sync, show=show, read=read, team_least=team_least)
