"""Microaggregation on a Dask cluster: the same promises as on one machine."""

import os
import socket
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from helpers.command import process, refuse, run

pytest.importorskip("distributed")
pytest.importorskip("pandas")

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from dask._expr import SingletonExpr
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError

import distributed
from distributed import Client, LocalCluster
from helpers.frail import EndsInTask, cluster_that_ends
from helpers.traces import CHOICES, SECRET, survey, traces, uncompressed
from microagg_gpu import InputError, measures
from microagg_gpu import microaggregate as alone
from microagg_gpu.distributed import api, microaggregate, sources
from microagg_gpu.distributed.phases import Job

VARIABLES = ["a", "b", "c"]

# A busy machine may take long to start a process, or to answer.
PATIENT = {
    "distributed.comm.timeouts.connect": "600s",
    "distributed.comm.timeouts.tcp": "600s",
    "distributed.scheduler.worker-ttl": None,
}


# Any port, and no noise about workers that end.
start = partial(LocalCluster, threads_per_worker=1, dashboard_address=":0", silence_logs=50)


@pytest.fixture(scope="module", autouse=True)
def _dask(tmp_path_factory):
    """Dask is patient, and what it leaves in temporary folders is in one of pytest."""
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set(PATIENT | {"temporary-directory": folder}),
    ):
        patch.setenv("DASK_TEMPORARY_DIRECTORY", folder)  # for processes
        yield


@pytest.fixture(scope="module")
def client():
    """Two workers in this process."""
    with start(n_workers=2, processes=False) as two, Client(two) as client:
        yield client


def computed(collection, client):
    """A Dask DataFrame or Series as a whole.

    Its own compute() sends an expression, and Dask's cache of expressions is not made for a
    scheduler in this process: now and then that is a KeyError.
    """
    return pd.concat(client.gather(client.compute(list(collection.to_delayed()))))


