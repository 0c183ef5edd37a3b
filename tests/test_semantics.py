"""What official statistics need: strata, sampling weights, missing values, categories, medians."""

import math
from collections import Counter
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu import METHODS, InputError, compare, microaggregate

LIBRARIES = ["pandas", "polars", "pyarrow"]
RNG = np.random.default_rng(11)
N = 60
COMPANIES = {
    "id": [f"{i:04d}" for i in range(N)],
    "region": [["North", "South", "East"][i % 3] for i in range(N)],
    "size": [1 + (i // 3) % 2 for i in range(N)],
    "w": [float(1 + i % 7) for i in range(N)],
    "turnover": RNG.lognormal(3, 1, N).round(2).tolist(),
    "staff": RNG.integers(1, 500, N).tolist(),
}


def frame(library, columns):
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table(columns)
    return pytest.importorskip(library).DataFrame(columns)


def column(table, name):
    """Values of a column as a list, None where one is missing."""
    values = table.column(name) if hasattr(table, "schema") and hasattr(table, "column") else None
    values = values.to_pylist() if values is not None else list(table[name])
    return [None if isinstance(v, float) and math.isnan(v) else v for v in values]


def records(table, names):
    return list(zip(*(column(table, name) for name in names), strict=True))


# --- strata ----------------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("method", ["mdav", "mst", "kward", "projection"])
def test_groups_never_cross_strata(library, method):
    table = frame(library, COMPANIES)
    result = microaggregate(table, 4, method, columns=["turnover", "staff"], by=["region", "size"])
    assert type(result.protected) is type(table)
    for name in ("id", "region", "size", "w"):
        assert column(result.protected, name) == COMPANIES[name]
    counts = Counter(records(result.protected, ["region", "size", "turnover", "staff"]))
    assert min(counts.values()) >= 4
    strata = records(table, ["region", "size"])
    for g in range(len(result.sizes)):
        assert len({strata[i] for i in np.flatnonzero(result.labels == g)}) == 1


def test_each_stratum_is_grouped_as_if_alone_on_common_scales():
    table = frame("pandas", COMPANIES)
    result = microaggregate(table, 4, columns=["turnover", "staff"], by="region")
    x = table[["turnover", "staff"]].to_numpy()
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    for region in ("North", "South", "East"):
        rows = np.flatnonzero(table["region"] == region)
        alone = microaggregate(z[rows], 4, standardize=False)
        mine = np.unique(result.labels[rows], return_inverse=True)[1]
        assert len(np.unique(np.stack([mine, alone.labels]), axis=1).T) == len(alone.sizes)
    sse = sum(
        ((z[result.labels == g] - z[result.labels == g].mean(axis=0)) ** 2).sum()
        for g in range(len(result.sizes))
    )
    assert result.loss == pytest.approx(100 * sse / z.size)


def test_columns_of_strata_and_weights_are_not_protected_by_default():
    table = frame("polars", COMPANIES).drop("id")
    result = microaggregate(table, 4, by=["region", "size"], sampling_weight="w")
    assert result.names == ["turnover", "staff"]


def test_strata_of_an_array():
    x = np.column_stack([np.arange(12) % 2, np.arange(12.0) ** 2])
    result = microaggregate(x, 3, by=[0])
    assert np.array_equal(result.protected[:, 0], x[:, 0])
    assert result.names == ["1"]
    assert all(len(set(x[result.labels == g, 0])) == 1 for g in range(len(result.sizes)))


def small_table(library="pandas"):
    """Strata of 6, 2, 3 and 1 records; b is near a, c and d far away and near each other."""
    return frame(
        library,
        {
            "s": [*"aaaaaa", *"bb", *"ccc", "d"],
            "x": [0.0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 102, 103],
            "y": [0.0] * 12,
        },
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_strata_are_listed(library):
    with pytest.raises(InputError) as error:
        microaggregate(small_table(library), 4, by="s")
    message = str(error.value)
    assert message.startswith(
        "3 of 4 strata have fewer than k=4 records: s=b (2); s=c (3); s=d (1)"
    )
    assert "'merge'" in message
    assert "'suppress'" in message


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_strata_are_merged_with_the_nearest(library):
    result = microaggregate(small_table(library), 4, by="s", small_strata="merge")
    assert result.merged == ["s=a + s=b", "s=c + s=d"]
    assert column(result.protected, "x")[8:] == [101.5] * 4
    assert column(result.protected, "s") == [*"aaaaaabbcccd"]
    assert result.suppressed == 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_strata_are_suppressed(library):
    result = microaggregate(small_table(library), 3, by="s", small_strata="suppress")
    assert result.suppressed == 3
    assert column(result.protected, "s") == [*"aaaaaaccc"]
    assert column(result.protected, "x") == [1.0] * 3 + [4.0] * 3 + [101.0] * 3
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 1, -1, -1, 2, 2, 2, -1]


def test_risk_after_a_merger_is_that_of_what_is_seen():
    """Strata stay in the file, so an intruder compares within them, merged or not."""
    result = microaggregate(small_table(), 4, by="s", small_strata="merge")
    # In s=b and s=d what is published is as far from its stratum's records as can be.
    alone = result.linkage()
    together = microaggregate(small_table().drop(columns="s"), 4).linkage()
    assert alone.at_most == 5 / 12  # groups of a, b in two strata, c and d
    assert together.at_most == 3 / 12
    assert "alike without the columns of strata only" in result.report()["made"]["Merged"]


def test_pandas_index_of_what_is_left():
    table = small_table().set_index(np.arange(20, 32))
    protected = microaggregate(table, 3, by="s", small_strata="suppress").protected
    assert protected.index.tolist() == [*range(20, 26), 28, 29, 30]


def test_missing_stratum_is_a_stratum():
    table = frame("polars", {"s": ["a", None, "a", None], "x": [1.0, 2.0, 3.0, 4.0]})
    assert microaggregate(table, 2, by="s").protected["x"].to_list() == [2.0, 3.0, 2.0, 3.0]
    with pytest.raises(InputError, match=r"s=a \(2\); s=\(missing\) \(2\)"):
        microaggregate(table, 3, by="s")


# --- sampling weights ------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
def test_weighted_centroids_by_hand(library):
    # Groups {1, 2, 6} and {100, 110, 120}, whose records are not in that order.
    table = frame(
        library,
        {"x": [100.0, 1.0, 120.0, 2.0, 110.0, 6.0], "w": [1.0, 5.0, 2.0, 3.0, 1.0, 2.0]},
    )
    result = microaggregate(table, 3, sampling_weight="w")
    low = (1 * 5 + 2 * 3 + 6 * 2) / 10  # 2.3
    high = (100 * 1 + 110 * 1 + 120 * 2) / 4  # 112.5
    assert column(result.protected, "x") == [high, low, high, low, high, low]
    assert column(result.protected, "w") == [1.0, 5.0, 2.0, 3.0, 1.0, 2.0]
    # Groups are those without weights; the loss is that of what is published.
    x = np.array([100.0, 1, 120, 2, 110, 6])
    published = np.array([high, low, high, low, high, low])
    loss = 100 * ((x - published) ** 2).sum() / ((x - x.mean()) ** 2).sum()
    assert result.loss == pytest.approx(loss)
    assert np.array_equal(result.labels, microaggregate(x, 3).labels)


def test_weighted_totals_are_kept_and_weights_may_be_an_array():
    table = frame("pandas", COMPANIES)
    given = microaggregate(table, 5, columns=["turnover", "staff"], sampling_weight="w").protected
    array = microaggregate(
        table[["turnover", "staff"]].to_numpy(float), 5, sampling_weight=COMPANIES["w"]
    ).protected
    assert np.array_equal(given[["turnover", "staff"]].to_numpy(), array)
    for name in ("turnover", "staff"):
        assert (given[name] * table["w"]).sum() == pytest.approx((table[name] * table["w"]).sum())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 59, "59 sampling weights for 60 records"),
        ([1.0] * 59 + [0.0], "1 sampling weights are .* the first that of record 60"),
        ([1.0] * 58 + [np.nan, -1], "2 sampling weights are .* the first that of record 59"),
        (["heavy"] * 60, "the sampling weights are not numbers"),
    ],
)
def test_bad_sampling_weights(weights, message):
    with pytest.raises(InputError, match=message):
        microaggregate(frame("pandas", COMPANIES), 3, columns=["staff"], sampling_weight=weights)


