"""Numbers at the ends of their range: integers to the last digit, sums far from zero, R's NA."""

import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.command import read, run
from microagg_gpu import DataWarning, InputError, measures, microaggregate
from microagg_gpu.pipeline.partition import Partition
from microagg_gpu.pipeline.publishing import aggregate_integers

pytestmark = pytest.mark.usefixtures("empty_directory")

ENDS = {
    kind: [np.iinfo(kind).min, np.iinfo(kind).max, *([2**53 + 1] if "64" in kind else [])]
    for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
}


def expected(values, how):
    """The mean, median or trimmed mean of integers by fractions, half to even."""
    values = sorted(map(int, values))
    m = len(values)
    if how == "median":
        values = [values[(m - 1) // 2], values[m // 2]]
    elif how == "trimmed":
        cut = max(1, m // 5) if m >= 3 else 0
        values = values[cut : m - cut]
    return round(Fraction(sum(values), len(values)))


@pytest.mark.parametrize("how", ["mean", "median", "trimmed"])
@pytest.mark.parametrize("kind", [np.int64, np.uint64])
@given(data=st.data())
def test_integers_are_exact(kind, how, data):
    limits = np.iinfo(kind)
    number = st.one_of(
        st.integers(int(limits.min), int(limits.max)),
        st.integers(0, 9),
        st.sampled_from([int(limits.min), int(limits.max), 2**53, 2**53 + 1]),
    )
    values = np.array(data.draw(st.lists(number, min_size=1, max_size=30)), dtype=kind)
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values),
                                         max_size=len(values))))  # fmt: skip
    partition = Partition(labels, 1)
    new = aggregate_integers(partition, values, how)
    assert new.dtype == kind
    for g in range(len(partition.sizes)):
        group = values[partition.labels == g]
        assert set(new[partition.labels == g].tolist()) == {expected(group, how)}


@given(data=st.data())
def test_weighted_means_of_integers_stay_in_their_range(data):
    limits = np.iinfo(np.int64)
    values = np.array(data.draw(st.lists(st.integers(int(limits.min), int(limits.max)), min_size=3,
                                         max_size=9)), dtype=np.int64)  # fmt: skip
    weights = np.linspace(0.1, 3.0, len(values))
    one = Partition(np.zeros(len(values), dtype=np.int64), 1)
    new = int(aggregate_integers(one, values, "mean", weights)[0])
    exact = sum(Fraction(w) * int(v) for w, v in zip(weights.tolist(), values, strict=True))
    exact /= sum(map(Fraction, weights.tolist()))
    low, high = int(values.min()), int(values.max())
    assert low <= new <= high
    assert abs(new - exact) <= Fraction(1, 2) + Fraction(high - low, 2**48)


