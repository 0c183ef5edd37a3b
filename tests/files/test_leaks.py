"""Nothing of the originals stays where nobody looks: dictionaries, metadata, values behind nulls.

Every test writes what was published, in all formats that its kind of table can be written in, and
searches the bytes.
"""

import io
import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from helpers.command import run
from helpers.traces import CHOICES, NUMBER, SECRET, N, survey, traces, uncompressed
from microagg_gpu import microaggregate
from microagg_gpu.files.compact import compact_column, compact_polars, unused_categories
from microagg_gpu.files.data_file import DataFile, write_file
from microagg_gpu.files.verifying import verify

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def hidden_numbers():
    """A column of Arrow in which each third number is null, and is still there."""
    numbers = pa.array(np.where(np.arange(N) % 3 == 0, NUMBER, np.arange(N)))
    mask = pa.array(np.arange(N) % 3 != 0).buffers()[1]
    return pa.Array.from_buffers(pa.float64(), N, [mask, numbers.buffers()[1]])


def arrow_table():
    columns = survey()
    kinds = {"region": pa.dictionary(pa.int8(), pa.string()),
             "level": pa.dictionary(pa.uint32(), pa.large_string(), ordered=False)}  # fmt: skip
    table = pa.table({c: pa.array(v).cast(kinds[c]) if c in kinds else v
                      for c, v in columns.items()})  # fmt: skip
    table = table.append_column("hidden", hidden_numbers())
    tags = pa.array([[name] for name in columns["name"]], pa.list_(kinds["region"]))
    table = table.append_column(pa.field("tags", tags.type, metadata={"note": SECRET}), tags)
    return table.replace_schema_metadata({"author": SECRET, "pandas": pandas_notes()})


def pandas_notes():
    """Notes as pandas writes them, with attributes of the frame."""
    frame = pd.DataFrame(survey())
    frame.attrs["source"] = SECRET
    notes = json.loads(pa.Table.from_pandas(frame).schema.metadata[b"pandas"])
    return json.dumps(notes | {"attributes": {"source": SECRET}})


OPTIONS = ["-k", 3, "--columns", "turnover,staff", "--by", "region", "--small-strata", "suppress"]


# The command


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv", "out.csv.zst"])
@pytest.mark.parametrize("source", ["in.parquet", "in.arrow", "in.csv"])
def test_files_hold_nothing_of_a_suppressed_record(source, target):
    table = arrow_table()
    if source == "in.parquet":
        pq.write_table(table, source)
    elif source == "in.arrow":
        pyarrow.feather.write_feather(table, source, compression="uncompressed")
    else:
        pa.csv.write_csv(table.drop_columns(["tags"]), source)
    assert traces(Path(source).read_bytes())
    drop = ["--drop", "name" if source == "in.csv" or ".csv" not in target else "name,tags"]
    done = run("protect", source, *OPTIONS, *drop, "-o", target, "--json", "out.json")
    assert done.exit_code == 0, done.output
    data = Path(target).read_bytes()
    if target.endswith(".zst"):
        data = pa.CompressedInputStream(pa.OSFile(target), "zstd").read()
    if target.endswith((".parquet", ".arrow")):
        data += uncompressed(target)
    assert traces(data) == []
    assert sorted(path.name for path in Path().iterdir()) == sorted([source, target, "out.json"])


def test_the_report_names_nobody():
    pq.write_table(arrow_table(), "in.parquet")
    done = run("protect", "in.parquet", *OPTIONS, "--drop", "name,tags", "-o", "out.parquet",
               "--report", "out.html", "--report-strata", "--json", "out.json",
               "--note", "note.html")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert SECRET not in done.output
    for name in ("out.html", "out.json", "note.html"):
        assert traces(Path(name).read_bytes()) == []


