"""The command ``microagg``: what it writes and prints."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import microagg_gpu.pipeline.comparison
import microagg_gpu.tasks.protect
from helpers.command import HEADER, read, refuse, run, write, write_companies
from microagg_gpu import METHODS, Result, microaggregate

PATIENCE = 600  # seconds that a process may take on a busy machine

# What is written


def test_refinement_and_bound_are_told():
    write_companies(n=60)
    given = ["protect", "in.csv", "-k", 3, "--columns", "turnover,staff"]
    plain = run(*given, "-o", "a.csv")
    result = run(*given, "-o", "b.csv", "--refine-steps", 300, "--bound", "--seed", 1)
    assert result.exit_code == 0, result.output
    before, after = (
        float(re.search(r"loss +([\d.]+) %", one.output)[1]) for one in (plain, result)
    )
    assert after < before
    assert f"from a loss of {before:.4f} %, 300 steps per record" in result.output
    bound = re.search(r"no grouping loses less than ([\d.]+) %, which is ([\d.]+) %", result.output)
    assert float(bound[1]) <= after
    assert float(bound[2]) == pytest.approx(100 * (1 - float(bound[1]) / after), abs=0.06)
    again = run(*given, "-o", "c.csv", "--refine-steps", 300, "--seed", 1)
    assert again.exit_code == 0
    assert Path("b.csv").read_bytes() == Path("c.csv").read_bytes()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_untouched_columns_survive(delimiter, newline, encoding):
    rows = write_companies(delimiter, newline, encoding)
    result = run("protect", "in.csv", "-k", 3, "--columns", "turnover,staff", "-o", "out.csv")
    assert result.exit_code == 0, result.output
    header, *protected = read("out.csv", delimiter)
    assert header == HEADER
    for j in (0, 1, 4):
        assert [row[j] for row in protected] == [row[j] for row in rows]
    before, after = Path("in.csv").read_bytes(), Path("out.csv").read_bytes()
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    assert after.count(b"\r\n") == before.count(b"\r\n")
    assert after.count(b"\n") == before.count(b"\n")


def test_protected_columns_are_the_result_of_microaggregate():
    rows = write_companies()
    run(
        "protect", "in.csv", "-k", 3, "--columns", "staff,turnover", "--decimals", "exact",
        "-o", "out.csv",
    )  # fmt: skip
    values = np.array([[float(row[3]), float(row[2])] for row in rows])
    protected = np.array([[float(row[3]), float(row[2])] for row in read("out.csv")[1:]])
    np.testing.assert_array_equal(protected, microaggregate(values, 3).protected)


def test_groups_and_means_by_hand():
    write("x,y\n1,10\n2,20\n101,110\n102,120\n")
    chosen = ("protect", "in.csv", "-k", 2, "-o", "out.csv")
    assert run(*chosen).exit_code == 0
    assert Path("out.csv").read_text() == "x,y\n2,15\n2,15\n102,115\n102,115\n"  # half to even
    assert run(*chosen, "--decimals", "exact", "--force").exit_code == 0
    assert Path("out.csv").read_text() == "x,y\n1.5,15.0\n1.5,15.0\n101.5,115.0\n101.5,115.0\n"


@pytest.mark.parametrize("method", [name for name in METHODS if name != "individual"])
def test_file_is_k_anonymous(method):
    write_companies()
    columns = "turnover" if METHODS[method].univariate else "turnover,staff"
    options = [f"--option={name}={x}" for name, x in METHODS[method].variants[0].items()]
    result = run(
        *("protect", "in.csv", "-k", 4, "--method", method, "--columns", columns),
        *("-o", "out.csv", *options),
    )
    assert result.exit_code == 0, result.output
    used = [HEADER.index(column) for column in columns.split(",")]
    counts = Counter(tuple(row[j] for j in used) for row in read("out.csv")[1:])
    assert min(counts.values()) >= 4
    loss = re.search(r"loss +([\d.]+) %", result.output)
    assert loss is not None
    assert 0 <= float(loss[1]) <= 100


def test_individual_ranking_is_checked_by_column_and_says_so():
    write_companies()
    result = run(
        "protect", "in.csv", "-k", 4, "--method", "individual", "--columns", "turnover,staff",
        "-o", "out.csv",
    )  # fmt: skip
    shown = " ".join(result.output.split())
    assert "k = 4 holds for each of these columns by itself only: turnover, staff. 40 of" in shown
    for j in (2, 3):
        assert min(Counter(row[j] for row in read("out.csv")[1:]).values()) >= 4


def test_cells_that_need_quotes():
    text = 'x,note\r\n1,"a ""b"""\r\n1,"two\nlines"\r\n3,"c,d"\r\n3,=1+1\r\n'
    write(text)
    run("protect", "in.csv", "-k", 2, "--columns", "x", "-o", "out.csv")
    assert read("out.csv") == [
        ["x", "note"], ["1", 'a "b"'], ["1", "two\nlines"], ["3", "c,d"], ["3", "=1+1"],
    ]  # fmt: skip
    write(text.replace("\r\n", "\n").replace("two\nlines", "two\rlines"))
    run("protect", "in.csv", "-k", 2, "--columns", "x", "-o", "out.csv", "--force")
    assert read("out.csv")[2] == ["1", "two\rlines"]


