"""The loops that take groups of about k records, one after the other, from a shrinking set.

Each is a word of its own because an engine may do better with the whole loop than with its steps.

References
----------
2002  Domingo-Ferrer and Mateo-Sanz, "Practical data-oriented microaggregation", Algorithm 2
2005  Laszlo and Mukherjee, "Minimum spanning tree partitioning algorithm", section 4.2
2005  Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity through
      microaggregation" (MDAV)
2006  Solanas and Martinez-Balleste, "V-MDAV", Algorithm 1
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..protocol import Progress
from .groups import join_closest_groups, join_nearest_records
from .points import PointSet as GenericPointSet
from .ward import problems


class _Groups(list):
    """The groups formed so far; tells how many of the n records they hold."""

    def __init__(self, n: int, progress: Progress | None) -> None:
        self._n = n
        self._held = 0
        self._told = 0
        self._progress = progress

    def append(self, group: list[int]) -> None:
        super().append(group)
        self._held += len(group)
        if self._progress is not None and 1000 * (self._held - self._told) >= self._n:
            self._told = self._held
            self._progress(self._held / self._n)

    def labels(self) -> np.ndarray:
        """The number of each record's group."""
        labels = np.empty(self._n, dtype=np.int64)
        for g, group in enumerate(self):
            labels[group] = g
        return labels


def mdav_groups(
    points: Any, k: int, progress: Progress | None = None, PointSet: Any = GenericPointSet
) -> np.ndarray:
    """MDAV, maximum distance to average vector (Domingo-Ferrer and Torra 2005).

    Where distances tie so far that the record farthest from r is in r's own group, s is the
    farthest of those left.

    Returns
    -------
    int64 array of shape (n,)
        The group of each record, as in the loops below.
    """
    records = PointSet(points)
    groups = _Groups(len(records), progress)
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


def vmdav_groups(
    points: Any,
    k: int,
    gamma: float,
    progress: Progress | None = None,
    PointSet: Any = GenericPointSet,
) -> np.ndarray:
    """V-MDAV, MDAV with groups of k to 2k - 1 records (2006, Algorithm 1).

    Where the text leaves a choice, the one taken gives every digit of its Table 1: distances
    are squared, equality adds a record (so duplicates are added even with gamma 0), and a
    record left over joins the group of the nearest record that the main loop assigned.
    """
    real = np.dtype(str(points.dtype).rpartition(".")[2]).type
    gain = float(real(gamma))
    records = PointSet(points)
    groups = _Groups(len(records), progress)
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
    join_nearest_records(points, groups, records.take_rest())
    return groups.labels()


def diameter_groups(
    points: Any,
    k: int,
    gather: str,
    within: np.ndarray | None = None,
    progress: Progress | None = None,
    PointSet: Any = GenericPointSet,
) -> np.ndarray:
    """Diameter-based fixed-size groups, D or UF (2002 Algorithm 2; 2005).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        Group the records nearest to the growing group's centroid or to the extreme record.
    within : int64 array of shape (n,), optional
        The problem each record belongs to; each is grouped by itself.
    """

    def loop(part: Any) -> _Groups:
        records = PointSet(part)
        take = records.take_gathered if gather == "centroid" else records.take_nearest
        groups = _Groups(len(records), None if within is not None else progress)
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
            join_closest_groups(part, groups, rest)
        return groups

    return _each_problem(points, within, loop)


def centroid_groups(
    points: Any,
    k: int,
    gather: str,
    within: np.ndarray | None = None,
    progress: Progress | None = None,
    PointSet: Any = GenericPointSet,
) -> np.ndarray:
    """Centroid-based fixed-size groups, C (2005, section 4.2).

    Parameters
    ----------
    gather, within
        As in `diameter_groups`.
    """

    def loop(part: Any) -> _Groups:
        records = PointSet(part)
        take = records.take_gathered if gather == "centroid" else records.take_nearest
        groups = _Groups(len(records), None if within is not None else progress)
        while len(records) >= k:
            groups.append(take(records.farthest_from(records.centroid()), k))
        join_closest_groups(part, groups, records.take_rest())
        return groups

    return _each_problem(points, within, loop)


def _each_problem(
    points: Any, within: np.ndarray | None, loop: Callable[[Any], _Groups]
) -> np.ndarray:
    """Labels of each problem's groups, no label in two problems."""
    if within is None:
        return loop(points).labels()
    xp = array_namespace(points)
    labels = np.empty(len(within), dtype=np.int64)
    used = 0
    for problem in problems(within):
        part = xp.take(points, xp.asarray(problem, device=device(points)), axis=0)
        groups = loop(part)
        labels[problem] = used + groups.labels()
        used += len(groups)
    return labels
