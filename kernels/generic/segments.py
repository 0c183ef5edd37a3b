"""Operations on ranked variables, and paths through records, cut into connected groups."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .arrays import to_numpy


def segment_costs(values: Any, k: int, together: bool = False) -> list[Any]:
    """SSE of every run of m = k, ..., 2k - 1 consecutive values.

    Grown one value at a time about the running mean (Welford), so that no digits cancel.

    Parameters
    ----------
    values : array of shape (n, v)
    k : int
    together : bool
        Whether the SSE of the variables is added, in their order, or kept for each.

    Returns
    -------
    list of arrays, the m-th holding the SSE of values[i : i + k + m] at i
    """
    n = values.shape[0]
    mean = values
    cost = values[:, :1] * 0.0 if together else values * 0.0
    costs = []
    for m in range(1, min(2 * k - 1, n) + 1):
        if m > 1:
            value = values[m - 1 :, :]
            before = value - mean[: n - m + 1, :]
            mean = mean[: n - m + 1, :] + before / m
            more = before * (value - mean)
            cost = cost[: n - m + 1, :]
            for part in [more[:, j : j + 1] for j in range(more.shape[1])] if together else [more]:
                cost = cost + part
        if m >= k:
            costs.append(cost)
    return costs


def optimal_sizes(values: Any, k: int) -> list[np.ndarray]:
    """Sizes of the optimal connected groups by shortest paths; see `Engine.optimal_sizes`."""
    _, size = _shortest_paths(segment_costs(values, k), values.shape[0], k)
    return [walk_back(column) for column in size.T]


def optimal_path_sizes(points: Any, k: int) -> tuple[np.ndarray, float]:
    """The same for records on a path, with their SSE; see `Engine.optimal_path_sizes`."""
    best, size = _shortest_paths(segment_costs(points, k, together=True), points.shape[0], k)
    return walk_back(size[:, 0]), float(best[-1, 0])


def _shortest_paths(costs: list[Any], n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """For each column the least cost of the first j values, and the size of their last group."""
    columns, dtype = costs[0].shape[1], to_numpy(costs[0]).dtype
    # The cost of the last m values that end at j, for k ends more than there are.
    ending = np.full((k, columns, n + k), np.inf, dtype=dtype)
    for m, cost in enumerate(costs, k):
        ending[m - k, :, m : n + 1] = to_numpy(cost).T
    before = 2 * k - 1  # so many places come before the best of no values
    best = np.full((columns, before + n + k), np.inf, dtype=dtype)
    best[:, before] = 0
    size = np.zeros((columns, n + k), dtype=np.int64)
    runs = sliding_window_view(best, k, axis=1)
    for first in range(k, n + 1, k):  # k ends at a time: each group begins before all of them
        ends = slice(first, first + k)
        starts = runs[:, first : first + k][:, ::-1]  # those m before the ends, for each m
        total = starts.transpose(1, 0, 2) + ending[:, :, ends]
        best[:, before + first : before + first + k] = total.min(axis=0)
        size[:, ends] = k + total.argmin(axis=0)  # of equally good groups the smallest
    return best[:, before : before + n + 1].T, size[:, : n + 1].T


def walk_back(size: np.ndarray) -> np.ndarray:
    """Sizes of the groups along the path that ends at the last value, first group first."""
    last = size.tolist()
    sizes = []
    j = len(last) - 1
    while j > 0:
        sizes.append(last[j])
        j -= last[j]
    return np.array(sizes[::-1], dtype=np.int64)
