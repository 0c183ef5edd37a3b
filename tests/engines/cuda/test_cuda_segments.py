"""Sums and optimal groups of ranked values on the device against the generic engine."""

from fractions import Fraction

import numpy as np
import pytest

from helpers.simulators import size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import segments, sums

REALS = [np.float64, np.float32]


def check_sums(columns: np.ndarray) -> None:
    found = sums.correctly_rounded_sum(columns)
    expected = generic.correctly_rounded_sum(columns)
    assert found.dtype == columns.dtype
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


def check_sizes(table: np.ndarray, k: int) -> None:
    ranked = np.sort(table, axis=0)
    found, expected = (words.optimal_sizes(ranked, k) for words in (segments, generic))
    assert [x.tolist() for x in found] == [x.tolist() for x in expected]
    assert all(x.dtype == np.int64 for x in found)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kind", KINDS)
def test_sums(kind, real):
    for n, d in ((1, 1), (2, 3), (size(17, 255), 2), (size(33, 700), 4)):
        check_sums((make_table(kind, n, d, seed=n) * 10.0 ** np.arange(d)).astype(real).T)


@pytest.mark.parametrize("real", REALS)
def test_sums_half_way_between_two_numbers(real):
    """The bits that are left decide, however small; without them the even number is taken."""
    half = float(np.finfo(real).eps) / 2
    rows = [
        [1, half, sign * tiny, start, -start]
        for tiny in (0, half**2, half**3 / 64)
        for sign in (1, -1)
        for start in (0, 1, 1e3)
    ]
    columns = np.array(rows, dtype=real)
    exact = [sum(map(Fraction, row)) for row in columns.tolist()]
    expected = [1 + 2 * half if total > 1 + Fraction(half) else 1 for total in exact]
    assert sums.correctly_rounded_sum(columns).tolist() == expected
    if real is np.float32:  # of float64 the generic engine carries two numbers, which is less
        assert generic.correctly_rounded_sum(columns).tolist() == expected


def test_sums_of_any_shape(monkeypatch):
    table = make_table("random", 12, 5, seed=0)
    check_sums(table[:, 0])
    check_sums(table.reshape(2, 3, 10))
    monkeypatch.setattr(sums, "_BLOCKS", 2)
    check_sums(table)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kind", KINDS)
def test_optimal_sizes(kind, real):
    for n, d, k in ((1, 1, 1), (7, 2, 3), (size(23, 180), 3, 2), (size(30, 170), 1, 5)):
        check_sizes(make_table(kind, n, d, seed=n).astype(real), k)


def test_k_is_1_and_n_and_between():
    table = make_table("grid", size(14, 61), 2, seed=1)
    for k in (1, 2, len(table) // 2, len(table) // 2 + 1, len(table) - 1, len(table)):
        check_sizes(table, k)


@pytest.mark.parametrize(("costs", "starts"), [(1, 5), (20, 5), (10**6, 1), (10**6, 7)])
def test_chunks_do_not_change_the_sizes(costs, starts, monkeypatch):
    monkeypatch.setattr(segments, "_COSTS", costs)
    monkeypatch.setattr(segments, "_STARTS", starts)
    for k in (1, 3, 8):
        check_sizes(make_table("grid", size(20, 50), 2, seed=k), k)
