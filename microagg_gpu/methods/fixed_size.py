"""Methods that take groups of about k records, one after the other, from a shrinking set.

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

from ..errors import InputError
from ..kernels import engine_for
from ..partition import labels_from_groups
from .common import Progress


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


def _gather(records: Any, how: str) -> Callable[[int, int], list[int]]:
    """The way to form a group around a record: nearest to the seed or to the growing centroid."""
    if how == "centroid":
        return records.take_gathered
    if how == "seed":
        return records.take_nearest
    raise InputError(f"gather={how!r} is unknown: choose 'centroid' or 'seed'")


def mdav(
    points: Any, k: int, *, engine: str | None = None, progress: Progress | None = None
) -> np.ndarray:
    """MDAV, maximum distance to average vector (Domingo-Ferrer and Torra 2005).

    Where distances tie so far that the record farthest from r is in r's own group, s is the
    farthest of those left.
    """
    records = engine_for(points, engine).PointSet(points)
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
    return labels_from_groups(groups, points.shape[0])


def vmdav(
    points: Any,
    k: int,
    *,
    gamma: float = 0.2,
    engine: str | None = None,
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
    if not gamma >= 0:
        raise InputError(f"gamma={gamma} is not a gain factor: give a number of 0 or more")
    words = engine_for(points, engine)
    records = words.PointSet(points)
    groups = _Groups(len(records), progress)
    centroid = records.centroid()
    while len(records) >= k:
        e = records.farthest_from(centroid)
        group = records.take_nearest(e, k)
        while len(group) < 2 * k - 1 and len(records):
            e_min, d_in = records.nearest_to_group(group)
            d_out = records.distance_to_nearest(e_min)
            if not d_in <= gamma * d_out:
                break
            group += records.take([e_min])
        groups.append(group)
    words.join_nearest_records(points, groups, records.take_rest())
    return labels_from_groups(groups, points.shape[0])


def diameter(
    points: Any,
    k: int,
    *,
    gather: str = "centroid",
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Diameter-based fixed-size microaggregation, D or UF (2002 Algorithm 2; 2005).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        Group the records nearest to the growing group's centroid (2005, procedure gather; it
        gives the printed tables of both papers) or to the extreme record itself (2002, step 1).
    """
    words = engine_for(points, engine)
    records = words.PointSet(points)
    take = _gather(records, gather)
    groups = _Groups(len(records), progress)
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
        words.join_closest_groups(points, groups, rest)
    return labels_from_groups(groups, points.shape[0])


def centroid(
    points: Any,
    k: int,
    *,
    gather: str = "centroid",
    engine: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Centroid-based fixed-size microaggregation, C (2005, section 4.2).

    Parameters
    ----------
    gather : {"centroid", "seed"}
        As in `diameter`.
    """
    words = engine_for(points, engine)
    records = words.PointSet(points)
    take = _gather(records, gather)
    groups = _Groups(len(records), progress)
    while len(records) >= k:
        groups.append(take(records.farthest_from(records.centroid()), k))
    words.join_closest_groups(points, groups, records.take_rest())
    return labels_from_groups(groups, points.shape[0])
