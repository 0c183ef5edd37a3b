"""What is published: rounded numbers, averaged weights, and what that does to totals."""

from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.command import run
from microagg_gpu import InputError, microaggregate
from microagg_gpu.pipeline.publishing import rounded

RNG = np.random.default_rng(5)
N = 60
FRAME = pd.DataFrame(
    {
        "s": ["a", "b", "c"] * (N // 3),
        "w": RNG.uniform(1, 9, N).round(2),
        "x": RNG.lognormal(3, 1, N).round(1),
        "y": RNG.normal(size=N).round(3),
        "n": RNG.integers(0, 50, N),
    }
)


@given(st.floats(-1e12, 1e12, allow_nan=False), st.integers(0, 6))
def test_rounded_as_decimal_arithmetic_says(value, places):
    """Up to the rounding of value * 10^places itself, which decides ties only."""
    found = float(rounded(np.array([value]), places)[0])
    step = Decimal(1).scaleb(-places)
    exact = Decimal(value).quantize(step, ROUND_HALF_EVEN)
    slack = Fraction(abs(value)) * Fraction(2) ** -50
    assert abs(Fraction(found) - Fraction(Decimal(value))) <= Fraction(step) / 2 + slack
    assert abs(Fraction(found) - Fraction(exact)) <= Fraction(step) + slack
    assert repr(found) == repr(float(repr(found)))
    assert not (found == 0 and np.signbit(found))


def test_numbers_too_large_for_decimals_stay():
    large = np.array([1e300, 2.0**60 + 2**10, np.nan])
    assert np.array_equal(rounded(large, 9), large, equal_nan=True)


def test_decimals_by_name_and_for_all():
    exact = microaggregate(FRAME, 4, columns=["x", "y"])
    named = microaggregate(FRAME, 4, columns=["x", "y"], decimals={"x": 1})
    assert named.labels.tolist() == exact.labels.tolist()
    assert named.protected["x"].tolist() == np.round(exact.protected["x"], 1).tolist()
    assert named.protected["y"].equals(exact.protected["y"])
    both = microaggregate(FRAME[["x", "y"]].to_numpy(), 4, decimals=0)
    assert np.array_equal(both.protected, np.rint(exact.protected[["x", "y"]].to_numpy()))
    assert [change.name for change in both.rounding] == ["0", "1"]
    assert named.verdict.below_named == 0
    (change,) = named.rounding
    assert (change.name, change.decimals) == ("x", 1)
    assert change.total == pytest.approx(FRAME["x"].sum())
    assert change.change == pytest.approx(named.protected["x"].sum() - FRAME["x"].sum())
    # The loss is that of what is published.
    scale = 1 / FRAME[["x", "y"]].std(ddof=1).to_numpy()
    apart = ((FRAME[["x", "y"]] - named.protected[["x", "y"]]).to_numpy() * scale) ** 2
    total = ((FRAME[["x", "y"]] - FRAME[["x", "y"]].mean()).to_numpy() * scale) ** 2
    assert named.loss == pytest.approx(100 * apart.sum() / total.sum())
    assert named.report()["rounding"] == [change._asdict()]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
def test_averaged_weights_keep_weighted_totals(kind):
    columns = FRAME.drop(columns="s")
    data = {
        "pandas": lambda: columns, "polars": lambda: pl.DataFrame(columns.to_dict("list")),
        "pyarrow": lambda: pa.table(columns.to_dict("list")), "numpy": columns.to_numpy,
    }[kind]()  # fmt: skip
    names = dict(zip("wxyn", range(4) if kind == "numpy" else "wxyn", strict=True))
    result = microaggregate(
        data, 4, columns=[names[c] for c in "xyn"], sampling_weight=names["w"], average_weight=True
    )
    new = result.protected
    after = {c: np.asarray(new[:, j] if kind == "numpy" else new[c]) for j, c in enumerate("wxyn")}
    for group in np.unique(result.labels):
        inside = result.labels == group
        assert len(set(after["w"][inside])) == 1
        assert after["w"][inside][0] == pytest.approx(FRAME["w"][inside].mean())
    for c in "xyn":
        assert (after["w"] * after[c]).sum() == pytest.approx((FRAME["w"] * FRAME[c]).sum())
    assert result.verdict.word == "PASS"


def test_averaged_weights_need_a_column_and_groups():
    with pytest.raises(InputError, match="name the column of weights with sampling_weight"):
        microaggregate(FRAME, 4, columns="x", average_weight=True)
    with pytest.raises(InputError, match="name the column of weights"):
        microaggregate(FRAME, 4, columns="x", sampling_weight=FRAME["w"], average_weight=True)
    with pytest.raises(InputError, match="individual ranking and blocks have no groups"):
        microaggregate(
            FRAME, 4, "individual", columns=["x", "y"], sampling_weight="w", average_weight=True
        )
    with pytest.raises(InputError, match="decimals=-1 must be a whole number"):
        microaggregate(FRAME, 4, columns="x", decimals=-1)


@pytest.mark.usefixtures("empty_directory")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_are_rounded_as_they_came(kind):
    if kind == "csv":
        FRAME.to_csv("in.csv", index=False)
    else:
        FRAME.to_parquet("in.parquet", index=False)
    chosen = (
        "protect", f"in.{kind}", "-k", 4, "--columns", "x,y,n", "--by", "s", "--weight", "w",
    )  # fmt: skip
    done = run(*chosen, "--average-weight", "--strict", "-o", f"out.{kind}")
    assert done.exit_code == 0, done.output
    assert "PASS: every one of the 60 records shares its values in all 5 columns" in " ".join(
        done.output.split()
    )
    after = pd.read_csv("out.csv") if kind == "csv" else pd.read_parquet("out.parquet")
    for name, places in (("w", 2), ("x", 1), ("y", 3)):
        assert after[name].tolist() == [round(v, places) for v in after[name]]
        total = (FRAME[name] * (1 if name == "w" else FRAME["w"])).sum()
        new = (after[name] * (1 if name == "w" else after["w"])).sum()
        assert new == pytest.approx(total, abs=N * 10 * 10.0**-places)
    assert after["n"].dtype == np.int64
    assert min(after.groupby(list(after.columns)).size()) >= 4
    unrounded = run(*chosen, "--decimals", "exact", "-o", f"exact.{kind}")
    assert unrounded.exit_code == 0
    assert "rounded" not in unrounded.output
    whole = run(*chosen, "--decimals", "0", "-o", f"whole.{kind}")
    assert "rounded to whole numbers; no weighted total changes by" in " ".join(
        whole.output.split()
    )
    for wrong in ("x", "-1", "99"):
        refused = run(*chosen, "--decimals", wrong, "-o", f"wrong.{kind}")
        assert refused.exit_code == 2
        assert "decimals" in refused.output
