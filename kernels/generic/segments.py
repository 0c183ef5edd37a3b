"""Words about a ranked variable cut into connected groups."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

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


def optimal_sizes(values: Any, k: int) -> list[int]:
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
    return sizes[::-1]


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
