"""The genetic algorithm on strings that cut ordered records into groups (2002 paper, section 4.2).

A string of n bits has a 1 where a group starts. It is held as those places in ascending order,
0 first, filled up with n to one length: a population is a matrix.

Every random number is a draw u = b / 2**53 of a counter-based generator, Philox, whose key is
the seed: draw p of generation g is the one that lies at that counter, so that any engine can
compute any draw by itself. A generation draws, in this order, for each string the spin of the
wheel; for each pair whether it crosses; for each pair where; for each string whether each of its
n bits is inverted.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import device

from ..arguments import Evolution
from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import to_numpy
from .sums import correctly_rounded_sum


def population_fitness(prefix: Any, strings: np.ndarray) -> np.ndarray:
    """Between-groups sum of squares of many groupings of the same ordered records at once.

    Expression (3) of the 2002 paper without its constant: the sum over groups of t_i**2 / n_i,
    where the squares of several variables are added in their order.

    Parameters
    ----------
    prefix : array of shape (n + 1,) or (n + 1, d)
        Sums of the first 0, 1, ..., n values.
    strings : int64 array of shape (population, groups + 1)
    """
    xp = array_namespace(prefix)
    cuts = xp.asarray(strings, device=device(prefix))
    sizes = xp.astype(cuts[:, 1:] - cuts[:, :-1], prefix.dtype)
    squares = xp.zeros_like(sizes)
    columns = xp.reshape(prefix, (prefix.shape[0], -1))
    for j in range(columns.shape[1]):
        at = xp.reshape(xp.take(columns[:, j], xp.reshape(cuts, (-1,))), cuts.shape)
        totals = at[:, 1:] - at[:, :-1]
        squares = squares + totals * totals
    return to_numpy(correctly_rounded_sum(squares / xp.maximum(sizes, xp.ones_like(sizes))))


def breed(
    strings: np.ndarray, chosen: np.ndarray, sites: np.ndarray, inverted: np.ndarray, k: int
) -> np.ndarray:
    """Children of chosen strings: crossed, mutated and repaired (2002, section 4.2.2).

    Parameters
    ----------
    strings : int64 array of shape (population, n // k + 1)
        Ascending places where groups start, and then n as often as needed.
    chosen : int array of shape (population,)
        The parent of each child.
    sites : int array of shape (population // 2,)
        Children 2i and 2i + 1 swap what comes after place sites[i]; n where they do not cross.
    inverted : bool array of shape (population, n)
        The bits of each child to invert.
    k : int

    Returns
    -------
    int64 array of the shape of `strings`
        Groups of k to 2k - 1 records, the first start 0.
    """
    n = inverted.shape[1]
    children = strings[chosen].tolist()
    for i, site in zip(range(0, len(children) - 1, 2), sites.tolist(), strict=True):
        p1, p2 = children[i : i + 2]
        a, b = bisect_left(p1, site + 1), bisect_left(p2, site + 1)
        children[i : i + 2] = p1[:a] + p2[b:], p2[:b] + p1[a:]
    result = np.full(strings.shape, n, dtype=np.int64)
    for row, child, bits in zip(result, children, inverted, strict=True):
        places = set(repair(child, n, k)).symmetric_difference(np.flatnonzero(bits).tolist())
        mutated = repair(sorted(places), n, k)
        row[: len(mutated)] = mutated
    return result


def repair(starts: list[int], n: int, k: int) -> list[int]:
    """Correct a string so that successive 1s are k to 2k - 1 places apart (4.2.2).

    A 1 less than k after another becomes a zero; in a gap of 2k or more a 1 is set k after the
    last one, as often as needed. At the end the group that is too short goes to its neighbour.
    """
    result = [0]
    for place in [*starts[: bisect_left(starts, n)], n]:
        if place - result[-1] < k:
            if place < n:
                continue
            if len(result) > 1:
                result.pop()
        while place - result[-1] >= 2 * k:
            result.append(result[-1] + k)
        result.append(place)
    return result[:-1]


def evolve(
    prefix: Any,
    first: np.ndarray,
    k: int,
    evolution: Evolution,
    progress: Progress | None = None,
    fitness: Callable[..., np.ndarray] = population_fitness,
    breed: Callable[..., np.ndarray] = breed,
) -> np.ndarray:
    """The best string that a genetic algorithm meets; see `Engine.evolve`.

    `fitness` and `breed` are what an engine has in place of `population_fitness` and `breed`.
    """
    population, generations, convergence, pcross, pmut, seed = evolution
    n = prefix.shape[0] - 1
    strings = first_strings(first, n, k, population, draws(seed, 0))
    nothing = np.arange(population), np.full(population // 2, n), np.zeros((population, n), bool)
    strings = breed(strings, *nothing, k)  # only repairs them
    scores = fitness(prefix, strings)
    best, best_score = strings[np.argmax(scores)], scores.max()
    for generation in range(1, generations + 1):
        drawn = draw_changes(scores, n, pcross, pmut, draws(seed, generation))
        strings = breed(strings, *drawn, k)
        before, scores = scores, fitness(prefix, strings)
        if scores.max() > best_score:
            best, best_score = strings[np.argmax(scores)], scores.max()
        old, new = standing(before, convergence), standing(scores, convergence)
        if old <= new <= old * (1 + 1e-6 / n):
            break
        if progress is not None:
            progress(generation / generations)
    return best


def standing(scores: np.ndarray, convergence: str) -> Any:
    """The average or the maximal fitness; the sum is taken in the order of the strings."""
    return scores.max() if convergence == "maximal" else np.cumsum(scores)[-1] / len(scores)


def draws(seed: int, generation: int) -> np.random.Generator:
    """The random numbers of a generation."""
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, generation]))


def whole_below(u: np.ndarray, m: int) -> np.ndarray:
    """Whole numbers floor(u * m) of draws, exactly, if m is below 2**36."""
    bits = (u * 2.0**53).astype(np.int64)
    high, low = bits >> 26, bits & (2**26 - 1)
    return (high * m + (low * m >> 26)) >> 27


def first_strings(
    first: np.ndarray, n: int, k: int, population: int, draws: np.random.Generator
) -> np.ndarray:
    """Places where groups start in the first generation: those given, then of sizes k to 2k - 1."""
    places = np.full((population, n // k + 1), n)
    places[0, : len(first)] = first
    for row in places[1:]:
        sizes = k + whole_below(draws.random(len(row)), k)
        np.minimum(np.cumsum(sizes), n, out=row)
    return places


def draw_changes(
    scores: np.ndarray, n: int, pcross: float, pmut: float, draws: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What `breed` needs: selection in proportion to fitness, crossover, mutation (4.2)."""
    size = len(scores)
    wheel = np.cumsum(scores)
    spins = draws.random(size).astype(wheel.dtype) * wheel[-1]
    chosen = np.minimum(np.searchsorted(wheel, spins, side="right"), size - 1)
    crossed = draws.random(size // 2) < pcross
    sites = whole_below(draws.random(size // 2), n)
    inverted = np.empty((size, n), dtype=bool)
    for row in inverted:  # by rows, since a generation's numbers take eight times the room
        np.less(draws.random(n), pmut, out=row)
    return chosen, np.where(crossed, sites, n), inverted
