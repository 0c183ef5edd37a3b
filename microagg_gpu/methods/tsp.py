"""MF-TSP: groups of records that stand together on many tours.

The text of Algorithm 1 leaves several things open. What is done here is what turns the paths
of Table IV into the groups of Table VI:

- a path counts as closed, its last record next to its first (six of the eleven rows of Table V
  add up to 4n = 44, the others to 42..47; open paths would give fewer);
- the counts are a lower triangle, so a pair (i, j), i > j, has in its row the records below i
  and in its column those above j;
- groups are formed while at least k records remain, as in the running example, although the
  pseudocode would stop at 2k - 1 and group those;
- records left over join the group with the closest centroid.

Table V as printed differs from the counts of Table IV in seven cells. Our copy of Table IV is
illegible in two paths, so these are reconstructed (tests/methods/test_tsp.py); but the printed 8
for companies 8 and 11 is below what the legible paths give, and Table VI does not follow from it.
For k > 3 nothing printed tells how the search goes on after the third record: it stays in the
row and the column of the first pair, which is what the pseudocode's indices say.

The tours decide much and the paper does not give them: with other settings of the same
heuristics the loss on its data (Census, k=3) goes from 5.7 to 6.3 where 6.00 is printed.
"""

import os
from typing import Any, Literal

import numpy as np

from ..checks import whole_number
from ..data.labels import labels_from_groups
from ..errors import InputError
from ..kernels.protocol import Engine, Progress

# Four matrices of 8 bytes at the most at one time, with two masks.
_BYTES_PER_PAIR = 34


def tsp(
    points: Any,
    k: int,
    *,
    tour: Literal["insertion", "nearest"] = "insertion",
    window: int = 50,
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """MF-TSP, fixed-size microaggregation by travelling salesman tours (Algorithm 1).

    Parameters
    ----------
    tour : {"insertion", "nearest"}
        How the path from each record is built: farthest insertion (the paper used an insertion
        heuristic) or a walk to the nearest record not yet visited, which is faster and worse.
    window : int
        Each path is then improved by a sweep of 2-opt that reverses stretches of up to this
        many records; 0 leaves it as built.
    """
    n = points.shape[0]
    window = min(whole_number("window", window, 0), n)
    _check_memory(n)
    counts = path_counts(engine.hamiltonian_paths(points, tour, window, progress), k)
    groups, leftovers = groups_from_counts(counts, k)
    engine.join_closest_groups(points, groups, leftovers)
    return labels_from_groups(groups, n)


def path_counts(paths: np.ndarray, k: int) -> np.ndarray:
    """Number of paths on which two records are at most k - 1 places apart (steps 6-10, Table V).

    Parameters
    ----------
    paths : int array of shape (m, n)
        Each row an order of the n records; its last record is next to its first.

    Returns
    -------
    int64 array of shape (n, n)
        Symmetric, with zeros in the diagonal.
    """
    n = paths.shape[1]
    counts = np.zeros((n, n), dtype=np.int64)
    for path in paths:
        for apart in range(1, min(k - 1, n // 2) + 1):
            other = np.roll(path, -apart)
            counts[path, other] += 1  # a record is first in one pair, so no cell comes twice
            if 2 * apart < n:  # half a round apart, each pair is met from both ends
                counts[other, path] += 1
    return counts


def groups_from_counts(counts: np.ndarray, k: int) -> tuple[list[list[int]], list[int]]:
    """Groups of k records that stand together on most paths (steps 11-24, Table VI).

    Parameters
    ----------
    counts : int array of shape (n, n)
        Symmetric, as `path_counts` gives them.

    Returns
    -------
    groups : list of list of int
        Each with the pair of highest count first, row before column.
    leftovers : list of int
        The fewer than k records in no group.
    """
    n = len(counts)
    if k == 1:
        return [[i] for i in range(n)], []
    remaining = np.ones(n, dtype=bool)
    triangle = np.where(np.tri(n, k=-1, dtype=bool), counts, -1)
    row_of = np.argmax(triangle, axis=0)  # for each column, the row of its maximum
    highest = np.max(triangle, axis=0)
    groups: list[list[int]] = []
    for _ in range(n // k):
        j = int(np.argmax(highest))
        group = _extend_pair(counts, int(row_of[j]), j, remaining, k)
        groups.append(group)
        remaining[group] = False
        triangle[group, :] = -1
        highest[group] = -1
        stale = np.flatnonzero(remaining & ~remaining[row_of])
        row_of[stale] = np.argmax(triangle[:, stale], axis=0)
        highest[stale] = triangle[row_of[stale], stale]
    return groups, np.flatnonzero(remaining).tolist()


def _extend_pair(counts: np.ndarray, i: int, j: int, remaining: np.ndarray, k: int) -> list[int]:
    """Add k - 2 records to a pair: the maximum of its row or of its column (steps 14-22)."""
    index = np.arange(len(counts))
    free = remaining.copy()
    free[[i, j]] = False
    group = [i, j]
    while len(group) < k:
        row = np.where(free & (index < i), counts[i], -1)
        column = np.where(free & (index > j), counts[j], -1)
        in_row, in_column = int(np.argmax(row)), int(np.argmax(column))
        group.append(in_row if row[in_row] > column[in_column] else in_column)
        free[group[-1]] = False
    return group


def _check_memory(n: int) -> None:
    """Refuse more records than the matrices of all pairs have room for."""
    try:
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not told on this system
        return
    needed = n * n * _BYTES_PER_PAIR
    if needed > room > 0:
        raise InputError(
            f"method 'tsp' compares all pairs of {n} records, which takes {needed / 2**30:.0f} GiB "
            f"where the machine has {room / 2**30:.0f}: protect fewer records at a time or "
            "choose another method"
        )
