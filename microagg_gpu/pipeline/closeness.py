"""t-closeness through microaggregation: Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015.

"merge" is their Algorithm 1: microaggregate, then the group whose sensitive attribute is farthest
from that of all records joins the group with the nearest centroid, until all are within t.

"first" is their Algorithm 3: the records are ranked by the attribute and cut into k' parts, where
k' = max(k, ceil(n / (2 (n - 1) t + 1))); a group has one record of each part, those nearest to a
seed that is chosen as in MDAV. If no two records have the same value and k' divides n, a group is
at most (n - k') / (2 (n - 1) k') away, which is within t. Otherwise a few groups may be beyond t,
and they are merged as by "merge".
"""

from math import ceil

import numpy as np

from .. import measures
from ..data.labels import labels_from_groups, members_of, numbered
from ..errors import InputError, option
from ..measures.sensitive import ROUNDING, ClosenessCheck, Distribution, check_closeness
from ..progress import Progress, share
from ..settings import Settings
from .problem import Problem, numbers_only


def check_sensitive(problem: Problem, settings: Settings) -> None:
    """Refuse what t-closeness cannot be had with."""
    if settings.t is None:
        return
    attribute = problem.table.sensitive
    if attribute is None:
        raise InputError(
            option("t", settings.t),
            " is for a sensitive attribute: name its column with ",
            option("sensitive"),
        )
    numbers_only(problem.table, "t-closeness takes", "t")
    if settings.method == "individual":
        raise InputError(
            "individual ranking has no groups of whole records: leave out ",
            option("t"),
            ", or choose another method",
        )
    if settings.blocks is not None:
        raise InputError("t-closeness is for groups of whole records: leave out ", option("blocks"))
    if settings.t_method == "first" and not attribute.ordered:
        raise InputError(
            f"column {attribute.name!r} holds texts, which have no order: use ",
            option("t_method", "merge"),
        )


def close(
    problem: Problem,
    labels: np.ndarray,
    settings: Settings,
    progress: Progress | None = None,
) -> tuple[np.ndarray, str]:
    """Groups within t, and how they were made: "first" or "merge", whichever loses less.

    Parameters
    ----------
    labels : int array of shape (m,)
        The groups of the method, or of `first_groups`.
    """
    attribute = problem.table.sensitive
    assert attribute is not None
    assert settings.t is not None
    given = "first" if settings.t_method == "first" else "merge"
    found = {given: within(problem, labels, settings.t)}
    if settings.t_method == "auto" and attribute.ordered:
        found["first"] = within(problem, first_groups(problem, settings, progress), settings.t)
    losses = {how: measures.information_loss(problem.filled, found[how]) for how in found}
    best = min(losses, key=lambda how: losses[how])
    return found[best], best


def first_groups(problem: Problem, settings: Settings, progress: Progress | None) -> np.ndarray:
    """Groups by t-closeness first, of each cell."""
    codes = sensitive_codes(problem)
    labels, groups, done = np.zeros(len(codes), dtype=np.int64), 0, 0
    for rows in members_of(problem.cells.cell):
        assert settings.t is not None
        part = share(progress, done, len(rows), len(codes))
        own = first_of(problem.filled[rows], codes[rows], problem.k, settings.t, part)
        labels[rows] = own + groups
        groups += int(own.max()) + 1
        done += len(rows)
    return labels


