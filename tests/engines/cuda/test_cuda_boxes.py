"""The search tree on the device: every record once, in boxes that hold it."""

import numpy as np
import pytest

from helpers.simulators import size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels.cuda import boxes
from microagg_gpu.kernels.cuda.warp import LANES

SIZES = [1, 2, LANES, LANES + 1, LANES**2, LANES**2 + 1, size(150, 5000)]


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_boxes_hold_their_records(kind, real):
    for n in SIZES:
        check(make_table(kind, n, 3, seed=n).astype(real))


@pytest.mark.parametrize("values", [[-1e308, 1e308], [0.0, 5e-324], [1.0, 1.0 + 2.0**-52]])
def test_values_whose_spread_is_no_number_or_the_least_one(values):
    rng = np.random.default_rng(1)
    check(rng.choice(values, size=(size(40, 3000), 2)))


def test_equal_records_keep_their_order():
    """So that boxes of duplicates can be told apart by their lowest records."""
    tree = boxes.build(np.full((size(50, 3000), 2), 0.3))
    found = tree.record.reshape(-1)
    assert found[found >= 0].tolist() == list(range(size(50, 3000)))


def test_records_near_each_other_share_a_leaf():
    n = size(16, 4096)
    points = np.random.default_rng(3).permutation(np.arange(float(n)))[:, None]
    tree = boxes.build(points)
    assert np.all(np.ptp(tree.value[:, 0], axis=1) == LANES - 1)


def check(points: np.ndarray) -> None:
    n, d = points.shape
    tree = boxes.build(points)
    leaves = -(-n // LANES)
    assert tree.record.shape == (leaves, LANES)
    assert tree.value.shape == (leaves, d, LANES)
    assert tree.value.dtype == tree.low.dtype == tree.high.dtype == points.dtype
    assert all(array.flags.c_contiguous for array in tree)
    there = tree.record.reshape(-1) >= 0
    assert np.array_equal(np.sort(tree.record.reshape(-1)[there]), np.arange(n))
    rows = tree.value.transpose(0, 2, 1).reshape(-1, d)
    assert np.array_equal(rows[there], points[tree.record.reshape(-1)[there]])
    assert np.all(np.isnan(rows[~there]))
    inside = [tree.record[leaf][tree.record[leaf] >= 0] for leaf in range(leaves)]
    for level, (first, last) in enumerate(zip(tree.start[:-1], tree.start[1:], strict=True)):
        assert last - first == -(-len(inside) // LANES), level
        for i in range((last - first) * LANES):
            block, lane = first + i // LANES, i % LANES
            mine = inside[i] if i < len(inside) else np.empty(0, dtype=np.int64)
            assert tree.held[block, lane] == len(mine)
            if len(mine):
                assert tree.lowest[block, lane] == mine.min()
                assert np.array_equal(tree.low[block, :, lane], points[mine].min(axis=0))
                assert np.array_equal(tree.high[block, :, lane], points[mine].max(axis=0))
            else:
                assert tree.lowest[block, lane] == boxes.NONE
                assert np.all(tree.low[block, :, lane] == np.inf)
                assert np.all(tree.high[block, :, lane] == -np.inf)
        inside = [np.concatenate(inside[i : i + LANES]) for i in range(0, len(inside), LANES)]
    assert len(inside) == 1
