"""Refinement: lower the loss of any partition by local search and annealing.

The constructive methods of the papers decide once and never look back. Here records move to
neighbours' groups, change places, and groups dissolve or are founded, each change with its exact
effect on the within-groups sum of squares (SSE); at first also changes for the worse, ever fewer
(simulated annealing, Kirkpatrick, Gelatt and Vecchi 1983), at last only for the better until none
is left (descent). Groups of 2k or more are split first, which never costs.

The temperature of a record is in proportion to a power of what it adds to the simplest lower
bound, the sum of its k - 1 least squared distances over 2k: dense and sparse parts of the data
freeze at about the same time. On the three reference files this gave a lower loss than one
temperature for all.

The temperature falls with the share of the budget that is gone, whatever the budget, from 2 to 0.05
of that unit. With a warmer end groups are missing that only cold steps found: Tarragona with k = 3
ends at 14.550, 14.514, 14.485 and 14.490 % if the last temperature is 0.2, 0.1, 0.05 and 0.02 (8
rounds of 10,000 steps for each record), Census with k = 4 at 6.111, 6.093, 6.089 and 6.111 %.
Large files would rather have 0.2 (SIM_13, 20,000 records, 2,000 steps: 0.866 instead of 0.868 %). A
start from 1 is worse on EIA with k = 3.

A budget is divided into 15 to 200 sweeps of at least 10 steps where it can be: to divide the
records into regions costs as much as five. 100,000 records in clusters end at 0.2238 % after 160
sweeps of one step, at 0.2243 % after 16 of ten in a quarter of the time. Little is left of the
groups that a search starts from, except where clusters are: these 160 steps lead from MDAV's
groups to 0.224 % and from those of a curve to 0.257 %.

Two groups merge and are divided anew by the same steps: a group may grow to 3k records, and a
group that is founded may take its records from one that has 2k.

Each sweep divides the groups into other regions, by random halvings, and anneals each region by
itself: on all cores, in the cache, and with the same result whatever the number of cores. A region
is annealed one step after the other, so a card with a hundred multiprocessors would like many small
ones. But a record of a mixed group gets home only where both are in one region, and neighbours in
other regions do not count: `benchmarks/results/regions.md` has what small regions cost. So they are
large in all engines, and the CUDA engine takes small ones in three sweeps of four if seconds are
counted, when no engine gives the same groups twice: it has more sweeps and steps for them.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..data.labels import by_first_record, numbered
from ..engines import Work, host_engine, set_compiled
from ..kernels import array_namespace, engine_name, engine_named, to_numpy
from ..kernels.arguments import Partition, Sweep
from ..kernels.compiling import clock
from ..kernels.protocol import Engine
from ..progress import LossProgress
from .common import take_records
from .mdav import mdav_of_each

HOT, COLD = 2.0, 0.05  # first and last temperature, in units of a record's share of the bound
_POWER = 0.6  # of a record's share of the bound, in its temperature
_SWEEPS = 15, 200  # at least and at most
_SHORT = 10  # steps for each record in a sweep, if there are fewer than the most sweeps
PLENTY = 500_000  # steps for each record: more are taken only if asked for
_REGION = 200, 2000  # records, about: at least and at most; a quarter of all in between
_GROUPS = 4  # that a region has at least
# If the CUDA engine counts seconds, three sweeps of four have as many regions as keep a card busy,
# of at least so many records and so many groups of k.
_BUSY, _SMALL = 1000, (300, 60)
_LEAST = 1e-9  # a fall of less than this share of a record's mean SSE counts for nothing
_QUENCH = 30  # steps for each record in the last sweep, at temperature 0
_END = 0.1  # of the seconds, for the last sweep and the descent
_AFTER = 0.4  # seconds for them after Ctrl-C
_CHUNK = 2**16  # records that propose changes in one round of the descent: some tenths of a second


class Refined(NamedTuple):
    """What came out of a refinement."""

    labels: np.ndarray
    stopped: float | None  # the share of the budget that was used, if Ctrl-C ended it


def refine(
    points: Any,
    labels: np.ndarray,
    k: int,
    *,
    seconds: float | None = None,
    steps: int | None = None,
    cells: np.ndarray | None = None,
    seed: int = 0,
    engine: Engine,
    watch: LossProgress | None = None,
) -> Refined:
    """A partition with at most the loss of the given one.

    Parameters
    ----------
    points : array of shape (n, d)
    labels : int64 array of shape (n,)
        Groups of at least k records.
    k : int
    seconds : float, optional
        The time to spend, lists of neighbours and the last descent included. Few records take
        less: 500,000 steps per record are plenty. Ctrl-C ends it earlier, with the best so far.
    steps : int, optional
        Instead: annealing steps for each record. The same steps and seed give the same groups.
        With 0, or if nothing is given, there is only the descent.
    cells : int64 array of shape (n,), optional
        Records of different cells are never in one group.
    seed : int
    watch : callable, optional
        Called with the share of the budget that is gone and the SSE of the best partition.
    """
    budget = _Budget(seconds, steps)
    # About their centre, for the sake of rounding; found on the host, to be the same everywhere.
    given = np.ascontiguousarray(to_numpy(points))
    centre = given.mean(axis=0, keepdims=True)
    points = points - array_namespace(points).asarray(centre, device=device(points))
    values = np.ascontiguousarray(given - centre, dtype=np.float64)
    # Numbers of groups decide which steps are tried: those of equal partitions become equal.
    best = split_large(points, by_first_record(labels)[0], k, engine)
    least = sum_of_squares(values, best)
    if k == 1:
        return Refined(best, None)  # after the split every record is a group of its own
    if watch is not None:
        watch(0.0, least)
    stopped, near = None, None
    try:
        near, share = neighbour_lists(points, k, cells, engine)
        search = _Search(points, values, near, share, k, seed, engine, seconds is not None)
        best = state = search.place(best)
        while (gone := budget.gone()) < 1:
            since = clock()
            state, value = search.sweep(state, HOT * (COLD / HOT) ** gone, budget.sweep)
            budget.spend(clock() - since, search.overhead)
            if value < least:
                best, least = state, value
            if watch is not None:
                watch(min(1.0, budget.gone()), least)
    except KeyboardInterrupt:
        stopped = min(1.0, budget.gone())
        budget.hurry()
    if near is None:
        return Refined(best, stopped)
    try:
        if budget.most > 0:
            state, value = search.sweep(state, 0.0, budget.quench())
            if value < least:
                best = state
        best = split_large(points, to_numpy(best), k, engine)
        lists = array_namespace(points).asarray(search.near, device=device(points))
        for better in _descent(points, values, best, (near, lists), k, engine):
            best = better
            if budget.over():
                break
    except KeyboardInterrupt:
        stopped = stopped or min(1.0, budget.gone())
        best = split_large(points, to_numpy(best), k, engine)
    return Refined(best, stopped)


class _Budget:
    """What a refinement may take: seconds, or steps for each record."""

    def __init__(self, seconds: float | None, steps: int | None) -> None:
        self._begun = clock()
        self._seconds = None if steps is not None else seconds
        self._end = self._begun + self._seconds if self._seconds else np.inf
        self.most = steps if steps is not None else PLENTY if seconds else 0
        self._taken = self._rate = 0.0
        few, many = _SWEEPS
        self.sweep = max(1.0, self.most / min(max(few, self.most / _SHORT), many))  # steps in one
        if self._seconds:
            self.sweep = min(self.sweep, 3.0)  # to learn how fast they are

    def gone(self) -> float:
        """The share of what there is for annealing that is used up."""
        if self.most == 0:
            return 1.0
        late = 0.0
        if self._seconds:
            late = (clock() - self._begun) / ((1 - _END) * self._seconds)
        return max(late, self._taken / self.most)

    def spend(self, took: float, overhead: float) -> None:
        """Count a sweep; make the next one as long as there is time for, if time is counted.

        To divide the records should take a tenth of a sweep, if there are enough sweeps then.
        """
        self._taken += self.sweep
        took = max(took, 1e-9)
        self._rate = self.sweep / took
        if self._seconds:
            few, many = _SWEEPS
            aim = max(self._seconds / many, min(10 * overhead, self._seconds / few), 0.01)
            self.sweep = min(self.sweep * min(4.0, max(0.25, aim / took)), self.most / many)

    def quench(self) -> float:
        """Steps for each record in the last sweep: at most half of the time that is left."""
        left = self._end - clock()
        return min(_QUENCH, 0.5 * left * self._rate) if np.isfinite(left) else _QUENCH

    def hurry(self) -> None:
        """End soon."""
        self._end = min(self._end, clock() + _AFTER)

    def over(self) -> bool:
        """Whether nothing is left, not even for the descent."""
        return clock() > self._end


class _Search:
    """Sweeps of annealing over regions that change from one to the next.

    For the CUDA engine all of it is on the device.
    """

    def __init__(
        self,
        points: Any,
        values: np.ndarray,
        near: np.ndarray,
        share: np.ndarray,
        k: int,
        seed: int,
        engine: Engine,
        by_seconds: bool,
    ) -> None:
        self._device = device(points) if engine_name(engine) == "cuda" else None
        self._xp = xp = array_namespace(values if self._device is None else points)
        if self._device is not None:
            values = xp.ascontiguousarray(xp.astype(points, xp.float64, copy=False))
        self._values, self.near, self._k = values, self.place(near), k
        mean = share.mean()
        heat = np.maximum(share, 1e-3 * mean) ** _POWER
        self._heat = self.place(heat * (mean / heat.mean()) if mean > 0 else np.zeros(len(share)))
        self._random = np.random.default_rng(seed)
        self._engine = engine
        self._many, self._turn = by_seconds and self._device is not None, 0
        self.overhead = 0.0

    def place(self, x: np.ndarray) -> Any:
        """An array where the search is."""
        return x if self._device is None else self._xp.asarray(x, device=self._device)

    def sweep(self, labels: Any, heat: float, steps: float) -> tuple[Any, float]:
        """New labels and their SSE after some steps for each record at one temperature."""
        begun, xp = clock(), self._xp
        seeds = self._random.integers(2**63, size=2).astype(np.uint64)
        many = self._many and self._turn % 4 > 0
        count = regions_of(labels.shape[0], self._k, int(xp.max(labels)) + 1, many)
        self._turn += 1
        groups, starts = self._engine.divide(self._values, labels, count, seeds[0])
        new = labels.copy()
        self.overhead = clock() - begun
        sweep = Sweep(groups, starts, heat * self._heat, steps, seeds[1])
        value = self._engine.anneal(self._values, self.near, new, self._k, sweep)
        used = xp.zeros(new.shape, dtype=xp.int64)
        used[new] = 1
        return (xp.cumulative_sum(used) - 1)[new], value


def regions_of(n: int, k: int, groups: int, many: bool = False) -> int:
    """How many regions to divide n records into, many so that each warp of a card has one."""
    size = min(max(n // 4, _REGION[0]), _REGION[1])
    if many:
        size = min(size, max(n // _BUSY, _SMALL[0], _SMALL[1] * k))
    return max(1, min(round(n / size), groups // _GROUPS))


def neighbour_lists(
    points: Any, k: int, cells: np.ndarray | None, engine: Engine
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of each record in its cell, -1 for none, and its share of the lower bound.

    Records far from all others have their best partners among others of their kind and not
    among the nearest, so the lists are long where there is time for it.
    """
    n = points.shape[0]
    m = max(2 * k, 40 if n <= 20_000 else 16)
    near, share = np.full((n, m), -1), np.zeros(n)
    of_cell = np.zeros(n, dtype=np.int64) if cells is None else cells
    order = np.argsort(of_cell, kind="stable")
    work = Work("neighbours", 1e-8 * float(n) * n * points.shape[1], n)
    chosen = _worth_compiling(work, engine)
    for rows in np.split(order, np.flatnonzero(np.diff(of_cell[order])) + 1):
        part = points if len(rows) == n else take_records(points, rows)
        count = min(m, len(rows) - 1)
        squares, records = chosen.neighbours(part, count)
        near[rows, :count] = rows[records]
        share[rows] = squares[:, : k - 1].sum(axis=1) / (2 * k)
    set_compiled(chosen, work)
    return near, share


