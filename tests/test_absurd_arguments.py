"""Arguments that cannot be used: one sentence that says which and what to do."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.command import process, run, sentence
from helpers.frames import FEW
from microagg_gpu import InputError, compare, datasets, measures, microaggregate, refine
from microagg_gpu.plots import plot_groups, plot_map
from microagg_gpu.report import describe, page

pytestmark = pytest.mark.usefixtures("empty_directory")

FRAME = pd.DataFrame(FEW)
DATA = FRAME[["a", "b"]].to_numpy()
LABELS = np.repeat(np.arange(8), 3)
ABSURD = [
    (compare, {"aggregate": "mode"}, "aggregate='mode' is unknown: choose one of 'mean'"),
    (compare, {"methods": []}, "nothing to compare: give one method"),
    (compare, {"k": []}, "nothing to compare: give one k"),
    (compare, {"methods": [3]}, "method 3 is unknown: give a name, or a pair"),
    (compare, {"methods": [("mdav",)]}, r"method \('mdav',\) is unknown"),
    (compare, {"methods": [("mdav", 3)]}, r"method \('mdav', 3\) is unknown"),
    (compare, {"methods": None}, "method None is unknown"),
    (compare, {"methods": ("vmdav", {3: 1})}, "must be a dictionary with texts as keys"),
    (compare, {"methods": ("genetic", {"seed": 1})}, "has no option 'seed'"),
    (compare, {"k": b"35"}, "k=b'35' is not a whole number"),
    (compare, {"refine": float("nan")}, "refine=nan must be a finite number of 0 or more"),
    (microaggregate, {"k": True}, "k=True is not a whole number"),
    (microaggregate, {"k": np.True_}, "k=np.True_ is not a whole number"),
    (microaggregate, {"k": None}, "k=None is not a whole number"),
    (microaggregate, {"k": "3"}, "k='3' is not a whole number"),
    (microaggregate, {"k": 10**5000}, "k=<int> is more than the 24 records"),
    (microaggregate, {"method": ["mdav"]}, r"method \['mdav'\] is unknown"),
    (microaggregate, {"columns": True}, "column True is not in the array"),
    (microaggregate, {"columns": [[0], [1]]}, r"columns holds \[0\], which is no name"),
    (microaggregate, {"columns": iter(())}, "no columns are chosen"),
    (microaggregate, {"columns": itertools.count()}, "column 2 is not in the array"),
    (microaggregate, {"columns": slice(2)}, r"columns holds slice\(None, 2, None\)"),
    (microaggregate, {"by": "0"}, "column '0' is not in the array"),
    (microaggregate, {"nominal": [0, 0]}, "column 0 is chosen twice"),
    (microaggregate, {"ordinal": {0: "abc"}}, "order of the categories of column 0 is 'abc'"),
    (microaggregate, {"ordinal": {0: [1, 1]}}, "category of column 0 is twice in the order"),
    (microaggregate, {"ordinal": {0: ["x"]}}, "column 0 of an array must be numbers"),
    (microaggregate, {"sampling_weight": 0.5}, "the sampling weights|sampling weights of shape"),
    (microaggregate, {"sampling_weight": np.ones((24, 1))}, "24 sampling weights of shape"),
    (microaggregate, {"sampling_weight": np.ones(24) * 1j}, "sampling weights are not numbers"),
    (microaggregate, {"variable_weights": 3}, "1 weights for 2 variables"),
    (microaggregate, {"variable_weights": [1, 1e200]}, "a weight is above 1e100"),
    (microaggregate, {"variable_weights": ["1", "2"]}, r"weights=\['1', '2'\] are not numbers"),
    (microaggregate, {"standardize": "no"}, "standardize='no' is not true or false"),
    (microaggregate, {"keep_integers": None}, "keep_integers=None is not true or false"),
    (microaggregate, {"device": 3}, "device=3 is unknown"),
    (microaggregate, {"device": "cuda:\N{SUPERSCRIPT TWO}"}, "device='cuda:.' is unknown"),
    (microaggregate, {"engine": []}, r"engine=\[\] is unknown"),
    (microaggregate, {"precision": None}, "precision=None is unknown"),
    (microaggregate, {"missing": None}, "missing=None is unknown"),
    (microaggregate, {"small_strata": {}}, "small_strata={} is unknown"),
    (microaggregate, {"seed": 2.5}, "seed=2.5 must be a whole number of 0 or more"),
    (microaggregate, {"seed": 2**200}, "seed=16069380442.* must be a whole number"),
    (microaggregate, {"progress": 3}, "progress=3 must be a function, or left out"),
    (microaggregate, {"watch": "x"}, "watch='x' must be a function"),
    (microaggregate, {"refine": "x"}, "refine='x' must be a finite number of 0 or more"),
    (microaggregate, {"refine": float("inf")}, "refine=inf must be a finite number"),
    (microaggregate, {"refine_steps": 10**12}, "refine_steps=1000000000000 must be a whole number"),
    (microaggregate, {"points": 3}, "method 'mdav' has no option 'points'"),
    (microaggregate, {"method": "individual", "story": 1}, "has no option 'story'"),
    (microaggregate, {"method": "vmdav", "gamma": float("nan")}, "gamma=nan must be a finite"),
    (microaggregate, {"method": "vmdav", "gamma": True}, "gamma=True must be a finite"),
    (microaggregate, {"method": "mst", "split": 3}, "split=3 is unknown: choose one of None"),
    (microaggregate, {"method": "path", "order": []}, r"order=\[\] is unknown"),
    (microaggregate, {"method": "genetic", "order": []}, r"order=\[\] is unknown"),
    (microaggregate, {"method": "genetic", "generations": -1}, "generations=-1 must be a whole"),
    (microaggregate, {"method": "genetic", "population": 1}, "population=1 must be a whole"),
    (microaggregate, {"method": "genetic", "convergence": 3}, "convergence=3 is unknown"),
    (microaggregate, {"method": "individual", "inner": "nope"}, "inner='nope' is unknown"),
    (microaggregate, {"method": "best", "seconds": float("nan")}, "seconds=nan must be a finite"),
    (microaggregate, {"method": "best", "steps": -1}, "steps=-1 must be a whole number"),
    (microaggregate, {"method": "tsp", "tour": None}, "tour=None is unknown"),
    (microaggregate, {"method": "tsp", "window": 2**70}, "window=1180591620717411303424 must be"),
    (microaggregate, {"method": "kward", "ranking": "pv", "variable": 99}, "variable=99 names"),
    (microaggregate, {"method": "kward", "ranking": "pv", "variable": [0]}, r"variable=\[0\]"),
    (refine, {"seconds": float("nan")}, "seconds=nan must be a finite number of 0 or more"),
    (refine, {"steps": 1.5}, "steps=1.5 must be a whole number"),
    (refine, {"labels": [[0], [1, 2]]}, "labels must be 24 whole numbers"),
    (refine, {"labels": LABELS.reshape(-1, 1)}, "labels must be 24 whole numbers"),
    (refine, {"labels": LABELS > 2}, "labels must be 24 whole numbers"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "given", "message"),
    ABSURD,
    ids=[f"{function.__name__} {message[:50]}" for function, _, message in ABSURD],
)
def test_absurd_arguments(function, given, message):
    usual = {"data": DATA, "k": 3}
    if function is refine:
        usual["labels"] = LABELS
    with pytest.raises(InputError, match=message) as error:
        function(**(usual | given))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array(3.0), "the array has 0 dimensions"),
        (np.zeros((2, 2, 2)), "the array has 3 dimensions"),
        (np.ones(4) * 1j, "holds complex128 values"),
        (np.arange(4).astype("datetime64[D]"), "holds datetime64"),
        (np.ma.array(["a", "b"]), "holds str32 values"),
        ([[1.0, 2.0], [3.0]], r"different lengths \(1, 2\)"),
        ([{"a": 1}], "holds object values"),
        ("in.csv", "type str cannot be read"),
        (None, "type NoneType cannot be read"),
        (pd.DataFrame({"a\nb": ["x"]}), "1 of 1 columns are not numbers"),
    ],
    ids=lambda given: str(given)[:30],
)
def test_absurd_data(data, message):
    with pytest.raises(InputError, match=message) as error:
        microaggregate(data, 1)
    assert "\n" not in str(error.value)


def test_absurd_arguments_elsewhere(tmp_path):
    result = microaggregate(DATA, 3)
    texts = {"names": ["a", "b"], "k": 3}
    for message, function in {
        "data must be a matrix of numbers": lambda: measures.correlations(["a"]),
        r"scale has shape \(3,\)": lambda: measures.sums_of_squares(DATA, DATA, [1, 2, 3]),
        "progress=3 must be a function": lambda: result.bound(3),
        "n=1000000 must be a whole number from 0": lambda: measures.count_partitions(10**6, 3),
        "cells must be numbers or texts": lambda: measures.range_inference(DATA, DATA, [[1], 2]),
        "notes=3 must be a dictionary": lambda: result.report(notes=3),
        "alternatives holds 3: give rows of compare": lambda: result.report(alternatives=[3]),
        "takes no 'title'": lambda: result.save_report("r.html", title="x"),
        "path=3 must be the path of a file": lambda: result.save_report(3),
        "path='' must be the path of a file": lambda: result.plot(""),
        "content={} is not a result of describe": lambda: page({}),
        "k=0 must be a whole number of 1": lambda: describe(DATA, DATA, **(texts | {"k": 0})),
        "3 names for 2 variables": lambda: describe(DATA, DATA, k=3, names=["a", "b", "c"]),
        "sampling_weight must be 24 finite": lambda: describe(
            DATA, DATA, **texts, sampling_weight=[1.0]
        ),
        "title=3 must be a text": lambda: plot_map([], tmp_path / "m.png", title=3),
        "labels have shape": lambda: plot_groups(DATA, [1, 2], tmp_path / "g.png"),
        "cannot be written: No such file": lambda: plot_map([], tmp_path / "no" / "m.png"),
        "There is no toy data set": lambda: datasets.toy([]),
        "do not fit in memory": lambda: datasets.clusters(2**31 - 1, 2**31 - 1, 0.1, 1, 1),
        "data_home=3 must be the path": lambda: datasets.fetch("eia", 3),
    }.items():
        with pytest.raises(InputError, match=message):
            function()


def test_on_a_cluster_arguments_are_refused_before_there_is_one(tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("microagg_gpu.distributed")
    table = dask.from_pandas(FRAME, npartitions=2)
    for given, message in (
        ({"data": FRAME}, "type DataFrame cannot be read on a cluster"),
        ({"data": []}, "type list cannot be read on a cluster"),
        ({"k": True}, "k=True is not a whole number"),
        ({"columns": [["a"]]}, "columns holds"),
        ({"by": 3}, "column 3 is not in the data"),
        ({"by": ["s", "s"]}, "column 's' has two roles, or is named twice"),
        ({"sampling_weight": FRAME["w"]}, "sampling weights of records on a cluster are a column"),
        ({"engine": "fast"}, "engine='fast' is unknown"),
        ({"device": 3}, "device=3 is unknown"),
        ({"variable_weights": [1]}, "1 weights for 2 variables"),
        ({"block": True}, "block=True must be a whole number of 6 or more"),
        ({"progress": 3}, "progress=3 must be a function"),
        ({"force": "x"}, "force='x' is not true or false"),
        ({"group_column": 3}, "group_column=3 must be a name"),
        ({"client": 3}, "client=3 must be a distributed.Client"),
        ({"data": "in", "output": 3}, "output=3 must be the path"),
    ):
        usual = {"data": table, "k": 3, "columns": pd.Index(["a", "b"])}
        if "data" in given:
            usual["output"] = tmp_path / "out"
        with pytest.raises(InputError, match=message):
            distributed.microaggregate(**(usual | given))


# The command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "x"], "--device x is unknown"),
        (["--refine", "nan"], "--refine nan must be a finite number of 0 or more"),
        (["--refine", "-1"], "--refine -1.0 must be a finite number"),
        (["--refine-steps", "-1"], "--refine-steps -1 must be a whole number"),
        (["--seed", "-1"], "--seed -1 must be a whole number of 0 or more"),
        (["--method", "best", "--option", "seconds=nan"], "seconds=nan must be a finite number"),
        (["--block", "-1"], "--block -1 must be a whole number of 1 or more"),
        (["--repair", "-1"], "--repair -1 must be a whole number of 0 or more"),
        (["--weight", "w", "--weight", "b"], "--weight is given 2 times"),
        (["--weight", ""], "--weight is empty"),
        (["--by", ""], "--by is empty"),
        (["--drop", ""], "--drop is empty"),
        (["--nominal", ""], "--nominal is empty"),
        (["--ordinal", ""], "--ordinal is empty"),
        (["--variable-weights", ""], "--variable-weights is empty"),
        (["--by", "a\nb"], "cannot be read as a list"),
        (["--missing", ""], "--missing is empty"),
        (["--device", ""], "--device is empty"),
        (["--method", ""], "--method is empty"),
        (["--option", ""], "--option is empty"),
        (["--group-column", ""], "--group-column is empty"),
        (["--report", ""], "--report is empty"),
    ],
    ids=str,
)
def test_junk_for_the_command(arguments, message):
    FRAME[["a", "b", "w"]].to_csv("in.csv", index=False)
    usual = ["protect", "in.csv", "-k", "3", "-o", "out.csv", "--columns", "a,b"]
    done = run(*usual, *arguments)
    assert done.exit_code == 2, done.output
    sentence(message, done.output)
    assert not Path("out.csv").exists()


def test_no_columns_for_the_command():
    FRAME[["a", "b"]].to_csv("in.csv", index=False)
    for command in (["protect", "-o", "out.csv"], ["check"], ["compare"]):
        done = process(command[0], "in.csv", *command[1:], "-k", 3, "--columns", "")
        assert (done.returncode, done.stdout) == (2, ""), command
        sentence("--columns is empty", done.stderr)
