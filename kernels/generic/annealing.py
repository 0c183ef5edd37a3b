"""Annealing of a partition, region by region: many small changes, good ones and at first some bad.

A region is a set of whole groups that is worked on by itself. A step takes a record and one of its
neighbours in another group, near ones more often, and looks for the change that costs least among:
the record joins that group; it changes places with one of that group. One step in forty instead
dissolves the record's group into the groups of neighbours, or founds a group of the record and near
ones that their groups can spare; in a group of 2k or more that splits it.

A change that raises the within-groups sum of squares by x is made with probability
(1 - x / 4T)^4 at temperature T, never from x = 4T on: nearly exp(-x / T) (Metropolis et al. 1953;
this form is that of Tsallis and Stariolo 1996, q = 3/4). It needs roots instead of logarithms, and
IEEE roots are the same on every machine.

It is all on the host, one step after the other, in an order that all engines keep: of the random
numbers, of the records in a group, and of the sums. Centroids follow each change; the little that
rounding adds to them lasts until the region is left.
"""

from collections.abc import Iterable
from functools import reduce
from math import inf, sqrt
from operator import add

import numpy as np

from ..arguments import Sweep

LANES = 4  # parts of a sum over the variables: a processor can do four at once
ROOM = 3  # times k: the most records in a group. Above 2k - 1 it will be divided, but at 2k - 1
# it must not be closed: records of a mixed group could not get home to where they belong.
LOW = 2**40 - 1  # the bits of a draw that choose a neighbour; those above, the kind of step
RARE = 2**24 // 40  # of 2**24 steps, those that dissolve or found a group


def anneal(points: np.ndarray, near: np.ndarray, labels: np.ndarray, k: int, sweep: Sweep) -> float:
    """Change a partition by random steps; see `Engine.anneal`."""
    groups, starts, heat, rate, seed = sweep
    before, begin, total = labels.copy(), 0, 0.0
    for r in range(len(starts) - 1):
        parts = [np.flatnonzero(before == g).tolist() for g in groups[starts[r] : starts[r + 1]]]
        records = [i for part in parts for i in part]
        local = {i: a for a, i in enumerate(records)}
        region = _Region(
            points[records].tolist(),
            [[local[j] for j in near[i].tolist() if j in local] for i in records],
            heat[records].tolist(),
            [[local[i] for i in part] for part in parts],
            k,
            Draws(int(seed), r),
        )
        for _ in range(int(rate * len(records))):
            region.step()
        labels[records] = [begin + g for g in region.label]
        begin += len(records)
        total += _sum(region.centre(g) for g in range(len(region.members)))
    return total


class Draws:
    """Random numbers of one stream: 64 bits of state, the same on every machine."""

    def __init__(self, seed: int, stream: int) -> None:
        """Mix the seed and the number of the stream (splitmix64)."""
        x = _low(seed + (stream + 1) * 0x9E3779B97F4A7C15)
        x = _low((x ^ x >> 30) * 0xBF58476D1CE4E5B9)
        x = _low((x ^ x >> 27) * 0x94D049BB133111EB)
        self._state = (x ^ x >> 31) | 1

    def bits(self) -> int:
        """64 random bits (xorshift64*, Vigna 2016)."""
        x = self._state
        x ^= x >> 12
        x ^= _low(x << 25)
        x ^= x >> 27
        self._state = x
        return _low(x * 0x2545F4914F6CDD1D)

    def below(self, m: int) -> int:
        """A random whole number below m."""
        return (self.bits() >> 32) * m >> 32

    def unit(self) -> float:
        """A random number between 0 and 1, neither of them."""
        return ((self.bits() >> 12) + 0.5) * 2.0**-52

    def allowance(self, heat: float) -> float:
        """By how much a change may raise the sum of squares."""
        return 4 * heat * (1 - sqrt(sqrt(self.unit())))


