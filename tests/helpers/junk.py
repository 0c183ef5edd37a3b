"""Arguments that nobody should give, and a caller that tries them on every public function.

Nothing is taken from the checks of the library: what is allowed is to return, or one line of
`InputError`. The tests make some of these calls; in the folder `tests`, `python -m helpers.junk
50000 1` makes all single replacements and so many random ones, from a seed.
"""

import datetime
import os
import random
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from helpers.public import Target, targets
from microagg_gpu import InputError

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
        "int32": np.int32(3), "float32": np.float32(0.5), "NaT": np.datetime64("NaT", "s"),
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
        "date": datetime.date(2020, 1, 1), "large number": 10**5,
        "0-d": np.array(3), "0-d float": np.array(0.5), "0-d object": np.array(None),
        "empty array": np.empty(0), "no variables": np.empty((5, 0)), "3-d": np.zeros((2, 2, 2)),
        "vector": np.arange(12.0), "matrix": rng.normal(size=(12, 2)), "column": np.ones((12, 1)),
        "whole numbers": np.arange(12), "zeros": np.zeros(12, dtype=int),
        "bools": np.ones(12, bool), "negative": -np.arange(12),
        "objects": np.array([1, "a", None], dtype=object),
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


class Failure(NamedTuple):
    """A call that did something else than return or raise one line of InputError."""

    call: str
    error: str


def call(target: Target, changed: dict[str, tuple[str, Any]]) -> Failure | None:
    """Call a function with some arguments replaced; None if it did what it may do."""
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


def search(
    calls: Iterable[tuple[Target, dict[str, tuple[str, Any]]]], show: Callable[[Failure], None]
) -> int:
    """Make calls and show those that fail; the number of calls."""
    count = 0
    for target, changed in calls:
        failure = call(target, changed)
        count += 1
        if failure is not None:
            show(failure)
    return count


def main(count: int, seed: int) -> int:
    """Every single replacement, then some random ones; print what failed."""
    failures: list[Failure] = []
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name
        os.chdir(name)  # a text is the name of a file, too
        made = search(single_calls(Path(name)), failures.append)
        made += search(random_calls(Path(name), count, seed), failures.append)
        os.chdir("/")
    for failure in failures:
        print(failure.call, failure.error, sep="\n")
    print(f"{made} calls, {len(failures)} of them failed")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2])))
