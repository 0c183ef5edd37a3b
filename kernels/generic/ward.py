"""Ward's method with the group sizes held down, as k-Ward needs it."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..arrays import array_namespace
from ..protocol import Progress
from .arrays import squared_distances, to_numpy
from .groups import group_totals
from .points import PointSet


def problems(within: np.ndarray) -> list[np.ndarray]:
    """The records of each problem, in index order."""
    order = np.argsort(within, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(within[order])) + 1)


def gather_extremes(
    points: Any, pair: tuple[int, int], k: int, descending: bool
) -> list[list[int]]:
    """The two groups of k records gathered around the most distant two.

    The second group takes from what the first one leaves (1999, figure 2).
    """
    records = PointSet(points)
    a, b = pair
    if descending:
        a, b = b, a
    first = records.take_gathered(a, k)
    if b not in records:
        b = records.farthest_from(records[a])
    return [first, records.take_gathered(b, k)]


def extreme_groups(points: Any, within: np.ndarray, k: int, descending: bool) -> np.ndarray:
    """Form the two extreme groups of each problem; see `Engine.extreme_groups`."""
    xp = array_namespace(points)
    labels = np.arange(len(within))
    for problem in problems(within):
        part = xp.take(points, xp.asarray(problem, device=device(points)), axis=0)
        for end in gather_extremes(part, PointSet(part).most_distant_pair(), k, descending):
            labels[problem[end]] = problem[min(end)]
    return labels


def merge_until_k(
    points: Any, labels: np.ndarray, within: np.ndarray, k: int, progress: Progress | None = None
) -> np.ndarray:
    """Merge groups by Ward's method; see `Engine.merge_until_k`.

    For each group that is still small its nearest group is kept; of any pair that may merge at
    least one is small, so these hold the least distance.
    """
    merged = labels.copy()
    for problem in problems(within):
        groups = [problem[group].tolist() for group in problems(labels[problem])]
        state = _Groups(points, groups, k)
        small = len(state.small())
        for s in state.small():
            state.find_nearest(s)
        while left := len(state.small()):
            if progress is not None:
                progress(1.0 - left / small)
            state.merge(*state.closest_pair())
        for group in filter(None, state.groups):
            merged[group] = min(group)
    return merged


class _Groups:
    """Groups in order of their lowest record, with the nearest group of each small one."""

    def __init__(self, points: Any, groups: list[list[int]], k: int) -> None:
        self._xp = array_namespace(points)
        self._device = device(points)
        self._k = k
        self._total = group_totals(points, groups)
        self.groups = groups
        sizes = np.array([len(group) for group in groups], dtype=float)
        self._sizes = sizes.astype(to_numpy(points[:1, :1]).dtype)  # all is in one precision
        self._centroids = self._total.value / self._to_device(self._sizes)
        self._nearest = np.full(len(groups), -1)
        self._distance = np.full(len(groups), np.inf)

    def _to_device(self, x: np.ndarray) -> Any:
        return self._xp.asarray(x, device=self._device)

    def small(self) -> np.ndarray:
        """Groups that exist and have fewer than k records."""
        return np.flatnonzero((self._sizes > 0) & (self._sizes < self._k))

    def _distances(self, i: int) -> np.ndarray:
        """Rise of SSE if group i and each other were merged; infinite where there is no other."""
        squared = to_numpy(squared_distances(self._centroids, self._centroids[:, i]))
        rise = self._sizes[i] * self._sizes / (self._sizes[i] + self._sizes) * squared
        rise[self._sizes == 0] = np.inf
        rise[i] = np.inf
        return rise

    def find_nearest(self, i: int) -> None:
        """Look among all groups for the nearest one to group i."""
        rise = self._distances(i)
        self._nearest[i] = np.argmin(rise)
        self._distance[i] = rise[self._nearest[i]]

    def closest_pair(self) -> tuple[int, int]:
        """The pair to merge, the one with the lowest record first."""
        rows = np.flatnonzero(self._distance == self._distance.min())
        others = self._nearest[rows]
        pairs = np.stack([np.minimum(rows, others), np.maximum(rows, others)], axis=1)
        first, second = min(pairs.tolist())
        return first, second

    def merge(self, i: int, j: int) -> None:
        """Merge group j into group i and bring the nearest groups up to date."""
        self.groups[i] = self.groups[i] + self.groups[j]
        self.groups[j] = []
        self._total.merge(i, j)
        self._sizes[i] += self._sizes[j]
        self._sizes[j] = 0.0
        self._centroids[:, i] = self._total.value[:, i] / float(self._sizes[i])
        self._distance[[i, j]] = np.inf
        if self._sizes[i] < self._k:
            self.find_nearest(i)
        rise = self._distances(i)
        small = self.small()
        small = small[small != i]
        old, nearest = self._distance[small], self._nearest[small]
        nearer = (rise[small] < old) | ((rise[small] == old) & (nearest >= i))
        self._nearest[small[nearer]] = i
        self._distance[small[nearer]] = rise[small[nearer]]
        for s in small[~nearer & ((nearest == i) | (nearest == j))]:
            self.find_nearest(s)
