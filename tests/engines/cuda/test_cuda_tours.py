"""Tours on CUDA, a block to each, against those of the generic engine."""

import numpy as np
import pytest

from helpers.simulators import size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import tours
from microagg_gpu.kernels.generic import tours as generic_tours

TOURS = ("insertion", "nearest")
REALS = (np.float64, np.float32)


def check(points, tour, window):
    expected = generic.hamiltonian_paths(points, tour, window)
    paths = tours.hamiltonian_paths(points, tour, window)
    assert paths.dtype == np.int64
    np.testing.assert_array_equal(paths, expected)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("tour", TOURS)
@pytest.mark.parametrize("kind", KINDS)
def test_tours(kind, tour, real):
    check(make_table(kind, size(7, 13), 2, seed=6).astype(real), tour, size(4, 7))


@pytest.mark.parametrize("window", [0, 1, 2, 50])
@pytest.mark.parametrize("tour", TOURS)
def test_windows(tour, window):
    check(make_table("grid", size(8, 24), 3, seed=1), tour, window)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("tour", TOURS)
def test_few_records(tour, n):
    check(make_table("random", n, 33, seed=n), tour, 50)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("tour", TOURS)
def test_more_records_than_threads(tour, real):
    """Two tours only, since these take long."""
    n = size(9, 270)
    points = make_table("grid", n, 4, seed=2).astype(real)
    lengths = tours.lengths_between(points)
    np.testing.assert_array_equal(lengths, generic_tours._lengths(points))
    closed = tours.tours_from(lengths, n - 2, n, tour, n, lambda share: None)
    expected = generic.hamiltonian_paths(points, tour, n)[-2:]
    np.testing.assert_array_equal(closed[:, :n], expected)


@pytest.mark.parametrize("tour", TOURS)
def test_tells_progress_between_launches(tour, monkeypatch):
    points = make_table("duplicated", size(7, 12), 2, seed=3)
    monkeypatch.setattr(tours, "TOURS", 3)
    monkeypatch.setattr(tours, "WORK", 3 * 3 * len(points))
    fractions: list[float] = []
    paths = tours.hamiltonian_paths(points, tour, 5, fractions.append)
    np.testing.assert_array_equal(paths, generic.hamiltonian_paths(points, tour, 5))
    assert len(fractions) > len(points) / 3
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
