"""The filter in single precision lets through whatever may be within a limit, at any scale."""

import numpy as np
import pytest
from numba import cuda

from helpers.methods import assert_spanning_tree
from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import boxes, mst, search
from microagg_gpu.kernels.cuda.launching import launch
from microagg_gpu.kernels.cuda.single import (
    EACH,
    PARTS,
    SEEKERS,
    flattened,
    greatest_square,
    may_be_near,
)
from microagg_gpu.kernels.cuda.warp import LANES

REALS = [np.float64] if SIMULATOR else [np.float64, np.float32]
N = size(11, 90)


def hard_table(kind: str, n: int, d: int) -> np.ndarray:
    """A table whose distances are hard to tell apart in single precision."""
    rng = np.random.default_rng(n)
    points = make_table("random", n, d, seed=n)
    if kind == "far from zero":
        return points + 1e9
    if kind == "an outlier":
        points[rng.integers(n)] = 1e12
        return points
    if kind == "two scales":
        return points * 10.0 ** -rng.integers(0, 12, size=(n, 1))
    if kind == "last bits":  # distances that differ by units in the last place
        grid = rng.integers(1, 4, size=(n, d)).astype(float)
        return grid * (1 + rng.integers(-2, 3, size=(n, d)) * 2.0**-52)
    if kind == "seen as equal":
        return 1 + rng.integers(0, 5, size=(n, d)) * 2.0**-40
    if kind == "squares nearly vanish":
        return rng.integers(0, 4, size=(n, d)) * 2.0**-537
    if kind == "squares vanish":
        return rng.integers(0, 4, size=(n, d)) * 2.0**-700
    return points * 2.0 ** float(kind)


HARD = ["far from zero", "an outlier", "two scales", "last bits", "seen as equal"]
HARD += ["squares nearly vanish", "-300", "200", "490"]
HARD += [] if SIMULATOR else ["squares vanish"]  # NumPy warns of what is too large there


@cuda.jit
def ask(tree, group, leaf, limits, found):
    """What the filter lets through of a leaf for each lane of a warp."""
    lane = cuda.threadIdx.x
    if lane >= LANES:
        return
    own = group % PARTS * SEEKERS + lane % SEEKERS
    most = greatest_square(tree, limits[lane % SEEKERS])
    found[lane] = may_be_near(tree, leaf, group // PARTS, own, lane // SEEKERS, most)


def distances(points: np.ndarray) -> np.ndarray:
    """Squared distances as engines decide by them."""
    total = np.zeros((len(points), len(points)), dtype=points.dtype)
    for x in points.T:
        total += (x[:, None] - x) ** 2
    return total


def check(points: np.ndarray) -> float:
    """Ask for limits that a record is at, just beyond and just within; the share let through."""
    tree = boxes.build(points)
    flat, away = flattened(tree), distances(points)
    found = np.zeros(LANES, dtype=np.int32)
    limits = np.empty(SEEKERS, dtype=points.dtype)
    through = asked = 0
    for group in range(len(tree.record) * PARTS):
        seekers = tree.record[group // PARTS][group % PARTS * SEEKERS :][:SEEKERS]
        for leaf, records in enumerate(tree.record):
            there = records >= 0
            for i, r in enumerate(seekers):
                at = records[there][(group + i) % there.sum()]
                limits[i] = np.nextafter(away[r, at], [-1, away[r, at], np.inf][group % 3])
            launch(ask, 1, flat, group, leaf, limits, found)
            bits = (found[:, None] >> np.arange(EACH)) & 1
            passed = bits.reshape(PARTS, SEEKERS, EACH).transpose(1, 0, 2).reshape(SEEKERS, LANES)
            for i, r in enumerate(seekers):
                if r >= 0:
                    within = there & (away[r, records] <= limits[i])
                    assert np.all(passed[i][within] == 1)
                    assert np.all(passed[i][~there] == 0)
                    through, asked = through + passed[i].sum() - within.sum(), asked + LANES
    return through / asked


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_within_a_limit_is_held_back(kind, real):
    check(make_table(kind, N, 3, seed=1).astype(real))


@pytest.mark.parametrize("kind", HARD)
def test_nothing_within_a_limit_is_held_back_at_any_scale(kind):
    check(hard_table(kind, N, 2))


@pytest.mark.skipif(SIMULATOR, reason="NumPy warns of every product that is too large")
@pytest.mark.parametrize("scale", [1e160, 3e307])
def test_squares_too_large_for_numbers(scale):
    with np.errstate(over="ignore"):
        check(np.random.default_rng(1).uniform(-1, 1, size=(N, 2)) * scale)


@pytest.mark.parametrize("power", [-60, 0, 60] if not SIMULATOR else [0])
def test_single_precision_at_any_scale(power):
    points = make_table("random", N, 3, seed=2) * 2.0**power
    check(points.astype(np.float32))


@pytest.mark.parametrize("kind", ["random", "clustered", "far from zero", "200"])
def test_hardly_anything_else_passes(kind):
    make = make_table if kind in KINDS else lambda kind, n, d, seed: hard_table(kind, n, d)
    assert check(make(kind, N, 3, seed=3)) < 0.1


@pytest.mark.parametrize("kind", HARD)
def test_trees_of_hard_tables(kind):
    for n, d in [(N, 2), (size(7, 300), 5)]:
        points = hard_table(kind, n, d)
        assert_spanning_tree(*mst.minimum_spanning_tree(points), points)


@pytest.mark.parametrize("kind", HARD)
def test_lists_of_hard_tables(kind):
    points = hard_table(kind, size(9, 300), 3)
    squares, records = search.neighbours(points, 3)
    expected, expected_records = generic.neighbours(points, 3)
    np.testing.assert_array_equal(squares, expected)
    np.testing.assert_array_equal(records, expected_records)


def test_equal_records_are_not_looked_at_one_by_one():
    """Their leaves are at the same distance and their numbers come later: one leaf is enough."""
    n = size(40, 4000)
    tree = flattened(boxes.build(np.repeat([[0.25, 1.0], [7.0, 1.0]], n // 2, axis=0)))
    squares, records = np.empty((n, 2)), np.empty((n, 2), dtype=np.int64)
    groups = search.groups_in(tree)
    assert search.fill_rows(tree, 0, groups, squares, records) <= 4 * groups


@pytest.mark.skipif(SIMULATOR, reason="NumPy warns of every product that is too large")
def test_records_without_any_number_for_a_distance():
    """Lists end early, of a record alone in its leaf there is none; Prim's method takes over."""
    points = np.random.default_rng(4).normal(size=(3 * LANES + 1, 2))
    points[-1] = 1e200
    assert_spanning_tree(*mst.minimum_spanning_tree(points), points)
