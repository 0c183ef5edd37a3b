"""Sums of the generic engine are correctly rounded, in whatever order records come and go."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microagg_gpu.kernels.generic.sums import Total, correctly_rounded_sum

# A pair of floats holds about 106 bits: room for what lies within 50 bits of the largest term.
numbers = st.lists(
    st.floats(1e-9, 1e6) | st.floats(-1e6, -1e-9) | st.integers(-1000, 1000).map(lambda i: i / 10),
    min_size=1,
    max_size=60,
)


@given(numbers)
def test_sum_is_what_fsum_gives(values):
    assert float(correctly_rounded_sum(np.array([values]))[0]) == math.fsum(values)


@given(numbers, st.randoms(use_true_random=False))
def test_records_that_leave_in_any_order_leave_no_trace(values, random):
    total = Total(np.array([values])).fold()
    order = list(values)
    random.shuffle(order)
    gone, kept = order[: len(order) // 2], order[len(order) // 2 :]
    for x in gone:
        total.subtract(np.array([x]))
    assert float(total.value[0]) == math.fsum(kept)
