"""The lower bound of the SSE against the optimum, found by trying all partitions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.methods import run
from helpers.strategies import KINDS, cases, make_table
from microagg_gpu import InputError
from microagg_gpu.kernels import cpu, generic
from microagg_gpu.measures import lower_bound, sse, sst
from microagg_gpu.measures.bound import Relaxation, bound_by
from reference.brute import exact_sse, optimum


def neighbour_bound(points, k):
    """The bound that is easy: the k - 1 least squared distances of each record, over 2k."""
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    return np.sort(squares, axis=1)[:, 1:k].sum() / (2 * k)


@given(
    st.sampled_from(KINDS),
    st.integers(1, 11),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(0, 10**6),
)
def test_between_the_easy_bound_and_the_optimum(kind, n, d, k, seed):
    k = min(n, k)
    points = make_table(kind, n, d, seed)
    best, labels = optimum(points, k)
    bound = lower_bound(points, k)
    assert 0.0 <= Fraction(bound) <= exact_sse(points, labels)
    assert bound >= neighbour_bound(points, k) * (1 - 1e-9)
    if d == 1 or n < 2 * k:
        assert bound == pytest.approx(best, rel=1e-9, abs=1e-20)


@given(cases(most=300))
def test_below_what_methods_reach(case):
    bound = lower_bound(case.data, case.k)
    for method in ("mdav", "kward"):
        labels = run(method, case.data, case.k)
        assert Fraction(bound) <= exact_sse(case.data, labels)


def test_far_clusters():
    """The only partition worth anything: groups of 3, 4 and 5, however they are numbered."""
    rng = np.random.default_rng(2)
    group = rng.permutation(np.repeat(np.arange(30), np.tile([3, 4, 5], 10)))
    points = 1e3 * rng.normal(size=(30, 4))[group] + rng.normal(size=(120, 4))
    assert 0.99 * sse(points, group) < lower_bound(points, 3) <= sse(points, group)


@pytest.mark.parametrize("k", [3, 10])
def test_triangles_and_sets_help(k):
    points = make_table("clustered", 300, 3, 1)
    alone = Relaxation(points, k, cpu).solve(None, rounds=1)
    assert neighbour_bound(points, k) < alone < 0.97 * lower_bound(points, k)


def test_one_variable_is_the_optimum():
    points = make_table("random", 2000, 1, 3)
    labels = run("optimal", points, 4)
    assert lower_bound(points, 4) == pytest.approx(sse(points, labels), rel=1e-9)
    assert lower_bound(points[:, 0], 4) == lower_bound(points, 4)


def test_nothing_to_lose():
    threes = np.repeat(make_table("random", 50, 3, 1), 3, axis=0)
    assert lower_bound(threes, 3) == 0.0
    assert lower_bound(threes, 1) == 0.0
    assert lower_bound(np.full((40, 2), 0.3), 4) == 0.0


@pytest.mark.parametrize("power", [-500, -300, 30, 490])
def test_units_do_not_matter(power):
    points = make_table("random", 60, 3, 1)
    assert lower_bound(points * 2.0**power, 3) == lower_bound(points, 3) * 4.0**power


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_finds_all_pairs_that_count(kind):
    from microagg_gpu.kernels.cpu import boxes, relaxation

    n = 1500
    points = make_table(kind, n, 3, 5)
    squares = cpu.neighbours(points, 4)[0]
    z = squares[:, 3] * np.random.default_rng(1).uniform(0, 2, n)
    i, j = np.triu_indices(n, 1)
    counts = relaxation.squares_of(points, i, j) < z[i] + z[j]
    found = relaxation.cheap_pairs(points, boxes.build(points, np.arange(n)), z)
    assert set((i * n + j)[counts].tolist()) <= set(found.tolist())
    low, high = np.divmod(found, n)
    assert (relaxation.squares_of(points, low, high) < (1 + 1e-12) * (z[low] + z[high])).all()
    assert len(np.unique(found)) == len(found)


@pytest.mark.parametrize("kind", KINDS)
def test_loops_of_both_engines_agree(kind):
    points = make_table(kind, 60, 3, 2)
    found = [bound_by(engine, points, 3, None, None, None) for engine in (generic, cpu)]
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_a_tree_changes_the_bound_by_little(kind, monkeypatch):
    points = make_table(kind, 60, 3, 2)
    in_order = bound_by(cpu, points, 3, None, None, None)
    monkeypatch.setattr("microagg_gpu.kernels.cpu.pair_loops.FEW", 10)
    assert bound_by(cpu, points, 3, None, None, None) == pytest.approx(in_order, rel=0.01)


def test_progress_and_wrong_arguments():
    fractions = []
    points = make_table("random", 80, 3, 0)
    lower_bound(points, 3, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert lower_bound(points, 60) == pytest.approx(sst(points))
    with pytest.raises(InputError, match="k is 81 for 80 records"):
        lower_bound(points, 81)
