"""Data files: what is read, what is written, and that nothing else is altered."""

import bz2
import codecs
import contextlib
import csv
import gzip
import io
import json
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microagg_gpu import textfiles
from microagg_gpu.errors import InputError
from microagg_gpu.files import DataFile, group_sizes, read_file, verify, write_file


@pytest.fixture(autouse=True)
def in_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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
        ("x,y\n1,\0\n", "in.csv is not a text file in UTF-8 .byte 7 is 0x00.*--encoding utf-16"),
        (b"name,x\n\xc9,1\n", "not a text file in UTF-8 .byte 8 is 0xC9.*--encoding latin-1"),
        ("x,y\n1,2\n".encode("utf-16-le"), "in.csv is not a text file in UTF-8"),
        (b"\xff\xfex\0,\0y", "in.csv is not a text file in UTF-16-LE"),
        (gzip.compress(b"x,y\n1,2\n"), "in.csv is not a text file: .* the ending .gz"),
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
    refused("delimiter=',,' cannot part cells", read_file, path, delimiter=",,")
    refused("delimiter='\"' cannot part cells", read_file, path, delimiter='"')
    refused("delimiter='§' cannot part cells", read_file, path, delimiter="§")
    refused("decimal=';' is not a decimal mark", read_file, path, decimal=";")
    refused("one column only with the delimiter ';', but more with ','.*--delimiter ','",
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


# Columns


def test_names_are_found_without_the_spaces_around_them():
    file = read_file(put('"a, b", c ,d\n1,2,3\n'))
    assert file.resolve(["c", " a, b "]) == [" c ", "a, b"]
    assert file.resolve(None) == ["a, b", " c ", "d"]
    refused("column 'z' is not in in.csv, which has: a, b, c, d$", file.resolve, ["z"])
    refused("column 'c' is chosen twice", file.resolve, ["c", "c "])
    many = read_file(put(",".join(f'"c\n{j}"' for j in range(50)) + "\n" + "," * 49))
    refused("has: c 0, c 1, .*, c 39 and 10 more$", many.resolve, ["z"])
    one = read_file(put("a:b\n1:2\n"))
    refused("which has: a:b; if that is more than one, give --delimiter", one.resolve, ["a"])


def test_a_header_of_numbers():
    file = read_file(put("1,2.5\n3,4\n5,6\n"))
    refused("first line of in.csv holds only numbers", file.resolve, None)
    assert file.resolve(["1"]) == ["1"]
    assert read_file(put("NA,x\n3,4\n")).resolve(None) == ["NA", "x"]


# Numbers


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", "+3", "007"], pa.int64(), [1, -2, 3, 7]),
        (["9223372036854775807", "NA"], pa.int64(), [2**63 - 1, None]),
        (["9223372036854775808", "1"], pa.float64(), [2.0**63, 1.0]),
        (["1.5", "2"], pa.float64(), [1.5, 2.0]),
        (["1.", ".5", "+.25", "-1e3", "1E+2"], pa.float64(), [1.0, 0.5, 0.25, -1000.0, 100.0]),
        (["", "NA", "n/a", "NaN", "NULL", " nan ", "4"], pa.int64(), [None] * 6 + [4]),
        ([" 1 ", "2\t", "\u00a03"], pa.int64(), [1, 2, 3]),
        (["", "NA"], pa.float64(), [None, None]),
        (["5e-324", "1e-999"], pa.float64(), [5e-324, 0.0]),
    ],
)
def test_numbers(cells, kind, values):
    text = "x;y\n" + "".join(f'"{cell}";a\n' for cell in cells)
    column = read_file(put(text)).with_numbers(["x"])["x"]
    assert column.type == kind
    assert column.to_pylist() == values


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(), min_size=1))
def test_numbers_are_those_of_python(values):
    texts = [repr(value) for value in values]
    column = read_file(put("x,y\n" + "".join(f"{text},\n" for text in texts))).with_numbers(["x"])
    assert [float(value) for value in column["x"].to_pylist()] == [float(text) for text in texts]