def table(n=1200, seed=0):
    """Records with whole numbers, strata, weights and columns to be left alone."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["c"] = rng.integers(0, 1000, n)
    frame["region"] = rng.choice(["north", "south", "west"], n)
    frame["w"] = rng.uniform(1, 5, n)
    frame["id"] = np.arange(n)[::-1]
    return frame.set_index(pd.Index(np.arange(n) * 3, name="key"))


def gaps(frame, seed=1):
    """The same with values missing in two variables."""
    rng = np.random.default_rng(seed)
    return frame.assign(
        a=frame["a"].mask(rng.random(len(frame)) < 0.2), b=frame["b"].mask(frame["a"] > 1)
    )


def assert_k(frame, columns, k):
    """Counted by pandas: each record is one of k that are alike."""
    assert frame.groupby(columns, dropna=False).size().min() >= k


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"method": "vmdav", "gamma": 0.5},
        {"method": "kward", "ranking": "fpc"},
        {"by": ["region"], "sampling_weight": "w"},
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
        dd.from_pandas(frame, npartitions=5), 4, columns=VARIABLES, client=client, **given
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


# Files


def write_files(frame, folder="in", parts=3):
    """Parquet files, one of them empty, with types and notes that pandas would lose."""
    whole = pa.Table.from_pandas(frame.reset_index(drop=True), preserve_index=False)
    whole = whole.set_column(2, "c", whole["c"].cast(pa.int16()))
    whole = whole.set_column(3, "region", whole["region"].dictionary_encode().unify_dictionaries())
    whole = whole.replace_schema_metadata({"source": "survey 2026"})
    Path(folder).mkdir()
    size = -(-len(frame) // parts)
    for i in range(parts):
        pq.write_table(whole.slice(i * size, size), f"{folder}/part-{i}.parquet")
    pq.write_table(whole.slice(0, 0), f"{folder}/part-{parts}.parquet")
    return whole


@pytest.mark.usefixtures("empty_directory")
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
    assert result.alike >= 4


@pytest.mark.usefixtures("empty_directory")
def test_a_full_disk_leaves_nothing(client, monkeypatch):
    write_files(table())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sources, "write_file", full)
    with pytest.raises(InputError, match="full: make room; nothing was written"):
        microaggregate("in", 4, columns=VARIABLES, client=client, output="out")
    assert os.listdir() == ["in"]


# What fails on a cluster


@pytest.mark.usefixtures("empty_directory")
def test_a_worker_dies_in_the_middle(client, tmp_path_factory):
    frame = table(2000)
    write_files(frame, parts=4)
    marker = tmp_path_factory.mktemp("marker") / "died"
    given = {"columns": VARIABLES, "block": 500}
    with start(n_workers=2) as cluster, Client(cluster) as other:
        other.register_plugin(EndsInTask("group_block", str(marker)))
        result = microaggregate("in", 5, output="out", client=other, **given)
    assert marker.exists()
    after = pd.concat([pd.read_parquet(path) for path in result.protected])
    assert after["id"].tolist() == frame["id"].tolist()
    assert_k(after, VARIABLES, 5)
    again = microaggregate("in", 5, output="again", client=client, **given)
    assert again.loss == result.loss


@pytest.mark.usefixtures("empty_directory")
def test_workers_die_whenever_they_try():
    write_files(table())
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        start(n_workers=1) as cluster,
        Client(cluster) as other,
    ):
        other.register_plugin(EndsInTask("group_block", None))
        with pytest.raises(InputError, match=r"workers died .* nothing was written"):
            microaggregate("in", 5, columns=VARIABLES, output="out", client=other)
    assert os.listdir() == ["in"]


@pytest.mark.usefixtures("empty_directory")
def test_the_scheduler_dies_in_the_middle():
    write_files(table())
    given = {"columns": VARIABLES, "output": "out"}
    with cluster_that_ends("group_block") as address:
        with (
            Client(address) as other,
            pytest.raises(InputError, match="connection to its scheduler was lost: run it again"),
        ):
            microaggregate("in", 4, client=other, **given)
        with pytest.raises(InputError, match="the Dask client is closed: make another"):
            microaggregate("in", 4, client=other, **given)
    assert os.listdir() == ["in"]


@pytest.mark.usefixtures("empty_directory")
def test_the_command_when_the_scheduler_dies():
    write_files(table())
    with cluster_that_ends("group_block") as address:
        refuse(
            "the cluster failed: the connection to its scheduler was lost: run it again; nothing",
            "protect", "in", "-k", 4, "-o", "out", "--columns", "a,b,c", "--scheduler", address,
        )  # fmt: skip


def test_no_expression_is_sent(client, monkeypatch):
    # One that a scheduler in this process reads while it is dropped here is a KeyError in Dask.
    def refuse_to(_):
        raise AssertionError("an expression of Dask is sent to the scheduler")

    monkeypatch.setattr(SingletonExpr, "__reduce__", refuse_to)
    data = dd.from_pandas(table(), npartitions=3)
    result = microaggregate(data, 4, columns=VARIABLES, block=200, client=client)
    assert result.repaired


@pytest.mark.usefixtures("empty_directory")
@pytest.mark.parametrize("times", [1, 100])
def test_the_scheduler_cannot_read_a_graph(client, monkeypatch, times):
    write_files(table())
    read, failed = distributed.scheduler.deserialize, []

    def fails(*given):
        if len(failed) < times:
            failed.append(given)
            raise KeyError("fromdelayed-1234")
        return read(*given)

    monkeypatch.setattr(distributed.scheduler, "deserialize", fails)
    given = {"columns": VARIABLES, "client": client, "output": "out"}
    if times == 1:
        assert microaggregate("in", 4, **given).alike >= 4
    else:
        with pytest.raises(InputError, match=r"could not read the tasks.*; nothing was written$"):
            microaggregate("in", 4, **given)
        assert len(failed) == 2
        assert os.listdir() == ["in"]


LOST = FutureCancelledError("a-1", "lost dependencies"), "records that its workers held were lost"


@pytest.mark.usefixtures("empty_directory")
@pytest.mark.parametrize(
    ("phase", "error", "message"),
    [
        ("reading", *LOST),
        ("mdav in", *LOST),
        ("counting k", *LOST),
        ("mdav in", FutureCancelledError("a-1", "scheduler-restart"), "it was restarted"),
        ("mdav in", RuntimeError("P2P 1f5a failed during unpack phase"), "P2P 1f5a failed"),
        ("mdav in", CommClosedError("in <TCP>: Stream is closed"), "in <TCP>: Stream is closed"),
        ("writing", TimeoutError("no answer after 30 s"), "TimeoutError: no answer after 30 s"),
    ],
    ids=str,
)
def test_what_may_pass_is_tried_twice(client, monkeypatch, phase, error, message):
    write_files(table(200), parts=1)
    wait, calls = Job._wait, []

    def fails(times, self, name, futures):
        wait(self, name, futures)
        if name.startswith(phase):
            calls.append(name)
            if len(calls) <= times:
                raise error

    given = {"k": 4, "columns": VARIABLES, "client": client}
    monkeypatch.setattr(Job, "_wait", lambda *given: fails(2, *given))
    with pytest.raises(InputError, match=rf"^the cluster failed.*{message}.*; nothing was written"):
        microaggregate("in", output="out", **given)
    assert len(calls) == 2
    assert os.listdir() == ["in"]
    calls.clear()
    monkeypatch.setattr(Job, "_wait", lambda *given: fails(1, *given))
    assert microaggregate("in", output="out", **given).alike >= 4
    assert len(calls) == 2
    assert sorted(os.listdir()) == ["in", "out"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FutureCancelledError("a-1", None), "the cluster failed: the work was cancelled"),
        (ModuleNotFoundError("No module named 'x'"), "No module named 'x': install it on all"),
        (PermissionError(13, "Permission denied"), "a worker failed: PermissionError"),
        (MemoryError(), "a worker failed: MemoryError"),
        (OSError(28, "No space left on device"), "is full: make room"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_would_fail_again_is_not_tried_again(client, monkeypatch, error, message):
    calls = []

    def fails(*_):
        calls.append(1)
        raise error

    monkeypatch.setattr(Job, "describe", fails)
    with pytest.raises(InputError, match=rf"{message}.*nothing was written$"):
        microaggregate(dd.from_pandas(table(), npartitions=2), 4, client=client, columns=VARIABLES)
    assert calls == [1]


def test_errors_of_ours_are_not_hidden(client, monkeypatch):
    def fails(*_):
        raise RuntimeError("internal error")

    monkeypatch.setattr(Job, "describe", fails)
    with pytest.raises(RuntimeError, match="internal error"):
        microaggregate(dd.from_pandas(table(), npartitions=2), 4, client=client, columns=VARIABLES)


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


@pytest.mark.usefixtures("empty_directory")
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


# What is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "k=0 is too small"),
        ({"k": 2000}, "k=2000 is more than the 1200 records"),
        ({"method": "nope"}, "method 'nope' is unknown"),
        ({"method": "individual"}, "individual ranking has no groups of whole records"),
        ({"gamma": 1}, "has no option 'gamma'"),
        ({"columns": ["a", "zz"]}, "column 'zz' is not in the data, which have: a, b, c"),
        ({"columns": ["a", "a"]}, "column 'a' has two roles, or is named twice"),
        ({"columns": ["a"], "by": ["a"]}, "column 'a' has two roles"),
        ({"columns": ["region"]}, "partition 0: 1 of 1 columns are not numbers: 'region'"),
        ({"block": 5}, "block=5 must be a whole number of 8 or more"),
        ({"repair": -1}, "repair=-1 must be a whole number of 0 or more"),
        ({"small_strata": "merge"}, "small_strata='merge' is unknown"),
        ({"by": ["id"]}, "1200 of 1200 strata .* have fewer than k=4 records: id=0 .1."),
        ({"output": "out"}, "output=, drop= and group_column= are for files"),
        ({"aggregate": "mode"}, "aggregate='mode' is unknown"),
        (
            {"columns": ["a"], "sampling_weight": "b"},
            "partition 0: .* sampling weights are missing, infinite, 0",
        ),
    ],
    ids=str,
)
def test_bad_requests(client, given, message):
    given = {"k": 4, "columns": VARIABLES} | given
    with pytest.raises(InputError, match=message):
        microaggregate(dd.from_pandas(table(), npartitions=2), client=client, **given)


def test_missing_and_infinite_values_are_counted_over_all_partitions(client):
    frame = gaps(table())
    data = dd.from_pandas(frame, npartitions=3)
    missing = frame["a"].isna().sum(), frame["b"].isna().sum()
    with pytest.raises(
        InputError, match=rf"{sum(missing)} values are missing, in column a \({missing[0]}\), b"
    ):
        microaggregate(data, 4, columns=VARIABLES, client=client)
    frame = table().assign(a=np.inf)
    with pytest.raises(InputError, match=r"partition \d: \d+ values are infinite, in column a"):
        microaggregate(dd.from_pandas(frame, npartitions=3), 4, columns=VARIABLES, client=client)


def test_without_a_client(monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(api, "default_client", none)
    with pytest.raises(InputError, match="there is no Dask client: make one, as client ="):
        microaggregate(dd.from_pandas(table(), npartitions=2), 4, columns=VARIABLES)


@pytest.mark.usefixtures("empty_directory")
def test_bad_files(client):
    write_files(table())
    given = {"k": 4, "columns": VARIABLES, "client": client}
    Path("note.txt").write_text("kept")
    Path("text.parquet").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"a": [1.0]}), "other.parquet")
    for data, more, message in (
        ("in", {}, "name a directory with output="),
        ("nowhere/*.parquet", {"output": "out"}, "no file is at nowhere"),
        ("nowhere.parquet", {"output": "out"}, "nowhere.parquet does not exist"),
        ("text.parquet", {"output": "out"}, "cannot be read as Parquet"),
        (["in", "other.parquet"], {"output": "out"}, "other.parquet has other columns or types"),
        (["in", "in/part-0.parquet"], {"output": "out"}, "two files are called part-0.parquet"),
        ("in", {"output": "in"}, "in holds the files to protect"),
        ("in", {"output": "note.txt"}, "note.txt is a file"),
        ("in", {"output": "no/where"}, "no/where cannot be written: No such file"),
        ("in", {"output": ".", "force": True}, "holds"),
        ("in", {"output": "out", "group_column": "a"}, "column 'a' is there already"),
    ):
        with pytest.raises(InputError, match=message):
            microaggregate(data, **given, **more)
    assert sorted(os.listdir()) == ["in", "note.txt", "other.parquet", "text.parquet"]


# The command


@pytest.mark.usefixtures("empty_directory")
def test_the_command_with_workers():
    frame = table()
    write_files(frame)
    arguments = ["protect", *sorted(map(str, Path("in").glob("*"))), "-k", 4, "-o", "out"]
    arguments += ["--columns", "a,b,c", "--drop", "id", "--workers", 1, "--block", 300]
    done = process(*arguments)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "1200 of 3 variables, k = 4" in done.stdout
    assert "4 files in out" in done.stdout
    assert sorted(os.listdir()) == ["in", "out"]
    after = pd.concat([pd.read_parquet(path) for path in sorted(Path("out").glob("*"))])
    assert_k(after, VARIABLES, 4)
    assert after["w"].tolist() == frame["w"].tolist()
    refuse("out is not empty: give another directory, or --force", *arguments)


@pytest.fixture
def address():
    """Of a port at which nobody listens, and nobody else can."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{nobody.getsockname()[1]}"


@pytest.mark.usefixtures("empty_directory")
def test_what_the_command_refuses(monkeypatch, address):
    write_files(table())
    monkeypatch.setattr(
        distributed, "Client", lambda address, timeout: Client(address, timeout="1s")
    )
    files = sorted(map(str, Path("in").glob("*")))
    rest = ["-k", 4, "-o", "out", "--columns", "a,b,c"]
    for message, *arguments in (
        ("4 files are given, which are protected as one by several workers", *files, *rest),
        ("in is a directory, given, which", "in", *rest),
        (
            "--bound, --plot cannot be used",
            "in",
            *rest,
            "--workers",
            2,
            "--bound",
            "--plot",
            "x.png",
        ),
        ("--workers 0 cannot be", "in", *rest, "--workers", 0),
        ("give one of them", "in", *rest, "--workers", 2, "--scheduler", "tcp://127.0.0.1:1"),
        (f"no Dask scheduler answers at {address}", "in", *rest, "--scheduler", address),
    ):
        result = run("protect", *arguments)
        assert result.exit_code == 2, result.output
        assert message in result.output
        assert result.output.count("\n") == 1
    assert os.listdir() == ["in"]