def test_quoted_names_spaces_and_no_last_newline():
    write('"a, b", c\n" 1 ",5\n2,5')
    assert (
        run("protect", "in.csv", "-k", 2, "--columns", '"a, b",c', "-o", "out.csv").exit_code == 0
    )
    assert Path("out.csv").read_text() == '"a, b", c\n2,5\n2,5\n'


def test_empty_lines_at_the_end_do_not_count():
    write("x\n1\n2\n\n\n")
    assert run("protect", "in.csv", "-k", 2, "-o", "out.csv").exit_code == 0
    assert Path("out.csv").read_text() == "x\n2\n2\n"


def test_force_replaces_the_output():
    write_companies()
    write("old", "out.csv")
    arguments = ("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "out.csv")
    assert run(*arguments, "--force").exit_code == 0
    assert len(read("out.csv")) == 41


def test_options_and_weights_reach_the_method(monkeypatch):
    write_companies()
    seen = {}

    def spy(table, k, method, **given):
        seen.update(given)
        return microaggregate(table, k, method, **given)

    monkeypatch.setattr(microagg_gpu.tasks.protect, "microaggregate", spy)
    result = run(
        "protect", "in.csv", "-k", 3, "--columns", "turnover,staff",
        "--variable-weights", "staff=2.5", "--method", "projection", "--option", "projection=pv",
        "--option", "variable=staff", "--option", "descending=true", "--no-standardize",
        "--seed", 7, "--aggregate", "median", "-o", "out.csv",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert seen == {
        "columns": ["turnover", "staff"], "by": None, "sampling_weight": None, "ordinal": {},
        "nominal": [], "projection": "pv", "variable": "staff", "descending": True,
        "variable_weights": {"staff": 2.5}, "standardize": False, "seed": 7, "device": "auto",
        "progress": None, "missing": "error", "small_strata": "error", "aggregate": "median",
        "keep_integers": True, "decimals": None, "average_weight": False,
        "refine": None, "refine_steps": None, "watch": None, "engine": None, "precision": "double",
        "shuffle": False, "scale": "standard", "trim": 0.2, "blocks": None,
        "unit": None,
        "dominance": None, "p_percent": None, "unrepaired": "keep",
        "t": None, "t_method": "auto",
    }  # fmt: skip


@pytest.mark.parametrize("columns", ["turnover", "turnover,staff", "turnover,staff,id"])
def test_plot(columns):
    write_companies()
    result = run(
        "protect", "in.csv", "-k", 3, "--columns", columns, "-o", "out.csv", "--plot", "groups.png"
    )
    assert result.exit_code == 0, result.output
    assert Path("groups.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir()) == ["groups.png", "in.csv", "out.csv"]


# The other commands


def test_compare_prints_best_first():
    write_companies()
    chosen = ("--columns", "turnover,staff", "--methods", "mdav,mst,projection")
    for more, count in (([], 5), (["--all"], 1 + 3 + 2)):
        result = run("compare", "in.csv", "-k", "3,5", *chosen, *more)
        assert result.exit_code == 0, result.output
        rows = re.findall(r"^ +([35]) +(\w.*?) +([\d.]+) ", result.output, flags=re.MULTILINE)
        assert len(rows) == 2 * count
        for k in "35":
            losses = [float(loss) for number, _, loss in rows if number == k]
            assert losses == sorted(losses)
        assert ("2 more are shown with --all" in result.output) == (not more)
    assert os.listdir() == ["in.csv"]


def test_compare_ends_with_a_conclusion_and_a_command_that_runs():
    write_companies()
    chosen = ("--columns", "turnover,staff", "--decimals", "exact")
    result = run("compare", "in.csv", "-k", "3,5", *chosen)
    rows = re.findall(r"^ +5 +(\w.*?)  +([\d.]+) ", result.output, flags=re.MULTILINE)
    assert re.search(r"^k = 3: .* loses least, ", result.output, flags=re.MULTILINE)
    assert f"k = 5: {rows[0][0]} loses least, {rows[0][1]} %, against" in result.output
    (command,) = re.findall(r"^Next: microagg (.*)$", result.output, flags=re.MULTILINE)
    assert " -k 5 " in command
    assert command.endswith("--refine 30 --decimals exact -o protected.csv --report report.html")
    done = run(*shlex.split(command.replace("--refine 30", "--refine-steps 200")))
    assert done.exit_code == 0, done.output
    (loss,) = re.findall(r"^ loss +([\d.]+) %", done.output, flags=re.MULTILINE)
    assert f"{float(loss):.3f}" == min((loss for _, loss in rows), key=float)
    method = rows[0][0].split(",")[0]
    (before,) = re.findall(r"from a loss of ([\d.]+) %", done.output)
    assert f"{float(before):.3f}" == dict(rows)[method]


def stop_at(name, monkeypatch):
    """Let Ctrl-C be pressed when a comparison comes to a method."""
    real = microagg_gpu.pipeline.comparison.protect

    def stopped(problem, settings, *given, **named):
        if settings.method == name:
            raise KeyboardInterrupt
        return real(problem, settings, *given, **named)

    monkeypatch.setattr(microagg_gpu.pipeline.comparison, "protect", stopped)


def test_ctrl_c_shows_the_methods_that_are_finished(monkeypatch):
    write_companies()
    stop_at("mst", monkeypatch)
    chosen = ("-k", "3", "--columns", "turnover,staff", "--methods", "mdav,vmdav,mst")
    result = run("compare", "in.csv", *chosen)
    assert result.exit_code == 130
    assert "stopped; not done: mst, k=3 and what comes after it, 3 of 5 runs" in result.output
    assert re.search(r"^ +3 +mdav ", result.output, flags=re.MULTILINE)
    assert "loses least" in result.output


def test_ctrl_c_while_a_report_tries_other_methods_stops_all(monkeypatch):
    write_companies()
    stop_at("vmdav", monkeypatch)
    chosen = ("-k", "3", "--columns", "turnover,staff", "-o", "out.csv", "--report", "r.html")
    result = run("protect", "in.csv", *chosen)
    assert result.exit_code == 130
    assert "stopped; nothing was written" in result.output
    assert os.listdir() == ["in.csv"]


def test_ctrl_c_in_the_lower_bound_writes_the_file_without_it(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    write_companies()
    monkeypatch.setattr(Result, "bound", interrupted)
    result = run("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "out.csv", "--bound")
    assert result.exit_code == 0
    assert "lower bound" not in result.output
    assert os.path.exists("out.csv")


@pytest.mark.parametrize("command", ["protect", "compare"])
def test_groups_of_one_are_refused(command):
    write_companies()
    output = ["-o", "out.csv"] if command == "protect" else []
    refuse("-k 1 protects nobody: give 2 or more", command, "in.csv", "-k", 1, *output)


def test_methods_lists_all():
    result = run("methods")
    assert result.exit_code == 0
    for name, method in METHODS.items():
        start = re.escape(method.good_for[:18])
        assert re.search(rf"^ *{name} +{start}", result.output, re.MULTILINE)
    assert "gamma=0.2" in result.output
    first = [line.split()[0] for line in result.output.splitlines()[2:8] if line[:1].strip()]
    assert first[:2] == ["mdav", "best"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["protect", "--colums", "x"], "no option --colums: see `microagg protect --help`. Did "
         "you mean '--columns'"),
        (["protet"], "No such command 'protet'. Did you mean 'protect'"),
        (["check", "in.csv"], "Missing option '-k'"),
        (["check", "in.csv", "-k", "x"], "-k must be a whole number: see `microagg check --help`"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_sentence(arguments, message):
    done = subprocess.run(
        [sys.executable, "-m", "microagg_gpu", *arguments], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("microagg: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_options_of_protect_are_in_panels():
    help_text = run("protect", "--help").output
    titles = ["What to protect", "How", "Rules for groups, besides k", "Files", "Machines"]
    assert all(f"─ {title} ─" in help_text for title in titles)
    own = help_text[help_text.index("─ Options ─") : help_text.index("─ What to protect ─")]
    assert set(re.findall(r"--[a-z-]+", own)) == {"--output", "--help"}


def test_info():
    result = run("info")
    assert result.exit_code == 0
    assert f"{np.__version__}" in result.output
    assert "generic" in result.output
    assert re.search("^ *GPU", result.output, re.MULTILINE)


@pytest.mark.parametrize("arguments", [[], ["protect"], ["compare"], ["methods"], ["info"]])
def test_help(arguments):
    result = run(*arguments, "--help")
    assert result.exit_code == 0
    if arguments in ([], ["protect"], ["compare"]):
        assert "microagg" in result.output.split("Commands")[-1]


def test_many_long_names_are_cut_in_the_terminal():
    names = [f"household_survey_wave7_variable_of_section_{j:02}" for j in range(60)]
    numbers = np.random.default_rng(0).normal(size=(12, 60))
    write("\n".join([",".join(names), *(",".join(map(str, row)) for row in numbers)]) + "\n")
    done = run("protect", "in.csv", "-k", 3, "-o", "out.csv", "--json", "r.json")
    assert done.exit_code == 0, done.output
    assert f"{names[4]} and 55 more" in " ".join(done.output.split())
    assert names[5] not in done.output
    assert "In Python: (long: --report and --json keep it)" in done.output
    assert "--columns" not in done.output  # all of them are protected
    provenance = json.loads(Path("r.json").read_text())["provenance"]
    assert names[59] in provenance["Python"]