def first_of(
    points: np.ndarray, codes: np.ndarray, k: int, t: float, progress: Progress | None = None
) -> np.ndarray:
    """Algorithm 3 of the paper: groups with one record of each of k' parts of the ranking.

    Of n mod k' records that are left over, the central part (or the two of them) has more than
    others, and as long as it has more records than groups are to come, a group takes two of them.
    Equal values are ranked by the index of their records, and equal distances go to the lowest.
    """
    n = len(points)
    size = min(n, max(k, ceil(n / (2 * (n - 1) * t + 1))))
    size += (n % size) // (n // size)
    count, extra = divmod(n, size)
    sizes = np.full(size, count)
    sizes[(size - 1) // 2] += extra - extra // 2
    sizes[size // 2] += extra // 2
    ranked = np.split(np.lexsort((np.arange(n), codes)), np.cumsum(sizes)[:-1])
    left = _Left(points, [np.sort(part) for part in ranked])
    groups: list[list[int]] = []
    seed: int | None = None
    while len(groups) < count:
        # As in MDAV: the record farthest from the centroid, then the one farthest from that.
        far = left.farthest(left.centroid() if seed is None else points[seed])
        seed = far if seed is None else None
        groups.append(left.take(points[far], count - len(groups)))
        if progress is not None:
            progress(len(groups) / count)
    return labels_from_groups(groups, n)


class _Left:
    """Records that are in no group yet, part by part, variable by variable.

    Those that were taken stay in the arrays until they are half of them.
    """

    def __init__(self, points: np.ndarray, parts: list[np.ndarray]) -> None:
        self.records = np.concatenate(parts)
        self.values = np.ascontiguousarray(points[self.records].T)
        self.counts = np.array([len(part) for part in parts])  # of those that are left
        self.ends = np.cumsum(self.counts)
        self.there = np.ones(len(self.records), dtype=bool)

    def centroid(self) -> np.ndarray:
        return self.values @ self.there / self.counts.sum()

    def farthest(self, place: np.ndarray) -> int:
        """The record farthest from a place, of several that with the lowest index."""
        far = np.where(self.there, self._squares(place), -1.0)
        return int(self.records[far == far.max()].min())

    def take(self, seed: np.ndarray, to_come: int) -> list[int]:
        """Take the record of each part that is nearest to a seed, or two of a part with many."""
        near = np.where(self.there, self._squares(seed), np.inf)
        taken, start = [], 0
        for i, end in enumerate(self.ends):
            for _ in range(1 + (self.counts[i] > to_come)):
                nearest = start + int(np.argmin(near[start:end]))
                near[nearest] = np.inf
                taken.append(nearest)
            start = end
        found = self.records[taken].tolist()
        self.there[taken] = False
        self.counts -= np.bincount(
            np.searchsorted(self.ends, taken, side="right"), minlength=len(self.counts)
        )
        if 2 * self.counts.sum() < len(self.records):
            self.records, self.values = self.records[self.there], self.values[:, self.there]
            self.ends = np.cumsum(self.counts)
            self.there = np.ones(len(self.records), dtype=bool)
        return found

    def _squares(self, place: np.ndarray) -> np.ndarray:
        total = np.zeros(len(self.records))
        for values, at in zip(self.values, place, strict=True):
            apart = values - at
            total += np.square(apart, out=apart)
        return total


def within(problem: Problem, labels: np.ndarray, t: float) -> np.ndarray:
    """Algorithm 1 of the paper: the farthest group joins its nearest until all are within t."""
    codes, attribute = sensitive_codes(problem), problem.table.sensitive
    assert attribute is not None
    everybody = Distribution(codes, attribute.ordered)
    number = numbered(labels)[0].copy()
    members, distance = members_of(number), everybody.groups(codes, number).distance
    points = problem.filled
    centres = np.stack([points[own].mean(axis=0) for own in members])
    cell = problem.cells.cell[[own[0] for own in members]]
    there = np.ones(len(members), dtype=bool)
    while True:
        g = int(np.argmax(np.where(there, distance, -1.0)))
        if distance[g] <= t + ROUNDING:
            break
        others = np.flatnonzero(there & (cell == cell[g]))
        others = others[others != g]
        if not len(others):
            raise InputError(
                f"{attribute.name} of '{problem.cells.names[cell[g]]}' is {distance[g]:.3g} from "
                f"its distribution among all records: choose a ",
                option("t"),
                " above it, other strata, or leave out these records",
            )
        h = int(others[np.argmin(_squares(centres[others] - centres[g]))])
        a, b = len(members[g]), len(members[h])
        members[g] = np.concatenate([members[g], members[h]])
        centres[g] = (a * centres[g] + b * centres[h]) / (a + b)
        own = codes[members[g]]
        distance[g] = everybody.groups(own, np.zeros(len(own), dtype=np.int64)).distance[0]
        there[h] = False
    for left in np.flatnonzero(there):
        number[members[left]] = left
    return numbered(number)[0]


def measured(problem: Problem, labels: np.ndarray, t: float | None) -> ClosenessCheck | None:
    """What groups of whole records give away of the sensitive attribute, if there is one."""
    attribute = problem.table.sensitive
    if attribute is None or labels.ndim > 1:
        return None
    codes = sensitive_codes(problem)
    return check_closeness(codes, labels, attribute.ordered, attribute.name, t)


def sensitive_codes(problem: Problem) -> np.ndarray:
    """The ranks of the attribute of the records that are published."""
    assert problem.table.sensitive is not None
    return problem.table.sensitive.codes[problem.cells.kept]


def _squares(differences: np.ndarray) -> np.ndarray:
    return np.square(differences).sum(axis=-1)
