"""Groups that obey a rule on their contributors: those that break it are repaired at least cost.

A group that breaks the rule makes the one change, with one of the groups nearest to it or to its
largest contributors, that adds least to SSE and after which both obey: they exchange two records,
one takes a record of the other (which keeps k), or they merge. If no such change helps, the group
goes on merging with its nearest, up to `GROWN` times k records. No change makes a new group that
breaks the rule, so what obeys once obeys at the end. The repair comes after method and refinement,
and nothing that comes after it changes groups.
"""

from typing import Any, NamedTuple

import numpy as np

from ..data.labels import members_of, numbered
from ..measures.contributors import Rule, breaks

NEIGHBOURS = 16
"""How many of the nearest groups a group may exchange records with."""
GROWN = 10
"""A group that merges more than once to obey has at most so many times k records."""
CHUNK = 64
"""How many changes are looked at together, the cheapest first."""


class _Change(NamedTuple):
    """What a group does with another: it gives its record i and takes the record j of the other.

    -1 is no record; both -1 is a merger.
    """

    other: int
    i: int
    j: int


class Exchange:
    """Groups that change until they obey a rule as far as they can, with their centroids.

    Parameters
    ----------
    points : array of shape (m, p)
        The records as in distances and loss.
    size : array of shape (m, q)
        What they contribute, as `amounts` has it.
    labels : int array of shape (m,)
        Groups of at least k records, each within a cell.
    k : int
    rule : Rule
    cells : int array of shape (m,)
        The cell of each record.
    weights : array of shape (m,), optional
        Sampling weights.
    """

    def __init__(
        self,
        points: np.ndarray,
        size: np.ndarray,
        labels: np.ndarray,
        k: int,
        rule: Rule,
        cells: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> None:
        self.points, self.k, self.rule = points, k, rule
        self.size = np.vstack([size, np.zeros(size.shape[1])])  # the last record is nobody
        self.weights = None if weights is None else np.append(weights, 1.0)
        self.members: list[Any] = list(members_of(numbered(labels)[0]))
        self.cell = cells[[own[0] for own in self.members]]
        self.centres = np.stack([points[own].mean(axis=0) for own in self.members])
        self.alive = np.ones(len(self.members), dtype=bool)

    def repaired(self) -> np.ndarray:
        """The labels after all changes."""
        waiting = self.broken(range(len(self.members)))
        while waiting:  # a group that had no change may have one when others have changed
            left = [g for g in waiting if not self.mend(g)]
            if len(left) == len(waiting):
                break
            waiting = self.broken(left)
        return self.labels()

    def labels(self) -> np.ndarray:
        labels = np.empty(len(self.points), dtype=np.int64)
        for g in np.flatnonzero(self.alive):
            labels[self.members[g]] = g
        return numbered(labels)[0]

    def broken(self, some: Any) -> list[int]:
        """Those of some groups that are there and break the rule."""
        found: list[int] = []
        there = np.array([g for g in some if self.alive[g]], dtype=np.int64)
        for part in np.array_split(there, len(there) // 1024 + 1):
            if len(part):
                found += part[self._break([self.members[g] for g in part])].tolist()
        return found

    def _break(self, groups: list[np.ndarray]) -> np.ndarray:
        """Which of some groups break the rule; an empty one does not."""
        rows = np.full((len(groups), max(1, *map(len, groups))), -1)
        for row, own in zip(rows, groups, strict=True):
            row[: len(own)] = own
        return np.any(self._by_variable(rows), axis=-1)

    def _by_variable(self, rows: np.ndarray) -> np.ndarray:
        weights = None if self.weights is None else self.weights[rows]
        return breaks(self.size[rows], weights, self.rule)[0]

    def mend(self, g: int) -> bool:
        """Make the cheapest change after which a group obeys; whether there is one."""
        if not self.broken([g]):  # another group's change was its own too
            return True
        cost, changes = self._changes(g)
        order = np.argsort(cost, kind="stable")
        for start in range(0, len(order), CHUNK):
            chunk = [_Change(*changes[c].tolist()) for c in order[start : start + CHUNK]]
            pairs = [self._changed(g, change) for change in chunk]
            bad = self._break([mine for mine, _ in pairs])
            bad |= self._break([theirs for _, theirs in pairs])
            if not bad.all():
                first = int(np.argmin(bad))
                self._make(g, chunk[first].other, *pairs[first])
                return True
        return self._grow(g)

    def _partners(self, g: int) -> list[int]:
        """Groups to exchange with: those nearest to a group, and to its largest contributors."""
        own = self.members[g]
        variables = np.flatnonzero(self._by_variable(own))
        largest = np.unique(own[self.size[np.ix_(own, variables)].argmax(axis=0)])
        places = [self.centres[g], *self.points[largest]]
        found = [h for place in places for h in self._nearest(g, place, NEIGHBOURS).tolist()]
        return list(dict.fromkeys(found))

    def _nearest(self, g: int, place: np.ndarray, count: int) -> np.ndarray:
        """The other groups of a group's cell with centroids nearest to a place, nearest first."""
        others = np.flatnonzero(self.alive & (self.cell == self.cell[g]))
        others = others[others != g]
        far = _squares(self.centres[others] - place)
        if len(others) > count:
            some = np.argpartition(far, count)[:count]
            others, far = others[some], far[some]
        return others[np.lexsort((others, far))]

    def _changes(self, g: int) -> tuple[np.ndarray, np.ndarray]:
        """What a group can do with its partners: what each adds to SSE, and the changes."""
        costs, changes = [], []
        for h in self._partners(g):
            cost, i, j = self._with(g, h)
            costs.append(cost)
            changes.append(np.column_stack([np.full(len(i), h), i, j]))
        if not costs:
            return np.empty(0), np.empty((0, 3), dtype=np.int64)
        return np.concatenate(costs), np.concatenate(changes)

    def _with(self, g: int, h: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What two groups can do together: costs, and the records that are given and taken."""
        mine, theirs = self.members[g], self.members[h]
        a, b = len(mine), len(theirs)
        a_points, b_points = self.points[mine], self.points[theirs]
        # Squared distances of the records of both groups to both centroids.
        own, away = _squares(a_points - self.centres[g]), _squares(a_points - self.centres[h])
        back, home = _squares(b_points - self.centres[g]), _squares(b_points - self.centres[h])
        moved = _squares(a_points[:, np.newaxis] - b_points[np.newaxis])
        swap = (away - own)[:, np.newaxis] + (back - home) - moved * (1 / a + 1 / b)
        merge = a * b / (a + b) * _squares(self.centres[g] - self.centres[h])
        cost = [np.array([merge]), swap.ravel()]
        i = [np.array([-1]), np.repeat(np.arange(a), b)]
        j = [np.array([-1]), np.tile(np.arange(b), a)]
        if b > self.k:
            cost.append(a / (a + 1) * back - b / (b - 1) * home)
            i.append(np.full(b, -1))
            j.append(np.arange(b))
        if a > self.k:
            cost.append(b / (b + 1) * away - a / (a - 1) * own)
            i.append(np.arange(a))
            j.append(np.full(a, -1))
        return np.concatenate(cost), np.concatenate(i), np.concatenate(j)

    def _changed(self, g: int, change: _Change) -> tuple[np.ndarray, np.ndarray]:
        """The records of both groups after a change; none in the second after a merger."""
        h, i, j = change
        mine, theirs = self.members[g], self.members[h]
        if i < 0 and j < 0:
            return np.concatenate([mine, theirs]), mine[:0]
        if i < 0:
            return np.append(mine, theirs[j]), np.delete(theirs, j)
        if j < 0:
            return np.delete(mine, i), np.append(theirs, mine[i])
        new, old = mine.copy(), theirs.copy()
        new[i], old[j] = theirs[j], mine[i]
        return new, old

    def _grow(self, g: int) -> bool:
        """Merge a group with its nearest, one after the other, until it obeys."""
        own, centre, joined = self.members[g], self.centres[g], [g]
        others = set(self._partners(g))
        while others:
            sizes = {h: len(self.members[h]) for h in others}
            cost = {
                h: s * len(own) / (s + len(own)) * np.square(self.centres[h] - centre).sum()
                for h, s in sizes.items()
            }
            h = min(others, key=lambda h: (cost[h], h))
            others.remove(h)
            if len(own) + sizes[h] > GROWN * self.k:
                return False
            own, joined = np.concatenate([own, self.members[h]]), [*joined, h]
            centre = self.points[own].mean(axis=0)
            if not self._break([own])[0]:
                self.alive[joined[1:]] = False
                self._set(g, own)
                return True
        return False

    def _make(self, g: int, h: int, mine: np.ndarray, theirs: np.ndarray) -> None:
        self._set(g, mine)
        self.alive[h] = len(theirs) > 0
        if len(theirs):
            self._set(h, theirs)

    def _set(self, g: int, own: np.ndarray) -> None:
        self.members[g] = np.sort(own)
        self.centres[g] = self.points[self.members[g]].mean(axis=0)


def _squares(differences: np.ndarray) -> np.ndarray:
    return np.square(differences).sum(axis=-1)
