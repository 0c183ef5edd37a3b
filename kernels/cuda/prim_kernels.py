"""The kernel of Prim's method: many steps in one launch."""

from functools import lru_cache
from types import SimpleNamespace

from numba import cuda

from .arithmetic import squared_distance
from .chunks import take_out
from .compiled import entry
from .team import NONE, THREADS, less, make_shared, make_team


@lru_cache
def make_kernels(real, cooperative):
    """The kernel for points of type ``real``, a team being the grid or a block."""
    team_least = make_team(cooperative).team_least
    shared_arrays = make_shared(real)

    @entry(real, cooperative)
    def prim(first_step, last_step, slots, edge, reached, edges, lengths, board):
        """Add records to the tree; ``reached`` is the last, whose distances are still to be seen.

        Blocks look after the records outside the tree, each with its shortest edge to the tree:
        squared length, the worth of its slot, and ``edge``, a number that orders edges by lower,
        then higher end: 2 * (lower * n + higher), and 1 more if the higher end is the one
        outside. So who is reached can be read from the edge.
        """
        shared = shared_arrays()
        b = cuda.blockIdx.x
        points, length = slots.points, slots.worth
        n = points.shape[0]
        first = slots.start[b]
        mine = slots.held[b]
        v = reached[b]
        for step in range(first_step, last_step):
            if v % cuda.gridDim.x == b:
                if cuda.threadIdx.x == 0:
                    edge[slots.slot_of[v]] = edge[first + mine - 1]
                take_out(v, first, mine, slots)
                mine -= 1
            best = real(0)
            key = NONE
            for slot in range(first + cuda.threadIdx.x, first + mine, THREADS):
                squared = squared_distance(slots.columns, slot, points, v)
                if squared <= length[slot]:
                    r = slots.record[slot]
                    code = 2 * (r * n + v) if r < v else 2 * (v * n + r) + 1
                    if less(squared, code, length[slot], edge[slot]):
                        length[slot] = squared
                        edge[slot] = code
                shortest = key == NONE or length[slot] <= best
                if shortest and less(length[slot], edge[slot], best, key):
                    best = length[slot]
                    key = edge[slot]
            best, key = team_least(best, key, shared, board, step % 2)
            pair = key // 2
            v = pair // n if key % 2 == 0 else pair % n
            if b == 0 and cuda.threadIdx.x == 0:
                edges[step] = pair
                lengths[step] = best
        if cuda.threadIdx.x == 0:
            slots.held[b] = mine
            reached[b] = v

    return SimpleNamespace(prim=prim)
