"""The CPU engine's words about ranked values and tours, and the methods that use them.

To the bit what the generic engine gives, on hard cases too.
"""

import math
from functools import partial

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg_gpu.kernels.generic as generic
import microagg_gpu.kernels.generic.genetic as reference
from helpers.methods import run
from helpers.strategies import KINDS, cases, make_table
from microagg_gpu.data.labels import labels_from_groups, numbered
from microagg_gpu.kernels.cpu import genetic, segments, sums, tours
from microagg_gpu.methods.ranked import ranking
from microagg_gpu.methods.tsp import groups_from_counts, path_counts
from microagg_gpu.pipeline.partition import Partition
from reference import naive, naive_genetic, naive_tsp


def hard_columns() -> dict[str, np.ndarray]:
    """One variable: ties by the thousand, an outlier, no spread, few records, from float32."""
    rng = np.random.default_rng(0)
    return {
        "random": rng.normal(size=3001),
        "grid": rng.integers(0, 40, size=3000).astype(float),
        "thousands": np.repeat([3.0, 1.0, 2.5, 1.0], [1500, 1200, 3, 997]),
        "equal": np.full(2500, 0.3),
        "outlier": np.append(rng.normal(size=500), 1e9),
        "float32": rng.lognormal(size=2000).astype(np.float32).astype(float),
        "signed zeros": np.array([0.0, -0.0, 1.0, -0.0, 0.0, -1.0, 0.0]),
        "arithmetic": np.arange(1000.0),
        "two": np.array([2.0, 1.0]),
        "one": np.array([5.0]),
    }


HARD = hard_columns()


