"""Genetic microaggregation of one ranked variable (Domingo-Ferrer and Mateo-Sanz 2002, 4.2).

A string of n bits has a 1 where a group starts. Here it is held as the list of those places,
0 first, with n added as the end of the last group.
"""

from bisect import bisect_left
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


def repair(starts: list[int], n: int, k: int) -> list[int]:
    """Correct a string so that successive 1s are k to 2k - 1 places apart (4.2.2).

    A 1 less than k after another becomes a zero; in a gap of 2k or more a 1 is set k after the
    last one, as often as needed. At the end the group that is too short goes to its neighbour.
    """
    result = [0]
    for place in [*starts, n]:
        if place - result[-1] < k:
            if place < n:
                continue
            if len(result) > 1:
                result.pop()
        while place - result[-1] >= 2 * k:
            result.append(result[-1] + k)
        result.append(place)
    return result


def cross(p1: list[int], p2: list[int], site: int, k: int) -> tuple[list[int], list[int]]:
    """Swap the bits after a place between two strings, and repair (4.2.2)."""
    n = p1[-1]
    i, j = bisect_left(p1, site + 1), bisect_left(p2, site + 1)
    return repair(p1[:i] + p2[j:-1], n, k), repair(p2[:j] + p1[i:-1], n, k)


def mutate(string: list[int], places: list[int], k: int) -> list[int]:
    """Invert the bits at some places, and repair (4.2.2).

    The text forbids instead each inversion that would leave a group below k or above 2k - 1.
    Taken by itself every inversion does (two groups of k make one of 2k; none below 2k can be
    split), so nothing would ever mutate. Of five readings tried this one comes nearest to
    columns A and M of the 2002 paper's Table 1: within .04 and .07 with seed 0.
    """
    inverted = set(string[:-1]).symmetric_difference(places)
    return repair(sorted(inverted), string[-1], k)


def random_string(n: int, k: int, draws: np.ndarray) -> list[int]:
    """Groups of random sizes k to 2k - 1."""
    places = np.cumsum(k + (draws * k).astype(np.int64))
    return repair(places[places < n].tolist(), n, k)


def as_matrix(strings: list[list[int]], n: int) -> np.ndarray:
    """Strings as rows of one length, filled up with n."""
    width = max(map(len, strings))
    return np.array([string + [n] * (width - len(string)) for string in strings])


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

    def fitness(strings: list[list[int]]) -> np.ndarray:
        cuts = xp.asarray(as_matrix(strings, n), device=device(points))
        return words.to_numpy(words.population_fitness(prefix, cuts))

    def draws(generation: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, generation]))

    start = draws(0).random((population - 1, n // k + 1))
    seed_string = np.cumsum([0, *fixed_sizes(values, k, "mode")]).tolist()
    strings = [repair(seed_string[:-1], n, k), *(random_string(n, k, row) for row in start)]
    scored = fitness(strings)
    best, best_fitness = strings[int(np.argmax(scored))], scored.max()
    for generation in range(1, generations + 1):
        strings = next_generation(strings, scored, draws(generation), k, pcross, pmut)
        previous, scored = scored, fitness(strings)
        if scored.max() > best_fitness:
            best, best_fitness = strings[int(np.argmax(scored))], scored.max()
        old, new = CONVERGENCE[convergence](previous), CONVERGENCE[convergence](scored)
        if old <= new <= old * (1 + 1e-6 / n):
            break
        if progress is not None:
            progress(generation / generations)
    return labels_from_sizes(order, np.diff(best).tolist())


def next_generation(
    strings: list[list[int]],
    fitness: np.ndarray,
    draws: np.random.Generator,
    k: int,
    pcross: float,
    pmut: float,
) -> list[list[int]]:
    """Selection in proportion to fitness, crossover of pairs, mutation (4.2)."""
    size, n = len(strings), strings[0][-1]
    wheel = np.cumsum(fitness)
    chosen = np.searchsorted(wheel, draws.random(size) * wheel[-1], side="right")
    children = [strings[i] for i in np.minimum(chosen, size - 1)]
    crossed = draws.random(size // 2) < pcross
    sites = draws.integers(0, n, size // 2)
    for pair in np.flatnonzero(crossed).tolist():
        i, j = 2 * pair, 2 * pair + 1
        children[i], children[j] = cross(children[i], children[j], int(sites[pair]), k)
    inverted = draws.random((size, n)) < pmut
    return [
        mutate(child, np.flatnonzero(bits).tolist(), k)
        for child, bits in zip(children, inverted, strict=True)
    ]
