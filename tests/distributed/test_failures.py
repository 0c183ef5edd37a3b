"""What fails on a Dask cluster: workers and schedulers that die, a full disk, lost messages."""

import os

import pytest

from helpers.command import refuse_for_real

pytest.importorskip("distributed")
pytest.importorskip("pandas")

import dask
import dask.dataframe as dd
from dask._expr import SingletonExpr
from distributed.client import FutureCancelledError
from distributed.comm import CommClosedError

import distributed
from distributed import Client
from helpers.cluster import VARIABLES, assert_k, read_files, start, table, write_files
from helpers.frail import EndsInTask, cluster_that_ends
from microagg_gpu import InputError
from microagg_gpu.distributed import microaggregate, sources
from microagg_gpu.distributed.phases import Job


def test_a_full_disk_leaves_nothing(client, monkeypatch):
    write_files(table())

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sources, "write_file", full)
    with pytest.raises(InputError, match="full: make room; nothing was written"):
        microaggregate("in", 4, columns=VARIABLES, client=client, output="out")
    assert os.listdir() == ["in"]


# What fails on a cluster


def test_a_worker_dies_in_the_middle(client, tmp_path_factory):
    frame = table(2000)
    write_files(frame, parts=4)
    marker = tmp_path_factory.mktemp("marker") / "died"
    given = {"columns": VARIABLES, "block": 500}
    with start(n_workers=2) as cluster, Client(cluster) as other:
        other.register_plugin(EndsInTask("group_block", str(marker)))
        result = microaggregate("in", 5, output="out", client=other, **given)
    assert marker.exists()
    after = read_files(result.protected)
    assert after["id"].tolist() == frame["id"].tolist()
    assert_k(after, VARIABLES, 5)
    again = microaggregate("in", 5, output="again", client=client, **given)
    assert again.loss == result.loss


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


def test_the_scheduler_dies_in_the_middle():
    write_files(table())
    given = {"columns": VARIABLES, "output": "out"}
    with cluster_that_ends("group_block") as address:
        with (
            Client(address) as other,
            pytest.raises(InputError, match="connection to its scheduler was lost: run it again"),
        ):
            microaggregate("in", 4, client=other, **given)
        with pytest.raises(InputError, match="the Dask client is closed: start another"):
            microaggregate("in", 4, client=other, **given)
    assert os.listdir() == ["in"]


def test_the_command_when_the_scheduler_dies():
    write_files(table())
    with cluster_that_ends("group_block") as address:
        refuse_for_real(
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
        assert microaggregate("in", 4, **given).verdict.smallest_named >= 4
    else:
        with pytest.raises(InputError, match=r"could not read the tasks.*; nothing was written$"):
            microaggregate("in", 4, **given)
        assert len(failed) == 2
        assert os.listdir() == ["in"]


LOST = FutureCancelledError("a-1", "lost dependencies"), "records that its workers held were lost"


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
    assert microaggregate("in", output="out", **given).verdict.smallest_named >= 4
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
