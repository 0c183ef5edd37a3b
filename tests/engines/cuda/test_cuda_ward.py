"""Ward's method on the device against the generic engine, to the label."""

import numpy as np
import pytest

from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table, scattered
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import launching, prim, ward

BLOCKS_THAT_FIT = launching.blocks_that_fit  # a fixture replaces it
SHAPES = [(1, 1, 1), (2, 1, 2), (size(10, 20), 1, 4), (size(15, 40), 2, 3), (5, 33, 2)]


def check(points: np.ndarray, k: int, labels=None, within=None, problems: int = 1) -> None:
    if labels is None:
        labels, within = scattered(len(points), k, problems, seed=len(points))
    expected = generic.merge_until_k(points, labels, within, k)
    found = ward.merge_until_k(points, labels, within, k)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


def alone(n: int) -> tuple[np.ndarray, np.ndarray]:
    """One problem, each record a group."""
    return np.arange(n), np.zeros(n, dtype=np.int64)


@pytest.mark.parametrize("kind", KINDS)
def test_one_problem(kind):
    for n, d, k in SHAPES:
        check(make_table(kind, n, d, seed=n), k)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision(kind):
    check(make_table(kind, size(14, 32), 2, seed=5).astype(np.float32), 4)


@pytest.mark.parametrize("kind", KINDS)
def test_single_records(kind):
    points = make_table(kind, size(16, 32), 2, seed=7)
    check(points, 3, *alone(len(points)))


@pytest.mark.parametrize("real", ["float64", "float32"])
@pytest.mark.parametrize("large", [0, 12, 10**6])
def test_many_problems(large, real, monkeypatch):
    """Some limits of what is large lie between the sizes of these problems."""
    monkeypatch.setattr(ward, "LARGE", large)
    for kind in ("grid", "equal"):
        points = make_table(kind, size(25, 60), 2, seed=6).astype(real)
        check(points, 3, problems=size(2, 5))
    within = np.repeat([3, 1, 2], [4, 15, len(points) - 19])
    check(points, 4, np.arange(len(points)), within)


def test_k_is_1_and_n_and_between():
    points = make_table("grid", size(9, 24), 2, seed=1)
    for k in (1, 2, len(points) // 2, len(points) - 1, len(points)):
        check(points, k)


def test_points_that_are_not_contiguous():
    check(make_table("random", size(12, 40), 6, seed=3)[:, ::2], 3)


def test_few_steps_a_launch(monkeypatch):
    """What a launch leaves is what the next one needs."""
    monkeypatch.setattr(prim, "BYTES_PER_LAUNCH", 3 * prim.BYTES_PER_STEP + 10_000)
    monkeypatch.setattr(ward, "WORK", 1)
    monkeypatch.setattr(ward, "BLOCKS", 1)
    points = make_table("grid", size(13, 70), 2, seed=4)
    fractions: list[float] = []
    start = alone(len(points))
    found = ward.merge_until_k(points, *start, 3, fractions.append)
    assert found.tolist() == generic.merge_until_k(points, *start, 3).tolist()
    assert len(fractions) > 2
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] <= 1
    check(points[: len(points) // 2], 3, problems=2)


@pytest.mark.skipif(SIMULATOR, reason="Numba's simulator cannot synchronise blocks")
@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_any_number_of_blocks(blocks, monkeypatch):
    monkeypatch.setattr(ward, "team_blocks", lambda groups: blocks)
    monkeypatch.setattr(launching, "blocks_that_fit", lambda *given: blocks)
    check(make_table("grid", 5, 2, seed=1), 3)
    check(make_table("duplicated", 30, 2, seed=2), 3)


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
def test_more_groups_than_threads(monkeypatch):
    monkeypatch.setattr(ward, "team_blocks", lambda groups: 1)
    points = make_table("clustered", 300, 1, seed=1)
    check(points, 2, *alone(300))


@pytest.mark.skipif(SIMULATOR, reason="blocks cannot meet in Numba's simulator")
def test_as_many_blocks_as_fit(monkeypatch):
    launches = []
    monkeypatch.setattr(launching, "LAUNCHES", launches)
    monkeypatch.setattr(launching, "blocks_that_fit", BLOCKS_THAT_FIT)
    points = make_table("grid", 100, 2, seed=1)
    check(points, 3, *alone(100))
    assert launches[-1][1] == 100 // 16
