"""Random numbers in kernels: one state of 64 bits for each stream, the same on every machine."""

import numpy as np

from .compiled import inner


@inner()
def seed_stream(random, seed, stream):
    """Start the generator of a stream: the seed and its number, mixed (splitmix64)."""
    x = seed + np.uint64(stream + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    random[0] = (x ^ (x >> np.uint64(31))) | np.uint64(1)


@inner()
def draw(random):
    """64 random bits (xorshift64*, Vigna 2016)."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@inner()
def below(random, m):
    """A random whole number below m."""
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(m)) >> np.uint64(32))


@inner()
def unit(random):
    """A random number between 0 and 1, neither of them."""
    return (np.float64(draw(random) >> np.uint64(12)) + 0.5) * 2.0**-52
