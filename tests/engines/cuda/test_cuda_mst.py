"""The minimum spanning tree on the device against the generic engine's, edge by edge."""

import numpy as np
import pytest

from helpers.methods import assert_spanning_tree
from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels.cuda import mst

SHAPES = [(1, 1), (2, 1), (3, 4), (size(9, 70), 1), (size(7, 700), 2), (size(6, 90), 33)]


def check(points: np.ndarray, **options) -> None:
    assert_spanning_tree(*mst.minimum_spanning_tree(points, **options), points)


@pytest.mark.parametrize("kind", KINDS)
def test_tree(kind):
    for n, d in SHAPES:
        check(make_table(kind, n, d, seed=n))


@pytest.mark.parametrize("kind", KINDS if not SIMULATOR else ["grid"])
def test_single_precision(kind):
    check(make_table(kind, size(9, 300), 3, seed=2).astype(np.float32))


def test_points_that_are_not_contiguous():
    check(make_table("random", size(8, 40), 6, seed=3)[:, ::2])


def test_lengths_that_vanish():
    rng = np.random.default_rng(9)
    check(rng.integers(0, 5, size=(size(10, 50), 2)) * 1e-170)


@pytest.mark.skipif(SIMULATOR, reason="NumPy warns of every product that is too large")
def test_lengths_too_large_for_numbers():
    """Boruvka's rounds cannot go on; Prim's method takes the edges of the lowest records."""
    check(np.array([[0.0], [1.0], [1e200], [1e200 + 1e190]]))


@pytest.mark.parametrize("listed", [1, 2])
@pytest.mark.parametrize("kind", ["clustered", "grid", "duplicated", "equal"])
def test_lists_that_are_too_short(kind, listed, monkeypatch):
    """Nearly every component has to search the tree, in every round."""
    monkeypatch.setattr(mst, "LISTED", listed)
    check(make_table(kind, size(12, 500), 2, seed=6))


@pytest.mark.parametrize("stages", [(1,), (3, 1), (1000, 2, 1)])
def test_stages_of_any_size(stages, monkeypatch):
    monkeypatch.setattr(mst, "LISTED", 1)
    monkeypatch.setattr(mst, "STAGES", stages)
    for kind in ("grid",) if SIMULATOR else ("clustered", "grid"):
        check(make_table(kind, size(10, 300), 3, seed=7))


def test_clusters_far_apart():
    """No list leads out of a cluster: its records search without a limit."""
    rng = np.random.default_rng(2)
    centres = rng.integers(0, 3, size=(size(3, 12), 2)) * 1e4
    check(np.repeat(centres, size(5, 50), axis=0) + rng.normal(size=(size(15, 600), 2)))


def test_gaps_that_grow():
    """Every component hangs onto the one before: a chain of all of them in a single round."""
    check(np.arange(float(size(11, 400)))[:, None] ** 2)


def test_progress():
    fractions: list[float] = []
    check(make_table("grid", size(9, 100), 2, seed=4), progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
def test_prim_takes_over_where_boxes_exclude_nothing(monkeypatch):
    used = []
    prim = mst.prim
    monkeypatch.setattr(mst, "SAMPLE", 4)
    monkeypatch.setattr(mst, "prim", lambda *given: used.append(1) or prim(*given))
    check(np.random.default_rng(0).normal(size=(320, 40)))
    assert used
    used.clear()
    check(np.random.default_rng(0).normal(size=(320, 1)))
    assert not used
