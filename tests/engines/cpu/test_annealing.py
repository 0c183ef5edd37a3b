"""Annealing: the engines draw the same numbers and make the same changes; k and sums are kept."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import cases, make_table
from microagg_gpu import measures
from microagg_gpu.kernels import cpu, generic
from microagg_gpu.kernels.arguments import Sweep
from microagg_gpu.kernels.cpu.draws import below, draw, seed_stream, unit
from microagg_gpu.kernels.generic.annealing import Draws
from microagg_gpu.methods.annealing import neighbour_lists


def random_groups(n, k, rng):
    """Labels of n records in random groups of k to 3k."""
    sizes = []
    while (left := n - sum(sizes)) >= 2 * k:
        sizes.append(int(rng.integers(k, min(3 * k, left - k) + 1)))
    labels = np.repeat(np.arange(len(sizes) + 1), [*sizes, left])
    return rng.permutation(labels)


@st.composite
def problems(draw, most):
    """What `anneal` takes, but for the rate: regions of any size, some neighbours left out."""
    _, points, k = draw(cases(most=most))
    n = len(points)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    near, _ = neighbour_lists(points, k, None, generic)
    near[rng.random(near.shape) < draw(st.sampled_from([0.0, 0.5, 1.0]))] = -1
    labels = random_groups(n, k, rng)
    groups = rng.permutation(labels.max() + 1)
    cuts = rng.integers(0, len(groups) + 1, size=draw(st.integers(0, 3)))
    starts = np.sort([0, *cuts, len(groups)])
    heat = draw(st.sampled_from([0.0, 1e-3, 0.3, 1e3, np.inf])) * rng.choice([0.5, 1.0], size=n)
    return points, near, labels, k, groups, starts, heat, draw(st.integers(0, 2**64 - 1))


def annealed(engine, problem, rate):
    """New labels, and the sum of squares."""
    points, near, labels, k, groups, starts, heat, seed = problem
    new = labels.copy()
    sweep = Sweep(groups, starts, heat, rate, np.uint64(seed))
    value = engine.anneal(points, near, new, k, sweep)
    return new, value


@given(problems(most=300), st.sampled_from([0.0, 1.0, 12.5]))
def test_engines_make_the_same_changes(problem, rate):
    slow, fast = annealed(generic, problem, rate), annealed(cpu, problem, rate)
    assert slow[0].tolist() == fast[0].tolist()
    assert slow[1] == fast[1]


@given(problems(most=600), st.sampled_from([0.0, 1.0, 50.0]))
def test_k_is_kept_and_squares_add_up(problem, rate):
    points, _, labels, k, groups, starts, heat, _ = problem
    new, value = annealed(cpu, problem, rate)
    sizes = np.unique(new, return_counts=True)[1]
    assert sizes.min() >= k
    assert sizes.max() <= 3 * k
    assert 0 <= new.min() <= new.max() < len(points)
    scale = 1 + np.abs(points).max() ** 2 * len(points)
    assert value == pytest.approx(measures.sse(points, new), rel=1e-9, abs=1e-12 * scale)
    if heat.max() == 0:
        assert value <= measures.sse(points, labels) + 1e-12 * scale
    region = np.empty(len(groups), dtype=np.int64)
    region[groups] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for g in np.unique(new):  # groups of one region never meet another's
        assert len(set(region[labels[new == g]])) == 1


@given(cases(most=600), st.integers(1, 9), st.integers(0, 2**64 - 1))
def test_every_group_is_in_one_region_and_the_first_line_parts_them(case, regions, seed):
    _, points, k = case
    labels = random_groups(len(points), k, np.random.default_rng(0))
    count = labels.max() + 1
    regions = min(regions, count)
    groups, starts = generic.divide(points, labels, regions, np.uint64(seed))
    assert sorted(groups.tolist()) == list(range(count))
    sizes = np.diff(starts)
    assert (starts[0], starts[-1]) == (0, count)
    assert sizes.min() >= 1
    assert sizes.max() <= sizes.min() + 1
    if regions > 1:
        centroids = np.stack([points[labels == g].mean(axis=0) for g in range(count)])
        draws = Draws(seed, 1)
        a = draws.below(count)
        b = (a + 1 + draws.below(count - 1)) % count
        along = centroids @ (centroids[a] - centroids[b])
        first, rest = np.split(along[groups], [starts[regions // 2]])
        assert first.max() <= rest.min() + 1e-9 * np.abs(along).max()


def test_sum_does_not_depend_on_the_number_of_threads():
    n, k = 1200, 3
    points = make_table("random", n, 5, 0)
    near, _ = neighbour_lists(points, k, None, cpu)
    labels, groups = np.arange(n) // k, np.arange(n // k)
    starts = np.arange(0, n // k + 1, 25)
    threads = numba.get_num_threads()
    sums = []
    try:
        for count in range(1, threads + 1):
            numba.set_num_threads(count)
            for seed in range(10):
                problem = points, near, labels, k, groups, starts, np.full(n, 0.1), seed
                sums.append(annealed(cpu, problem, 1.0)[1])
    finally:
        numba.set_num_threads(threads)
    assert sums == sums[:10] * threads


@pytest.mark.parametrize("scale", [1e-170, 1e160])
def test_squares_too_small_or_too_large_for_a_number(scale):
    """Nothing is known of the distances then; still groups are groups, and the engines agree."""
    n, k = 42, 3
    points = make_table("random", n, 3, 0)
    near, _ = neighbour_lists(points, k, None, cpu)
    starts = np.array([0, 5, 14])
    problem = scale * points, near, np.arange(n) // k, k, np.arange(14), starts, np.ones(n), 0
    slow, fast = annealed(generic, problem, 20.0)[0], annealed(cpu, problem, 20.0)[0]
    assert slow.tolist() == fast.tolist()
    assert np.unique(fast, return_counts=True)[1].min() >= k


@numba.njit
def some_draws(seed, stream, m, bits, whole, units):
    random = np.empty(1, dtype=np.uint64)
    seed_stream(random, seed, stream)
    for a in range(len(bits)):
        bits[a], whole[a], units[a] = draw(random), below(random, m), unit(random)


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**6), st.integers(1, 2**32 - 1))
def test_engines_draw_the_same_numbers(seed, stream, m):
    bits, whole, units = np.empty(9, dtype=np.uint64), np.empty(9, dtype=np.int64), np.empty(9)
    some_draws(np.uint64(seed), stream, m, bits, whole, units)
    draws = Draws(seed, stream)
    drawn = [(draws.bits(), draws.below(m), draws.unit()) for _ in range(9)]
    assert list(zip(bits.tolist(), whole.tolist(), units.tolist(), strict=True)) == drawn


def test_streams_are_seeded_by_splitmix64():
    """The first output of the generator started with 0 is well known, and odd as it is."""
    assert Draws(0, 0)._state == 0xE220A8397B1DCDAF
