"""The page that is made of the content of a report."""

import re

import numpy as np
import pytest

from helpers.reports import EVIL, SECTIONS, VERDICT, checked, simulated
from microagg_gpu import __version__, microaggregate
from microagg_gpu.errors import InputError
from microagg_gpu.pipeline import comparison
from microagg_gpu.pipeline.comparison import risk_map as risk_rows
from microagg_gpu.report import describe, page
from microagg_gpu.report.svg import risk_map
from microagg_gpu.report.wording import fixed, labels, number, percent, shared_beginning

NAN = np.nan

# Page


@pytest.mark.parametrize(("n", "p"), [(2, 1), (12, 2), (500, 4), (300, 13), (200, 35)])
def test_pages(n, p):
    points, labels, protected = simulated(n, p, k=2)
    names = [f"variable number {j}" for j in range(p)]
    content = describe(points, protected, names=names, k=2, labels=labels)
    document = checked(content)
    text = " ".join(document.text)
    for name in names:
        assert name in text
    assert text.count("Do not publish it.") == 3  # on screen twice, and below printed pages
    assert text.count("Density of ") == min(p, 12)


def test_nothing_from_outside_is_unescaped():
    points, labels, protected = simulated(40, 4)
    category = {"name": EVIL[0], "kind": EVIL[1], "before": EVIL * 10, "after": [EVIL[2]] * 40}
    content = describe(
        points,
        protected,
        names=EVIL,
        k=5,
        labels=labels,
        categories=[category],
        provenance={evil: evil for evil in EVIL},
        alternatives=[
            {"method": evil, "k": 3, "loss": 10.0, "risk": 20.0, "seconds": 0.1} for evil in EVIL
        ],
    )
    checked(content)
    text = page(content)
    assert "<script" not in text
    assert text.count("</style>") == 1
    for evil in EVIL[:3]:
        assert evil not in text


def test_missing_constant_and_heavy_tailed_variables():
    rng = np.random.default_rng(5)
    data = np.column_stack(
        [
            rng.standard_cauchy(100) * 1e8,
            np.full(100, 7.0),
            np.where(rng.random(100) < 0.3, NAN, rng.standard_normal(100)),
            np.full(100, NAN),
            np.where(rng.random(100) < 0.9, 0.0, 1e-9),
        ]
    )
    protected = np.where(np.isnan(data), NAN, np.nan_to_num(data) * 0.9)
    content = describe(data, protected, names=list("abcde"), k=None)
    assert content["missing"] == np.count_nonzero(np.isnan(data))
    assert content["by_variable"][3]["before"]["mean"] is None
    assert content["weights"] is None  # no record is complete
    checked(content)


def test_identical_records():
    data = np.ones((6, 2))
    content = describe(data, data, names=["x", "y"], k=3)
    assert (content["loss"], content["groups"]) == (0, 1)
    assert content["risk"]["linkage"] == pytest.approx(100 / 6)
    checked(content)


def test_alternatives_are_drawn_and_listed():
    points, labels, protected = simulated(60, 2)
    rows = [
        {"method": "mdav", "k": 3, "loss": 5.0, "risk": 30.0, "seconds": 0.5},
        {"method": "mst", "k": 5, "loss": 0.0, "risk": 100.0, "seconds": None},
        {"method": "untried", "k": 5, "loss": 7.0, "risk": None, "seconds": 1.0},
    ]
    content = describe(points, protected, names=["x", "y"], k=5, labels=labels, alternatives=rows)
    text = " ".join(checked(content).text)
    assert text.count("this file") == 2  # in the map and in the table
    assert "mdav, k=3: loss 5.0" in text
    assert "untried, k=5" not in text
    assert "No other methods were run" in " ".join(
        checked(describe(points, protected, names=["x", "y"], k=5)).text
    )


def test_a_large_file_makes_no_large_page():
    points, _, protected = simulated(20_000, 5)
    assert len(page(describe(points, protected, names=list("abcde"), k=5))) < 150_000


