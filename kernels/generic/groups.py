"""Operations on groups already formed."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from .arrays import squared_distances
from .sums import Total


def group_totals(points: Any, groups: list[list[int]]) -> Total:
    """Correctly rounded sums of each group's records, of shape (d, number of groups)."""
    xp = array_namespace(points)
    columns = points.T
    depth = max(map(len, groups))
    members = np.full((depth, len(groups)), -1)
    for g, group in enumerate(groups):
        members[: len(group), g] = group
    total = None
    for row in members:
        there = xp.asarray(row >= 0, device=device(points))
        record = xp.asarray(np.maximum(row, 0), device=device(points))
        part = xp.where(there, xp.take(columns, record, axis=1), 0.0)
        if total is None:
            total = Total(part)
        else:
            total.add(part)
    assert total is not None
    return total


def join_closest_groups(points: Any, groups: list[list[int]], leftovers: list[int]) -> None:
    """Add each leftover record to the closest group; see `Engine.join_closest_groups`."""
    if not leftovers:
        return
    xp = array_namespace(points)
    total = group_totals(points, groups)
    counts = [float(len(group)) for group in groups]
    sizes = xp.asarray(counts, dtype=points.dtype, device=device(points))
    for record in sorted(leftovers):
        centroids = total.value / sizes
        g = int(xp.argmin(squared_distances(centroids, points[record, :])))
        groups[g].append(record)
        here = xp.asarray(np.arange(len(groups)) == g, device=device(points))
        total.add(xp.where(here, xp.reshape(points[record, :], (-1, 1)), 0.0))
        sizes[g] += 1.0


def join_nearest_records(points: Any, groups: list[list[int]], leftovers: list[int]) -> None:
    """Add leftover records to groups of the nearest; see `Engine.join_nearest_records`."""
    if not leftovers:
        return
    xp = array_namespace(points)
    group_of = np.empty(points.shape[0], dtype=np.int64)
    for g, group in enumerate(groups):
        group_of[group] = g
    waits = np.zeros(points.shape[0], dtype=bool)
    waits[leftovers] = True
    left = xp.asarray(waits, device=device(points))
    for record in leftovers:
        distances = squared_distances(points.T, points[record, :])
        distances[left] = xp.inf
        groups[group_of[int(xp.argmin(distances))]].append(record)
