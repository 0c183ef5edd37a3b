"""The note for the public: what changed, and nothing about single records."""

import re

import numpy as np
import pytest

from helpers.reports import EVIL, VERDICT, checked, simulated
from microagg_gpu import microaggregate
from microagg_gpu.errors import InputError
from microagg_gpu.report import describe, note, page

SECTIONS = ["What was done", "What changed", "Using the file"]


def words(content):
    """The text of the note, without its style."""
    text = " ".join(checked(content, note, SECTIONS).text)
    return text[text.rindex("How this file was protected") :]


def example(**given):
    points, labels, protected = simulated(100, 3)
    return describe(points, protected, names=["x", "y", "z"], k=5, labels=labels, **given)


def test_what_changed():
    content = example(method="mdav", provenance={"Method": "mdav (2005)", "Published": "mean"})
    text = words(content)
    assert "mdav (2005)" in text
    assert "every record shares its protected values with at least 4 others" in text
    row = content["by_variable"][0]
    assert f"{row['after']['std'] / row['before']['std']:.3f}" in text
    assert f"{content['correlation_discrepancies']['mean']:.3f} on average" in text
    assert "Means and totals of the whole file are practically unchanged" in text
    assert "Do not publish" not in text
    assert "noindex" not in note(content)
    assert "noindex" in page(content)


def test_sampling_weights_are_used():
    data = np.arange(40.0)[:, np.newaxis]
    protected = np.repeat(data.reshape(8, 5).mean(axis=1), 5)[:, np.newaxis]
    weight = np.where(np.arange(40) % 5 == 0, 10.0, 1.0)
    content = describe(data, protected, names=["x"], k=5, sampling_weight=weight)
    # The weighted mean rises: by hand, from 18.57 to 20.00 - 0.5 within groups of 5.
    row = content["by_variable"][0]
    old, new = row["before"], row["after"]
    change = (new["weighted_mean"] - old["weighted_mean"]) / old["weighted_std"]
    assert change > 0.1
    assert f"+{change:.3f}" in words(content)
    assert "with sampling weights" in words(content)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("PASS", "every record shares all its values in this file with at least 4 others"),
        ("PARTLY", "with at least 4 others, but not together with size & more."),
        ("FAIL", "does not hold for every record"),
    ],
)
def test_k_is_said_as_the_verdict_has_it(word, said):
    text = words(example() | {"verdict": VERDICT | {"word": word}})
    assert said in text
    assert "size & more" in text  # published unchanged
    assert ("k holds for" in text) == (word == "PARTLY")
    assert VERDICT["sentence"] not in text  # it may count records
    assert "does not hold" in words(example() | {"smallest": 4, "verdict": None})


def test_nothing_about_single_records_or_files():
    content = example(
        provenance={
            "From": "/home/someone/secret.csv",
            "To": "out.csv",
            "Command": "microagg protect secret.csv",
            "Merged": "region=Atlantis + region=North",
            "Left out": "3 records with missing values, 12 records of too small strata or patterns",
            "Remark": "for our eyes only",
        },
        strata=["Atlantis"] * 100,
        alternatives=[{"method": "mst", "k": 3, "loss": 1.0, "risk": 2.0}],
    )
    text = note(content)
    for secret in ("secret", "out.csv", "Atlantis", "eyes", "mst", "Smallest", "Quantile", "99 %"):
        assert secret not in text
    assert "fewer than 10 records with missing values, 12 records of too small" in text
    shown = set(re.findall(r"\d[\d,.]*\d", words(content)))
    for row in content["by_variable"]:
        for q, value in row["before"]["quantiles"].items():
            assert f"{value:,.4g}" not in shown, (row["name"], q)


def test_variables_with_few_values_have_no_figures():
    points, labels, protected = simulated(100, 2)
    points[9:, 1] = protected[9:, 1] = np.nan
    points[:9, 1] = protected[:9, 1] = np.arange(9)
    content = describe(points, protected, names=["x", "few"], k=5, labels=labels)
    row = re.search(r"<tr><th[^>]*>few</th>(.*?)</tr>", note(content))[1]
    assert re.findall(r"<td>(.*?)</td>", row) == ["\N{EN DASH}"] * 3
    assert "few \N{MULTIPLICATION SIGN}" not in note(content)
    assert "91; they are missing in the original too" in note(content)
    points, labels, protected = simulated(100, 2)
    points[0, 1] = protected[0, 1] = np.nan
    content = describe(points, protected, names=["x", "y"], k=5, labels=labels)
    assert "fewer than 10; they are missing" in note(content)


def test_categories_and_individual_ranking():
    before = np.array(["a"] * 96 + ["rare"] * 4)
    category = {"name": "c", "kind": "nominal", "before": before, "after": ["a"] * 100}
    content = describe(np.empty((100, 0)), np.empty((100, 0)), names=[], k=5, categories=[category])
    text = words(content)
    assert "fewer than 10" in text
    assert "rare" not in text
    data = simulated(60, 2)[0]
    alone = microaggregate(data, 5, "individual")
    assert "so records may be unique" in words(alone.report())


def test_names_are_escaped_and_many_are_folded():
    points, labels, protected = simulated(40, 4)
    content = describe(points, protected, names=EVIL, k=5, labels=labels,
                       provenance={"Method": EVIL[0]})  # fmt: skip
    checked(content, note, SECTIONS)
    assert "<script" not in note(content)
    names = [f"household_survey_wave7_variable_of_section_{j:02}" for j in range(60)]
    points, _, protected = simulated(200, 60)
    text = note(describe(points, protected, names=names, k=5))
    assert "<details><summary><h3>Means and spread</h3>" in text
    with pytest.raises(InputError, match="is not a result of describe"):
        note({})


def test_save_note(empty_directory):
    result = microaggregate(simulated(60, 2)[0], 5)
    result.save_note("note.html")
    with open("note.html", encoding="utf-8") as file:
        assert "<h1>How this file was protected</h1>" in file.read()


def test_rounding():
    content = example()
    content["rounding"] = [{"name": "x", "decimals": 1, "total": 1234.56, "change": -0.06},
                           {"name": "y", "decimals": 0, "total": 9.0, "change": 0.0}]  # fmt: skip
    said = "to 0 or 1 decimals; this changes no mean by more than 0.001 standard deviations"
    assert said in words(content)
    assert "1,234" not in words(content)
    content["rounding"][0]["change"] = 20 * content["by_variable"][0]["before"]["std"]
    assert "no mean by more than 0.2 standard deviations" in words(content)