def test_numbers_as_people_read_them():
    assert number(None) == percent(None) == fixed(None, 2) == "\N{EN DASH}"
    assert [number(x) for x in (0, 1234567.8, 0.5, -12.3456)] == [
        "0",
        "1,234,568",
        "0.5",
        "\N{MINUS SIGN}12.35",
    ]
    assert number(3.0, 4, like=12.0) == "3.00"
    assert number(0.00123, 3) == "0.00123"
    assert number(1e-30, 3) == "1.00e\N{MINUS SIGN}30"
    assert fixed(-0.0001, 2) == "0.00"
    assert percent(12.34) == "12.3\N{NO-BREAK SPACE}%"
    assert percent(0.123) == "0.12\N{NO-BREAK SPACE}%"


# The verdict


@pytest.mark.parametrize("word", ["PASS", "PARTLY", "FAIL"])
def test_the_verdict_comes_first(word):
    points, _, protected = simulated(60, 2)
    provenance = {"Strata": "region"}
    content = describe(points, protected, names=["x", "y"], k=5, provenance=provenance)
    content["verdict"] = VERDICT | {"word": word, "sentence": f"{word}: {VERDICT['sentence']}"}
    text = " ".join(checked(content).text)
    unchanged = "Published unchanged region, size & more "
    order = [f" {word} ", VERDICT["sentence"], unchanged, "Do not publish it. ", "Groups "]
    body = text[text.rindex("Microaggregation report") :]
    places = [body.index(part) for part in order]
    assert places == sorted(places)
    assert f'<div class="verdict {word.lower()}"' in page(content)


@pytest.mark.parametrize("given", [{}, {"verdict": None}])
def test_without_a_verdict_the_report_says_so(given):
    points, _, protected = simulated(60, 2)
    text = " ".join(checked(describe(points, protected, names=["x", "y"], k=5) | given).text)
    assert "NOT COUNTED" in text
    assert "PASS" not in text


def test_date_version_and_calls():
    points, _, protected = simulated(60, 2)
    calls = {"Command": "microagg protect a.csv -k 5", "Python": "microaggregate(data, k=5)"}
    content = describe(points, protected, names=["x", "y"], k=5, provenance=calls, method="mst")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", content["date"])
    assert content["version"] == __version__
    text = page(content)
    assert f"method mst. {content['date']}, microagg-gpu {__version__}" in text
    for call in calls.values():
        assert f"<pre><code>{call}</code></pre>" in text


# Risk before and after, strata, weights


def test_risk_before_and_after():
    data = np.array([[1.0], [1], [2], [5], [6]])
    protected = np.array([[1.5], [1.5], [1.5], [5.5], [5.5]])
    risk = describe(data, protected, names=["x"], k=3)["risk"]
    # Of the five originals two are equal; an intruder guesses between them.
    assert risk["before"] == pytest.approx(
        {"linkage": 80, "smallest": 1, "unique": 60, "below_k": 100}
    )
    assert (risk["after"]["smallest"], risk["after"]["unique"]) == (2, 0)
    assert risk["after"]["below_k"] == pytest.approx(40)
    assert risk["after"]["linkage"] == risk["linkage"]
    before = describe(data, data, names=["x"], k=3)["risk"]
    assert before["linkage"] == pytest.approx(before["before"]["linkage"])


def test_figures_by_stratum():
    data = np.array([[0.0], [2], [4], [6], [10], [20]])
    protected = np.array([[1.0], [1], [5], [5], [15], [15]])
    strata = ["a", "a", "a", "a", "b", "b"]
    content = describe(
        data, protected, names=["x"], k=2, cells=[0, 0, 0, 0, 1, 1], strata=strata,
        scale=[1.0], sampling_weight=[1, 3, 1, 1, 1, 1],
    )  # fmt: skip
    first, second = content["by_stratum"]
    assert (first["name"], first["records"], first["groups"], first["smallest"]) == ("a", 4, 2, 2)
    # By hand: SSE 4 of SST 20, and 50 of 50.
    assert (first["loss"], second["loss"]) == pytest.approx((20, 100))
    assert first["share_of_loss"] == pytest.approx(100 * 4 / 54)
    assert second["by_variable"][0]["before"]["mean"] == 15
    assert first["by_variable"][0]["before"]["weighted_mean"] == pytest.approx(16 / 6)
    sections = [*SECTIONS[:-2], "Strata", *SECTIONS[-2:]]
    assert "with sampling weights" in " ".join(checked(content, sections=sections).text)
    assert describe(data, protected, names=["x"], k=2)["by_stratum"] is None
    with pytest.raises(InputError, match="strata must be 6 texts"):
        describe(data, protected, names=["x"], k=2, strata=["a"])


