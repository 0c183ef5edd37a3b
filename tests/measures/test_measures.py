"""Losses and structure against the papers and exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu.datasets import fetch, toy
from microagg_gpu.errors import InputError
from microagg_gpu.measures import (
    correlation_discrepancies,
    first_component,
    information_loss,
    mean_weight_change,
    ssa,
    sse,
    sst,
    standard_deviations,
    weight_changes,
)

# Sums of squares


@st.composite
def partitioned(draw, individual=False):
    """Random points, with duplicates and constant variables, and random labels."""
    n, p = draw(st.integers(1, 30)), draw(st.integers(1, 5))
    value = st.one_of(st.sampled_from([0.0, 1.0, 0.1]), st.floats(-100, 100, width=32))
    points = draw(st.lists(st.lists(value, min_size=p, max_size=p), min_size=n, max_size=n))
    label = st.integers(-2, 4)
    shape = st.lists(label, min_size=p, max_size=p) if individual else label
    return np.array(points), np.array(draw(st.lists(shape, min_size=n, max_size=n)))


def exact_sums(points, labels):
    """SSE, SSA and SST in rational arithmetic."""
    columns = [[Fraction(float(x)) for x in column] for column in np.transpose(points)]
    partitions = list(labels.T) if labels.ndim == 2 else [labels] * len(columns)
    within = between = total = Fraction(0)
    for column, partition in zip(columns, partitions, strict=True):
        mean = sum(column) / len(column)
        total += sum((x - mean) ** 2 for x in column)
        for label in set(partition.tolist()):
            group = [x for x, other in zip(column, partition, strict=True) if other == label]
            centroid = sum(group) / len(group)
            within += sum((x - centroid) ** 2 for x in group)
            between += len(group) * (centroid - mean) ** 2
    assert within + between == total
    return float(within), float(between), float(total)


@given(st.booleans().flatmap(partitioned))
def test_sums_of_squares_are_right_and_add_up(case):
    points, labels = case
    within, between, total = exact_sums(points, labels)
    close = {"rel": 1e-11, "abs": 1e-24 * (1 + np.abs(points).max() ** 2)}
    assert sse(points, labels) == pytest.approx(within, **close)
    assert ssa(points, labels) == pytest.approx(between, rel=1e-11, abs=1e-11 * total)
    assert sst(points) == pytest.approx(total, **close)
    assert sst(points) == pytest.approx(ssa(points, labels) + sse(points, labels), rel=1e-11)
    loss = 100 * within / total if total else 0.0
    assert information_loss(points, labels) == pytest.approx(loss, rel=1e-11, abs=1e-20)


@given(partitioned())
def test_individual_labels_equal_to_one_partition_change_nothing(case):
    points, labels = case
    each = np.repeat(labels[:, np.newaxis], points.shape[1], axis=1)
    assert sse(points, each) == pytest.approx(sse(points, labels), rel=1e-14)
    assert ssa(points, each) == pytest.approx(ssa(points, labels), rel=1e-14)


@given(partitioned())
def test_groups_of_equal_records_lose_exactly_nothing(case):
    points, _ = case
    _, labels = np.unique(points, axis=0, return_inverse=True)
    assert sse(points, labels.reshape(-1)) == 0
    assert information_loss(points, labels.reshape(-1)) == 0
    everything = np.zeros(len(points), dtype=int)
    assert ssa(points, everything) == pytest.approx(0, abs=1e-20)
    assert information_loss(points, everything) == (100 if np.ptp(points, axis=0).any() else 0)


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e12])
def test_no_cancellation_far_from_zero(offset):
    rng = np.random.default_rng(0)
    points, labels = offset + rng.standard_normal((500, 3)), rng.integers(0, 100, 500)
    within, between, total = exact_sums(points, labels)
    assert sse(points, labels) == pytest.approx(within, rel=1e-12)
    assert ssa(points, labels) == pytest.approx(between, rel=1e-12)
    assert sst(points) == pytest.approx(total, rel=1e-12)


def test_no_cancellation_beside_an_outlier():
    assert sse([1e16, 1e16, 0.25, 0.75], [0, 0, 1, 1]) == 0.125


def test_extreme_units():
    for unit in (1e-300, 1e300):
        assert information_loss(unit * np.arange(4.0), [0, 0, 1, 1]) == pytest.approx(20)


def test_bad_points_and_labels():
    with pytest.raises(InputError, match=r"labels have shape \(2,\) for points of shape \(3, 1\)"):
        sse([1.0, 2.0, 3.0], [0, 0])
    with pytest.raises(InputError, match="2 missing or infinite values, the first in record 1, v"):
        sst([[1.0, 2.0], [1.0, np.nan], [np.inf, 2.0]])
    with pytest.raises(InputError, match="type float64; whole numbers of shape"):
        ssa([1.0, 2.0], [0.0, 1.5])
    with pytest.raises(InputError, match="must be a matrix of numbers"):
        sst([["a", "b"]])
    with pytest.raises(InputError, match=r"points has shape \(0, 1\); a matrix of at least one"):
        information_loss([], [])


# Structure: the papers' figures on Tarragona


@pytest.fixture(scope="module")
def tarragona(reference_data):
    if not any((reference_data / name).exists() for name in ("tarragona.csv", "Tarragona.rda")):
        pytest.skip("Tarragona not found")
    data = fetch("tarragona", reference_data).data
    return (data - data.mean(axis=0)) / data.std(axis=0)


# Rows V7 ... V11 of 1999 Tables 2 and 3 are other columns than the text's list of names says.
ROWS_1999 = [0, 1, 2, 3, 4, 5, 8, 10, 7, 6, 9, 11, 12]


def fixed_groups(score, k):
    """Groups of k consecutive records in order of a score; the last one takes the rest."""
    labels = np.empty(len(score), dtype=int)
    labels[np.argsort(score, kind="stable")] = np.minimum(
        np.arange(len(score)) // k, len(score) // k - 1
    )
    return labels


def by_centroids(points, labels):
    protected = np.empty_like(points)
    for label in np.unique(labels):
        protected[labels == label] = points[labels == label].mean(axis=0)
    return protected


def ranked_individually(points, k):
    """Each variable by itself (FS_I of 1999, F of 2002 where k divides n)."""
    labels = np.column_stack([fixed_groups(column, k) for column in points.T])
    protected = [by_centroids(*pair) for pair in zip(points.T, labels.T, strict=True)]
    return labels, np.column_stack(protected)


@pytest.fixture(scope="module")
def individual(tarragona):
    return ranked_individually(tarragona, 3)


def test_1999_table_1_individual_ranking(tarragona):
    for k, loss in {3: 2.24, 4: 5.04, 5: 8.54}.items():
        labels, _ = ranked_individually(tarragona, k)
        assert round(information_loss(tarragona, labels), 2) == loss


def test_2002_table_1_fixed(tarragona, individual):
    labels, _ = individual
    printed = [7.15, 0.64, 0.52, 1.49, 1.69, 0.48, 1.97, 0.42, 1.29, 1.75, 2.58, 4.15, 5.01]
    ours = [information_loss(tarragona[:, j], labels[:, j]) for j in range(13)]
    np.testing.assert_array_equal(np.round(ours, 2), printed)


def test_1999_table_2_standard_deviations(tarragona, individual):
    _, protected = individual
    printed = [0.96, 1, 1, 0.99, 0.99, 1, 0.99, 0.99, 1, 0.99, 0.99, 0.98, 0.97]
    ours = standard_deviations(tarragona, protected)[ROWS_1999]
    np.testing.assert_array_equal(np.round(ours, 2), printed)
    # FS_SZ
    printed = [0.82, 0.89, 0.81, 0.95, 0.80, 0.86, 0.82, 0.49, 0.84, 0.88, 0.93, 0.91, 0.88]
    protected = by_centroids(tarragona, fixed_groups(tarragona.sum(axis=1), 3))
    ours = standard_deviations(tarragona, protected)[ROWS_1999]
    np.testing.assert_array_equal(np.round(ours, 2), printed)


def test_1999_table_3_first_component(tarragona, individual):
    printed = [0.81, 0.85, 0.61, 0.94, 0.64, 0.82, 0.82, -0.50, 0.74, 0.87, 0.92, 0.87, 0.85]
    weights, percent = first_component(tarragona)
    np.testing.assert_array_equal(np.round(weights[ROWS_1999], 2), printed)
    assert round(percent, 1) == 63.4
    # FS_I
    printed = [0.82, 0.86, 0.61, 0.93, 0.66, 0.84, 0.81, -0.54, 0.76, 0.89, 0.91, 0.86, 0.84]
    changes = [1.0, 1.2, 0.1, -0.3, 1.9, 2.0, -1.0, 8.5, 2.7, 2.1, -1.0, -1.7, -0.5]
    _, protected = individual
    weights, percent = first_component(protected)
    np.testing.assert_array_equal(np.round(weights[ROWS_1999], 2), printed)
    ours = weight_changes(tarragona, protected)[ROWS_1999]
    np.testing.assert_array_equal(np.round(ours, 1), changes)
    assert round(percent, 1) == 64.3


def test_1999_table_4_and_2002_table_2_correlations(tarragona, individual):
    _, protected = individual
    mean, std = correlation_discrepancies(tarragona, protected)
    assert (round(mean, 4), round(std, 4)) == (0.0251, 0.0208)  # 2002, F
    assert round(correlation_discrepancies(tarragona, protected, ddof=1).std, 4) == 0.0210  # 1999
    protected = by_centroids(tarragona, fixed_groups(tarragona.sum(axis=1), 3))
    mean, std = correlation_discrepancies(tarragona, protected, ddof=1)
    assert (round(mean, 4), round(std, 4)) == (0.2382, 0.1031)  # 1999, FS_SZ


@pytest.mark.parametrize(
    ("k", "projection", "printed"),
    [
        (3, "V4", (0.20, 0.08, 11.7, 81.4)),
        (4, "V10", (0.26, 0.12, 15.7, 85.8)),
        (3, "SZ", (0.24, 0.10, 14.5, 84.3)),
        (4, "SZ", (0.28, 0.11, 15.0, 88.0)),
        (3, "FPC", (0.20, 0.09, 13.1, 81.3)),
        (4, "FPC", (0.22, 0.10, 13.4, 82.9)),
    ],
)
def test_2002_table_4_projections(tarragona, k, projection, printed):
    if projection.startswith("V"):  # the variable of the least loss
        weights = np.eye(13)[int(projection[1:]) - 1]
    else:
        weights = np.ones(13) if projection == "SZ" else first_component(tarragona).weights
    # Descending: the order of the lower of the two losses in Table 3 (with k=3 both are equal).
    protected = by_centroids(tarragona, fixed_groups(-tarragona @ weights, k))
    mean, std = correlation_discrepancies(tarragona, protected, ddof=1)
    change = mean_weight_change(tarragona, protected)
    percent = first_component(protected).percent
    assert (round(mean, 2), round(std, 2), round(change, 1), round(percent, 1)) == printed


def test_2002_table_2_mean_weight_change(tarragona, individual):
    # Printed to more digits than the text determines: the same definition gives 1.776.
    assert mean_weight_change(tarragona, individual[1]) == pytest.approx(1.7680, abs=0.009)


# Structure: proofs and edge cases


def test_structure_of_unchanged_data():
    data = toy("vmdav")
    np.testing.assert_array_equal(standard_deviations(data, data), [1, 1])
    np.testing.assert_array_equal(weight_changes(data, data), [0, 0])
    assert mean_weight_change(data, data) == 0
    assert correlation_discrepancies(data, data) == (0, 0)


@given(st.integers(0, 1000), st.integers(2, 6))
def test_structure_does_not_depend_on_units(seed, p):
    rng = np.random.default_rng(seed)
    original = rng.standard_normal((20, p)) @ rng.standard_normal((p, p))
    protected = by_centroids(original, rng.integers(0, 6, 20))
    scale, shift = rng.uniform(0.1, 10, p), rng.uniform(-5, 5, p)
    for measure in (standard_deviations, correlation_discrepancies):
        np.testing.assert_allclose(
            measure(original, protected),
            measure(original * scale + shift, protected * scale + shift),
            rtol=1e-7,
            atol=1e-9,
        )
    assert (standard_deviations(original, protected) <= 1 + 1e-12).all()


@given(st.integers(0, 1000), st.integers(1, 6))
def test_first_component_is_the_leading_singular_vector(seed, p):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((20, p)) @ rng.standard_normal((p, p))
    z = (data - data.mean(axis=0)) / data.std(axis=0)
    weights, percent = first_component(data)
    _, singular, right = np.linalg.svd(z / np.sqrt(len(z)), full_matrices=False)
    assert percent == pytest.approx(100 * singular[0] ** 2 / p)
    assert np.sum(weights**2) == pytest.approx(singular[0] ** 2)
    assert weights.sum() >= 0
    if p == 1 or singular[0] > 1.01 * singular[1]:
        np.testing.assert_allclose(np.abs(weights), np.abs(right[0]) * singular[0], atol=1e-6)


def test_constant_variables():
    rng = np.random.default_rng(1)
    data = np.column_stack([rng.standard_normal((30, 3)), np.full(30, 0.1)])
    weights, percent = first_component(data)
    alone = first_component(data[:, :3])
    np.testing.assert_allclose(weights, [*alone.weights, 0], atol=1e-12)
    assert percent == pytest.approx(alone.percent)
    protected = by_centroids(data, np.arange(30) // 3)
    assert standard_deviations(data, protected)[3] == 0
    assert weight_changes(data, protected)[3] == 0
    np.testing.assert_allclose(
        correlation_discrepancies(data, protected),
        correlation_discrepancies(data[:, :3], protected[:, :3]),
    )
    weights, percent = first_component(np.ones((5, 2)))
    assert (*weights, percent) == (0, 0, 0)


def test_one_group_leaves_no_structure():
    data = toy("companies")
    protected = np.tile(data.mean(axis=0), (11, 1))
    np.testing.assert_array_equal(standard_deviations(data, protected), [0, 0])
    np.testing.assert_array_equal(weight_changes(data, protected), [-100, -100])
    assert mean_weight_change(data, protected) == 100
    r = abs(np.corrcoef(data, rowvar=False)[0, 1])
    assert correlation_discrepancies(data, protected) == pytest.approx((r, 0))


def test_one_variable_has_no_pairs():
    assert correlation_discrepancies([1.0, 2.0], [1.5, 1.5], ddof=1) == (0, 0)
    assert first_component([1.0, 2.0, 4.0]).percent == pytest.approx(100)


def test_sign_of_the_component_follows_the_original():
    # Weights a, a, -b, -b with a < b in the original and a > b after protection: by the sum
    # alone the component would turn round and all changes be near -200 %.
    x, noise = np.linspace(-1, 1, 50), np.random.default_rng(2).standard_normal((50, 2)) / 10
    clean = np.column_stack([x, x])
    original, protected = np.hstack([clean + noise, -clean]), np.hstack([clean, -clean - noise])
    before, after = first_component(original).weights, first_component(protected).weights
    assert before @ after < 0
    assert np.abs(weight_changes(original, protected)).max() < 5


def test_bad_structure_arguments():
    with pytest.raises(InputError, match=r"original has shape \(2, 1\) and protected \(3, 1\)"):
        standard_deviations([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="protected holds 1 missing"):
        weight_changes([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(InputError, match="ddof=2 must be a whole number from 0 to 1"):
        correlation_discrepancies([1.0, 2.0], [1.0, 2.0], ddof=2)
