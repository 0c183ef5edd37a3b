"""benchmarks.experiments measures, goes on where it was stopped, and tells what is printed."""

import json

import pytest

from benchmarks.common import commit
from benchmarks.experiments import __main__ as experiments
from benchmarks.experiments import report as experiments_report
from benchmarks.experiments.checks import checks
from benchmarks.experiments.data import EXPERIMENTS, Curves, draw, power, sim_name
from benchmarks.papers.ours import METHODS_2005
from benchmarks.papers.printed import TABLES
from microagg_gpu.datasets import simulated

TINY = {
    "separation": ["--n", "220", "--d", "2", "--sigma", "0.01,0.3", "-k", "4"],
    "size": ["--n", "400,800", "--d", "2"],
    "dimension": ["--n", "400", "--d", "2,4"],
    "points": ["--y", "2,3", "--d", "2"],
}


@pytest.fixture
def _no_plots(monkeypatch):
    monkeypatch.setattr(experiments_report, "plot", lambda *_: None)


def rows_of(directory):
    return json.loads((directory / "experiments.json").read_text())["rows"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_runs_an_experiment_from_data_to_report(name, tmp_path, capsys):
    seeds = 2 if name == "points" else 1
    given = [name, *TINY[name], "--seeds", str(seeds), "--output", str(tmp_path)]
    assert experiments.main(given) == 0
    rows = rows_of(tmp_path)
    methods = EXPERIMENTS[name].methods
    assert len(rows) == 2 * len(methods) * seeds
    assert {row["method"] for row in rows} == {*methods}
    assert all(0 <= row["loss"] <= 100 for row in rows)
    assert all(row["seconds"] > 0 for row in rows if row["method"] != "UB")
    text = (tmp_path / "experiments.md").read_text()
    assert f"Seeds: {seeds}." in text
    assert EXPERIMENTS[name].title in text
    assert str(tmp_path) not in text
    (picture,) = tmp_path.glob("*.png")
    assert f"({picture.name})" in text
    assert f"[{len(rows)}/{len(rows)}]" in capsys.readouterr().err


def test_the_paper_s_parameters_are_its_data_sets():
    for name, experiment in EXPERIMENTS.items():
        sims = TABLES[experiment.names].columns
        cases = [case for case in experiments.cases(name, {}, small=False) if case["k"] == 4]
        assert [sim_name(case) for case in cases] == sims
        data, _ = draw(cases[0], 7)
        assert (data == simulated(sims[0], 7)).all()
    other = {"experiment": "points", "y": 8, "d": 10, "sigma": 0.02, "k": 4}
    assert sim_name(other) == ""
    assert draw(other, 0)[0].shape == (1600, 10)


def test_equal_records_lose_nothing(tmp_path):
    # Clusters of 8 equal records, k = 4: every cluster can be divided without loss.
    given = ["points", "--y", "8", "--sigma", "0", "--d", "2", "--methods", "C,M-c,mdav"]
    assert experiments.main([*given, "--seeds", "1", "--output", str(tmp_path)]) == 0
    assert [row["loss"] for row in rows_of(tmp_path)] == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.usefixtures("_no_plots")
def test_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    given = ["size", *TINY["size"], "--methods", "C,M,vmdav gamma=0.5", "--seeds", "1"]
    given += ["--output", str(tmp_path)]
    measure, calls = experiments.measured, []

    def stopped_at_the_third(case, row):
        calls.append(row["method"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(case, row)

    monkeypatch.setattr(experiments, "measured", stopped_at_the_third)
    assert experiments.main(given) == 130
    first = rows_of(tmp_path)
    assert len(first) == 2
    assert "stopped; what was measured is kept" in capsys.readouterr().err
    assert (tmp_path / "experiments.md").is_file()
    assert experiments.main(given) == 0
    assert len(calls) == 3 + 4  # the third again, and the three that were left
    rows = rows_of(tmp_path)
    assert rows[:2] == first
    assert [row["method"] for row in rows] == 2 * ["C", "M", "vmdav gamma=0.5"]
    assert experiments.main(given) == 0
    assert len(calls) == 7
    assert "6 of 6 measurements" in capsys.readouterr().err
    assert experiments.main([*given, "--again"]) == 0
    assert len(calls) == 13
    assert len(rows_of(tmp_path)) == 6


@pytest.mark.usefixtures("_no_plots")
def test_engines_machines_and_processes_do_not_overwrite_each_other(tmp_path, monkeypatch):
    given = ["points", "--y", "2", "--d", "2", "--methods", "C", "--seeds", "1"]
    given += ["--output", str(tmp_path)]
    here = experiments.machine()
    assert experiments.main(given) == 0
    assert experiments.main([*given, "--engine", "generic"]) == 0
    monkeypatch.setattr(experiments, "machine", lambda: here | {"processor": "another"})
    assert experiments.main(given) == 0
    rows = rows_of(tmp_path)
    assert len({(row["engine"], row["machine"]) for row in rows}) == len(rows) == 3
    assert (
        "several engines or machines: they formed the same groups"
        in (tmp_path / "experiments.md").read_text()
    )
    one, two = (experiments.Store(tmp_path / "experiments.json") for _ in range(2))
    one.add(rows[0] | {"seed": 1}, here)
    two.add(rows[0] | {"seed": 2}, here)
    assert len(rows_of(tmp_path)) == 5


def test_a_machine_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit() == "unknown"


def as_measured(name):
    """The printed tables as if they were ours."""
    experiment = EXPERIMENTS[name]
    for case in experiments.cases(name, {}, small=False):
        column, k = sim_name(case), case["k"]
        for method in experiment.methods:
            row = {**case, "method": method, "engine": "cpu", "machine": "2005", "seed": 0}
            if name == "separation" and method == "M":
                share = TABLES["2005 Table 6"].cell(f"k={k} share", "SIM_1").rstrip("%")
                size = TABLES["2005 Table 6"].cell(f"k={k} size", "SIM_1")
                row |= {"oversized": float(share), "oversized_size": float(size)}
            if name == "separation":
                minutes = {"D": 44, "C": 1, "M": 4.2, "M-d": 4.5, "M-c": 4.5}
                row["seconds"] = minutes.get(method)
            if name in ("separation", "points") and k == 4:
                number = 7 if name == "separation" else 8
                row["loss"] = float(TABLES[f"2005 Table {number}"].cell(method, column))
            if name == "size":
                page = TABLES["2005 Table 9"]
                row["seconds"] = float(page.cell("Total time", column))
                row["tree_seconds"] = float(page.cell("Prim's method", column))
                row["cut_seconds"] = float(page.cell("Edge cutting", column))
            if name == "dimension":
                row["seconds"] = float(TABLES["2005 Table 10"].cell("Time (seconds)", column))
            yield row


@pytest.mark.usefixtures("_no_plots")
def test_printed_figures_stand_beside_ours(tmp_path):
    stamp = {"loss": 1.0, "date": "2005-01-01", "commit": "none", "load": 0.0}
    rows = [row | stamp for name in EXPERIMENTS for row in as_measured(name)]
    experiments_report.write_report(rows, {"2005": {"cores": "1"}}, tmp_path)
    text = (tmp_path / "experiments.md").read_text()
    for tables_5_and_6 in (
        "| k = 10 | 1.453 / 1.0000 | 1.430 / 1.0000 | 0.024 / ",
        "| 15.40 / 15.400",
    ):
        assert tables_5_and_6 in text
    for table_7 in ("| D | 0.560 / 1.0000 | 0.584 / 1.0000 |", " | 9.532 / 1.0000 |"):
        assert table_7 in text
    for table_8 in (
        "| C | 0.022 / 1.0000 | 4.091 / 1.0000 |",
        "| 0.019 / 1.0000 | 0.019 / 1.0000 |",
    ):
        assert table_8 in text
    assert "| 120,000 | 33894 | 33665 | 227 | 33,894 |" in text
    assert "| 200 | 207 | 207 |" in text


@pytest.mark.parametrize(
    ("name", "statements"), [("separation", 9), ("size", 3), ("dimension", 1), ("points", 2)]
)
def test_the_printed_tables_agree_with_what_the_paper_says_of_them(name, statements):
    rows = list(as_measured(name))
    every_k = [Curves([r for r in rows if r["k"] == k]) for k in sorted({r["k"] for r in rows})]
    (curves,) = (curves for curves in every_k if curves.k == 4)
    found = list(checks(curves, every_k))
    assert len(found) == statements
    assert {holds for _, holds, _ in found} == {"agrees"}


def test_what_does_not_agree_is_said_so():
    rows = list(as_measured("points"))
    exchanged = dict(zip(METHODS_2005, ["M", "M-d", "M-c", "D", "C"], strict=True))
    curves = Curves([row | {"method": exchanged[row["method"]]} for row in rows])
    assert [holds for _, holds, _ in checks(curves, [curves])] == ["agrees", "**differs**"]


def test_exponent_of_a_power_law():
    assert power([1, 2, 4], [3, 12, 48]) == pytest.approx(2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "required"),
        (["all", "--n", "5"], "unrecognized arguments: --n 5"),
        (["points", "--n", "5"], "unrecognized arguments: --n 5"),
        (["size", "--n", "many"], "n='many' is not a whole number"),
        (["size", "--n", "250"], "it must be a multiple of 200"),
        (["size", "-k", "0"], "k is '0'; give whole numbers, 1 or more"),
        (["size", "--sigma", "-1"], "sigma is '-1'; give numbers, 0 or more"),
        (["size", "--sigma", "nan"], "sigma=nan must be a finite number"),
        (["size", "--d", ","], "d="),
        (["size", "--seeds", "0"], "seeds is 0"),
        (["size", "--methods", "mdaw"], "There is no method 'mdaw'; choose from D, C, M,"),
        (["size", "--methods", ""], "--methods is empty"),
        (["size", "--methods", "vmdav gamma"], "option 'gamma' is not NAME=VALUE"),
        (["points", "--methods", "mdav gamma=1", "--y", "2"], "gamma"),
        (["points", "--methods", "fixed", "--y", "2"], "variable"),
        (["points", "-k", "900", "--y", "2"], "900"),
        (["size", "--engine", "gpu"], "choose cpu, generic or cuda"),
        (["report"], "Nothing is measured yet"),
    ],
)
def test_bad_options_give_one_sentence(given, said, tmp_path, capsys):
    if given:
        given = [*given, "--output", str(tmp_path)]
    assert experiments.main(given) == 2
    message = capsys.readouterr().err
    assert said in message
    assert message.startswith("experiments: ")
    assert message.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_file_of_something_else_is_not_replaced(tmp_path, capsys):
    (tmp_path / "experiments.json").write_text("[1, 2]")
    assert experiments.main(["points", "--output", str(tmp_path)]) == 2
    assert "is not a file of results" in capsys.readouterr().err
    assert (tmp_path / "experiments.json").read_text() == "[1, 2]"
