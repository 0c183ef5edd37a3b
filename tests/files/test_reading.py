"""Data files: what is read from them, and what is refused."""

import codecs
import contextlib
import csv
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.data_files import (
    compressed,
    put,
    python_rows,
    refused,
    rows_of,
)
from microagg_gpu.errors import InputError
from microagg_gpu.files.data_file import DataFile, read_file, write_file
from microagg_gpu.files.data_file import csv_text as textfiles

# Reading text


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n3,4\n",
        "x,y\r\n1,2\r\n3,4",
        "x,y\r1,2\r3,4\r",
        'x,y\n"1,5","two\nlines"\n"a ""b""",""\n',
        'x,y\n5" pipe,a"b\n',  # literal quotation marks
        'x,y\n"a","\r"\n"\r\n\r\n",b\n',
        ',a\n"",\n,\n',
        "x;y,z\n1;2,5\n",
        "x\ty\n=1+1\t-2\n@c\t+0007\n",
        "x|y\n 1 |12345678901234567890123\n",
        'x\n1\n""\n3\n',
        '"a\nb",c\n1,2\n',
        "x,y\n1,2\n\n\n",
    ],
)
def test_cells_are_those_of_pythons_csv(text):
    file = read_file(put(text))
    expected = [row for row in python_rows(text, file.text.delimiter) if row]
    assert rows_of(file) == expected
    assert all(column.null_count == 0 for column in file.table.columns)


def naive_rows(text):
    """What a CSV text holds by the rules of this library, or nothing if it breaks one."""
    try:
        rows = python_rows(text)
    except csv.Error:
        return None
    while rows and not rows[-1]:
        rows.pop()
    whole = len(rows) > 1 and rows[0] and all(len(row) == len(rows[0]) for row in rows)
    return rows if whole and len(set(rows[0])) == len(rows[0]) else None


@given(st.text('ab,"\r\n', max_size=40), st.sampled_from([16, 64, 1 << 22]))
@example('a,b\n"",\n"a\n",""\n\n', 16)
@example("a,b\n,\n\n,\n", 64)
def test_any_text_is_read_as_by_pythons_csv_or_refused(text, block):
    expected = naive_rows(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textfiles, "_BLOCK", block)
        if expected is None:
            refused("in.csv", read_file, put(text), delimiter=",")
        else:
            assert rows_of(read_file(put(text), delimiter=",")) == expected


def test_form_of_the_text():
    file = read_file(put("\ufeffx;y\r\n1;2\r\n"))
    form = file.text
    assert (form.delimiter, form.newline, form.encoding, form.bom) == (
        ";",
        "\r\n",
        "utf-8",
        "\ufeff",
    )
    assert file.table.column_names == ["x", "y"]
    assert read_file(put("a b\n1 2\n"), delimiter=" ").table.column_names == ["a", "b"]
    assert read_file(put("a\tb\n1\t2\n"), delimiter="\\t").table.column_names == ["a", "b"]
    assert read_file(put('"a\r\nb",c\n1,2\n')).text.newline == "\n"


@pytest.mark.parametrize("bom", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_utf_16_is_seen_by_its_mark_and_kept(bom):
    codec = "utf-16-le" if bom == codecs.BOM_UTF16_LE else "utf-16-be"
    data = bom + "näme,x\n€,1\n".encode(codec)
    for encoding in (None, "utf-16", codec):
        file = read_file(put(data), encoding=encoding)
        assert rows_of(file) == [["näme", "x"], ["€", "1"]]
        write_file(file, Path("out.csv"), Path("out.csv"))
        assert Path("out.csv").read_bytes() == data


def test_encodings_by_name():
    assert rows_of(read_file(put("näme,x\nÉ,1\n".encode("latin-1")), encoding="latin-1"))[0][0] == (
        "näme"
    )
    assert read_file(put("x,y\n€,1\n".encode("cp1252")), encoding="cp1252").table["x"][
        0
    ].as_py() == ("€")
    # Without a mark, UTF-16 means the byte order of today's machines, and none is added.
    data = "x,y\n1,2\n".encode("utf-16-le")
    file = read_file(put(data), encoding="utf-16")
    write_file(file, Path("out.csv"), Path("out.csv"))
    assert Path("out.csv").read_bytes() == data


def test_wide_long_and_single():
    names = [f"c{j}" for j in range(1000)]
    text = "\n".join(
        [",".join(names), *(",".join(str(i * j) for j in range(1000)) for i in (1, 2))]
    )
    file = read_file(put(text))
    assert rows_of(file) == python_rows(text)
    assert len(file.numeric_columns()) == 1000
    long = "é" * 3_000_000  # longer than a block of the reader and than a cell of Python's csv
    assert read_file(put(f'x,y\n1,2\n"{long}",3\n')).table["x"].to_pylist() == ["1", long]
    assert read_file(put(f'x,y\n1,2"\n"{long}",3\n')).table["x"].to_pylist() == ["1", long]
    assert rows_of(read_file(put("x\n1\n2"))) == [["x"], ["1"], ["2"]]


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_a_line_end_in_a_cell_between_two_blocks(shift):
    before = "a" * ((1 << 22) - len('x,y\n1,"') - 1 + shift)
    text = f'x,y\n1,"{before}\r\nb"\n' + "2,c\n" * 100_000
    assert read_file(put(text)).table["y"].to_pylist() == [f"{before}\r\nb", *["c"] * 100_000]


# Bad text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "in.csv is empty: it needs a header"),
        ("\n\n", "in.csv is empty"),
        ("\ufeff", "in.csv is empty"),
        ("x,y\n", "in.csv has a header and no records"),
        ("x,y", "in.csv has a header and no records"),
        ("x\n", "in.csv has a header and no records"),
        ("\nx,y\n1,2\n", "line 1 of in.csv is empty"),
        ("x,y\n1,2\n3\n", "line 3 of in.csv has 1 cell and the header 2"),
        ("x,y\n1,2\n3,4,5\n", "line 3 of in.csv has 3 cells and the header 2"),
        ("x,y\n1,2\n\n3,4\n", "line 3 of in.csv has no cells and the header 2"),
        ("x,y\r\n1,2\r\n\r\n3,4\r\n", "line 3 of in.csv has no cells and the header 2"),
        ("x\n1\n\n3\n", "line 3 of in.csv has no cells and the header 1"),
        ('x,y\n"a\nb",2\n3\n', "line 4 of in.csv has 1 cell"),
        ('x,y\n1,"2\n3,4\n', "in.csv cannot be read as CSV from line 2 on: .*quotation mark"),
        ('x,y\n1,2\n3,"4"4\n', "in.csv cannot be read as CSV from line 3 on"),
        ('x,"y\n1,2\n', "in.csv cannot be read as CSV from line 1 on"),
        ("x,y,x\n1,2,3\n", r"column names of in.csv appear twice \('x'\): rename them"),
        ("x, x\n1,2\n", r"column names of in.csv appear twice \('x'\)"),
        ("x,y\n1,\0\n", "in.csv is not a text file in UTF-8 .byte 7 is 0x00.*encoding='utf-16'"),
        (b"name,x\n\xc9,1\n", "not a text file in UTF-8 .byte 8 is 0xC9.*encoding='latin-1'"),
        ("x,y\n1,2\n".encode("utf-16-le"), "in.csv is not a text file in UTF-8"),
        (b"\xff\xfex\0,\0y", "in.csv is not a text file in UTF-16-LE"),
        (gzip.compress(b"x,y\n1,2\n", mtime=0), "in.csv is not a text file: .* the ending .gz"),
        (b"PAR1\0\xff", "in.csv is not a text file: .* the ending .parquet"),
        (b"PK\x03\x04\x14\x00\x06\x00", "in.csv is a ZIP archive or an Excel workbook"),
    ],
)
def test_bad_text(content, message):
    refused(message, read_file, put(content))


