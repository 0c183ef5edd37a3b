"""The nearest records of queries: every engine against plain Python, and how it scales."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.libraries import ARRAY_LIBRARIES
from helpers.strategies import DEEP, KINDS, deep_table, make_table
from microagg_gpu.kernels import cpu, generic


def plain(points, queries):
    """Least squared distance, lowest index and number of ties, one pair at a time."""
    squares, first, ties = [], [], []
    for query in queries.tolist():
        distances = []
        for point in points.tolist():
            total = 0.0
            for a, b in zip(point, query, strict=True):
                total += (a - b) * (a - b)
            distances.append(total)
        squares.append(min(distances))
        first.append(distances.index(min(distances)))
        ties.append(distances.count(min(distances)))
    return squares, first, ties


def agree(found, expected):
    assert [x.dtype for x in found] == [np.float64, np.int64, np.int64]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.tolist() == list(theirs)


def by_scan(points, queries):
    """As `plain`, a query at a time in NumPy: for tables too large for plain Python."""
    rows = []
    for query in queries:
        distances = np.zeros(len(points))
        for v in range(points.shape[1]):
            distances += (points[:, v] - query[v]) ** 2
        least = distances.min()
        rows.append((least, np.argmin(distances), np.count_nonzero(distances == least)))
    return zip(*rows, strict=True)


@pytest.mark.parametrize("engine", [generic, cpu])
def test_by_hand(engine):
    points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [6.0, 8.0]])
    queries = np.array([[0.0, 0.0], [3.0, 4.0], [1.5, 2.0], [4.5, 6.0], [100.0, 8.0]])
    squares, first, ties = engine.nearest_records(points, queries)
    assert squares.tolist() == [0.0, 0.0, 6.25, 6.25, 94.0**2]
    assert first.tolist() == [0, 1, 0, 1, 3]
    assert ties.tolist() == [2, 1, 3, 2, 1]


@given(
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.integers(1, 80),
    st.integers(0, 12),
    st.integers(1, 3) | st.integers(1, 40),
    st.integers(0, 10**6),
)
def test_as_plain_python(kind, other, n, m, d, seed):
    """Queries of another kind, and as many that are among the points."""
    points = make_table(kind, n, d, seed)
    among = np.random.default_rng(seed).integers(0, n, size=m)
    queries = np.vstack([make_table(other, m, d, seed + 1), points[among]])
    expected = plain(points, queries)
    agree(generic.nearest_records(points, queries), expected)
    agree(cpu.nearest_records(points, queries), expected)


@pytest.mark.parametrize("kind", DEEP)
def test_deep_trees(kind):
    points = deep_table(kind, 40_000, seed=4)
    rng = np.random.default_rng(5)
    middles = (points[rng.integers(0, len(points), 60)] + points[:60]) / 2
    queries = np.vstack([points[::900], middles, 1e3 * middles[:9]])
    agree(cpu.nearest_records(points, queries), by_scan(points, queries))


@pytest.mark.parametrize("library", ARRAY_LIBRARIES)
def test_every_array_library(library, monkeypatch):
    """And in tiles that end anywhere."""
    module = importlib.import_module("microagg_gpu.kernels.generic.nearest")
    monkeypatch.setattr(module, "entries", lambda points: 64)
    monkeypatch.setattr(module, "_WIDE", 16)
    xp = importlib.import_module(library)
    points, queries = make_table("grid", 41, 2, 1), make_table("grid", 11, 2, 2)
    found = generic.nearest_records(xp.asarray(points), xp.asarray(queries))
    agree(found, plain(points, queries))


@pytest.mark.parametrize("engine", [generic, cpu])
def test_squares_too_large_for_a_number(engine):
    """All points are infinitely far; which is nearest nobody can tell, but nothing breaks."""
    points = np.arange(300.0)[:, np.newaxis]
    with np.errstate(over="ignore"):
        squares, first, ties = engine.nearest_records(points, np.array([[1e200], [7.0]]))
    assert squares.tolist() == [np.inf, 0.0]
    assert first.tolist() == [0, 7]
    assert ties.tolist() == [300, 1]


@pytest.mark.parametrize("engine", [generic, cpu])
def test_progress_ends_at_one(engine):
    fractions = []
    points = make_table("random", 500, 3, 0)
    engine.nearest_records(points, points, fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(engine.nearest_records(points, points[:0])[0]) == 0
