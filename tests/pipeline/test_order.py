"""Records in a random order: the same records, another order, nothing that undoes it."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.command import refuse, run
from microagg_gpu import microaggregate
from microagg_gpu.settings import DEFAULT, Settings

pytestmark = pytest.mark.usefixtures("empty_directory")
RNG = np.random.default_rng(19)
FRAME = pd.DataFrame(
    {
        "row": np.arange(60),
        "region": ["N", "S"] * 30,
        "w": RNG.integers(1, 9, 60).astype(float),
        "turnover": RNG.lognormal(3, 1, 60).round(2),
        "staff": RNG.integers(2**60, 2**61, 60),
        "size": RNG.choice(["small", "mid", "large"], 60),
    },
    index=[f"firm {i}" for i in range(60)],
)
FRAME.loc[FRAME.index[::9], "turnover"] = np.nan
GIVEN = {
    "k": 3, "columns": ["turnover", "staff"], "by": "region", "sampling_weight": "w",
    "average_weight": True, "nominal": "size", "missing": "drop", "keep_integers": True,
}  # fmt: skip


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_the_same_records_in_another_order(kind):
    """Row by row: the column `row`, which is published unchanged, says which record it was."""
    data = kind(FRAME)
    plain = microaggregate(data, **GIVEN)
    result = microaggregate(data, **GIVEN, shuffle=True, seed=7)
    before, after = pa_table(plain.protected), pa_table(result.protected)
    order = np.array(after["row"])
    assert np.array_equal(order, result.order)
    assert not np.array_equal(order, np.sort(order))
    assert sorted(order) == plain.order.tolist() == np.array(before["row"]).tolist()
    places = np.searchsorted(plain.order, order)
    names = [name for name in before.column_names if not name.startswith("__index")]
    assert after.select(names).equals(before.take(pa.array(places)).select(names))
    assert result.loss == plain.loss
    assert result.report()["risk"] == plain.report()["risk"]
    assert str(result.verdict) == str(plain.verdict)


def pa_table(data):
    if isinstance(data, pd.DataFrame):
        return pa.Table.from_pandas(data, preserve_index=False)
    return data.to_arrow() if isinstance(data, pl.DataFrame) else data


def test_groups_are_numbered_by_the_published_order():
    data = RNG.normal(size=(50, 2))
    plain = microaggregate(data, 4)
    result = microaggregate(data, 4, shuffle=True, seed=3)
    seen = result.labels[result.order]
    assert list(dict.fromkeys(seen.tolist())) == list(range(len(result.sizes)))
    assert np.array_equal(np.bincount(seen), result.sizes)
    pairs = {(int(a), int(b)) for a, b in zip(plain.labels, result.labels, strict=True)}
    assert len(pairs) == len(plain.sizes) == len(result.sizes)  # the same groups
    assert np.array_equal(result.protected, plain.protected[result.order])
    ranked = microaggregate(data, 4, "individual", shuffle=True, seed=3)
    for j in range(2):
        seen = ranked.labels[ranked.order, j]
        assert list(dict.fromkeys(seen.tolist())) == list(range(len(ranked.sizes[j])))
        assert np.array_equal(np.bincount(seen), ranked.sizes[j])


def test_the_index_of_pandas_does_not_undo_it():
    result = microaggregate(FRAME, **GIVEN, shuffle=True, seed=7)
    assert result.protected.index.equals(pd.RangeIndex(len(result.protected)))
    series = microaggregate(FRAME["staff"], 3, shuffle=True, seed=7).protected
    assert series.index.equals(pd.RangeIndex(60))
    assert microaggregate(FRAME, **GIVEN).protected.index[0] == "firm 1"


def test_the_order_is_random_and_the_seed_repeats_it():
    """Any record may be first: of 300 seeds each of 3 records is, about as often."""
    data = np.array([1.0, 2.0, 5.0])
    first = [microaggregate(data, 1, shuffle=True, seed=s).order[0] for s in range(1, 301)]
    assert (np.bincount(first, minlength=3) > 70).all()  # expected 100, deviation 8
    again = [microaggregate(np.ones(99), 3, shuffle=True, seed=5).order for _ in range(2)]
    assert np.array_equal(*again)


def test_without_a_seed_one_is_drawn_and_kept():
    results = [microaggregate(FRAME, **GIVEN, shuffle=True) for _ in range(2)]
    seeds = [result.provenance.settings.seed for result in results]
    assert seeds[0] != seeds[1]
    assert min(seeds) > 2**32  # nobody guesses it
    assert not np.array_equal(results[0].order, results[1].order)
    call = results[0].provenance.python()
    repeated = eval(call, {"microaggregate": microaggregate, "data": FRAME})
    assert repeated.protected.equals(results[0].protected)
    assert Settings().seed == DEFAULT.seed == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_file_is_shuffled_and_repeated_byte_for_byte(kind):
    frame = FRAME.reset_index(drop=True)
    frame.to_csv("in.csv", index=False)
    frame.to_parquet("in.parquet")
    done = run(
        "protect", f"in.{kind}", "-k", 3, "--columns", "turnover,staff", "--by", "region",
        "--missing", "drop", "--shuffle", "--group-column", "group", "-o", f"out.{kind}",
        "--json", "out.json", "--note", "note.html", "--report", "report.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    out = pd.read_csv("out.csv") if kind == "csv" else pd.read_parquet("out.parquet")
    assert not out["row"].is_monotonic_increasing
    assert out["group"].drop_duplicates().tolist() == list(range(out["group"].max() + 1))
    assert out.groupby("group")["turnover"].nunique().max() == 1
    known = frame.set_index("row")
    assert (known.loc[out["row"], "w"].to_numpy() == out["w"].to_numpy()).all()
    assert out.index.equals(pd.RangeIndex(len(out)))
    provenance = json.loads(Path("out.json").read_text())["provenance"]
    assert provenance["Order of records"] == "shuffled"
    seed = shlex.split(provenance["Command"])[
        shlex.split(provenance["Command"]).index("--seed") + 1
    ]
    note = Path("note.html").read_text()
    assert "Order of the records" in note
    assert "shuffled" in note
    assert seed not in note
    assert "shuffled" in Path("report.html").read_text()
    written = Path(f"out.{kind}").read_bytes()
    for name in (f"out.{kind}", "out.json", "note.html", "report.html"):
        Path(name).unlink()
    again = run(*shlex.split(provenance["Command"])[1:])
    assert again.exit_code == 0, again.output
    assert Path(f"out.{kind}").read_bytes() == written


def test_without_it_the_order_is_that_of_the_data():
    FRAME.to_csv("in.csv", index=False)
    run("protect", "in.csv", "-k", 3, "--columns", "staff", "-o", "out.csv", "--json", "out.json")
    assert pd.read_csv("out.csv")["row"].tolist() == FRAME["row"].tolist()
    provenance = json.loads(Path("out.json").read_text())["provenance"]
    assert provenance["Order of records"] == "as in the data"


def test_workers_refuse_it():
    FRAME.to_parquet("in.parquet")
    refuse("--shuffle cannot be used with --workers", "protect", "in.parquet", "-k", 3, "--columns",
           "staff", "--shuffle", "--workers", 2, "-o", "out")  # fmt: skip
