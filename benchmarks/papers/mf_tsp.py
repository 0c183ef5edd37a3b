"""Our figures for the tables of the MF-TSP paper."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from microagg_gpu.data.labels import labels_from_groups
from microagg_gpu.datasets import toy
from microagg_gpu.kernels import engine_for
from microagg_gpu.measures import sse
from microagg_gpu.methods.tsp import groups_from_counts, path_counts

from .cells import Cell, Check, Status, compare
from .ours import Runs
from .printed import TABLES

K = 3
HEURISTIC = "the text does not say which heuristic finds the paths; ours is farthest insertion"
TOURS = "the tours are the authors'; ours are built by farthest insertion and a sweep of 2-opt"


def example() -> Iterator[Cell]:
    """The running example, Tables I to VIII."""
    companies = toy("companies")
    points = (companies - companies.mean(axis=0)) / companies.std(axis=0)
    yield from _by_company("MF-TSP Table I", companies)
    best = min(partitions(list(range(11)), K), key=lambda groups: _sse(points, groups))
    yield from _by_company("MF-TSP Table II", _centroids(companies, best))
    ours = engine_for(points).hamiltonian_paths(points)
    for name in ("MF-TSP Table III", "MF-TSP Table IV"):
        for row, (printed,) in TABLES[name].rows.items():
            path = ours[int(row.removeprefix("Com")) - 1]
            note = "made up to explain the idea" if name.endswith("III") else HEURISTIC
            if name.endswith("IV") and row in ("Com2", "Com4"):
                note = "not legible in our copy; the path shown is the one that fits Table V best"
            yield Cell(name, row, "path", printed, _names(path), "not determined", note)
    yield from _groups(companies, points)


def _groups(companies: np.ndarray, points: np.ndarray) -> Iterator[Cell]:
    """Tables V to VIII, from the printed paths of Table IV."""
    text = (path for (path,) in TABLES["MF-TSP Table IV"].rows.values())
    paths = np.array([path.split() for path in text], dtype=np.int64) - 1
    counts = path_counts(paths, K)
    table = TABLES["MF-TSP Table V"]
    for i, row in enumerate(table.rows):
        for j, column in enumerate(table.columns):
            printed = table.cell(row, column)
            if i == j:
                yield Cell(table.name, row, column, printed, "", "not comparable", "empty")
            else:
                yield compare(table.name, row, column, printed, [int(counts[i, j])])
    groups, leftovers = groups_from_counts(counts, K)
    yield from _group_cells("MF-TSP Table VI", [*groups, leftovers])
    engine_for(points).join_closest_groups(points, groups, leftovers)
    yield from _group_cells("MF-TSP Table VII", groups)
    yield from _by_company("MF-TSP Table VIII", _centroids(companies, groups))


def losses(runs: Runs) -> Iterator[Cell | Check]:
    """Table IX: losses on Census; those of MDAV and V-MDAV are 2006's (gamma 0 and 0.2)."""
    table = TABLES["MF-TSP Table IX"]
    methods = {
        "MDAV": ("vmdav", {"gamma": 0.0}),
        "V-MDAV": ("vmdav", {"gamma": 0.2}),
        "MF-TSP": ("tsp", {}),
    }
    for row, (method, options) in methods.items():
        for column in table.columns:
            k = int(column.removeprefix("k="))
            loss = runs("census", k, method, **options).loss
            cell = compare(table.name, row, column, table.cell(row, column), [loss])
            if method != "tsp":
                yield cell
                continue
            yield replace(cell, status="not determined", note=TOURS)
            statement = f"k={k}: MF-TSP loses no more than printed"
            detail = f"printed {cell.printed}, ours {loss:.3f}"
            yield Check(table.name, statement, loss <= float(cell.printed) + 0.005, detail)


def partitions(records: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions into groups of k to 2k - 1, by the group of the first record."""
    if not records:
        yield []
        return
    first, *others = records
    for size in range(k, min(2 * k - 1, len(records)) + 1):
        for chosen in combinations(others, size - 1):
            rest = [record for record in others if record not in chosen]
            for more in partitions(rest, k):
                yield [[first, *chosen], *more]


def _sse(points: np.ndarray, groups: list[list[int]]) -> float:
    return sse(points, labels_from_groups(groups, len(points)))


def _centroids(companies: np.ndarray, groups: list[list[int]]) -> np.ndarray:
    """Each company's row replaced by the centroid of its group."""
    protected = np.empty_like(companies)
    for group in groups:
        protected[group] = companies[group].mean(axis=0)
    return protected


def _by_company(name: str, ours: np.ndarray) -> Iterator[Cell]:
    table = TABLES[name]
    for row, values in zip(table.rows, ours.tolist(), strict=True):
        for column, value in zip(table.columns, values, strict=True):
            yield compare(name, row, column, table.cell(row, column), [value])


def _group_cells(name: str, groups: list[list[int]]) -> Iterator[Cell]:
    for (row, (printed,)), group in zip(TABLES[name].rows.items(), groups, strict=True):
        same = sorted(map(int, printed.split())) == sorted(i + 1 for i in group)
        note = "" if not same or printed == _names(group) else "in another order"
        status: Status = "match" if same else "differs"
        yield Cell(name, row, "records", printed, _names(group), status, note)


def _names(records: Iterable[int]) -> str:
    return " ".join(str(i + 1) for i in records)
