"""Words about ranked variables, and paths, cut into connected groups, one pass over each."""

from typing import Any

import numpy as np

from ..generic.arrays import to_numpy
from .compiled import entry

# Values looked at in one call of a kernel: some tenths of a second.
_CHUNK = 2**24
# Starts whose segments grow side by side, so that a processor can do several at once.
_ABREAST = 64


def optimal_sizes(values: Any, k: int) -> list[np.ndarray]:
    """Sizes of the optimal connected groups of each ranked variable; see `generic.optimal_sizes`.

    O(kn) steps, two numbers kept for each value.
    """
    columns = np.ascontiguousarray(to_numpy(values).T, dtype=np.float64)
    return [_sizes_of(columns[j : j + 1], k)[0] for j in range(len(columns))]


def optimal_path_sizes(points: Any, k: int) -> tuple[np.ndarray, float]:
    """Sizes of the optimal connected groups of records on a path; see `generic.segments`."""
    return _sizes_of(np.ascontiguousarray(to_numpy(points).T, dtype=np.float64), k)


def _sizes_of(columns: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """Sizes of the groups of the variables together, and their SSE."""
    d, n = columns.shape
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int64)
    chunk = max(_CHUNK // (2 * k * d), _ABREAST)
    for first in range(0, n - k + 1, chunk):
        _grow_segments(columns, k, first, min(first + chunk, n - k + 1), best, size)
    return _walk_back(size), float(best[n])


@entry()
def _grow_segments(columns, k, first, last, best, size):
    """Try every segment that starts from `first` to `last` as the last group of a grouping.

    The SSE grows one value at a time about the running mean (Welford), in the order of the
    generic engine. Up to k starts go side by side, since the first group to end after any of
    them ends after all of them. Of equally good last groups the smallest stays.
    """
    d, n = columns.shape
    abreast = min(k, _ABREAST)
    mean = np.empty((d, abreast))
    cost = np.empty(abreast)
    for start in range(first, last, abreast):
        for s in range(min(abreast, last - start)):
            for j in range(d):  # a slice would take 4 s more to compile
                mean[j, s] = columns[j, start + s]
            cost[s] = 0.0
        for m in range(1, min(2 * k - 1, n - start) + 1):
            here = min(abreast, last - start, n - m + 1 - start)
            if m > 1:
                for j in range(d):
                    for s in range(here):
                        value = columns[j, start + s + m - 1]
                        before = value - mean[j, s]
                        mean[j, s] = mean[j, s] + before / m
                        cost[s] = cost[s] + before * (value - mean[j, s])
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
