"""Words about a ranked variable cut into connected groups, one pass over the values each."""

from typing import Any

import numpy as np
from numba import prange

from ..generic.arrays import to_numpy
from .compiled import entry, inner
from .sums import two_sum

# Values looked at in one call of a kernel: some tenths of a second.
_CHUNK = 2**24
# Starts whose segments grow side by side, so that a processor can do several at once.
_ABREAST = 64
# Places in a population from which threads are worth waking.
_WORTH_THREADS = 2**14


def optimal_sizes(values: Any, k: int) -> np.ndarray:
    """Sizes of the optimal connected groups of ranked values, in rank order.

    The shortest path of Hansen and Mukherjee (2003), as in the generic engine: O(kn) steps, two
    numbers kept for each value.
    """
    ranked = np.ascontiguousarray(to_numpy(values), dtype=np.float64)
    n = len(ranked)
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int64)
    chunk = max(_CHUNK // (2 * k), _ABREAST)
    for first in range(0, n - k + 1, chunk):
        _grow_segments(ranked, k, first, min(first + chunk, n - k + 1), best, size)
    return _walk_back(size)


@entry()
def _grow_segments(values, k, first, last, best, size):
    """Try every segment that starts from `first` to `last` as the last group of a grouping.

    The SSE grows one value at a time about the running mean (Welford), in the order of the
    generic engine. Up to k starts go side by side, since the first group to end after any of
    them ends after all of them. Of equally good last groups the smallest stays.
    """
    n = len(values)
    abreast = min(k, _ABREAST)
    mean = np.empty(abreast)
    cost = np.empty(abreast)
    for start in range(first, last, abreast):
        for s in range(min(abreast, last - start)):
            mean[s] = values[start + s]
            cost[s] = 0.0
        for m in range(1, min(2 * k - 1, n - start) + 1):
            here = min(abreast, last - start, n - m + 1 - start)
            if m > 1:
                for s in range(here):
                    value = values[start + s + m - 1]
                    before = value - mean[s]
                    mean[s] = mean[s] + before / m
                    cost[s] = cost[s] + before * (value - mean[s])
            if m >= k:
                for s in range(here):
                    end = start + s + m
                    total = best[start + s] + cost[s]
                    if total < best[end] or (total == best[end] and m < size[end]):
                        best[end] = total
                        size[end] = m


@entry()
def _walk_back(size):
    """Sizes along the shortest path that ends at the last value, first group first."""
    groups = 0
    end = len(size) - 1
    while end > 0:
        groups += 1
        end -= size[end]
    sizes = np.empty(groups, dtype=np.int64)
    end = len(size) - 1
    for g in range(groups - 1, -1, -1):
        sizes[g] = size[end]
        end -= size[end]
    return sizes


def population_fitness(prefix: Any, cuts: Any) -> np.ndarray:
    """Between-groups sum of squares of many groupings of the same ranked values at once.

    Expression (3) of the 2002 paper without its constant: the sum over groups of t_i**2 / n_i.

    Parameters
    ----------
    prefix : array of shape (n + 1,)
        Sums of the first 0, 1, ..., n values.
    cuts : int64 array of shape (strings, groups + 1)
        Where each group starts, from 0, and then n as often as needed.
    """
    sums, starts = np.ascontiguousarray(to_numpy(prefix)), np.ascontiguousarray(to_numpy(cuts))
    fitness = np.empty(len(starts))
    (_fitness if starts.size > _WORTH_THREADS else _fitness.py_func)(sums, starts, fitness)
    return fitness


@entry(parallel=True)
def _fitness(prefix, cuts, fitness):
    for string in prange(len(cuts)):
        fitness[string] = _between(prefix, cuts, string)


@entry()
def _between(prefix, cuts, string):
    """Fitness of one string; the sum is carried in about twice the precision."""
    n = len(prefix) - 1
    high, low = 0.0, 0.0
    for g in range(cuts.shape[1] - 1):
        start, end = cuts[string, g], cuts[string, g + 1]
        if start == n:
            break
        total = prefix[end] - prefix[start]
        s, error = two_sum(high, total * total / (end - start))
        high, low = two_sum(s, error + low)
    return high


def breed(strings: Any, chosen: Any, sites: Any, inverted: Any, k: int) -> np.ndarray:
    """Children of chosen strings: crossed, mutated and repaired; see `generic.breed`."""
    parents = np.ascontiguousarray(to_numpy(strings), dtype=np.int64)
    children = np.empty_like(parents)
    run = _breed if inverted.size > _WORTH_THREADS else _breed.py_func
    run(
        parents,
        np.ascontiguousarray(to_numpy(chosen), dtype=np.int64),
        np.ascontiguousarray(to_numpy(sites), dtype=np.int64),
        np.ascontiguousarray(to_numpy(inverted)),
        k,
        children,
    )
    return children


@entry(parallel=True)
def _breed(strings, chosen, sites, inverted, k, children):
    for child in prange(len(children)):
        _bear(strings, chosen, sites, inverted, k, child, children)


@entry()
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
