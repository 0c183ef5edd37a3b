"""From what was counted a *projection* of the time on some cards, which nobody has measured."""

from dataclasses import dataclass

import numpy as np

from .work import Work

# Seconds of a launch from Python and of each of its arguments, measured in pull request 804 of
# numba-cuda; of an array expression, assumed.
LAUNCH, ARGUMENT, EXPRESSION = 5.6e-6, 1.45e-6, 10e-6
WAIT = 20e-6  # seconds of the host for a number from the device, assumed
# Of warps that search, instructions that a multiprocessor issues in a cycle, and machine
# instructions for one of PTX, assumed.
ISSUED = {"fast": (1.5, 1.0), "slow": (1.0, 1.5)}
# Seconds of a meeting and of a reduction or removal, assumed: as good as one may hope, and slow.
ASSUMED = {"fast": (1.5e-6, 0.5e-6), "slow": (3e-6, 1e-6)}
# Shares that are reached of the L2 cache's bandwidth, of the memory's, and of the peak, assumed.
REACHED = {"fast": (0.6, 0.85, 1.0), "slow": (0.3, 0.5, 0.6)}
# Seconds until the first bytes of a scan are there, assumed.
FIRST = {"fast": 0.6e-6, "slow": 1.2e-6}
# Of tiles in single precision the share of all lanes that is reached, assumed; and cycles for each
# instruction of a warp that decides alone, each of which mostly waits for the one before.
SINGLE = {"fast": 0.6, "slow": 0.35}
CYCLES = {"fast": 6, "slow": 14}
# Bytes per second between memory of the host that is not pinned and a device, assumed.
COPIED = {"fast": 10e9, "slow": 5e9}
USABLE = 0.7  # share of the L2 cache that records may fill, assumed


@dataclass(frozen=True)
class Card:
    """Published figures of a card."""

    name: str
    processors: int
    clock: float  # Hz, boosted
    bandwidth: float  # bytes per second
    cache: int  # MB of L2
    from_cache: float  # bytes per second from L2, which is not published: assumed
    float64: float  # flops per second, a fused multiply-add being two
    float32: float
    source: str


CARDS = (
    Card(
        *("RTX 4090", 128, 2.52e9, 1008e9, 72, 5.0e12, 82.6e12 / 64, 82.6e12),
        "NVIDIA Ada GPU Architecture, v2.01",
    ),
    Card(
        *("A100", 108, 1.41e9, 2039e9, 40, 4.0e12, 9.7e12, 19.5e12),
        "NVIDIA A100 datasheet, 80 GB SXM",
    ),
    Card(
        *("H100", 132, 1.83e9, 3.35e12, 50, 5.5e12, 34e12, 67e12),
        "NVIDIA H100 datasheet, SXM",
    ),
)


def projection(work: Work, card: Card, real: str, assumed: str) -> float:
    """Seconds that the work would take on a card: a projection.

    The larger of the time to move the bytes and the time to compute, for all pairs in tiles and
    for the rest apart, or if that is longer the time to issue the instructions of searches or the
    time until the first bytes of every scan are there; then what is waited for. Products are not
    fused with sums, so half of the published peak is what can be reached.
    """
    at_once, after = terms(work, card, real, assumed)
    item = np.dtype(real).itemsize
    byte = seconds_a_byte(work.held * item, card, assumed)
    peak = getattr(card, real) / 2 * REACHED[assumed][2]
    tiles = max(item * work.tile_values * byte, work.tile_flops / peak)
    return tiles + max(at_once.values()) + sum(after.values())


def terms(
    work: Work, card: Card, real: str, assumed: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds without tiles: of what is done at once, so the longest counts, and of the rest."""
    meeting, step = ASSUMED[assumed]
    item = np.dtype(real).itemsize
    peak = getattr(card, real) / 2 * REACHED[assumed][2]
    byte = seconds_a_byte(work.held * item, card, assumed)
    issued, each = ISSUED[assumed]
    at_once = {
        "bytes": (work.bytes(item) - item * work.tile_values) * byte,
        "flops": (work.flops - work.tile_flops + card.processors * work.kept) / peak,
        "first bytes": work.grid_syncs * FIRST[assumed],
        "instructions": work.instructions * each / (card.processors * card.clock * issued),
    }
    after = {
        "meetings": work.grid_syncs * meeting + (work.reductions + work.removals) * step,
        "launches": work.launches * LAUNCH + work.arguments * ARGUMENT,
        "expressions": work.expressions * EXPRESSION,
        "waits": work.waits * WAIT,
        "tiles in single precision": work.single_flops / (card.float32 / 2 * SINGLE[assumed]),
        "deciding": deciding(work, card, assumed),
        "copies": work.copied / COPIED[assumed],
    }
    return at_once, after


def deciding(work: Work, card: Card, assumed: str) -> float:
    """Seconds of the one warp that decides."""
    return work.chain * CYCLES[assumed] / card.clock


def starting(work: Work) -> float:
    """Seconds of the host."""
    started = work.launches * LAUNCH + work.arguments * ARGUMENT
    return started + work.expressions * EXPRESSION + work.waits * WAIT


def seconds_a_byte(held: int, card: Card, assumed: str) -> float:
    """Seconds to move a byte of records that take so many bytes; 0 if that is not known: memory.

    What fits into the L2 cache comes from there. Of more a share fits, and only what a scan has
    left there is found by the next: the square of that share.
    """
    from_cache, from_memory, _ = REACHED[assumed]
    fits = min(1.0, USABLE * card.cache * 1e6 / held) if held else 0.0
    cached = fits * fits
    return cached / (card.from_cache * from_cache) + (1 - cached) / (card.bandwidth * from_memory)
