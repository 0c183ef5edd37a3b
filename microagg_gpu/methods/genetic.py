"""Genetic microaggregation of one ranked variable (Domingo-Ferrer and Mateo-Sanz 2002, 4.2).

A string of n bits has a 1 where a group starts. It is held as those places in ascending order,
0 first, filled up with n to one length: a population is a matrix.

Mutation inverts bits and repairs the string, as crossover does. The text forbids instead each
inversion that would leave a group below k or above 2k - 1. Taken by itself every inversion does
(two groups of k make one of 2k; none below 2k can be split), so nothing would ever mutate. Of
five readings tried this one comes nearest to columns A and M of the 2002 paper's Table 1: within
.04 and .07 with seed 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..errors import InputError
from ..kernels import engine_for
from ..partition import labels_from_sizes
from .common import Progress
from .univariate import fixed_sizes, ranking

CONVERGENCE: dict[str, Callable[[np.ndarray], float]] = {"average": np.mean, "maximal": np.max}


def genetic(
    points: Any,
    k: int,
    *,
    convergence: str = "average",
    pcross: float = 0.6,
    pmut: float = 0.05,
    generations: int = 200,
    population: int = 10,
    seed: int = 0,
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Search the connected k-partitions of one variable by a genetic algorithm: A and M.

    Fitness is the between-groups sum of squares. One string of the first generation has the
    groups of `fixed`, and the best string ever met is returned, so the result is never worse
    than `fixed`.

    Parameters
    ----------
    convergence : {"average", "maximal"}
        Stop when this fitness grows by a factor of at most 1 + 1e-6/n between generations.
    pcross, pmut : float
        Probabilities of crossover and of inverting a bit.
    generations, population : int
        At most so many generations of so many strings.
    seed : int
        The same seed gives the same result, on every device: generation g draws from a
        counter-based generator (Philox) at counter g.
    """
    if convergence not in CONVERGENCE:
        raise InputError(f"convergence={convergence!r} is unknown: choose 'average' or 'maximal'")
    if not (0 <= pcross <= 1 and 0 <= pmut <= 1):
        raise InputError(f"pcross={pcross} and pmut={pmut} must be probabilities, from 0 to 1")
    if generations < 1 or population < 2:
        raise InputError(
            f"generations={generations} and population={population} are too few: "
            "give at least 1 generation and 2 strings"
        )
    words = engine_for(points, engine)
    xp = array_namespace(points)
    order, ranked = ranking(points, engine)
    values = words.to_numpy(ranked)
    n = len(values)
    centred = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    prefix = xp.asarray(centred, device=device(points))

    def fitness(strings: Any) -> np.ndarray:
        return words.to_numpy(words.population_fitness(prefix, strings))

    def draws(generation: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, generation]))

    strings = xp.asarray(first_places(values, k, population, draws(0)), device=device(points))
    nothing = np.arange(population), np.full(population // 2, n), np.zeros((population, n), bool)
    strings = words.breed(strings, *nothing, k)  # only repairs them
    scored = fitness(strings)
    best, best_fitness = strings[int(np.argmax(scored)), :], scored.max()
    for generation in range(1, generations + 1):
        drawn = draw_changes(scored, n, pcross, pmut, draws(generation))
        strings = words.breed(strings, *drawn, k)
        previous, scored = scored, fitness(strings)
        if scored.max() > best_fitness:
            best, best_fitness = strings[int(np.argmax(scored)), :], scored.max()
        old, new = CONVERGENCE[convergence](previous), CONVERGENCE[convergence](scored)
        if old <= new <= old * (1 + 1e-6 / n):
            break
        if progress is not None:
            progress(generation / generations)
    sizes = np.diff(words.to_numpy(best))
    return labels_from_sizes(order, sizes[sizes > 0])


def first_places(
    values: np.ndarray, k: int, population: int, draws: np.random.Generator
) -> np.ndarray:
    """Where groups start in the first generation: those of `fixed`, then of sizes k to 2k - 1."""
    n = len(values)
    sizes = k + (draws.random((population - 1, n // k + 1)) * k).astype(np.int64)
    fixed_places = np.cumsum(fixed_sizes(values, k, "mode"))
    places = np.full((population, n // k + 1), n)
    places[0, : len(fixed_places)] = fixed_places
    places[1:] = np.minimum(np.cumsum(sizes, axis=1), n)
    return places


def draw_changes(
    fitness: np.ndarray, n: int, pcross: float, pmut: float, draws: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `breed` needs: selection in proportion to fitness, crossover, mutation (4.2)."""
    size = len(fitness)
    wheel = np.cumsum(fitness)
    spun = np.searchsorted(wheel, draws.random(size) * wheel[-1], side="right")
    crossed = draws.random(size // 2) < pcross
    sites = draws.integers(0, n, size // 2)
    inverted = np.empty((size, n), dtype=bool)
    for row in inverted:  # by rows, since a generation's numbers take eight times the room
        np.less(draws.random(n), pmut, out=row)
    return np.minimum(spun, size - 1), np.where(crossed, sites, n), inverted