def test_weights_with_another_index_are_refused():
    table = frame("pandas", COMPANIES)
    with pytest.raises(InputError, match="the sampling weights have another index than the data"):
        microaggregate(table, 3, columns=["staff"], sampling_weight=table["w"].sample(frac=1))


# --- missing values --------------------------------------------------------------------------


def gaps(library):
    x = [1.0, 2.0, 3.0, None, None, None, 10.0, 11.0, 12.0, None, None, None]
    y = [1, 2, 3, 4, 5, 6, 10, None, 12, 13, 14, 15]
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({"x": x, "y": pd.array(y, dtype="Int64"), "z": range(12)})
    return frame(library, {"x": x, "y": y, "z": list(range(12))})


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_values_are_an_error_by_default(library):
    with pytest.raises(InputError, match=r"7 values are missing .NaN., in column x .6., y .1."):
        microaggregate(gaps(library), 2)


@pytest.mark.parametrize("library", LIBRARIES)
def test_records_with_missing_values_are_dropped(library):
    result = microaggregate(gaps(library), 5, columns=["x", "y"], missing="drop")
    assert result.dropped == 7
    assert column(result.protected, "z") == [0, 1, 2, 6, 8]
    assert column(result.protected, "x") == pytest.approx([5.6] * 5)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("method", ["mdav", "mst", "kward", "individual", "tsp"])
