"""Files for the tests of data files, and what Python itself makes of them."""

import bz2
import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pytest

from microagg_gpu.errors import InputError


def put(content, name="in.csv"):
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(message, function, *arguments, **given):
    with pytest.raises(InputError, match=message) as caught:
        function(*arguments, **given)
    assert "\n" not in str(caught.value)


def python_rows(data, delimiter=","):
    return list(csv.reader(io.StringIO(data, newline=""), delimiter=delimiter, strict=True))


def rows_of(file):
    columns = [column.to_pylist() for column in file.table.columns]
    return [file.table.column_names, *map(list, zip(*columns, strict=True))]


def compressed(data, ending):
    if ending in (".gz", ".bz2"):
        return (gzip if ending == ".gz" else bz2).compress(data)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, {".zst": "zstd", ".lz4": "lz4"}[ending]) as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def decompressed(data, ending):
    if ending in (".gz", ".bz2"):
        return (gzip if ending == ".gz" else bz2).decompress(data)
    name = {".zst": "zstd", ".lz4": "lz4"}[ending]
    return pa.CompressedInputStream(pa.BufferReader(data), name).read()
