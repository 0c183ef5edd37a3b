"""Measures that other programs and books have: agreement with sdcMicro, and by hand."""

import csv
from itertools import permutations

import numpy as np
import pytest

from microagg_gpu import InputError, measures, microaggregate
from microagg_gpu.measures import (
    assignment_linkage,
    coefficient_overlap,
    eigenvalue_change,
    il1s,
    inequality,
    interval_overlap,
    inverse_correlation_change,
    joint_interval_disclosure,
    matrix_changes,
    mean_distance,
    pmse,
)
from microagg_gpu.measures.inference import coefficient_overlaps


def table(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 5.0


def matrix_of(path):
    return np.loadtxt(path, delimiter=",", skiprows=1)


@pytest.mark.parametrize("name", ["tarragona", "census"])
@pytest.mark.parametrize("k", [3, 10])
def test_sdcmicro_agrees(reference_data, name, k):
    before = matrix_of(reference_data / f"{name}.csv")
    after = matrix_of(reference_data / "sdcmicro" / f"{name}_{k}_mdav.csv")
    with open(reference_data / "sdcmicro" / "measures.csv", encoding="utf-8") as file:
        theirs = {
            row["measure"]: float(row["value"])
            for row in csv.DictReader(file)
            if (row["data"], row["k"]) == (name, str(k)) and row["value"] not in ("", "NA")
        }
    n, p = before.shape
    for width in (0.05, 0.01):
        ours = joint_interval_disclosure(before, after, width)
        assert ours == pytest.approx(100 * theirs[f"dRisk k={width}"])
    # They sum, by the sample's standard deviation; we take the mean, by the population's.
    ours = il1s(before, after).total * n * p * np.sqrt((n - 1) / n)
    assert ours == pytest.approx(theirs["dUtility IL1s"])
    assert mean_distance(before, after) == pytest.approx(theirs["IL_variables"])
    if name == "tarragona":
        assert eigenvalue_change(before, after) == pytest.approx(theirs["dUtility eigen"])
        assert inverse_correlation_change(before, after) == pytest.approx(theirs["IL_correl"])
    else:  # one variable of Census is nearly a sum of others
        assert np.isnan(inverse_correlation_change(before, after))
        assert "IL_correl" not in theirs


def test_nothing_changes_if_nothing_is_changed():
    data = table()
    assert all(change == (0, 0, 0) for change in matrix_changes(data, data).values())
    assert eigenvalue_change(data, data) == inverse_correlation_change(data, data) == 0
    assert mean_distance(data, data) == 0
    assert joint_interval_disclosure(data, data) == 100
    assert interval_overlap(data, data).total == pytest.approx(1)
    assert coefficient_overlap(data, data, 0).total == pytest.approx(1)
    assert pmse(data, data) == pytest.approx(0, abs=1e-9)
    assert assignment_linkage(data, data) == pytest.approx(100)


def test_matrix_changes_against_numpy():
    before = table()
    after = microaggregate(before, 4).protected
    found = matrix_changes(before, after)
    apart = np.abs(before - after)
    assert found["X"] == pytest.approx(
        (np.mean(apart**2), np.mean(apart), np.mean(apart / np.abs(before)))
    )
    for name, matrix, diagonal in (("V", np.cov, 0), ("R", np.corrcoef, -1)):
        rows = np.tril_indices(3, diagonal)
        old, new = matrix(before.T)[rows], matrix(after.T)[rows]
        assert found[name].mse == pytest.approx(np.mean((old - new) ** 2))
        assert found[name].variation == pytest.approx(np.mean(np.abs(old - new) / np.abs(old)))


def test_components_by_correlation_with_their_scores():
    """RF and C from the scores themselves; their signs may differ, so squares are compared."""
    before = table()
    units = (before - before.mean(axis=0)) / before.std(axis=0)
    _, _, axes = np.linalg.svd(units, full_matrices=False)
    scores = units @ axes.T
    rf = np.corrcoef(units.T, scores.T)[:3, 3:]
    after = before * [1.0, 1.0, -1.0]  # the sign of a variable changes only its own correlations
    found = matrix_changes(before, after)
    assert found["C"].mse == pytest.approx(0, abs=1e-20)
    share = np.sum(rf**2, axis=0) / 3
    least = sum(
        share[j] * min(np.sum((rf[:, j] - s * rf[:, j] * [1, 1, -1]) ** 2) for s in (1, -1))
        for j in range(3)
    )
    assert found["RF"].mse == pytest.approx(least / 9)


def test_constant_and_dependent_variables():
    data = table()
    with pytest.raises(InputError, match="1 variables of protected are constant, the first is 1"):
        matrix_changes(data, data * [1, 0, 1])
    sums = np.column_stack([data, data[:, 1] + data[:, 2]])
    assert np.isnan(inverse_correlation_change(sums, sums))
    assert np.isnan(coefficient_overlap(sums, sums, 0).total)


def test_overlap_of_intervals_by_hand():
    before = np.array([[0.0], [2.0], [4.0], [6.0]])
    half = 1.959963984540054 * before.std(ddof=1) / 2
    moved = interval_overlap(before, before + half)
    assert moved.by_variable == pytest.approx([0.5])
    assert interval_overlap(before, before + 4 * half).total == pytest.approx(-1)
    narrower = interval_overlap(before, 3 + (before - 3) / 2)
    assert narrower.total == pytest.approx((0.5 + 1) / 2)
    assert np.isnan(interval_overlap(before, before * 0).total)


def test_coefficients_of_a_line():
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    noise = rng.normal(size=200)
    x -= x.mean()
    noise -= noise.mean() + x * (noise @ x) / (x @ x)
    before = np.column_stack([2 * x + noise, x])
    error = np.sqrt(noise @ noise / 198 / (x @ x))
    steeper = np.column_stack([before[:, 0] + 1.959963984540054 * error * x, x])
    assert coefficient_overlap(before, steeper, 0).by_variable == pytest.approx([0.5], rel=1e-6)
    with pytest.raises(InputError, match="3 records do not determine 2 coefficients"):
        coefficient_overlap(before[:3], before[:3], 0)


def test_all_targets_at_once():
    before = table(50)
    after = microaggregate(before, 4).protected
    each = [coefficient_overlap(before, after, j).total for j in range(3)]
    assert coefficient_overlaps(before, after) == pytest.approx(each, rel=1e-9)
    assert np.isnan(coefficient_overlaps(before, after * 0)).all()


def test_distances_of_categories_by_hand():
    before = np.array([[1.0, 0, 2], [5.0, 1, 0]])
    after = np.array([[0.0, 1, 2], [5.0, 1, 3]])
    numbers = 2 / np.pi * np.arctan(1)  # one half
    assert mean_distance(before, after, [0, 1, 5]) == pytest.approx((numbers + 1 + 3 / 4) / 6)
    with pytest.raises(InputError, match="levels must be 3 whole numbers of 0 or more"):
        mean_distance(before, after, [0, 1])


def test_pmse_of_files_that_a_model_can_tell_apart():
    data = table(100)
    assert pmse(data, data + 100) == pytest.approx(0.25, abs=0.01)
    protected = microaggregate(data, 5).protected
    assert 0 <= pmse(data, protected) < pmse(data, 3 * data) < 0.25


def test_inequality_against_all_pairs():
    values = np.array([0.0, 1.0, 2.0, 2.0, 10.0])
    apart = np.abs(values[:, None] - values).mean()
    assert inequality(values).gini == pytest.approx(apart / (2 * values.mean()))
    assert inequality(values).quintile_ratio == np.inf
    assert inequality([1.0, 2, 3, 4, 5]).quintile_ratio == pytest.approx(5)
    weighted = inequality([1.0, 3.0], [2, 3])
    repeated = inequality([1.0, 1.0, 3.0, 3.0, 3.0])
    assert weighted == pytest.approx(repeated)
    assert inequality([1.0, 2, 3, 4, 5])[2:] == pytest.approx((1 / 15, 5 / 15))
    assert np.isnan(inequality([0.0, 0.0]).gini)
    with pytest.raises(InputError, match="1 values or weights are negative"):
        inequality([1.0, -1.0])


@pytest.mark.parametrize("seed", range(5))
def test_assignment_against_all_matchings(seed):
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(6, 2))
    after = before + rng.normal(size=(6, 2))
    squares = np.sum((before[:, None] - after) ** 2, axis=2)
    best = min(permutations(range(6)), key=lambda order: sum(squares[range(6), order]))
    expected = 100 * np.mean(np.array(best) == range(6))
    assert assignment_linkage(before, after, scale=[1, 1]) == pytest.approx(expected)


def test_matching_of_groups_and_strata():
    before = np.array([[0.0], [1.0], [10.0], [11.0]])
    after = np.array([[0.5], [0.5], [10.5], [10.5]])
    assert assignment_linkage(before, after) == 50
    assert assignment_linkage(before, after, cells=[0, 1, 0, 1]) == 100
    with pytest.raises(InputError, match="cannot be matched as a whole"):
        measures.assignment_linkage(np.zeros((15_001, 1)), np.zeros((15_001, 1)))