def test_decimal_commas():
    file = read_file(put("x;y;z\n1,5;-,25;3\n2;NA;4\n"), decimal=",")
    table = file.with_numbers(["x", "y", "z"])
    assert table["x"].to_pylist() == [1.5, 2.0]
    assert table["y"].to_pylist() == [-0.25, None]
    assert table["z"].to_pylist() == [3, 4]
    new = file.replaced(pa.table({"x": [1.75, 1.75], "y": [1e-7, None]}), ["x", "y"])
    write_file(new, Path("out.csv"), Path("out.csv"))
    assert Path("out.csv").read_text() == "x;y;z\n1,75;1e-07;3\n1,75;NA;4\n"
    assert verify(Path("out.csv"), Path("out.csv"), new, [["x"]], 2) == 2


def test_decimal_commas_between_commas():
    file = read_file(put('x,y\n"1,5",a\n"2,5",b\n'), decimal=",")
    write_file(file.replaced(pa.table({"x": [2.0, 2.0]}), ["x"]), Path("out.csv"), Path("out.csv"))
    assert Path("out.csv").read_text() == 'x,y\n"2,0",a\n"2,0",b\n'


@pytest.mark.parametrize(
    ("cell", "decimal", "advice"),
    [
        ("abc", ".", "correct them, or choose --columns x$"),
        ("0x10", ".", "correct them"),
        ("1_000", ".", "take out the marks that part thousands$"),
        ("1,5", ".", "if , is the decimal mark, give --decimal ,$"),
        ("-0,25", ".", "if , is the decimal mark, give --decimal ,$"),
        ("1,234", ".", "if its mark parts thousands, take it out"),
        ("1,234.5", ".", "take out the marks that part thousands$"),
        ("1,234,567", ".", "take out the marks that part thousands$"),
        ("1 234", ".", "take out the marks that part thousands$"),
        ("12'345'678", ".", "take out the marks that part thousands$"),
        ("1.234.567", ".", "thousands; the decimal mark seems to be ,"),
        ("1.234,5", ".", "thousands; the decimal mark seems to be ,"),
        ("1.5", ",", r"if \. is the decimal mark, give --decimal \.$"),
        ("1.234.567,8", ",", "take out the marks that part thousands$"),
        ("1e", ".", "correct them"),
        ("--1", ".", "correct them"),
        ("+-1", ".", "correct them"),
        ("\u0663", ".", "correct them"),
        ("true", ".", "correct them"),
    ],
)
def test_cells_that_are_no_numbers(cell, decimal, advice):
    file = read_file(put(f'x;y\n1;2\n3;NA\n4;"{cell}"\n5;6\n'), decimal=decimal)
    message = "column 'y' of in.csv is not numeric: 1 of 4 values are not numbers, the first "
    refused(
        f"{re.escape(message)}{re.escape(repr(cell))} on line 4: .*{advice}",
        file.with_numbers, ["x", "y"],
    )  # fmt: skip
    assert file.numeric_columns() == ["x"]


def test_infinite_numbers_are_refused():
    file = read_file(put("x,y\n1,-inf\n1e999,2\n3,Infinity\n4,1\n"))
    refused(
        r"3 values of in.csv are infinite or too large, in column x \(1, the first on line 3\), "
        r"y \(2, the first on line 2\): correct them",
        file.with_numbers, ["x", "y"],
    )  # fmt: skip
    assert file.numeric_columns() == []


