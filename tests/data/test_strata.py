"""Strata, sampling weights and missing values, as official statistics need them."""

from collections import Counter

import numpy as np
import pytest

from helpers.frames import COMPANIES, LIBRARIES, RNG, column, frame, records
from microagg_gpu import InputError, microaggregate

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
        "3 of 4 strata have fewer than k=4 records: s=b (2), s=c (3), s=d (1)"
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
    assert (
        "does NOT hold once the strata columns are known" in result.report()["provenance"]["Merged"]
    )


def test_pandas_index_of_what_is_left():
    table = small_table().set_index(np.arange(20, 32))
    protected = microaggregate(table, 3, by="s", small_strata="suppress").protected
    assert protected.index.tolist() == [*range(20, 26), 28, 29, 30]


def test_missing_stratum_is_a_stratum():
    table = frame("polars", {"s": ["a", None, "a", None], "x": [1.0, 2.0, 3.0, 4.0]})
    assert microaggregate(table, 2, by="s").protected["x"].to_list() == [2.0, 3.0, 2.0, 3.0]
    with pytest.raises(InputError, match=r"s=a \(2\), s=\(missing\) \(2\)"):
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
    with pytest.raises(InputError, match="have only 1 records like 'all records without y'"):
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
