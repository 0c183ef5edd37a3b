"""Dividing a partition into regions on the device: all groups at once, level by level.

A level is a kernel, two sorts of the groups and some array expressions; the host draws the ends of
the lines, and waits for one number in all.
"""

from typing import Any

import numpy as np
from numba import cuda

from ..arrays import array_namespace
from .arithmetic import product
from .compiled import entry
from .draws import seeded, some_below
from .launching import launch, read_number
from .team import THREADS


@entry()
def find_centroids(points, order, first, centroids):
    """Means of groups, each the sum of its records in their order; a thread to a variable."""
    at = cuda.grid(1)
    d = points.shape[1]
    g = at // d
    v = at % d
    if g < centroids.shape[0]:
        total = 0.0
        for a in range(first[g], first[g + 1]):
            total += points[order[a], v]
        centroids[g, v] = total / np.float64(first[g + 1] - first[g])


@entry()
def look_along(centroids, groups, part, ends, along):
    """Where each group is along the line of its part; without one all are at 0.

    Parameters
    ----------
    groups : int64 array
        In their order, part by part.
    part : int64 array
        The part of each place in that order.
    ends : int64 array of shape (parts, 2)
        Places of the groups that a line goes through; -1 for no line.
    """
    place = cuda.grid(1)
    if place >= groups.shape[0]:
        return
    total = 0.0
    if ends[part[place], 0] >= 0:
        a = groups[ends[part[place], 0]]
        b = groups[ends[part[place], 1]]
        g = groups[place]
        for v in range(centroids.shape[1]):
            total += product(centroids[g, v], centroids[a, v] - centroids[b, v])
    along[place] = total


def divide(points: Any, labels: Any, regions: int, seed: np.uint64) -> tuple[Any, Any]:
    """Groups region by region, and where each region begins; see `protocol.Engine`."""
    xp = array_namespace(points)
    count, d = read_number(xp.max(labels)) + 1, points.shape[1]
    order = xp.argsort(labels, stable=True)
    groups = xp.arange(count, dtype=xp.int64)
    first = xp.searchsorted(labels[order], xp.arange(count + 1))
    centroids = xp.empty((count, d), dtype=xp.float64)
    launch(find_centroids, -(-count * d // THREADS), points, order, first, centroids)
    starts = np.arange(regions + 1) * count // regions
    low, high, number = np.array([0]), np.array([regions]), np.array([1])
    along = xp.empty((count,), dtype=xp.float64)
    while (divided := high - low > 1).any():
        ends = _drawn(seed, number, starts[low], starts[high])
        ends[~divided] = -1
        part = xp.searchsorted(xp.asarray(starts[low]), xp.arange(count), side="right") - 1
        launch(
            look_along, -(-count // THREADS), centroids, groups, part, xp.asarray(ends), along
        )  # fmt: skip
        order = xp.argsort(along, stable=True)
        groups = groups[order[xp.argsort(part[order], stable=True)]]
        middle = (low + high) // 2
        low, high, number = (
            np.stack([first, second], axis=1)[np.stack([np.ones_like(divided), divided], axis=1)]
            for first, second in (
                (low, middle),
                (np.where(divided, middle, high), high),
                (2 * number, 2 * number + 1),
            )
        )
    return groups, xp.asarray(starts)


def _drawn(seed: np.uint64, number: np.ndarray, first: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Two different places in each part, drawn by the stream of its number."""
    state, size = seeded(seed, number), end - first
    a = some_below(state, size)
    b = (a + 1 + some_below(state, size - 1)) % size
    return first[:, np.newaxis] + np.stack([a, b], axis=1)
