"""Groups that one record dominates, and groups of equal values."""

import numpy as np

from microagg_gpu.measures.dominance import dominance


def naive(values, labels):
    """The same by plain loops over groups."""
    dominated, equal, largest = (
        [0] * values.shape[1],
        [0] * values.shape[1],
        [0.0] * values.shape[1],
    )
    for j in range(values.shape[1]):
        for group in set(labels.tolist()):
            own = [abs(v) for v in values[labels == group, j] if v == v]
            if own and sum(own) > 0:
                dominated[j] += max(own) / sum(own) > 0.5
                largest[j] = max(largest[j], max(own) / sum(own))
            signed = [v for v in values[labels == group, j] if v == v]
            equal[j] += bool(signed) and len(set(signed)) == 1
    return dominated, equal, largest


def test_against_plain_loops():
    rng = np.random.default_rng(3)
    for _ in range(30):
        values = rng.lognormal(2, 2, (40, 3)).round() * rng.choice([-1, 0, 1], (40, 3))
        values[rng.random((40, 3)) < 0.1] = np.nan
        labels = rng.permutation(np.arange(40) // 5)
        found, expected = dominance(values, labels), naive(values, labels)
        assert found.dominated.tolist() == expected[0]
        assert found.equal.tolist() == expected[1]
        assert np.allclose(found.share, expected[2])
        for j, record in enumerate(found.record):
            own = np.abs(values[labels == labels[record], j])
            assert np.isclose(np.abs(values[record, j]) / np.nansum(own), found.share[j])


def test_numbers_that_would_overflow_and_columns_of_nothing():
    values = np.array([[1e308, 0, np.nan], [1e308, 0, np.nan], [1e308, 0, np.nan]])
    found = dominance(values, [0, 0, 0])
    assert np.allclose(found.share, [1 / 3, 0, 0])
    assert found.equal.tolist() == [1, 1, 0]
    assert found.dominated.tolist() == [0, 0, 0]
