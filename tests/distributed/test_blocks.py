"""Division of records into blocks of similar ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import KINDS, make_table

pytest.importorskip("distributed")

from microagg_gpu.distributed.blocks import balance, borders, plan


def divided(points, sets, size, least):
    """A forest made of all records, counted and balanced, and the block of each record."""
    counts = np.bincount(sets)
    forest = plan(sets, points, counts, size, least)
    numbers = np.arange(len(points))
    found = np.bincount(forest.block_of(sets, points, numbers), minlength=forest.blocks)
    forest = balance(forest, found, size, least)
    return forest, forest.block_of(sets, points, numbers)


@given(
    st.sampled_from(KINDS), st.integers(1, 400), st.integers(1, 5), st.integers(1, 5),
    st.integers(1, 3), st.integers(0, 10**6),
)  # fmt: skip
def test_blocks_are_neither_too_small_nor_too_large(kind, n, d, k, sets, seed):
    points = make_table(kind, n, d, seed)
    of = np.random.default_rng(seed).integers(0, min(sets, n), n)
    of = np.unique(of, return_inverse=True)[1]
    size, least = 40, 2 * k
    forest, block = divided(points, of, size, least)
    assert block.min() >= 0
    assert block.max() < forest.blocks
    sizes = np.bincount(block, minlength=forest.blocks)
    assert sizes.max() <= 2 * size
    for one in range(of.max() + 1):
        mine = np.bincount(block[of == one])
        if (mine > 0).sum() > 1:  # this set was divided: its blocks are its own
            assert mine[mine > 0].min() >= min(least, size // 2)
            assert not set(block[of == one]) & set(block[of != one])


def test_a_cut_goes_across_the_largest_spread():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1000, 2)) * [1, 10]
    forest, block = divided(points, np.zeros(1000, dtype=np.int64), 500, 10)
    assert forest.blocks == 2
    assert abs(forest.direction[0, 1]) == pytest.approx(1, abs=0.01)
    low, high = points[block == 0, 1], points[block == 1, 1]
    assert min(low.max(), high.max()) == pytest.approx(np.median(points[:, 1]), abs=1)


def test_small_sets_share_a_block():
    sets = np.repeat(np.arange(10), 30)
    forest, block = divided(np.zeros((300, 1)), sets, 100, 6)
    assert forest.blocks == 4
    assert [len(set(block[sets == one])) for one in range(10)] == [1] * 10


def test_cuts_around_a_block_are_those_on_the_way_to_it():
    points = np.random.default_rng(1).normal(size=(800, 3))
    sets = np.zeros(800, dtype=np.int64)
    forest, block = divided(points, sets, 100, 10)
    for one in range(forest.blocks):
        way, at = [], int(forest.start[0])
        point = points[block == one][0]
        while at >= 0:
            way.append(at)
            at = int(forest.child[at, int(point @ forest.direction[at] > forest.threshold[at])])
        assert sorted(forest.cuts_around(one)) == way


def test_groups_beside_a_cut_are_found():
    points = np.linspace(0, 1, 100)[:, np.newaxis] * 99
    forest, block = divided(points, np.zeros(100, dtype=np.int64), 50, 10)
    mine = points[block == block[0]]
    labels = np.arange(50) // 5
    centres = np.repeat(mine.reshape(10, 5).mean(axis=1), 5)[:, np.newaxis]
    found = borders(forest, int(block[0]), mine, labels, centres)
    assert found.tolist() == [-1] * 9 + [0]  # only the last group is within 2 of the cut at 49
