"""The optimal k-partition of a few records, by trying all of them."""

from fractions import Fraction
from itertools import combinations

import numpy as np


def optimum(points, k):
    """SSE and labels of an optimal k-partition of up to about 12 records.

    By dynamic programming over subsets: the first record that is left goes into a group with
    k - 1 to 2k - 2 others that are left.
    """
    n = len(points)
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    groups = [([], []) for _ in range(n)]  # by their first record: bits, and SSE
    for m in range(k, min(2 * k - 1, n) + 1):
        for group in combinations(range(n), m):
            bits, costs = groups[group[0]]
            bits.append(sum(1 << i for i in group))
            costs.append(squares[np.ix_(group, group)].sum() / (2 * m))
    tables = [(np.array(bits, dtype=np.int64), np.array(costs)) for bits, costs in groups]
    best = np.full(1 << n, np.inf)
    last = np.zeros(1 << n, dtype=np.int64)
    best[0] = 0.0
    for done in range((1 << n) - 1):
        if best[done] < np.inf:
            first = (~done & (done + 1)).bit_length() - 1
            bits, costs = tables[first]
            free = (bits & done) == 0
            after, total = done | bits[free], best[done] + costs[free]
            better = total < best[after]
            best[after[better]] = total[better]
            last[after[better]] = bits[free][better]
    labels = np.zeros(n, dtype=np.int64)
    left, label = (1 << n) - 1, 0
    while left:
        group = int(last[left])
        labels[[i for i in range(n) if group >> i & 1]] = label
        left, label = left ^ group, label + 1
    return float(best[-1]), labels


def exact_sse(points, labels):
    """SSE as a fraction: the sum over pairs of a group of their squared distance / its size."""
    total = Fraction(0)
    for group in np.unique(labels):
        rows = [[Fraction(x) for x in row] for row in points[labels == group].tolist()]
        for one, other in combinations(rows, 2):
            total += sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) / len(rows)
    return total
