"""V-MDAV, MDAV with groups of variable size.

References
----------
2006  Solanas and Martinez-Balleste, "V-MDAV", Algorithm 1
"""

from typing import Any

import numpy as np

from ..checks import number
from ..kernels.optional import HasLoops
from ..kernels.protocol import Engine, Progress
from .common import Groups, point_set


def vmdav(
    points: Any,
    k: int,
    *,
    gamma: float = 0.2,
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """V-MDAV, MDAV with groups of k to 2k - 1 records (2006, Algorithm 1).

    Where the text leaves a choice, the one taken gives every digit of its Table 1: distances
    are squared, equality adds a record (so duplicates are added even with gamma 0), and a
    record left over joins the group of the nearest record that the main loop assigned.

    Parameters
    ----------
    gamma : float
        Gain factor: the unassigned record nearest to a group joins it if its distance to the
        group is at most gamma times its distance to the nearest other unassigned record. The
        paper takes 0.2 for scattered data and 1.1 for clustered data.
    """
    number("gamma", gamma, 0)
    if isinstance(engine, HasLoops):
        return engine.vmdav_groups(points, k, gamma, progress)
    real = np.dtype(str(points.dtype).rpartition(".")[2]).type
    gain = float(real(gamma))
    records = point_set(points, engine)
    groups = Groups(len(records), progress)
    centroid = records.centroid()
    while len(records) >= k:
        e = records.farthest_from(centroid)
        group = records.take_nearest(e, k)
        while len(group) < 2 * k - 1 and len(records):
            e_min, d_in = records.nearest_to_group(group)
            d_out = records.distance_to_nearest(e_min)
            if not d_in <= real(gain * d_out):  # in the precision of the points
                break
            group += records.take([e_min])
        groups.append(group)
    engine.join_nearest_records(points, groups, records.take_rest())
    return groups.labels()
