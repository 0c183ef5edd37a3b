"""How the threads of a block, and the blocks of a team, agree on the least of what they hold.

A team is either the whole grid (one problem; the blocks meet by grid synchronisation, so the
launch is cooperative) or a single block (as many problems as blocks). Every thread learns the
answer, so that all blocks of a team take the same decisions without asking each other.
"""

from numba import cuda

from .arithmetic import SIMULATED

# Threads reduce in two stages of SIDE steps, which takes fewer barriers than a tree of halves.
# Numba's simulator runs every thread as one of Python's, so it gets few.
SIDE = 2 if SIMULATED else 16
THREADS = SIDE * SIDE
NONE = -1


@cuda.jit(device=True)
def less(value, key, best, best_key):
    """Whether (value, key) comes before the best; keys are not negative, NONE is no best yet."""
    return best_key == NONE or value < best or (value == best and key < best_key)


@cuda.jit(device=True)
def block_least(value, key, values, keys):
    """The least (value, key) of all threads of the block; NONE where none has a key.

    ``values`` and ``keys`` are shared arrays of THREADS.
    """
    t = cuda.threadIdx.x
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


def make_team(cooperative):
    """The device functions of a team: of the whole grid, or of a block by itself.

    Returns
    -------
    meet : device function ()
        Wait for the team; what was written before is seen after.
    team_least : device function (value, key, values, keys, board, board_keys, turn)
        The least (value, key) of all threads of the team. The board, of shape (2, blocks), is
        where blocks show theirs; ``turn`` alternates between 0 and 1 from call to call, so that
        nobody writes what another still reads.
    """
    if cooperative:

        @cuda.jit(device=True)
        def meet():
            cuda.cg.this_grid().sync()

        @cuda.jit(device=True)
        def team_least(value, key, values, keys, board, board_keys, turn):
            value, key = block_least(value, key, values, keys)
            if cuda.threadIdx.x == 0:
                board[turn, cuda.blockIdx.x] = value
                board_keys[turn, cuda.blockIdx.x] = key
            meet()
            key = NONE
            for b in range(cuda.threadIdx.x, cuda.gridDim.x, THREADS):
                other = board_keys[turn, b]
                if other != NONE and less(board[turn, b], other, value, key):
                    value = board[turn, b]
                    key = other
            return block_least(value, key, values, keys)

    else:

        @cuda.jit(device=True)
        def meet():
            cuda.syncthreads()

        @cuda.jit(device=True)
        def team_least(value, key, values, keys, board, board_keys, turn):
            return block_least(value, key, values, keys)

    return meet, team_least
