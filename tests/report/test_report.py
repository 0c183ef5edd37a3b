"""The content of the report, and the page made of it."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from microagg_gpu.datasets import toy
from microagg_gpu.errors import InputError
from microagg_gpu.measures import information_loss, ssa, sse, weight_changes
from microagg_gpu.report import describe, page
from microagg_gpu.report.wording import fixed, number, percent

NAN = np.nan
EVIL = ["<script>alert(1)</script>", "\"quoted\" & 'single'", "</style></svg>", "a\x00&amp;b"]
SECTIONS = [
    "What was done",
    "Utility",
    "Variables",
    "Correlations",
    "Groups",
    "Risk",
    "Alternatives",
    "How to read this",
]


def by_centroids(points, labels):
    group = np.unique(labels, return_inverse=True)[1]
    members = np.split(np.argsort(group), np.cumsum(np.bincount(group))[:-1])
    return np.array([points[part].mean(axis=0) for part in members])[group]


def simulated(n, p, k=5, seed=0):
    """Records, groups of k in the order of the first variable, and what is published."""
    rng = np.random.default_rng(seed)
    points = np.exp(rng.standard_normal((n, p)) @ rng.uniform(0, 1, (p, p)))
    labels = np.empty(n, dtype=int)
    labels[np.argsort(points[:, 0])] = np.minimum(np.arange(n) // k, n // k - 1)
    return points, labels, by_centroids(points, labels)


def standardized(points):
    return (points - points.mean(axis=0)) / points.std(axis=0)


class Document(HTMLParser):
    """Checks that tags are balanced; keeps tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text, self.headings = [], set(), [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in ("meta", "br", "link", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def checked(content):
    """The page of a content after a round trip through JSON, as a document."""
    text = page(json.loads(json.dumps(content, allow_nan=False)))
    document = Document(text)
    assert document.headings == SECTIONS
    assert document.tags.isdisjoint({"script", "link", "img", "iframe", "object", "base"})
    for name, value in document.attributes:
        assert name not in ("src", "srcset", "action", "data")
        assert not name.startswith("on")
        if name == "href":
            assert value.startswith("#")
    assert "http" not in text
    assert "url(" not in text
    assert "@import" not in text
    for word in ("nan", "inf", "None", "NaN"):
        assert not re.search(rf"\b{word}\b", " ".join(document.text)), word
    return document


# Content


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
    assert text.count("Do not publish it.") == 2
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
        made={evil: evil for evil in EVIL},
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
    assert text.count("this run") == 2
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
