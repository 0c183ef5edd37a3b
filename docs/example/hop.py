"""A method to learn from: groups from one corner of the data to the opposite one."""

from typing import Any

import numpy as np

from microagg_gpu.kernels.protocol import Engine, Progress
from microagg_gpu.methods.common import Groups, point_set


def hop(points: Any, k: int, *, engine: Engine, progress: Progress | None = None) -> np.ndarray:
    """From the record farthest from the centroid always to the one farthest from the last.

    Groups have k records, the last one k to 2k - 1.
    """
    records = point_set(points, engine)
    seed = records.farthest_from(records.centroid())
    groups = Groups(len(records), progress)
    while len(records) >= 2 * k:
        groups.append(records.take_nearest(seed, k))
        seed = records.farthest_from(records[seed])
    groups.append(records.take_rest())
    return groups.labels()
