"""What was done is enough to repeat it: the Python call and the command line."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.command import run
from microagg_gpu import microaggregate, refine
from microagg_gpu.cli.progress import TerminalPhases
from microagg_gpu.settings import Format, Roles, Settings
from microagg_gpu.tasks.protect import Job, protect_file

pytestmark = pytest.mark.usefixtures("empty_directory")
RNG = np.random.default_rng(8)
FRAME = pd.DataFrame(
    {
        "region, or so": ["N", "S"] * 30,
        "w": RNG.integers(1, 9, 60),
        "turnover": RNG.lognormal(3, 1, 60).round(2),
        "staff": RNG.integers(1, 500, 60),
        "size": RNG.choice(["small", "mid", "large"], 60),
        "branch": RNG.choice(["a", "b"], 60),
    }
)


@pytest.mark.parametrize(
    "given",
    [
        {"columns": ["turnover", "staff"]},
        {"k": 5, "method": "vmdav", "gamma": 0.5, "columns": ["turnover", "staff"]},
        {"columns": "turnover", "method": "optimal", "by": "region, or so"},
        {"columns": ["turnover", "staff"], "by": "region, or so", "scale": "strata"},
        {"columns": ["turnover", "staff"], "scale": "log", "aggregate": "trimmed", "trim": 0.1},
        {"columns": ["turnover"], "ordinal": {"size": ["small", "mid", "large"]},
         "nominal": ["branch"], "sampling_weight": "w", "variable_weights": {"turnover": 2.0}},
        {"columns": ["turnover", "staff"], "standardize": False, "keep_integers": True,
         "aggregate": "median", "missing": "pattern", "small_strata": "merge", "seed": 3,
         "refine_steps": 5, "engine": "generic", "device": "cpu"},
    ],
)  # fmt: skip
def test_the_python_call_repeats_the_run(given):
    result = microaggregate(FRAME, **given)
    again = eval(result.provenance.python(), {"microaggregate": microaggregate, "data": FRAME})
    assert np.array_equal(result.labels, again.labels)
    assert again.provenance.python() == result.provenance.python()
    assert result.protected.equals(again.protected)


def test_weights_that_are_no_column_are_named():
    weights = RNG.integers(1, 9, 60)
    result = microaggregate(FRAME, 4, columns=["turnover"], sampling_weight=weights)
    names = {"microaggregate": microaggregate, "data": FRAME, "sampling_weight": weights}
    again = eval(result.provenance.python(), names)
    assert "sampling_weight=sampling_weight" in result.provenance.python()
    assert result.protected.equals(again.protected)
    heavy = pd.Series([2.0, 5.0], index=["turnover", "staff"])
    result = microaggregate(FRAME, 4, columns=["turnover", "staff"], variable_weights=heavy)
    again = eval(result.provenance.python(), names)
    assert np.array_equal(result.labels, again.labels)


def test_given_groups_are_repeated_by_refine():
    data = RNG.normal(size=(40, 2))
    labels = np.arange(40) // 4
    result = refine(data, labels, 4, steps=20, seed=5)
    names = {"refine": refine, "data": data, "labels": labels}
    again = eval(result.provenance.python(), names)
    assert np.array_equal(result.labels, again.labels)


@pytest.mark.parametrize(
    "given",
    [
        ["--columns", "turnover,staff"],
        ["--columns", "staff", "--by", '"region, or so"', "--weight", "w", "--keep-integers",
         "--drop", "branch", "--variable-weights", "staff=2", "--group-column", "group"],
        ["--columns", "turnover", "--ordinal", "size=small<mid<large", "--nominal", "branch",
         "--missing", "drop", "--no-standardize", "--aggregate", "trimmed"],
        ["--columns", "turnover,staff", "--scale", "robust", "--aggregate", "trimmed", "--trim",
         "0.25"],
        ["--columns", "turnover,staff", "--method", "vmdav", "--option", "gamma=0.5", "--seed", "3",
         "--refine-steps", "4", "--bound"],
    ],
)  # fmt: skip
def test_the_command_repeats_the_run(given):
    FRAME.to_csv("in.csv", index=False)
    result = run("protect", "in.csv", "-k", 4, *given, "-o", "out file.csv", "--json", "out.json")
    assert result.exit_code == 0, result.output
    import json

    content = json.loads(Path("out.json").read_text(encoding="utf-8"))
    command = content["provenance"]["Command"]
    data = "data.drop(columns=['branch'])" if "--drop" in given else "data"
    assert content["provenance"]["Python"].startswith(f"microaggregate({data}, k=4, method=")
    words = shlex.split(command)
    assert words[:3] == ["microagg", "protect", "in.csv"]
    written = Path("out file.csv").read_bytes()
    Path("out file.csv").unlink()
    Path("out.json").unlink()
    again = run(*words[1:])
    assert again.exit_code == 0, again.output
    assert Path("out file.csv").read_bytes() == written
    repeated = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert repeated["provenance"]["Command"] == command


def test_columns_that_were_not_named_are_not_listed():
    FRAME[["turnover", "staff"]].to_csv("in.csv", index=False)
    result = run("protect", "in.csv", "-k", 4, "-o", "out.csv")
    assert "Repeat with: microagg protect in.csv -k 4 --method mdav -o out.csv\n" in result.output


def test_the_terminal_shows_what_repeats_the_run():
    FRAME.to_csv("in.csv", index=False)
    result = run("protect", "in.csv", "-k", 4, "--columns", "turnover,staff", "-o", "out.csv")
    shown = " ".join(result.output.split())
    assert "microagg protect in.csv -k 4 --method mdav --columns turnover,staff -o out.csv" in shown
    assert (
        "microaggregate(data, k=4, method='mdav', columns=['turnover', 'staff'], keep_integers=True"
        in shown
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_script_writes_the_same_file(kind):
    """Byte for byte, with categories, gaps, records that are left out and another decimal mark."""
    frame = FRAME.astype({"turnover": float})
    frame.loc[::7, "turnover"] = np.nan
    frame.loc[0, "region, or so"] = "W"
    if kind == "csv":
        frame.to_csv("in.csv", index=False, sep=";", decimal=",")
    else:
        frame.to_parquet("in.parquet")
    form = ["--decimal", ","] if kind == "csv" else []
    done = run(
        "protect", f"in.{kind}", "-k", 3, "--columns", "turnover,staff", "--by", '"region, or so"',
        "--weight", "w", "--average-weight", "--ordinal", "size=small<mid<large", "--drop",
        "branch", "--missing", "pattern", "--small-strata", "suppress", "--group-column", "group",
        "-o", f"out.{kind}", "--json", "out.json", *form,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    expected = Path(f"out.{kind}").read_bytes()
    Path(f"out.{kind}").unlink()
    result = protect_file(
        Job(
            Path(f"in.{kind}"), Path(f"out.{kind}"),
            Roles(["turnover", "staff"], ["region, or so"], "w",
                  {"size": ["small", "mid", "large"]}),
            Settings(3, missing="pattern", small_strata="suppress", average_weight=True),
            ["branch"], Format(decimal="," if kind == "csv" else "."), group_column="group",
        ),
        TerminalPhases(None),
    ).result  # fmt: skip
    assert Path(f"out.{kind}").read_bytes() == expected
    Path(f"out.{kind}").unlink()
    exec(result.provenance.script(), {})
    assert Path(f"out.{kind}").read_bytes() == expected
    assert microaggregate(FRAME, columns="staff").provenance.script() is None
