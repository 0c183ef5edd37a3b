"""Whether k holds: what is published is counted, over all columns."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu import microaggregate
from microagg_gpu.files.verdict import count_k


def counted(rows, k):
    """The smallest group and the records below k, by plain Python."""
    counts = Counter(rows)
    return min(counts.values()), sum(count for count in counts.values() if count < k)


@given(
    st.lists(st.tuples(*[st.sampled_from("ab")] * 2, st.integers(0, 2)), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_counts_are_those_of_plain_python(rows, k):
    table = pa.table(dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True)))
    verdict = count_k(table, k, [["x", "y"]])
    assert (verdict.smallest, verdict.below) == counted(rows, k)
    assert (verdict.smallest_named, verdict.below_named) == counted([row[:2] for row in rows], k)
    assert (verdict.columns, verdict.others) == (["x", "y"], ["z"])
    if not verdict.below:
        assert verdict.word == "PASS"
    else:
        assert verdict.word == ("FAIL" if verdict.below_named else "PARTLY")
    each = count_k(table, k, [["x"], ["y"]])
    assert each.smallest_named == min(counted([row[j] for row in rows], k)[0] for j in (0, 1))


def test_sentences():
    table = pa.table({"x": [1, 1, 2, 2], "y": list("aabc")})
    assert str(count_k(table, 2, [["x"]])) == (
        "k = 2 holds for these columns only: x. 2 of the 4 records share their values in all 2 "
        "columns with fewer than 1 others, because of y"
    )
    assert str(count_k(table, 3, [["x", "y"]])) == (
        "FAIL: 4 of the 4 records share their values in all 2 columns with fewer than 2 others; "
        "the smallest group has 1"
    )
    assert str(count_k(table, 3, [["x"]])) == (
        "FAIL: 4 of the 4 records share their values in x with fewer than 2 others; the smallest "
        "group has 2"
    )
    assert str(count_k(table.drop("y"), 2, [["x"]])) == (
        "PASS: every one of the 4 records shares its values in the one column with at least 1 "
        "others"
    )
    each = count_k(pa.table({"x": [1, 1, 2, 2], "y": [1, 2, 2, 1]}), 2, [["x"], ["y"]])
    assert str(each).startswith("k = 2 holds for each of these columns by itself only: x, y. 4 of")
    many = pa.table({f"c{i}": [1, 2] for i in range(9)})
    assert "because of c1, c2, c3, c4, c5 and 3 more" in str(
        count_k(many.set_column(0, "c0", [[1, 1]]), 2, [["c0"]])
    )


FRAME = pd.DataFrame(
    {"id": range(12), "s": list("aabb") * 3, "x": np.arange(12.0) ** 2, "y": [1.5, 2.5] * 6}
)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_results_of_frames(kind):
    frame = kind(FRAME.to_dict("list"))
    result = microaggregate(frame, 3, columns=["x", "y"], by="s")
    assert result.verdict.word == "PARTLY"
    assert (result.verdict.columns, result.verdict.others) == (["s", "x", "y"], ["id"])
    assert result.verdict.below == 12
    assert repr(result).startswith("Result(verdict='PARTLY', ")
    assert result.report()["verdict"]["sentence"] == str(result.verdict)
    whole = microaggregate(FRAME[["s", "x", "y"]], 3, columns=["x", "y"], by="s")
    assert whole.verdict.word == "PASS"
    assert whole.verdict.smallest >= 3


def test_results_of_arrays_series_lists_and_odd_columns():
    array = FRAME[["x", "y", "id"]].to_numpy()
    assert microaggregate(array, 3).verdict.word == "PASS"
    partly = microaggregate(array, 3, columns=[0, 1])
    assert (partly.verdict.word, partly.verdict.others) == ("PARTLY", ["2"])
    assert microaggregate(array.tolist(), 3).verdict.word == "PASS"
    assert microaggregate(FRAME["x"], 3).verdict.word == "PASS"
    assert microaggregate(array, 3, method="individual").verdict.each
    odd = FRAME.assign(mixed=[1, "a", None, (2,)] * 3)
    assert microaggregate(odd, 3, columns="x").verdict.others == ["id", "s", "y", "mixed"]


def test_merged_strata_head_the_result():
    frame = pd.DataFrame({"s": list("aaaabb"), "x": [1.0, 1, 2, 2, 3, 3]})
    result = microaggregate(frame, 3, columns="x", by="s", small_strata="merge")
    assert result.merged
    assert result.verdict.word == "PARTLY"
    assert result.verdict.columns == ["x"]
    assert result.verdict.others == ["s"]
