"""What an intruder finds who knows few columns, or has an outside file, by the command."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.command import ok, refuse
from microagg_gpu import measures

pytestmark = pytest.mark.usefixtures("empty_directory")
N = 60


@pytest.fixture
def companies(empty_directory):
    rng = np.random.default_rng(3)
    rows = [
        [f"f{i}", "NS"[i % 2], int(rng.integers(1, 20)), round(float(rng.lognormal(3, 1)), 1)]
        for i in range(N)
    ]
    save("in.csv", [["id", "region", "staff", "turnover"], *rows])
    given = ("-k", 3, "--columns", "staff,turnover", "--by", "region", "-o", "out.csv")
    ok("protect", "in.csv", *given, "--drop", "id", "--json", "own.json", "--known", "staff,region",
       "--report-more")  # fmt: skip
    return rows


def save(name, rows):
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def load(name):
    with open(name, encoding="utf-8") as file:
        return list(csv.reader(file)) if name.endswith("csv") else json.load(file)


def numbers(rows, *places):
    return np.array([[float(row[place]) for place in places] for row in rows])


def test_protect_and_report_agree(companies):
    ok("report", "in.csv", "out.csv", "--by", "region", "--known", "staff,region", "--json",
       "their.json", "--report-more")  # fmt: skip
    own, their = load("own.json"), load("their.json")
    assert own["known"]["columns"] == their["known"]["columns"] == ["staff", "region"]
    for key in ("before", "after", "highest"):
        assert own["known"][key] == pytest.approx(their["known"][key])
    assert own["analysis"]["gamma"] == pytest.approx(their["analysis"]["gamma"])
    assert "--report-more --known staff,region" in own["provenance"]["Command"]
    before = numbers(companies, 2)
    risk = measures.record_risk(
        before, numbers(load("out.csv")[1:], 1), [row[1] for row in companies]
    )
    assert own["known"]["after"] == pytest.approx(100 * risk.after.mean())


def test_an_outside_file(companies):
    outside = [[row[0], row[1], row[2] + 1] for row in companies[10:40]]
    outside += [["stranger", "N", 5], ["other", "W", 5]]
    save("register.csv", [["id", "region", "staff"], *outside])
    ok("report", "in.csv", "out.csv", "--by", "region", "--outside", "register.csv",
       "--outside-key", "id", "--json", "r.json", "--columns", "staff,turnover")  # fmt: skip
    found = load("r.json")["outside"]
    assert found["file"] == "register.csv"
    assert found["columns"] == ["staff", "region"]
    assert (found["records"], found["published"]) == (32, 30)
    published = load("out.csv")[1:]
    chances = measures.linkage_chances(
        numbers(outside, 2), numbers(published, 1), [*range(10, 40), -1, -1],
        outside_cells=[row[1] for row in outside], cells=[row[0] for row in published],
    )  # fmt: skip
    assert found["right"] == pytest.approx(100 * chances.mean())
    assert found["found"] == pytest.approx(100 * chances[:30].mean())
    assert found["right"] < found["found"] <= 100 / 3
    with open("report.html", encoding="utf-8") as file:
        assert "With the outside file register.csv" in file.read()


def test_an_outside_file_and_few_columns(companies):
    save("register.csv", [["firm", "staff", "turnover"], *([r[0], *r[2:]] for r in companies)])
    given = ("report", "in.csv", "out.csv", "--by", "region", "--outside", "register.csv")
    refuse("column 'id'", *given, "--outside-key", "id")
    save("register.csv", [["id", "staff", "turnover"], *([r[0], *r[2:]] for r in companies)])
    ok(*given, "--outside-key", "id", "--known", "turnover", "--json", "r.json")
    content = load("r.json")
    assert content["outside"]["columns"] == ["turnover"]
    assert content["outside"]["found"] == pytest.approx(content["known"]["after"])


def test_files_of_several_kinds(companies):
    """A key is the same number in CSV, as an integer and as a float."""
    numbered = [[i, *row[1:]] for i, row in enumerate(companies)]
    save("in.csv", [["id", "region", "staff", "turnover"], *numbered])
    for kind in (pa.int64(), pa.float64()):
        ids = pa.array(range(N), pa.int64()).cast(kind)
        staff = pa.array([row[2] for row in companies])
        pq.write_table(pa.table({"id": ids, "staff": staff}), "register.parquet")
        ok("report", "in.csv", "out.csv", "--by", "region", "--outside", "register.parquet",
           "--outside-key", "id", "--json", "r.json", "--force")  # fmt: skip
        assert load("r.json")["outside"]["published"] == N


def test_refusals(companies):
    given = ("report", "in.csv", "out.csv", "--by", "region")
    refuse("column 'id' of --known is neither protected nor in --by: choose among region, staff",
           *given, "--known", "id")  # fmt: skip
    refuse("--outside needs --outside-key COLUMN", *given, "--outside", "in.csv")
    save("twice.csv", [["id", "x"], ["f1", 1]])
    refuse("twice.csv has none of the columns staff, turnover, region", *given, "--outside",
           "twice.csv", "--outside-key", "id")  # fmt: skip
    refuse("appear more than once", *given, "--outside", "in.csv", "--outside-key", "region")
    protect = ("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "new.csv")
    refuse("--known is for the report: give --report or --json", *protect, "--known", "staff")
    refuse("--report-more is for the report", *protect, "--report-more")
    refuse("column 'id' of --known is not published", *protect, "--known", "id", "--drop", "id",
           "--json", "new.json")  # fmt: skip
