"""Rules on contributors in the command."""

import html
import json
import re
import shlex
from pathlib import Path

import numpy as np

from helpers.command import ok, process, read, refuse, run, write

ORIGINAL = "id,amount\n1,90\n2,5\n3,5\n4,30\n5,30\n6,30\n"
PROTECTED = "id,amount\n4,30\n5,30\n6,30\n1,33.3\n2,33.3\n3,33.3\n"


def check(*arguments):
    write(ORIGINAL, "before.csv")
    write(PROTECTED, "after.csv")
    return run("check", "after.csv", "-k", 3, "--columns", "amount", *arguments)


def test_groups_are_in_the_protected_file_and_amounts_in_the_original():
    """90 of 100 in one group, 30 of 90 in the other; records are matched by their id."""
    found = check("--dominance", "1,85", "--original", "before.csv", "--key", "id")
    assert found.exit_code == 1
    assert (
        "FAIL: 1 of the 2 groups, with 3 of the 6 records, break (1, 85)-dominance: amount (1)."
    ) in found.stdout
    assert "90.0" in found.stdout
    assert check("--dominance", "1,90", "--original", "before.csv", "--key", "id").exit_code == 0
    weak = check("--p-percent", "5", "--original", "before.csv", "--key", "id")
    assert "PASS: all 2 groups obey the 5 % rule." in weak.stdout  # 5 is not below 4.5
    strong = check("--p-percent", "6", "--original", "before.csv", "--key", "id")
    assert strong.exit_code == 1


def test_columns_that_differ_are_the_amounts_by_default():
    write("r,a,b\nx,1,5\nx,2,5\nx,97,5\n", "before.csv")
    write("r,a,b\nx,33,5\nx,33,5\nx,33,5\n", "after.csv")
    found = run("check", "after.csv", "-k", 3, "--dominance", "1,85", "--original", "before.csv")
    assert found.exit_code == 1
    assert "a (1)" in found.stdout


def test_weights_are_contributors():
    write("w,a\n10,90\n1,5\n1,5\n", "before.csv")
    write("w,a\n10,33\n1,33\n1,33\n", "after.csv")
    rule = ("--columns", "a", "--dominance", "1,85", "--original", "before.csv")
    assert run("check", "after.csv", "-k", 3, *rule).exit_code == 1
    ok("check", "after.csv", "-k", 3, *rule, "--weight", "w")


def test_what_cannot_be_checked():
    write(ORIGINAL, "before.csv")
    write(PROTECTED, "after.csv")
    given = ("check", "after.csv", "-k", 3)
    refuse("holds means.* --original", *given, "--dominance", "1,85")
    refuse("--dominance 85 is not.* 1,85", *given, "--dominance", "85", "--original", "before.csv")
    refuse("add --dominance 1,85", *given, "--original", "before.csv")
    refuse("--p-percent 0", *given, "--p-percent", "0", "--original", "before.csv")


def write_amounts():
    """Skewed amounts, and one company that no group can hide."""
    rng = np.random.default_rng(1)
    rows = rng.lognormal(3, 1.5, (80, 2)).round(1)
    rows[rng.random((80, 2)) < 0.3] = 0
    rows[0] = 1e6, 1e6
    text = "\n".join(f"{i},{a},{b}" for i, (a, b) in enumerate(rows))
    return write(f"id,a,b\n{text}\n")


RULE = ("--dominance", "2,90", "--p-percent", "7.5")


def protect(*arguments, rule=RULE):
    return run("protect", "in.csv", "-k", 4, "--columns", "a,b", "--drop", "id", *rule, *arguments)


def test_protected_files_obey():
    write_amounts()
    made = protect("-o", "out.csv", "--unrepaired", "suppress", "--json", "r.json", "--report",
                   "r.html", "--note", "n.html")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert "contributors" in made.stdout
    content = json.loads(Path("r.json").read_text("utf-8"))
    found = content["dominance"]
    assert found["broken"] == 0 < found["broken_before"]
    assert found["suppressed"] == 80 - len(read("out.csv")[1:])
    assert found["rule"] == "(2, 90)-dominance and the 7.5 % rule"
    for part in ("--dominance 2,90", "--p-percent 7.5", "--unrepaired suppress"):
        assert part in content["provenance"]["Command"]
    assert found["sentence"] in html.unescape(Path("r.html").read_text("utf-8"))
    public = Path("n.html").read_text("utf-8")
    assert "dominance" not in public  # the numbers of a rule help to estimate contributors
    assert "7.5" not in re.sub(r"<style>.*?</style>", "", public, flags=re.S)
    again = process(*shlex.split(content["provenance"]["Command"])[1:], "--force")
    assert again.returncode == 0, again.stderr
    assert json.loads(Path("r.json").read_text("utf-8"))["dominance"] == found


def test_check_agrees_and_strict_writes_nothing():
    write_amounts()
    assert protect("-o", "out.csv").exit_code == 0
    checked = run("check", "out.csv", "-k", 4, *RULE, "--original", "in.csv")
    assert checked.exit_code == 1
    sentence = re.search(r"FAIL: .*?\)\.\n", checked.stdout)[0]
    assert "break (2, 90)-dominance or the 7.5 % rule" in sentence
    assert protect("-o", "other.csv", "--report", "r.html").exit_code == 0
    page = Path("r.html").read_text("utf-8")
    assert 'class="verdict partly"' in page  # k holds, the rule does not
    assert "Groups that could not be repaired" in page
    Path("other.csv").unlink()
    strict = protect("-o", "other.csv", "--strict")
    assert strict.exit_code == 1
    assert not Path("other.csv").exists()
    assert protect("-o", "other.csv", "--strict", "--unrepaired", "suppress").exit_code == 0


def test_a_rule_without_workers_only():
    write_amounts()
    refuse("--dominance cannot be used with --workers", "protect", "in.csv", "-k", 4,
           "--dominance", "1,85", "--workers", 2, "-o", "out")  # fmt: skip
    refuse("--unrepaired suppress is for groups", "protect", "in.csv", "-k", 4,
           "--unrepaired", "suppress", "-o", "out.csv")  # fmt: skip
