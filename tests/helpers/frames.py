"""A table of companies in each library of DataFrames, and its columns as lists."""

import math

import numpy as np
import pytest

LIBRARIES = ["pandas", "polars", "pyarrow"]
RNG = np.random.default_rng(11)
N = 60
COMPANIES = {
    "id": [f"{i:04d}" for i in range(N)],
    "region": [["North", "South", "East"][i % 3] for i in range(N)],
    "size": [1 + (i // 3) % 2 for i in range(N)],
    "w": [float(1 + i % 7) for i in range(N)],
    "turnover": RNG.lognormal(3, 1, N).round(2).tolist(),
    "staff": RNG.integers(1, 500, N).tolist(),
}
RNG = np.random.default_rng(3)
FEW = {
    "a": RNG.normal(size=24),
    "b": RNG.normal(size=24),
    "c": ["x", "y", "z"] * 8,
    "s": [1, 2] * 12,
    "w": RNG.uniform(1, 2, size=24),
}


def frame(library, columns):
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    return pytest.importorskip(library).DataFrame(columns)


def column(table, name):
    """Values of a column as a list, None where one is missing."""
    values = table.column(name) if hasattr(table, "schema") and hasattr(table, "column") else None
    values = values.to_pylist() if values is not None else list(table[name])
    return [None if isinstance(v, float) and math.isnan(v) else v for v in values]


def records(table, names):
    return list(zip(*(column(table, name) for name in names), strict=True))
