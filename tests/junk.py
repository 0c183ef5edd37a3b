"""Arguments that nobody should give, and a caller that tries them on every public function.

Nothing is taken from the checks of the library: what is allowed is to return, or one line of
`InputError`. The tests run a fixed part of it, `python -m tests.junk N` as many calls as asked for.
"""

import datetime
import os
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

with suppress(ImportError):
    import pandas as pd


class Unshowable:
    """An object that is of no use, not even in a message."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Anything:
    """A class that can be called with whatever comes."""

    def __init__(self, *given: Any, **named: Any) -> None:
        pass


def junk() -> dict[str, Any]:
    """Everything that is tried in the place of an argument, by a name for messages."""
    rng = np.random.default_rng(0)
    things: dict[str, Any] = {
        "None": None, "True": True, "False": False, "NumPy True": np.True_,
        "0": 0, "1": 1, "-1": -1, "2.5": 2.5, "0.0": 0.0, "1e308": 1e308, "-0.5": -0.5,
        "nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"),
        "2**63": 2**63, "2**200": 2**200, "-(2**70)": -(2**70), "10**5000": 10**5000,
        "complex": 1j, "Decimal": Decimal("1.5"), "Fraction": Fraction(1, 3),
        "int32": np.int32(3), "float32": np.float32(0.5), "NaT": np.datetime64("NaT"),
        "empty text": "", "text": "nope", "line break": "a\nb", "bytes": b"ab", "NUL": "a\0b",
        "emoji": "\N{GRINNING FACE}", "surrogate": "\ud800", "number as text": "3",
        "empty list": [], "empty tuple": (), "empty dict": {}, "empty set": set(),
        "list": [1, 2, 3], "texts": ["a", "b"], "text and None": ["a", None], "nested": [[1], [2]],
        "ragged": [[1.0, 2.0], [3.0]], "deep": [[[[1]]]], "mixed": [1, "a", None, 2.5],
        "lists of lists of texts": [["a"], ["b"]], "list of dicts": [{"a": 1}],
        "pair": ("mdav",), "pair with number": ("mdav", 3), "list of pairs": [("mdav", 3)],
        "dict": {"a": 1}, "dict of lists": {"a": [1, 2]}, "int keys": {0: "x", 1: None},
        "unhashable in tuple": ([1],), "NaN in list": [float("nan")] * 12, "set": {1, "a"},
        "frozenset": frozenset({0}), "range": range(3), "slice": slice(2), "Ellipsis": ...,
        "lambda": lambda *a, **b: None, "class": Anything, "object": object(), "module": sys,
        "unshowable": Unshowable(), "exception": ValueError("x"), "path": Path("nowhere/x.png"),
        "date": datetime.date(2020, 1, 1), "million": 10**6,
        "0-d": np.array(3), "0-d float": np.array(0.5), "0-d object": np.array(None),
        "empty array": np.empty(0), "no variables": np.empty((5, 0)), "3-d": np.zeros((2, 2, 2)),
        "vector": np.arange(12.0), "matrix": rng.normal(size=(12, 2)), "column": np.ones((12, 1)),
        "whole numbers": np.arange(12), "zeros": np.zeros(12, dtype=int), "bools": np.ones(12, bool),
        "negative": -np.arange(12), "objects": np.array([1, "a", None], dtype=object),
        "complex array": np.ones(12) * 1j, "dates": np.arange(12).astype("datetime64[D]"),
        "durations": np.arange(12).astype("timedelta64[s]"), "text array": np.array(["a", "b"]),
        "bytes array": np.array([b"a", b"b"]), "large": np.full((12, 2), 1e308),
        "records": np.zeros(12, dtype=[("a", float), ("b", int)]), "uint64": np.full(12, 2**63),
        "masked": np.ma.masked_equal(np.arange(12.0), 3), "masked text": np.ma.array(["a", "b"]),
        "half": np.arange(12, dtype=np.float16), "swapped": np.arange(12, dtype=">f8"),
        "memory": memoryview(b"abc"), "infinite array": np.full(12, np.inf),
        "nan array": np.full((12, 2), np.nan), "strange shape": np.ones((1, 12)),
    }  # fmt: skip
    with suppress(NameError):
        things |= {
            "Series": pd.Series(np.arange(12.0)), "named Series": pd.Series([1.0], ["a"]),
            "empty frame": pd.DataFrame(), "frame": pd.DataFrame({"a": range(12)}),
            "no records": pd.DataFrame({"a": [], "b": []}), "Index": pd.Index(["a", "b"]),
            "NA": pd.NA, "twice": pd.DataFrame([[1, 2]] * 12, columns=["a", "a"]),
            "texts and numbers": pd.DataFrame({"a": ["x", 1] * 6}), "MultiIndex":
            pd.DataFrame(np.ones((12, 2)), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
            "Timestamp": pd.Timestamp("2020-01-01"), "categories": pd.Categorical(["a", "b"]),
            "nullable": pd.Series([1, None] * 6, dtype="Int64"),
        }  # fmt: skip
    with suppress(ImportError):
        import polars as pl

        things |= {
            "polars": pl.DataFrame({"a": range(12)}), "lazy": pl.LazyFrame({"a": [1]}),
            "polars Series": pl.Series("a", range(12)), "expression": pl.col("a"),
            "lists in a column": pl.DataFrame({"a": [[1], [2]] * 6}),
        }  # fmt: skip
    with suppress(ImportError):
        import pyarrow as pa

        things |= {
            "Arrow": pa.table({"a": range(12)}), "Arrow array": pa.array([1, None]),
            "nested Arrow": pa.table({"a": [{"b": 1}] * 12}), "schema": pa.schema([]),
        }  # fmt: skip
    with suppress(ImportError):
        import torch

        things |= {
            "tensor": torch.arange(12.0), "bool tensor": torch.ones(12, dtype=torch.bool),
            "complex tensor": torch.ones(12, dtype=torch.complex64), "0-d tensor": torch.tensor(3),
            "tensor with grad": torch.ones((12, 2), requires_grad=True),
        }  # fmt: skip
    return things


def generators() -> dict[str, Callable[[], Any]]:
    """Junk that can be used once only, made anew for each call."""
    return {
        "generator": lambda: (x for x in ("a", "b")),
        "empty generator": lambda: iter(()),
        "positions": lambda: iter(range(2)),
        "map": lambda: map(str, range(3)),
    }


class Target(NamedTuple):
    """A public function with arguments that work, all of them by name."""

    name: str
    function: Callable[..., Any]
    given: dict[str, Any]
    allowed: tuple[type[Exception], ...] = ()  # beside InputError


def targets(folder: Path) -> list[Target]:
    """Every public function; files are written into a folder."""
    import microagg_gpu as m
    from microagg_gpu import measures, plots, report
    from microagg_gpu.methods import METHODS

    rng = np.random.default_rng(1)
    data = rng.normal(size=(12, 2))
    labels = np.repeat(np.arange(4), 3)
    found: list[Target] = []
    roles: dict[str, Any] = {
        "data": data, "k": 3, "columns": [0, 1], "standardize": True, "weights": [1.0, 2.0],
        "device": "auto", "engine": None, "seed": 0, "by": None, "sampling_weight": None,
        "missing": "error", "small_strata": "error", "aggregate": "mean", "keep_integers": False,
    }  # fmt: skip
    categories = {"ordinal": (), "nominal": ()}
    one = {"method": "mdav", "precision": "double", "progress": None, "watch": None}
    found.append(
        Target(
            "microaggregate",
            m.microaggregate,
            roles | categories | one | {"refine": None, "refine_steps": 2},
        )
    )
    table = {"a": data[:, 0], "b": data[:, 1], "c": list("xyz") * 4, "s": [1, 2] * 6}
    frames: list[Any] = [table]
    with suppress(NameError):
        frames.append(pd.DataFrame(table))
    with suppress(ImportError):
        import polars as pl

        frames.append(pl.DataFrame(table))
    with suppress(ImportError):
        import pyarrow as pa

        frames.append(pa.table(table))
    for frame in frames[1:]:
        kind = type(frame).__module__.partition(".")[0]
        named = {
            "data": frame,
            "columns": ["a", "b"],
            "by": ["s"],
            "nominal": ["c"],
            "weights": None,
        }
        found.append(
            Target(f"microaggregate of {kind}", m.microaggregate, roles | categories | one | named)
        )
    for method, text in METHODS.items():
        options = _options(method, text.function)
        values = data[:, :1] if text.univariate else data
        found.append(
            Target(
                f"microaggregate by {method}",
                m.microaggregate,
                {"data": values, "k": 3, "method": method, "seed": 0, **options},
            )
        )
    for inner in ("fixed", "kward", "optimal", "genetic"):
        options = {"inner": inner, **_options(inner, METHODS[inner].function)}
        for method in ("individual", "projection"):
            found.append(
                Target(
                    f"microaggregate by {method} {inner}",
                    m.microaggregate,
                    {"data": data, "k": 3, "method": method} | options,
                )
            )
    found.append(
        Target(
            "refine",
            m.refine,
            roles | {"labels": labels, "seconds": None, "steps": 2, "watch": None},
        )
    )
    found.append(
        Target(
            "compare",
            m.compare,
            roles | categories | {"methods": ["mdav"], "progress": None, "refine": None},
        )
    )
    result = m.microaggregate(data, 3)
    mixed = m.microaggregate(frames[-1], 3, by="s", nominal="c")
    rows = m.compare(data, 3, "mdav")
    page = {"made": {"x": "y"}, "alternatives": rows, "progress": None}
    for name, of in (("Result", result), ("mixed Result", mixed)):
        found += [
            Target(f"{name}.report", of.report, page),
            Target(f"{name}.save_report", of.save_report, page | {"path": folder / "r.html"}),
            Target(f"{name}.linkage", of.linkage, {"progress": None}),
            Target(f"{name}.bound", of.bound, {"progress": None}),
            Target(f"{name}.plot", of.plot, {"path": folder / "p.png"}),
        ]
    pair = {"original": data, "protected": result.protected}
    grouped = {"points": data, "labels": labels}
    of_measures: dict[str, dict[str, Any]] = {
        "correlation_discrepancies": pair | {"ddof": 0},
        "correlations": {"data": data},
        "count_partitions": {"n": 10, "k": 3},
        "first_component": {"data": data},
        "il1s": pair,
        "information_loss": grouped,
        "interval_disclosure": pair,
        "lower_bound": {"points": data, "k": 3, "progress": None},
        "mean_weight_change": pair,
        "oversized": {"labels": labels, "k": 3},
        "range_inference": pair | {"cells": labels},
        "record_linkage": pair | {"cells": labels, "scale": [1.0, 2.0], "progress": None},
        "ssa": grouped,
        "sse": grouped,
        "sst": {"points": data},
        "standard_deviations": pair,
        "sums_of_squares": pair | {"scale": [1.0, 2.0]},
        "weight_changes": pair,
    }
    functions = {n for n in measures.__all__ if not isinstance(getattr(measures, n), type)}
    assert functions == set(of_measures), "a measure is missing here"
    found += [
        Target(f"measures.{name}", getattr(measures, name), given)
        for name, given in of_measures.items()
    ]
    texts = np.array(list("xyz") * 4)
    found += [
        Target(
            "report.describe",
            report.describe,
            pair
            | page
            | {
                "names": ["a", "b"], "k": 3, "labels": labels, "cells": labels, "scale": [1.0, 2.0],
                "sampling_weight": np.ones(12), "loss": 1.0, "link": result.linkage(),
                "categories": [{"name": "c", "kind": "nominal", "before": texts, "after": texts}],
            },
        ),
        Target("report.page", report.page, {"content": result.report()}),
        Target("plots.check_plot", plots.check_plot, {"path": folder / "p.png", "method": "mdav"}),
        Target(
            "plots.plot_groups",
            plots.plot_groups,
            grouped | {"path": folder / "g.png", "names": ["a", "b"], "title": "t"},
        ),
        Target(
            "plots.plot_map", plots.plot_map, {"rows": rows, "path": folder / "m.png", "title": "t"}
        ),
        Target(
            "datasets.clusters",
            m.datasets.clusters,
            {"c": 3, "d": 2, "sigma": 0.1, "min_size": 2, "max_size": 4, "seed": 0, "labels": True},
        ),
        Target(
            "datasets.simulated",
            m.datasets.simulated,
            {"name": "SIM_21", "seed": 0, "labels": True},
        ),
        Target("datasets.toy", m.datasets.toy, {"name": "vmdav"}),
        Target(
            "datasets.fetch",
            m.datasets.fetch,
            {"name": "census", "data_home": folder, "base_url": "file:///nowhere/"},
            (OSError, ImportError),
        ),
    ]  # fmt: skip
    found += _inside(data, frames[-1], rows, labels)
    return found + _estimators(data) + _on_clusters(table)


def _inside(data: np.ndarray, frame: Any, rows: Any, labels: np.ndarray) -> list[Target]:
    """Junk as a part of an argument: an option of a pair, a category, a weight, a cell of a row."""
    import microagg_gpu as m
    from microagg_gpu import measures, plots, report

    published = m.microaggregate(data, 3).protected

    def describe(**changed: Any) -> Any:
        texts = ["x"] * 12
        category = {"name": "c", "kind": "nominal", "before": texts, "after": texts} | changed
        return report.describe(data, published, names=["a", "b"], k=3, categories=[category])

    def with_row(**changed: Any) -> Any:
        return m.microaggregate(data, 3).report(alternatives=[{**rows[0], **changed}])

    def draw_row(path: Path = Path("row.png"), **changed: Any) -> Any:
        return plots.plot_map([{**rows[0], **changed}], path)

    calls: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "an option in compare": (
            lambda gamma, name: m.compare(data, 3, [(name, {"gamma": gamma})]),
            {"gamma": 0.2, "name": "vmdav"},
        ),
        "a k in compare": (lambda k: m.compare(data, [3, k], "mdav"), {"k": 4}),
        "a method in compare": (lambda one: m.compare(data, 3, ["mdav", one]), {"one": "vmdav"}),
        "a column": (lambda c: m.microaggregate(data, 3, columns=[0, c]), {"c": 1}),
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
        "a weight": (lambda w: m.microaggregate(data, 3, weights=[1, w]), {"w": 1}),
        "a weight by name": (lambda w: m.microaggregate(data, 3, weights={1: w}), {"w": 1}),
        "a sampling weight": (
            lambda w: m.microaggregate(data, 3, sampling_weight=[1] * 11 + [w]),
            {"w": 1},
        ),
        "a label": (lambda x: m.refine(data, [*labels[:-1], x], 3, None, 1), {"x": 3}),
        "a value": (lambda x: m.microaggregate([*data.tolist()[:-1], [1.0, x]], 3), {"x": 1.0}),
        "a value of a measure": (
            lambda x: measures.sst([*data.tolist()[:-1], [1.0, x]]),
            {"x": 1.0},
        ),
        "a row of data": (lambda x: m.microaggregate([*data.tolist(), x], 3), {"x": [1.0, 2.0]}),
        "a part of a category": (
            describe,
            {"name": "c", "kind": "nominal", "before": ["x"] * 12, "after": ["x"] * 12},
        ),
        "a part of a row": (
            with_row,
            {"method": "mdav", "k": 3, "loss": 1.0, "risk": 2.0, "seconds": 1.0},
        ),
        "a part of a drawn row": (draw_row, {"method": "mdav", "k": 3, "loss": 1.0, "risk": 2.0}),
        "what was made": (lambda x: m.microaggregate(data, 3).report(made={"x": x}), {"x": "y"}),
        "a seed of clusters": (
            lambda x: m.datasets.clusters(2, 2, 0.1, 2, 3, seed=[1, x]),
            {"x": 1},
        ),
        "an unknown option": (
            lambda name: m.microaggregate(data, 3, **{name: 1} if isinstance(name, str) else {}),
            {"name": "gamma"},
        ),
    }
    return [Target(name, function, given) for name, (function, given) in calls.items()]


def _options(method: str, function: Callable[..., Any]) -> dict[str, Any]:
    """The options of a method, with values that take no time."""
    import inspect

    hidden = ("points", "k", "engine", "progress", "seed", "story")
    parameters = inspect.signature(function).parameters.values()
    quick = {"seconds": 0.01, "steps": 1, "generations": 3, "population": 3}
    return {
        p.name: quick.get(p.name, p.default)
        for p in parameters
        if p.name not in hidden and p.kind is not p.VAR_KEYWORD
    }


def _estimators(data: np.ndarray) -> list[Target]:
    """The estimator of scikit-learn, whose own checks of tables raise what they like."""
    try:
        from microagg_gpu.sklearn import Microaggregator
    except ImportError:
        return []
    given = {
        "k": 3, "method": "mdav", "standardize": True, "weights": None, "device": "auto", "seed": 0,
        "options": {},
    }  # fmt: skip

    def fit(**parameters: Any) -> Any:
        return Microaggregator(**parameters).fit(data).transform(data[:3])

    def fit_table(X: Any) -> Any:
        return Microaggregator().fit(X).transform(X)

    return [
        Target("Microaggregator", fit, given, (ValueError,)),
        Target("Microaggregator.fit", fit_table, {"X": data}, _OF_TABLES),
    ]


_OF_TABLES = (ValueError, TypeError, OverflowError, RuntimeError)


def _on_clusters(table: dict[str, Any]) -> list[Target]:
    """The function for clusters, as far as it goes without one."""
    try:
        from dask import dataframe as dd

        from microagg_gpu import distributed
    except ImportError:
        return []
    frame = dd.from_pandas(pd.DataFrame(table), npartitions=2)
    given = {
        "data": frame, "k": 3, "method": "mdav", "columns": ["a", "b"], "standardize": True,
        "weights": None, "device": "auto", "engine": None, "seed": 0, "progress": None,
        "output": None, "force": False, "block": 100, "repair": 1, "by": None,
        "sampling_weight": None, "missing": "error", "small_strata": "error", "aggregate": "mean",
        "keep_integers": False, "drop": (), "group_column": None, "client": None,
    }  # fmt: skip
    return [Target("distributed.microaggregate", distributed.microaggregate, given)]


class Failure(NamedTuple):
    """A call that did something else than return or raise one line of InputError."""

    call: str
    error: str


def call(target: Target, changed: dict[str, tuple[str, Any]]) -> Failure | None:
    """Call a function with some arguments replaced; None if it did what it may do."""
    from microagg_gpu import InputError

    given = target.given | {name: value for name, (_, value) in changed.items()}
    text = f"{target.name}({', '.join(f'{name}={what}' for name, (what, _) in changed.items())})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.function(**given)
    except InputError as error:
        if not str(error) or "\n" in str(error):
            return Failure(text, f"the message is not one line: {error!s}")
        return None
    except target.allowed:
        return None
    except Exception:
        return Failure(text, traceback.format_exc())
    return None


def single_calls(folder: Path) -> Iterator[tuple[Target, dict[str, tuple[str, Any]]]]:
    """Each parameter of each function with each piece of junk."""
    things = junk()
    for target in targets(folder):
        for parameter in target.given:
            for what, value in things.items():
                yield target, {parameter: (what, value)}
            for what, make in generators().items():
                yield target, {parameter: (what, make())}


def random_calls(
    folder: Path, count: int, seed: int = 0
) -> Iterator[tuple[Target, dict[str, tuple[str, Any]]]]:
    """One to three parameters at a time, by chance but the same for the same seed."""
    draw = random.Random(seed)
    things, once, all_targets = list(junk().items()), list(generators().items()), targets(folder)
    for _ in range(count):
        target = draw.choice(all_targets)
        many = min(len(target.given), draw.choice((1, 2, 2, 3)))
        changed: dict[str, tuple[str, Any]] = {}
        for parameter in draw.sample(list(target.given), many):
            if draw.random() < 0.05:
                what, make = draw.choice(once)
                changed[parameter] = what, make()
            else:
                changed[parameter] = draw.choice(things)
        yield target, changed


def main(count: int, seed: int) -> int:
    """Every single replacement, then as many random ones; print what failed."""
    import tempfile

    failures: dict[str, Failure] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = os.getcwd()
        os.chdir(folder)  # a text is a file's name, too
        try:
            for calls in (
                single_calls(folder) if seed == 0 else (),
                random_calls(folder, count, seed),
            ):
                for target, changed in calls:
                    failure = call(target, changed)
                    if failure is not None:
                        failures.setdefault(
                            failure.error.splitlines()[-1] + str(len(failure.error.splitlines())),
                            failure,
                        )
        finally:
            os.chdir(home)
    for failure in failures.values():
        print(failure.call, failure.error, sep="\n")
    print(f"{len(failures)} kinds of failures")
    return 1 if failures else 0


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    raise SystemExit(main(*[*numbers, 1000, 0][:2] if numbers else (1000, 0)))
