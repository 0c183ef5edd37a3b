"""Minimum spanning tree partitioning: M, M-d and M-c (Laszlo and Mukherjee 2005)."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import engine_for
from ..partition import groups_from_labels, labels_from_groups
from .common import Progress, take_records
from .fixed_size import centroid, diameter

SPLITS = {"diameter": diameter, "centroid": centroid}


def rooted_tree(edges: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
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


def cut_edges(edges: np.ndarray, lengths: np.ndarray, n: int, k: int) -> np.ndarray:
    """Delete removable edges from the longest on, and label the trees that remain.

    Phases 2 and 3 (sections 3.2 and 3.3): an edge goes if it leaves at least k nodes on both
    sides. Of equally long edges the one with the lowest records goes first.
    """
    parent_array, order = rooted_tree(edges, n)
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
    labels = np.empty(n, dtype=np.int64)
    for node in order.tolist():
        labels[node] = node if parent[node] < 0 else labels[parent[node]]
    return labels


def mst(
    points: Any,
    k: int,
    *,
    split: str | None = None,
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Cut the minimum spanning tree into trees of at least k records.

    Parameters
    ----------
    split : {None, "diameter", "centroid"}
        What divides trees of 2k records or more: nothing (M), the diameter method (M-d) or the
        centroid method (M-c).
    """
    if split is not None and split not in SPLITS:
        raise InputError(f"split={split!r} is unknown: choose None, 'diameter' or 'centroid'")
    n = points.shape[0]
    edges, lengths = engine_for(points, engine).minimum_spanning_tree(points, progress)
    labels = cut_edges(edges, lengths, n, k)
    if split is None:
        return labels
    groups = []
    for tree in groups_from_labels(np.unique(labels, return_inverse=True)[1]):
        if len(tree) < 2 * k:
            groups.append(tree)
            continue
        parts = SPLITS[split](take_records(points, tree), k, engine=engine)
        groups += [[tree[i] for i in part] for part in groups_from_labels(parts)]
    return labels_from_groups(groups, n)
