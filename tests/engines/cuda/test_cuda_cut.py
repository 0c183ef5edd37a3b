"""The cutting of a spanning tree in rounds against the generic engine's, label by label."""

import numpy as np
import pytest

from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import cut


def check(edges: np.ndarray, lengths: np.ndarray, k: int, rounds: bool = True) -> None:
    """Edges as engines return them; `rounds` says whether the device must come to an end."""
    n = len(edges) + 1
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    edges, lengths = edges[order], lengths[order]
    expected = generic.cut_edges(edges, lengths, n, k)
    found = cut.cut_in_rounds(edges, lengths, n, k)
    assert (found is not None) == rounds
    if found is not None:
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    assert np.array_equal(cut.cut_edges(edges, lengths, n, k), expected)


def tree_of(above: np.ndarray, names: np.ndarray, lengths: np.ndarray) -> tuple:
    edges = np.sort(np.stack([names[above], names[1:]], axis=1), axis=1)
    return edges.astype(np.int64), lengths.astype(float)


@pytest.fixture(autouse=True)
def few_records_are_cut_on_the_device(monkeypatch):
    monkeypatch.setattr(cut, "FEWEST", 2)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_records(kind):
    for n, d, ks in [(size(20, 400), 2, (2, 5)), (size(9, 150), 1, (3,)), (size(12, 90), 30, (4,))]:
        edges, lengths = generic.minimum_spanning_tree(make_table(kind, n, d, seed=n))
        for k in ks:
            check(edges, lengths, k)


@pytest.mark.parametrize("shape", ["path", "star", "random", "bushy"])
def test_any_tree(shape):
    """Lengths of few values, so that many are equal."""
    n = size(24, 600)
    for seed, k in enumerate((1, 2, 3, 7, n // 2, n)):
        rng = np.random.default_rng(seed)
        share = {"path": 1.0, "star": 0.0}.get(shape)
        draws = rng.random(n - 1) ** (0.2 if shape == "bushy" else 1) if share is None else share
        above = (draws * np.arange(n - 1)).astype(np.int64)
        values = n if shape == "path" else 6  # equal ones along a path wait for each other
        check(*tree_of(above, rng.permutation(n), rng.integers(0, values, size=n - 1)), k)


def test_fewer_than_two_edges():
    nothing = np.empty((0, 2), dtype=np.int64), np.empty(0)
    assert np.array_equal(cut.cut_edges(*nothing, 1, 1), [0])
    check(np.array([[0, 1]]), np.array([2.0]), 1)
    check(np.array([[0, 1]]), np.array([2.0]), 2)


def test_the_host_cuts_where_edges_wait_for_each_other(monkeypatch):
    n = size(12, 300)
    line = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    monkeypatch.setattr(cut, "ROUNDS", size(3, 64))
    check(line, np.ones(n - 1), 3, rounds=False)
    check(line, np.arange(1.0, n), 3, rounds=False)
    check(line, np.arange(1.0, n), n)


def test_a_record_with_too_many_edges_to_look_at(monkeypatch):
    """Two hubs: a walk from the edge between them gives up, until all others have decided."""
    monkeypatch.setattr(cut, "ROUNDS", 4)
    n = size(200, 900)
    hubs = np.concatenate([[0], np.arange(n - 1) % 2])
    names = np.random.default_rng(1).permutation(n)
    above = np.where(hubs[1:] == 0, 0, 1)
    above[0] = 0
    for longest in (0, n // 2):
        lengths = np.ones(n - 1)
        lengths[longest] = 2.0
        edges, _ = tree_of(above, names, lengths)
        order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
        expected = generic.cut_edges(edges[order], lengths[order], n, 3)
        assert np.array_equal(cut.cut_edges(edges[order], lengths[order], n, 3), expected)


def test_one_round_after_the_other_with_few_edges_a_launch(monkeypatch):
    monkeypatch.setattr(cut, "WORK", 1)
    edges, lengths = generic.minimum_spanning_tree(make_table("clustered", size(20, 600), 2, 3))
    check(edges, lengths, 3)


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
def test_few_rounds_are_enough(monkeypatch):
    monkeypatch.setattr(cut, "ROUNDS", 12)
    edges, lengths = generic.minimum_spanning_tree(make_table("clustered", 2500, 4, seed=5))
    check(edges, lengths, 4)


def test_few_records_and_large_groups_are_left_to_the_host(monkeypatch):
    def refuse(*_):
        raise AssertionError("on the device")

    edges, lengths = generic.minimum_spanning_tree(make_table("random", 12, 2, seed=1))
    monkeypatch.setattr(cut, "cut_in_rounds", refuse)
    monkeypatch.setattr(cut, "FEWEST", 13)
    cut.cut_edges(edges, lengths, 12, 3)
    monkeypatch.setattr(cut, "FEWEST", 12)
    monkeypatch.setattr(cut, "LARGEST_K", 2)
    cut.cut_edges(edges, lengths, 12, 3)
    with pytest.raises(AssertionError):
        cut.cut_edges(edges, lengths, 12, 2)
