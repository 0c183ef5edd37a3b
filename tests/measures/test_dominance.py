"""Rules on the contributors of groups, against fractions and plain loops over contributors."""

from fractions import Fraction

import numpy as np
import pytest

from microagg_gpu import InputError
from microagg_gpu.measures import dominance
from reference.contributors import breaks, contributors, held


def naive(values, labels, rule, p_percent, weights):
    """Groups and records that break a rule, groups of equal values, and the largest share."""
    found = []
    for j in range(values.shape[1]):
        groups, records, equal, share = 0, 0, 0, Fraction(0)
        for group in set(labels.tolist()):
            own = values[labels == group, j]
            pieces = contributors(own, weights[labels == group])
            total = sum(a * w for a, w in pieces)
            count = rule[0] if rule else 1
            broken = breaks(own, weights[labels == group], rule, p_percent)
            groups, records = groups + broken, records + broken * len(own)
            if total:
                share = max(share, held(pieces, count) / total)
            equal += len({v for v in own if v == v}) == 1
        found.append((groups, records, equal, float(share)))
    return found


@pytest.mark.parametrize(
    ("rule", "p_percent"), [((1, 50), None), ((2, 80), None), (None, 10), ((1, 85), 25)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_against_contributors_one_by_one(rule, p_percent, weighted):
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(20):
        values = rng.lognormal(2, 2, (43, 3)).round() * rng.choice([-1, 0, 1, 1], (43, 3))
        values[rng.random((43, 3)) < 0.1] = np.nan
        weights = rng.choice([0.5, 1, 1.25, 2, 3.75], 43) if weighted else np.ones(43)
        labels = rng.permutation(np.minimum(np.arange(43) // 5, 7))
        found = dominance(
            values, labels, rule, p_percent, sampling_weight=weights if weighted else None
        )
        expected = naive(values, labels, rule, p_percent, weights)
        for j, (groups, records, equal, share) in enumerate(expected):
            assert (found.groups[j], found.records[j], found.equal[j]) == (groups, records, equal)
            assert found.breaking[:, j].sum() == records
            assert np.isclose(found.share[j], share)
            own = labels == labels[found.record[j]]
            assert np.abs(values[found.record[j], j]) == np.nanmax(np.abs(values[own, j]))
        broken += found.groups.sum()
    assert broken > 20


def test_on_the_limit_a_group_obeys():
    """More than k percent, less than p percent: equality breaks nothing."""
    assert dominance([85.0, 10, 5], [0, 0, 0], (1, 85)).groups == 0
    assert dominance([85.5, 10, 4.5], [0, 0, 0], (1, 85)).groups == 1
    assert dominance([100.0, 50, 10], [0, 0, 0], None, 10).groups == 0
    assert dominance([100.0, 50, 9], [0, 0, 0], None, 10).groups == 1


def test_the_weights_of_the_manual_of_tau_argus():
    """100 with weight 4 and 10 with weight 7 are 4 contributors of 100 and 7 of 10: 470."""
    found = dominance([100.0, 10], [0, 0], (2, 45), sampling_weight=[4, 7])
    assert found.share == 200 / 470
    assert found.groups == 0
    assert dominance([100.0, 10], [0, 0], (2, 45)).groups == 1


def test_zeros_and_missing_values_are_no_contributors():
    zeros = dominance(np.zeros((3, 1)), [0, 0, 0], (1, 50), 10)
    assert (zeros.groups, zeros.share, zeros.equal) == (0, 0, 1)
    one = dominance([7.0, 0, np.nan, 0], [0, 0, 0, 0], (1, 99), 1)
    assert (one.groups, one.records, one.share, one.record) == (1, 4, 1, 0)
    assert dominance([np.nan, np.nan], [0, 0], (1, 50), 10).groups == 0


def test_numbers_that_would_overflow_and_columns_of_nothing():
    values = np.array([[1e308, 0, np.nan], [1e308, 0, np.nan], [1e308, 0, np.nan]])
    found = dominance(values, [0, 0, 0])
    assert np.allclose(found.share, [1 / 3, 0, 0])
    assert found.equal.tolist() == [1, 1, 0]
    assert found.groups.tolist() == [0, 0, 0]


def test_labels_of_each_value_and_of_no_group():
    values = np.array([[9.0, 9], [1, 1], [9, 9], [1, 1]])
    each = dominance(values, [[0, 0], [0, 1], [1, 0], [1, 1]], (1, 80))
    assert each.groups.tolist() == [2, 0]
    assert dominance(values, [0, 0, -1, -1], (1, 80)).groups.tolist() == [1, 1]


@pytest.mark.parametrize("rule", [5, (1,), (0, 85), (1, 0), (1, 101), ("a", 5), (1.5, 80)])
def test_rules_that_cannot_be_used(rule):
    with pytest.raises(InputError, match="give them as in 1,85"):
        dominance([1.0, 2], [0, 0], rule)
    with pytest.raises(InputError, match="p_percent"):
        dominance([1.0, 2], [0, 0], p_percent=-1)