def test_lines_of_records_in_cells_of_several_lines():
    file = read_file(put('note,x\n"a\nb",1\nc,bad\n"d\r\n\r\n",2\ne,3\n'))
    assert file.places([3, 0, 1]) == ["line 8", "line 2", "line 4"]
    refused("'bad' on line 4", file.with_numbers, ["x"])
    assert read_file(put("x,y\n1,2\n3,4\n", "plain.csv")).places([1]) == ["line 3"]
    marks = {"note": np.array([False, True, True, False]), "x": np.zeros(4, bool)}
    assert file.where(marks) == "note (2, the first on line 4)"
    many = {f"c{j}": np.array([True]) for j in range(7)}
    assert file.where(many).endswith("c4 (1, the first on line 2) and 2 more columns")
    put('"a', "in.csv")  # such as a pipe, which can be read only once
    assert file.places([1]) == ["record 2"]


def test_numbers_of_typed_files():
    table = pa.table(
        {
            "i": pa.array([1, None], pa.int8()),
            "f": pa.array([1.5, math.nan], pa.float32()),
            "h": pa.array(np.array([1.5, np.nan], np.float16)),
            "d": pa.array([1, 2], pa.decimal128(5, 2)),
            "b": [True, False],
            "s": ["1", "2"],
            "e": pa.array([None, None], pa.float64()),
        }
    )
    pq.write_table(table, "in.parquet")
    file = read_file(Path("in.parquet"))
    numbers = file.with_numbers(["i", "f", "h", "d", "e"])
    single = [pa.float32() if kind == pa.float16() else kind for kind in table.schema.types]
    assert numbers.schema.types == single
    for name in ("i", "f", "h"):
        assert numbers[name].null_count == 1
    assert file.numeric_columns() == ["i", "f", "h", "d"]
    refused("column 's' of in.parquet is not numeric but string: choose --columns i,f,h,d",
            file.with_numbers, ["s"])  # fmt: skip
    refused("column 'b' of in.parquet is not numeric but bool", file.with_numbers, ["i", "b"])
    coded = DataFile(file.path, pa.table({"c": pa.array([1, 2]).dictionary_encode()}), None)
    refused("'c' of in.parquet is not numeric but dict.*: no column is", coded.with_numbers, ["c"])
    pq.write_table(pa.table({"x": [1.0, math.inf]}), "in.parquet")
    refused(r"1 value of in.parquet is infinite .* x \(1, the first on record 2\)",
            read_file(Path("in.parquet")).with_numbers, ["x"])  # fmt: skip


# Writing


def test_nothing_else_is_altered():
    cells = ["=1+1", "+1", "-1", "@a", "007", "1.50", "12345678901234567890", "NA", " a ", "1e5",
             'q"q', "a,b", "c\nd", "e\rf", "g\r\nh", "", "é\u2028\u0085", "'x"]  # fmt: skip
    before = [["id", " x ", "note"], *([str(i), str(i), cell] for i, cell in enumerate(cells))]
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\r\n").writerows(before)
    file = read_file(put(stream.getvalue()))
    assert rows_of(file) == before
    new = file.replaced(pa.table({" x ": np.full(len(cells), 1 / 3)}), [" x "])
    write_file(new, Path("t"), Path("out.csv"))
    after = python_rows(Path("t").read_bytes().decode())
    assert after == [before[0], *([one, "0.3333333333333333", note] for one, _, note in before[1:])]
    assert verify(Path("t"), Path("out.csv"), new, [[" x "]], 3) == len(cells)


def test_numbers_are_written_in_the_fewest_digits():
    values = [15.0, 0.1, 1e22, -0.0, 0.0, 1e-7, 123456789.123, 5e-324, None, 1 / 3]
    file = read_file(put("x,i,f,y\n" + "NA,1,2,a\n" * len(values)))
    protected = pa.table(
        {
            "x": pa.array(values),
            "i": pa.array([7] * 9 + [None]),
            "f": pa.array([0.1] * 10, pa.float32()),
        }
    )
    write_file(file.replaced(protected, ["x", "i", "f"]), Path("t"), Path("t.csv"))
    rows = python_rows(Path("t").read_text())[1:]
    assert [row[0] for row in rows] == ["NA" if v is None else repr(v) for v in values]
    assert [row[1] for row in rows] == ["7"] * 9 + ["1"]  # where it was said to be missing
    assert {row[2] for row in rows} == {"0.1"}