def test_weighted_figures_come_first():
    points, _, protected = simulated(60, 2)
    weight = np.arange(1.0, 61)
    content = describe(points, protected, names=["x", "y"], k=5, sampling_weight=weight)
    text = page(content)
    weighted, plain = (
        text.index(f"<h3>{title}")
        for title in ("Mean and standard deviation, with", "Loss, mean and standard deviation, wi")
    )
    assert weighted < plain
    mean = content["by_variable"][0]["before"]["weighted_mean"]
    assert number(mean, 4, like=content["by_variable"][0]["before"]["std"]) in text[weighted:plain]


def test_nothing_is_a_percentage_of_a_number_near_zero():
    points, _, protected = simulated(60, 2)
    content = describe(points, protected, names=["x", "y"], k=5)
    content["weights"]["x"] = {"original": 1e-6, "protected": 0.01, "change": 999_900.0}
    content["mean_weight_change"] = 499_950.0
    text = " ".join(checked(content).text)
    assert "+0.010" in text
    assert not re.search(r"\d{4,}(\.\d)?\N{NO-BREAK SPACE}%", text)


# Densities and the map


def density_of(values):
    data = np.asarray(values, dtype=float)[:, np.newaxis]
    return describe(data, data, names=["x"], k=None)["densities"][0]


def test_skewed_amounts_have_a_logarithmic_axis():
    rng = np.random.default_rng(1)
    amounts = rng.lognormal(7, 1, 2000)
    assert density_of(amounts)["logarithmic"]
    assert density_of(amounts)["zeros"] is None
    assert not density_of(rng.normal(100, 5, 2000))["logarithmic"]
    mixed = density_of(np.where(np.arange(2000) % 4 == 0, 0.0, amounts))
    assert mixed["logarithmic"]
    assert mixed["zeros"] == {"before": 25, "after": 25}
    # The area below the curve is the share of what is not 0.
    assert 0.70 < np.trapezoid(mixed["before"], np.log10(mixed["grid"])) < 0.75
    signed = density_of(rng.standard_normal(2000) ** 3)
    assert (signed["logarithmic"], signed["middle"]) == (False, 95)
    data = np.where(np.arange(2000) % 4 == 0, 0.0, amounts)[:, np.newaxis]
    text = " ".join(checked(describe(data, data, names=["x"], k=None)).text)
    assert "logarithmic scale" in text
    assert "zeros: 25.0\N{NO-BREAK SPACE}% before" in text


def test_the_map_names_the_method_and_its_labels_do_not_collide():
    rng = np.random.default_rng(0)
    rows = [
        {"method": f"method {i}", "k": 5, "loss": x, "risk": y}
        for i, (x, y) in enumerate(rng.normal([20, 18], 2, (12, 2)))
    ]
    chosen = {"method": "this run: mdav", "k": 5, "loss": 20.0, "risk": 18.0}
    picture = risk_map(rows, [chosen])
    found = re.findall(
        r'<text class="(point|chosen-label)" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">'
        r"([^<]*)<",
        picture,
    )
    assert found[0][4] == "this run: mdav"
    assert len(found) > 6
    boxes = []
    for kind, x, y, anchor, text in found:
        wide = len(text) * (7 if kind == "chosen-label" else 6)
        left = float(x) - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        boxes.append((left, float(y) - 10, left + wide, float(y)))
    for i, (a, b, c, d) in enumerate(boxes):
        assert 0 <= a < c <= 680
        for e, f, g, h in boxes[:i]:
            assert c <= e or g <= a or d <= f or h <= b


