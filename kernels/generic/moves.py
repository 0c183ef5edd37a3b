"""The best change for each record among its neighbours' groups: what a descent is made of."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arguments import Partition
from ..arrays import array_namespace
from .arrays import to_numpy


def best_moves(
    points: Any, partition: Partition, near: Any, records: np.ndarray, k: int, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of some records the best change; see `Engine.best_moves`."""
    labels, members, centroids = partition
    xp = array_namespace(points)

    lists = to_numpy(xp.take(near, xp.asarray(records, device=device(points)), axis=0))

    def rows(matrix: Any, which: np.ndarray) -> Any:
        return xp.take(matrix, xp.asarray(which, device=device(points)), axis=0)

    def distance(a: Any, b: Any) -> np.ndarray:
        total = xp.zeros(a.shape[0], dtype=points.dtype, device=device(points))
        for v in range(points.shape[1]):
            total = total + (a[:, v] - b[:, v]) * (a[:, v] - b[:, v])
        return to_numpy(total).astype(np.float64)

    centres = xp.asarray(centroids, dtype=points.dtype, device=device(points))
    sizes = (members >= 0).sum(axis=1)
    mine = labels[records]
    s = sizes[mine]
    here, own_centre = rows(points, records), rows(centres, mine)
    own = distance(here, own_centre)
    rise = np.full(len(records), np.inf)
    group, other = np.full(len(records), -1), np.full(len(records), -1)

    def keep(which: np.ndarray, new: np.ndarray, h: np.ndarray, z: np.ndarray | int) -> None:
        better = which & (new < rise)
        rise[better], group[better] = new[better], h[better]
        other[better] = z[better] if isinstance(z, np.ndarray) else z

    for j in lists.T:
        h = labels[j]
        usable = (j >= 0) & (h != mine)
        t = sizes[h]
        to = distance(here, rows(centres, h))
        with np.errstate(divide="ignore", invalid="ignore"):  # where s = 1, which is not > k
            joined = to * t / (t + 1) - own * s / (s - 1)
        room = (s > k) & (t < 2 * k - 1)
        keep(usable & room & (joined < -least), joined, h, -1)
        for place in range(members.shape[1]):
            z = members[h, place]
            there = rows(points, np.maximum(z, 0))
            rest = distance(there, own_centre) - distance(there, rows(centres, h))
            swapped = rest + (to - own) - distance(here, there) * (1 / s + 1 / t)
            keep(usable & (z >= 0) & (swapped < -least), swapped, h, z)
    return rise, group, other
