"""The genetic algorithm on paths through records of several variables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg_gpu.kernels.generic.genetic as reference
from helpers.methods import genetic, path_order
from helpers.strategies import KINDS, cases, make_table
from microagg_gpu import InputError, measures, microaggregate
from microagg_gpu.data.labels import labels_from_sizes
from microagg_gpu.kernels.cpu import genetic as fast
from microagg_gpu.methods.path import ORDERS
from microagg_gpu.methods.ranked import fixed_sizes


@given(st.sampled_from(KINDS), st.integers(1, 40), st.integers(1, 30), st.integers(1, 5), st.data())
def test_fitness(kind, n, d, k, data):
    """The between-groups sum of squares, whatever the engine; one column is one variable."""
    k = min(k, n)
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    points = make_table(kind, n, d, n)
    points = points - points.mean(axis=0)
    prefix = np.concatenate([np.zeros((1, d)), np.cumsum(points, axis=0)])
    strings = reference.first_strings(np.array([0]), n, k, 4, rng)
    unchanged = np.arange(4), np.full(2, n), np.zeros((4, n), dtype=bool)
    strings = reference.breed(strings, *unchanged, k)
    fitness = reference.population_fitness(prefix, strings)
    assert fast.population_fitness(prefix, strings).tolist() == fitness.tolist()
    for string, found in zip(strings, fitness, strict=True):
        groups = np.split(points, string[(string > 0) & (string < n)])
        between = math.fsum(x for g in groups for x in len(g) * g.mean(axis=0) ** 2)
        scale = float((points**2).sum())
        assert found == pytest.approx(between, rel=1e-9, abs=1e-9 * scale)
    for population_fitness in (reference.population_fitness, fast.population_fitness):
        one = population_fitness(prefix[:, 0], strings)
        assert one.tolist() == population_fitness(prefix[:, :1], strings).tolist()


@given(cases(most=300))
@pytest.mark.parametrize("order", [None, *ORDERS])
def test_never_worse_than_groups_of_k_and_alike_in_both_engines(order, case):
    options = {"order": order, "generations": 5, "population": 4, "seed": case.k}
    labels = genetic(case.data, case.k, engine="cpu", **options)
    assert labels.tolist() == genetic(case.data, case.k, engine="generic", **options).tolist()
    if case.data.shape[1] > 1:
        records = path_order(case.data, case.k, order or "tour", engine="cpu")
        fixed = labels_from_sizes(records, fixed_sizes(records, case.k, "last"))
        scale = measures.sst(case.data)
        found, least = measures.sse(case.data, labels), measures.sse(case.data, fixed)
        assert found <= least + 1e-9 * scale


def test_many_records_take_the_curve(monkeypatch):
    data = make_table("random", 60, 3, seed=1)
    curve, tour = (genetic(data, 3, order=order).tolist() for order in ("curve", "tour"))
    assert genetic(data, 3).tolist() == tour
    monkeypatch.setitem(ORDERS, "tour", 59)
    assert genetic(data, 3).tolist() == curve != tour


@pytest.mark.parametrize("order", ["all", "best"])
def test_wrong_orders(order):
    with pytest.raises(InputError, match=f"order='{order}' is unknown"):
        microaggregate(make_table("random", 20, 2, seed=0), 3, "genetic", order=order)
