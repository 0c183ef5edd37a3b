"""Columns without any value: with missing="pattern" they are grouped like all others."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.command import run
from microagg_gpu import InputError, microaggregate

pytestmark = pytest.mark.usefixtures("empty_directory")


def column_of(library, kind):
    """Twelve missing values: without a type, as text, or as ordered categories."""
    if library == "pandas":
        kinds = {"untyped": object, "text": "str", "ordered": pd.CategoricalDtype(["a", "b"], True)}
        return pd.DataFrame({"x": np.arange(12.0), "c": pd.Series([None] * 12, dtype=kinds[kind])})
    if library == "polars":
        types = {"untyped": pl.Null, "text": pl.String, "ordered": pl.Enum(["a", "b"])}
        empty = pl.Series([None] * 12, dtype=types[kind])
        return pl.DataFrame({"x": np.arange(12.0), "c": empty})
    ordered = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    types = {"untyped": pa.null(), "text": pa.string(), "ordered": ordered}
    return pa.table({"x": np.arange(12.0), "c": pa.array([None] * 12, types[kind])})


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("kind", ["untyped", "text", "ordered"])
@pytest.mark.parametrize(
    "role",
    [{"nominal": "c"}, {"ordinal": "c"}, {"ordinal": {"c": ["a", "b"]}}, {"by": "c"}],
    ids=str,
)
def test_a_column_without_values(library, kind, role):
    """The groups are those of the other column, and what is missing stays missing."""
    expected = microaggregate(np.arange(12.0), 3)
    result = microaggregate(column_of(library, kind), 3, missing="pattern", **role)
    assert np.array_equal(result.labels, expected.labels)
    assert result.loss == pytest.approx(expected.loss)
    assert list(result.protected["x"].to_numpy()) == list(expected.protected)
    missing = result.protected["c"]
    assert (
        missing.null_count if hasattr(missing, "chunks") else pd.isna(missing.to_numpy()).sum()
    ) == 12
    assert result.report()["records"] == 12


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("kind", ["untyped", "text"])
def test_a_column_without_values_may_be_one_of_numbers(library, kind):
    result = microaggregate(column_of(library, kind), 3, missing="pattern")
    assert np.array_equal(result.labels, microaggregate(np.arange(12.0), 3).labels)
    with pytest.raises(InputError, match="12 values are missing"):
        microaggregate(column_of(library, kind), 3)


@pytest.mark.parametrize(
    "role", [{}, {"nominal": 1}, {"ordinal": [1]}, {"ordinal": {1: [0, 1]}}, {"by": 1}], ids=str
)
def test_a_column_of_an_array_without_values(role):
    data = np.column_stack([np.arange(12.0), np.full(12, np.nan)])
    result = microaggregate(data, 3, missing="pattern", **role)
    assert np.array_equal(result.labels, microaggregate(np.arange(12.0), 3).labels)
    assert np.isnan(result.protected[:, 1]).all()
    assert result.report()["records"] == 12


def test_no_values_at_all():
    nothing = np.full((6, 2), np.nan)
    for role in ({}, {"nominal": [0, 1]}, {"ordinal": [0], "nominal": [1]}):
        result = microaggregate(nothing, 3, missing="pattern", **role)
        assert (result.loss, np.isnan(result.protected).all()) == (0.0, True)


@pytest.mark.parametrize(
    "role",
    [
        ["--nominal", "e"], ["--ordinal", "e=a<b"], ["--ordinal", "e"], ["--columns", "x,e"],
        ["--by", "e"],
    ],
    ids=str,
)  # fmt: skip
def test_a_column_of_a_file_without_values(role):
    rows = [f"{i * i % 17}," for i in range(12)]
    if role[0] != "--columns":
        role = ["--columns", "x", *role]
    Path("in.csv").write_text("\n".join(["x,e", *rows, ""]))
    done = run("protect", "in.csv", "-k", 3, "-o", "out.csv", "--missing", "pattern", *role)
    assert done.exit_code == 0, done.output
    lines = Path("out.csv").read_text().splitlines()
    assert len(lines) == 13
    assert all(line.endswith(",") for line in lines[1:])
