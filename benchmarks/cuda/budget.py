"""What the CUDA engine asks of a device for a whole method, counted in a dry run on the CPU.

The methods themselves run, with the operations of the CPU engine, which takes the same decisions;
each notes what the CUDA engine's kernel would do for it: records scanned, synchronisations of the
grid, reductions within a block, launches.
"""

import heapq
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from numba import njit

from microagg_gpu import METHODS
from microagg_gpu.kernels import cpu
from microagg_gpu.kernels.cpu import ward_tree
from microagg_gpu.kernels.cpu.ward_tree import BUDGET, STEP, WIDTH
from microagg_gpu.methods.extremes import centroid_groups, diameter_groups
from microagg_gpu.methods.mdav import mdav
from microagg_gpu.methods.vmdav import vmdav

from .work import ADD, CENTRE, RISE, SQUARE, Work

LOOP = 24  # arguments of a loop: the arrays of its named tuples, budget, k and an option


class Loop:
    """A kernel of `fixed_kernels` at work on one problem, by a team of all blocks."""

    def __init__(self, work: Work, points: Any, k: int, leftovers: str = "") -> None:
        kernels, host = (_engine(name) for name in ("fixed_kernels", "fixed_size"))
        self._n, self.d = points.shape
        self.work, self.k = work, k
        self._leftovers = leftovers
        self._overhead = kernels.SCAN
        self._pace = _engine("launching").Pace(
            host._BYTES_PER_LAUNCH // (self.d * points.dtype.itemsize)
        )
        self._left = self._pace.work
        work.launch(3, 2)  # sum_up and share_sum
        work.launch(LOOP)
        work.values += self._n * self.d
        work.held = max(work.held, self._n * self.d)

    def scan(self, records: int, values: int = 0, words: int = 0) -> None:
        """Look at all records, in a new launch if this one has looked at enough."""
        if self._left <= 0:
            with self._pace:  # on a device that is fast
                pass
            self._left = self._pace.work
            self.work.launch(LOOP)
            self.work.waits += 1
        self._left -= records + self._overhead
        self.work.scan(records, self.d, values, words)

    def join(self, rest: int) -> None:
        """Put the records left where they belong, groups by groups or record by record."""
        if self._leftovers == "groups":
            self.work.launch(15)
            for _ in range(rest if rest < self.k else 0):
                self.work.agree()
                self.work.agree()
                self.work.removals += 1
        elif self._leftovers == "records" and rest:
            self.work.launch(9, 2)


class Counted(cpu.PointSet):
    """A set of records that notes what its operations would cost in a kernel of `fixed_kernels`."""

    def __init__(self, points: Any, loop: Loop) -> None:
        super().__init__(points)
        self._loop, self._work = loop, loop.work
        self._bounds: list[tuple[float, int]] = []
        self._partner = np.empty(0, dtype=np.int64)

    def centroid(self) -> np.ndarray:
        self._work.kept += self._loop.d * CENTRE
        return super().centroid()

    def farthest_from(self, target: np.ndarray) -> int:
        self._loop.scan(len(self))
        self._work.agree()
        return super().farthest_from(target)

    def take_nearest(self, record: int, k: int) -> list[int]:
        self._loop.scan(len(self) - 1, values=1, words=1)
        self._work.grid_syncs += 1
        self._work.reductions += 2 * (k - 1)
        self._work.take(k, self._loop.d)
        return super().take_nearest(record, k)

    def take_gathered(self, record: int, k: int) -> list[int]:
        for size in range(1, k):
            self._loop.scan(len(self) - size)
            self._work.agree()
        self._work.kept += (k - 1) * self._loop.d * CENTRE
        self._work.take(k, self._loop.d)
        return super().take_gathered(record, k)

    def nearest_to_group(self, group: list[int]) -> tuple[int, float]:
        if len(group) == self._loop.k:  # distances to the group are kept from here on
            for _ in group:
                self._loop.scan(len(self), values=2, words=1)
        self._work.agree()
        return super().nearest_to_group(group)

    def distance_to_nearest(self, record: int) -> float:
        self._loop.scan(len(self))
        self._work.agree()
        return super().distance_to_nearest(record)

    def take(self, records: list[int]) -> list[int]:
        if len(records) == 1:  # V-MDAV's extension; others take the rest
            self._loop.scan(len(self) - 1, values=2, words=1)
            self._work.removals += 1
        return super().take(records)

    def take_rest(self) -> list[int]:
        rest = super().take_rest()
        self._loop.join(len(rest))
        return rest

    def most_distant_pair(self) -> tuple[int, int]:
        """As in the generic engine: a record whose partner has left looks for another one."""
        if not self._bounds:
            count_pairs(self._work, *self._points.shape)
            self._partner = np.empty(len(self), dtype=np.int64)
            self._bounds = [self._farthest_of(r) for r in range(len(self))]
            heapq.heapify(self._bounds)
        while True:
            while (first := self._bounds[0][1]) not in self:
                heapq.heappop(self._bounds)
            self._work.values += len(self)
            self._work.agree()
            if (other := int(self._partner[first])) in self:
                self._work.grid_syncs += 1  # before a label changes
                return first, other
            self._loop.scan(len(self))
            self._work.agree()
            heapq.heapreplace(self._bounds, self._farthest_of(first))

    def _farthest_of(self, record: int) -> tuple[float, int]:
        other = super().farthest_from(self[record])
        if other == record:  # all that remain equal it
            other = int(np.setdiff1d(self._rest(), [record])[0])
        self._partner[record] = other
        difference = self[record] - self[other]
        return -float(np.cumsum(difference * difference)[-1]), record


