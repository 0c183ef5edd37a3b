"""Arguments: natural ones work, and junk of any kind is one line of InputError."""

import zlib

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.frames import FEW
from helpers.junk import random_calls, search, single_calls
from helpers.strategies import make_table
from microagg_gpu import InputError, compare, measures, microaggregate, refine

FRAME = pd.DataFrame(FEW)
ARRAY = FRAME[["a", "b", "s", "w"]].to_numpy()

# Natural arguments


@pytest.mark.parametrize(
    "columns",
    [
        ("a", "b"),
        FRAME.columns[:2],
        np.array(["a", "b"]),
        (name for name in ("a", "b")),
        {"a": 1, "b": 2},
        {"a": 1, "b": 2}.keys(),
        {"b", "a"},
        pd.Series(["a", "b"]),
        map(str, ["a", "b"]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_columns_of_a_frame(columns):
    expected = microaggregate(FRAME, 3, columns=["a", "b"])
    found = microaggregate(FRAME, 3, columns=columns)
    assert np.array_equal(found.labels, expected.labels)
    assert found.names == ["a", "b"]


@pytest.mark.parametrize(
    ("natural", "plain"),
    [
        ({"columns": 0}, {"columns": [0]}),
        ({"columns": np.int64(1)}, {"columns": [1]}),
        ({"columns": np.array([0, 1])}, {"columns": [0, 1]}),
        ({"columns": range(2)}, {"columns": [0, 1]}),
        ({"columns": (-4, -3)}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "by": 2}, {"columns": [0, 1], "by": [2]}),
        ({"columns": [0, 1], "by": []}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "by": np.array([2])}, {"columns": [0, 1], "by": [2]}),
        ({"columns": [0, 1], "nominal": 2}, {"columns": [0, 1], "nominal": [2]}),
        ({"columns": [0, 1], "ordinal": 2}, {"columns": [0, 1], "ordinal": [2]}),
        ({"columns": [0, 1], "ordinal": {2: (1, 2)}}, {"columns": [0, 1], "ordinal": {2: [1, 2]}}),
        ({"columns": [0, 1], "ordinal": None, "nominal": None}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "device": None}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "k": np.int32(3)}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "k": np.array(3)}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "standardize": np.False_}, {"columns": [0, 1], "standardize": False}),
        ({"columns": [0, 1], "keep_integers": np.True_}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "sampling_weight": 3}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "sampling_weight": FRAME["w"]}, {"columns": [0, 1]}),
        ({"columns": [0, 1], "variable_weights": (1, 4)},
         {"columns": [0, 1], "variable_weights": [1.0, 4.0]}),
        ({"columns": [0, 1], "variable_weights": {1: 4}},
         {"columns": [0, 1], "variable_weights": [1.0, 4.0]}),
        (
            {"columns": [0, 1], "variable_weights": pd.Series([1.0, 4.0])},
            {"columns": [0, 1], "variable_weights": [1.0, 4.0]},
        ),
        ({"columns": [0, 1], "method": "vmdav", "gamma": np.float32(0.5)},
         {"columns": [0, 1], "method": "vmdav", "gamma": 0.5}),
        ({"columns": [0, 1], "method": "projection", "projection": "pv", "variable": np.int64(1)},
         {"columns": [0, 1], "method": "projection", "projection": "pv", "variable": 1}),
        ({"columns": [0, 1], "seed": np.uint64(7)}, {"columns": [0, 1], "seed": 7}),
    ],
    ids=lambda given: str(given)[:60],
)  # fmt: skip
def test_natural_arguments(natural, plain):
    found, expected = (microaggregate(ARRAY, **({"k": 3} | given)) for given in (natural, plain))
    assert np.array_equal(found.labels, expected.labels)
    assert type(found.k) is int


def test_weights_of_a_series_go_by_its_names():
    plain = microaggregate(FRAME, 3, columns=["a", "b"], variable_weights={"a": 1, "b": 9})
    given = pd.Series([9.0, 1.0], index=["b", "a"])
    named = microaggregate(FRAME, 3, columns=["a", "b"], variable_weights=given)
    assert np.array_equal(named.labels, plain.labels)


def test_a_series_takes_sampling_weights_and_no_roles():
    table = microaggregate(FRAME, 3, columns=["a"], sampling_weight="w")
    alone = microaggregate(FRAME["a"], 3, sampling_weight=FRAME["w"])
    assert alone.protected.tolist() == table.protected["a"].tolist()
    assert microaggregate(FRAME["a"], 3, columns="a").names == ["a"]
    for role in ({"by": "s"}, {"ordinal": ["a"]}, {"nominal": "a"}):
        with pytest.raises(InputError, match="is for tables and the data are one column"):
            microaggregate(FRAME["a"], 3, **role)
    with pytest.raises(InputError, match="have another index"):
        microaggregate(FRAME["a"], 3, sampling_weight=FRAME["w"][::-1])


