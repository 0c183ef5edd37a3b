"""A sensitive column in the command: k beside it, t in it."""

import html
import json
import re
import shlex
from pathlib import Path

import numpy as np

from helpers.command import ok, process, read, refuse, run, write
from microagg_gpu import measures


def write_people(n=90):
    rng = np.random.default_rng(4)
    age, hours = rng.integers(18, 80, n), rng.normal(35, 9, n).round(1)
    income = (age * 900 + rng.normal(0, 9000, n)).round(0).astype(int)
    illness = np.array(["flu", "cold", "none"])[rng.integers(3, size=n)]
    rows = "\n".join(map(",".join, zip(*(map(str, c) for c in (age, hours, income, illness)),
                                       strict=True)))  # fmt: skip
    return write(f"age,hours,income,illness\n{rows}\n")


SECRET = ("protect", "in.csv", "-k", 4, "--drop", "illness", "--sensitive", "income")


def one_line(text):
    return " ".join(text.split())


def test_k_holds_beside_it_and_t_in_it():
    source = write_people()
    out = ok(*SECRET, "--t", 0.15, "-o", "out.csv", "--json", "r.json", "--report", "r.html",
             "--note", "n.html")  # fmt: skip
    rows, before = read("out.csv"), read(source)
    assert rows[0] == ["age", "hours", "income"]
    assert [row[2] for row in rows] == [row[2] for row in before]  # published as it is
    groups = {row: i for i, row in enumerate(dict.fromkeys(tuple(row[:2]) for row in rows[1:]))}
    labels = [groups[tuple(row[:2])] for row in rows[1:]]
    assert min(np.bincount(labels)) >= 4
    worst = measures.closeness([float(row[2]) for row in rows[1:]], labels).distance.max()
    assert worst <= 0.15
    assert (
        "PASS: every one of the 90 records shares its values in all 2 columns beside the "
        "sensitive income with at least 3 others"
    ) in one_line(out)
    assert "PASS: the distribution of income in each of" in one_line(out)
    assert "--drop income" not in out  # no warning of what is published on purpose
    content = json.loads(Path("r.json").read_text("utf-8"))
    assert content["closeness"]["t"] == 0.15
    assert content["closeness"]["distance"] == worst
    assert content["verdict"]["sensitive"] == "income"
    page = html.unescape(Path("r.html").read_text("utf-8"))
    assert content["closeness"]["sentence"] in page
    assert "Sensitive attribute" in page
    public = one_line(html.unescape(Path("n.html").read_text("utf-8")))
    assert "every record shares all its values but income with at least 3 others" in public
    command = content["provenance"]["Command"]
    assert "--sensitive income" in command
    assert "--t 0.15" in command
    again = process(*shlex.split(command)[1:], "--force")
    assert again.returncode == 0, again.stderr
    assert read("out.csv") == rows


def test_check_gives_distance_values_and_shares():
    write_people()
    ok(*SECRET, "--t", 0.15, "--t-method", "merge", "-o", "out.csv", "--strict")
    assert run("check", "out.csv", "-k", 4, "--sensitive", "income", "--t", 0.15).exit_code == 0
    write("a,s\n1,x\n1,x\n1,x\n2,x\n2,y\n2,z\n")
    found = run("check", "in.csv", "-k", 3, "--sensitive", "s", "--t", 0.2)
    # x has 4 of 6: 1/3 more in the first group, 1/3 less in the second.
    assert found.exit_code == 1
    assert "FAIL: the distribution of s in 2 of 2 groups" in found.stdout
    assert re.search(r"distance +0.3333 +0.3333", found.stdout)
    assert "1 of the 2 groups have one value only" in found.stdout
    only = run("check", "in.csv", "-k", 3, "--sensitive", "s")
    assert only.exit_code == 0
    assert "The distribution of s in 2 groups is at most 0.3333" in only.stdout


def test_what_cannot_be_done():
    write_people()
    given = ("protect", "in.csv", "-k", 4, "-o", "out.csv")
    refuse("--t 0.2 is for a sensitive attribute: .* --sensitive", *given, "--columns", "age",
           "--t", 0.2)  # fmt: skip
    refuse("'illness' holds texts.*--t-method merge", *given, "--columns", "age", "--sensitive",
           "illness", "--t", 0.2, "--t-method", "first")  # fmt: skip
    refuse("sensitive and dropped", *given, "--drop", "illness", "--sensitive", "illness")
    refuse("--sensitive cannot be used with --workers", *given, "--sensitive", "illness",
           "--workers", 2)  # fmt: skip
    refuse("--t is for a sensitive column", "check", "in.csv", "-k", 4, "--t", 0.2)
    refuse("in --columns and sensitive", "check", "in.csv", "-k", 4, "--columns", "age",
           "--sensitive", "age")  # fmt: skip
    write("a,s\n1,x\n1,\n1,x\n")
    refuse("1 values of column s are missing", "check", "in.csv", "-k", 3, "--sensitive", "s")
    refuse("1 values of the sensitive column 's'", "protect", "in.csv", "-k", 3, "--sensitive",
           "s", "-o", "out.csv")  # fmt: skip
