"""The command ``microagg`` on a statistician's file: strata, weights, gaps, types, reports."""

import csv
import gzip
import json
import os
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg_gpu.tasks.protect
import microagg_gpu.tasks.writing
from helpers.command import ok, process, read, refuse, run, write

HEADER = ["id", "region", "size", "w", "turnover", "staff", "exports"]
AMOUNTS = "turnover,staff,exports"
N = 120


def companies():
    rng = np.random.default_rng(3)
    rows = []
    for i in range(N):
        turnover = round(rng.lognormal(4, 1), 2)
        exports = "" if i % 4 == 0 else repr(round(turnover * rng.random(), 3))
        rows.append(
            [f"{i:05d}", "NSEW"[i % 4], ["small", "medium", "large"][i % 3], repr(1.0 + i % 5),
             repr(turnover), str(int(turnover // 7) + 1), exports]
        )  # fmt: skip
    return rows


@pytest.fixture
def rows():
    rows = companies()
    with open("in.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    return rows


def parquet():
    rows = list(zip(*companies(), strict=True))
    table = pa.table(
        {
            "id": rows[0],
            "region": pa.array(rows[1]).dictionary_encode(),
            "size": rows[2],
            "w": pa.array([float(x) for x in rows[3]], pa.float32()),
            "turnover": [float(x) for x in rows[4]],
            "staff": pa.array([int(x) for x in rows[5]], pa.int16()),
            "exports": [float(x) if x else None for x in rows[6]],
        }
    ).replace_schema_metadata({"made by": "hand"})
    pq.write_table(table, "in.parquet")
    return table


# protect


def test_a_file_of_companies(rows):
    output = ok(
        "protect", "in.csv", "-k", 5, "--columns", AMOUNTS, "--by", "region", "--weight", "w",
        "--drop", "id", "--keep-integers", "--missing", "pattern", "--group-column", "group",
        "--decimals", "exact", "-o", "out.csv",
    )  # fmt: skip
    header, *protected = read("out.csv")
    assert header == [*HEADER[1:], "group"]
    for j in (1, 2, 3):
        assert [row[j - 1] for row in protected] == [row[j] for row in rows]
    assert min(Counter((r[0], *r[3:6]) for r in protected).values()) >= 5
    assert all(row[4].isdigit() for row in protected)
    assert [row[5] == "" for row in protected] == [row[6] == "" for row in rows]
    shown = " ".join(output.split())
    assert "verdict k = 5 holds for these columns only: region, turnover, staff, exports. " in shown
    assert "because of size, w, group" in shown
    assert "unchanged region, size, w" in shown
    # Weighted means of each group, by hand.
    for group in {row[6] for row in protected}:
        members = [i for i, row in enumerate(protected) if row[6] == group]
        weights = [float(rows[i][3]) for i in members]
        mean = sum(w * float(rows[i][4]) for w, i in zip(weights, members, strict=True))
        assert float(protected[members[0]][3]) == pytest.approx(mean / sum(weights))


@pytest.mark.parametrize("metadata", [(), ("--keep-metadata",)])
def test_parquet_keeps_types_and_on_request_metadata(metadata):
    before = parquet()
    ok(
        "protect", "in.parquet", "-k", 5, "--columns", AMOUNTS, "--missing", "pattern",
        "--keep-integers", "-o", "out.parquet", *metadata,
    )  # fmt: skip
    after = pq.read_table("out.parquet")
    assert after.schema.types == before.schema.types
    assert (b"made by" in (after.schema.metadata or {})) == bool(metadata)
    for name in ("id", "region", "size", "w"):
        assert after[name].equals(before[name])
    assert after["exports"].is_null().equals(before["exports"].is_null())
    published = zip(*(after[c].to_pylist() for c in AMOUNTS.split(",")), strict=True)
    assert min(Counter(published).values()) >= 5


def test_kinds_of_files_give_the_same_numbers(rows):
    table = parquet()
    pa.feather = pytest.importorskip("pyarrow.feather")
    pa.feather.write_feather(table, "in.feather")
    with gzip.open("in.csv.gz", "wb") as file:
        file.write(Path("in.csv").read_bytes())
    chosen = ("-k", 4, "--columns", "turnover,staff")
    for kind in ("csv", "csv.gz", "parquet", "feather"):
        ok("protect", f"in.{kind}", *chosen, "-o", f"out.{kind}")
    expected = [(float(row[4]), float(row[5])) for row in read("out.csv")[1:]]
    with gzip.open("out.csv.gz", "rb") as file:
        assert file.read() == Path("out.csv").read_bytes()
    for after in (pq.read_table("out.parquet"), pa.feather.read_table("out.feather")):
        pairs = zip(after["turnover"].to_pylist(), after["staff"].to_pylist(), strict=True)
        assert list(pairs) == expected
    ok("protect", "in.csv", *chosen, "-o", "typed.parquet")
    typed = pq.read_table("typed.parquet")
    assert typed["turnover"].to_pylist() == [x for x, _ in expected]
    assert typed["id"].to_pylist() == [row[0] for row in rows]
    ok("protect", "in.parquet", *chosen, "-o", "text.csv")
    assert [(float(row[4]), float(row[5])) for row in read("text.csv")[1:]] == expected


CATEGORIES = ("--nominal", "region", "--ordinal", "size=small<medium<large")


def test_ordinal_and_nominal_columns(rows):
    chosen = ("--columns", "turnover", *CATEGORIES, "--variable-weights", "region=0.5")
    ok("protect", "in.csv", "-k", 4, *chosen, "-o", "out.csv")
    after = read("out.csv")[1:]
    assert min(Counter((row[1], row[2], row[4]) for row in after).values()) >= 4
    assert {row[1] for row in after} <= set("NSEW")
    refuse(
        "order of the categories of column 'size' is not known: .*--ordinal 'size=large<medium",
        "protect", "in.csv", "-k", 4, "--columns", "turnover", "--ordinal", "size", "-o", "o.csv",
    )  # fmt: skip


def test_only_categories(rows):
    chosen = ("--columns", "region,size", *CATEGORIES, "--report", "r.html")
    ok("protect", "in.csv", "-k", 5, *chosen, "-o", "out.csv")
    after = read("out.csv")[1:]
    assert min(Counter((row[1], row[2]) for row in after).values()) >= 5
    for j in (0, 3, 4, 5, 6):
        assert [row[j] for row in after] == [row[j] for row in rows]
    refuse("--columns is empty", "protect", "in.csv", "-k", 5, "--columns", "", "-o", "o.csv")


def test_files_of_polars():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"n": ["a", "b"] * 6, "x": list(range(12))})
    frame.with_columns(pl.col("n").cast(pl.Categorical).alias("c")).write_ipc("in.arrow")
    ok("protect", "in.arrow", "-k", 3, "--columns", "x", "--by", "n", "-o", "out.arrow")
    assert pl.read_ipc("out.arrow")["n"].to_list() == frame["n"].to_list()
    assert run("check", "out.arrow", "-k", 3, "--columns", "n,x,c").exit_code == 0


def test_a_column_without_a_name():
    write(",x\n0,1\n1,2\n")
    refuse("a column of in.csv has no name", "protect", "in.csv", "-k", 2, "-o", "out.csv")


def test_targets_that_are_no_files(rows):
    chosen = ("protect", "in.csv", "-k", 4, "--columns", "staff", "--force")
    refuse("the format of out.xlsx is not known", *chosen, "-o", "out.xlsx")
    os.mkfifo("pipe.csv")
    refuse("pipe.csv is not a regular file", *chosen, "-o", "pipe.csv")


def test_list_columns_cannot_be_strata():
    pq.write_table(pa.table({"x": [1.0, 2.0], "l": [[1], [2]]}), "in.parquet")
    chosen = ("-k", 2, "--columns", "x", "--by", "l", "-o", "out.csv")
    refuse("column 'l' holds .*list", "protect", "in.parquet", *chosen)


def test_empty_cells_of_categories_are_missing():
    write("c,x\na,1\na,2\nb,3\n,4\n,5\n,6\n")
    chosen = ("protect", "in.csv", "-k", 3, "--columns", "x", "--nominal", "c", "-o", "out.csv")
    refuse("3 values of in.csv are missing, in column c .3, the first on line 5", *chosen)
    ok(*chosen, "--missing", "pattern")
    assert Path("out.csv").read_text() == "c,x\n" + "a,2\n" * 3 + ",5\n" * 3


def test_small_strata():
    write("s,x\n" + "a,1\n" * 5 + "b,2\n" * 2 + "c,9\n" * 4)
    chosen = ("protect", "in.csv", "-k", 4, "--columns", "x", "--by", "s", "-o", "out.csv")
    refuse(
        r"1 of 3 strata have fewer than k=4 records: s=b \(2\): .*--small-strata .*suppress",
        *chosen,
    )
    output = ok(*chosen, "--small-strata", "merge")
    assert "s=a + s=b" in output
    shown = " ".join(output.split())
    assert shown.startswith("verdict k = 4 holds for these columns only: x. 2 of the 11 records ")
    assert read("out.csv")[6] == ["b", "1"]
    refused = run(*chosen, "--small-strata", "merge", "--strict", "--force")
    assert refused.exit_code == 1
    assert "nothing, because of --strict" in refused.output
    assert ok(*chosen, "--small-strata", "suppress", "--strict", "--force")
    ok(*chosen, "--small-strata", "suppress", "--force")
    assert [row[0] for row in read("out.csv")[1:]] == [*"aaaaacccc"]


def test_missing_values(rows):
    chosen = ("protect", "in.csv", "-k", 4, "--columns", AMOUNTS, "-o", "out.csv")
    refuse(
        r"30 values of in.csv are missing, in column exports \(30, the first on line 2\): "
        "fill them in, .*--missing pattern.*--missing drop",
        *chosen,
    )
    output = ok(*chosen, "--missing", "drop")
    assert "30 records with missing values" in output
    assert len(read("out.csv")) == 91


def test_decimal_commas_and_another_encoding():
    write("Straße;Umsatz\nä;1,5\nö;2,5\nü;10\nß;20\n", encoding="cp1252")
    chosen = ("protect", "in.csv", "-k", 2, "--columns", "Umsatz", "-o", "out.csv")
    refuse("--encoding", *chosen)
    refuse("--decimal ,", *chosen, "--encoding", "cp1252")
    ok(*chosen, "--encoding", "cp1252", "--decimal", ",")
    text = Path("out.csv").read_bytes().decode("cp1252")
    assert text == "Straße;Umsatz\nä;2,0\nö;2,0\nü;15,0\nß;15,0\n"


def test_formulas_are_not_touched():
    cells = ["=1+1", "+SUM(A1)", "-2+3", "@cmd", '=HYPERLINK("http://x")', "0012"]
    with open("in.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["=name", "x"], *([cell, i] for i, cell in enumerate(cells))])
    ok("protect", "in.csv", "-k", 3, "--columns", "x", "-o", "out.csv", "--report", "r.html")
    assert [row[0] for row in read("out.csv")] == ["=name", *cells]


def test_column_that_is_there_already(rows):
    chosen = ("protect", "in.csv", "-k", 4, "--columns", "staff", "-o", "out.csv")
    refuse("column 'region' is in in.csv already", *chosen, "--group-column", "region")
    refuse("'staff' is to be protected and dropped", *chosen, "--drop", "staff")
    refuse("column 'id' is not in the table|'nope' is not in", *chosen, "--by", "nope")
    refuse("no groups of whole records", *chosen, "--group-column", "g", "--method", "individual")


def test_a_failed_report_leaves_nothing(rows, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(microagg_gpu.tasks.writing, "page", fail)
    result = run(
        "protect", "in.csv", "-k", 4, "--columns", "staff", "-o", "out.csv", "--report", "r.html"
    )
    assert result.exit_code == 2
    assert "No space left on device" in result.output
    assert os.listdir() == ["in.csv"]


# check


@pytest.mark.parametrize(("k", "code"), [(2, 0), (3, 1)])
def test_check(k, code):
    write("a,b,c\n1,x,5\n1,x,6\n2,y,7\n2,y,8\n2,y,9\n")
    done = process("check", "in.csv", "-k", k, "--columns", "a,b")
    assert done.returncode == code
    shown = " ".join(done.stdout.split())
    if code:
        assert shown.startswith("FAIL: 2 of the 5 records share their values in a, b with fewer ")
        assert "the smallest groups" in shown
    else:
        assert shown.startswith("k = 2 holds for these columns only: a, b. 5 of the 5 records ")
        assert "the smallest groups" not in shown
    for named, verdict in (("a,b,c", "FAIL: 5"), (None, "FAIL: 5"), ("b", "FAIL: 2")):
        chosen = [] if named is None else ["--columns", named]
        result = run("check", "in.csv", "-k", 3, *chosen)
        assert result.exit_code == 1
        assert result.output.startswith(verdict)
    result = run("check", "in.csv", "-k", 1, "--show")
    assert result.output.startswith("PASS: every one of the 5 records shares its values in all 3")
    assert "the smallest groups" in result.output


def test_check_of_other_files_and_bad_questions():
    parquet()
    assert run("check", "in.parquet", "-k", 30, "--columns", "region").exit_code == 0
    assert run("check", "in.parquet", "-k", 31, "--columns", "region").exit_code == 1
    refuse("column 'x' is not in in.parquet", "check", "in.parquet", "-k", 3, "--columns", "x")
    refuse("--columns is empty", "check", "in.parquet", "-k", 3, "--columns", "")
    refuse("-k 0 is too small", "check", "in.parquet", "-k", 0, "--columns", "id")


# report


class Balanced(HTMLParser):
    EMPTY = ("meta", "br", "img", "hr", "link", "input", "col", "wbr")

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_report_of_a_protection(rows):
    ok(
        "protect", "in.csv", "-k", 5, "--columns", AMOUNTS, "--by", "region", "--missing",
        "pattern", "-o", "out.csv", "--report", "r.html", "--json", "r.json",
    )  # fmt: skip
    content = json.loads(Path("r.json").read_text(encoding="utf-8"))
    text = Path("r.html").read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "<script" not in text
    assert content["loss"] > 0
    assert f"{content['loss']:.1f}"[:3] in text
    # The same from the two files alone.
    ok("report", "in.csv", "out.csv", "--by", "region", "-o", "pair.html", "--json", "pair.json")
    pair = json.loads(Path("pair.json").read_text(encoding="utf-8"))
    assert pair["loss"] == pytest.approx(content["loss"])
    assert pair["k"] == 5
    assert pair["risk"]["linkage"] == pytest.approx(content["risk"]["linkage"])


def test_report_of_a_weighted_pair(rows):
    given = ["--by", "region", "--weight", "w"]
    ok(
        "protect", "in.csv", "-k", 5, "--columns", AMOUNTS, *given, "--average-weight",
        "--missing", "pattern", "-o", "out.csv", "--json", "r.json",
    )  # fmt: skip
    ok("report", "in.csv", "out.csv", *given, "-o", "pair.html", "--json", "pair.json",
       "--note", "note.html")  # fmt: skip
    content, pair = (json.loads(Path(f).read_text("utf-8")) for f in ("r.json", "pair.json"))
    assert pair["loss"] == pytest.approx(content["loss"])
    names = [variable["name"] for variable in content["by_variable"]]
    assert [variable["name"] for variable in pair["by_variable"]] == names
    for one, other in zip(content["by_variable"], pair["by_variable"], strict=True):
        mean = pytest.approx(one["before"]["weighted_mean"])
        assert other["before"]["weighted_mean"] == mean
    assert "in.csv" not in Path("note.html").read_text("utf-8")


def test_report_matches_records_by_key(rows):
    ok(
        "protect", "in.csv", "-k", 5, "--columns", AMOUNTS, "--missing", "drop", "-o", "out.csv"
    )  # fmt: skip
    refuse("in.csv has 120 records and out.csv 90: give --key", "report", "in.csv", "out.csv")
    output = ok("report", "in.csv", "out.csv", "--key", "id", "-o", "r.html")
    assert "90 records" in output.replace("\n", " ")
    refuse("values of column 'region' of in.csv appear more than once",
           "report", "in.csv", "out.csv", "--key", "region", "-o", "o.html")  # fmt: skip
    refuse("no column of numbers of in.csv differs", "report", "in.csv", "in.csv", "-o", "o.html")
    refuse("90 records of out.csv are not in", "report", write("id,x\nz,1\n", "z.csv"), "out.csv",
           "--key", "id", "-o", "o.html")  # fmt: skip
    refuse("r.html exists", "report", "in.csv", "out.csv", "--key", "id", "-o", "r.html")


def test_names_are_escaped():
    evil = "<script>alert(1)</script>"
    with open(f"{evil[1:7]}.csv", "w", encoding="utf-8", newline="") as file:
        table = [[evil, '"x"&', "s"], *([i * i, i, "<b>"] for i in range(30))]
        csv.writer(file).writerows(table)
    ok(
        "protect", "script.csv", "-k", 3, "--columns", f'{evil},"""x""&"', "--nominal", "s",
        "-o", "out.csv", "--report", "r.html",
    )  # fmt: skip
    text = Path("r.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<b>" not in text
    assert "&lt;script&gt;" in text


# compare


def test_compare_with_roles_and_a_plot(rows):
    output = ok(
        "compare", "in.csv", "-k", "3,5", "--methods", "mdav,vmdav", "--columns", AMOUNTS, "--by",
        "region", "--missing", "pattern", "--plot", "map.png", "--json", "map.json",
    )  # fmt: skip
    assert "risk %" in output
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")
    table = json.loads(Path("map.json").read_text(encoding="utf-8"))
    assert {row["method"] for row in table} == {"mdav", "vmdav"}
    refuse("-k is empty", "compare", "in.csv", "-k", "", "--columns", "staff")
    refuse("map.png exists", "compare", "in.csv", "--columns", "staff", "--plot", "map.png")
