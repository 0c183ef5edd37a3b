"""Methods that gather groups of k around extreme records: diameter and centroid.

References
----------
2002  Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation", Algorithm 2
2005  Laszlo and Mukherjee, "Minimum spanning tree partitioning algorithm", section 4.2
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..data.labels import members_of
from ..kernels.optional import HasDiameterLoop, HasLoopOfFew, HasLoops
from ..kernels.point_set import PointSet
from ..kernels.protocol import Engine, Progress
from .common import Groups, point_set, take_records

Gather = Literal["centroid", "seed"]


def diameter(
    points: Any,
    k: int,
    *,
    gather: Gather = "centroid",
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """Diameter-based fixed-size microaggregation, D or UF (2002 Algorithm 2; 2005).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        Group the records nearest to the growing group's centroid (2005, procedure gather; it
        gives the printed tables of both papers) or to the extreme record itself (2002, step 1).
    """
    return diameter_groups(points, k, gather, engine, progress=progress)


def centroid(
    points: Any,
    k: int,
    *,
    gather: Gather = "centroid",
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """Centroid-based fixed-size microaggregation, C (2005, section 4.2).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        As in `diameter`.
    """
    return centroid_groups(points, k, gather, engine, progress=progress)


def diameter_groups(
    points: Any,
    k: int,
    gather: str,
    engine: Engine,
    within: np.ndarray | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """The groups of `diameter`; with `within` each problem is grouped by itself.

    Parameters
    ----------
    within : int64 array of shape (n,), optional
        The problem each record belongs to.
    """
    if isinstance(engine, HasDiameterLoop):
        return engine.diameter_groups(points, k, gather, within, progress)

    def loop(part: Any) -> Groups:
        records = point_set(part, engine)
        take = _taking(records, gather)
        groups = Groups(len(records), None if within is not None else progress)
        while len(records) >= 2 * k:
            a, b = records.most_distant_pair()
            groups.append(take(a, k))
            if b not in records:
                b = records.farthest_from(records[a])
            groups.append(take(b, k))
        rest = records.take_rest()
        if len(rest) >= k:
            groups.append(rest)
        else:
            engine.join_closest_groups(part, groups, rest)
        return groups

    few = None
    if within is not None and isinstance(engine, HasLoopOfFew):
        few = engine.groups_of_few(points, within, k, True, gather == "centroid")
    return _each_problem(points, within, loop, few)


def centroid_groups(
    points: Any,
    k: int,
    gather: str,
    engine: Engine,
    within: np.ndarray | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """The groups of `centroid`; `within` as in `diameter_groups`."""
    if isinstance(engine, HasLoops):
        return engine.centroid_groups(points, k, gather, within, progress)

    def loop(part: Any) -> Groups:
        records = point_set(part, engine)
        take = _taking(records, gather)
        groups = Groups(len(records), None if within is not None else progress)
        while len(records) >= k:
            groups.append(take(records.farthest_from(records.centroid()), k))
        engine.join_closest_groups(part, groups, records.take_rest())
        return groups

    return _each_problem(points, within, loop)


def _taking(records: PointSet, gather: str) -> Callable[[int, int], list[int]]:
    return records.take_gathered if gather == "centroid" else records.take_nearest


def _each_problem(
    points: Any,
    within: np.ndarray | None,
    loop: Callable[[Any], Groups],
    few: np.ndarray | None = None,
) -> np.ndarray:
    """Labels of each problem's groups, no label in two problems; `few` has some, else -1."""
    if within is None:
        return loop(points).labels()
    labels = np.full(len(within), -1) if few is None else few
    used = 0
    for problem in members_of(within):
        if labels[problem[0]] < 0:
            labels[problem] = loop(take_records(points, problem)).labels()
        labels[problem] += used
        used = labels[problem].max() + 1
    return labels
