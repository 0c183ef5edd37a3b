"""The Euclidean minimum spanning tree."""

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from .arrays import squared_distances


def minimum_spanning_tree(
    points: Any, progress: Callable[[float], None] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Prim's method (Laszlo and Mukherjee 2005, section 3.1).

    Edges are ordered by squared length, then by their lower and higher end, which makes the
    tree unique whatever the algorithm that finds it.

    Returns
    -------
    edges : int64 array of shape (n - 1, 2)
        The lower end first, in the order found.
    lengths : float64 array of shape (n - 1,)
        Squared lengths.
    """
    xp = array_namespace(points)
    n = points.shape[0]
    columns = xp.asarray(points.T, copy=True)
    index = xp.arange(n, dtype=xp.int64, device=device(points))
    no_edge = n * n
    length = xp.full((n,), xp.inf, dtype=columns.dtype, device=device(points))
    edge = xp.full((n,), no_edge, dtype=xp.int64, device=device(points))  # lower * n + higher
    outside = xp.ones((n,), dtype=xp.bool, device=device(points))
    edges = np.empty(n - 1, dtype=np.int64)
    lengths = np.empty(n - 1)
    v = 0
    for step in range(n - 1):
        outside[v] = False
        length[v] = xp.inf
        distances = squared_distances(columns, columns[:, v])
        candidate = xp.minimum(index, index[v]) * n + xp.maximum(index, index[v])
        equal = (distances == length) & (candidate < edge)
        better = outside & ((distances < length) | equal)
        length = xp.where(better, distances, length)
        edge = xp.where(better, candidate, edge)
        shortest = xp.min(length)
        first = xp.where(outside & (length == shortest), edge, no_edge)
        v = int(xp.argmin(first))
        edges[step] = int(edge[v])
        lengths[step] = float(shortest)
        if progress is not None and step % 256 == 0:
            progress(step / n)
    return np.stack([edges // n, edges % n], axis=1), lengths
