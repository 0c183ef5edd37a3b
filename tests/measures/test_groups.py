"""Oversized groups and the number of partitions, against the 2005 paper and brute force."""

from itertools import product
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu.errors import InputError
from microagg_gpu.measures import count_partitions, oversized


def test_oversized():
    labels = np.repeat([4, 0, 1, 2], [6, 7, 5, 3])
    assert oversized(labels, 3) == (50, 6.5)
    assert oversized(labels, 4) == (0, 0)
    assert oversized(np.column_stack([labels, np.zeros(21, int)]), 3) == (60, pytest.approx(34 / 3))
    with pytest.raises(InputError, match="k=0 must be a whole number of 1 or more"):
        oversized(labels, 0)


TABLE_11 = {
    10: ("2226", "336", "126", "1"),
    15: ("10461451", "981981", "137566", "1"),
    20: ("182285304201", "13519012221", "790940436", "92378"),
    50: ("1.425e43", "4.529e41", "3.429e39", "4.245e29"),
    100: ("7.697e108", "4.425e107", "2.900e104", "2.066e87"),
    200: ("1.163e263", "8.639e263", "3.621e259", "1.094e230"),
}


@pytest.mark.parametrize("n", TABLE_11)
def test_2005_table_11(n):
    for k, printed in zip((3, 4, 5, 10), TABLE_11[n], strict=True):
        count = count_partitions(n, k)
        if "e" in printed:
            mantissa, exponent = printed.split("e")
            unit = 10 ** (int(exponent) - 3)
            assert abs(count - int(mantissa.replace(".", "")) * unit) * 2 <= unit
        else:
            assert count == int(printed)


def appendix_a(k, largest, n, m=0):
    """2005 expressions (4) to (6) put right: partitions with at least m groups of size k."""
    if k > largest:
        return int(n == 0)
    if n < m * k:
        return 0
    ways = factorial(n) // (factorial(k) ** m * factorial(m) * factorial(n - m * k))
    return ways * appendix_a(k + 1, largest, n - m * k) + appendix_a(k, largest, n, m + 1)


@given(st.integers(0, 40), st.integers(1, 8))
def test_count_agrees_with_appendix_a(n, k):
    assert count_partitions(n, k) == appendix_a(k, 2 * k - 1, n)


@pytest.mark.parametrize(("n", "k"), list(product(range(9), (1, 2, 3, 4))))
def test_count_agrees_with_enumeration(n, k):
    def partitions(records):
        if not records:
            yield []
        for rest in partitions(records[1:]) if records else ():
            yield [[records[0]], *rest]
            for i, group in enumerate(rest):
                yield [*rest[:i], [records[0], *group], *rest[i + 1 :]]

    found = sum(all(k <= len(g) < 2 * k for g in p) for p in partitions(list(range(n))))
    assert count_partitions(n, k) == found


def test_count_of_two_groups():
    assert count_partitions(20, 10) == comb(20, 10) // 2
    assert count_partitions(2, 3) == 0
    for n, k in ((-1, 3), (5, 0), (2.5, 1)):
        with pytest.raises(InputError, match="must be a whole number"):
            count_partitions(n, k)