def count_pairs(work: Work, n: int, d: int) -> None:
    """The farthest record of each: tiles of pairs, then the best of every row's lists."""
    host, kernels = _engine("pairwise"), _engine("pairwise_kernels")
    tile, share = kernels.TILE, kernels.SHARE
    rows = min(host.WORK // (n * d), host.ENTRIES // host.THREADS)
    rows = min(n, max(1, rows // tile) * tile)
    splits = min(tile, -(-host.BLOCKS // -(-rows // tile)), -(-n // tile))
    for _ in portions(n, host.WORK, lambda most: min(rows, max(1, most // (n * d * tile)) * tile)):
        work.launch(9, 2)
        work.waits += 1
    count_tiles(work, n, d, tile, 1)
    work.values += 2 * n * splits * share
    work.words += 2 * n * splits * share


def portions(total: int, most: int, size: Callable[[int], int]) -> Iterator[int]:
    """Portions of a total that launches take at a time, as `Pace` lets them on a fast device."""
    pace = _engine("launching").Pace(most)
    while total > 0:
        portion = min(total, max(1, size(pace.work)))
        total -= portion
        with pace:
            yield portion


def count_tiles(work: Work, n: int, d: int, tile: int, flops: int) -> None:
    """All pairs in tiles, whose last ones are not full; some flops for each pair besides."""
    full = -(-n // tile) * tile
    all_flops = full * full * SQUARE * d + n * n * flops
    values = full * full * 2 * d // tile
    work.distances += n * n
    work.flops += all_flops
    work.tile_flops += all_flops
    work.values += values
    work.tile_values += values


def count_prim(work: Work, n: int, d: int, item: int) -> None:
    """Prim's method: at every step one record fewer."""
    host = _engine("prim")
    each = n * (d + 1) * item // 2 + host.BYTES_PER_STEP  # on average
    for _ in portions(n - 1, host.BYTES_PER_LAUNCH, lambda most: most // each):
        work.launch(16)
        work.waits += 1
    work.held = max(work.held, n * (d + 1))
    work.scan(n * (n - 1) // 2, d, values=1)
    work.grid_syncs += n - 1
    work.reductions += 2 * (n - 1)
    work.removals += n - 1


def count_tree(work: Work, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The minimum spanning tree, by Boruvka's method or by Prim's as the engine chooses."""
    n, d = points.shape
    trees = import_module("benchmarks.cuda.trees")
    if n > 1:
        trees.count_build(work, n, d)
    try:
        with trees.counted(work):
            return _engine("mst").minimum_spanning_tree(np.ascontiguousarray(points))
    except trees.NoTree:
        count_prim(work, n, d, points.dtype.itemsize)
        return cpu.minimum_spanning_tree(points)


def count_cut(work: Work, edges: np.ndarray, lengths: np.ndarray, k: int) -> np.ndarray:
    """The cutting of a tree, on the device or by the host as the engine chooses."""
    with import_module("benchmarks.cuda.trees").counted(work):
        return _engine("cut").cut_edges(edges, lengths, len(edges) + 1, k)


@njit(cache=True, nogil=True)
def _advance(groups, tree, nodes, k, plain, small, live, enough, tally):
    """`ward_tree._advance`, which also counts steps, the groups compared with, and mergers."""
    work = 0.0
    while small and live > enough and work < BUDGET:
        i = groups.winner[1]
        j = groups.near[i]
        if groups.size[j] == groups.near_size[i]:
            i, j = min(i, j), max(i, j)
            small -= (groups.size[i] < k) + (groups.size[j] < k)
            ward_tree._merge(groups, tree, nodes, i, j, k)
            small += groups.size[i] < k
            live -= 1
            tally[2] += 1
        looked = ward_tree._find_nearest(groups, tree, nodes, i, k, plain)
        work += STEP + looked * groups.high.shape[1] * WIDTH
        ward_tree._compete(groups, i)
        tally[0] += 1
        tally[1] += live
    return small, live


def merge_lazily(work: Work, points: np.ndarray, labels: np.ndarray, k: int) -> None:
    """Ward's method on one problem by the CPU engine, its steps counted."""
    tally = np.zeros(3, dtype=np.int64)
    n, d = points.shape
    usual: Any = ward_tree._advance
    ward: Any = ward_tree
    try:
        ward._advance = lambda *arguments: _advance(*arguments, tally)
        ward_tree.merge_lazily(points, labels, k, None)
    finally:
        ward._advance = usual
    steps, compared, mergers = map(int, tally)
    work.held = max(work.held, n * (d + 3))
    most = _engine("prim").steps_per_launch(n * (d + 3) * points.dtype.itemsize)
    launches = sum(1 for _ in portions(steps, most, lambda steps: steps))
    work.scan(compared, d, values=2, words=1, flops=RISE)
    work.launch(17, launches)
    work.waits += launches
    work.grid_syncs += steps + launches
    work.reductions += 4 * steps
    work.removals += mergers
    work.kept += steps * d * CENTRE + mergers * (d + 1) * 3 * ADD


def ward_operations(work: Work, batches: Any = None) -> tuple[Callable[..., Any], ...]:
    """The two steps of k-Ward, which note what those of the CUDA engine would do."""
    wards: Any = import_module("benchmarks.cuda.wards")
    batches = batches or wards.Counts()

    def extreme_groups(points: Any, within: np.ndarray, k: int, descending: bool) -> np.ndarray:
        sizes = np.unique(within, return_counts=True)[1]
        if len(sizes) > 1:  # a block to a problem, all at once
            work.launch(2)
            work.launch(LOOP)
            work.scan(int((sizes**2).sum()), points.shape[1])
        else:
            with batches.away():
                records = Counted(points, Loop(work, points, k))
            pair = None
            if _engine("rounds").possible(points, 1):
                with wards.counted(work, batches):
                    pair = _engine("distant").most_distant_pair(points)
            if pair is None:
                count_pairs(work, *points.shape)
                with batches.away():
                    pair = 0.0, *cpu.PointSet(points).most_distant_pair()
            work.agree()
            work.grid_syncs += 1
            with batches.away():
                for record in pair[1:]:
                    records.take_gathered(record if record in records else records._rest()[0], k)
        with batches.away():
            return cpu.extreme_groups(points, within, k, descending)

    def merge_until_k(
        points: Any, labels: np.ndarray, within: np.ndarray, k: int, progress: Any = None
    ) -> np.ndarray:
        with batches.away():
            sizes = np.unique(within, return_counts=True)[1]
            groups = len(np.unique(labels))
        if len(sizes) > 1:
            work.launch(12)  # sum_up
            work.launch(17)
            work.scan(int((sizes**2).sum()), points.shape[1], flops=RISE)
            with batches.away():
                return cpu.merge_until_k(points, labels, within, k, progress)
        if not _engine("ward_rounds").possible(points, groups):
            return by_looks(points, labels, k)
        with wards.counted(work, batches), patch.object(_engine("ward"), "_merge_by_looks", rest):
            return _engine("ward").merge_until_k(points, labels, within, k, progress)

    def rest(points: Any, records: Any, labels: Any, within: Any, k: int, progress: Any) -> Any:
        every = np.empty_like(labels)
        every[records] = labels
        return by_looks(points, every, k)[records]

    def by_looks(points: Any, labels: np.ndarray, k: int) -> np.ndarray:
        """Ward's method on one problem by looks at all groups."""
        d = points.shape[1]
        work.launch(12)  # sum_up
        m = len(np.unique(labels))
        ward, tile = _engine("ward"), _engine("pairwise_kernels").TILE
        for _ in portions(
            -(-m // tile), ward.WORK, lambda most: max(ward.BLOCKS, most // (tile * m * d))
        ):
            work.launch(10)
            work.waits += 1
        count_tiles(work, m, d, tile, RISE)
        merged = labels.copy()
        merge_lazily(work, np.ascontiguousarray(points), merged, k)
        return merged

    return extreme_groups, merge_until_k


def dry_engine(work: Work, batches: Any = None) -> ModuleType:
    """The CPU engine's operations, which note what those of the CUDA engine would do.

    Parameters
    ----------
    work : Work
    batches : wards.Counts, optional
        What k-Ward in batches does is noted there too.
    """
    loops = ("mdav_groups", "vmdav_groups", "centroid_groups")  # these count step by step
    operations = {name: getattr(cpu, name) for name in cpu.__all__ if name not in loops}
    engine: Any = ModuleType("dry")
    vars(engine).update(operations)

    def steps(k: int, leftovers: str) -> Any:
        """An engine whose sets of records count what a loop on the device does."""
        counting: Any = ModuleType("steps")
        vars(counting).update(operations)
        counting.PointSet = lambda part: Counted(part, Loop(work, part, k, leftovers))
        return counting

    def minimum_spanning_tree(points: Any, progress: Any = None) -> Any:
        return count_tree(work, points)

    def cut_edges(edges: Any, lengths: Any, n: int, k: int) -> np.ndarray:
        return count_cut(work, edges, lengths, k)

    def mdav_groups(points: Any, k: int, within: Any = None, progress: Any = None) -> np.ndarray:
        if not _engine("rounds").possible(points, k):
            return mdav(points, k, engine=steps(k, ""))
        labels, rest, used = by_rounds(points, k, "mdav")
        if len(rest) >= 2 * k:  # left to a loop
            labels[rest] = used + mdav(points[rest], k, engine=steps(k, ""))
        labels[labels < 0] = used
        return labels

    def vmdav_groups(points: Any, k: int, gamma: float, progress: Any = None) -> np.ndarray:
        if not _engine("rounds").possible(points, k):
            work.launch(3)  # aim
            return vmdav(points, k, gamma=gamma, engine=steps(k, "records"))
        labels, rest, _ = by_rounds(points, k, "vmdav", gamma)
        work.launch(9, 2)
        if len(rest) >= k:  # left to a loop
            vmdav(points[rest], k, gamma=gamma, engine=steps(k, "records"))
        return cpu.vmdav_groups(points, k, gamma) if len(rest) else labels

    def by_rounds(
        points: Any, k: int, name: str, *options: float
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Labels, the records that are in no group, and how many groups there are."""
        with import_module("benchmarks.cuda.rounds").counted(work):
            outcome = getattr(_engine("rounds"), name)(np.ascontiguousarray(points), k, *options)
        return outcome.labels, np.flatnonzero(outcome.labels < 0), outcome.groups

    engine.mdav_groups = mdav_groups
    engine.vmdav_groups = vmdav_groups
    engine.centroid_groups = lambda points, k, gather, within=None, progress=None: centroid_groups(
        points, k, gather, steps(k, "groups"), within
    )
    engine.diameter_groups = lambda points, k, gather, within=None, progress=None: diameter_groups(
        points, k, gather, steps(k, "groups"), within
    )
    engine.minimum_spanning_tree = minimum_spanning_tree
    engine.cut_edges = cut_edges
    engine.extreme_groups, engine.merge_until_k = ward_operations(work, batches)
    return engine


def dry_run(points: np.ndarray, k: int, method: str, **options: Any) -> tuple[Work, np.ndarray]:
    """Run a method by an engine that counts; return what was counted, and the labels."""
    work = Work()
    return work, METHODS[method].function(points, k, engine=dry_engine(work), **options)


def _engine(module: str) -> Any:
    return import_module(f"microagg_gpu.kernels.cuda.{module}")
