"""Philox4x64-10, a counter-based random generator: any draw can be computed by itself.

Salmon and others (2011), "Parallel random numbers: as easy as 1, 2, 3". The numbers are those of
`numpy.random.Philox`. Words of 64 bits are int64 here, since the bits of sums, products and
exclusive ors do not depend on the sign.
"""

import numpy as np
from numba import cuda

from .arithmetic import SIMULATED

_MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_ROUNDS = 10
DRAW_BITS = 53


def _signed(x: int) -> int:
    """The int64 with the lowest 64 bits of x."""
    return (x + 2**63) % 2**64 - 2**63


_FIRST, _SECOND = map(_signed, _MULTIPLIERS)

if SIMULATED:

    @cuda.jit(device=True)
    def wide_product(a, b):
        """The high and the low 64 bits of a product of two words."""
        whole = (int(a) % 2**64) * (int(b) % 2**64)
        return _signed(whole >> 64), _signed(whole)

else:
    from numba.cuda import libdevice

    @cuda.jit(device=True)
    def wide_product(a, b):
        """The high and the low 64 bits of a product of two words."""
        return libdevice.umul64hi(a, b), a * b


def round_keys(seed: int) -> np.ndarray:
    """The keys of the rounds, of shape (rounds, 2), for a seed of up to 128 bits."""
    halves = seed % 2**64, seed >> 64
    return np.array(
        [
            [_signed(half + i * step) for half, step in zip(halves, _STEPS, strict=True)]
            for i in range(_ROUNDS)
        ]
    )


@cuda.jit(device=True)
def four_draws(keys, generation, block):
    """Draws 4 * block to 4 * block + 3 of a generation, as whole numbers below 2**53."""
    a = block + 1
    b = 0
    c = 0
    d = generation
    for i in range(_ROUNDS):
        high, low = wide_product(_FIRST, a)
        other_high, other_low = wide_product(_SECOND, c)
        a = other_high ^ b ^ keys[i, 0]
        b = other_low
        c = high ^ d ^ keys[i, 1]
        d = low
    mask = (1 << DRAW_BITS) - 1
    return (a >> 11) & mask, (b >> 11) & mask, (c >> 11) & mask, (d >> 11) & mask


@cuda.jit(device=True)
def draw(keys, generation, p):
    """Draw p of a generation, as a whole number below 2**53."""
    a, b, c, d = four_draws(keys, generation, p // 4)
    lane = p % 4
    return (a if lane == 0 else b) if lane < 2 else (c if lane == 2 else d)


@cuda.jit(device=True)
def whole_below(bits, m):
    """The whole number floor(u * m) of a draw u = bits / 2**53, if m is below 2**36."""
    high = bits >> 26
    low = bits & ((1 << 26) - 1)
    return (high * m + (low * m >> 26)) >> 27
