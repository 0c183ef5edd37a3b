"""From what was counted a *projection* of the time on some cards, which nobody has measured."""

from dataclasses import dataclass

import numpy as np

from .budget import Work

LAUNCH = 10e-6  # seconds, assumed
# Seconds of a meeting and of a reduction or removal, assumed: as good as one may hope, and slow.
ASSUMED = {"fast": (1.5e-6, 0.5e-6), "slow": (3e-6, 1e-6)}


@dataclass(frozen=True)
class Card:
    """Published figures of a card."""

    name: str
    processors: int
    bandwidth: float  # bytes per second
    cache: int  # MB of L2
    float64: float  # flops per second, a fused multiply-add being two
    float32: float
    source: str


CARDS = (
    Card("RTX 4090", 128, 1008e9, 72, 82.6e12 / 64, 82.6e12, "NVIDIA Ada GPU Architecture, v2.01"),
    Card("A100", 108, 2039e9, 40, 9.7e12, 19.5e12, "NVIDIA A100 datasheet, 80 GB SXM"),
    Card("H100", 132, 3.35e12, 50, 34e12, 67e12, "NVIDIA H100 datasheet, SXM"),
)


def projection(work: Work, card: Card, real: str, assumed: str) -> float:
    """Seconds that the work would take on a card: a projection.

    The larger of the time to move the bytes and the time to compute, for all pairs in tiles and
    for the rest apart, then what is waited for. Products are not fused with sums, so half of the
    published peak is what can be reached.
    """
    meeting, step = ASSUMED[assumed]
    peak = getattr(card, real) / 2
    item = np.dtype(real).itemsize
    tiles = max(item * work.tile_values / card.bandwidth, work.tile_flops / peak)
    moving = (work.bytes(item) - item * work.tile_values) / card.bandwidth
    computing = (work.flops - work.tile_flops + card.processors * work.kept) / peak
    waiting = work.grid_syncs * meeting + (work.reductions + work.removals) * step
    return tiles + max(moving, computing) + waiting + work.launches * LAUNCH
