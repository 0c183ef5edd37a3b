"""Words about a ranked variable cut into connected groups."""

from bisect import bisect_left
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from .arrays import to_numpy
from .sums import correctly_rounded_sum


def segment_costs(values: Any, k: int) -> list[Any]:
    """SSE of every run of m = k, ..., 2k - 1 consecutive ranked values.

    Grown one value at a time about the running mean (Welford), so that no digits cancel.

    Returns
    -------
    list of arrays, the m-th holding the SSE of values[i : i + k + m] at i
    """
    n = values.shape[0]
    mean = values
    cost = values * 0.0
    costs = []
    for m in range(1, min(2 * k - 1, n) + 1):
        if m > 1:
            value = values[m - 1 :]
            before = value - mean[: n - m + 1]
            mean = mean[: n - m + 1] + before / m
            cost = cost[: n - m + 1] + before * (value - mean)
        if m >= k:
            costs.append(cost)
    return costs


def optimal_sizes(values: Any, k: int) -> np.ndarray:
    """Sizes of the optimal connected groups of ranked values, in rank order.

    The shortest path of Hansen and Mukherjee (2003): the best grouping of the first j values
    ends in a group of k, ..., 2k - 1 (2002 paper, Theorem 1 and Proposition 1). Of equally good
    last groups the smallest is taken. O(kn).
    """
    costs = [to_numpy(cost).tolist() for cost in segment_costs(values, k)]
    n = values.shape[0]
    best = [0.0] + [np.inf] * n
    size = [0] * (n + 1)
    for j in range(k, n + 1):
        for m in range(k, min(2 * k - 1, j) + 1):
            total = best[j - m] + costs[m - k][j - m]
            if total < best[j]:
                best[j] = total
                size[j] = m
    sizes = []
    j = n
    while j > 0:
        sizes.append(size[j])
        j -= size[j]
    return np.array(sizes[::-1], dtype=np.int64)


def population_fitness(prefix: Any, cuts: Any) -> Any:
    """Between-groups sum of squares of many groupings of the same ranked values at once.

    Expression (3) of the 2002 paper without its constant: the sum over groups of t_i**2 / n_i.

    Parameters
    ----------
    prefix : array of shape (n + 1,)
        Sums of the first 0, 1, ..., n values.
    cuts : int64 array of shape (strings, groups + 1)
        Where each group starts, from 0, and then n as often as needed.
    """
    xp = array_namespace(prefix)
    at = xp.reshape(xp.take(prefix, xp.reshape(cuts, (-1,))), cuts.shape)
    totals = at[:, 1:] - at[:, :-1]
    sizes = xp.astype(cuts[:, 1:] - cuts[:, :-1], prefix.dtype)
    return correctly_rounded_sum(totals * totals / xp.maximum(sizes, xp.ones_like(sizes)))


def breed(strings: Any, chosen: np.ndarray, sites: np.ndarray, inverted: np.ndarray, k: int) -> Any:
    """Children of chosen strings: crossed, mutated and repaired (2002, section 4.2.2).

    A string of n bits has a 1 where a group starts; it is held as those places. What was drawn
    is on the host, the strings are where the engine keeps them.

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
    children = to_numpy(strings)[chosen].tolist()
    for i, site in zip(range(0, len(children) - 1, 2), sites.tolist(), strict=True):
        p1, p2 = children[i : i + 2]
        a, b = bisect_left(p1, site + 1), bisect_left(p2, site + 1)
        children[i : i + 2] = p1[:a] + p2[b:], p2[:b] + p1[a:]
    result = np.full(strings.shape, n, dtype=np.int64)
    for row, child, bits in zip(result, children, inverted, strict=True):
        places = set(repair(child, n, k)).symmetric_difference(np.flatnonzero(bits).tolist())
        mutated = repair(sorted(places), n, k)
        row[: len(mutated)] = mutated
    return array_namespace(strings).asarray(result, device=device(strings))


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
