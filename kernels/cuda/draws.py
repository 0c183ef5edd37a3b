"""Random numbers of annealing, in arrays and in kernels; see `generic.annealing.Draws`."""

import numpy as np
from numba import cuda

from .arithmetic import SIMULATED

_MULTIPLIER = 0x2545F4914F6CDD1D


def seeded(seed: np.uint64, streams: np.ndarray) -> np.ndarray:
    """The states that some streams begin with."""
    x = seed + (streams.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))) | np.uint64(1)


def some_below(states: np.ndarray, m: np.ndarray) -> np.ndarray:
    """A random whole number below m of each stream, whose state goes on."""
    states ^= states >> np.uint64(12)
    states ^= states << np.uint64(25)
    states ^= states >> np.uint64(27)
    high = states * np.uint64(_MULTIPLIER) >> np.uint64(32)
    return (high * m.astype(np.uint64) >> np.uint64(32)).astype(np.int64)


@cuda.jit(device=True)
def next_state(x):
    """The state after this one."""
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    return x


if SIMULATED:

    @cuda.jit(device=True)
    def bits_of(x):
        """The 64 random bits of a state."""
        return np.uint64(int(x) * _MULTIPLIER % 2**64)

else:

    @cuda.jit(device=True)
    def bits_of(x):
        """The 64 random bits of a state."""
        return x * np.uint64(_MULTIPLIER)
