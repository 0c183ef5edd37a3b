"""Data files: columns by name, and the numbers that cells stand for."""

import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.data_files import (
    put,
    refused,
)
from microagg_gpu.files.data_file import DataFile, read_file, write_file
from microagg_gpu.files.verifying import verify

# Columns


def test_names_are_found_without_the_spaces_around_them():
    file = read_file(put('"a, b", c ,d\n1,2,3\n'))
    assert file.resolve(["c", " a, b "]) == [" c ", "a, b"]
    assert file.resolve(None) == ["a, b", " c ", "d"]
    refused("column 'z' is not in in.csv, which has: a, b, c, d$", file.resolve, ["z"])
    refused("column 'c' is chosen twice", file.resolve, ["c", "c "])
    many = read_file(put(",".join(f'"c\n{j}"' for j in range(50)) + "\n" + "," * 49))
    refused("has: c 0, c 1, c 2, c 3, c 4 and 45 more$", many.resolve, ["z"])
    one = read_file(put("a:b\n1:2\n"))
    refused("which has: a:b; if that is more than one, give delimiter=", one.resolve, ["a"])


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
        (["9223372036854775808", "1"], pa.uint64(), [2**63, 1]),
        (["9223372036854775808", "-1"], pa.float64(), [2.0**63, -1.0]),
        (["18446744073709551616", "1"], pa.float64(), [2.0**64, 1.0]),
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
    assert verify(Path("out.csv"), Path("out.csv"), new, [["x"]], 2).smallest_named == 2


def test_decimal_commas_between_commas():
    file = read_file(put('x,y\n"1,5",a\n"2,5",b\n'), decimal=",")
    write_file(file.replaced(pa.table({"x": [2.0, 2.0]}), ["x"]), Path("out.csv"), Path("out.csv"))
    assert Path("out.csv").read_text() == 'x,y\n"2,0",a\n"2,0",b\n'


@pytest.mark.parametrize(
    ("cell", "decimal", "advice"),
    [
        ("abc", ".", "correct them, or do not protect this column$"),
        ("0x10", ".", "correct them"),
        ("1_000", ".", "take out the marks that part thousands$"),
        ("1,5", ".", "if , is the decimal mark, give decimal=','$"),
        ("-0,25", ".", "if , is the decimal mark, give decimal=','$"),
        ("1,234", ".", "if its mark parts thousands, take it out"),
        ("1,234.5", ".", "take out the marks that part thousands$"),
        ("1,234,567", ".", "take out the marks that part thousands$"),
        ("1 234", ".", "take out the marks that part thousands$"),
        ("12'345'678", ".", "take out the marks that part thousands$"),
        ("1.234.567", ".", "thousands; the decimal mark seems to be ,"),
        ("1.234,5", ".", "thousands; the decimal mark seems to be ,"),
        ("1.5", ",", r"if \. is the decimal mark, give decimal='\.'$"),
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
    refused("column 's' of in.parquet is not numeric but string: use it for strata",
            file.with_numbers, ["s"])  # fmt: skip
    refused("column 'b' of in.parquet is not numeric but bool", file.with_numbers, ["i", "b"])
    coded = DataFile(file.path, pa.table({"c": pa.array([1, 2]).dictionary_encode()}), None)
    refused("'c' of in.parquet is not numeric but dict", coded.with_numbers, ["c"])
    pq.write_table(pa.table({"x": [1.0, math.inf]}), "in.parquet")
    refused(r"1 value of in.parquet is infinite .* x \(1, the first on record 2\)",
            read_file(Path("in.parquet")).with_numbers, ["x"])  # fmt: skip
