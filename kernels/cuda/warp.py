"""What the lanes of a warp tell each other: shuffles, votes, and the least of what they hold.

All lanes of a warp call these functions together. They order no memory: what one lane writes,
another reads only after `warp_sync` or a barrier.

Numba's simulator has no warps. There a block is one warp of few lanes, whose lanes tell each other
through shared memory.
"""

import numpy as np
from numba import cuda

from .arithmetic import SIMULATED
from .team import THREADS

LANES = THREADS if SIMULATED else 32
WARPS = THREADS // LANES  # in a block

if SIMULATED:

    @cuda.jit(device=True)
    def of_all_lanes(value):
        """The values that all lanes hold."""
        reals = cuda.shared.array(LANES, "float64")
        integers = cuda.shared.array(LANES, "int64")
        kind = type(value) if isinstance(value, np.generic) else np.asarray(value).dtype.type
        held = reals if np.issubdtype(kind, np.floating) else integers
        held[cuda.threadIdx.x] = value
        cuda.syncthreads()
        values = [kind(x) for x in held]
        cuda.syncthreads()
        return values

    @cuda.jit(device=True)
    def from_lane(value, lane):
        """The value that a lane holds."""
        return of_all_lanes(value)[lane]

    @cuda.jit(device=True)
    def from_lane_before(value):
        """The value that the lane before holds; the first lane gets its own."""
        return of_all_lanes(value)[max(0, cuda.threadIdx.x - 1)]

    @cuda.jit(device=True)
    def lanes_where(condition):
        """The lanes in which a condition holds, as bits of a number."""
        return sum(1 << i for i, holds in enumerate(of_all_lanes(int(condition))) if holds)

    @cuda.jit(device=True)
    def least(value):
        """The least value of all lanes, none of which is NaN."""
        return min(of_all_lanes(value))

    @cuda.jit(device=True)
    def warp_sync():
        """Wait for all lanes; what one wrote before, another reads after."""
        cuda.syncthreads()

else:
    _ALL = 0xFFFFFFFF

    @cuda.jit(device=True)
    def from_lane(value, lane):
        """The value that a lane holds."""
        return cuda.shfl_sync(_ALL, value, lane)

    @cuda.jit(device=True)
    def from_lane_before(value):
        """The value that the lane before holds; the first lane gets its own."""
        return cuda.shfl_up_sync(_ALL, value, 1)

    @cuda.jit(device=True)
    def lanes_where(condition):
        """The lanes in which a condition holds, as bits of a number.

        A ballot is a signed number of 32 bits, whose sign would fill the upper bits of this one.
        """
        return np.int64(cuda.ballot_sync(_ALL, condition)) & _ALL

    @cuda.jit(device=True)
    def least(value):
        """The least value of all lanes, none of which is NaN."""
        distance = LANES // 2
        while distance > 0:
            other = cuda.shfl_xor_sync(_ALL, value, distance)
            if other < value:
                value = other
            distance //= 2
        return value

    @cuda.jit(device=True)
    def warp_sync():
        """Wait for all lanes; what one wrote before, another reads after."""
        cuda.syncwarp()


@cuda.jit(device=True)
def greatest(value):
    """The greatest value of all lanes, none of which is NaN."""
    return -least(-value)


@cuda.jit(device=True)
def first_of(lanes):
    """The first of some lanes; there is one."""
    return np.int32(cuda.ffs(lanes)) - np.int32(1)
