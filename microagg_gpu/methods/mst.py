"""Minimum spanning tree partitioning: M, M-d and M-c (Laszlo and Mukherjee 2005)."""

from typing import Any, Literal

import numpy as np

from ..kernels.protocol import Engine, Progress
from .common import take_records
from .extremes import centroid_groups, diameter_groups


def mst(
    points: Any,
    k: int,
    *,
    split: Literal["diameter", "centroid"] | None = None,
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """Cut the minimum spanning tree into trees of at least k records.

    Parameters
    ----------
    split : {None, "diameter", "centroid"}
        What divides trees of 2k records or more: nothing (M), the diameter method (M-d) or the
        centroid method (M-c).
    """
    n = points.shape[0]
    edges, lengths = engine.minimum_spanning_tree(points, progress)
    trees = engine.cut_edges(edges, lengths, n, k)
    large = np.flatnonzero(np.bincount(trees)[trees] >= 2 * k)
    if split is None or not len(large):
        return trees
    part = points if len(large) == n else take_records(points, large)
    groups = diameter_groups if split == "diameter" else centroid_groups
    trees[large] = n + groups(part, k, "centroid", engine, within=trees[large])
    return trees
