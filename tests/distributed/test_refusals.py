"""What is refused on a Dask cluster, in Python and by the command."""

import os
import socket
from pathlib import Path

import numpy as np
import pytest

from helpers.command import process, refuse, run

pytest.importorskip("distributed")
pytest.importorskip("pandas")

import dask.dataframe as dd
import pyarrow as pa
import pyarrow.parquet as pq

import distributed
from distributed import Client
from helpers.cluster import VARIABLES, assert_k, gaps, read_files, table, write_files
from microagg_gpu import InputError
from microagg_gpu.distributed import api, microaggregate


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 0}, "k=0 is too small"),
        ({"k": 2000}, "k=2000 is more than the 1200 records"),
        ({"method": "nope"}, "method 'nope' is unknown"),
        ({"method": "individual"}, "individual ranking has no groups of whole records"),
        ({"gamma": 1}, "has no option 'gamma'"),
        ({"columns": ["a", "zz"]}, "column 'zz' is not in the data, which has: a, b, c"),
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
    with pytest.raises(InputError, match="there is no Dask client: start one, such as client ="):
        microaggregate(dd.from_pandas(table(), npartitions=2), 4, columns=VARIABLES)


def test_bad_files(client):
    write_files(table())
    given = {"k": 4, "columns": VARIABLES, "client": client}
    Path("note.txt").write_text("kept")
    Path("text.parquet").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"a": [1.0]}), "other.parquet")
    for data, more, message in (
        ("in", {}, "written to a directory: name it with output="),
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


def test_the_command_with_workers():
    frame = table()
    write_files(frame)
    arguments = ["protect", *sorted(map(str, Path("in").glob("*"))), "-k", 4, "-o", "out"]
    arguments += ["--columns", "a,b,c", "--by", "region", "--workers", 1, "--block", 300]
    weights = ["--weight", "w", "--average-weight", "--drop", "id"]
    done = process(*arguments, *weights, "--strict")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "PASS: every one of the 1,200" in done.stdout
    assert "1,200 records, 3 variables, k = 4" in done.stdout
    assert "4 files in out" in done.stdout
    assert sorted(os.listdir()) == ["in", "out"]
    after = read_files(sorted(Path("out").glob("*")))
    assert_k(after, VARIABLES, 4)
    assert_k(after, list(after), 4)
    assert after["w"].sum() == pytest.approx(frame["w"].sum())
    refuse("out is not empty: give another directory, or --force", *arguments)
    done = process(*arguments, "--strict", "--force")
    assert done.returncode == 1
    assert done.stdout.startswith("k = 4 holds for these columns only: a, b, c, region. 1,200 of ")
    assert done.stdout.endswith("because of w, id. Nothing was written.\n")


@pytest.fixture
def address():
    """Of a port at which nobody listens, and nobody else can."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{nobody.getsockname()[1]}"


def test_what_the_command_refuses(monkeypatch, address):
    write_files(table())
    monkeypatch.setattr(
        distributed, "Client", lambda address, timeout: Client(address, timeout="1s")
    )
    files = sorted(map(str, Path("in").glob("*")))
    rest = ["-k", 4, "-o", "out", "--columns", "a,b,c"]
    for message, *arguments in (
        (
            "4 files are given, and several files are protected together by Dask workers",
            *files,
            *rest,
        ),
        ("in is a directory, and several files are protected together", "in", *rest),
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
        ("--workers must be from 1 to 1024, not 0", "in", *rest, "--workers", 0),
        ("give one of them", "in", *rest, "--workers", 2, "--scheduler", "tcp://127.0.0.1:1"),
        (f"no Dask scheduler answers at {address}", "in", *rest, "--scheduler", address),
    ):
        result = run("protect", *arguments)
        assert result.exit_code == 2, result.output
        assert message in result.output
        assert result.output.count("\n") == 1
    assert os.listdir() == ["in"]