def test_groups_have_one_pattern_of_missing_values(library, method):
    table = gaps(library)
    result = microaggregate(
        table, 3, method, columns=["x", "y"], missing="pattern", small_strata="suppress"
    )
    assert result.suppressed == 1
    kept = [i for i in range(12) if i != 7]
    assert column(result.protected, "z") == kept
    x, y = column(result.protected, "x"), column(result.protected, "y")
    before = column(table, "x")
    assert [value is None for value in x] == [before[i] is None for i in kept]
    assert None not in y
    assert min(Counter(zip(x, y, strict=True)).values()) >= 3
    # 1 2 3 10 12 stay in one group of 5; 4 5 6 and 13 14 15 have no x.
    assert y[:3] == pytest.approx([5.6] * 3)
    assert y[3:6] == [5.0] * 3
    assert y[8:] == [14.0] * 3


def test_small_patterns_are_listed_and_cannot_be_merged():
    with pytest.raises(InputError, match=r"1 of 3 patterns .* all records without y \(1\)"):
        microaggregate(gaps("polars"), 3, columns=["x", "y"], missing="pattern")
    with pytest.raises(InputError, match="only 1 records are like 'all records without y'"):
        microaggregate(
            gaps("polars"), 3, columns=["x", "y"], missing="pattern", small_strata="merge"
        )


def test_loss_counts_observed_values():
    x = np.array([[1.0, 5.0], [2.0, 7.0], [3.0, np.nan], [7.0, np.nan]])
    result = microaggregate(x, 2, missing="pattern", standardize=False)
    assert result.sse == pytest.approx(2 * 0.5**2 + 2 * 1.0**2 + 2 * 2.0**2)
    assert result.sst == pytest.approx(((x[:, 0] - 3.25) ** 2).sum() + 2 * 1.0**2)
    assert np.array_equal(result.protected, [[1.5, 6], [1.5, 6], [5, np.nan], [5, np.nan]],
                          equal_nan=True)  # fmt: skip


def test_records_without_any_value_are_alike():
    x = np.array([[np.nan, np.nan]] * 3 + [[1.0, 2.0]] * 3)
    result = microaggregate(x, 3, missing="pattern")
    assert result.labels.tolist() == [0, 0, 0, 1, 1, 1]
    with pytest.raises(InputError, match="each of the 3 records has a missing value"):
        microaggregate(x[:3], 3, missing="drop")


def test_a_ranking_variable_must_be_there():
    x = np.column_stack([RNG.normal(size=12), RNG.normal(size=12), np.arange(12.0)])
    x[:6, 0] = np.nan
    with pytest.raises(InputError, match="variable '0' ranks the records and is missing in some"):
        microaggregate(x, 3, "projection", missing="pattern", projection="pv", variable=0)
    result = microaggregate(x, 3, "projection", missing="pattern", projection="pv", variable=2)
    assert sorted(set(result.protected[:, 2])) == [1.0, 4.0, 7.0, 10.0]


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
    assert protected["size"].dtype == table["size"].dtype
    assert protected["branch"].dtype == table["branch"].dtype
    assert protected["size"].tolist()[:3] == ["small", "small", "large"]
    frame_ = pl.DataFrame(MIXED).with_columns(
        pl.col("size").cast(pl.Enum(order)), pl.col("branch").cast(pl.Categorical)
    )
    other = microaggregate(frame_, 3, ordinal=["size"], nominal=["branch"]).protected
    assert other.schema["size"] == frame_.schema["size"]
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
    heavy = microaggregate(table, 4, columns=["x"], nominal=["n"], weights={"n": 100.0})
    light = microaggregate(table, 4, columns=["x"], nominal=["n"], weights={"n": 0.0001})
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
        ({"columns": ["staff"], "by": ["staff"]}, "column 'staff' is in by= and cannot be"),
        ({"columns": ["staff"], "sampling_weight": "staff"}, "'staff' is the sampling weight and"),
        ({"columns": ["staff"], "weights": {"size": 1}}, "a weight is given for 'size', which is"),
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


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 12), st.data())
def test_medians_and_trimmed_means(values, k, data):
    x = np.array(values)
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
    result = microaggregate(x, 4, method, by=[0], missing="pattern", progress=seen.append)
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

    monkeypatch.setattr("microagg_gpu.api.group", wrong)
    table = frame("pandas", COMPANIES)
    with pytest.raises(RuntimeError, match="a group crosses strata"):
        microaggregate(table, 3, columns=["staff"], by=["region"])