def test_missing_values_keep_their_text_and_get_one_spelling():
    file = read_file(put("x,y\n1,NA\nn/a,\n2,NA\nn/a,1\n"))
    numbers = file.with_numbers(["x", "y"])
    new = file.replaced(numbers, ["x", "y"])
    write_file(new, Path("t"), Path("t.csv"))
    # Records that are alike must not differ in how their missing values are written.
    assert Path("t").read_text() == "x,y\n1,NA\nn/a,NA\n2,NA\nn/a,1\n"
    assert verify(Path("t"), Path("t.csv"), new, [["x", "y"]], 1) == 1


def test_rows_left_out_columns_left_out_and_added():
    file = read_file(put("id,x,s,y\na,1,u,5\nb,NA,v,6\nc,3,w,7\nd,5,w,8\n"))
    protected = pa.table({"x": [2, None, 2], "s": ["uw", "uw", "uw"]})
    new = file.replaced(
        protected, ["x", "s"], np.array([True, True, True, False]), drop=["id"],
        added={"group": np.array([0, 1, 0])},
    )  # fmt: skip
    write_file(new, Path("t"), Path("t.csv"))
    assert Path("t").read_text() == "x,s,y,group\n2,uw,5,0\nNA,uw,6,1\n2,uw,7,0\n"
    assert verify(Path("t"), Path("t.csv"), new, [["s"]], 3) == 3
    refused("column 'y ' is in in.csv already: give another name",
            file.replaced, protected, [], added={"y ": [1, 2, 3, 4]})  # fmt: skip


def test_the_last_column_left_may_look_like_more():
    file = read_file(put("id;a,b\n1;2,5\n2;3,5\n"), delimiter=";")
    new = file.replaced(pa.table({}), [], drop=["id"])
    write_file(new, Path("t"), Path("t.csv"))
    assert Path("t").read_text() == "a,b\n2,5\n3,5\n"
    verify(Path("t"), Path("t.csv"), new, [], 1)


def test_csv_to_parquet_and_arrow():
    file = read_file(put("id,x,n\n007,1.5,1\n008,NA,2\n"))
    new = file.replaced(file.with_numbers(["x", "n"]), ["x", "n"])
    for name in ("out.parquet", "out.pq", "out.arrow", "out.feather", "out.ipc"):
        write_file(new, Path("t"), Path(name))
        table = (pq if name in ("out.parquet", "out.pq") else pyarrow.feather).read_table("t")
        assert table.to_pydict() == {"id": ["007", "008"], "x": [1.5, None], "n": [1, 2]}
        assert table.schema.types == [pa.string(), pa.float64(), pa.int64()]
        assert verify(Path("t"), Path(name), new, [["x"]], 1) == 1


def test_parquet_to_text():
    table = pa.table(
        {
            "s": ["a,b", None],
            "i": pa.array([1, None], pa.uint8()),
            "f": pa.array([0.1, math.nan], pa.float32()),
            "b": [True, None],
            "t": pa.array([0, None], pa.timestamp("s")),
            "c": pa.array(["u", None]).dictionary_encode(),
            "d": pa.array([1, None], pa.decimal128(5, 2)),
            "n": pa.nulls(2),
        }
    )
    pq.write_table(table, "in.parquet")
    file = read_file(Path("in.parquet"))
    midnight = "1970-01-01 00:00:00.000"
    for name, expected in (
        ("t.csv", f's,i,f,b,t,c,d,n\n"a,b",1,0.1,true,{midnight},u,1.00,\n,,nan,,,,,\n'),
        ("t.tsv", f"s\ti\tf\tb\tt\tc\td\tn\na,b\t1\t0.1\ttrue\t{midnight}\tu\t1.00\t\n"
                  "\t\tnan\t\t\t\t\t\n"),
    ):  # fmt: skip
        write_file(file, Path("t"), Path(name))
        assert Path("t").read_text() == expected
        verify(Path("t"), Path(name), file, [["s"]], 1)
    pq.write_table(pa.table({"l": [[1, 2]]}), "in.parquet")
    refused("column 'l' cannot be written as CSV, being list", write_file,
            read_file(Path("in.parquet")), Path("t"), Path("t.csv"))  # fmt: skip