def test_this_run_is_not_drawn_twice():
    points, labels, protected = simulated(60, 2)
    content = describe(points, protected, names=["x", "y"], k=5, labels=labels, method="mdav")
    same = {"method": "mdav", "k": 5, "loss": content["loss"], "seconds": 0.1,
            "risk": content["risk"]["linkage"]}  # fmt: skip
    other = {"method": "mst", "k": 5, "loss": 50.0, "risk": 10.0, "seconds": 0.1}
    text = " ".join(checked(content | {"alternatives": [same, other]}).text)
    assert text.count("this run: mdav") == 2
    assert "mdav, k=5" not in text
    assert "mst, k=5" in text


def test_a_large_file_has_a_map_of_a_sample(monkeypatch):
    monkeypatch.setattr(comparison, "MAP_RECORDS", 500)
    monkeypatch.setattr(comparison, "SAMPLE", 200)
    monkeypatch.setattr(comparison, "BLOCK", 50)
    points, _, _ = simulated(1000, 2)
    result = microaggregate(points, 5, "path")
    rows = risk_rows(points, result.provenance.roles, result.provenance.settings)
    assert {row["records"] for row in rows} == {200}
    assert ("path", 5) in {(row["method"], row["k"]) for row in rows}
    text = " ".join(checked(result.report(alternatives=rows)).text)
    assert "a random sample of 200 of the 1,000 records" in text
    assert text.count("path, the method of this run") == 2
    slow = microaggregate(points, 5, "best", steps=1)
    rows = risk_rows(points, slow.provenance.roles, slow.provenance.settings)
    text = " ".join(checked(slow.report(alternatives=rows)).text)
    assert "The method of this run is not among them" in text
    # Small strata are drawn as a whole, else none would have k records.
    table = np.column_stack([points, np.repeat(np.arange(100), 10)])
    small = microaggregate(table, 5, by=[2])
    rows = risk_rows(table, small.provenance.roles, small.provenance.settings)
    assert {row["k"] for row in rows} == {3, 5, 10}


# Many columns with long names


def test_labels_leave_out_what_most_names_share():
    names = [f"household_survey_wave7_income_from_source_{i}" for i in range(5)]
    assert shared_beginning(names) == "household_survey_wave7_income_from_source_"
    found = labels([*names, "age"])
    assert [label.replace("\N{WORD JOINER}", "") for label in found] == [
        *(f"\N{HORIZONTAL ELLIPSIS}{i}" for i in range(5)),
        "age",
    ]
    assert [label.full for label in found] == [*names, "age"]
    assert labels(["region_a", "region_b", "region_c"]) == ["region_a", "region_b", "region_c"]
    twice = ["a_long_beginning_of_names_x", "a_long_beginning_of_names_y", "x", "y"]
    assert labels(twice) == twice  # else two would have one label


def test_sixty_columns_are_folded_and_named_in_full_once():
    names = [f"household_survey_wave7_variable_of_section_{j:02}" for j in range(60)]
    points, _, protected = simulated(200, 60)
    provenance = {"Columns": ", ".join(names), "Command": "microagg " + ",".join(names)}
    content = describe(points, protected, names=names, k=5, provenance=provenance)
    document = checked(content)
    text = page(content)
    assert text.count("<details>") >= 6
    assert "household_survey_wave7_variable_of_section_00 and 59 more</summary>" in text
    assert "at the beginning of a name stands for" in " ".join(document.text)
    for title in ("Values, by variable", "Quantiles", "Weights on the first component"):
        assert f"<details><summary><h3>{title}</h3>" in text
    assert "<details>" not in page(describe(points[:, :8], protected[:, :8], names=names[:8], k=5))


def test_paper_has_page_numbers():
    points, _, protected = simulated(60, 2)
    text = page(describe(points, protected, names=["x", "y"], k=5))
    assert "size: A4" in text
    assert "counter(page)" in text
    assert '@bottom-left { content: "Microaggregation report. Do not publish it."; }' in text


def test_what_rounding_did_to_totals():
    points, _, protected = simulated(60, 2)
    content = describe(points, protected, names=["x", "y"], k=5)
    content["rounding"] = [{"name": "x", "decimals": 1, "total": 1234.56, "change": -0.06}]
    text = " ".join(checked(content).text)
    assert "What rounding did to totals" in text
    assert "1,234.56 \N{MINUS SIGN}0.06" in text
    content["rounding"][0]["change"] = 3.7e-12
    assert "1,234.56 0 " in " ".join(checked(content).text)