def test_bad_options():
    path = put("x,y\n1,2\n")
    refused("encoding='utf-9' is unknown: give one such as", read_file, path, encoding="utf-9")
    refused("encoding='base64' is unknown", read_file, path, encoding="base64")
    refused("delimiter=',,' cannot separate columns", read_file, path, delimiter=",,")
    refused("delimiter='\"' cannot separate columns", read_file, path, delimiter='"')
    refused("delimiter='§' cannot separate columns", read_file, path, delimiter="§")
    refused("decimal=';' is not a decimal mark", read_file, path, decimal=";")
    refused("one column only with the delimiter ';', but more with ','.*delimiter=','",
            read_file, path, delimiter=";")  # fmt: skip


def test_an_error_far_into_a_large_file():
    rows = [f"{i},{i}" for i in range(300_000)]
    rows[250_000] = "1,2,3"
    path = put("\n".join(["x,y", *rows]))
    refused("line 250002 of in.csv has 3 cells and the header 2", read_file, path)


def test_files_that_cannot_be_opened(monkeypatch):
    refused("absent.csv does not exist", read_file, Path("absent.csv"))
    refused("absent.parquet does not exist", read_file, Path("absent.parquet"))
    Path("folder.csv").mkdir()
    refused("folder.csv is a directory", read_file, Path("folder.csv"))

    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = put("x\n1\n")
    monkeypatch.setattr(Path, "open", denied)
    refused("in.csv cannot be read: Permission denied", read_file, path)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst", ".lz4"])
def test_broken_compression(ending):
    name = f"in.csv{ending}"
    whole = compressed("\n".join(f"{i},{i * i}" for i in range(5000)).encode(), ending)
    refused(f"in.csv{ending} cannot be read: it is no", read_file, put(whole[:-200], name))
    refused(f"in.csv{ending} cannot be read: it is no", read_file, put("x,y\n1,2\n", name))


@pytest.mark.parametrize(
    ("name", "form"), [("in.parquet", "Parquet"), ("in.pq", "Parquet"), ("in.arrow", "Arrow"),
                       ("in.feather", "Arrow"), ("in.ipc", "Arrow")]
)  # fmt: skip
def test_broken_typed_files(name, form):
    refused(f"{name} cannot be read as {form}", read_file, put("x,y\n1,2\n", name))
    refused(f"{name} cannot be read as {form}", read_file, put("", name))
    table = pa.table({"x": np.arange(1000.0)})
    write_file(DataFile(Path(), table, None), Path("whole"), Path(name))
    broken = Path("whole").read_bytes()[:-50]
    refused(f"{name} cannot be read as {form}", read_file, put(broken, name))


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow"])
def test_typed_files_with_a_few_wrong_bytes(name):
    table = pa.table({"x": np.arange(50.0), "s": [f"a{i % 7}" for i in range(50)]})
    write_file(DataFile(Path(), table, None), Path("whole"), Path(name))
    rng = np.random.default_rng(0)
    for _ in range(200):
        content = np.fromfile("whole", np.uint8)
        content[rng.integers(0, len(content), 3)] = rng.integers(0, 256, 3)
        with contextlib.suppress(InputError, MemoryError):  # a wrong length may be huge
            read_file(put(content.tobytes(), name)).numeric_columns()


def test_typed_files_without_content():
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), "in.parquet")
    refused("in.parquet has no records", read_file, Path("in.parquet"))
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), "in.parquet")
    refused("column names of in.parquet appear twice", read_file, Path("in.parquet"))
