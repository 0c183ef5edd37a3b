"""Every public function with arguments that work: what `junk` changes, one after the other."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import microagg_gpu as m
from microagg_gpu import measures, plots, report
from microagg_gpu.methods import METHODS

with suppress(ImportError):
    import pandas as pd

RNG = np.random.default_rng(1)
DATA = RNG.normal(size=(12, 2))
LABELS = np.repeat(np.arange(4), 3)
TEXTS = list("xyz") * 4
TABLE = {"a": DATA[:, 0], "b": DATA[:, 1], "c": TEXTS, "s": [1, 2] * 6}


class Target(NamedTuple):
    """A public function with arguments that work, all of them by name."""

    name: str
    function: Callable[..., Any]
    given: dict[str, Any]
    allowed: tuple[type[Exception], ...] = ()  # beside InputError


def targets(folder: Path) -> list[Target]:
    """Every public function; files are written into a folder."""
    result, rows = m.microaggregate(DATA, 3), m.compare(DATA, 3, "mdav")
    return [
        *_of_tables(),
        *_of_methods(),
        *_of_results(folder, result, rows),
        *_of_measures(result),
        *_of_reports(folder, result, rows),
        *_of_datasets(folder),
        *_inside(frames()[-1], rows, result),
        *_estimators(),
        *_on_clusters(),
    ]


def frames() -> list[Any]:
    """The same table in each library that is there."""
    made: list[Any] = []
    with suppress(NameError):
        made.append(pd.DataFrame(TABLE))
    with suppress(ImportError):
        import polars as pl

        made.append(pl.DataFrame(TABLE))
    import pyarrow as pa

    return [*made, pa.table(TABLE)]


def _of_tables() -> list[Target]:
    roles: dict[str, Any] = {
        "data": DATA, "k": 3, "columns": [0, 1], "standardize": True,
        "variable_weights": [1.0, 2.0],
        "device": "auto", "engine": None, "seed": 0, "by": None, "sampling_weight": None,
        "missing": "error", "small_strata": "error", "aggregate": "mean", "keep_integers": False,
    }  # fmt: skip
    categories: dict[str, Any] = {"ordinal": (), "nominal": ()}
    one: dict[str, Any] = {
        "method": "mdav", "precision": "double", "progress": None, "watch": None, "refine": None,
        "dominance": (1, 85), "p_percent": 10, "unrepaired": "keep",
        "scale": "standard", "trim": 0.2, "shuffle": True,
        "sensitive": None, "t": None, "t_method": "auto",
    }  # fmt: skip
    named = {
        "columns": ["a", "b"], "by": ["s"], "nominal": ["c"], "variable_weights": None,
        "dominance": None, "p_percent": None,
    }  # fmt: skip
    groups = {"labels": LABELS, "seconds": None, "steps": 2, "watch": None}
    several = {"methods": ["mdav"], "progress": None, "refine": None}
    return [
        Target("microaggregate", m.microaggregate, roles | categories | one | {"refine_steps": 2}),
        *[
            Target(
                f"microaggregate of {type(frame).__module__.partition('.')[0]}",
                m.microaggregate,
                roles | categories | one | named | {"data": frame},
            )
            for frame in frames()
        ],
        Target(
            "microaggregate in blocks",
            m.microaggregate,
            {"data": DATA, "k": 3, "blocks": [[0], [1]], "scale": "log"},
        ),
        Target(
            "microaggregate of units",
            m.microaggregate,
            {"data": DATA, "k": 1, "columns": [0], "unit": [1]},
        ),
        Target(
            "suggest_blocks",
            m.suggest_blocks,
            {"data": DATA, "columns": [0, 1], "correlation": 0.5, "count": 1},
        ),
        Target("refine", m.refine, roles | groups),
        Target("compare", m.compare, roles | categories | several),
    ]


def _of_methods() -> list[Target]:
    """The options of each method, and those of methods inside of others."""
    runs: list[tuple[str, dict[str, Any]]] = [(name, _options(name)) for name in METHODS]
    runs += [
        (outer, {"inner": inner} | _options(inner))
        for outer in ("individual", "projection")
        for inner in ("fixed", "kward", "optimal", "genetic")
    ]

    def run(method: str, **options: Any) -> Any:
        values = DATA[:, :1] if METHODS[method].univariate else DATA
        return m.microaggregate(values, 3, method, **options)

    return [
        Target(f"microaggregate by {' '.join([name, *options.get('inner', '').split()])}",
               lambda method=name, **given: run(method, **given), options)
        for name, options in runs
        if options
    ]  # fmt: skip


def _options(method: str) -> dict[str, Any]:
    """The options of a method, with values that take no time."""
    quick = {"seconds": 0.01, "steps": 1, "generations": 3, "population": 3}
    options = METHODS[method].takes.options.items()
    return {name: quick.get(name, option.default) for name, option in options}


def _page(rows: Any, texts: str = "notes") -> dict[str, Any]:
    given = {texts: {"x": "y"}, "alternatives": rows, "progress": None}
    return given | ({"by_stratum": True, "more": False} if texts == "notes" else {})


def _of_results(folder: Path, result: Any, rows: Any) -> list[Target]:
    mixed = m.microaggregate(frames()[-1], 3, by="s", nominal="c")
    page = _page(rows)
    return [
        target
        for name, of, known in (("Result", result, [0]), ("mixed Result", mixed, ["a", "s"]))
        for target in (
            Target(f"{name}.report", of.report, page | {"known": known}),
            Target(f"{name}.save_report", of.save_report, page | {"path": folder / "r.html"}),
            Target(f"{name}.record_risk", of.record_risk, {"known": known, "progress": None}),
            Target(f"{name}.save_note", of.save_note, {"path": folder / "n.html"}),
            Target(f"{name}.linkage", of.linkage, {"progress": None}),
            Target(f"{name}.bound", of.bound, {"progress": None, "seconds": 0.01}),
            Target(f"{name}.plot", of.plot, {"path": folder / "p.png"}),
        )
    ]


def _of_measures(result: Any) -> list[Target]:
    pair = {"original": DATA, "protected": result.protected}
    grouped = {"points": DATA, "labels": LABELS}
    given: dict[str, dict[str, Any]] = {
        "correlation_discrepancies": pair | {"ddof": 0},
        "correlations": {"data": DATA},
        "count_partitions": {"n": 10, "k": 3},
        "first_component": {"data": DATA},
        "assignment_linkage": pair | {"cells": LABELS, "scale": [1.0, 2.0]},
        "closeness": {"sensitive": DATA[:, 0], "labels": LABELS, "ordered": True},
        "coefficient_overlap": pair | {"target": 0},
        "dominance": {
            "original": DATA,
            "labels": LABELS,
            "rule": (1, 85),
            "p_percent": 10,
            "sampling_weight": np.ones(12),
        },
        "eigenvalue_change": pair,
        "il1s": pair,
        "inequality": {"values": [1.0, 2.0], "sampling_weight": [1.0, 1.0]},
        "interval_overlap": pair,
        "inverse_correlation_change": pair,
        "joint_interval_disclosure": pair | {"width": 0.1},
        "matrix_changes": pair,
        "mean_distance": pair | {"levels": [0, 3]},
        "pmse": pair,
        "information_loss": grouped,
        "interval_disclosure": pair,
        "linkage_chances": {
            "outside": DATA,
            "protected": result.protected,
            "record": np.arange(12),
            "scale": [1.0, 2.0],
            "outside_cells": LABELS,
            "cells": LABELS,
            "progress": None,
        },
        "lower_bound": {
            "points": DATA,
            "k": 3,
            "seconds": 0.01,
            "labels": LABELS,
            "progress": None,
        },
        "mean_weight_change": pair,
        "oversized": {"labels": LABELS, "k": 3},
        "range_inference": pair | {"cells": LABELS},
        "record_linkage": pair | {"cells": LABELS, "scale": [1.0, 2.0], "progress": None},
        "record_risk": pair | {"cells": LABELS, "scale": [1.0, 2.0], "progress": None},
        "ssa": grouped,
        "sse": grouped,
        "sst": {"points": DATA},
        "standard_deviations": pair,
        "sums_of_squares": pair | {"scale": [1.0, 2.0]},
        "weight_changes": pair,
    }
    functions = {n for n in measures.__all__ if not isinstance(getattr(measures, n), type)}
    assert functions == set(given), "a measure is missing here"
    return [Target(f"measures.{n}", getattr(measures, n), given[n]) for n in sorted(given)]


def _of_reports(folder: Path, result: Any, rows: Any) -> list[Target]:
    category = {"name": "c", "kind": "nominal", "before": TEXTS, "after": TEXTS}
    content: dict[str, Any] = {
        "original": DATA, "protected": result.protected, "names": ["a", "b"], "k": 3,
        "labels": LABELS, "cells": LABELS, "scale": [1.0, 2.0], "sampling_weight": np.ones(12),
        "loss": 1.0, "link": result.linkage(), "categories": [category], "method": "mdav",
        "strata": TEXTS, "measured": [DATA, result.protected], "weighted_loss": 1.0,
        "blocks": [["a", "b"]],
        "more": True, "risks": result.record_risk(), "positions": LABELS,
        "known": report.analysis.KnownRisk(["a"], 1.0, 1.0, 1.0, 1),
        "outside": report.analysis.OutsideRisk("f", ["a"], 1, 1, 1.0, 1.0, 1.0),
    }  # fmt: skip
    groups = {"points": DATA, "labels": LABELS, "path": folder / "g.png", "names": ["a", "b"]}
    return [
        Target("report.describe", report.describe, content | _page(rows, "provenance")),
        Target("report.page", report.page, {"content": result.report()}),
        Target("report.note", report.note, {"content": result.report()}),
        Target("plots.check_plot", plots.check_plot, {"path": folder / "p.png", "method": "mdav"}),
        Target("plots.plot_groups", plots.plot_groups, groups | {"title": "t"}),
        Target(
            "plots.plot_map", plots.plot_map, {"rows": rows, "path": folder / "m.png", "title": "t"}
        ),
    ]


def _of_datasets(folder: Path) -> list[Target]:
    simulated = {"c": 3, "d": 2, "sigma": 0.1, "min_size": 2, "max_size": 4}
    seeded = {"seed": 0, "labels": True}
    file = {"name": "census", "data_home": folder, "base_url": "file:///nowhere/"}
    return [
        Target("datasets.clusters", m.datasets.clusters, simulated | seeded),
        Target("datasets.simulated", m.datasets.simulated, {"name": "SIM_21"} | seeded),
        Target("datasets.toy", m.datasets.toy, {"name": "vmdav"}),
        Target("datasets.fetch", m.datasets.fetch, file, (OSError, ImportError)),
    ]


def _inside(frame: Any, rows: Any, result: Any) -> list[Target]:
    """Junk as a part of an argument: an option of a pair, a category, a weight, a cell of a row."""

    def describe(**changed: Any) -> Any:
        texts = ["x"] * 12
        category = {"name": "c", "kind": "nominal", "before": texts, "after": texts} | changed
        return report.describe(DATA, result.protected, names=["a", "b"], k=3, categories=[category])

    def with_row(**changed: Any) -> Any:
        return result.report(alternatives=[{**rows[0], **changed}])

    def draw_row(path: Path = Path("row.png"), **changed: Any) -> Any:
        return plots.plot_map([{**rows[0], **changed}], path)

    calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "an option in compare": (
            lambda gamma, name: m.compare(DATA, 3, [(name, {"gamma": gamma})]),
            {"gamma": 0.2, "name": "vmdav"},
        ),
        "a k in compare": (lambda k: m.compare(DATA, [3, k], "mdav"), {"k": 4}),
        "a method in compare": (lambda one: m.compare(DATA, 3, ["mdav", one]), {"one": "vmdav"}),
        "a column": (lambda c: m.microaggregate(DATA, 3, columns=[0, c]), {"c": 1}),
        "a column of a table": (lambda c: m.microaggregate(frame, 3, columns=["a", c]), {"c": "b"}),
        "a stratum": (lambda c: m.microaggregate(frame, 3, columns="a", by=[c]), {"c": "s"}),
        "an order": (
            lambda order: m.microaggregate(frame, 3, columns="a", ordinal={"c": order}),
            {"order": ["x", "y", "z"]},
        ),
        "an order of numbers": (
            lambda order: m.microaggregate(np.arange(12) % 3, 3, ordinal={0: order}),
            {"order": [0, 1, 2]},
        ),
        "a category": (
            lambda one: m.microaggregate(
                frame, 3, columns="a", ordinal={"c": ["x", "y", "z", one]}
            ),
            {"one": "u"},
        ),
        "a category of numbers": (
            lambda one: m.microaggregate(np.arange(12) % 3, 3, ordinal={0: [0, 1, 2, one]}),
            {"one": 3},
        ),
        "a weight": (lambda w: m.microaggregate(DATA, 3, variable_weights=[1, w]), {"w": 1}),
        "a weight by name": (
            lambda w: m.microaggregate(DATA, 3, variable_weights={1: w}),
            {"w": 1},
        ),
        "a sampling weight": (
            lambda w: m.microaggregate(DATA, 3, sampling_weight=[1] * 11 + [w]),
            {"w": 1},
        ),
        "a label": (lambda x: m.refine(DATA, [*LABELS[:-1], x], 3, None, 1), {"x": 3}),
        "a value": (lambda x: m.microaggregate([*DATA.tolist()[:-1], [1.0, x]], 3), {"x": 1.0}),
        "a value of a measure": (
            lambda x: measures.sst([*DATA.tolist()[:-1], [1.0, x]]),
            {"x": 1.0},
        ),
        "a row of data": (lambda x: m.microaggregate([*DATA.tolist(), x], 3), {"x": [1.0, 2.0]}),
        "a part of a category": (
            describe,
            {"name": "c", "kind": "nominal", "before": ["x"] * 12, "after": ["x"] * 12},
        ),
        "a part of a row": (
            with_row,
            {"method": "mdav", "k": 3, "loss": 1.0, "risk": 2.0, "seconds": 1.0},
        ),
        "a part of a drawn row": (draw_row, {"method": "mdav", "k": 3, "loss": 1.0, "risk": 2.0}),
        "notes": (lambda x: result.report(notes={"x": x}), {"x": "y"}),
        "a seed of clusters": (
            lambda x: m.datasets.clusters(2, 2, 0.1, 2, 3, seed=[1, x]),
            {"x": 1},
        ),
        "an unknown option": (
            lambda name: m.microaggregate(DATA, 3, **{name: 1} if isinstance(name, str) else {}),
            {"name": "gamma"},
        ),
    }
    return [Target(name, function, given) for name, (function, given) in calls.items()]


def _estimators() -> list[Target]:
    """The estimator of scikit-learn, whose own checks of tables raise what they like."""
    try:
        from microagg_gpu.sklearn import Microaggregator
    except ImportError:
        return []
    given = {
        "k": 3, "method": "mdav", "standardize": True, "variable_weights": None,
        "device": "auto", "seed": 0, "options": {},
    }  # fmt: skip

    def fit(**parameters: Any) -> Any:
        return Microaggregator(**parameters).fit(DATA).transform(DATA[:3])

    def fit_table(X: Any) -> Any:
        return Microaggregator().fit(X).transform(X)

    return [
        Target("Microaggregator", fit, given, (ValueError,)),
        Target("Microaggregator.fit", fit_table, {"X": DATA}, _OF_TABLES),
    ]


_OF_TABLES = (ValueError, TypeError, OverflowError, RuntimeError)


def _on_clusters() -> list[Target]:
    """The function for clusters, as far as it goes without one."""
    try:
        from dask import dataframe as dd

        from microagg_gpu import distributed
    except ImportError:
        return []
    frame = dd.from_pandas(pd.DataFrame(TABLE), npartitions=2)
    given = {
        "data": frame, "k": 3, "method": "mdav", "columns": ["a", "b"], "standardize": True,
        "variable_weights": None, "device": "auto", "engine": None, "seed": 0, "progress": None,
        "output": None, "force": False, "block": 100, "repair": 1, "by": None,
        "sampling_weight": None, "missing": "error", "small_strata": "error", "aggregate": "mean",
        "keep_integers": False, "drop": (), "group_column": None, "client": None,
    }  # fmt: skip
    return [Target("distributed.microaggregate", distributed.microaggregate, given)]
