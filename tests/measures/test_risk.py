"""Utility and risk measures against hand-computed examples and plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu.errors import InputError
from microagg_gpu.measures import (
    correlation_discrepancies,
    correlations,
    il1s,
    interval_disclosure,
    range_inference,
    record_linkage,
    ssa,
    sse,
    sst,
    sums_of_squares,
)
from microagg_gpu.measures.risk import distinct_rows
from microagg_gpu.measures.spread import deviations, means

NAN = np.nan


def pairs(most=12):
    """Small files of few different values, so that there are many ties, and published ones."""
    value = st.sampled_from([0.0, 1.0, 2.0, 3.5])
    return st.integers(1, 3).flatmap(
        lambda p: st.lists(
            st.tuples(
                st.lists(value, min_size=p, max_size=p),
                st.lists(value, min_size=p, max_size=p),
                st.integers(0, 2),
            ),
            min_size=1,
            max_size=most,
        )
    )


# Utility


def test_il1s_by_hand():
    # Standard deviations: 2 of (0, 4, 0, 4) and 1 of (1, 1, 3, 3).
    original = np.array([[0.0, 1], [4, 1], [0, 3], [4, 3]])
    protected = np.array([[1.0, 1], [3, 1], [0, 2], [4, 2]])
    found = il1s(original, protected)
    root = np.sqrt(2)
    assert found.by_variable == pytest.approx([(2 / 4) / (2 * root), (2 / 4) / root])
    assert found.total == pytest.approx((0.25 + 0.5) / 2 / root)


def test_il1s_of_missing_and_constant_variables():
    original = np.array([[0.0, 5, NAN], [4, 5, NAN], [0, 5, NAN], [4, 5, NAN], [NAN, 5, NAN]])
    protected = original + np.array([1.0, 0, 0])
    found = il1s(original, protected)
    assert found.by_variable == pytest.approx([1 / (2 * np.sqrt(2)), NAN, NAN], nan_ok=True)
    assert found.total == pytest.approx(found.by_variable[0])
    assert np.isnan(il1s([5.0, 5.0], [5.0, 5.0]).total)


def test_weighted_moments_by_hand():
    data, weight = np.array([[1.0], [5], [NAN]]), np.array([3.0, 1, 7])
    assert means(data, weight) == 2.0  # (3 * 1 + 1 * 5) / 4
    assert deviations(data, weight) == pytest.approx(np.sqrt(3))  # (3 * 1 + 1 * 9) / 4


def test_sums_of_squares_are_those_of_the_groups():
    rng = np.random.default_rng(0)
    points, labels = 1e6 + rng.standard_normal((60, 3)), rng.integers(0, 12, 60)
    protected = np.array([points[labels == label].mean(axis=0) for label in labels])
    found = sums_of_squares(points, protected, np.ones(3))
    assert found.sse.sum() == pytest.approx(sse(points, labels))
    assert found.ssa.sum() == pytest.approx(ssa(points, labels))
    assert found.sst.sum() == pytest.approx(sst(points))
    standardized = sums_of_squares(points, protected)
    assert standardized.sst == pytest.approx([60, 60, 60])


def test_correlations_pairwise():
    rng = np.random.default_rng(1)
    data = rng.standard_normal((40, 4)) @ rng.standard_normal((4, 4)) + 100
    np.testing.assert_allclose(correlations(data), np.corrcoef(data, rowvar=False))
    holes = data.copy()
    holes[:10, 0], holes[5:20, 1], holes[:, 3] = NAN, NAN, 7.0
    found = correlations(holes)
    both = ~np.isnan(holes[:, :2]).any(axis=1)
    assert found[0, 1] == pytest.approx(np.corrcoef(holes[both, 0], holes[both, 1])[0, 1])
    known = ~np.isnan(holes[:, 0])
    assert found[0, 2] == pytest.approx(np.corrcoef(holes[known, 0], holes[known, 2])[0, 1])
    assert found[0, 0] == pytest.approx(1)
    assert (found[3] == 0).all()
    apart = np.array([[1.0, NAN], [2, NAN], [NAN, 3], [NAN, 4]])
    assert np.isnan(correlations(apart)[0, 1])


# Record linkage


def test_linkage_by_hand():
    # Groups {0, 2} and {10, 11} publish 1 and 10.5. To 1 both 0 and 2 are nearest: half a hit
    # for each. To 10.5 both 10 and 11 are. 1 of 4 and 1 of 4 in sum.
    assert record_linkage([0.0, 2, 10, 11], [1.0, 1, 10.5, 10.5], scale=[1.0]) == (0.5, 0.5)
    # Group {0, 1, 5} publishes 2: 1 is nearest to it, alone; only its own record is found.
    assert record_linkage([0.0, 1, 5], [2.0, 2, 2]) == pytest.approx((1 / 3, 1 / 3))
    # All publish 4: only the two 4s are nearest, each half a hit.
    assert record_linkage([0.0, 8, 4, 4], [4.0, 4, 4, 4], [0, 0, 0, 0]).share == 0.25
    # {0, 8} publishes 4, to which others are nearest, and 9 is nearest to 8: nobody is found.
    assert record_linkage([0.0, 8, 4, 4], [4.0, 4, 9, 9]).share == 0.0


def test_linkage_within_cells_and_patterns():
    original, protected = [0.0, 8, 4, 4], [4.0, 4, 4, 4]
    # Cell 1: 0 and 8 are equally near to 4. Cell 2: both are there.
    assert record_linkage(original, protected, [1, 1, 2, 2]) == (0.5, 0.5)
    # Records 0 and 1 have the first variable only; they are linked by it and with each other.
    a = np.array([[0.0, NAN], [2, NAN], [1, 1], [1, 9]])
    b = np.array([[0.5, NAN], [0.5, NAN], [1, 5], [1, 5]])
    assert record_linkage(a, b) == (0.5, 0.5)  # 0 is found; 1 and 9 are equally near to 5
    # Nothing is known of records that miss everything: a guess among them.
    assert record_linkage([NAN, NAN, 1.0], [NAN, NAN, 1.0]) == pytest.approx((2 / 3, 2 / 3))


@given(pairs())
def test_linkage_against_plain_python(rows):
    original, protected, cells = (list(part) for part in zip(*rows, strict=True))
    hits = 0.0
    for i, published in enumerate(protected):
        distance = {
            j: sum((x - y) ** 2 for x, y in zip(original[j], published, strict=True))
            for j in range(len(rows))
            if cells[j] == cells[i]
        }
        nearest = [j for j in distance if distance[j] == min(distance.values())]
        hits += (i in nearest) / len(nearest)
    found = record_linkage(original, protected, cells, scale=np.ones(len(original[0])))
    assert found.share == pytest.approx(hits / len(rows))
    distinct = {(cell, *row) for cell, row in zip(cells, protected, strict=True)}
    assert found.at_most == pytest.approx(len(distinct) / len(rows))
    assert found.share <= found.at_most + 1e-12


def test_linkage_scales_and_tells_how_far_it_is():
    rng = np.random.default_rng(2)
    original = rng.standard_normal((50, 3))
    protected = original + 0.3 * rng.standard_normal((50, 3))
    fractions = []
    found = record_linkage(original, protected, np.arange(50) % 3, progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    unit = np.array([1e-6, 1.0, 1e9])
    assert record_linkage(original * unit, protected * unit, np.arange(50) % 3) == found
    assert record_linkage(original, original) == (1.0, 1.0)


# Interval disclosure


def test_interval_disclosure_by_hand():
    # 20 published values 0, 1, ..., 19: p percent of the ranks are p / 5 to each side, so with
    # p = 5 to 9 one value, with p = 10 two. The original is 1.5 above: in with p = 10 only, and
    # the last two have no published value so far up.
    published = np.arange(20.0)
    found = interval_disclosure(published + 1.5, published)
    assert found.ranks[0] == pytest.approx((18 / 20) / 10)
    assert found.near[0] == 0.0
    # 1 above: in with p = 5 to 10, but for the last.
    assert interval_disclosure(published + 1, published).ranks[0] == pytest.approx(0.6 * 19 / 20)
    assert interval_disclosure(published, published).ranks[0] == 1.0


def test_interval_disclosure_of_ties():
    # 10 groups of 4: values 0, 1, ..., 9 with mean ranks 2.5, 6.5, ... of 40. p percent reach
    # 0.4 p ranks: with p = 7 to 10, 2.8 to 4.0 ranks and so the next value, 2.5 + 2.8 > 5.
    published = np.repeat(np.arange(10.0), 4)
    found = interval_disclosure(published + 0.75, published)
    assert found.ranks[0] == pytest.approx(0.4 * 36 / 40)


def test_near_values():
    # Standard deviation 10: 5 percent of it are 0.5.
    original = np.array([0.0, 20, 0, 20])
    found = interval_disclosure(original, original + np.array([0.5, 0.51, -0.5, 0]))
    assert found.near[0] == 0.75
    both = interval_disclosure(np.column_stack([original, np.ones(4)]), np.ones((4, 2)))
    assert np.isnan(both.near[1])
    assert np.isnan(both.ranks[1])


# Range inference


def test_range_inference_by_hand():
    # Individual ranking with k=2: published 1, 1, 5, 5, 6, 6, 20, 20. The interval of the two
    # 5s is (1, 6), that of the 6s (5, 20), the others are open.
    original = np.array([0.0, 2, 4, 6, 5.5, 6.5, 10, 30])
    published = np.array([1.0, 1, 5, 5, 6, 6, 20, 20])
    found = range_inference(original, published)
    assert found.inside[0] == 1.0
    assert found.width[0] == np.inf  # four of eight are open
    assert found.narrow[0] == 0.0
    original[3] = 6.1  # above the next higher published value
    assert range_inference(original, published).inside[0] == 7 / 8


def test_narrow_ranges():
    # Standard deviation 50: narrow is below 2.5.
    original = np.array([100.0, 100, 100, 100, 100, 0, 0, 0, 0, 0])
    published = np.array([100.0, 100, 100, 100, 100, 0, 0.5, 1, 2, 3.0])
    found = range_inference(original, published)
    # 0: open below. 0.5: (0, 1) holds 0 and is narrow. 1: (0.5, 2), 2: (1, 3), 3: (2, 100) do not.
    assert found.inside[0] == pytest.approx(7 / 10)
    assert found.narrow[0] == pytest.approx(1 / 10)
    assert found.width[0] == np.inf


def test_ranges_stay_in_their_cell():
    original, published = [0.0, 1, 2, 3, 4, 5], [0.0, 1, 2, 0.1, 1.1, 2.1]
    whole, apart = (range_inference(original, published, c) for c in (None, [1, 1, 1, 2, 2, 2]))
    # Records 3 and 4 are far above the intervals of 0.1 and 1.1; 5, with the highest, is not.
    assert whole.inside[0] == pytest.approx(4 / 6)
    assert apart.inside[0] == pytest.approx(4 / 6)
    assert whole.width[0] == pytest.approx(1 / np.sqrt(35 / 12))  # (0.1, 1.1) and (1, 2)
    assert apart.width[0] == np.inf


@given(pairs())
def test_a_true_value_published_by_individual_ranking_is_enclosed(rows):
    values = np.sort([row[0][0] for row in rows])
    k = 2
    labels = np.minimum(np.arange(len(values)) // k, max(len(values) // k - 1, 0))
    published = np.array([values[labels == label].mean() for label in labels])
    if values[0] < values[-1]:
        assert range_inference(values, published).inside[0] == 1.0


# Arguments


def test_distinct_rows():
    rows = np.array([[1.0, NAN], [0, 2], [1, NAN], [-0.0, 2], [0, NAN]])
    first, number = distinct_rows(rows)
    assert number.tolist() == [2, 0, 2, 0, 1]
    assert sorted(first.tolist()) == [0, 1, 4]


def test_bad_arguments():
    with pytest.raises(InputError, match=r"original has shape \(2, 1\) and protected \(1, 1\)"):
        il1s([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match=r"1 values are missing in only one .*record 1, variable"):
        record_linkage([1.0, NAN], [1.0, 2.0])
    with pytest.raises(InputError, match="protected holds 1 infinite"):
        range_inference([1.0, 2.0], [1.0, np.inf])
    with pytest.raises(InputError, match="original must be a matrix of numbers"):
        il1s(["a", "b"], [1.0, 2.0])
    with pytest.raises(InputError, match=r"cells have shape \(1,\); give one for each of 2"):
        record_linkage([1.0, 2.0], [1.0, 2.0], [0])


def test_pairwise_and_complete_discrepancies_agree():
    rng = np.random.default_rng(3)
    original, protected = rng.standard_normal((2, 30, 4))
    pairs = np.triu_indices(4, 1)
    size = np.abs(correlations(original) - correlations(protected))[pairs]
    assert correlation_discrepancies(original, protected).mean == pytest.approx(size.mean())
