"""The best changes of a partition on the device against the generic engine's."""

import numpy as np
import pytest

from helpers.methods import state_of
from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import moves, search


def random_groups(n: int, k: int, seed: int) -> np.ndarray:
    """Labels of n records in random groups of k to 2k - 1."""
    rng = np.random.default_rng(seed)
    labels = np.empty(n, dtype=np.int64)
    groups = max(1, rng.integers(-(-n // (2 * k - 1)), n // k + 1))
    labels[rng.permutation(n)] = np.arange(n) % groups
    return labels


def check(points: np.ndarray, k: int, near: np.ndarray, records: np.ndarray, least=1e-9) -> None:
    state = state_of(points, random_groups(len(points), k, seed=k), k)
    found = moves.best_moves(points, state, near, records, k, least)
    expected = generic.best_moves(points, state, near, records, k, least)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_best_moves(kind, real):
    for n, d, k, m in [
        (1, 1, 1, 0),
        (4, 2, 2, 3),
        (size(11, 200), 3, 3, 4),
        (size(9, 120), 2, 1, 5),
    ]:
        points = make_table(kind, n, d, seed=n).astype(real)
        near = generic.neighbours(points, min(m, n - 1))[1]
        check(points, k, near, np.arange(n)[::-1].copy())


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
def test_groups_of_more_records_than_a_warp_has_lanes():
    points = make_table("grid", 300, 2, seed=2)
    check(points, 35, generic.neighbours(points, 40)[1], np.arange(300))


def test_neighbours_that_are_not_there_and_records_that_are_not_asked():
    n = size(10, 90)
    points = make_table("random", n, 2, seed=3)
    near = generic.neighbours(points, 4)[1]
    near[::3, 1] = -1
    near[1::3, 2:] = -1
    check(points, 2, near, np.arange(0, n, 2))
    check(points, 2, near, np.arange(0))


def test_small_launches(monkeypatch):
    monkeypatch.setattr(search, "_FIRST", 2)
    monkeypatch.setattr(search.Pace, "SECONDS", 0.0)
    points = make_table("grid", size(9, 60), 2, seed=4)
    check(points, 2, generic.neighbours(points, 3)[1], np.arange(len(points)))
