"""The CPU engine's minimum spanning tree and cutting of it against the generic engine's."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg_gpu.kernels.generic as generic
from helpers.methods import mst
from helpers.strategies import KINDS, Case, cases, make_table
from microagg_gpu.kernels.cpu import mst as cpu


def outlier(n: int, d: int) -> np.ndarray:
    data = make_table("random", n, d, 3)
    data[n // 2] = 1e6
    return data


def copies(n: int, distinct: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.normal(size=(distinct, d))[rng.integers(0, distinct, size=n)]


HARD = {
    **{f"{kind}-{d}": make_table(kind, 700, d, 1) for kind in KINDS for d in (1, 3, 10)},
    "random-200": make_table("random", 300, 200, 2),
    "outlier": outlier(500, 4),
    "thousand copies": copies(3000, 3, 2),
    "copies and others": np.concatenate([copies(1000, 1, 2), make_table("random", 900, 2, 4)]),
    "line": np.arange(500.0, 0.0, -1.0)[:, np.newaxis],
    "plane grid": np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), -1).reshape(-1, 2),
    "float32": make_table("random", 400, 3, 6).astype(np.float32).astype(float),
    "large clusters": make_table("random", 12, 2, 7).repeat(100, axis=0)
    + np.random.default_rng(8).normal(0, 0.01, size=(1200, 2)),
    "underflow": np.random.default_rng(9).integers(0, 5, size=(300, 2)) * 1e-170,
}


def assert_same_tree(found: tuple, data: np.ndarray) -> None:
    edges, lengths = generic.minimum_spanning_tree(data)
    assert np.array_equal(found[0], edges)
    assert np.array_equal(found[1], lengths)


@pytest.mark.parametrize("name", HARD)
def test_tree(name):
    assert_same_tree(cpu.minimum_spanning_tree(HARD[name]), HARD[name])


@given(case=cases())
def test_tree_of_any_table(case: Case):
    assert_same_tree(cpu.minimum_spanning_tree(case.data), case.data)


@pytest.mark.parametrize("d", [2, 60])
def test_large_trees(d):
    data = make_table("random", 2500, d, 1)
    assert_same_tree(cpu.minimum_spanning_tree(data), data)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_and_places_far_away(scale):
    data = make_table("clustered", 1500, 4, 3) * scale + 1e3 * scale
    assert_same_tree(cpu.minimum_spanning_tree(data), data)


def test_threads_do_not_matter():
    data = make_table("clustered", 3000, 5, 2)
    before = numba.get_num_threads()
    one = []
    try:
        for threads in {1, before}:
            numba.set_num_threads(threads)
            one.append(cpu.minimum_spanning_tree(data))
    finally:
        numba.set_num_threads(before)
    for edges, lengths in one:
        assert np.array_equal(edges, one[0][0])
        assert np.array_equal(lengths, one[0][1])


def test_progress():
    fractions: list[float] = []
    cpu.minimum_spanning_tree(make_table("random", 3000, 3, 1), fractions.append)
    assert fractions == sorted(fractions)
    assert 0.0 < fractions[-1] <= 1.0


@st.composite
def trees(draw):
    """Any tree of up to 60 nodes, with lengths of few values, and a group size."""
    n = draw(st.integers(1, 60))
    names = draw(st.permutations(range(n)))
    ends = [(names[draw(st.integers(0, i - 1))], names[i]) for i in range(1, n)]
    edges = np.sort(np.array(ends, dtype=np.int64).reshape(-1, 2), axis=1)
    lengths = np.array(draw(st.lists(st.integers(0, 5), min_size=n - 1, max_size=n - 1)), float)
    return edges, lengths, n, draw(st.integers(1, n))


@given(case=trees())
def test_cutting_of_any_tree(case):
    expected = generic.cut_edges(*case)
    assert np.array_equal(cpu.cut_edges(*case), expected)
    edges, lengths, *rest = case
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))  # as engines return them
    assert np.array_equal(cpu.cut_edges(edges[order], lengths[order], *rest), expected)


@pytest.mark.parametrize("k", [1, 2, 5, 40, 2000])
@pytest.mark.parametrize("shape", ["path", "star", "random"])
def test_cutting_of_large_trees(shape, k):
    rng = np.random.default_rng(k)
    n = 4000
    above = {
        "path": np.arange(n - 1),
        "star": np.zeros(n - 1, dtype=np.int64),
        "random": (rng.random(n - 1) * np.arange(1, n)).astype(np.int64),
    }[shape]
    names = rng.permutation(n)
    edges = np.sort(np.stack([names[above], names[1:]], axis=1), axis=1)
    lengths = rng.integers(0, 1000, size=n - 1).astype(float)
    assert np.array_equal(
        cpu.cut_edges(edges, lengths, n, k), generic.cut_edges(edges, lengths, n, k)
    )


@pytest.mark.parametrize("split", [None, "diameter", "centroid"])
@pytest.mark.parametrize("kind", KINDS)
def test_method(kind, split):
    data = make_table(kind, 240, 3, 4)
    for k in (2, 5):
        labels = mst(data, k, split=split, engine="cpu")
        assert np.array_equal(labels, mst(data, k, split=split, engine="generic"))