@pytest.mark.parametrize("name", ["out.parquet", "out.arrow"])
def test_types_and_metadata_survive(name):
    schema = pa.schema(
        [
            pa.field("f", pa.float32(), metadata={"unit": "EUR"}),
            pa.field("s", pa.large_string(), nullable=False),
            pa.field("c", pa.dictionary(pa.int32(), pa.string())),
            pa.field("t", pa.timestamp("us", "Europe/Vienna")),
            pa.field("l", pa.list_(pa.float64())),
            pa.field("n", pa.float64()),
            pa.field("h", pa.float16()),
        ],
        metadata={"source": "register"},
    )
    rows = {"f": [1.5, None], "s": ["a", "b"], "c": ["u", None], "t": [0, None],
            "l": [[math.nan, 1.0], None], "n": [math.nan, None],
            "h": np.array([math.nan, 0.1], np.float16)}  # fmt: skip
    table = pa.table({k: pa.array(v, schema.field(k).type) for k, v in rows.items()}, schema=schema)
    write_file(DataFile(Path(), table, None), Path(name), Path(name))
    file = read_file(Path(name))
    new = file.replaced(pa.table({"f": pa.array([2.5, None], pa.float64())}), ["f"])
    write_file(new, Path("t"), Path(name))
    assert verify(Path("t"), Path(name), new, [["f"], ["n"]], 1) == 1
    again = pq.read_table("t") if name == "out.parquet" else pyarrow.feather.read_table("t")
    assert again.schema.metadata == {b"source": b"register"}
    assert again.schema.field("f").metadata[b"unit"] == b"EUR"
    assert again.schema.field("s").nullable is False
    assert again.schema.types == [pa.float64(), *schema.types[1:]]
    assert repr(again.drop_columns(["f"]).to_pydict()) == repr(
        table.drop_columns(["f"]).to_pydict()
    )


def test_pandas_gets_its_index_and_types_back():
    frame = pd.DataFrame(
        {
            "x": pd.array([1, 2, None], "Int64"),
            "g": pd.Categorical(["a", "b", "a"]),
            "y": [1, 2, 3],
        },
        index=pd.Index(["p", "q", "r"], name="key"),
    )
    frame.to_parquet("in.parquet")
    file = read_file(Path("in.parquet"))
    protected = pa.table({"x": [1.5, 1.5, None], "g": ["a", "a", "a"]})
    new = file.replaced(protected, ["x", "g"], drop=["y"])
    write_file(new, Path("out.parquet"), Path("out.parquet"))
    back = pd.read_parquet("out.parquet")
    assert list(back.index) == ["p", "q", "r"]
    assert back.index.name == "key"
    assert back["x"].tolist()[:2] == [1.5, 1.5]
    assert back["g"].tolist() == ["a", "a", "a"]
    without = file.replaced(protected, [], drop=["key", "x", "g"])
    write_file(without, Path("out.parquet"), Path("out.parquet"))
    assert pd.read_parquet("out.parquet").to_dict("list") == {"y": [1, 2, 3]}
    notes = json.loads(pq.read_schema("out.parquet").metadata[b"pandas"])
    assert [one["name"] for one in notes["columns"]] == ["y"]


def test_arrow_streams_are_read():
    table = pa.table({"x": [1, 2]})
    with pa.ipc.new_stream("in.arrow", table.schema) as writer:
        writer.write_table(table)
    assert read_file(Path("in.arrow")).table.equals(table)


