"""The lower bound by set partitioning against the optimum, found by trying all partitions."""

import sys
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import KINDS, make_table
from microagg_gpu import InputError, microaggregate
from microagg_gpu.kernels.cpu import price
from microagg_gpu.measures import lower_bound, sse
from microagg_gpu.measures.limits import Limits
from reference.brute import exact_sse, optimum

pytest.importorskip("highspy")
LONG = 600.0  # seconds: all ends by itself before


def all_groups(n, k):
    return [group for m in range(k, min(2 * k, n + 1)) for group in combinations(range(n), m)]


def exact_group(points, group):
    return exact_sse(points[list(group)], np.zeros(len(group), dtype=np.int64))


@given(
    st.sampled_from(KINDS),
    st.integers(4, 11),
    st.integers(2, 13),
    st.integers(2, 5),
    st.integers(0, 10**6),
    st.sampled_from([1.0, 1e-120, 1e120]),
)
def test_between_pairs_and_the_optimum(kind, n, d, k, seed, unit):
    k = min(n, k)
    points = unit * make_table(kind, n, d, seed)
    _, labels = optimum(points, k)
    for given_labels in (None, labels):
        bound = lower_bound(points, k, seconds=LONG, labels=given_labels)
        assert lower_bound(points, k) <= bound
        assert 0.0 <= Fraction(bound) <= exact_sse(points, labels)


def test_it_is_the_optimum_where_the_program_has_whole_groups():
    """Groups far from each other, of 3, 4 and 5; those of 4 and 5 need limits."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(9), np.tile([3, 4, 5], 3))
    points = 1e3 * rng.normal(size=(9, 3))[group] + rng.normal(size=(36, 3))
    best = sse(points, group)
    assert lower_bound(points, 3, seconds=LONG) == pytest.approx(best, rel=1e-7)
    assert lower_bound(points, 3, seconds=LONG, labels=group) == pytest.approx(best, rel=1e-7)


def test_most_small_cases_close():
    """Random records leave little between the program with limits and the optimum."""
    closed = 0
    for seed in range(20):
        points = make_table("random", 10, 3, seed)
        best, labels = optimum(points, 2 + seed % 3)
        bound = lower_bound(points, 2 + seed % 3, seconds=LONG, labels=labels)
        assert Fraction(bound) <= exact_sse(points, labels)
        closed += bound > best * (1 - 1e-6)
    assert closed >= 15


@given(
    st.sampled_from(KINDS),
    st.integers(2, 4),
    st.integers(0, 10**6),
    st.sampled_from([0, 60, 10**6]),
    st.booleans(),
)
def test_prices_that_no_group_can_beat(kind, k, seed, steps, limited):
    """Whatever the prices, fines and steps: afterwards no group pays more than it costs."""
    rng, n = np.random.default_rng(seed), 10
    points = make_table(kind, n, 3, seed)
    squares = ((points[:, np.newaxis] - points) ** 2).sum(axis=2)
    nearest = np.zeros((n, 2 * k))
    nearest[:, 1:] = np.cumsum(np.sort(squares, axis=1)[:, 1 : 2 * k], axis=1)
    before = rng.uniform(-0.2, 1, n) * squares.mean()
    prices = before.copy()
    sets = [rng.choice(n, 5, replace=False) for _ in range(6 * limited)]
    members = np.concatenate([*sets, np.empty(0, dtype=np.int64)]).astype(np.int64)
    number = np.repeat(np.arange(len(sets)), 5)[np.argsort(members, kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=n))])
    fines = rng.uniform(0, 1, len(sets)) * squares.mean()
    sizes = rng.integers(2, k + 1, len(sets))
    room = np.empty((100, 2 * k - 1), dtype=np.int64)
    order, place, found = rng.permutation(n), 0, []
    while place < n:
        place, count, _ = price(
            points, order, place, nearest, prices, (start, number, fines, sizes), k, steps, room
        )
        found += [tuple(sorted(row[row >= 0].tolist())) for row in room[:count]]
    assert (prices <= before).all()
    groups = all_groups(n, k)
    assert set(found) <= set(groups)
    slack = 1e-12 * float(np.abs(before).sum() + fines.sum())
    paid_too_much = False
    for group in groups:
        fined = [f for f, s, q in zip(fines, sets, sizes, strict=True) if len({*group} & {*s}) >= q]
        cost = float(exact_group(points, group)) + sum(fined)
        assert prices[list(group)].sum() <= cost + slack
        paid_too_much |= before[list(group)].sum() > cost + slack
    if steps == 10**6:
        assert bool(found) or not paid_too_much


def test_limits_hold_for_partitions_and_cut_thirds_of_groups():
    groups = np.array([[*g, -1, -1] for g in combinations(range(4), 3)])
    limits = Limits(4)
    assert limits.renew(np.zeros(0, dtype=bool), groups, np.full(4, 1 / 3), 3) > 0
    group, limit = limits.broken(groups)
    total = np.bincount(limit, np.full(len(group), 1 / 3), len(limits.most))
    assert (total > limits.most).all()
    group, limit = limits.broken(np.array([[0, 1, 2, 3, -1]]))
    assert (np.bincount(limit, minlength=len(limits.most)) <= limits.most).all()


def test_more_time_is_never_worse_and_little_time_is_enough():
    points = make_table("clustered", 120, 4, 1)
    plain = lower_bound(points, 3)
    short, long = (lower_bound(points, 3, seconds=s) for s in (1e-6, LONG))
    assert 0.0 < short <= plain <= long
    labels = microaggregate(points, 3, "mdav", standardize=False).labels
    assert long <= sse(points, labels)


def test_interrupted_it_has_the_best_so_far(monkeypatch):
    points = make_table("clustered", 100, 4, 2)
    fractions = []

    def progress(fraction):
        fractions.append(fraction)
        if len(fractions) == 20:
            raise KeyboardInterrupt

    bound = lower_bound(points, 3, seconds=LONG, progress=progress)
    assert lower_bound(points, 3) <= bound <= lower_bound(points, 3, seconds=LONG)
    assert fractions[:20] == sorted(fractions[:20])


def test_without_highspy(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    points = make_table("random", 30, 3, 1)
    assert lower_bound(points, 3) > 0
    assert lower_bound(points, 20, seconds=1.0) > 0  # one group
    with pytest.raises(InputError, match=r"pip install 'microagg-gpu\[bound\]'"):
        lower_bound(points, 3, seconds=1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seconds": 0}, "seconds=0"),
        ({"seconds": "long"}, "seconds='long'"),
        ({"labels": [0] * 29}, "group of each of 30 records"),
        ({"labels": [0] * 28 + [1] * 2}, "A group has 2 records; at least k=3 are needed"),
    ],
)
def test_wrong_arguments(given, message):
    with pytest.raises(InputError, match=message):
        lower_bound(make_table("random", 30, 3, 1), 3, **given)


def test_certified_optimal():
    """Groups of 3 far from each other."""
    rng = np.random.default_rng(5)
    points = np.repeat(1e3 * rng.normal(size=(4, 3)), 3, axis=0) + rng.normal(size=(12, 3))
    best = microaggregate(points, 3, "best", seconds=0.1, standardize=False)
    assert best.sse == pytest.approx(optimum(points, 3)[0])
    assert best.bound(seconds=LONG).optimal
