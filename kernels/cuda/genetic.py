"""The genetic algorithm on the device: no byte goes to the host but for progress.

Per generation of p strings: 10 synchronisations of the grid; p n draws, a fourth of ten rounds of
Philox each; 3 p n steps along strings, of 2 or 3 reads each, in chains of about 8 sqrt(n / k)
reads, of which each waits for the one before (a thread that walked alone would make 3 n / k); less
than p n / k terms of fitness, of d squares each. Strings and what goes with them take 3 p n / 4
bytes: those of 1,000,000 bits stay in a device's cache.
"""

import math
from typing import Any

import numpy as np
from array_api_compat import device

from ..arguments import Evolution
from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from ..generic.genetic import draws, first_strings
from ..protocol import Progress
from .genetic_kernels import DONE, GENERATION, WORD, Population, Search, make_kernels
from .launching import Pace, check_room, launch, real_type, team_blocks
from .philox import DRAW_BITS, round_keys

# Bits that a block can take through a generation in about 0.1 s.
_BITS_PER_LAUNCH = 2**23


def evolve(
    prefix: Any, first: np.ndarray, k: int, evolution: Evolution, progress: Progress | None = None
) -> np.ndarray:
    """The best string that a genetic algorithm meets; see `generic.evolve`."""
    population, generations, convergence, pcross, pmut, seed = evolution
    xp = array_namespace(prefix)
    n = prefix.shape[0] - 1
    prefix = xp.reshape(prefix, (n + 1, -1))
    real = real_type(prefix)
    words = -(-n // WORD)
    # The walks through a stretch take about as long as the way from the first to the last.
    stretch = WORD * math.ceil(max(2 * k, math.sqrt(n * k) / 2) / WORD)
    joins = n // stretch - 1
    ways = (population, joins, 2 * k - 1) if joins > 0 else (1, 1, 1)
    check_room(prefix, 8 * (population * (3 * words + 1) + math.prod(ways) + words))
    blocks = team_blocks(population * n)

    def empty(*shape: int, dtype: Any = xp.int64) -> Any:
        return xp.empty(shape, dtype=dtype, device=device(prefix))

    children = empty(population, words)
    strings = first_strings(first, n, k, population, draws(seed, 0))
    for i, places in enumerate(strings):
        children[i, :] = xp.asarray(_bits(places, n), device=device(prefix))
    best = empty(words)
    status = xp.zeros((3,), dtype=xp.int64, device=device(prefix))
    pace = Pace(_BITS_PER_LAUNCH * blocks // (population * n))
    search = Search(
        n=n,
        k=k,
        stretch=stretch,
        by_mean=int(convergence == "average"),
        generations=generations,
        cross_below=_threshold(pcross),
        flip_below=_threshold(pmut),
        factor=real(1 + 1e-6 / n),
        keys=xp.asarray(round_keys(seed), device=device(prefix)),
    )
    strings_now = Population(
        strings=empty(population, words),
        children=children,
        ahead=empty(population, words + 1),
        exits=empty(*ways),
        shares=empty(population, -(-blocks // population), 3, dtype=prefix.dtype),
        wheel=empty(population, dtype=prefix.dtype),
        chosen=empty(population),
        sites=empty(population),
    )
    standing = xp.zeros((2,), dtype=prefix.dtype, device=device(prefix))
    kernel = make_kernels(real, blocks > 1).evolve
    while True:
        with pace:
            launch(kernel, blocks, pace.work, search, prefix, strings_now, best, standing, status)
            now = to_numpy(status)
        if now[DONE]:
            return np.append(np.flatnonzero(_unpacked(to_numpy(best))[:n]), n)
        if progress is not None:
            progress(int(now[GENERATION] - 1) / generations)


def _threshold(probability: float) -> int:
    """The number that the 53 bits of a draw are below where the draw is below a probability."""
    return math.ceil(float(probability) * 2**DRAW_BITS)


def _bits(places: np.ndarray, n: int) -> np.ndarray:
    """A string of n bits, 32 to a word, with a 1 at each place below n."""
    bits = np.zeros(-(-n // WORD) * WORD, dtype=np.uint8)
    bits[places[places < n]] = 1
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.int64)


def _unpacked(words: np.ndarray) -> np.ndarray:
    """The bits of words of 32."""
    return np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
