"""k-Ward microaggregation, univariate and multivariate.

References
----------
1999  Mateo-Sanz and Domingo-Ferrer, Algorithm 1 and section 2.2 (there called MWA)
2002  Domingo-Ferrer and Mateo-Sanz, Algorithm 1 and section 5.2
"""

from typing import Any, Literal

import numpy as np
from array_api_compat import device

from ..kernels import array_namespace, to_numpy
from ..kernels.protocol import Engine, Progress
from .axes import Axis, scores
from .common import take_records

Ranking = Literal["md", "fpc", "sz", "pv"]


def runs(within: np.ndarray, *keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records sorted by group, then by some keys and by index; where groups start, their sizes."""
    order = np.lexsort((*keys, within))
    starts = np.flatnonzero(np.diff(within[order], prepend=-1))
    return order, starts, np.diff(starts, append=len(order))


def ends(within: np.ndarray, place: np.ndarray, k: int) -> np.ndarray:
    """Label the first k and the last k records of each group as one; others stay alone.

    Step 1 of Algorithm 1 (2002), with records ranked by a one-dimensional criterion.
    """
    order, starts, sizes = runs(within, place)
    labels = np.arange(len(order))
    for first in (starts, starts + sizes - k):
        end = order[first[:, np.newaxis] + np.arange(k)]
        labels[end] = end.min(axis=1, keepdims=True)
    return labels


def split_equal(points: Any, within: np.ndarray, k: int, ranked: bool) -> np.ndarray:
    """Label the records of groups of equal records as all recursions would; others by -1.

    Among m equal records whose every subset has exactly their values as centroid, no merger
    costs anything. The extreme group with the lowest record then takes all that are between,
    and the other one is cut off: if ranked the k highest records, else those that follow the
    lowest k. The rest go on in the same way, which would take m / k recursions.
    """
    order, starts, sizes = runs(within)
    start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    at = np.arange(len(order)) - start
    xp = array_namespace(points)
    values, first = take_records(points, order), take_records(points, order[start])
    places = xp.asarray((at + 1)[:, np.newaxis], device=device(points))
    count = xp.astype(places, values.dtype)
    exact = xp.all((values == first) & (values * count / count == values), axis=1)
    equal = np.repeat(np.logical_and.reduceat(to_numpy(exact), starts), sizes)
    if ranked:
        lowest = size - ((size - 1 - at) // k + 1) * k
        lowest[lowest < k] = 0
    else:
        lowest = np.where(at < size // k * k, at // k * k, 0)
    labels = np.empty_like(order)
    labels[order] = np.where(equal, order[start + lowest], -1)
    return labels


def rank(
    points: Any, ranking: Axis, variable: int | None, descending: bool, engine: Engine
) -> np.ndarray:
    """Place of each record in the ranking by a one-dimensional criterion."""
    axis = scores(points, ranking, variable, engine=engine)
    order = array_namespace(points).argsort(-axis if descending else axis, stable=True)
    place = np.empty(points.shape[0], dtype=np.int64)
    place[to_numpy(order)] = np.arange(len(place))
    return place


def kward(
    points: Any,
    k: int,
    *,
    ranking: Ranking = "md",
    variable: int | None = None,
    descending: bool = False,
    engine: Engine,
    progress: Progress | None = None,
) -> np.ndarray:
    """Ward's method held to groups of at least k, then again within groups of 2k or more.

    Parameters
    ----------
    ranking : {"md", "fpc", "sz", "pv"}
        What makes records the first and the last: the most distant pair and the records
        gathered around each, the first principal component, the sum of z-scores, or a
        particular variable. All records are ranked once; a single variable ranks itself.
    variable : int or str
        With "pv", the variable.
    descending : bool
        Rank from the highest to the lowest; with "md", start from the higher record of the pair.
    """
    if points.shape[1] == 1:
        ranking, variable = "pv", 0
    place = None if ranking == "md" else rank(points, ranking, variable, descending, engine)
    groups = np.zeros(points.shape[0], dtype=np.int64)  # each named by its lowest record
    while len(records := np.flatnonzero(np.bincount(groups)[groups] >= 2 * k)):
        everything = len(records) == len(groups)
        part = points if everything else take_records(points, records)
        within = groups[records]
        start = split_equal(part, within, k, place is not None)
        if (done := start >= 0).any():
            groups[records[done]] = records[start[done]]
            continue
        if place is None:
            start = engine.extreme_groups(part, within, k, descending)
        else:
            start = ends(within, place[records], k)
        report = progress if everything else None
        groups[records] = records[engine.merge_until_k(part, start, within, k, report)]
    return np.unique(groups, return_inverse=True)[1]
