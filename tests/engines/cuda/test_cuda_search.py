"""Neighbours and record linkage by the tree on the device against the generic engine."""

import numpy as np
import pytest

from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import boxes, search, single
from microagg_gpu.kernels.cuda.warp import LANES

REALS = [np.float64] if SIMULATOR else [np.float64, np.float32]
# Records, variables, neighbours: alone, all others, more than a warp has lanes.
SHAPES = [(1, 1, 0), (2, 1, 1), (size(6, 70), 3, size(5, 40)), (size(9, 1200), 2, 3)]
SHAPES += [(size(5, 33), 33, size(4, 32))]


def check_neighbours(points: np.ndarray, m: int, **options) -> None:
    squares, records = search.neighbours(points, m, **options)
    expected, expected_records = generic.neighbours(points, m)
    assert (squares.dtype, records.dtype) == (np.float64, np.int64)
    np.testing.assert_array_equal(squares, expected)
    np.testing.assert_array_equal(records, expected_records)


def check_linkage(points: np.ndarray, queries: np.ndarray, **options) -> None:
    found = search.nearest_records(points, queries, **options)
    with np.errstate(over="ignore"):
        expected = generic.nearest_records(points, queries)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kind", KINDS)
def test_neighbours(kind, real):
    for n, d, m in SHAPES:
        check_neighbours(make_table(kind, n, d, seed=n).astype(real), m)


@pytest.mark.parametrize("kind", ["grid", "equal"])
def test_more_duplicates_than_a_list_holds(kind):
    points = np.repeat(make_table(kind, 3, 2, seed=5), size(3, 400), axis=0)
    check_neighbours(points[np.random.default_rng(0).permutation(len(points))], 3)


def test_as_many_neighbours_as_there_are():
    n = size(7, 150)
    check_neighbours(make_table("grid", n, 2, seed=1), n - 1)


@pytest.mark.parametrize("kind", KINDS)
def test_linkage(kind):
    for real in REALS:
        for n, d in [(1, 1), (size(6, 70), 3), (size(18, 1200), 2), (size(5, 40), 33)]:
            rows = make_table(kind, 2 * n, d, seed=n).astype(real)
            points, queries = rows[:n], np.concatenate([rows[n:], rows[: n // 2]])
            check_linkage(points, queries[: size(4, 400)])


def test_linkage_without_queries():
    check_linkage(np.zeros((3, 2)), np.zeros((0, 2)))


def test_linkage_counts_thousands_of_equal_records_by_their_boxes():
    """A query that looked into all of them would need a launch of its own."""
    points = np.repeat([[0.0, 1.0], [2.0, 1.0]], size(8, 5000), axis=0)
    check_linkage(points, np.array([[0.0, 1.0], [1.0, 1.0], [5.0, -1.0]]))


@pytest.mark.skipif(SIMULATOR, reason="NumPy warns of every product that is too large")
def test_linkage_where_squares_are_too_large_for_numbers():
    points = np.array([[-1e200], [1e200], [1e199]])
    check_linkage(points, np.array([[1e200], [-3e200], [9e307]]))


def test_linkage_of_a_table_that_is_not_contiguous():
    rows = make_table("random", size(12, 300), 4, seed=3)
    check_linkage(rows[:, ::2], rows[::2, 1::2])
    check_neighbours(rows[:, ::2], 2)


def test_launches_of_any_size(monkeypatch):
    monkeypatch.setattr(search, "_FIRST", 2)
    monkeypatch.setattr(search.Pace, "SECONDS", 0.0)
    points = make_table("grid", size(9, 60), 2, seed=4)
    fractions: list[float] = []
    check_neighbours(points, 2, progress=fractions.append)
    check_linkage(points, points[::2], progress=fractions.append)
    second = fractions.index(1.0) + 1
    assert fractions == sorted(fractions[:second]) + sorted(fractions[second:])
    assert fractions.count(1.0) == 2


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
def test_few_leaves_are_looked_at():
    """The tree excludes nearly all of 5,000 records in the plane."""
    points = make_table("random", 5000, 2, seed=1)
    squares, records = np.empty((5000, 4)), np.empty((5000, 4), dtype=np.int64)
    tree = single.flattened(boxes.build(points))
    looked = search.fill_rows(tree, 0, 64, squares, records)
    assert 64 <= looked < 64 * 12 < 64 * 5000 / LANES