def test_names_that_are_tuples():
    table = FRAME[["a", "b", "s"]].set_axis([("u", 1), ("u", 2), "s"], axis=1)
    expected = microaggregate(FRAME, 3, columns=["a"]).labels
    assert np.array_equal(microaggregate(table, 3, columns=("u", 1)).labels, expected)
    assert np.array_equal(microaggregate(table, 3, columns=[("u", 1)]).labels, expected)
    both = microaggregate(table, 3, columns=(("u", 1), ("u", 2)))
    assert both.names == ["('u', 1)", "('u', 2)"]


def test_strata_are_named_in_the_report_however_they_are_given():
    for by in (["s", "c"], ("s", "c"), pd.Index(["s", "c"]), iter(["s", "c"])):
        named = microaggregate(FRAME, 3, columns="a", by=by).provenance.rows()
        assert named["Strata"] == "s, c"
    assert microaggregate(ARRAY, 3, columns=0, by=2).provenance.rows()["Strata"] == "2"
    assert "Strata" not in microaggregate(ARRAY, 3, columns=0, by=()).provenance.rows()


def losses(table):
    return [(row["k"], row["method"], row["loss"]) for row in table]


@pytest.mark.parametrize(
    ("natural", "plain"),
    [
        ({"k": range(3, 5)}, {"k": [3, 4]}),
        ({"k": np.array([3, 4])}, {"k": [3, 4]}),
        ({"k": np.int64(3)}, {"k": [3]}),
        ({"k": iter([3])}, {"k": [3]}),
        ({"methods": ("mdav", "vmdav")}, {"methods": ["mdav", "vmdav"]}),
        ({"methods": ("vmdav", {"gamma": 0.5})}, {"methods": [("vmdav", {"gamma": 0.5})]}),
        ({"methods": [["vmdav", {"gamma": 0.5}]]}, {"methods": [("vmdav", {"gamma": 0.5})]}),
        ({"methods": iter(["mdav"])}, {"methods": ["mdav"]}),
        ({"methods": "mdav", "columns": FRAME.columns[:2]}, {"methods": ["mdav"]}),
    ],
    ids=lambda given: ", ".join(given),
)
def test_natural_arguments_of_compare(natural, plain):
    usual = {"k": 3, "methods": ["mdav"], "columns": ["a", "b"]}
    assert losses(compare(FRAME, **(usual | natural))) == losses(compare(FRAME, **(usual | plain)))


def test_labels_of_any_kind_are_refined():
    given = np.repeat(np.arange(8), 3)
    plain = refine(ARRAY[:, :2], given, 3, steps=5)
    for labels in (given.tolist(), pd.Series(given), given.astype(np.uint8), pl.Series(given)):
        assert np.array_equal(refine(ARRAY[:, :2], labels, 3, steps=5).labels, plain.labels)


def test_errors_of_a_callback_are_not_ours():
    class Stop(Exception):
        pass

    def progress(*_):
        raise Stop

    points = make_table("random", 60, 2, 0)
    with pytest.raises(Stop):
        measures.record_linkage(points, points, progress=progress)
    with pytest.raises(Stop):
        microaggregate(points, 3, refine_steps=5, watch=progress)
    with pytest.raises(Stop):
        compare(points, 3, "mdav", progress=progress)


def test_an_option_without_a_text_is_refused_by_compare():
    class Unshowable:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(InputError, match="gamma=<Unshowable>"):
        compare(ARRAY, 3, [("vmdav", {"gamma": Unshowable()})])


# Whatever is given

EVERY = 13  # of the single replacements is made here; all of them by -m slow


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where junk that is taken for the name of a file does no harm."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MICROAGG_DATA", raising=False)
    return tmp_path


def nothing_fails(calls):
    failures = []
    assert search(calls, failures.append) > 900
    texts = [f"{failure.call}\n{failure.error}" for failure in failures]
    assert not texts, f"{len(texts)} calls failed:\n" + "\n".join(texts[:5])


def is_drawn(target, changed):
    """Whether a call is one of the sample, which is the same whatever libraries there are."""
    [(parameter, (what, _))] = changed.items()
    return zlib.crc32(f"{target.name} {parameter} {what}".encode()) % EVERY == 0


def test_junk_is_refused(folder):
    nothing_fails(call for call in single_calls(folder) if is_drawn(*call))


def test_junk_in_several_places_is_refused(folder):
    nothing_fails(random_calls(folder, 1000, seed=0))


@pytest.mark.slow
def test_all_junk_is_refused(folder):
    nothing_fails(single_calls(folder))
    nothing_fails(random_calls(folder, 20_000, seed=1))