class _Region:
    """Records and groups of one region, numbered from 0."""

    def __init__(
        self,
        points: list[list[float]],
        near: list[list[int]],
        heat: list[float],
        groups: list[list[int]],
        k: int,
        draws: Draws,
    ) -> None:
        self.points, self.near, self.heat, self.k, self.draws = points, near, heat, k, draws
        most = len(points) // k
        self.members = groups + [[] for _ in range(most - len(groups))]
        self.free = list(range(len(groups), most))  # groups that are empty
        self.label = [g for g, group in enumerate(groups) for _ in group]
        self.centroid: list[list[float]] = [[]] * most
        for g in range(len(groups)):
            self.centre(g)

    def step(self) -> None:
        """Try one change."""
        k, draws = self.k, self.draws
        i = draws.below(len(self.points))
        if not self.near[i]:
            return
        g = self.label[i]
        s = len(self.members[g])
        bits = draws.bits()
        if bits >> 40 < RARE:
            if s == k or bits & 1:
                self.dissolve(g)
            elif self.free:
                self.found(i)
            return
        u = (bits & LOW) * 2.0**-40
        h = self.label[self.near[i][int(len(self.near[i]) * (u * u))]]
        if h == g:
            return
        t = len(self.members[h])
        rise, other = inf, -1
        if s > k and t < ROOM * k:
            rise = self.joining(i, h) - self.leaving(i)
        share = 1 / s + 1 / t
        line = [2 * (y - x) for x, y in zip(self.centroid[g], self.centroid[h], strict=True)]
        for z in self.members[h]:
            here = _swapped(self.points[i], self.points[z], line, share)
            if here < rise:
                rise, other = here, z
        if not self.accepts(rise, self.heat[i]):
            return
        if other < 0:
            self.move(i, h)
            self.shift(g, i, -1 / (s - 1))
            self.shift(h, i, 1 / (t + 1))
            return
        a, b = self.members[g].index(i), self.members[h].index(other)
        self.members[g][a], self.members[h][b] = other, i
        self.label[i], self.label[other] = h, g
        way = [y - x for x, y in zip(self.points[i], self.points[other], strict=True)]
        for group, part in ((g, 1 / s), (h, -1 / t)):
            mean = self.centroid[group]
            self.centroid[group] = [x + y * part for x, y in zip(mean, way, strict=True)]

    def joining(self, i: int, g: int) -> float:
        """By how much the sum of squares of a group rises if a record joins it."""
        t = len(self.members[g])
        return _distance(self.points[i], self.centroid[g]) * t * (1 / (t + 1))

    def leaving(self, i: int) -> float:
        """By how much the sum of squares of its group falls if a record leaves."""
        g = self.label[i]
        s = len(self.members[g])
        return _distance(self.points[i], self.centroid[g]) * s * (1 / (s - 1))

    def accepts(self, rise: float, heat: float) -> bool:
        """Whether to make a change. A fall needs no draw."""
        return rise < 0 or (rise < 4 * heat and rise < self.draws.allowance(heat))

    def dissolve(self, g: int) -> None:
        """Let each record of a group join the group that it costs least, or leave all as it was."""
        leaving = list(self.members[g])
        rise, heat = 0.0, 0.0
        for i in leaving:
            rise -= _distance(self.points[i], self.centroid[g])
            heat += self.heat[i] / len(leaving)
        limit = self.draws.allowance(heat)
        joined: list[int] = []
        for i in leaving:
            least, to = inf, -1
            for j in self.near[i][: (ROOM + 1) * self.k]:
                h = self.label[j]
                if h != g and len(self.members[h]) < ROOM * self.k:
                    here = self.joining(i, h)
                    if here < least:
                        least, to = here, h
            if to < 0 or rise + least >= limit:
                break
            rise += least
            joined.append(to)
            self.move(i, to)
            self.shift(to, i, 1 / len(self.members[to]))
        if len(joined) == len(leaving):
            self.free.append(g)
            return
        for i, to in reversed(list(zip(leaving, joined, strict=False))):
            self.move(i, g)
            self.shift(to, i, -1 / len(self.members[to]))

    def found(self, i: int) -> None:
        """Make a group of a record and near ones that other groups can spare, or leave it."""
        k = self.k
        if sum(len(self.members[self.label[j]]) > k for j in self.near[i]) < k - 1:
            return
        g = self.free[-1]
        self.centroid[g] = self.points[i]
        limit = self.draws.allowance(self.heat[i])
        least, best = -self.leaving(i), i
        rise = 0.0
        taken: list[tuple[int, int]] = []
        while best >= 0:
            rise += least
            h = self.label[best]
            taken.append((best, h))
            self.move(best, g)
            self.shift(h, best, -1 / len(self.members[h]))
            self.shift(g, best, 1 / len(taken))
            if len(taken) == k:
                break
            least, best = inf, -1
            for j in self.near[i]:
                if self.label[j] != g and len(self.members[self.label[j]]) > k:
                    here = self.joining(j, g) - self.leaving(j)
                    if here < least:
                        least, best = here, j
        if len(taken) == k and rise < limit:
            self.free.pop()
            return
        for j, h in reversed(taken):
            self.move(j, h)
            self.shift(h, j, 1 / len(self.members[h]))

    def move(self, i: int, g: int) -> None:
        """Put a record in the last place of another group; the last of its own gets its place."""
        old = self.members[self.label[i]]
        old[old.index(i)] = old[-1]
        old.pop()
        self.members[g].append(i)
        self.label[i] = g

    def shift(self, g: int, i: int, share: float) -> None:
        """Take a record into the mean of a group, or with a share below 0 out of it."""
        mean = zip(self.centroid[g], self.points[i], strict=True)
        self.centroid[g] = [x + (y - x) * share for x, y in mean]

    def centre(self, g: int) -> float:
        """Compute the centroid of a group from its records, and their sum of squares about it."""
        records = [self.points[i] for i in self.members[g]]
        self.centroid[g] = [_sum(values) / len(records) for values in zip(*records, strict=True)]
        return _sum(_distance(record, self.centroid[g]) for record in records)


def _distance(a: list[float], b: list[float]) -> float:
    """Squared distance."""
    return _in_lanes([(x - y) * (x - y) for x, y in zip(a, b, strict=True)])


def _swapped(i: list[float], z: list[float], line: list[float], share: float) -> float:
    """By how much the sum of squares rises if a record i and one z of another group change places.

    With w = z - i, centroids c of the group of i and e of the other, of s and t records, and `line`
    2 (e - c): the centroids become c + w / s and e - w / t, and the sum of squares of a group is
    that of its records less (number) |centroid|^2. So it rises by
    -2 w.c - |w|^2 / s + 2 w.e - |w|^2 / t = w.(2 (e - c) - w share), with share = 1/s + 1/t.
    """
    ways = [y - x for x, y in zip(i, z, strict=True)]
    return _in_lanes([w * (x - w * share) for w, x in zip(ways, line, strict=True)])


def _in_lanes(terms: list[float]) -> float:
    """The sum of each fourth term, from the first four on, and the sum of these four."""
    a, b, c, d = (_sum(terms[lane::LANES]) for lane in range(LANES))
    return (a + b) + (c + d)


def _sum(terms: Iterable[float]) -> float:
    """The sum in the order of the terms; Python's own may be compensated."""
    return reduce(add, terms, 0.0)


def _low(x: int) -> int:
    """The last 64 bits."""
    return x & 0xFFFFFFFFFFFFFFFF
