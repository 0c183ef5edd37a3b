"""t-closeness, different values and most frequent shares, against SciPy and plain sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu import InputError
from microagg_gpu.measures import closeness

RECORDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=40)


def cumulative(own, everybody):
    """The distance of the paper: sums of cumulative shares, one value after the other."""
    values = sorted(set(everybody))
    total, difference = 0.0, 0.0
    for value in values:
        difference += own.count(value) / len(own) - everybody.count(value) / len(everybody)
        total += abs(difference)
    return total / max(1, len(values) - 1)


@given(RECORDS)
def test_ordered_values_are_compared_by_cumulative_shares(records):
    values, labels = (list(part) for part in zip(*records, strict=True))
    found = closeness(np.array(values) * 0.5, labels)
    for i, group in enumerate(sorted(set(labels))):
        own = [v for v, g in records if g == group]
        assert found.distance[i] == pytest.approx(cumulative(own, values), abs=1e-12)
        assert found.distinct[i] == len(set(own))
        assert found.share[i] == pytest.approx(max(own.count(v) for v in own) / len(own))


def test_the_distance_is_that_of_scipy_on_ranks():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    values, labels = rng.lognormal(3, 2, 500).round(), rng.integers(40, size=500)
    known, ranks = np.unique(values, return_inverse=True)
    found = closeness(values, labels)
    for i, group in enumerate(np.unique(labels)):
        expected = stats.wasserstein_distance(ranks[labels == group], ranks) / (len(known) - 1)
        assert found.distance[i] == pytest.approx(expected, abs=1e-12)


@given(RECORDS)
def test_values_without_order_are_all_equally_far(records):
    values, labels = (list(part) for part in zip(*records, strict=True))
    texts = [f"t{value}" for value in values]
    for found in (closeness(texts, labels), closeness(values, labels, ordered=False)):
        for i, group in enumerate(sorted(set(labels))):
            own = [v for v, g in records if g == group]
            expected = sum(
                abs(own.count(v) / len(own) - values.count(v) / len(values)) for v in set(values)
            )
            assert found.distance[i] == pytest.approx(expected / 2, abs=1e-12)


def test_the_example_of_the_inventors_of_t_closeness():
    """Li, Li and Venkatasubramanian 2007, section 4.1: salaries of 3K to 11K, 0.375 and 0.167."""
    salaries = np.arange(3, 12) * 1000
    low, mixed = [3000, 4000, 5000], [6000, 8000, 11000]
    for own, expected in ((low, 0.375), (mixed, 1 / 6)):
        labels = np.isin(salaries, own)
        assert closeness(salaries, labels.astype(int)).distance[1] == pytest.approx(expected)


def test_what_cannot_be_compared():
    with pytest.raises(InputError, match=r"1 values of sensitive are missing, .* record 2"):
        closeness([1.0, np.nan], [0, 0])
    with pytest.raises(InputError, match="1 values of sensitive are missing"):
        closeness(["a", None], [0, 0])
    with pytest.raises(InputError, match="labels have shape"):
        closeness([1.0, 2], [0, 0, 0])
    with pytest.raises(InputError, match="numbers or texts"):
        closeness([[1.0], [2]], [0, 0])
