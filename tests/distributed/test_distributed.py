"""Microaggregation on a Dask cluster: the same promises as on one machine."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")
pytest.importorskip("pandas")

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from distributed import Client
from helpers.cluster import VARIABLES, assert_k, computed, gaps, start, table, write_files
from helpers.traces import CHOICES, SECRET, survey, traces, uncompressed
from microagg_gpu import InputError, measures
from microagg_gpu import microaggregate as alone
from microagg_gpu.distributed import microaggregate
from microagg_gpu.files.verdict import NotAnonymous


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"method": "vmdav", "gamma": 0.5},
        {"method": "kward", "ranking": "fpc"},
        {"by": ["region"], "sampling_weight": "w"},
        {"by": ["region"], "sampling_weight": "w", "average_weight": True, "decimals": 1},
        {"keep_integers": True, "aggregate": "median"},
        {"missing": "pattern", "by": ["region"]},
        {"missing": "drop"},
        {"standardize": False, "variable_weights": {"a": 2.0, "c": 0.01}},
    ],
    ids=str,
)
def test_one_block_is_what_one_machine_does(client, given):
    frame = gaps(table()) if "missing" in given else table()
    ours = microaggregate(
        dd.from_pandas(frame, npartitions=2), 4, columns=VARIABLES, client=client, **given
    )
    theirs = alone(frame, 4, columns=VARIABLES, **given)
    assert ours.blocks == 1
    assert ours.loss == pytest.approx(theirs.loss, rel=1e-9)
    assert (ours.groups, ours.dropped) == (len(theirs.sizes), theirs.dropped)
    protected = computed(ours.protected, client)
    pd.testing.assert_frame_equal(
        protected, theirs.protected, check_exact=False, rtol=1e-12, check_dtype=False
    )
    assert protected[VARIABLES].dtypes.tolist() == theirs.protected[VARIABLES].dtypes.tolist()


@pytest.mark.parametrize("repair", [0, 20])
@pytest.mark.parametrize("missing", ["error", "pattern"])
def test_several_blocks_keep_every_promise(client, repair, missing):
    frame = gaps(table()) if missing == "pattern" else table()
    data = dd.from_pandas(frame, npartitions=3)
    result = microaggregate(
        data, 4, columns=VARIABLES, by=["region"], missing=missing, block=100, repair=repair,
        client=client,
    )  # fmt: skip
    assert result.blocks > 6
    assert bool(result.repaired) == bool(repair)
    protected, labels = (computed(one, client) for one in (result.protected, result.labels))
    assert result.protected.divisions == data.divisions
    assert list(protected.columns) == list(frame.columns)
    assert protected.index.equals(frame.index)
    assert labels.index.equals(frame.index)
    pd.testing.assert_series_equal(protected["id"], frame["id"])
    assert_k(protected, ["region", *VARIABLES], 4)
    sizes = np.bincount(labels)
    assert (len(sizes), sizes.min(), sizes.max()) == (
        result.groups, result.smallest, result.largest,
    )  # fmt: skip
    assert frame.groupby(labels)["region"].nunique().max() == 1
    means = frame[VARIABLES].groupby(labels).transform("mean")
    np.testing.assert_allclose(protected[VARIABLES], means, rtol=1e-9)
    scaled = (frame[VARIABLES] - frame[VARIABLES].mean()) / frame[VARIABLES].std(ddof=0)
    loss = measures.information_loss(scaled.fillna(0).to_numpy(), labels.to_numpy())
    assert result.loss == pytest.approx(loss, rel=1e-9)


def test_borders_are_repaired(client):
    data = dd.from_pandas(table(3000), npartitions=2)
    given = {"columns": VARIABLES, "block": 300, "client": client}
    plain, repaired = (microaggregate(data, 5, repair=r, **given) for r in (0, 20))
    assert repaired.loss < plain.loss
    assert 0 < repaired.repaired < 3000


def test_the_number_of_workers_does_not_matter(client):
    frame = table()
    given = {"columns": VARIABLES, "block": 200}
    two = microaggregate(dd.from_pandas(frame, npartitions=2), 4, client=client, **given)
    labels = computed(two.labels, client)
    with (
        start(n_workers=1, processes=False) as single,
        Client(single, set_as_default=False) as other,
    ):
        one = microaggregate(dd.from_pandas(frame, npartitions=2), 4, client=other, **given)
        assert computed(one.labels, other).equals(labels)
        assert one.loss == two.loss


def test_thousands_of_equal_records_are_dealt_out(client):
    frame = pd.DataFrame({"a": np.repeat([0.0, 1.0], [900, 100]), "b": 2.0})
    result = microaggregate(dd.from_pandas(frame, npartitions=2), 5, block=100, client=client)
    assert result.blocks > 3
    assert result.loss == 0.0
    pd.testing.assert_frame_equal(computed(result.protected, client), frame)


def test_partitions_without_records(client):
    frame = table(300)
    data = dd.from_pandas(frame, npartitions=3)
    result = microaggregate(
        data[data["id"] >= 100], 4, columns=VARIABLES, keep_integers=True, client=client
    )
    protected = computed(result.protected, client)
    assert protected["id"].tolist() == frame["id"][:200].tolist()
    assert protected["c"].dtype == frame["c"].dtype
    assert_k(protected, VARIABLES, 4)


def test_files_in_and_out(client):
    frame = gaps(table())
    whole = write_files(frame)
    result = microaggregate(
        "in", 4, columns=VARIABLES, by=["region"], missing="pattern", keep_integers=True,
        block=200, client=client, output="out", drop=["id"], group_column="g",
    )  # fmt: skip
    assert result.protected == [Path(f"out/part-{i}.parquet") for i in range(4)]
    assert sorted(os.listdir()) == ["in", "out"]
    after = pa.concat_tables([pq.read_table(path) for path in result.protected])
    assert after.column_names == ["a", "b", "c", "region", "w", "g"]
    assert after.schema.field("c").type == pa.int16()
    assert after["region"].to_pylist() == whole["region"].to_pylist()
    assert after["w"].equals(whole["w"])
    assert after["a"].is_null().equals(pa.compute.is_null(whole["a"], nan_is_null=True))
    for i, path in enumerate(result.protected):
        before = pq.read_schema(f"in/part-{i}.parquet")
        assert b"source" not in (pq.read_schema(path).metadata or {})
        assert pq.read_metadata(path).num_rows == pq.read_metadata(f"in/part-{i}.parquet").num_rows
        assert pq.read_schema(path).field("region").type == before.field("region").type
    written = after.to_pandas()
    assert_k(written, ["region", *VARIABLES], 4)
    assert (np.bincount(written["g"]) >= 4).all()
    assert result.verdict.smallest_named >= 4


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "int64[pyarrow]"])
def test_integers_too_large_to_be_kept(client, dtype):
    frame = table()
    large = np.where(np.arange(1200) % 600 == 7, 2**53 + 1, 5)
    frame = frame.assign(c=pd.Series(large, frame.index).astype(dtype))
    data = dd.from_pandas(frame, npartitions=2)
    given = {"columns": VARIABLES, "client": client}
    with pytest.raises(
        InputError, match=r"partition 0: 1 value of column c is above 2\*\*53 .* leave out keep_int"
    ):
        microaggregate(data, 4, keep_integers=True, **given)
    rounded = computed(microaggregate(data, 4, **given).protected, client)
    expected = alone(frame, 4, columns=VARIABLES).protected
    pd.testing.assert_frame_equal(
        rounded[VARIABLES], expected[VARIABLES], check_exact=False, rtol=1e-12
    )


def test_integers_that_are_just_small_enough(client):
    frame = table().assign(c=lambda data: data["c"] + 2**53 - 1000)
    data = dd.from_pandas(frame, npartitions=2)
    result = microaggregate(data, 4, columns=VARIABLES, keep_integers=True, client=client)
    kept = computed(result.protected, client)["c"]
    assert kept.dtype == np.int64
    assert 2**53 - 1000 <= kept.min() < kept.max() < 2**53


@pytest.mark.parametrize("frames", [True, False], ids=["frames", "files"])
def test_decimals_of_the_input_and_mean_weights(client, frames):
    frame = table()[[*VARIABLES, "region", "w"]].round({"w": 2, "a": 1, "c": 3})
    given = {"by": "region", "sampling_weight": "w", "average_weight": True, "columns": VARIABLES}
    theirs = alone(frame, 4, keep_integers=True, decimals={"w": 2, "a": 1, "c": 3}, **given)
    given |= {"decimals": "input", "strict": True, "client": client}
    if frames:
        ours = microaggregate(dd.from_pandas(frame, npartitions=3), 4, **given)
        protected = computed(ours.protected, client)
    else:
        write_files(frame, Path("in"), 3)
        ours = microaggregate("in", 4, output="out", **given)
        protected = pd.read_parquet("out")
    assert ours.verdict.word == "PASS"
    assert ours.verdict.columns == list(frame.columns)
    pd.testing.assert_frame_equal(
        protected.reset_index(drop=True).astype({"region": object}),
        theirs.protected.reset_index(drop=True).astype({"region": object}),
        check_dtype=False,
    )  # fmt: skip


def test_strict_writes_nothing_if_a_kept_column_breaks_k(client):
    write_files(table(), Path("in"), 2)
    with pytest.raises(NotAnonymous, match="k = 4 holds for these columns only"):
        microaggregate(
            "in", 4, columns=VARIABLES, by="region", output="out", strict=True, client=client
        )
    assert os.listdir() == ["in"]


def test_nothing_of_a_suppressed_record_stays_in_categories(client):
    frame = pd.DataFrame(survey()).astype({"region": "category"}).drop(columns="name")
    frame["level"] = frame["level"].astype(
        pd.CategoricalDtype(["low", SECRET, "high"], ordered=True)
    )
    result = microaggregate(dd.from_pandas(frame, npartitions=3), 3, client=client, **CHOICES)
    after = computed(result.protected, client)
    for found in (after, result.protected._meta):
        assert sorted(found["region"].cat.categories) == ["north", "south"]
        assert found["level"].dtype == pd.CategoricalDtype(["low", "high"], ordered=True)
    assert after["level"].tolist() == frame["level"].tolist()[:-1]


def test_nothing_of_a_suppressed_record_stays_in_files(client):
    frame = pd.DataFrame(survey()).astype({"region": "category"}).drop(columns="name")
    whole = pa.Table.from_pandas(frame)
    Path("in").mkdir()
    for i in range(2):
        pq.write_table(whole.slice(12 * i, 12), f"in/{i}.parquet")
    microaggregate("in", 3, client=client, output="out", **CHOICES)
    for path in Path("out").iterdir():
        assert traces(path.read_bytes() + uncompressed(str(path))) == []
    assert sorted(os.listdir()) == ["in", "out"]
