"""A method to learn from: groups from one corner of the data to the opposite one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from microagg_gpu.data.labels import labels_from_groups
from microagg_gpu.kernels import engine_for


def hop(
    points: Any,
    k: int,
    *,
    engine: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """From the record farthest from the centroid always to the one farthest from the last.

    Groups have k records, the last one k to 2k - 1.
    """
    n = points.shape[0]
    records = engine_for(points, engine).PointSet(points)
    seed = records.farthest_from(records.centroid())
    groups = []
    while len(records) >= 2 * k:
        groups.append(records.take_nearest(seed, k))
        seed = records.farthest_from(records[seed])
        if progress is not None:
            progress(1 - len(records) / n)
    groups.append(records.take_rest())
    return labels_from_groups(groups, n)
