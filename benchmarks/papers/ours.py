"""Our figures for the tables of the five papers: functions that yield a `Cell` for each.

Each takes a `Runs`, which holds the data and what was computed in this run; nothing is kept
between runs. The simulated data sets of 2005 are in `simulations`.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from microagg_gpu import Result, measures, microaggregate
from microagg_gpu.datasets import fetch

from ..common import data_home
from .cells import Cell, Check, compare, numbers, show
from .printed import TABLES

# 1999 Tables 2 and 3 print V7 ... V11 in another order than the text's list of names.
ROWS_1999 = (0, 1, 2, 3, 4, 5, 8, 10, 7, 6, 9, 11, 12)
BOTH = ({"descending": False}, {"descending": True})
VARIABLES = tuple({"variable": j, **way} for j in range(13) for way in BOTH)
GENETIC = {"A": "average", "M": "maximal"}
NOT_AVAILABLE = "data not available"
CHOICES = "each step 1 chooses one of two extreme records; ours: the lower, or the higher, always"


def missing_files(home: Path) -> list[str]:
    """The reference files that a directory lacks."""
    files = {"tarragona": "Tarragona", "census": "CASCrefmicrodata", "eia": "EIA"}
    return [
        f"{name}.csv"
        for name, rda in files.items()
        if not (home / f"{name}.csv").is_file() and not (home / f"{rda}.rda").is_file()
    ]


class Runs:
    """The reference data, and the results of methods on them."""

    def __init__(self, home: Path | None = None) -> None:
        self._home = home or data_home()
        self._data: dict[str, np.ndarray] = {}
        self._results: dict[tuple[Any, ...], Result] = {}

    def data(self, name: str) -> np.ndarray:
        """A reference file as a matrix."""
        if name not in self._data:
            self._data[name] = fetch(name, self._home).data
        return self._data[name]

    def __call__(self, name: str, k: int, method: str, **options: Any) -> Result:
        """Run a method, once."""
        key = (name, k, method, *sorted(options.items()))
        if key not in self._results:
            self._results[key] = microaggregate(self.data(name), k=k, method=method, **options)
        return self._results[key]

    def tarragona(self, row: str, k: int) -> list[Result]:
        """All runs that a row of the 1999 or 2002 tables stands for."""
        method, options, variants = METHODS[row]
        return [self("tarragona", k, method, **options, **variant) for variant in variants]

    def best(self, row: str, k: int) -> Result:
        """The run with the lowest loss, which Tables 2 to 4 describe."""
        return min(self.tarragona(row, k), key=lambda result: result.loss)


def _methods() -> dict[str, tuple[str, dict[str, Any], Sequence[dict[str, Any]]]]:
    """Rows of the 1999 and 2002 tables: method, options and the variants they cover."""
    rows: dict[str, tuple[str, dict[str, Any], Sequence[dict[str, Any]]]] = {}
    for axis in ("FPC", "SZ", "PV"):
        variants = VARIABLES if axis == "PV" else BOTH
        project, rank = {"projection": axis.lower()}, {"ranking": axis.lower()}
        rows[f"FS_{axis}"] = rows[f"PF({axis})"] = ("projection", project, variants)
        rows[f"Pk-W({axis})"] = ("projection", {**project, "inner": "kward"}, variants)
        rows[f"MWA_{axis}"] = rows[f"Uk-W({axis})"] = ("kward", rank, variants)
    rows["MWA_MD"] = rows["Uk-W(MD)"] = ("kward", {"ranking": "md"}, BOTH)
    rows["UF"] = ("diameter", {}, ({},))
    rows["FS_I"] = ("individual", {"inner": "fixed", "remainder": "last"}, ({},))
    rows["F"] = ("individual", {"inner": "fixed"}, ({},))
    rows["MWA_I"] = rows["k-W"] = ("individual", {"inner": "kward"}, ({},))
    rows["optimum"] = ("individual", {"inner": "optimal"}, ({},))
    for name, fitness in GENETIC.items():
        rows[name] = ("individual", {"inner": "genetic", "convergence": fitness}, ({},))
    return rows


METHODS = _methods()


def _sizes(columns: Iterable[str]) -> list[int]:
    """The k that column names like "k=3 F" speak of."""
    return [int(column.split()[0].removeprefix("k=")) for column in columns]


def loss_table(runs: Runs, name: str) -> Iterator[Cell]:
    """1999 Table 1 and 2002 Table 3: losses, both directions, or ranges over variables."""
    table = TABLES[name]
    for row, cells in table.rows.items():
        for column, k, printed in zip(table.columns, _sizes(table.columns), cells, strict=True):
            losses = [result.loss for result in runs.tarragona(row, k)]
            if "PV" in row or "MD" in row:
                losses = [min(losses), max(losses)]
            cell = compare(name, row, column, printed, losses)
            if "MD" in row and cell.status == "differs":
                cell = _open(cell, losses)
            yield cell


def _open(cell: Cell, losses: list[float]) -> Cell:
    low, high = numbers(cell.printed)
    inside = all(float(low) - 0.005 <= loss <= float(high) + 0.005 for loss in losses)
    note = f"{CHOICES}; inside the printed range: {'yes' if inside else 'no'}"
    return Cell(cell.table, cell.row, cell.column, cell.printed, cell.ours, "not determined", note)


def deviations_1999(runs: Runs) -> Iterator[Cell]:
    """1999 Table 2: standard deviations after protection."""
    original = runs.data("tarragona")
    for column in TABLES["1999 Table 2"].columns:
        protected = original if column == "Orig." else runs.best(column, 3).protected
        ours = measures.standard_deviations(original, protected)
        yield from _by_variable("1999 Table 2", column, ours)


def components_1999(runs: Runs) -> Iterator[Cell]:
    """1999 Table 3: weights on the first principal component and their changes."""
    original = runs.data("tarragona")
    name = "1999 Table 3, weights"
    for column in TABLES[name].columns:
        protected = original if column == "Orig." else runs.best(column, 3).protected
        weights, percent = measures.first_component(protected)
        yield from _by_variable(name, column, weights)
        yield compare(name, "%", column, TABLES[name].cell("%", column), [percent])
        if column != "Orig.":
            changes = measures.weight_changes(original, protected)
            yield from _by_variable("1999 Table 3, changes", column, changes)


def _by_variable(name: str, column: str, ours: np.ndarray) -> Iterator[Cell]:
    for j, value in enumerate(ours[list(ROWS_1999)].tolist()):
        row = f"V{j + 1}"
        yield compare(name, row, column, TABLES[name].cell(row, column), [value])


def correlations_1999(runs: Runs) -> Iterator[Cell]:
    """1999 Table 4: mean and standard deviation (n - 1) of discrepancies of correlations."""
    original = runs.data("tarragona")
    table = TABLES["1999 Table 4"]
    for row, cells in table.rows.items():
        protected = runs.best(row, 3).protected
        ours = measures.correlation_discrepancies(original, protected, ddof=1)
        for column, printed, value in zip(table.columns, cells, ours, strict=True):
            yield compare(table.name, row, column, printed, [value])


def univariate_2002(runs: Runs) -> Iterator[Cell | Check]:
    """2002 Table 1: loss of each variable by itself."""
    table, original = TABLES["2002 Table 1"], runs.data("tarragona")
    below = []
    for column, k in zip(table.columns, _sizes(table.columns), strict=True):
        method = column.split()[1]
        for j, row in enumerate(table.rows):

            def loss(method: str, k: int = k, j: int = j) -> float:
                labels = runs.best(method, k).labels[:, j]
                return measures.information_loss(original[:, j], labels)

            printed = table.cell(row, column)
            if method not in GENETIC:
                yield compare(table.name, row, column, printed, [loss(method)])
                continue
            optimum, ours, fixed = loss("optimum"), loss(method), loss("F")
            within = optimum - 1e-9 <= ours <= fixed + 1e-9
            note = f"random method; ours from the optimum to F: {'yes' if within else 'no'}"
            like = numbers(printed)[0]
            yield Cell(table.name, row, column, printed, show(ours, like), "random", note)
            below.append(float(like) + 0.005 < optimum)
    detail = f"{len(below) - sum(below)} of {len(below)} printed figures of A and M"
    yield Check(table.name, "the optimum is never above A or M", not any(below), detail)


def structure_2002(runs: Runs, name: str) -> Iterator[Cell]:
    """2002 Tables 2 and 4: correlations and first principal component.

    The standard deviation of the discrepancies divides by n in Table 2, by n - 1 in Table 4.
    """
    table, original = TABLES[name], runs.data("tarragona")
    ddof = 0 if name == "2002 Table 2" else 1
    for row in table.rows:
        for k in (3, 4):
            protected = runs.best(row, k).protected
            ours = (
                *measures.correlation_discrepancies(original, protected, ddof=ddof),
                measures.mean_weight_change(original, protected),
                measures.first_component(protected).percent,
            )
            for measure, value in zip(("dr", "s", "dW", "%FPC"), ours, strict=True):
                column = f"k={k} {measure}"
                printed = table.cell(row, column)
                if row in GENETIC:
                    text = show(value, numbers(printed)[0])
                    yield Cell(name, row, column, printed, text, "random", "random method")
                else:
                    yield compare(name, row, column, printed, [value])


METHODS_2005: dict[str, tuple[str, dict[str, Any]]] = {
    "D": ("diameter", {}),
    "C": ("centroid", {}),
    "M": ("mst", {}),
    "M-d": ("mst", {"split": "diameter"}),
    "M-c": ("mst", {"split": "centroid"}),
}


def reference_2005(runs: Runs, data: str) -> Iterator[Cell]:
    """2005 Tables 5 and 6, the columns of the reference files."""
    for row, k in zip(rows := TABLES["2005 Table 5"].rows, _sizes(rows), strict=True):
        method, options = METHODS_2005[row.split()[1]]
        printed = TABLES["2005 Table 5"].cell(row, data)
        loss = runs(data.lower(), k, method, **options).loss
        yield compare("2005 Table 5", row, data, printed, [loss])
    for row, k in zip(rows := TABLES["2005 Table 6"].rows, _sizes(rows), strict=True):
        share, size = measures.oversized(runs(data.lower(), k, "mst").labels, k)
        printed = TABLES["2005 Table 6"].cell(row, data)
        value = share if row.endswith("share") else size
        yield compare("2005 Table 6", row, data, printed, [value])


def counts_2005() -> Iterator[Cell]:
    """2005 Table 11: numbers of partitions, exact."""
    table = TABLES["2005 Table 11"]
    for row in table.rows:
        for column, k in zip(table.columns, _sizes(table.columns), strict=True):
            ours = measures.count_partitions(int(row.removeprefix("n=")), k)
            yield compare(table.name, row, column, table.cell(row, column), [ours])


def vmdav_2006(runs: Runs) -> Iterator[Cell]:
    """2006 Table 1: "MDAV" is V-MDAV with gamma 0, as section 3 says of it."""
    kinds, losses = TABLES["2006 Table 1, type"], TABLES["2006 Table 1, loss"]
    for row in losses.rows:
        data, method = row.rsplit(" ", 1)
        for column, k in zip(losses.columns, _sizes(losses.columns), strict=True):
            printed = losses.cell(row, column)
            if data.startswith("Synthetic"):
                note = "data not published"
                yield Cell(losses.name, row, column, printed, "", "not determined", note)
                continue
            gamma = {"S": 0.2, "C": 1.1}[kinds.cell(data, column)] if method == "V-MDAV" else 0.0
            loss = runs(data.lower(), k, "vmdav", gamma=gamma).loss
            yield compare(losses.name, row, column, printed, [loss])


def without_ours() -> Iterator[Cell]:
    """Cells for which nothing can be computed here."""
    for name, column, note in (
        ("2005 Table 5", "Creta", NOT_AVAILABLE),
        ("2005 Table 6", "Creta", NOT_AVAILABLE),
    ):
        for row in TABLES[name].rows:
            printed = TABLES[name].cell(row, column)
            yield Cell(name, row, column, printed, "", "not determined", note)
    for name in ("2005 Table 9", "2005 Table 10"):
        yield from _whole(name, "not comparable", "time on other hardware (2.5 GHz Pentium 4)")
    yield from _whole("2006 Table 1, type", "not determined", "the authors' judgement; sets gamma")


def _whole(name: str, status: Any, note: str) -> Iterator[Cell]:
    table = TABLES[name]
    for row, cells in table.rows.items():
        for column, printed in zip(table.columns, cells, strict=True):
            yield Cell(name, row, column, printed, "", status, note)
