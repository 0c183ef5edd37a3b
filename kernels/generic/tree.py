"""The Euclidean minimum spanning tree, and the cutting of it."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import squared_distances


def minimum_spanning_tree(
    points: Any, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Prim's method (Laszlo and Mukherjee 2005, section 3.1); see `Engine`."""
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
    order = np.lexsort((edges, lengths))
    edges = edges[order]
    return np.stack([edges // n, edges % n], axis=1), lengths[order]


def cut_edges(edges: np.ndarray, lengths: np.ndarray, n: int, k: int) -> np.ndarray:
    """Delete removable edges from the longest on; see `Engine.cut_edges`."""
    parent_array, order = _rooted_tree(edges, n)
    parent = parent_array.tolist()
    count = [1] * n  # descendants, the node itself included
    for node in order[:0:-1].tolist():
        count[parent[node]] += count[node]
    for a, b in edges[np.lexsort((edges[:, 1], edges[:, 0], -lengths))].tolist():
        node, above = (a, b) if parent[a] == b else (b, a)
        if count[node] < k:
            continue
        root = above
        while parent[root] >= 0:
            root = parent[root]
        if count[root] - count[node] >= k:
            parent[node] = -1
            while above >= 0:
                count[above] -= count[node]
                above = parent[above]
    top = np.empty(n, dtype=np.int64)
    for node in order.tolist():
        top[node] = node if parent[node] < 0 else top[parent[node]]
    lowest = np.full(n, n)
    np.minimum.at(lowest, top, np.arange(n))
    return lowest[top]


def _rooted_tree(edges: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Parent of each node (-1 at the root, node 0), and the nodes with parents before children."""
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    parent = np.full(n, -1, dtype=np.int64)
    order = [0]
    for node in order:
        for other in neighbours[node]:
            if other != parent[node]:
                parent[other] = node
                order.append(other)
    return parent, np.array(order)