def _worth_compiling(work: Work, engine: Engine) -> Engine:
    """The generic engine, if it is done before the CPU engine's kernels would be compiled."""
    return engine_named(host_engine(work)) if engine_name(engine) == "cpu" else engine


def _descent(
    points: Any,
    values: np.ndarray,
    labels: np.ndarray,
    lists: tuple[np.ndarray, Any],
    k: int,
    engine: Engine,
) -> Iterator[np.ndarray]:
    """Labels that lower the SSE more and more, until no change of one record does.

    `lists` has the lists of neighbours on the host and on the device of the points.

    In a round some records propose their best changes; made are those that no better one shares a
    group with. Then records near a group that changed have to look again.
    """
    groups = _Groups(values, labels, k)
    near, on_device = lists
    n, before = len(labels), float(groups.within.sum())
    waiting = np.ones(n, dtype=bool)
    while len(records := np.flatnonzero(waiting)[:_CHUNK]):
        waiting[records] = False
        rise, group, other = engine.best_moves(
            points,
            Partition(labels, groups.members, groups.centroids),
            on_device,
            records,
            k,
            _LEAST * before / n,
        )
        found = np.flatnonzero(group >= 0)
        found = found[np.argsort(rise[found], kind="stable")]
        mine, theirs = labels[records[found]], group[found]
        first = np.full(len(groups.within), len(found))  # the best change that touches each group
        for side in (mine, theirs):
            np.minimum.at(first, side, np.arange(len(found)))
        made = (first[mine] == np.arange(len(found))) & (first[theirs] == np.arange(len(found)))
        if not made.any():
            yield labels
            continue
        partner = other[found[made]]
        new = labels.copy()
        new[records[found[made]]] = theirs[made]
        new[partner[partner >= 0]] = mine[made][partner >= 0]
        touched = np.zeros(len(first), dtype=bool)
        touched[mine[made]] = touched[theirs[made]] = True
        changed = np.append(touched[new], False)  # the last is for no neighbour
        groups.renew(values, new, np.flatnonzero(changed))
        waiting |= changed[:-1] | changed[near].any(axis=1)
        value = float(groups.within.sum())
        if value >= before:  # by rounding
            return
        before, labels = value, new
        yield labels


