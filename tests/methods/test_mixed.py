"""MDAV on mixed variables: by hand, and every engine against plain Python."""

import importlib
from collections import Counter
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.libraries import ARRAY_LIBRARIES
from helpers.methods import mdav, mixed_mdav
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import cpu

NUMERIC, ORDINAL, NOMINAL = 0, 1, 2


def plain(points, kinds, weights, k):
    """MDAV-generic on lists."""
    rows = points.tolist()

    def distance(a, b):
        total = 0.0
        for x, y, kind, weight in zip(a, b, kinds, weights, strict=True):
            total += (0.0 if x == y else weight) if kind == NOMINAL else (x - y) * (x - y)
        return total

    def average(left):
        result = []
        for v, kind in enumerate(kinds):
            column = sorted(rows[i][v] for i in left)
            if kind == NUMERIC:
                result.append(fsum(column) / len(column))
            elif kind == ORDINAL:
                result.append(column[(len(column) - 1) // 2])
            else:
                counts = Counter(column)
                result.append(min(x for x in counts if counts[x] == max(counts.values())))
        return result

    def farthest(left, target):
        return max(left, key=lambda i: (distance(rows[i], target), -i))

    def take(left, seed):
        others = [i for i in left if i != seed]
        near = sorted(others, key=lambda i: (distance(rows[i], rows[seed]), i))[: k - 1]
        groups.append([seed, *near])
        return [i for i in left if i not in groups[-1]]

    groups: list[list[int]] = []
    left = list(range(len(rows)))
    while len(left) >= 3 * k:
        r = farthest(left, average(left))
        left = take(left, r)
        left = take(left, farthest(left, rows[r]))
    if len(left) >= 2 * k:
        left = take(left, farthest(left, average(left)))
    groups.append(left)
    return [next(g for g, group in enumerate(groups) if i in group) for i in range(len(rows))]


def mixed_table(kind, n, d, seed):
    """A table with columns of all kinds, the categories of some frequent and of some rare."""
    rng = np.random.default_rng(seed)
    points = make_table(kind, n, d, seed)
    kinds = rng.integers(0, 3, size=d)
    for v in np.flatnonzero(kinds != NUMERIC):
        codes = rng.integers(0, rng.integers(1, 4 + n // 2), size=n)
        points[:, v] = codes if kinds[v] == NOMINAL else codes / (1 + codes.max())
    return points, kinds, rng.uniform(0, 3, size=d).round(1)


@pytest.mark.parametrize("engine", ["generic", "cpu"])
def test_a_nominal_variable_by_hand(engine):
    """Three records of each category: the mode is the first, and record 3 is farthest.

    The average is (5.5, A); records 2, 3 and 5 are of the other category, which is worth 100.
    Record 2 is nearest to 3; of the rest, 0 is farthest from 3 (121 + 100), and 1 nearest to 0.
    """
    points = np.array([[0.0, 0], [1, 0], [10, 1], [11, 1], [5, 0], [6, 1]])
    labels = mixed_mdav(points, 2, kinds=[0, 2], weights=[0, 100], engine=engine)
    assert labels.tolist() == [1, 1, 0, 0, 2, 2]


@pytest.mark.parametrize("engine", ["generic", "cpu"])
def test_an_ordinal_variable_by_hand(engine):
    """The lower median of 0, 1, 2, 3 is 1, so 3 leaves first, then 0, the farthest from it.

    That of 1 and 2 is 1, so 2 leaves next.
    """
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    labels = mixed_mdav(points, 1, kinds=[1], weights=[0], engine=engine)
    assert labels.tolist() == [1, 3, 2, 0]


@given(
    st.sampled_from(KINDS),
    st.integers(1, 90),
    st.integers(1, 6),
    st.integers(1, 6) | st.integers(1, 90),
    st.integers(0, 10**6),
)
def test_as_plain_python(kind, n, d, k, seed):
    points, kinds, weights = mixed_table(kind, n, d, seed)
    k = min(k, n)
    expected = plain(points, kinds, weights, k)
    for engine in ("generic", "cpu"):
        labels = mixed_mdav(points, k, kinds=kinds, weights=weights, engine=engine)
        assert labels.tolist() == expected


@pytest.mark.parametrize(("n", "k"), [(1500, 4), (1500, 300), (2600, 40)])
@pytest.mark.parametrize("kind", ["random", "grid", "equal"])
def test_several_tiles_of_records(kind, n, k):
    points, kinds, weights = mixed_table(kind, n, 5, seed=n + k)
    kinds[:3] = NUMERIC, ORDINAL, NOMINAL
    points[:, 2] = np.arange(n) % 7
    given = {"kinds": kinds, "weights": weights}
    expected = mixed_mdav(points, k, **given, engine="generic")
    assert np.array_equal(mixed_mdav(points, k, **given, engine="cpu"), expected)


@given(st.sampled_from(KINDS), st.integers(1, 200), st.integers(1, 5), st.integers(1, 9))
def test_numeric_variables_alone_are_mdav(kind, n, d, k):
    points = make_table(kind, n, d, seed=n)
    k = min(k, n)
    for engine in ("generic", "cpu"):
        labels = mixed_mdav(points, k, kinds=[NUMERIC] * d, weights=[1.0] * d, engine=engine)
        assert np.array_equal(labels, mdav(points, k, engine=engine))


@pytest.mark.parametrize("library", ARRAY_LIBRARIES)
def test_every_array_library(library):
    xp = importlib.import_module(library)
    points, kinds, weights = mixed_table("random", 60, 5, seed=3)
    kinds[:3] = NUMERIC, ORDINAL, NOMINAL
    points[:, 2] = np.arange(60) % 4
    labels = mixed_mdav(xp.asarray(points), 4, kinds=kinds, weights=weights, engine="generic")
    assert labels.tolist() == plain(points, kinds, weights, 4)


def test_progress_never_goes_back():
    fractions = []
    points, kinds, weights = mixed_table("random", 900, 3, seed=1)
    cpu.mixed_mdav_groups(points, kinds, weights, 3, fractions.append)
    assert fractions == sorted(fractions)
    assert 0.9 < fractions[-1] <= 1.0
