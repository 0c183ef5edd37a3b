"""Tables of other kinds are read, and come back as they went or as what they collect to."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from microagg_gpu import InputError, measures, microaggregate, refine

COLUMNS = {
    "region": ["n", "s"] * 10,
    "a": np.arange(20) ** 2 % 17,
    "b": np.linspace(0.0, 1.0, 20),
}
TABLE = pa.table(COLUMNS)
GIVEN = {"k": 3, "columns": ["a", "b"], "by": "region"}
EXPECTED = microaggregate(TABLE, **GIVEN)


class Stream:
    """Whatever has the Arrow stream of the C data interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


class Interchange:
    """Whatever has the DataFrame interchange protocol."""

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return TABLE.__dataframe__(nan_as_null, allow_copy)


def polars_lazy():
    return pytest.importorskip("polars").from_arrow(TABLE).lazy()


def duckdb_relation():
    return pytest.importorskip("duckdb").from_arrow(TABLE)


def ibis_table():
    return pytest.importorskip("ibis").memtable(TABLE)


def dataset():
    return pytest.importorskip("pyarrow.dataset").dataset(TABLE)


@pytest.mark.parametrize(
    "make",
    [
        Stream, Interchange, polars_lazy, duckdb_relation, ibis_table, dataset,
        lambda: pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches()),
    ],
    ids=["stream", "interchange", "polars lazy", "duckdb", "ibis", "dataset", "reader"],
)  # fmt: skip
def test_what_is_collected(make):
    result = microaggregate(make(), **GIVEN)
    assert np.array_equal(result.labels, EXPECTED.labels)
    protected = result.protected
    assert pa.table(protected).column("a").to_pylist() == EXPECTED.protected["a"].to_pylist()


def test_a_dict_of_columns():
    result = microaggregate({**COLUMNS, "a": list(COLUMNS["a"])}, **GIVEN)
    assert list(result.protected) == ["region", "a", "b"]
    assert result.protected["a"].tolist() == EXPECTED.protected["a"].to_pylist()
    assert result.protected["region"].tolist() == COLUMNS["region"]
    assert result.verdict.word == EXPECTED.verdict.word
    with pytest.raises(InputError, match="a dict cannot be read: give each column as a list"):
        microaggregate({"a": [1, 2], "b": [1]}, 2)

    with pytest.raises(InputError, match="column 1 of a dict has no text for a name: give it one"):
        microaggregate({1: [1, 2]}, 2)


def test_a_dict_of_series():
    pl = pytest.importorskip("polars")
    result = microaggregate({name: pl.Series(column) for name, column in COLUMNS.items()}, **GIVEN)
    assert result.protected["a"].tolist() == EXPECTED.protected["a"].to_pylist()


@pytest.mark.parametrize(
    ("column", "advice"),
    [
        ([True, False] * 10, "of true and false make 1 and 0 if a share may be published"),
        ([datetime.date(2026, 1, 1)] * 20, "of a date or time make a number that may be averaged"),
        ([datetime.datetime(2026, 1, 1, 5)] * 20, "of a date or time make a number"),
        ([datetime.timedelta(1)] * 20, "of a date or time make a number"),
    ],
    ids=["booleans", "dates", "moments", "durations"],
)
def test_what_is_no_number(column, advice):
    tables = [TABLE.append_column("c", [column]), {"c": column}]
    tables += [pytest.importorskip("pandas").DataFrame({"c": column})]
    tables += [pytest.importorskip("polars").DataFrame({"c": column})]
    for table in tables:
        with pytest.raises(InputError, match=rf"columns are not numbers: 'c' .*; {advice}"):
            microaggregate(table, 3, columns="c")
    kind = {bool: "?", datetime.timedelta: "m8[us]"}.get(type(column[0]), "M8[us]")
    with pytest.raises(InputError, match="values, not numbers: make "):
        microaggregate(np.array(column, dtype=kind), 3)


def test_true_and_false_as_categories_and_strata():
    table = TABLE.append_column("c", [[True, False] * 10])
    result = microaggregate(table, 3, columns="a", nominal="c")
    assert set(result.protected["c"].to_pylist()) <= {True, False}
    assert microaggregate(table, 3, columns="a", by="c").protected["c"] == table["c"]


def test_a_structured_array():
    data = np.empty(20, dtype=[("region", "U1"), ("a", "i4"), ("b", "f8")])
    for name, column in COLUMNS.items():
        data[name] = column
    result = microaggregate(data, keep_integers=True, **GIVEN)
    assert result.protected.dtype.names == ("region", "a", "b")
    assert result.protected.dtype == data.dtype
    assert microaggregate(data, **GIVEN).protected.dtype["a"] == np.float64  # means
    assert result.protected["b"].tolist() == EXPECTED.protected["b"].to_pylist()


def test_a_record_batch():
    result = microaggregate(TABLE.to_batches()[0], **GIVEN)
    assert isinstance(result.protected, pa.RecordBatch)
    assert result.protected.column("b").to_pylist() == EXPECTED.protected["b"].to_pylist()


def test_whole_numbers_as_floats():
    assert microaggregate(TABLE, **{**GIVEN, "k": 3.0}).k == 3
    labels = EXPECTED.labels.astype(float)
    points = np.stack([COLUMNS["a"], COLUMNS["b"]], axis=1)
    assert measures.sse(points, labels) == measures.sse(points, EXPECTED.labels)
    assert np.array_equal(refine(points, labels, 3, steps=1).labels,
                          refine(points, EXPECTED.labels, 3, steps=1).labels)  # fmt: skip
    with pytest.raises(InputError, match=r"k=3.5 is not a whole number"):
        microaggregate(TABLE, **{**GIVEN, "k": 3.5})
