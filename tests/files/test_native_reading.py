"""Arrow reads and writes by itself: a Python object in its threads aborts a process that ends."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest

from microagg_gpu.files import csv_text, formats
from microagg_gpu.files.data_file import DataFile, read_file, write_file

ENTRANCES = [
    (pa.csv, "read_csv", 0),
    (pa.parquet, "ParquetFile", 0),
    (pa.parquet, "write_table", 1),
    (pa.ipc, "open_file", 0),
    (pa.ipc, "open_stream", 0),
    (pa.ipc, "new_file", 0),
    (pa, "CompressedInputStream", 0),
    (pa, "CompressedOutputStream", 0),
]


@pytest.fixture
def seen(monkeypatch):
    """Names of Arrow's functions that were called, each with files or buffers of its own."""
    names = set()

    def watched(module, name, place):
        real = getattr(module, name)

        def call(*arguments, **given):
            file = arguments[place]
            assert isinstance(file, pa.NativeFile), name
            assert not isinstance(file, pa.PythonFile), name
            names.add(name)
            return real(*arguments, **given)

        monkeypatch.setattr(module, name, call)

    for entrance in ENTRANCES:
        watched(*entrance)
    reader = pa.BufferReader

    def native_buffer(data):
        assert isinstance(data, pa.Buffer)
        assert data.is_mutable  # memory that Arrow allocated; Python's bytes are not
        return reader(data)

    monkeypatch.setattr(pa, "BufferReader", native_buffer)
    return names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t.csv", {"read_csv"}),
        ("t.csv.gz", {"read_csv", "CompressedInputStream"}),
        ("t.csv.bz2", {"read_csv", "CompressedInputStream", "CompressedOutputStream"}),
        ("t.csv.zst", {"read_csv", "CompressedInputStream", "CompressedOutputStream"}),
        ("t.csv.lz4", {"read_csv", "CompressedInputStream", "CompressedOutputStream"}),
        ("t.parquet", {"write_table", "ParquetFile"}),
        ("t.arrow", {"new_file", "open_file"}),
    ],
)
def test_files_and_buffers_are_native(seen, tmp_path, name, expected):
    path = tmp_path / name
    table = pa.table({"a": ["x", "y", "z"], "b": ["1", "2", "3"]})
    write_file(DataFile(path, table, csv_text.TextForm()), path, path)
    assert read_file(path).table.equals(table)
    assert seen == expected


def test_streams_are_native(tmp_path, seen):
    path = tmp_path / "t.arrow"
    table = pa.table({"a": [1, 2]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert read_file(path).table.equals(table)
    assert seen == {"open_stream"}


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 1000])
def test_native_copies(data):
    copy = formats.native_copy(data)
    assert copy.to_pybytes() == data
    assert copy.is_mutable