@pytest.mark.parametrize(
    "name", ["out.csv", "out.csv.gz", "out.csv.zst", "out.parquet", "out.arrow"]
)
def test_full_disk(name):
    code = f"""
import resource
from pathlib import Path
import numpy as np, pyarrow as pa
from microagg_gpu import textfiles
from microagg_gpu.errors import InputError
from microagg_gpu.files import DataFile, whole_file, write_file
table = pa.table({{"x": np.random.default_rng(0).random(20_000)}})
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
try:
    with whole_file(Path({name!r})) as temporary:
        write_file(DataFile(Path("in.parquet"), table, None), temporary, Path({name!r}))
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{name} cannot be written: File too large\n", "")
    assert list(Path().iterdir()) == []


def test_an_added_name_that_the_encoding_lacks():
    file = read_file(put("x,y\n\xe9,1\n".encode("latin-1")), encoding="latin-1")
    new = file.replaced(pa.table({}), [], added={"\u20ac": [1]})
    refused("out.csv cannot be written as CSV: .*can't encode", write_file, new, Path("t"),
            Path("out.csv"))  # fmt: skip


# Checking what was written


def test_verify_finds_what_is_wrong():
    file = read_file(put("id,x\na,1\nb,2\nc,3\nd,4\n"))
    new = file.replaced(pa.table({"x": [1.5, 1.5, 3.5, 3.5]}), ["x"])
    target = Path("out.csv")
    write_file(new, target, target)
    assert verify(target, target, new, [["x"]], 2) == 2
    with pytest.raises(
        RuntimeError, match="internal error: 2 records are alike in the file, not k=3"
    ):
        verify(target, target, new, [["x"]], 3)
    with pytest.raises(RuntimeError, match="internal error: 1 records are alike"):
        verify(target, target, new, [["x"], ["id"]], 2)
    for text in (
        "id,x\na,1.5\nb,1.5\nc,3.5\ne,3.5\n",  # another cell
        "id,x\na,1.5\nb,1.5\nc,3.5\nd,3.6\n",
        "id,x\na,1.5\nb,1.5\nc,3.5\nd,\n",
        "id,x\na,1.5\nb,1.5\nc,3.5\nd,z\n",
        "id,x\na,1.5\nb,1.5\nc,3.5\n",
        "id,z\na,1.5\nb,1.5\nc,3.5\nd,3.5\n",
        "id,x\na,1.5\nb,1.5\nc,3.5\nd\n",
        "",
    ):
        target.write_text(text)
        with pytest.raises(RuntimeError, match="internal error"):
            verify(target, target, new, [["x"]], 2)


def test_verify_finds_another_spelling_of_missing():
    file = read_file(put("x,y\nNA,1\nNA,2\n"))
    new = file.replaced(file.with_numbers(["x"]), ["x"])
    with pytest.raises(RuntimeError, match="differs"):
        verify(put("x,y\nNA,1\n,2\n", "out.csv"), Path("out.csv"), new, [], 1)


def test_group_sizes_by_hand():
    table = pa.table({"count": ["a", "b", "a", "a", "NA", ""], "x": [1.0, 2.0, 1.0, 3.0, 2.0, 2.0]})
    groups = group_sizes(table, ["count", "x"])
    assert groups.column_names == ["count", "x", "count_"]
    assert list(zip(*groups.to_pydict().values(), strict=True)) == [
        ("b", 2.0, 1), ("a", 3.0, 1), ("NA", 2.0, 1), ("", 2.0, 1), ("a", 1.0, 2),
    ]  # fmt: skip
    odd = pa.table({"x": pa.chunked_array([[0.0, math.nan, None], [-0.0, math.nan, 5.0]])})
    assert sorted(group_sizes(odd, ["x"])["count"].to_pylist()) == [1, 2, 3]
    words = pa.chunked_array([pa.array(c).dictionary_encode() for c in (["a", "b"], ["b", None])])
    assert sorted(group_sizes(pa.table({"w": words}), ["w"])["count"].to_pylist()) == [1, 1, 2]
    refused("column 'l' cannot be counted", group_sizes, pa.table({"l": [[1]]}), ["l"])


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_group_sizes_of_many_columns(seed, width):
    """The codes of many columns of many values do not fit in 64 bits."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 50, (60, width))[rng.integers(0, 60, 200)]
    table = pa.table({f"c{j}": values[:, j] for j in range(width)})
    groups = group_sizes(table, table.column_names)
    found = {tuple(row.values())[:-1]: row["count"] for row in groups.to_pylist()}
    assert found == Counter(map(tuple, values.tolist()))
    assert groups["count"].to_pylist() == sorted(found.values())


