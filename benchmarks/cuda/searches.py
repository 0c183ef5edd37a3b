"""Spanning trees, lists of neighbours and record linkage: what they ask of a device, old and new.

Old is what the CUDA engine did before it had a search tree: Prim's method, linkage by array
expressions, and lists on the CPU. Of many records a part of the queries is answered and counted
for all (`trees.counted`); the rounds of a spanning tree cannot be taken in part, so for the largest
table those of the one before are taken, each record's as often as its lists took longer.
"""

from importlib import import_module
from time import process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numba import get_num_threads

from microagg_gpu.datasets import clusters, simulated
from microagg_gpu.kernels import cpu
from microagg_gpu.kernels.cpu import mst

from ..scaling.measure import standardized
from .budget import count_cut, count_prim, count_tree
from .work import SQUARE, Work

K = 4  # of mst
NEIGHBOURS = 16  # of each record, as annealing asks for
# Records, and how many of their queries one is answered of.
SIZES = {100_000: 1, 1_000_000: 8, 10_000_000: 128}
WHOLE = 1_000_000  # the most records of which a whole spanning tree is made


class Searches(NamedTuple):
    """What was counted for some records, by operation, and seconds of the CPU engine."""

    new: dict[str, Work]
    old: dict[str, Work]
    cpu: dict[str, float]


def table(n: int) -> np.ndarray:
    """Records of 10 variables, as `benchmarks.scaling` has them."""
    same = n == 100_000
    return standardized(simulated("SIM_13") if same else clusters(200, 10, 0.1, n // 200, n // 200))


def counted(n: int) -> Searches:
    """Count all operations on so many records; time the CPU engine where that is soon done."""
    points, every = table(n), SIZES[n]
    listed: Any = import_module("microagg_gpu.kernels.cuda.mst")
    new = _searched(points, every, listed.LISTED)
    old = {"mst": Work(), "nearest_records": Work()}
    count_prim(old["mst"], n, points.shape[1], points.dtype.itemsize)
    count_expressions(old["nearest_records"], n, points.shape[1])
    seconds = {}
    if n <= WHOLE:
        new["spanning tree"], new["cutting"] = Work(), Work()
        tree = count_tree(new["spanning tree"], points)
        count_cut(new["cutting"], *tree, K)
        new["mst"] = new["spanning tree"] + new["cutting"]
        seconds = _timed(points)
    return Searches(new, old, seconds)


def _searched(points: np.ndarray, every: int, listed: int) -> dict[str, Work]:
    """Lists of neighbours, those of a spanning tree, and linkage, all by one tree.

    Linkage is that of a release of groups of three: each query is the mean of a record and the two
    nearest, and the queries come in the order of the records' tree.
    """
    boxes: Any = import_module("microagg_gpu.kernels.cuda.boxes")
    search: Any = import_module("microagg_gpu.kernels.cuda.search")
    single: Any = import_module("microagg_gpu.kernels.cuda.single")
    trees: Any = import_module("benchmarks.cuda.trees")
    n, d = points.shape
    with trees.building():
        tree = boxes.build(points)
    works, near = {}, np.zeros((n, NEIGHBOURS), dtype=np.int64)
    for name, m in (("lists of mst", listed), ("neighbours", NEIGHBOURS)):
        work = works[name] = Work()
        trees.count_build(work, n, d)
        squares = np.empty((n, m))
        with trees.counted(work, every):
            flat = single.flattened(tree)
            for first, last in search.portions(search.groups_in(flat)):
                search.fill_rows(flat, first, last, squares, near[:, :m])
    queries = (points + points[near[:, 0]] + points[near[:, 1]]) / 3
    work = works["nearest_records"] = Work()
    for _ in range(2):  # of the points and of the queries
        trees.count_build(work, n, d)
    order = tree.record.reshape(-1)
    found = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    kernels: Any = import_module("microagg_gpu.kernels.cuda.search_kernels")
    with trees.counted(work, every):
        for first, last in search.portions(n):
            search.launch(kernels.nearest_points, 1, tree, queries, order, first, last, *found)
            search.read_number(found[2][0])
    return works


def count_expressions(work: Work, n: int, d: int) -> None:
    """Record linkage by array expressions: all pairs, tile by tile, several passes a variable.

    The difference, its square and the sum are written and read again.
    """
    work.expressions += (5 * d + 6) * -(-n * n // 2**22)
    work.distances += n * n
    work.flops += n * n * SQUARE * d
    work.values += n * n * (6 * d + 4)


def _timed(points: np.ndarray) -> dict[str, float]:
    """Seconds of the CPU engine on all its cores: the time of all, so other work does not count."""
    _, near = cpu.neighbours(points[:1000], 2)
    cpu.nearest_records(points[:1000], points[:1000])  # compiled
    seconds = {}
    begun = process_time()
    _, near = cpu.neighbours(points, NEIGHBOURS)
    seconds["neighbours"] = (process_time() - begun) / get_num_threads()
    queries = (points + points[near[:, 0]] + points[near[:, 1]]) / 3
    begun = process_time()
    cpu.nearest_records(points, queries)
    seconds["nearest_records"] = (process_time() - begun) / get_num_threads()
    return seconds | tree_seconds(points)


def tree_seconds(points: np.ndarray) -> dict[str, float]:
    """Seconds of the CPU engine for a spanning tree, and of one core for cutting it.

    What all cores do together counts as if it were divided evenly, the rest as it is.
    """
    together = 0.0
    usual: Any = mst.on_all_cores

    def timed(*given: Any) -> Any:
        nonlocal together
        begun = process_time()
        try:
            return usual(*given)
        finally:
            together += process_time() - begun

    with patch.object(mst, "on_all_cores", timed):
        for records in (points[:1000], points):  # first to compile
            together, begun = 0.0, process_time()
            edges, lengths = cpu.minimum_spanning_tree(records)
            tree = process_time() - begun - together + together / get_num_threads()
            begun = process_time()
            cpu.cut_edges(edges, lengths, len(records), K)
            cutting = process_time() - begun
    return {"spanning tree": tree, "cutting": cutting, "mst": tree + cutting}


def estimated(large: Searches, whole: Searches, name: str) -> Work:
    """A spanning tree of more records, and its cutting: its lists counted, the rest estimated."""
    lists, before = large.new["lists of mst"], whole.new["lists of mst"]
    rounds = whole.new["spanning tree"] + before.times(-1)
    estimate = lists + rounds.times(lists.distances / before.distances)
    cutting = whole.new["cutting"]
    if name == "mst":
        estimate += cutting.times(lists.held / before.held)
    for what in ("launches", "arguments", "expressions", "waits"):  # not more for more records
        parts = [lists, rounds, *([cutting] if name == "mst" else [])]
        setattr(estimate, what, sum(getattr(part, what) for part in parts))
    estimate.held = lists.held
    return estimate