def group_sizes(n: int) -> list[int]:
    return sorted(
        {k for k in (1, 2, 3, 7, 64, 65, 150, n // 2, n) if 1 <= k <= n and k * n < 10**6}
    )


def same_labels(points: np.ndarray, k: int, method: str, **options) -> np.ndarray:
    """Labels by the CPU engine, after comparing them with the generic engine's."""
    function = partial(run, method)
    labels = function(points, k, engine="cpu", **options)
    assert np.array_equal(labels, function(points, k, engine="generic", **options))
    return labels


@pytest.mark.parametrize("name", HARD)
def test_sizes_and_labels_of_hard_columns(name):
    column = HARD[name]
    ranked = np.sort(column)[:, np.newaxis]
    for k in group_sizes(len(column)):
        (sizes,) = segments.optimal_sizes(ranked, k)
        assert sizes.dtype == np.int64
        assert np.array_equal(sizes, generic.optimal_sizes(ranked, k)[0])
        for method in ("fixed", "optimal"):
            same_labels(column[:, np.newaxis], k, method)
        same_labels(column[:, np.newaxis], k, "genetic", generations=3, seed=k)


def plain_sizes(ranked: list[float], k: int) -> list[int]:
    """The shortest path of Hansen and Mukherjee in plain Python, one end after the other."""
    n = len(ranked)
    cost = {}
    for i in range(n):
        mean, total = ranked[i], 0.0
        for m in range(1, min(2 * k - 1, n - i) + 1):
            before = ranked[i + m - 1] - mean
            mean += before / m
            total += before * (ranked[i + m - 1] - mean)
            cost[i, m] = total
    best, size = [0.0] + [math.inf] * n, [0] * (n + 1)
    for j in range(k, n + 1):
        for m in range(k, min(2 * k - 1, j) + 1):
            if best[j - m] + cost[j - m, m] < best[j]:
                best[j], size[j] = best[j - m] + cost[j - m, m], m
    sizes = []
    while n:
        sizes.insert(0, size[n])
        n -= size[n]
    return sizes


@given(cases())
def test_optimal_sizes(case):
    ranked = np.sort(case.data, axis=0)
    expected = [plain_sizes(column, case.k) for column in ranked.T.tolist()]
    for words in (generic, segments):
        assert [sizes.tolist() for sizes in words.optimal_sizes(ranked, case.k)] == expected


@pytest.mark.parametrize("k", [1, 2, 3, 10, 100])
def test_chunks_do_not_change_the_sizes(k, monkeypatch):
    table = make_table("grid", 1000, 1, seed=k) + make_table("random", 1000, 1, 1)[0]
    ranked = np.sort(table, axis=0)
    (expected,) = generic.optimal_sizes(ranked, k)
    monkeypatch.setattr(segments, "_CHUNK", 1)
    assert np.array_equal(segments.optimal_sizes(ranked, k)[0], expected)


def drawn_strings(rng, n: int, k: int, population: int) -> tuple:
    """Any places in ascending order, and any draws."""
    width = n // k + 1
    strings = np.full((population, width), n)
    for row in strings:
        places = rng.permutation(n)[: rng.integers(0, min(width, n) + 1)]
        row[: len(places)] = np.sort(places)
    chosen = rng.integers(0, population, population)
    sites = np.where(rng.random(population // 2) < 0.7, rng.integers(0, n, population // 2), n)
    return strings, chosen, sites, rng.random((population, n)) < rng.choice([0, 0.05, 0.5, 1])


@given(st.integers(1, 60), st.integers(1, 20), st.integers(2, 9), st.integers(0, 10**6))
def test_breed_and_fitness(n, k, population, seed):
    k = min(k, n)
    rng = np.random.default_rng(seed)
    drawn = drawn_strings(rng, n, k, population)
    children = genetic.breed(*drawn, k)
    assert np.array_equal(children, reference.breed(*drawn, k))
    assert (children[:, 0] == 0).all()
    assert (children[:, -1] == n).all()
    sizes = np.diff(children)
    assert (sizes[sizes > 0] >= k).all()
    assert n < 2 * k or (sizes < 2 * k).all()
    prefix = np.concatenate([[0.0], np.cumsum(rng.normal(size=n))])
    fitness = genetic.population_fitness(prefix, children)
    assert np.array_equal(fitness, reference.population_fitness(prefix, children))


@given(st.lists(st.integers(0, 2**53 - 1)), st.integers(1, 10**6) | st.integers(1, 2**36 - 1))
def test_whole_numbers_below_another_are_exact(bits, m):
    draws = np.array([*bits, 0, 2**53 - 1]) * 2.0**-53
    assert reference.whole_below(draws, m).tolist() == [b * m >> 53 for b in [*bits, 0, 2**53 - 1]]


@given(cases(d=1, most=120))
@pytest.mark.parametrize("convergence", ["average", "maximal"])
def test_genetic(convergence, case):
    options = {"convergence": convergence, "generations": 9, "population": 5, "seed": case.k}
    labels = same_labels(case.data, case.k, "genetic", **options)
    groups = naive_genetic.genetic(case.data, case.k, convergence, 9, population=5, seed=case.k)
    assert Partition(labels, case.k).labels.tolist() == naive.labels_of(groups)


@given(cases(d=1))
def test_fixed(case):
    labels = same_labels(case.data, case.k, "fixed")
    expected = naive.labels_of(naive.fixed(case.data, case.k))
    assert Partition(labels, case.k).labels.tolist() == expected


@given(cases(most=150))
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("projection", {"inner": "optimal"}),
        ("individual", {"inner": "fixed"}),
        ("individual", {"inner": "genetic", "generations": 2, "population": 3}),
    ],
)
def test_methods_that_rank_on_one_axis(method, options, case):
    same_labels(case.data, case.k, method, **options)


@pytest.mark.parametrize("name", HARD)
def test_ranking_is_stable(name):
    column = HARD[name]
    order, ranked = ranking(column[:, np.newaxis])
    assert np.array_equal(order, np.argsort(column, kind="stable"))
    assert np.array_equal(ranked, column[order])


@pytest.mark.parametrize("tour", ["insertion", "nearest"])
@pytest.mark.parametrize("kind", KINDS)
def test_paths(kind, tour):
    for n, d, window in (
        (1, 1, 50), (2, 3, 50), (3, 3, 2), (4, 1, 50), (30, 3, 0), (30, 2, 7), (41, 3, 50),
        (60, 1, 100), (25, 200, 1), (120, 2, 10),
    ):  # fmt: skip
        table = make_table(kind, n, d, seed=n)
        paths = tours.hamiltonian_paths(table, tour, window)
        assert paths.dtype == np.int64
        assert np.array_equal(paths, generic.hamiltonian_paths(table, tour, window))
        if n < 50:
            assert paths.tolist() == naive_tsp.tours(table.tolist(), tour, window)


def test_paths_of_a_float32_table_and_of_an_outlier():
    table = make_table("random", 80, 3, seed=1).astype(np.float32).astype(float)
    table[17] = 1e8
    for tour in ("insertion", "nearest"):
        expected = generic.hamiltonian_paths(table, tour)
        assert np.array_equal(tours.hamiltonian_paths(table, tour), expected)
        assert np.array_equal(tours.hamiltonian_paths(np.asfortranarray(table), tour), expected)


def test_progress_of_tours(monkeypatch):
    monkeypatch.setattr(tours, "_CHUNK", 1)
    shares: list[float] = []
    table = make_table("grid", 25, 2, seed=3)
    paths = tours.hamiltonian_paths(table, progress=shares.append)
    assert np.array_equal(paths, generic.hamiltonian_paths(table))
    assert shares == sorted(shares)
    assert len(shares) > 1
    assert shares[-1] == 1


@given(cases(most=200))
@pytest.mark.parametrize("tour", ["insertion", "nearest"])
def test_tsp(tour, case):
    labels = same_labels(case.data, case.k, "tsp", tour=tour)
    points = case.data.tolist()
    expected = naive.labels_of(naive_tsp.tsp(points, case.k, tour=tour))
    assert Partition(labels, case.k).labels.tolist() == expected


def test_tsp_with_thousands_of_equal_pairs():
    table = make_table("grid", 300, 2, seed=0)
    paths = tours.hamiltonian_paths(table)
    assert np.array_equal(paths, generic.hamiltonian_paths(table))
    groups, leftovers = groups_from_counts(path_counts(paths, 4), 4)
    assert sorted(leftovers + [i for group in groups for i in group]) == list(range(300))


@pytest.mark.parametrize("kind", KINDS)
def test_correctly_rounded_sums(kind):
    for n, d in ((1, 1), (2, 3), (63, 2), (64, 1), (1000, 3)):
        table = make_table(kind, n, d, seed=n) * 10.0 ** np.arange(d)
        expected = [math.fsum(column) for column in table.T.tolist()]
        assert sums.correctly_rounded_sum(table.T).tolist() == expected
        assert sums.correctly_rounded_sum(np.ascontiguousarray(table.T)).tolist() == expected
        assert sums.correctly_rounded_sum(table[:, 0]) == expected[0]


def test_threads_do_not_change_results():
    rng = np.random.default_rng(0)
    n, k = 6000, 3
    drawn = drawn_strings(rng, n, k, 10)
    prefix = np.concatenate([[0.0], np.cumsum(rng.normal(size=n))])
    table = make_table("grid", 60, 2, seed=2)
    results = []
    before = numba.get_num_threads()
    try:
        for threads in {1, before}:
            numba.set_num_threads(threads)
            children = genetic.breed(*drawn, k)
            results.append(
                (
                    children.tolist(),
                    genetic.population_fitness(prefix, children).tolist(),
                    tours.hamiltonian_paths(table).tolist(),
                    sums.correctly_rounded_sum(rng.permutation(prefix)).tolist(),
                )
            )
    finally:
        numba.set_num_threads(before)
    assert all(result == results[0] for result in results)


@given(st.lists(st.integers(-3, 12) | st.integers(0, 10**12), min_size=1))
def test_numbers_of_labels(labels):
    _, expected, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    for kind in (np.int64, np.uint64) if min(labels) >= 0 else (np.int64,):
        numbers, counts = numbered(np.array(labels, dtype=kind))
        assert np.array_equal(numbers, expected)
        assert np.array_equal(counts, sizes)


@given(cases())
def test_partitions_number_groups_by_their_first_record(case):
    rng = np.random.default_rng(len(case.data))
    labels = rng.integers(0, max(1, len(case.data) // 2), len(case.data)) * 3
    groups: dict[int, list[int]] = {}
    for record, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(record)
    partition = Partition(labels, 1)
    assert np.array_equal(partition.labels, labels_from_groups(groups.values(), len(labels)))
    assert partition.sizes.tolist() == [len(group) for group in groups.values()]
    protected = partition.protect(case.data)
    for group in groups.values():
        means = case.data[group].mean(axis=0)
        assert np.allclose(protected[group], means, rtol=1e-12, atol=1e-12)