# Everything at once

NASTY = st.text(
    st.sampled_from(list('ab0179 .,;|\t"\'\r\n=+-@éß\u00a0')) | st.characters(max_codepoint=255,
    exclude_characters="\0", exclude_categories=["Cs"]), max_size=6,
)  # fmt: skip


@st.composite
def nasty_files(draw):
    """A CSV file whose first column holds numbers, as text, and how to read it."""
    delimiter = draw(st.sampled_from(",;\t|: "))
    newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    ending = draw(st.sampled_from(["", ".gz", ".bz2", ".zst", ".lz4"]))
    width = draw(st.integers(0, 3))
    names = draw(st.lists(NASTY, min_size=width, max_size=width, unique_by=str.strip))
    names = ["x", *(name if name.strip() != "x" else "y" for name in names)]
    number = st.sampled_from(["1", " 2 ", "-3.5", "4e2", "", "NA"])
    rows = draw(st.lists(st.tuples(number, *[NASTY] * width), min_size=1, max_size=8))
    always = draw(st.booleans())

    def cell(text):
        special = any(c in text for c in f'{delimiter}"\r\n') or (not width and not text)
        return '"' + text.replace('"', '""') + '"' if special or always else text

    lines = [delimiter.join(map(cell, row)) for row in (names, *rows)]
    text = newline.join(lines) + draw(st.sampled_from(["", newline, newline * 2]))
    return text, delimiter, newline, encoding, ending


@given(nasty_files(), st.randoms(use_true_random=False))
@example(('x;"a\r\n"\n1;"\n\n"\n2;\n', ";", "\n", "utf-8", ""), None)
def test_protecting_a_column_changes_nothing_else(drawn, random):
    text, delimiter, newline, encoding, ending = drawn
    data = text.encode(encoding)
    path = put(compressed(data, ending) if ending else data, f"in.csv{ending}")
    file = read_file(
        path, delimiter=delimiter, encoding="latin-1" if encoding == "latin-1" else None
    )
    before = [row for row in python_rows(text, delimiter) if row]
    assert rows_of(file) == before
    kept = np.array([random is None or random.random() < 0.8 for _ in before[1:]])
    kept[0] = True
    gaps = [row[0] in ("", "NA") for row, keep in zip(before[1:], kept, strict=True) if keep]
    values = pa.array([0.1 + 0.2] * len(gaps), mask=np.array(gaps))
    new = file.replaced(pa.table({"x": values}), ["x"], kept)
    target = Path(f"out.csv{ending}")
    write_file(new, target, target)
    assert verify(target, target, new, [["x"]], 1) >= 1
    written = target.read_bytes()
    after = (decompressed(written, ending) if ending else written).decode(encoding)
    assert after.endswith(newline)
    rows = python_rows(after, delimiter)
    remaining = [row for row, keep in zip(before[1:], kept, strict=True) if keep]
    assert [row[1:] for row in rows] == [before[0][1:], *(row[1:] for row in remaining)]
    spellings = {row[0] for row, gap in zip(remaining, gaps, strict=True) if gap}
    cells = [row[0] for row in rows[1:]]
    assert {cell for cell, gap in zip(cells, gaps, strict=True) if not gap} <= {repr(0.1 + 0.2)}
    gone = {cell for cell, gap in zip(cells, gaps, strict=True) if gap}
    assert len(gone) <= 1
    assert gone <= spellings
