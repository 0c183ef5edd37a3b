"""Measures for analysts and records at risk in the report: the figures of the functions."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from helpers.reports import checked
from microagg_gpu import InputError, measures, microaggregate
from microagg_gpu.report import analysis, describe, note, page

RNG = np.random.default_rng(7)
N = 90
TABLE = pa.table(
    {
        "region": RNG.choice(["n", "s"], N),
        "income": RNG.lognormal(3, 1, N).round(2),
        "staff": RNG.integers(0, 30, N),
        "profit": RNG.normal(size=N).round(3),
        "grade": RNG.integers(1, 4, N),
        "kind": RNG.choice(["a", "b"], N),
    }
)
NUMBERS = ["income", "staff", "profit"]


def matrix(table, names=NUMBERS):
    return np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)


def protect(**given):
    return microaggregate(TABLE.select(["region", *NUMBERS]), 4, by="region", **given)


def test_the_figures_are_those_of_the_measures():
    result = protect()
    found = result.report(more=True)["analysis"]
    before, after = matrix(TABLE), matrix(result.protected)
    assert found["records"] == N
    assert found["interval_overlap"] == pytest.approx(
        measures.interval_overlap(before, after).total
    )
    slopes = [measures.coefficient_overlap(before, after, j).total for j in range(3)]
    assert found["coefficient_overlap"] == pytest.approx(np.mean(slopes))
    assert found["eigenvalue_change"] == pytest.approx(measures.eigenvalue_change(before, after))
    assert found["gamma"] == pytest.approx(measures.inverse_correlation_change(before, after))
    assert found["lambda"] == pytest.approx(measures.mean_distance(before, after))
    assert found["joint_intervals"] == measures.joint_interval_disclosure(before, after)
    assert found["pmse"] == pytest.approx(measures.pmse(before, after))
    assert found["matrices"]["V"]["mae"] == pytest.approx(
        measures.matrix_changes(before, after)["V"].mae
    )
    income, _, profit = found["by_variable"]
    assert income["inequality"]["after"]["gini"] == pytest.approx(
        measures.inequality(after[:, 0]).gini
    )
    assert profit["inequality"] is None  # some are below 0


def test_what_takes_long_is_only_there_if_asked_for():
    result = protect()
    found = result.report()
    assert found["analysis"]["pmse"] is None
    assert found["analysis"]["assignment"] is None
    text = " ".join(checked(result.report(more=True)).text)
    assert "Propensity score (pMSE)" in text
    assert "best one-to-one matching" in text
    assert "Propensity" not in " ".join(checked(found).text)


def test_many_records_are_not_measured_one_by_one_unasked(monkeypatch):
    monkeypatch.setattr("microagg_gpu.report.analysis.RECORDS", 10)
    monkeypatch.setattr("microagg_gpu.report.content.RECORDS", 10)
    assert protect().report()["at_risk"] is None
    assert protect().report(more=True)["at_risk"] is not None


def test_records_at_highest_risk():
    result = protect()
    content = result.report()
    risk = result.record_risk()
    found = content["at_risk"]
    assert found["after"] == pytest.approx(100 * risk.after.mean())
    assert found["highest"] <= 100 / 4
    assert len(found["records"]) == analysis.SHOWN_RECORDS
    chances = [row["after"] for row in found["records"]]
    assert chances == sorted(chances, reverse=True)
    first = found["records"][0]
    assert first["after"] == pytest.approx(100 * risk.after[first["record"] - 1])
    assert first["distance"] == pytest.approx(risk.distance[first["record"] - 1])
    assert "Records at highest risk" in page(content)


def test_numbers_of_records_are_those_of_the_data():
    """Also if records are left out, or published in another order."""
    data = TABLE.select(NUMBERS)
    income = data["income"].to_pylist()
    income[:5] = [None] * 5
    data = data.set_column(0, "income", pa.array(income))
    for given in ({}, {"shuffle": True, "seed": 3}):
        result = microaggregate(data, 4, missing="drop", **given)
        found = result.report(known="staff")["at_risk"]["records"]
        risk = result.record_risk()
        assert len(risk.after) == N - 5
        for row in found:
            assert row["record"] > 5
            assert row["distance"] == pytest.approx(risk.distance[row["record"] - 6])


def test_the_note_says_nothing_of_records():
    content = protect().report(more=True, known=["staff", "region"])
    plain = {**content, "at_risk": None, "known": None, "outside": None, "analysis": None}
    assert note(content) == note(plain)


def test_few_known_columns():
    result = protect()
    content = result.report(known=["staff", "region"])
    found, region = content["known"], np.array(TABLE["region"].to_pylist())
    staff, after = matrix(TABLE, ["staff"]), matrix(result.protected, ["staff"])
    risk = measures.record_risk(
        staff, after, np.unique(region, return_inverse=True)[1], scale=[1 / staff.std()]
    )
    assert found["columns"] == ["staff", "region"]
    assert found["after"] == pytest.approx(100 * risk.after.mean())
    assert found["before"] == pytest.approx(100 * risk.before.mean())
    pairs = set(zip(staff[:, 0], region, strict=True))
    assert found["before"] == pytest.approx(100 * len(pairs) / N)
    assert found["after"] < found["before"]
    assert any(
        line.startswith("Somebody who knows only staff, region") for line in content["summary"]
    )
    text = re.sub(r"\s+", " ", " ".join(checked(content).text))
    assert "If only these columns are known: staff, region" in text


def test_known_columns_after_shuffling_are_those_of_the_record():
    plain, mixed = protect(), protect(shuffle=True, seed=5)
    known = ["income", "region"]
    assert mixed.record_risk(known).after == pytest.approx(plain.record_risk(known).after)
    assert plain.record_risk("region").after == pytest.approx(
        [1 / TABLE["region"].to_pylist().count(name) for name in TABLE["region"].to_pylist()]
    )


def test_ordinal_variables_count_and_nominal_ones_are_refused():
    result = microaggregate(TABLE, 4, columns="income", ordinal="grade", nominal="kind")
    assert result.report()["at_risk"]["highest"] <= 100
    assert result.record_risk(["grade"]).after.max() <= 1 / 4
    with pytest.raises(InputError, match="'kind' has categories without order"):
        result.record_risk("kind")
    with pytest.raises(InputError, match="column 'nobody' is not in what is published"):
        result.report(known=["nobody"])
    with pytest.raises(InputError, match="known= names no column"):
        result.record_risk([])
    weighted = TABLE.append_column("w", [np.linspace(1, 2, N)])
    averaged = microaggregate(
        weighted, 4, columns="income", sampling_weight="w", average_weight=True
    )
    with pytest.raises(InputError, match="'w' is published as means of groups"):
        averaged.record_risk("w")


def test_arrays_know_columns_by_position():
    data = matrix(TABLE)
    result = microaggregate(data, 4)
    assert result.record_risk([1]).after == pytest.approx(
        measures.record_risk(data[:, [1]], result.protected[:, [1]]).after
    )


def test_missing_and_constant_values():
    data = matrix(TABLE)
    data[:3, 0] = np.nan
    protected = np.array(data)
    content = describe(data, protected, names=NUMBERS, k=1, more=True)
    assert content["analysis"]["records"] == N - 3
    assert "3 records with missing values are not in measures" in " ".join(checked(content).text)
    constant = np.ones((20, 2))
    content = describe(constant, constant, names=["a", "b"], k=1)
    assert content["analysis"]["gamma"] is None
    checked(content)
    empty = np.full((4, 1), np.nan)
    assert describe(empty, empty, names=["a"], k=1)["analysis"] is None
    checked(describe(empty, empty, names=["a"], k=1))


def test_by_stratum():
    content = protect().report(by_stratum=True)
    region = np.array(TABLE["region"].to_pylist())
    before = matrix(TABLE)
    for row in content["by_stratum"]:
        own = before[region == row["name"].split("=")[-1]]
        if len(own):
            gini = row["by_variable"][0]["inequality"]["before"]["gini"]
            assert gini == pytest.approx(measures.inequality(own[:, 0]).gini)
    assert sum(row["records"] for row in content["by_stratum"]) == N
    json.dumps(content, allow_nan=False)
