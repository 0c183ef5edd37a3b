"""k-Ward on the CPU engine equals the generic engine, to the label, on hard cases."""

from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg_gpu.kernels.cpu.ward as cpu
import microagg_gpu.kernels.generic.ward as generic
from helpers.methods import individual, kward
from helpers.strategies import KINDS, cases, make_table, scattered
from microagg_gpu.methods import ward

NO_TREE, TREE = 10**9, 0  # sizes up to which a problem is tiny


def same(points, labels, within, k, tiny) -> None:
    """Both engines merge to the same groups."""
    expected = generic.merge_until_k(points, labels, within, k)
    with mock.patch.object(cpu, "TINY", tiny):
        assert np.array_equal(cpu.merge_until_k(points, labels, within, k), expected)


@given(cases(most=600), st.integers(1, 3), st.integers(0, 10**6))
@pytest.mark.parametrize("tiny", [TREE, NO_TREE])
def test_merge_until_k(tiny, case, problems, seed):
    labels, within = scattered(len(case.data), case.k, problems, seed)
    same(case.data, labels, within, case.k, tiny)


@given(cases(most=600), st.booleans(), st.integers(1, 3), st.integers(0, 10**6))
@pytest.mark.parametrize("tiny", [TREE, NO_TREE])
def test_extreme_groups(tiny, case, descending, problems, seed):
    k = max(1, case.k // 2)
    if len(case.data) < 2 * k:
        return
    _, within = scattered(len(case.data), 2 * k, problems, seed)
    expected = generic.extreme_groups(case.data, within, k, descending)
    with mock.patch.object(cpu, "TINY", tiny):
        found = cpu.extreme_groups(case.data, within, k, descending)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("k", [2, 3, 7, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_merge_until_k_through_several_trees(kind, k):
    points = make_table(kind, 600, 3, seed=k)
    labels, within = scattered(600, k, 1, seed=k)
    same(points, labels, within, k, TREE)


@pytest.mark.parametrize("d", [1, 4, 200])
def test_noise_and_an_outlier(d):
    points = np.random.default_rng(d).uniform(size=(250, d))
    points[123] = 1e6
    same(points, np.arange(250), np.zeros(250, dtype=np.int64), 4, TREE)


def test_float32_values():
    points = np.random.default_rng(0).normal(size=(500, 5)).astype(np.float32).astype(float)
    same(points, np.arange(500), np.zeros(500, dtype=np.int64), 3, TREE)


@pytest.mark.parametrize("d", [1, 3])
def test_thousands_of_duplicates(d):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(3, d))[rng.integers(0, 3, size=3000)]
    same(points[:400], np.arange(400), np.zeros(400, dtype=np.int64), 4, TREE)
    alone = np.arange(3000), np.zeros(3000, dtype=np.int64)
    with mock.patch.object(cpu, "TINY", NO_TREE):
        expected = cpu.merge_until_k(points, *alone, 4)
    assert np.array_equal(cpu.merge_until_k(points, *alone, 4), expected)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_records(n):
    points = np.arange(3.0 * n).reshape(n, 3)
    for k in range(1, n + 1):
        for tiny in (TREE, NO_TREE):
            same(points, np.arange(n), np.zeros(n, dtype=np.int64), k, tiny)


@given(cases(most=400))
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("ranking", ["md", "sz", "pv", "fpc"])
def test_kward(ranking, descending, case):
    options = {"ranking": ranking, "variable": 0, "descending": descending}
    expected = kward(case.data, case.k, engine="generic", **options)
    assert np.array_equal(kward(case.data, case.k, engine="cpu", **options), expected)


@pytest.mark.parametrize("ranking", ["md", "fpc"])
@pytest.mark.parametrize("kind", KINDS)
def test_kward_of_more_records(kind, ranking):
    points = make_table(kind, 700, 2, seed=1)
    expected = kward(points, 3, ranking=ranking, engine="generic")
    assert np.array_equal(kward(points, 3, ranking=ranking, engine="cpu"), expected)


def test_individual():
    points = np.round(np.random.default_rng(0).exponential(size=(800, 2)), 1)
    expected = individual(points, 4, inner="kward", engine="generic")
    assert np.array_equal(individual(points, 4, inner="kward", engine="cpu"), expected)


@given(st.integers(1, 9), st.integers(1, 90), st.floats(-1, 1), st.booleans(), st.booleans())
@pytest.mark.parametrize("ranking", ["md", "sz"])
def test_equal_records_as_all_recursions(ranking, k, n, value, descending, other):
    points = np.full((max(n, k), 2), value)
    points[: len(points) // 3 * other] = 5.0
    options = {"ranking": ranking, "descending": descending, "engine": "generic"}
    found = kward(points, k, **options)
    with mock.patch.object(ward, "split_equal", lambda p, within, *_: np.full(len(within), -1)):
        assert np.array_equal(kward(points, k, **options), found)


def test_thousands_of_equal_records_take_few_recursions():
    points = np.zeros((50_000, 2))
    points[:3] = 1.0
    with mock.patch.object(ward, "ends", wraps=ward.ends) as ends:
        labels = kward(points, 4, ranking="sz", engine="cpu")
    assert ends.call_count < 5
    assert 4 <= np.bincount(labels).min() <= np.bincount(labels).max() < 8


def test_threads_and_progress():
    points = np.random.default_rng(0).normal(size=(3000, 3))
    threads = numba.get_num_threads()
    seen: list[float] = []
    expected = kward(points, 3, ranking="sz", engine="cpu", progress=seen.append)
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 1
    numba.set_num_threads(1)
    try:
        assert np.array_equal(kward(points, 3, ranking="sz", engine="cpu"), expected)
    finally:
        numba.set_num_threads(threads)
