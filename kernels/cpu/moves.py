"""The best change for each record among its neighbours' groups, on all cores."""

from typing import Any, NamedTuple

import numpy as np

from ..arguments import Partition
from ..generic.arrays import to_numpy
from .compiled import entry, inner
from .outer import squared_distance
from .threads import on_all_cores

_CHUNK = 2**16  # records in one call of the kernel: some tenths of a second


class Changes(NamedTuple):
    """The best change of each record: rise of the sum, other group, record to change places."""

    rise: np.ndarray
    group: np.ndarray
    other: np.ndarray


def best_moves(
    points: Any, partition: Partition, near: Any, records: np.ndarray, k: int, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of some records the change that lowers the sum most; see `protocol.Engine`."""
    values = np.ascontiguousarray(to_numpy(points), dtype=np.float64)
    lists = to_numpy(near)
    sizes = (partition.members >= 0).sum(axis=1)
    n = len(records)
    best = Changes(np.full(n, np.inf), np.full(n, -1), np.full(n, -1))
    for start in range(0, n, _CHUNK):
        part = slice(start, start + _CHUNK)
        here = Changes(*(column[part] for column in best))
        some = records[part]
        on_all_cores(_best, len(some), values, partition, sizes, lists, some, k, least, here)
    return best.rise, best.group, best.other


@entry()
def _best(first, last, points, partition, sizes, near, records, k, least, best):
    labels, members, centroids = partition
    rise, group, other = best
    for a in range(first, last):
        i = records[a]
        g = labels[i]
        s = sizes[g]
        own = squared_distance(points, i, centroids[g])
        for q in range(near.shape[1]):
            j = near[i, q]
            h = labels[j]
            if j < 0 or h == g or _met(labels, near, i, q):
                continue
            t = sizes[h]
            to = squared_distance(points, i, centroids[h])
            if s > k and t < 2 * k - 1:
                here = to * t / (t + 1) - own * s / (s - 1)
                if here < -least and here < rise[a]:
                    rise[a], group[a], other[a] = here, h, -1
            for place in range(t):
                z = members[h, place]
                away = squared_distance(points, z, centroids[g])
                back = squared_distance(points, z, centroids[h])
                apart = squared_distance(points, i, points[z])
                here = (away - back) + (to - own) - apart * (1 / s + 1 / t)
                if here < -least and here < rise[a]:
                    rise[a], group[a], other[a] = here, h, z


@inner()
def _met(labels, near, i, q):
    """Whether an earlier neighbour is in the same group as neighbour q."""
    met = False
    for before in range(q):
        met |= labels[near[i, before]] == labels[near[i, q]]
    return met
