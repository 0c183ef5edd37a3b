"""Minimum spanning tree partitioning: M, M-d and M-c (Laszlo and Mukherjee 2005)."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernels import engine_for
from ..partition import groups_from_labels, labels_from_groups
from .common import Progress, take_records
from .fixed_size import centroid, diameter

SPLITS = {"diameter": diameter, "centroid": centroid}


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
    words = engine_for(points, engine)
    edges, lengths = words.minimum_spanning_tree(points, progress)
    labels = words.cut_edges(edges, lengths, n, k)
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
