"""The experiments of Laszlo and Mukherjee (2005), section 4: what they vary, and their data."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from microagg_gpu import InputError
from microagg_gpu.datasets import clusters, simulated

from ..papers.ours import METHODS_2005
from ..papers.printed import TABLES

Row = dict[str, Any]
UB = "UB"  # the true clusters partitioned by D or C: a row of Table 7
CLUSTERS = 200
SIZES = (10, 100)  # of clusters, where they differ: 55 on average
KINDS: dict[str, type] = {"n": int, "y": int, "d": int, "sigma": float, "k": int}
PRINTED = {
    "separation": "2005 Table 7",
    "size": "2005 Table 9",
    "dimension": "2005 Table 10",
    "points": "2005 Table 8",
}
# What is measured of M, and the rows of its printed times.
PHASES = {
    "size": {
        "seconds": "Total time",
        "tree_seconds": "Prim's method",
        "cut_seconds": "Edge cutting",
    },
    "dimension": {"seconds": "Time (seconds)"},
}
PRINTED_K = 4


def _printed(table: str, row: str) -> tuple[Any, ...]:
    return tuple(KINDS[row](text) for text in TABLES[table].rows[row])


@dataclass(frozen=True)
class Experiment:
    """What is varied and what is held, as in the paper and in the small set."""

    title: str
    varied: str
    names: str  # the printed table that names the data sets
    full: dict[str, tuple[Any, ...]]
    small: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    other_k: tuple[int, ...] = ()  # of the first data set only
    methods: tuple[str, ...] = tuple(METHODS_2005)
    seeds: tuple[int, int] = (3, 5)  # of the small set and the full one
    repeat: int = 1


EXPERIMENTS = {
    "separation": Experiment(
        "Tables 5 to 7: loss as clusters overlap more and more", "sigma", "2005 Table 1",
        {"n": (55 * CLUSTERS,), "d": (10,), "sigma": _printed("2005 Table 1", "sigma"), "k": (4,)},
        other_k=(3, 5, 10), methods=(*METHODS_2005, UB),
    ),
    "size": Experiment(
        "Table 9: time with the number of records", "n", "2005 Table 2",
        {"n": _printed("2005 Table 2", "n"), "d": (10,), "sigma": (0.1,), "k": (4,)},
        {"n": (5_000, 10_000, 20_000, 40_000)}, seeds=(1, 3), repeat=3,
    ),
    "dimension": Experiment(
        "Table 10: time with the number of variables", "d", "2005 Table 3",
        {"n": (10_000,), "d": _printed("2005 Table 3", "d"), "sigma": (0.1,), "k": (4,)},
        {"n": (4_000,)}, seeds=(1, 3), repeat=3,
    ),
    "points": Experiment(
        "Table 8: loss with the number of points per cluster", "y", "2005 Table 4",
        {"y": _printed("2005 Table 4", "y"), "d": (10,), "sigma": (0.01,), "k": (4,)},
    ),
}  # fmt: skip


def sim_name(case: Row) -> str:
    """SIM_1 ... SIM_29 if the case has its parameters; else empty."""
    experiment = EXPERIMENTS[case["experiment"]]
    if any(case[name] not in values for name, values in experiment.full.items() if name != "k"):
        return ""
    place = experiment.full[experiment.varied].index(case[experiment.varied])
    return TABLES[experiment.names].columns[place]


def draw(case: Row, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The records of a case and their true clusters."""
    if name := sim_name(case):
        return simulated(name, seed, labels=True)
    count, low, high = CLUSTERS, *SIZES
    if case["experiment"] == "separation":
        count = round(case["n"] / (sum(SIZES) / 2))
    elif case["experiment"] == "points":
        low = high = case["y"]
    else:
        low = high = case["n"] // CLUSTERS
        if low * CLUSTERS != case["n"]:
            raise InputError(
                f"n is {case['n']}; there are {CLUSTERS} clusters of the same size, so it must be "
                f"a multiple of {CLUSTERS}."
            )
    return clusters(count, case["d"], case["sigma"], low, high, seed=seed, labels=True)


class Curves:
    """Measurements that differ in the varied parameter, the method and the seed only."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.name: str = rows[0]["experiment"]
        self.k: int = rows[0]["k"]
        self.experiment = EXPERIMENTS[self.name]
        self.varied = self.experiment.varied
        self.xs = sorted({row[self.varied] for row in rows})
        found = dict.fromkeys(row["method"] for row in rows)
        usual = [name for name in (*METHODS_2005, UB) if name in found]
        self.methods = [*usual, *(name for name in found if name not in usual)]
        self.timed = self.name in PHASES

    def values(self, method: str, x: float, what: str = "loss") -> list[float]:
        """What was measured with each seed."""
        return [
            row[what]
            for row in self.rows
            if row["method"] == method and row[self.varied] == x and what in row
        ]

    def middle(self, method: str, x: float, what: str = "loss") -> float:
        """The median over seeds; not a number if there is none."""
        return median(self.values(method, x, what) or [math.nan])

    def curve(self, method: str, what: str = "loss") -> tuple[list[float], list[list[float]]]:
        """The varied values for which there are measurements, and these."""
        xs = [x for x in self.xs if self.values(method, x, what)]
        return xs, [self.values(method, x, what) for x in xs]

    def growth(self, method: str, what: str = "seconds") -> float:
        """The power of the varied parameter that fits the medians."""
        xs, values = self.curve(method, what)
        return power(xs, [median(one) for one in values])

    def printed(self, row: str) -> dict[float, str]:
        """A printed row by the varied value; empty if its data were of another kind."""
        printed = TABLES[PRINTED[self.name]]
        held = self.experiment.full
        same = all(
            self.rows[0][name] in held[name] for name in ("d", "sigma") if name != self.varied
        )
        if self.k != PRINTED_K or not same or row not in printed.rows:
            return {}
        return dict(zip(held[self.varied], printed.rows[row], strict=True))

    def label(self, x: float) -> str:
        """A value of the varied parameter, with its name."""
        return f"{self.varied} = {shown(x)}"

    def setting(self) -> str:
        """What is held, and where it was measured."""
        first = self.rows[0]
        held = [
            f"{name} = {shown(first[name])}"
            for name in KINDS
            if name in first and name != self.varied
        ]
        return f"{', '.join(held)}; {first['engine']} engine, {first['machine']}"


def shown(x: float) -> str:
    """A value of a parameter as text."""
    return f"{x:,}" if isinstance(x, int) else f"{x:g}"


def power(xs: Iterable[float], ys: Iterable[float]) -> float:
    """The exponent of the power law that fits best, by least squares of logarithms."""
    xs, ys = list(xs), list(ys)
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0]) if len(xs) > 1 else math.nan


def printed_power(printed: dict[float, str]) -> float:
    """The same of a printed row."""
    return power(printed, map(float, printed.values()))


def settings(rows: list[Row], name: str) -> Iterator[list[Curves]]:
    """The curves of an experiment: a list for each setting, of one for each k."""
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    held = [p for p in KINDS if p not in ("k", EXPERIMENTS[name].varied)]
    for row in rows:
        if row["experiment"] == name:
            group = tuple(row.get(p) for p in (*held, "engine", "machine"))
            groups.setdefault(group, {}).setdefault(row["k"], []).append(row)
    for by_k in groups.values():
        yield [Curves(by_k[k]) for k in sorted(by_k)]