def test_the_note_holds_no_value_of_a_record():
    """Nor does it name files, or a stratum."""
    table = arrow_table()
    pq.write_table(table, "in.parquet")
    done = run("protect", "in.parquet", *OPTIONS, "--drop", "name,tags", "-o", "out.parquet",
               "--note", "note.html")  # fmt: skip
    assert done.exit_code == 0, done.output
    text = Path("note.html").read_text(encoding="utf-8")
    body = text[text.index("<body>") :]
    amounts = pq.read_table("out.parquet")["turnover"].to_pylist() + table["turnover"].to_pylist()
    for value in amounts:
        for digits in (4, 5, 6, 17):
            assert f"{value:.{digits}g}" not in body
            assert f"{value:,.{digits}g}" not in body
    for word in ("in.parquet", "out.parquet", "note.html", "north", "south", str(Path.cwd())):
        assert word not in body
    assert "fewer than 10 records of too small strata" in body  # it is one


@pytest.mark.parametrize("target", ["out.parquet", "out.arrow", "out.csv"])
def test_temporary_files_hold_nothing_more(monkeypatch, target):
    pq.write_table(arrow_table(), "in.parquet")
    seen = []

    def look(*given):
        for path in Path().glob(".*"):
            seen.append(traces(path.read_bytes()))
        return verify(*given)

    monkeypatch.setattr("microagg_gpu.tasks.protect.verify", look)
    done = run("protect", "in.parquet", *OPTIONS, "--drop", "name,tags", "-o", target)
    assert done.exit_code == 0, done.output
    assert seen == [[]]


@pytest.mark.parametrize("target", ["out.csv.gz", "out.csv.bz2", "out.parquet", "out.arrow"])
def test_the_same_request_writes_the_same_bytes(target):
    """Neither the time nor a temporary name is in the file."""
    pq.write_table(arrow_table(), "in.parquet")
    request = ["protect", "in.parquet", *OPTIONS, "--drop", "name,tags", "--force", "-o", target]
    written = set()
    for _ in range(2):
        assert run(*request).exit_code == 0
        written.add(Path(target).read_bytes())
    assert len(written) == 1
    assert b"microagg-tmp" not in written.pop()


def test_what_is_kept_of_metadata():
    """The columns, their types, and which of them are the index of pandas."""
    frame = (
        pd.DataFrame(survey())
        .set_index("name")
        .assign(when=pd.date_range("2026-01-01", periods=N, tz="Europe/Vienna"))
    )
    frame.attrs["source"] = SECRET
    frame.to_parquet("in.parquet")
    done = run("protect", "in.parquet", "-k", 3, "--columns", "turnover,staff", "-o", "out.parquet")
    assert done.exit_code == 0, done.output
    after = pd.read_parquet("out.parquet")
    assert after.attrs == {}
    assert after.index.equals(frame.index)
    assert list(after.columns) == list(frame.columns)
    pd.testing.assert_series_equal(after["when"], frame["when"])
    assert run("protect", "in.parquet", "-k", 3, "--columns", "turnover,staff", "-o",
               "kept.parquet", "--keep-metadata").exit_code == 0  # fmt: skip
    assert pd.read_parquet("kept.parquet").attrs == {"source": SECRET}


def test_a_written_file_with_unused_categories_is_refused():
    column = (
        pa.array(["a", SECRET, "b", "a"])
        .dictionary_encode()
        .filter(pa.array([True, False, True, True]))
    )
    assert unused_categories(pa.chunked_array([column])) == 1
    for name in ("out.parquet", "out.arrow"):
        file = DataFile(Path(name), pa.table({"c": column}), None)
        write_file(file, Path(name), Path(name))
        with pytest.raises(RuntimeError, match="1 categories of column 'c' are in the file"):
            verify(Path(name), Path(name), file, [], 1)


# Tables in Python


def pandas_formats(frame):
    yield pickle.dumps(frame)
    for name in ("to_parquet", "to_feather"):
        sink = io.BytesIO()
        getattr(frame if name == "to_parquet" else frame.reset_index(), name)(
            sink, compression=None if name == "to_parquet" else "uncompressed"
        )
        yield sink.getvalue()


