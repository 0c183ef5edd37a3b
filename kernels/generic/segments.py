"""Words about ranked variables cut into connected groups."""

from typing import Any

import numpy as np

from .arrays import to_numpy


def segment_costs(values: Any, k: int) -> list[Any]:
    """SSE of every run of m = k, ..., 2k - 1 consecutive ranked values, for each variable.

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
            value = values[m - 1 :, :]
            before = value - mean[: n - m + 1, :]
            mean = mean[: n - m + 1, :] + before / m
            cost = cost[: n - m + 1, :] + before * (value - mean)
        if m >= k:
            costs.append(cost)
    return costs


def optimal_sizes(values: Any, k: int) -> list[np.ndarray]:
    """Sizes of the optimal connected groups of each ranked variable, in rank order.

    The shortest path of Hansen and Mukherjee (2003): the best grouping of the first j values
    ends in a group of k, ..., 2k - 1 (2002 paper, Theorem 1 and Proposition 1). Of equally good
    last groups the smallest is taken. O(kn).

    Parameters
    ----------
    values : array of shape (n, v)
        A ranked variable in each column.
    k : int

    Returns
    -------
    list of v int64 arrays
    """
    n, variables = values.shape
    costs = [to_numpy(cost) for cost in segment_costs(values, k)]
    best = np.full((n + 1, variables), np.inf, dtype=costs[0].dtype)
    best[0] = 0
    size = np.zeros((n + 1, variables), dtype=np.int64)
    for first in range(k, n + 1, k):  # k ends at a time: each group begins before all of them
        for m in range(k, 2 * k):
            end = slice(max(first, m), min(first + k, n + 1))
            start = slice(end.start - m, end.stop - m)
            if end.start < end.stop:
                total = best[start] + costs[m - k][start]
                better = total < best[end]
                best[end] = np.where(better, total, best[end])
                size[end] = np.where(better, m, size[end])
    return [walk_back(size[:, j]) for j in range(variables)]


def walk_back(size: np.ndarray) -> np.ndarray:
    """Sizes of the groups along the path that ends at the last value, first group first."""
    last = size.tolist()
    sizes = []
    j = len(last) - 1
    while j > 0:
        sizes.append(last[j])
        j -= last[j]
    return np.array(sizes[::-1], dtype=np.int64)
