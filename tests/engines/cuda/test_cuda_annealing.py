"""Annealing on the device against the generic engine's, to the bit."""

import numpy as np
import pytest

from helpers.simulators import PTXRUN, SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import cuda, generic
from microagg_gpu.kernels.arguments import Sweep
from microagg_gpu.kernels.cuda import annealing

HEATS = (0.0, 0.3, 1e3)


def random_groups(n: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Labels of n records in random groups of k to 3k."""
    sizes = []
    while (left := n - sum(sizes)) >= 2 * k:
        sizes.append(int(rng.integers(k, min(3 * k, left - k) + 1)))
    return rng.permutation(np.repeat(np.arange(len(sizes) + 1), [*sizes, left]))


def check(
    points: np.ndarray, k: int, m: int, heat: float, rate: float, seed: int, scale: float = 1.0
) -> np.ndarray:
    """Anneal random groups in up to three regions by both engines; the new labels."""
    rng = np.random.default_rng(seed)
    n = len(points)
    near = generic.neighbours(points, min(m, n - 1))[1]
    near[rng.random(near.shape) < rng.choice([0.0, 0.4])] = -1
    points = scale * points
    labels = random_groups(n, k, rng)
    groups = rng.permutation(labels.max() + 1)
    cuts = rng.integers(0, len(groups) + 1, size=2)
    heats = heat * rng.choice([0.5, 1.0], size=n)
    sweep = Sweep(groups, np.sort([0, *cuts, len(groups)]), heats, rate, np.uint64(seed))
    found, expected = labels.copy(), labels.copy()
    value = cuda.anneal(points, near, found, k, sweep)
    assert value == generic.anneal(points, near, expected, k, sweep)
    np.testing.assert_array_equal(found, expected)
    return found


@pytest.mark.parametrize("heat", HEATS)
@pytest.mark.parametrize("kind", KINDS)
def test_regions_are_annealed(kind, heat):
    for n, d, k, m in [
        (1, 1, 1, 0),
        (size(9, 70), 2, 2, 5),
        (size(14, 150), 5, 3, 20),
        (size(10, 120), 10, 5, 16),
    ]:
        points = make_table(kind, n, d, seed=n)
        check(points, k, m, heat, size(3, 60), seed=n + d)


@pytest.mark.parametrize("kind", KINDS)
def test_records_are_divided_into_regions(kind):
    for n, d, k, regions in [(1, 1, 1, 1), (8, 1, 2, 4), (size(14, 200), 3, 2, 3), (30, 10, 1, 7)]:
        points = make_table(kind, n, d, seed=n)
        labels = random_groups(n, k, np.random.default_rng(n))
        regions = min(regions, labels.max() + 1)
        found = cuda.divide(points, labels, regions, np.uint64(n))
        for ours, theirs in zip(
            found, generic.divide(points, labels, regions, np.uint64(n)), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
        assert sorted(found[0]) == list(range(labels.max() + 1))


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
@pytest.mark.parametrize("k", [2, 40])
def test_regions_too_large_for_shared_memory(monkeypatch, k):
    points = make_table("clustered", 300, 4, seed=0)
    inside = check(points, k, 12, 0.1, 30, seed=1)
    monkeypatch.setattr(annealing, "SHARED", 0)
    np.testing.assert_array_equal(inside, check(points, k, 12, 0.1, 30, seed=1))


@pytest.mark.parametrize("shared", [0, annealing.SHARED])
def test_launches_of_one_step(monkeypatch, shared):
    """In either memory; a launch may end without any change."""
    points = make_table("random", size(12, 60), 3, seed=0)
    monkeypatch.setattr(annealing, "SHARED", shared)
    monkeypatch.setattr(annealing, "FIRST", 1)
    monkeypatch.setattr(annealing.Pace, "SECONDS", 0.0)
    check(points, 3, 8, 0.3, size(2, 10), seed=2)


@pytest.mark.skipif(SIMULATOR, reason="NumPy warns of numbers that are too large")
@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_squares_too_small_or_too_large_for_a_number(scale):
    check(make_table("random", 42, 3, 0), 3, 8, 1.0, 20, seed=3, scale=scale)


@pytest.mark.skipif(not PTXRUN, reason="only compiled code has instructions")
def test_a_step_takes_as_many_instructions_of_few_records_as_of_many(monkeypatch):
    """At temperature 0, from groups of neighbours on a line, so that as many changes are made."""
    import ptxrun

    monkeypatch.setattr(annealing, "FIRST", 2**30)  # a single launch, however slow
    k, each = 4, []
    for n in (80, 320):
        points = np.arange(2.0 * n).reshape(n, 2)
        near = generic.neighbours(points, 8)[1]
        labels = np.arange(n) // k
        sweep = Sweep(np.arange(n // k), np.array([0, n // k]), np.zeros(n), 10.0, np.uint64(1))
        ptxrun.reset()
        cuda.anneal(points, near, labels, k, sweep)
        taken = [stats for kernel, stats in ptxrun.launches if "anneal_in" in kernel]
        assert sum(stats.barriers + stats.grid_syncs for stats in taken) == 0
        each.append(sum(stats.instructions for stats in taken) / (10 * n))
    assert each[1] < 1.25 * each[0]