class _Groups:
    """Centroids, members and SSE of groups of fewer than 2k records, some renewed at a time."""

    def __init__(self, values: np.ndarray, labels: np.ndarray, k: int) -> None:
        count = labels.max() + 1
        self.centroids = np.empty((count, values.shape[1]))
        self.members = np.empty((count, 2 * k - 1), dtype=np.int64)
        self.within = np.empty(count)
        self.renew(values, labels, np.arange(len(labels)))

    def renew(self, values: np.ndarray, labels: np.ndarray, records: np.ndarray) -> None:
        """Look again at the groups that consist of these records."""
        if not len(records):
            return
        order = records[np.argsort(labels[records], kind="stable")]
        groups, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
        some = values[order]
        self.centroids[groups] = np.add.reduceat(some, starts, axis=0) / sizes[:, np.newaxis]
        squares = np.square(some - self.centroids[labels[order]]).sum(axis=1)
        self.within[groups] = np.add.reduceat(squares, starts)
        self.members[groups] = -1
        self.members[labels[order], np.arange(len(order)) - np.repeat(starts, sizes)] = order


def split_large(points: Any, labels: np.ndarray, k: int, engine: Engine) -> np.ndarray:
    """Split groups of 2k or more by MDAV: their records are nearer to the centroids of parts."""
    labels, sizes = numbered(labels)
    new, count = labels.copy(), len(sizes)
    large = np.flatnonzero(sizes >= 2 * k)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    members = [order[ends[g] - sizes[g] : ends[g]] for g in large]
    count_large = int(sizes[large].sum())
    engine = _worth_compiling(Work("mdav", 1e-4 * count_large, count_large), engine)
    found = mdav_of_each(points, members, k, engine)
    for g, rows, parts in zip(large, members, found, strict=True):
        new[rows] = np.where(parts == 0, g, count + parts - 1)
        count += parts.max()
    return new


def centroids_of(values: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centroids and sizes of the groups of labels without gaps."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    sums = np.add.reduceat(values[order], np.cumsum(sizes) - sizes, axis=0)
    return sums / sizes[:, np.newaxis], sizes


def sum_of_squares(values: np.ndarray, labels: np.ndarray) -> float:
    """Within-groups sum of squares of labels without gaps."""
    centroids, _ = centroids_of(values, labels)
    return float(np.square(values - centroids[labels]).sum())
