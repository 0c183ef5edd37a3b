"""One scaling: exact sums that can be merged, and the same numbers for tables, parts and models."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import KINDS, make_table
from microagg_gpu import InputError, microaggregate
from microagg_gpu.data.scaling import (
    exact_sums,
    rounded,
    scaling_from_sums,
    standard_scaling,
    standardize,
)
from microagg_gpu.kernels import cpu, generic
from reference import naive

FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@given(st.lists(FINITE, max_size=40), st.integers(0, 40))
def test_sums_are_exact_and_can_be_merged(numbers, cut):
    column = np.array(numbers, dtype=np.float64).reshape(-1, 1)
    (total,) = exact_sums(column)
    assert Fraction(total, 2**1074) == sum(map(Fraction, numbers), Fraction(0))
    assert total == exact_sums(column[:cut])[0] + exact_sums(column[cut:])[0]
    try:
        expected = math.fsum(numbers)
    except OverflowError:
        return
    assert rounded(total) == expected


def test_missing_and_infinite_terms():
    sums = exact_sums(np.array([[1.0, np.nan], [2.0, np.inf]]))
    assert [rounded(total) for total in sums] == [3.0, np.inf]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("gaps", [False, True])
def test_parts_give_the_scaling_of_the_whole(kind, parts, gaps):
    data = make_table(kind, 60, 3, 5)
    if gaps:
        data[np.random.default_rng(0).random(data.shape) < 0.2] = np.nan
    whole = standard_scaling(data, "abc", cpu)
    pieces = np.array_split(data, parts)
    count = (~np.isnan(data)).sum(axis=0)
    sums = [sum(column) for column in zip(*map(exact_sums, pieces), strict=True)]
    centre = np.array([rounded(total) for total in sums]) / np.maximum(count, 1)
    squares = [
        rounded(sum(column))
        for column in zip(*(exact_sums(np.square(p - centre)) for p in pieces), strict=True)
    ]
    merged = scaling_from_sums(centre, np.array(squares), count, whole.constant, "abc")
    for a, b in zip(whole, merged, strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(whole.apply(data), merged.apply(data), equal_nan=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_and_both_engines_agree(kind):
    data = make_table(kind, 50, 4, 2)
    expected = np.array(naive.standardize(data))
    for engine in (generic, cpu):
        assert np.array_equal(standardize(data, "abcd", engine), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standard", [True, False])
def test_the_estimator_has_the_scale_of_microaggregate(kind, standard):
    sklearn = pytest.importorskip("microagg_gpu.sklearn")
    data = make_table(kind, 40, 3, 1)
    given = {"standardize": standard, "variable_weights": [1.0, 3.0, 0.5]}
    model = sklearn.Microaggregator(3, **given).fit(data)
    problem = microaggregate(data, 3, **given)._problem
    assert np.array_equal(model._points, problem.points)
    for a, b in zip(model._scaling, problem.scaling, strict=True):
        assert np.array_equal(a, b)


def test_values_that_cannot_be_scaled():
    with pytest.raises(InputError, match="column b has values too large"):
        standard_scaling(np.array([[1.0, 1e200], [2.0, -1e200]]), "ab", cpu)
