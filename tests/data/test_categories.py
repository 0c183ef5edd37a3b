"""Ordinal and nominal columns, medians, integers, and all roles together."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.frames import COMPANIES, LIBRARIES, column, frame
from microagg_gpu import METHODS, InputError, compare, microaggregate

# --- ordinal and nominal columns -------------------------------------------------------------


MIXED = {
    "size": ["small", "small", "large", "medium", "large", "large"],
    "branch": ["x", "x", "y", "x", "z", "z"],
    "staff": [1, 2, 90, 3, 100, 110],
}
ORDER = {"size": ["small", "medium", "large"]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_medians_and_modes(library):
    table = frame(library, MIXED)
    result = microaggregate(table, 3, ordinal=ORDER, nominal=["branch"])
    assert column(result.protected, "size") == ["small"] * 2 + ["large", "small"] + ["large"] * 2
    assert column(result.protected, "branch") == ["x", "x", "z", "x", "z", "z"]
    assert column(result.protected, "staff") == [2.0, 2.0, 100.0, 2.0, 100.0, 100.0]
    # Distances: staff in standard deviations, sizes by thirds, branches 0 or 1. The average
    # company: staff 51, of size medium (the lower of the two middle ones), branch x.
    staff = np.array(MIXED["staff"], dtype=float)
    sse = ((staff - [2, 2, 100, 2, 100, 100]) ** 2).sum() / staff.var()
    sse += (1 / 3) ** 2 + 1  # one size is a rank off, one branch differs
    sst = 6 + (1 + 1 + 1 + 0 + 1 + 1) / 9 + 3
    assert result.loss == pytest.approx(100 * sse / sst)


def test_categorical_types_survive_and_bring_their_order():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    order = ORDER["size"]
    table = pd.DataFrame(MIXED).astype(
        {"size": pd.CategoricalDtype(order, ordered=True), "branch": "category"}
    )
    protected = microaggregate(table, 3, ordinal=["size"], nominal=["branch"]).protected
    # A category that is no longer published is gone, the order of the others stays.
    assert protected["size"].dtype == pd.CategoricalDtype(["small", "large"], ordered=True)
    assert protected["branch"].dtype == "category"
    assert protected["size"].tolist()[:3] == ["small", "small", "large"]
    frame_ = pl.DataFrame(MIXED).with_columns(
        pl.col("size").cast(pl.Enum(order)), pl.col("branch").cast(pl.Categorical)
    )
    other = microaggregate(frame_, 3, ordinal=["size"], nominal=["branch"]).protected
    assert other.schema["size"] == pl.Enum(["small", "large"])
    assert other["branch"].dtype == frame_.schema["branch"]
    assert other["size"].to_list() == protected["size"].tolist()


def test_order_of_arrow_dictionaries():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    order = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    table = pa.Table.from_pandas(pd.DataFrame(MIXED).astype({"size": order}))
    result = microaggregate(table, 3, ordinal=["size"], nominal=["branch"])
    assert result.protected["size"].type.ordered
    assert column(result.protected, "size")[:3] == ["small", "small", "large"]


def test_report_of_categories_and_numbers_tells_one_loss():
    result = microaggregate(frame("pandas", MIXED), 3, ordinal=ORDER, nominal=["branch"])
    assert result.report()["loss"] == pytest.approx(result.loss)
    assert result.report()["risk"]["linkage"] == pytest.approx(100 * result.linkage().share)
    only = microaggregate(frame("pandas", {"c": [*"aaabbb"]}), 3, nominal=["c"])
    assert (only.loss, only.report()["loss"]) == (0.0, 0.0)


def test_weights_of_categories():
    """Records that differ only in one nominal column are parted by it if it weighs enough."""
    table = frame("pandas", {"n": [*"aabbaabb"], "x": [1.0, 2.0, 1.5, 2.5, 8.0, 9.0, 8.5, 9.5]})
    heavy = microaggregate(table, 4, columns=["x"], nominal=["n"], variable_weights={"n": 100.0})
    light = microaggregate(table, 4, columns=["x"], nominal=["n"], variable_weights={"n": 0.0001})
    assert heavy.protected["n"].tolist() == table["n"].tolist()
    assert len(set(light.labels[:4])) == 1


def test_categories_in_numbers_of_an_array():
    x = np.array([[10, 1.0], [10, 1.1], [30, 1.2], [20, 9.0], [20, 9.1], [30, 9.2]])
    result = microaggregate(x, 3, ordinal=[0])
    assert result.protected[:, 0].tolist() == [10, 10, 10, 20, 20, 20]
    result = microaggregate(x, 3, nominal=[0], columns=[1])
    assert result.protected[:, 0].tolist() == [10, 10, 10, 20, 20, 20]


def test_missing_categories():
    table = frame("polars", {"c": ["a", "a", "b", None, None, None], "x": [1.0, 2, 3, 4, 5, 6]})
    with pytest.raises(InputError, match=r"3 values are missing .* c \(3\)"):
        microaggregate(table, 3, nominal=["c"])
    result = microaggregate(table, 3, nominal=["c"], missing="pattern")
    assert result.protected["c"].to_list() == ["a", "a", "a", None, None, None]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"columns": ["staff"], "ordinal": ["size"]},
            r"order of the categories of column 'size' is not known: .*size",
        ),
        (
            {"columns": ["staff"], "ordinal": {"size": ["small", "large"]}},
            "category 'medium' of column 'size' is not in",
        ),
        ({"ordinal": ORDER, "nominal": ["size"]}, "'size' is named ordinal and nominal"),
        ({"ordinal": ORDER, "nominal": ["branch"], "method": "mst"}, "'mst' takes numbers only"),
        ({"columns": ["staff"], "nominal": ["what"]}, "column 'what' is not in the table"),
        ({"columns": ["staff"], "by": ["staff"]}, "column 'staff' is named in by= and cannot be"),
        (
            {"columns": ["staff"], "sampling_weight": "staff"},
            "is named in sampling_weight= and",
        ),
        (
            {"columns": ["staff"], "variable_weights": {"size": 1}},
            "a weight is given for 'size', which is",
        ),
        ({"columns": ["staff"], "missing": "fill"}, "missing='fill' is unknown: choose one of"),
        ({"columns": ["staff"], "small_strata": "x"}, "small_strata='x' is unknown"),
        ({"columns": ["staff"], "aggregate": "max"}, "aggregate='max' is unknown"),
    ],
)
def test_bad_roles(given, message):
    with pytest.raises(InputError, match=message):
        microaggregate(frame("pandas", MIXED), 3, **given)


def test_mixed_types_in_a_column_are_told():
    table = frame("pandas", {"c": ["a", 1, 2.5], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="column 'c' mixes values of different types"):
        microaggregate(table, 3, nominal=["c"])


# --- what is published -----------------------------------------------------------------------


def trimmed(values):
    values = sorted(values)
    cut = max(1, len(values) // 5) if len(values) >= 3 else 0
    values = values[cut : len(values) - cut]
    return sum(values) / len(values)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 12))
def test_medians_and_trimmed_means(values, k):
    x = np.array(values).round(6)  # spreads of 1e-162 are refused
    k = min(k, len(x))
    for how, plain in (("median", median), ("trimmed", trimmed)):
        result = microaggregate(x, k, "fixed", aggregate=how)
        for g in range(len(result.sizes)):
            rows = result.labels == g
            expected = plain(x[rows].tolist())
            assert result.protected[rows] == pytest.approx([expected] * rows.sum())
            assert len(set(result.protected[rows])) == 1


def test_weighted_median_is_that_of_repeated_records():
    x = np.array([1.0, 2, 3, 10, 20, 30, 40])
    w = np.array([3, 1, 1, 1, 1, 1, 5])
    result = microaggregate(x, 3, "fixed", aggregate="median", sampling_weight=w)
    for g in range(len(result.sizes)):
        rows = result.labels == g
        assert set(result.protected[rows]) == {median(np.repeat(x[rows], w[rows]).tolist())}


@pytest.mark.parametrize("library", LIBRARIES)
def test_integers_stay_integers_if_asked(library):
    table = frame(library, {"a": [1, 2, 4, 10, 11, 13], "b": [0.5, 1.5, 2.5, 9.0, 9.5, 9.9]})
    kept = microaggregate(table, 3, keep_integers=True)
    assert column(kept.protected, "a") == [2, 2, 2, 11, 11, 11]
    assert all(isinstance(value, (int, np.integer)) for value in column(kept.protected, "a"))
    assert column(microaggregate(table, 3).protected, "a")[0] == pytest.approx(7 / 3)
    a, b = (np.array(column(table, name), float) for name in "ab")
    sse = ((a - [2, 2, 2, 11, 11, 11]) ** 2).sum() / a.var()
    sse += ((b - np.repeat([b[:3].mean(), b[3:].mean()], 3)) ** 2).sum() / b.var()
    assert kept.loss == pytest.approx(100 * sse / 12)


def test_integers_that_doubles_cannot_hold():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [2**60 + 1, 2**60 + 3, 5, 7]})
    protected = microaggregate(table, 2).protected
    assert column(protected, "a") == [2.0**60, 2.0**60, 6.0, 6.0]


def test_integers_of_arrays_and_narrow_types():
    x = np.array([[1], [2], [4], [100], [110], [121]], dtype=np.int8)
    protected = microaggregate(x, 3, keep_integers=True).protected
    assert protected.dtype == np.int8
    assert protected[:, 0].tolist() == [2, 2, 2, 110, 110, 110]
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": pd.array([1, 2, None, 5, 6, None], dtype="Int16")})
    protected = microaggregate(table, 2, keep_integers=True, missing="pattern").protected
    assert protected["a"].dtype == "Int16"
    assert protected["a"].isna().tolist() == [False, False, True] * 2


# --- together --------------------------------------------------------------------------------


def test_compare_knows_roles_and_risk():
    rows = compare(
        frame("pandas", COMPANIES), (3, 4), ["mdav", "vmdav"], columns=["turnover", "staff"],
        by=["region"], sampling_weight="w", missing="drop", aggregate="median",
    )  # fmt: skip
    assert [row["k"] for row in rows] == [3, 3, 4, 4]
    for row in rows:
        assert 0 <= row["risk"] <= 100 / row["k"]
    one = microaggregate(
        frame("pandas", COMPANIES), 3, columns=["turnover", "staff"], by=["region"],
        sampling_weight="w", aggregate="median",
    )  # fmt: skip
    assert one.loss in [row["loss"] for row in rows]
    mixed = compare(frame("pandas", MIXED), 3, ordinal=ORDER, nominal=["branch"])
    assert [row["method"] for row in mixed] == ["mdav"]


@pytest.mark.parametrize("method", [m for m in METHODS if not METHODS[m].univariate])
def test_every_method_takes_strata_and_gaps(method):
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.integers(3, size=90), rng.normal(size=(90, 3))])
    x[rng.random(90) < 0.3, 2] = np.nan
    seen: list[float] = []
    options = METHODS[method].variants[0]
    result = microaggregate(
        x, 4, method, by=[0], missing="pattern", progress=seen.append, **options
    )
    assert seen == sorted(seen)
    whole = np.column_stack([x[:, 0], np.isnan(x[:, 2])])
    for labels in np.atleast_2d(result.labels.T):
        for g in np.unique(labels):
            rows = labels == g
            assert rows.sum() >= 4
            assert len(np.unique(whole[rows], axis=0)) == 1


def test_a_group_that_crosses_strata_never_leaves(monkeypatch):
    def wrong(problem, *_):
        return np.zeros(len(problem.values), dtype=np.int64), 0.0

    monkeypatch.setattr("microagg_gpu.pipeline.protection.group", wrong)
    table = frame("pandas", COMPANIES)
    with pytest.raises(RuntimeError, match="a group crosses strata"):
        microaggregate(table, 3, columns=["staff"], by=["region"])
