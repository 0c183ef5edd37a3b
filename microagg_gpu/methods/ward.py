"""k-Ward microaggregation, univariate and multivariate.

References
----------
1999  Mateo-Sanz and Domingo-Ferrer, Algorithm 1 and section 2.2 (there called MWA)
2002  Domingo-Ferrer and Mateo-Sanz, Algorithm 1 and section 5.2
"""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from ..errors import InputError
from ..kernels import engine_for
from ..partition import labels_from_groups
from .axes import scores
from .common import Progress, take_records

RANKINGS = ("md", "fpc", "sz", "pv")


def extremes(points: Any, k: int, descending: bool, engine: str | None) -> list[list[int]]:
    """The maximum-distance criterion: k records gathered around each of the most distant two.

    The second group takes from what the first one leaves (1999, figure 2).
    """
    records = engine_for(points, engine).PointSet(points)
    a, b = records.most_distant_pair()
    if descending:
        a, b = b, a
    first = records.take_gathered(a, k)
    if b not in records:
        b = records.farthest_from(records[a])
    return [first, records.take_gathered(b, k)]


def rank(
    points: Any, ranking: str, variable: int | None, descending: bool, engine: str | None
) -> np.ndarray:
    """Place of each record in the ranking by a one-dimensional criterion."""
    axis = scores(points, ranking, variable, engine)
    order = array_namespace(points).argsort(-axis if descending else axis, stable=True)
    place = np.empty(points.shape[0], dtype=np.int64)
    place[engine_for(points, engine).to_numpy(order)] = np.arange(len(place))
    return place


def kward(
    points: Any,
    k: int,
    *,
    ranking: str = "md",
    variable: int | None = None,
    descending: bool = False,
    engine: str | None = None,
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
    if ranking not in RANKINGS:
        raise InputError(f"ranking={ranking!r} is unknown: choose one of {', '.join(RANKINGS)}")
    if points.shape[1] == 1:
        ranking, variable = "pv", 0
    words = engine_for(points, engine)
    n = points.shape[0]
    place = None if ranking == "md" else rank(points, ranking, variable, descending, engine)
    final = []
    pending = [list(range(n))]
    while pending:
        records = pending.pop()
        if len(records) < 2 * k:
            final.append(records)
            continue
        part = take_records(points, records)
        if place is None:
            ends = extremes(part, k, descending, engine)
        else:
            order = np.argsort(place[records]).tolist()
            ends = [order[:k], order[-k:]]
        between = set(range(len(records))).difference(*ends)
        report = progress if len(records) == n else None
        for group in words.merge_until_k(part, [*ends, *([i] for i in between)], k, report):
            pending.append(sorted(records[i] for i in group))
    return labels_from_groups(final, n)
