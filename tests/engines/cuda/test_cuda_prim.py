"""Prim's method on the device against the generic engine's, edge by edge."""

import numpy as np
import pytest

from helpers.methods import assert_spanning_tree
from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels.cuda import launching, prim

BLOCKS_THAT_FIT = launching.blocks_that_fit  # a fixture replaces it
SHAPES = [(1, 1), (2, 1), (3, 4), (size(9, 70), 1), (size(22, 60), 2), (size(7, 34), 33)]


def check(points: np.ndarray, **options) -> None:
    assert_spanning_tree(*prim.prim(points, **options), points)


@pytest.mark.parametrize("kind", KINDS)
def test_tree(kind):
    for n, d in SHAPES:
        check(make_table(kind, n, d, seed=n))


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision(kind):
    check(make_table(kind, size(19, 65), 3, seed=2).astype(np.float32))


def test_points_that_are_not_contiguous():
    check(make_table("random", size(12, 40), 6, seed=3)[:, ::2])


def test_lengths_that_vanish():
    rng = np.random.default_rng(9)
    check(rng.integers(0, 5, size=(size(15, 50), 2)) * 1e-170)


def test_few_steps_a_launch(monkeypatch):
    """What a launch leaves is what the next one needs."""
    monkeypatch.setattr(prim, "BYTES_PER_LAUNCH", 3 * prim.BYTES_PER_STEP + 10_000)
    fractions: list[float] = []
    check(make_table("grid", size(13, 50), 2, seed=4), progress=fractions.append)
    assert len(fractions) > 2
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] <= 1


@pytest.mark.skipif(SIMULATOR, reason="Numba's simulator cannot synchronise blocks")
@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_any_number_of_blocks(blocks, monkeypatch):
    monkeypatch.setattr(prim, "team_blocks", lambda records: blocks)
    monkeypatch.setattr(launching, "blocks_that_fit", lambda *given: blocks)
    for kind in ("grid", "duplicated"):
        for n in (2, 5, 300):
            check(make_table(kind, n if blocks < 4 else min(n, 60), 2, seed=blocks))


@pytest.mark.skipif(SIMULATOR, reason="blocks cannot meet in Numba's simulator")
def test_as_many_blocks_as_fit(monkeypatch):
    launches = []
    monkeypatch.setattr(launching, "LAUNCHES", launches)
    monkeypatch.setattr(launching, "blocks_that_fit", BLOCKS_THAT_FIT)
    check(make_table("grid", 100, 2, seed=1))
    assert launches[-1][1] == 100 // 16
