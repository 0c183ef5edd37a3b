"""The neighbours of every record: every engine against plain Python, and on deep trees."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.libraries import ARRAY_LIBRARIES
from helpers.strategies import DEEP, cases, deep_table, make_table
from microagg_gpu.kernels import cpu, generic


def plain(points, m):
    """Squared distances and records, one pair at a time."""
    rows = points.tolist()
    lists = []
    for i, here in enumerate(rows):
        others = []
        for j, there in enumerate(rows):
            total = 0.0
            for a, b in zip(here, there, strict=True):
                total += (a - b) * (a - b)
            others.append((total, j))
        lists.append(sorted(pair for pair in others if pair[1] != i)[:m])
    return [[s for s, _ in row] for row in lists], [[j for _, j in row] for row in lists]


def agree(found, expected):
    assert [x.dtype for x in found] == [np.float64, np.int64]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.tolist() == theirs


@pytest.mark.parametrize("engine", [generic, cpu])
def test_by_hand(engine):
    points = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [6.0, 8.0]])
    squares, records = engine.neighbours(points, 2)
    assert squares.tolist() == [[0.0, 25.0], [25.0, 25.0], [0.0, 25.0], [25.0, 100.0]]
    assert records.tolist() == [[2, 1], [0, 2], [0, 1], [1, 0]]


@given(cases(most=400), st.integers(0, 8) | st.integers(0, 200))
def test_as_plain_python(case, m):
    m = min(m, len(case.data) - 1)
    expected = plain(case.data, m)
    agree(generic.neighbours(case.data, m), expected)
    agree(cpu.neighbours(case.data, m), expected)


@pytest.mark.parametrize("kind", DEEP)
def test_deep_trees(kind):
    points = deep_table(kind, 5000, seed=4)
    for ours, reference in zip(
        cpu.neighbours(points, 15), generic.neighbours(points, 15), strict=True
    ):
        assert np.array_equal(ours, reference)


@pytest.mark.parametrize("library", ARRAY_LIBRARIES)
def test_every_array_library(library, monkeypatch):
    """And in tiles that end anywhere."""
    module = importlib.import_module("microagg_gpu.kernels.generic.neighbours")
    monkeypatch.setattr(module, "entries", lambda points: 300)
    points = make_table("grid", 41, 2, 1)
    found = generic.neighbours(importlib.import_module(library).asarray(points), 5)
    agree(found, plain(points, 5))


@pytest.mark.parametrize("engine", [generic, cpu])
def test_progress_ends_at_one(engine):
    fractions = []
    engine.neighbours(make_table("random", 3000, 3, 0), 4, fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert engine.neighbours(np.zeros((1, 2)), 0)[0].shape == (1, 0)
