"""The genetic algorithm of the generic engine, with its two slow steps in Numba."""

from typing import Any

import numpy as np

from ..arguments import Evolution
from ..generic import genetic
from ..generic.arrays import to_numpy
from ..protocol import Progress
from .compiled import entry, inner
from .sums import two_sum
from .threads import on_all_cores


def evolve(
    prefix: Any, first: np.ndarray, k: int, evolution: Evolution, progress: Progress | None = None
) -> np.ndarray:
    """The best string that a genetic algorithm meets; see `generic.evolve`."""
    sums = np.ascontiguousarray(to_numpy(prefix), dtype=np.float64)
    return genetic.evolve(sums, first, k, evolution, progress, population_fitness, breed)


def population_fitness(prefix: np.ndarray, strings: np.ndarray) -> np.ndarray:
    """Between-groups sum of squares of many groupings; see `generic.genetic`."""
    fitness = np.empty(len(strings))
    prefix = prefix.reshape(len(prefix), -1)
    on_all_cores(_fitness, len(strings), prefix, strings, fitness)
    return fitness


@entry()
def _fitness(first, last, prefix, cuts, fitness):
    for string in range(first, last):
        fitness[string] = _between(prefix, cuts, string)


@inner()
def _between(prefix, cuts, string):
    """Fitness of one string; the sum is carried in about twice the precision."""
    n = len(prefix) - 1
    high, low = 0.0, 0.0
    for g in range(cuts.shape[1] - 1):
        start, end = cuts[string, g], cuts[string, g + 1]
        if start == n:
            break
        square = 0.0
        for j in range(prefix.shape[1]):
            total = prefix[end, j] - prefix[start, j]
            square += total * total
        s, error = two_sum(high, square / (end - start))
        high, low = two_sum(s, error + low)
    return high


def breed(
    strings: np.ndarray, chosen: np.ndarray, sites: np.ndarray, inverted: np.ndarray, k: int
) -> np.ndarray:
    """Children of chosen strings: crossed, mutated and repaired; see `generic.genetic`."""
    children = np.empty_like(strings)
    on_all_cores(_breed, len(children), strings, chosen, sites, inverted, k, children)
    return children


@entry()
def _breed(first, last, strings, chosen, sites, inverted, k, children):
    for child in range(first, last):
        _bear(strings, chosen, sites, inverted, k, child, children)


@inner(allocates=True)
def _bear(strings, chosen, sites, inverted, k, child, children):
    """Write one child: cross its parents, repair, invert bits, repair."""
    n = inverted.shape[1]
    own = strings[chosen[child]]
    other, site = own, n
    if child // 2 < len(sites):
        other, site = strings[chosen[child ^ 1]], sites[child // 2]
    crossed = np.empty_like(own)
    groups = _cross(own, other, site, n, k, crossed)
    _mutate(crossed, groups, inverted[child], k, children[child])


@inner()
def _cross(own, other, site, n, k, string):
    """Write the places up to `site` of one string and those after it of another, repaired."""
    string[0] = 0
    groups = 1
    for place in own:
        if place > site or place == n:
            break
        groups = _start_group(string, groups, place, k)
    if site < n:
        for place in other[np.searchsorted(other, site + 1) :]:
            if place == n:
                break
            groups = _start_group(string, groups, place, k)
    return _end(string, groups, n, k)


@inner()
def _mutate(before, groups, inverted, k, string):
    """Write a string with some of its bits inverted, repaired."""
    n = len(inverted)
    string[0] = 0
    count = 1
    g = 1
    for place in range(1, n):
        here = g < groups and before[g] == place
        if here:
            g += 1
        if here != inverted[place]:
            count = _start_group(string, count, place, k)
    return _end(string, count, n, k)


@inner()
def _start_group(string, groups, place, k):
    """Start a group at a place, if the last one has k by then; cut what has 2k or more."""
    if place - string[groups - 1] < k:
        return groups
    while place - string[groups - 1] >= 2 * k:
        string[groups] = string[groups - 1] + k
        groups += 1
    string[groups] = place
    return groups + 1


@inner()
def _end(string, groups, n, k):
    """End the last group, which joins the one before if it is too short; fill up with n."""
    if n - string[groups - 1] < k and groups > 1:
        groups -= 1
    while n - string[groups - 1] >= 2 * k:
        string[groups] = string[groups - 1] + k
        groups += 1
    string[groups:] = n
    return groups