def masked():
    """A column of nullable integers and floats with numbers behind its missing values."""
    column = pd.array(np.where(np.arange(N) % 3 == 0, NUMBER, np.arange(N)), dtype="Float64")
    column[np.arange(N) % 3 == 0] = pd.NA
    return column


@pytest.mark.parametrize("index", [None, "name", ["name", "region"]], ids=str)
def test_pandas(index):
    frame = pd.DataFrame(survey()).astype({"region": "category", "level": "category"})
    frame["masked"] = masked()
    frame["arrow"] = pd.array(pa.chunked_array([hidden_numbers()]),
                              dtype=pd.ArrowDtype(pa.float64()))  # fmt: skip
    frame["coded"] = pd.array(arrow_table()["region"], dtype=pd.ArrowDtype(
        pa.dictionary(pa.int8(), pa.string())))  # fmt: skip
    frame.attrs["source"] = SECRET
    if index is not None:
        frame = frame.set_index(index, drop=False).rename_axis(
            index=[f"index of {c}" for c in ([index] if isinstance(index, str) else index)]
        )
    assert all(traces(data) for data in pandas_formats(frame.assign(masked=0.0)))
    result = microaggregate(frame, 3, **CHOICES).protected
    assert result.index.tolist() == frame.index[:-1].tolist()
    assert result.index.names == frame.index.names
    assert [str(t) for t in result.dtypes] == [
        "float64" if c == "staff" else str(t) for c, t in frame.dtypes.items()
    ]
    assert list(result["region"].cat.categories) == ["north", "south"]
    assert result["masked"].isna().tolist() == frame["masked"].isna().tolist()[:-1]
    for data in pandas_formats(result):
        assert traces(data) == []


def test_polars():
    frame = pl.DataFrame(survey()).with_columns(
        pl.col("region").cast(pl.Categorical),
        pl.col("region").cast(pl.Enum(["north", SECRET, "south"])).alias("enum"),
        pl.Series("hidden", pa.chunked_array([hidden_numbers()])),
        pl.col("name").map_elements(lambda name: [name], pl.List(pl.String)).alias("tags"),
    )
    result = microaggregate(frame, 3, **CHOICES).protected
    assert result["enum"].dtype == pl.Enum(["north", "south"])
    assert result.columns == frame.columns
    assert result["hidden"].null_count() == frame["hidden"][:-1].null_count()
    assert result["name"].to_list() == frame["name"].to_list()[:-1]
    assert result["tags"].to_list() == frame["tags"].to_list()[:-1]
    written = [pickle.dumps(result)]
    for name in ("write_ipc", "write_ipc_stream", "write_parquet"):
        sink = io.BytesIO()
        getattr(result, name)(sink, compression="uncompressed")
        written.append(sink.getvalue())
    assert [traces(data) for data in written] == [[]] * 4


@pytest.mark.parametrize("ordering", ["physical", "lexical"])
def test_categories_of_polars_keep_their_order_and_their_gaps(ordering):
    texts = pl.Series("c", ["z", SECRET, "m", "a", None, "z"])
    before = texts.cast(pl.Categorical(ordering))[[3, 2, 4, 0, 5]]
    after = compact_polars(before.to_frame())["c"]
    assert after.dtype == before.dtype
    assert after.to_list() == ["a", "m", None, "z", "z"]
    assert after.sort().to_list() == before.sort().to_list()
    assert traces(pickle.dumps(after)) == []
    empty = compact_polars(before[:0].to_frame())["c"]
    assert (empty.dtype, len(empty)) == (before.dtype, 0)
    assert traces(pickle.dumps(empty)) == []


def test_arrow():
    table = arrow_table().append_column("view", pa.array(survey()["name"]).cast(pa.string_view()))
    views = table.set_column(1, "region", table["region"].cast(pa.string()).cast(pa.string_view()))
    assert microaggregate(views, 3, **CHOICES).protected["region"].type == pa.string_view()
    result = microaggregate(table, 3, **CHOICES).protected
    assert result.schema.metadata is None
    assert (
        result.schema.types[:-1]
        == [pa.float64() if f.name == "staff" else f.type for f in table.schema][:-1]
    )
    assert result["view"].type == pa.string_view()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, result.schema) as writer:
        writer.write_table(result)
    assert traces(sink.getvalue().to_pybytes()) == []
    assert traces(pickle.dumps(result)) == []