def tables(values, kind):
    """The same integers in every kind of table."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    array = np.array(values, dtype=kind)
    other = np.arange(len(values), dtype=float)
    yield array.reshape(-1, 1)
    yield pd.DataFrame({"x": array, "y": other})
    yield pd.DataFrame({"x": pd.array(array, dtype=kind.replace("i", "I").replace("u", "U"))})
    yield pd.DataFrame({"x": pd.array(array, dtype=pd.ArrowDtype(pa.array(array).type))})
    yield pl.DataFrame({"x": array, "y": other})
    yield pa.table({"x": array, "y": other})


@pytest.mark.filterwarnings("ignore::microagg_gpu.DataWarning")
@pytest.mark.parametrize("kind", ENDS)
def test_ends_of_the_range_survive(kind):
    for end in ENDS[kind]:
        inner = -1 if end == np.iinfo(kind).max else 1
        values = [end] * 3 + [end + inner] * 3
        for table in tables(values, kind):
            given = {"columns": ["x"]} if not isinstance(table, np.ndarray) else {}
            after = microaggregate(table, 3, keep_integers=True, **given).protected
            assert integers(after) == (values, integers(table)[1]), (type(table), end)


def integers(table):
    """The first column of any kind of table, and its type."""
    column = table[:, 0] if isinstance(table, np.ndarray) else table["x"]
    kind = column.type if isinstance(table, pa.Table) else column.dtype
    return [int(str(value)) for value in column], kind


@pytest.mark.filterwarnings("ignore::microagg_gpu.DataWarning")
@pytest.mark.parametrize("name", ["in.parquet", "in.csv"])
def test_the_command_keeps_the_last_digit(name):
    columns = {
        "low": [-(2**63), -(2**63), -(2**63) + 1] * 2,
        "high": [2**63 - 1] * 3 + [2**63 - 3] * 3,
        "large": np.array([2**64 - 1] * 3 + [2**64 - 4] * 3, dtype=np.uint64),
        "odd": [2**53 + 1, 2**53 + 3, 2**53 + 5] * 2,
    }
    table = pa.table(columns)
    if name == "in.csv":
        rows = zip(*(table[c].to_pylist() for c in columns), strict=True)
        Path(name).write_text(
            "\n".join([",".join(columns), *(",".join(map(str, r)) for r in rows)])
        )
    else:
        pq.write_table(table, name)
    done = run("protect", name, "-k", 6, "--keep-integers", "-o", f"out{name[2:]}")
    assert done.exit_code == 0, done.output
    if name == "in.csv":
        after = [dict(zip(columns, map(int, row), strict=True)) for row in read("out.csv")[1:]]
    else:
        after = pq.read_table("out.parquet").to_pylist()
    assert after == [{c: expected(table[c].to_pylist(), "mean") for c in columns}] * 6


def test_missing_integers_stay_missing():
    pd = pytest.importorskip("pandas")
    column = pd.array([2**62 + i for i in range(6)] + [None] * 6, dtype="Int64")
    frame = pd.DataFrame({"x": column, "y": np.arange(12.0)})
    after = microaggregate(frame, 3, missing="pattern", keep_integers=True).protected["x"]
    assert after.isna().tolist() == [False] * 6 + [True] * 6
    assert after[:6].tolist() == [2**62 + 1] * 3 + [2**62 + 4] * 3


def test_integers_that_are_not_protected_lose_no_digit():
    array = np.array([[2**53 + 1, i] for i in range(6)])
    with pytest.raises(InputError, match=r"column 0 holds integers above 2\^53"):
        microaggregate(array, 3, columns=[1])
    after = microaggregate(array, 3, columns=[1], keep_integers=True).protected
    assert after[:, 0].tolist() == [2**53 + 1] * 6


def test_integers_of_128_bits_are_refused_where_they_would_lose_digits():
    pl = pytest.importorskip("polars", minversion="1.18", reason="older polars has no Int128")
    frame = pl.DataFrame({"x": pl.Series([2**70 + i for i in range(6)], dtype=pl.Int128)})
    with pytest.raises(InputError, match=r"column x holds integers above 2\^53"):
        microaggregate(frame, 3, keep_integers=True)
    assert microaggregate(frame, 3).protected["x"].to_list() == [float(2**70)] * 6


def test_large_categories_keep_their_digits():
    array = np.array([[2**53 + (i >= 3), i] for i in range(6)])
    after = microaggregate(array, 3, columns=[1], nominal=[0], keep_integers=True).protected
    assert after[:, 0].tolist() == array[:, 0].tolist()


# Another program's missing values


@pytest.mark.parametrize(
    ("kind", "value"), [("int32", -(2**31)), ("int64", -(2**31)), ("int64", -(2**63)),
                        ("int16", -(2**15))],
)  # fmt: skip
def test_the_least_integer_is_warned_about(kind, value):
    pl = pytest.importorskip("polars")
    values = np.array([value, 1, 2, 3, 4, value], dtype=kind)
    for table in (values, pl.DataFrame({"0": values}), pa.table({"0": values})):
        with pytest.warns(
            DataWarning, match=rf"column 0 holds {value} in 2 records, a number that"
        ):
            microaggregate(table, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        microaggregate(np.array([0, 1, 2], dtype="uint16"), 3)
        microaggregate(values + 1, 3)


def test_the_command_warns_in_one_line():
    pq.write_table(pa.table({"staff": pa.array([-(2**31), 5, 6, 7], pa.int32())}), "in.parquet")
    done = run("protect", "in.parquet", "-k", 2, "-o", "out.parquet", "--json", "out.json")
    assert done.exit_code == 0
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("microagg: warning: column staff holds -2147483648 in 1 record,")


def test_signalling_nan_of_r():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    na = np.array([0x7FF00000000007A2], dtype=np.uint64).view(np.float64)[0:1]
    values = np.random.default_rng(1).normal(size=(12, 2))
    plain = values.copy()
    plain[:4, 1] = np.nan
    values[:4, 1] = na
    expected = microaggregate(plain, 3, missing="pattern")
    single = np.array([0x7F8007A2], dtype=np.uint32).view(np.float32)
    for data in (
        values, pd.DataFrame(values, columns=["a", "b"]), pl.DataFrame(values),
        pa.table({"a": values[:, 0], "b": values[:, 1]}),
    ):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = microaggregate(data, 3, missing="pattern", refine_steps=5)
            again = microaggregate(data, 3, missing="pattern")
            result.report()
        assert again.labels.tolist() == expected.labels.tolist()
        assert again.loss == expected.loss
    floats = plain.astype(np.float32)
    floats[:4, 1] = single
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        microaggregate(floats, 3, missing="pattern")
    with pytest.raises(InputError, match="4 values are missing"):
        microaggregate(values, 3)


# Far from zero


def exact_loss(points, labels):
    """100 SSE / SST by fractions."""

    def about_mean(column):
        mean = sum(column) / len(column)
        return sum((value - mean) ** 2 for value in column)

    columns = [[Fraction(value) for value in column] for column in points.T.tolist()]
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    sse = sum(about_mean([c[i] for i in group]) for c in columns for group in groups)
    return float(100 * sse / sum(map(about_mean, columns)))


@pytest.mark.parametrize("far", [0.0, 1e9, 4e15, -7e14, 1e-300, 1e140])
@pytest.mark.parametrize("d", [1, 3])
def test_loss_far_from_zero(far, d):
    rng = np.random.default_rng(d)
    spread = {1e-300: 1e-301, 1e140: 1e139}.get(far, 3.0)
    points = far + spread * rng.normal(size=(40, d))
    labels = np.arange(40) // 4
    loss = measures.information_loss(points, labels)
    assert loss == pytest.approx(exact_loss(points, labels), rel=1e-12)
    if abs(far) < 1e100:
        result = microaggregate(points, 3, standardize=False)
        assert result.loss == pytest.approx(exact_loss(points, result.labels), rel=1e-12)


@pytest.mark.parametrize("far", [0.0, 1.0 / 3, 1e6, 4e15])
def test_the_bound_is_never_above_an_optimum(far):
    for seed in range(20):
        points = far + np.random.default_rng(seed).normal(size=(12, 1)) * 10.0**seed**0.5
        for standardize in (True, False):
            best = microaggregate(points, 4, "optimal", standardize=standardize)
            assert best.bound().loss <= best.loss
        one = microaggregate(points[:5], 3, standardize=False)
        assert one.bound().loss <= one.loss


@pytest.mark.parametrize("standardize", [True, False])
def test_equal_values_beside_missing_ones_are_no_variation(standardize):
    values = np.random.default_rng(0).uniform(1, 2, 200)  # most means of 13 are rounded
    records = np.full((15, 201), np.nan)
    records[:13, :200] = values
    result = microaggregate(records, 2, missing="pattern", standardize=standardize)
    assert (result.sse, result.sst, result.loss) == (0, 0, 0)
