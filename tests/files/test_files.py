"""Data files: what is written, and that nothing else is altered."""

import csv
import io
import json
import math
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

from helpers.data_files import (
    compressed,
    decompressed,
    put,
    python_rows,
    refused,
    rows_of,
)
from microagg_gpu.files.counting import group_codes
from microagg_gpu.files.data_file import DataFile, group_sizes, read_file, write_file
from microagg_gpu.files.verifying import verify

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
    assert verify(Path("t"), Path("out.csv"), new, [[" x "]], 3).smallest_named == len(cells)


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
    # Records with equal values must not differ in how their missing values are written.
    assert Path("t").read_text() == "x,y\n1,NA\nn/a,NA\n2,NA\nn/a,1\n"
    assert verify(Path("t"), Path("t.csv"), new, [["x", "y"]], 1).smallest_named == 1


def test_rows_left_out_columns_left_out_and_added():
    file = read_file(put("id,x,s,y\na,1,u,5\nb,NA,v,6\nc,3,w,7\nd,5,w,8\n"))
    protected = pa.table({"x": [2, None, 2], "s": ["uw", "uw", "uw"]})
    new = file.replaced(
        protected, ["x", "s"], np.array([True, True, True, False]), drop=["id"],
        added={"group": np.array([0, 1, 0])},
    )  # fmt: skip
    write_file(new, Path("t"), Path("t.csv"))
    assert Path("t").read_text() == "x,s,y,group\n2,uw,5,0\nNA,uw,6,1\n2,uw,7,0\n"
    assert verify(Path("t"), Path("t.csv"), new, [["s"]], 3).smallest_named == 3
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
        assert verify(Path("t"), Path(name), new, [["x"]], 1).smallest_named == 1


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
    refused("column 'l' holds list", write_file,
            read_file(Path("in.parquet")), Path("t"), Path("t.csv"))  # fmt: skip


@pytest.mark.parametrize("other", [" ", "tab\there"])
def test_a_name_that_begins_like_a_byte_order_mark(other):
    pq.write_table(pa.table({"\ufeff": ["\ufeffa"], other: ["b"]}), "in.parquet")
    file = read_file(Path("in.parquet"))
    write_file(file, Path("t"), Path("t.csv"))
    assert Path("t").read_text("utf-8-sig") == f'"\ufeff",{other}\n"\ufeffa",b\n'
    verify(Path("t"), Path("t.csv"), file, [[other]], 1)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", ["out.parquet", "out.arrow"])
def test_types_survive_and_on_request_metadata(name, keep):
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
    new = file.replaced(
        pa.table({"f": pa.array([2.5, None], pa.float64())}), ["f"], keep_metadata=keep
    )
    write_file(new, Path("t"), Path(name))
    assert verify(Path("t"), Path(name), new, [["f"], ["n"]], 1).smallest_named == 1
    again = pq.read_table("t") if name == "out.parquet" else pyarrow.feather.read_table("t")
    assert (again.schema.metadata or {}) == ({b"source": b"register"} if keep else {})
    assert (b"unit" in (again.schema.field("f").metadata or {})) == keep
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
from microagg_gpu.errors import InputError
from microagg_gpu.files.data_file import DataFile, write_file
from microagg_gpu.files.atomic import whole_file
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
    assert verify(target, target, new, [["x"]], 2).smallest_named == 2
    with pytest.raises(RuntimeError, match="internal error: 4 records are in groups below k=3"):
        verify(target, target, new, [["x"]], 3)
    with pytest.raises(RuntimeError, match="internal error: 4 records are in groups below k=2"):
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
    nested = pa.table({"l": [[1], [1, 2], [1], None]})
    assert group_codes(nested, ["l"]).tolist() == [0, 1, 0, 2]


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
    assert verify(target, target, new, [["x"]], 1).smallest_named >= 1
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


@pytest.mark.parametrize("place", ["name", "cell"])
def test_no_csv_file_holds_the_character_nul(tmp_path, place):
    """It could not be read again."""
    names = ["x", "a\0b" if place == "name" else "a"]
    cells = ["p", "q\0" if place == "cell" else "q"] * 3
    file = DataFile(Path("in.parquet"), pa.table([range(6), cells], names=names), None)
    refused("column 2 holds the character NUL, which no CSV file can hold", write_file, file,
            tmp_path / "t", Path("out.csv"))  # fmt: skip