# Columns


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None, 3], pa.int16()),
        pa.array(["a", None, "b"]).dictionary_encode(),
        pa.array([None, None], pa.dictionary(pa.int8(), pa.string())),
        pa.array([], pa.dictionary(pa.int8(), pa.string())),
        pa.array([["a", None], None, []], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        pa.array([{"x": 1, "y": "b"}, None, {"x": None, "y": "c"}]),
        pa.array([True, None, False]),
        pa.array([b"x", None], pa.binary_view()),
        pa.array([None, None]),
        pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array([b"0123456789abcdef", None], pa.uuid()) if hasattr(pa, "uuid") else pa.array([1]),
    ],
    ids=lambda column: str(column.type),
)
def test_compact_columns_show_the_same(column):
    column = pa.chunked_array([column, column.slice(1), column.slice(0, 0)], column.type)
    after = compact_column(column)
    assert after.type == column.type
    assert after.to_pylist() == column.to_pylist()
    after.validate(full=True)
    assert unused_categories(after) == 0


# Missing values have one form


def test_null_and_nan_of_one_group_become_one():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=12)
    gaps = [None, float("nan")] * 2 + [None, float("nan")]
    frame = pl.DataFrame({
        "a": numbers,
        "b": [*numbers[:6], *gaps],
        "by": pl.Series([1.0] * 6 + gaps, dtype=pl.Float64),
    })  # fmt: skip
    given = {"columns": ["a", "b"], "by": ["by"], "missing": "pattern"}
    after = microaggregate(frame, 3, **given).protected
    assert (after["b"].null_count(), after["b"].is_nan().sum()) == (6, 0)
    assert (after["by"].null_count(), after["by"].is_nan().sum()) == (6, 0)
    table = microaggregate(frame.to_arrow(), 3, **given).protected
    for name in ("b", "by"):
        assert table[name].null_count == 6
        assert not pa.compute.any(pa.compute.is_nan(table[name])).as_py()
    alone = pl.DataFrame({"a": numbers, "b": np.where(np.arange(12) < 6, numbers, np.nan)})
    after = microaggregate(alone, 3, missing="pattern").protected
    assert (after["b"].null_count(), after["b"].is_nan().sum()) == (0, 6)
    nullable = pd.DataFrame({"a": numbers, "b": pd.array([*numbers[:6], *gaps], dtype=object)})
    nullable["s"] = ["x"] * 6 + [None, np.nan, pd.NA, None, np.nan, pd.NA]
    nullable["o"] = pd.Series(["x"] * 6 + [None, np.nan, pd.NA] * 2, dtype=object)
    nullable["b"] = pd.arrays.FloatingArray(
        np.where(np.arange(12) < 6, numbers, np.nan), np.arange(12) % 2 * (np.arange(12) > 5) == 1
    )
    given = {"columns": ["a", "b"], "by": ["s", "o"], "missing": "pattern"}
    after = microaggregate(nullable, 3, **given).protected
    for name in ("b", "s", "o"):
        assert len({repr(value) for value in after[name][6:]}) == 1, after[name]


def test_bits_of_nan_do_not_tell_records_apart():
    bits = np.array([0x7FF80000000007A2, 0x7FF8000000000001, 0x7FF8000000000002], np.uint64)
    values = np.random.default_rng(0).normal(size=(9, 2))
    values[:3, 1] = bits.view(np.float64)
    for data in (values, pd.DataFrame(values, columns=["a", "b"])):
        after = microaggregate(data, 3, missing="pattern").protected
        assert len(set(np.asarray(after)[:3, 1].copy().view(np.uint64).tolist())) == 1
