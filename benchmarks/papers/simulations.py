"""Tables 1 to 8 of 2005 on data simulated as its section 4.1 says: figures similar, not equal."""

from collections.abc import Iterator

import numpy as np

from microagg_gpu import measures, microaggregate
from microagg_gpu.datasets import clusters, simulated

from .cells import Cell, Check, Status, compare, numbers, show
from .ours import METHODS_2005
from .printed import TABLES

QUICK_CLUSTERS = 40
NOTE = "random data"


def draw(name: str, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """A data set and its true clusters; with `quick` of 40 clusters instead of 200."""
    if not quick:
        return simulated(name, labels=True)
    number = int(name.removeprefix("SIM_"))
    if name in (few := TABLES["2005 Table 4"]).columns:
        y = int(few.cell("y", name))
        return clusters(QUICK_CLUSTERS, 10, 0.01, y, y, seed=number, labels=True)
    sigma = float(TABLES["2005 Table 1"].cell("sigma", name))
    return clusters(QUICK_CLUSTERS, 10, sigma, 10, 100, seed=number, labels=True)


def _random(table: str, row: str, column: str, value: float) -> Cell:
    printed = TABLES[table].cell(row, column)
    return Cell(table, row, column, printed, show(value, numbers(printed)[0]), "random", NOTE)


def parameters() -> Iterator[Cell]:
    """2005 Tables 1 to 4: what the simulated data sets are made of."""
    for name in TABLES["2005 Table 1"].columns:
        data, truth = simulated(name, labels=True)
        spread = np.sqrt(measures.sse(data, truth) / (data.size - 200 * data.shape[1]))
        printed = TABLES["2005 Table 1"].cell("sigma", name)
        # Four times the standard error of a standard deviation from so many values.
        near = abs(spread / float(printed) - 1) < 4 / np.sqrt(2 * data.size)
        ours = show(float(spread), numbers(printed)[0])
        status: Status = "match" if near else "differs"
        note = "measured within the clusters, equal but for chance"
        yield Cell("2005 Table 1", "sigma", name, printed, ours, status, note)
        yield _random("2005 Table 1", "n", name, len(data))
    for number, row, count in (
        (2, "n", lambda data: data.shape[0]),
        (3, "d", lambda data: data.shape[1]),
        (4, "y", lambda data: data.shape[0] // 200),
    ):
        table = TABLES[f"2005 Table {number}"]
        for name in table.columns:
            ours = count(simulated(name))
            yield compare(table.name, row, name, table.cell(row, name), [ours])


def losses(name: str, k: int, quick: bool = False) -> Iterator[Cell]:
    """The column of a simulated data set in 2005 Table 5 and 6, 7 (k=4) or 8 (k=4)."""
    data, truth = draw(name, quick)
    loss = {}
    for row, (method, options) in METHODS_2005.items():
        result = microaggregate(data, k=k, method=method, **options)
        loss[row] = result.loss
        if name == "SIM_1":
            yield _random("2005 Table 5", f"k={k} {row}", name, result.loss)
        if name == "SIM_1" and row == "M":
            share, size = measures.oversized(result.labels, k)
            yield _random("2005 Table 6", f"k={k} share", name, share)
            yield _random("2005 Table 6", f"k={k} size", name, size)
    if k != 4:
        return
    seventh = name in TABLES["2005 Table 7"].columns
    table = "2005 Table 7" if seventh else "2005 Table 8"
    for row, value in loss.items():
        yield _random(table, row, name, value)
    if seventh:
        yield _random(table, "UB", name, upper_bound(data, truth, k))
    else:
        ratio = min(loss["D"], loss["C"]) / min(loss["M-d"], loss["M-c"])
        yield _random(table, "ratio", name, ratio)


def upper_bound(data: np.ndarray, truth: np.ndarray, k: int) -> float:
    """Loss of the true clusters partitioned by D or C, whichever is better (row UB)."""
    points = (data - data.mean(axis=0)) / data.std(axis=0)
    within = [
        sum(
            microaggregate(points[truth == i], k=k, method=method, standardize=False).sse
            for i in range(truth[-1] + 1)
        )
        for method in ("diameter", "centroid")
    ]
    return 100 * min(within) / measures.sst(points)


def checks(cells: list[Cell]) -> Iterator[Check]:
    """The statements of 2005 section 4.3 about Tables 6, 7 and 8, for our figures."""

    def ours(table: str, row: str, column: str) -> float:
        (text,) = (c.ours for c in cells if (c.table, c.row, c.column) == (table, row, column))
        return float(text.rstrip("%"))

    for k in (3, 4, 5, 10):
        simulated_share, *real = (
            ours("2005 Table 6", f"k={k} share", name) for name in ("SIM_1", "Tarragona", "Census")
        )
        yield Check(
            "2005 Table 6",
            f"same ordering, k={k}: more oversized groups in SIM_1 than in the reference files",
            simulated_share > max(real),
            f"{simulated_share:.1f} against {max(real):.1f}",
        )
    table = TABLES["2005 Table 7"]
    for name in table.columns:
        sigma = float(TABLES["2005 Table 1"].cell("sigma", name))
        printed_ratio = _ratio({row: float(table.cell(row, name)) for row in METHODS_2005})
        ratio = _ratio({row: ours(table.name, row, name) for row in METHODS_2005})
        same = (ratio > 1) == (printed_ratio > 1)
        better = "MST methods" if printed_ratio > 1 else "fixed-size methods"
        detail = f"best fixed-size / best MST: printed {printed_ratio:.2f}, ours {ratio:.2f}"
        yield Check(table.name, f"same ordering, sigma={sigma}: {better} lose less", same, detail)
        if name == "SIM_1":
            near = printed_ratio / 2 < ratio < printed_ratio * 2
            yield Check(
                table.name, "same size, sigma=0.01: about 37, within a factor 2", near, detail
            )
    table = TABLES["2005 Table 8"]
    for name in table.columns:
        y, ratio = int(TABLES["2005 Table 4"].cell("y", name)), ours(table.name, "ratio", name)
        detail = f"printed {table.cell('ratio', name)}, ours {ratio:.3f}"
        if y % 4:
            yield Check(table.name, f"same size, y={y}: a ratio over 100", ratio > 100, detail)
        else:
            near = 0.8 < ratio < 1.25
            yield Check(table.name, f"same size, y={y}, a multiple of k: about 1", near, detail)


def _ratio(loss: dict[str, float]) -> float:
    """Loss of the best fixed-size method by that of the best MST method."""
    return min(loss["D"], loss["C"]) / min(loss["M"], loss["M-d"], loss["M-c"])
