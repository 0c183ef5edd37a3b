"""MDAV, maximum distance to average vector.

References
----------
2005  Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through
      microaggregation", Data Mining and Knowledge Discovery 11(2), 195-212
"""

from typing import Any

import numpy as np

from ..kernels.optional import HasLoops
from ..kernels.point_set import PointSet
from ..kernels.protocol import Engine, Progress
from .common import Groups, point_set, take_records


def mdav(points: Any, k: int, *, engine: Engine, progress: Progress | None = None) -> np.ndarray:
    """MDAV, maximum distance to average vector (Domingo-Ferrer and Torra 2005)."""
    if isinstance(engine, HasLoops):
        return engine.mdav_groups(points, k, progress=progress)
    return mdav_of(point_set(points, engine), k, progress)


def mdav_of_each(
    points: Any, problems: list[np.ndarray], k: int, engine: Engine
) -> list[np.ndarray]:
    """The groups of each of several sets of at least k records, as `mdav` numbers them.

    An engine that runs whole loops does all in one call: a launch for each would take longer.
    """
    if not isinstance(engine, HasLoops) or len(problems) < 2:
        return [mdav(take_records(points, records), k, engine=engine) for records in problems]
    sizes = [len(records) for records in problems]
    part = take_records(points, np.concatenate(problems))
    labels = engine.mdav_groups(part, k, np.repeat(np.arange(len(sizes)), sizes))
    return [groups - groups.min() for groups in np.split(labels, np.cumsum(sizes)[:-1])]


def mdav_of(records: PointSet, k: int, progress: Progress | None = None) -> np.ndarray:
    """The groups that MDAV takes from a set of records.

    Where distances tie so far that the record farthest from r is in r's own group, s is the
    farthest of those left.
    """
    groups = Groups(len(records), progress)
    while len(records) >= 3 * k:
        r = records.farthest_from(records.centroid())
        groups.append(records.take_nearest(r, k))
        s = records.farthest_from(records[r])
        groups.append(records.take_nearest(s, k))
    if len(records) >= 2 * k:
        r = records.farthest_from(records.centroid())
        groups.append(records.take_nearest(r, k))
    groups.append(records.take_rest())
    return groups.labels()
