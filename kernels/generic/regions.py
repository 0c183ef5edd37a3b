"""Dividing a partition into regions for annealing: all groups are halved again and again.

A half is what lies on one side of a plane across the line through two centroids that are drawn, so
each division has other regions. Regions have as many groups as each other, but for one.

It is all on the host, in NumPy, but neither BLAS nor an unstable sort, whose results depend on the
processor: centroids are sums in the order of the records, and products are added in the order of
the variables.
"""

import numpy as np

from .annealing import Draws


def divide(
    points: np.ndarray, labels: np.ndarray, regions: int, seed: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """Groups region by region, and where each region begins; see `Engine.divide`."""
    centroids = _centroids(points, labels)
    count = len(centroids)
    groups, starts = np.arange(count), np.arange(regions + 1) * count // regions
    waiting = [(0, regions, 1)]
    while waiting:
        low, high, number = waiting.pop()
        if high - low == 1:
            continue
        part = groups[starts[low] : starts[high]]
        draws = Draws(int(seed), number)
        a = draws.below(len(part))
        b = (a + 1 + draws.below(len(part) - 1)) % len(part)
        line = centroids[part[a]] - centroids[part[b]]
        along = np.zeros(len(part))
        with np.errstate(over="ignore", invalid="ignore"):
            for v in range(len(line)):
                along += centroids[part, v] * line[v]
        groups[starts[low] : starts[high]] = part[np.argsort(along, kind="stable")]
        middle = (low + high) // 2
        waiting += [(low, middle, 2 * number), (middle, high, 2 * number + 1)]
    return groups, starts


def _centroids(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Means of groups, each the sum of its records in their order."""
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    first = np.cumsum(sizes) - sizes
    totals = np.zeros((len(sizes), points.shape[1]))
    for place in range(sizes.max()):
        larger = np.flatnonzero(sizes > place)
        totals[larger] += points[order[first[larger] + place]]
    return totals / sizes[:, np.newaxis]
