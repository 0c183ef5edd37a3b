"""Paths through records and their optimal cuts: by brute force, and the same in every engine."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.methods import mdav, optimal, path, path_order
from helpers.strategies import KINDS, cases, make_table
from microagg_gpu import InputError, microaggregate
from microagg_gpu.data.labels import labels_from_sizes
from microagg_gpu.kernels import cpu, generic
from microagg_gpu.kernels.cpu import paths, segments
from microagg_gpu.kernels.generic import paths as reference
from microagg_gpu.methods.path import ORDERS
from microagg_gpu.methods.ranked import fixed_sizes

ENGINES = [generic, cpu]


def sse(points: np.ndarray) -> float:
    """Of one group, about its mean."""
    return float(((points - points.mean(axis=0)) ** 2).sum())


def sse_of(points: np.ndarray, labels: np.ndarray) -> float:
    return sum(sse(points[labels == g]) for g in np.unique(labels))


def cuts(n: int, k: int):
    """All ways to cut n records into groups of k to 2k - 1."""
    if n == 0:
        yield []
    for m in range(k, min(2 * k - 1, n) + 1):
        for rest in cuts(n - m, k):
            yield [m, *rest]


def least_sse(points: np.ndarray, k: int) -> float:
    """Of all cuts of a path."""
    ends = [np.cumsum(sizes) for sizes in cuts(len(points), k)]
    return min(sum(sse(group) for group in np.split(points, end[:-1])) for end in ends)


def length(points: np.ndarray, order: np.ndarray) -> float:
    """Of a closed tour."""
    return math.fsum(np.linalg.norm(points[order] - points[np.roll(order, -1)], axis=1))


def nearest_next(points: np.ndarray) -> list[int]:
    """Nearest point next in plain Python."""

    def square(a, b):
        total = 0.0
        for x, y in zip(a, b, strict=True):
            total += (x - y) * (x - y)
        return total

    rows = points.tolist()
    centroid = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    left = list(range(len(rows)))
    order = [max(left, key=lambda i: (square(rows[i], centroid), -i))]
    left.remove(order[0])
    while left:
        order.append(min(left, key=lambda i: (square(rows[i], rows[order[-1]]), i)))
        left.remove(order[-1])
    return order


# Cuts ---------------------------------------------------------------------------------------------


@given(st.sampled_from(KINDS), st.integers(1, 13), st.integers(1, 4), st.integers(1, 30), st.data())
def test_cut_is_the_best_of_all(kind, n, k, d, data):
    k = min(k, n)
    points = make_table(kind, n, d, data.draw(st.integers(0, 10**6)))
    for engine in ENGINES:
        sizes, total = engine.optimal_path_sizes(points, k)
        assert sizes.tolist() in list(cuts(n, k))
        groups = np.split(points, np.cumsum(sizes)[:-1])
        least = least_sse(points, k)
        assert total == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert sum(map(sse, groups)) == pytest.approx(least, rel=1e-9, abs=1e-9)


@given(cases())
def test_same_cut_in_both_engines(case):
    sizes, total = generic.optimal_path_sizes(case.data, case.k)
    found = cpu.optimal_path_sizes(case.data, case.k)
    assert found[0].dtype == np.int64
    assert found[0].tolist() == sizes.tolist()
    assert found[1] == total


@pytest.mark.parametrize("k", [1, 3, 70])
def test_chunks_do_not_change_the_cut(k, monkeypatch):
    points = make_table("grid", 900, 3, seed=k)
    expected = generic.optimal_path_sizes(points, k)
    monkeypatch.setattr(segments, "_CHUNK", 1)
    sizes, total = cpu.optimal_path_sizes(points, k)
    assert sizes.tolist() == expected[0].tolist()
    assert total == expected[1]


# Orders -------------------------------------------------------------------------------------------


@given(cases(most=400))
def test_nearest_path(case):
    expected = nearest_next(case.data)
    for engine in ENGINES:
        order = engine.nearest_path(case.data)
        assert order.dtype == np.int64
        assert order.tolist() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_nearest_path_of_many_records(kind):
    """More than one level of the tree, which is built anew as it empties."""
    points = make_table(kind, 2500, 3, seed=1)
    fractions: list[float] = []
    assert cpu.nearest_path(points, fractions.append).tolist() == nearest_path(points).tolist()
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def nearest_path(points: np.ndarray) -> np.ndarray:
    """As `nearest_next`, in NumPy for many records."""
    left = np.ones(len(points), dtype=bool)
    centroid = np.array([math.fsum(column) for column in points.T.tolist()]) / len(points)
    order = [int(np.argmax(squares(points, centroid)))]
    for _ in range(1, len(points)):
        left[order[-1]] = False
        order.append(int(np.argmin(np.where(left, squares(points, points[order[-1]]), np.inf))))
    return np.array(order)


def squares(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    total = np.zeros(len(points))
    for x, t in zip(points.T, target, strict=True):
        total += (x - t) ** 2
    return total


@given(cases(most=400), st.integers(1, 12), st.booleans())
def test_tours(case, m, shuffled):
    """The engines make the same moves, and a tour never grows."""
    n = len(case.data)
    near = generic.neighbours(case.data, min(m, n - 1))[1]
    before = np.random.default_rng(n).permutation(n) if shuffled else cpu.nearest_path(case.data)
    order = cpu.shorten_tour(case.data, before, near)
    assert order.dtype == np.int64
    assert order.tolist() == generic.shorten_tour(case.data, before, near).tolist()
    assert sorted(order.tolist()) == list(range(n))
    assert length(case.data, order) <= length(case.data, before) * (1 + 1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_tour_of_a_circle_goes_round_it(engine):
    """A closed tour that 2-opt cannot shorten does not cross itself (Flood 1956)."""
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    near = engine.neighbours(points, 39)[1]
    for seed in range(5):
        order = engine.shorten_tour(points, np.random.default_rng(seed).permutation(40), near)
        assert set(np.abs(np.diff(order))) <= {1, 39}


def test_tour_of_few_records_is_nearly_the_shortest():
    for seed in range(6):
        points = make_table("random", 8, 2, seed)
        near = cpu.neighbours(points, 7)[1]
        order = cpu.shorten_tour(points, cpu.nearest_path(points), near)
        every = itertools.permutations(range(1, 8))
        least = min(length(points, np.array([0, *rest])) for rest in every)
        assert least * (1 - 1e-12) <= length(points, order) <= 1.05 * least


def test_turns_and_progress_of_tours(monkeypatch):
    points = make_table("random", 300, 2, seed=0)
    near = cpu.neighbours(points, 8)[1]
    before = np.arange(300)
    expected = cpu.shorten_tour(points, before, near)
    monkeypatch.setattr(paths, "_SECONDS", 0.0)
    for engine in ENGINES:
        fractions: list[float] = []
        assert (
            engine.shorten_tour(points, before, near, fractions.append).tolist()
            == expected.tolist()
        )
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_hilbert_curve_goes_to_a_neighbouring_cell(d, monkeypatch):
    monkeypatch.setattr(reference, "BITS", 3)
    cells = np.indices((8,) * d).reshape(d, -1)
    order = np.lexsort(reference._hilbert_keys(cells)[::-1])
    assert (np.abs(np.diff(cells[:, order], axis=1)).sum(axis=0) == 1).all()


@given(cases())
def test_curve(case):
    order = cpu.hilbert_path(case.data)
    assert sorted(order.tolist()) == list(range(len(case.data)))


def test_curve_of_one_direction_ranks():
    """In the plane too, where the curve passes along a side of its square without turning back."""
    values = np.random.default_rng(0).permutation(500)
    for points in (values[:, np.newaxis], np.outer(values, [3.0, 1.0])):
        order = cpu.hilbert_path(points)
        assert np.abs(np.diff(values[order])).max() == 1


@given(cases())
def test_mdav_order_keeps_groups_together(case):
    order = path_order(case.data, case.k, "mdav", engine="cpu")
    labels = mdav(case.data, case.k, engine="cpu")[order]
    assert sorted(order.tolist()) == list(range(len(order)))
    assert np.count_nonzero(np.diff(labels)) == len(np.unique(labels)) - 1


def test_mdav_order_goes_on_from_group_to_group():
    """Groups of neighbours on a line, each from end to end."""
    points = np.outer(np.arange(21.0), [1.0, 2.0])
    order = path_order(points, 3, "mdav", engine="cpu")
    assert order.tolist() in (list(range(21)), list(range(20, -1, -1)))


# The method ---------------------------------------------------------------------------------------


@given(cases(most=300))
@pytest.mark.parametrize("order", [*ORDERS, "all"])
def test_same_groups_in_both_engines(order, case):
    labels = path(case.data, case.k, order=order, engine="cpu")
    assert labels.tolist() == path(case.data, case.k, order=order, engine="generic").tolist()
    sizes = np.bincount(labels)
    assert case.k <= sizes.min()
    assert sizes.max() < 2 * case.k


@given(cases(d=1))
def test_one_variable_is_cut_as_by_the_optimal_method(case):
    expected = optimal(case.data, case.k, engine="cpu")
    for order in ORDERS:
        assert path(case.data, case.k, order=order, engine="cpu").tolist() == expected.tolist()


@given(cases())
@pytest.mark.parametrize("order", ORDERS)
def test_never_worse_than_groups_of_k(order, case):
    records = path_order(case.data, case.k, order, engine="cpu")
    fixed = labels_from_sizes(records, fixed_sizes(records, case.k, "last"))
    found = path(case.data, case.k, order=order, engine="cpu")
    assert sse_of(case.data, found) <= sse_of(case.data, fixed) * (1 + 1e-9) + 1e-9


@given(st.sampled_from(KINDS), st.integers(8, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_closed_tour_is_cut_at_the_best_place(kind, n, k, seed):
    points = make_table(kind, n, 3, seed)
    records = path_order(points, k, "tour", engine="cpu")
    least = min(least_sse(points[np.roll(records, i)], k) for i in range(n))
    found = sse_of(points, path(points, k, order="tour", engine="cpu"))
    assert found == pytest.approx(least, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_all_is_the_best_of_each(kind):
    points = make_table(kind, 300, 4, seed=5)
    each = [sse_of(points, path(points, 4, order=order)) for order in ORDERS]
    assert sse_of(points, path(points, 4)) == pytest.approx(min(each), rel=1e-9, abs=1e-9)


def test_progress_and_wrong_orders():
    data = make_table("random", 400, 3, seed=2)
    fractions: list[float] = []
    microaggregate(data, 4, "path", progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    with pytest.raises(InputError, match="order='best' is unknown"):
        microaggregate(data, 4, "path", order="best")
