"""The best change for each record among its neighbours' groups: a warp to a record.

The lanes share the members of a neighbour's group. Of equal changes the first is taken, in the
order of the neighbours: to join the group, then to change places with its members as they are
listed. Every change has a number in that order, so the lanes need not come in it.

Per record: m groups of up to 2k - 1 members, three distances for each. What goes to the device is
the partition and which records look; three numbers a record come back.
"""

import math
from typing import Any

import numpy as np
from numba import cuda

from .. import generic
from ..arguments import Partition
from ..arrays import array_namespace
from ..generic.arrays import to_numpy
from .arithmetic import product, row_distance
from .boxes import NONE
from .compiled import entry
from .launching import launch, read_number
from .search import blocks_for, portions
from .search_kernels import my_query
from .warp import LANES, lanes_where, least


@cuda.jit(device=True)
def met_before(labels, near, row, q, h):
    """Whether an earlier neighbour is in group h too."""
    met = False
    for before in range(cuda.threadIdx.x % LANES, q, LANES):
        j = near[row, before]
        met |= j >= 0 and labels[j] == h
    return lanes_where(met) != 0


@entry()
def find_best(points, partition, sizes, near, records, first, last, k, fall, rise, group, other):
    """The best change of records `first` to `last` - 1; see `Engine.best_moves`.

    `near` has a row for each of the records, `fall` is the least that counts.
    """
    row = my_query(first)
    if row >= last:
        return
    lane = cuda.threadIdx.x % LANES
    labels = partition.labels
    members = partition.members
    centroids = partition.centroids
    i = records[row]
    g = labels[i]
    s = sizes[g]
    own = row_distance(points, i, centroids, g)
    changes = members.shape[1] + 1
    best = math.inf
    change = np.int64(NONE)
    for q in range(near.shape[1]):
        j = near[row, q]
        if j < 0:
            continue
        h = labels[j]
        if h == g or met_before(labels, near, row, q, h):
            continue
        t = sizes[h]
        to = row_distance(points, i, centroids, h)
        if lane == 0 and s > k and t < 2 * k - 1:
            here = to * t / (t + 1) - own * s / (s - 1)
            if here < -fall and here < best:
                best = here
                change = q * changes
        for place in range(lane, t, LANES):
            z = members[h, place]
            rest = row_distance(points, z, centroids, g) - row_distance(points, z, centroids, h)
            apart = row_distance(points, i, points, z)
            here = rest + (to - own) - product(apart, 1 / s + 1 / t)
            if here < -fall and here < best:
                best = here
                change = q * changes + 1 + place
    lowest = least(best)
    change = least(change if best == lowest else np.int64(NONE))
    if lane == 0 and lowest < math.inf:
        h = labels[near[row, change // changes]]
        rise[row] = lowest
        group[row] = h
        if change % changes > 0:
            other[row] = members[h, change % changes - 1]


def best_moves(
    points: Any, partition: Partition, near: Any, records: np.ndarray, k: int, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each of some records the change that lowers the sum most; see `protocol.Engine`.

    In single precision only the distances are: the generic engine's array expressions do that.
    """
    xp = array_namespace(points)
    if points.dtype != xp.float64:
        return generic.best_moves(points, partition, near, records, k, least)
    count = len(records)
    rise = xp.full((count,), math.inf, dtype=xp.float64)
    group, other = (xp.full((count,), -1, dtype=xp.int64) for _ in range(2))
    which = xp.asarray(records)
    on_device = Partition(*(xp.asarray(np.ascontiguousarray(part)) for part in partition))
    given = (
        xp.ascontiguousarray(points),
        on_device,
        xp.sum(on_device.members >= 0, axis=1, dtype=xp.int64),
        xp.take(near, which, axis=0),
        which,
    )
    for first, last in portions(count):
        blocks = blocks_for(last - first)
        launch(find_best, blocks, *given, first, last, k, float(least), rise, group, other)
        read_number(group[0])
    return to_numpy(rise), to_numpy(group), to_numpy(other)
