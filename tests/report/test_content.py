"""The content of the report, as plain values."""

import json
from itertools import pairwise

import numpy as np
import pytest

from helpers.reports import by_centroids, checked, simulated
from microagg_gpu.datasets import toy
from microagg_gpu.errors import InputError
from microagg_gpu.measures import information_loss, ssa, sse, weight_changes
from microagg_gpu.report import describe

NAN = np.nan


def standardized(points):
    return (points - points.mean(axis=0)) / points.std(axis=0)


def test_content_of_the_companies():
    data, labels = toy("companies"), np.array([0, 0, 0, 1, 1, 2, 2, 2, 1, 0, 2])
    protected, z = by_centroids(data, labels), standardized(data)
    found = describe(data, protected, names=["surface", "employees"], k=3, labels=labels)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["groups"], found["smallest"], found["largest"]) == (3, 3, 4)
    assert found["loss"] == pytest.approx(information_loss(z, labels))
    assert found["sse"] == pytest.approx(sse(z, labels))
    assert found["ssa"] == pytest.approx(ssa(z, labels))
    assert found["sst"] == pytest.approx(22)
    changes = found["weights"]["surface"]["change"], found["weights"]["employees"]["change"]
    assert changes == tuple(weight_changes(data, protected))
    for j, row in enumerate(found["by_variable"]):
        assert row["loss"] == pytest.approx(information_loss(data[:, j], labels))
        assert row["before"]["mean"] == pytest.approx(data[:, j].mean())
        assert row["after"]["std"] == pytest.approx(protected[:, j].std())
        assert row["before"]["quantiles"]["50"] == np.median(data[:, j])
    assert sum(row["share_of_loss"] for row in found["by_variable"]) == pytest.approx(100)
    assert found["group_sizes"] == [
        {"from": 3, "to": 3, "groups": 1},
        {"from": 4, "to": 4, "groups": 2},
    ]
    r = np.corrcoef(data, rowvar=False)[0, 1]
    assert found["correlations"]["before"][0][1] == pytest.approx(r)
    assert found["summary"][0] == "11 records in 3 groups of 3 to 4 records."


def test_records_with_the_same_published_values_are_a_group():
    data = np.array([[0.0], [2], [4], [6], [9]])
    protected = np.array([[1.0], [1], [5], [5], [9]])
    found = describe(data, protected, names=["x"], k=2)
    assert (found["groups"], found["smallest"], found["largest"]) == (3, 1, 2)
    assert "k = 2 does NOT hold: the smallest group has 1 record." in found["summary"]
    whole = describe(data, np.ones((5, 1)), names=["x"], k=2, cells=[0, 0, 0, 1, 1])
    assert (whole["groups"], whole["smallest"], whole["cells"]) == (2, 2, 2)


def test_scale_weights_the_loss():
    data = np.array([[0.0, 0], [2, 4], [4, 8], [6, 4]])
    protected = np.array([[1.0, 2], [1, 2], [5, 6], [5, 6]])
    # By hand: SSE 4 and 16, SST 20 and 32.
    found = describe(data, protected, names=["x", "y"], k=2, scale=[1.0, 0.5])
    assert (found["sse"], found["sst"]) == pytest.approx((8, 28))
    assert found["loss"] == pytest.approx(100 * 8 / 28)
    assert [row["loss"] for row in found["by_variable"]] == pytest.approx([20, 50])
    assert [row["share_of_loss"] for row in found["by_variable"]] == pytest.approx([50, 50])


def test_sampling_weights():
    data, protected = np.array([[1.0], [5]]), np.array([[2.0], [2.0]])
    row = describe(data, protected, names=["x"], k=2, sampling_weight=[3, 1])["by_variable"][0]
    assert (row["before"]["weighted_mean"], row["after"]["weighted_mean"]) == (2, 2)
    assert row["before"]["weighted_std"] == pytest.approx(np.sqrt(3))
    assert (row["before"]["mean"], row["after"]["mean"]) == (3, 2)


def test_individual_ranking():
    data, _, _ = simulated(60, 3)
    labels = np.argsort(np.argsort(data, axis=0), axis=0) // 5
    protected = np.column_stack(
        [by_centroids(x, part) for x, part in zip(data.T, labels.T, strict=True)]
    )
    found = describe(data, protected, names=list("abc"), k=5, labels=labels)
    assert (found["individual"], found["groups"], found["smallest"]) == (True, 36, 5)
    assert found["risk"]["inside"] == 100
    assert "combinations of values may be unique" in " ".join(found["summary"])
    checked(found)


def test_categories():
    # 20 categories of frequencies 20, 19, ... 1; the first is published everywhere.
    before = np.repeat([f"c{i:02}" for i in range(20)], np.arange(20, 0, -1))
    n = len(before)
    category = {"name": "trade", "kind": "nominal", "before": before, "after": ["c00"] * n}
    found = describe(np.empty((n, 0)), np.empty((n, 0)), names=[], k=2, categories=[category])
    trade = found["categories"][0]
    assert trade["changed"] == pytest.approx(100 * 190 / 210)
    assert [row["name"] for row in trade["categories"]][-2:] == ["c11", "8 others"]
    assert trade["categories"][0] == pytest.approx(
        {"name": "c00", "before": 100 * 20 / 210, "after": 100.0}
    )
    assert trade["categories"][-1]["before"] == pytest.approx(100 * 36 / 210)
    assert (found["groups"], found["risk"]["linkage"]) == (1, None)
    checked(found)


def test_densities_are_densities():
    points, labels, _ = simulated(2000, 2)
    points = np.column_stack([points[:, 0] ** 3, np.log(points[:, 1])])
    protected = by_centroids(points, labels)
    skewed, plain = describe(points, protected, names=["x", "y"], k=5)["densities"]
    assert (skewed["logarithmic"], plain["logarithmic"]) == (True, False)
    for row in (skewed, plain):
        grid = np.log10(row["grid"]) if row["logarithmic"] else np.array(row["grid"])
        assert 0.94 < np.trapezoid(row["before"], grid) < 1.0
        assert len(grid) == len(row["after"]) == 80


def test_many_sizes_are_counted_in_classes():
    labels = np.repeat(np.arange(100), np.arange(1, 101))
    data = np.arange(len(labels), dtype=float)[:, np.newaxis]
    sizes = describe(data, data, names=["x"], k=None, labels=labels)["group_sizes"]
    assert len(sizes) <= 40
    assert sum(row["groups"] for row in sizes) == 100
    assert all(a["to"] + 1 == b["from"] for a, b in pairwise(sizes))


def test_bad_content():
    data = np.zeros((3, 2))
    with pytest.raises(InputError, match="1 names for 2 variables"):
        describe(data, data, names=["x"], k=2)
    with pytest.raises(InputError, match=r"labels have shape \(2,\) for records of shape \(3, 2\)"):
        describe(data, data, names=["x", "y"], k=2, labels=[0, 0])
    category = {"name": "c", "kind": "nominal", "before": ["a"], "after": ["a"]}
    with pytest.raises(InputError, match="category 'c' does not have 3 values"):
        describe(data, data, names=["x", "y"], k=2, categories=[category])
