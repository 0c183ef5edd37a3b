"""Squared distances of all pairs on CUDA: the matrix and the fused forms against NumPy."""

import numpy as np
import pytest

from helpers.strategies import make_table
from microagg_gpu.kernels.cuda import pairwise
from microagg_gpu.kernels.cuda.pairwise_kernels import SIDE, TILE
from microagg_gpu.kernels.generic.arrays import squared_distances

# Rows, columns, variables: single ones, fewer than a tile, whole tiles, several and a bit; the
# variables fill one tile of theirs, or three.
SHAPES = [
    (1, 1, 1),
    (TILE - 1, 2, 1),
    (TILE, TILE, SIDE),
    (TILE + 1, 2 * TILE + 3, SIDE + 1),
    (3, TILE + 2, 33),
]
KINDS = ("random", "grid", "duplicated", "equal")
REALS = (np.float64, np.float32)


def tables(kind, shape, real):
    """Two tables with rows in common, so that some distances are 0."""
    m, n, d = shape
    rows = make_table(kind, m + n, d, seed=m + n).astype(real)
    a, b = rows[:m], rows[m:]
    b[: m // 2] = a[: min(m // 2, n)]
    return a, b


def squares_of(a, b):
    return np.stack([squared_distances(b.T, row) for row in a])


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_matrix(kind, shape, real):
    a, b = tables(kind, shape, real)
    np.testing.assert_array_equal(pairwise.pairwise_distances(a, b), squares_of(a, b))
    np.testing.assert_array_equal(pairwise.pairwise_distances(b), squares_of(b, b))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_nearest_and_farthest(kind, shape, real):
    a, b = tables(kind, shape, real)
    squares = squares_of(a, b)
    nearest, index = pairwise.nearest_of_each(a, b)
    np.testing.assert_array_equal(index, np.argmin(squares, axis=1))
    np.testing.assert_array_equal(nearest, np.min(squares, axis=1))
    farthest, index = pairwise.farthest_of_each(a, b)
    np.testing.assert_array_equal(index, np.argmax(squares, axis=1))
    np.testing.assert_array_equal(farthest, np.max(squares, axis=1))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kind", KINDS)
def test_among_the_rows_themselves(kind, real):
    a = make_table(kind, TILE + 3, 2, seed=1).astype(real)
    squares = squares_of(a, a)
    np.fill_diagonal(squares, -1)
    farthest, index = pairwise.farthest_of_each(a)
    np.testing.assert_array_equal(index, np.argmax(squares, axis=1))
    np.testing.assert_array_equal(farthest, np.max(squares, axis=1))
    np.fill_diagonal(squares, np.inf)
    nearest, index = pairwise.nearest_of_each(a)
    np.testing.assert_array_equal(index, np.argmin(squares, axis=1))
    np.testing.assert_array_equal(nearest, np.min(squares, axis=1))


def test_one_row_by_itself_has_no_partner():
    assert pairwise.farthest_of_each(np.zeros((1, 2)))[1].tolist() == [-1]


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_only_allowed_rows_count(kind, share):
    a, b = tables(kind, (5, 2 * TILE + 1, 3), np.float64)
    allowed = np.random.default_rng(2).random(len(b)) < share
    allowed[-1] = True
    squares = np.where(allowed, squares_of(a, b), np.inf)
    nearest, index = pairwise.nearest_of_each(a, b, allowed)
    np.testing.assert_array_equal(index, np.argmin(squares, axis=1))
    np.testing.assert_array_equal(nearest, np.min(squares, axis=1))


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("k", [1, 2, TILE + 1, 2 * TILE + 3])
@pytest.mark.parametrize("kind", KINDS)
def test_k_nearest(kind, k, real):
    a, b = tables(kind, (3, 2 * TILE + 3, 2), real)
    squares = squares_of(a, b)
    expected = np.argsort(squares, axis=1, stable=True)[:, :k]
    nearest, index = pairwise.k_nearest_of_each(a, b, k)
    np.testing.assert_array_equal(index, expected)
    np.testing.assert_array_equal(nearest, np.take_along_axis(squares, expected, axis=1))


@pytest.mark.parametrize(("work", "entries", "blocks"), [(1, 1, 1), (1, 1, 99), (2**33, 2**24, 1)])
def test_in_launches_of_any_size(monkeypatch, work, entries, blocks):
    monkeypatch.setattr(pairwise, "WORK", work)
    monkeypatch.setattr(pairwise, "ENTRIES", entries)
    monkeypatch.setattr(pairwise, "BLOCKS", blocks)
    a, b = tables("grid", (TILE + 2, 2 * TILE + 3, 2), np.float64)
    squares = squares_of(a, b)
    np.testing.assert_array_equal(pairwise.pairwise_distances(a, b), squares)
    np.testing.assert_array_equal(pairwise.pairwise_distances(a), squares_of(a, a))
    index = pairwise.k_nearest_of_each(a, b, 2)[1]
    np.testing.assert_array_equal(index, np.argsort(squares, axis=1, stable=True)[:, :2])
