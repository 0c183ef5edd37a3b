"""Every method against its naive reference, to the label, and what every k-partition keeps.

The method tsp is compared in test_tsp.py.
"""

import numpy as np
import pytest
from hypothesis import given

from helpers.methods import scores, standardize
from helpers.strategies import Case, cases
from microagg_gpu import METHODS, measures, microaggregate
from microagg_gpu.data.labels import labels_from_groups
from reference import naive, naive_genetic


def check(case: Case, method: str, reference, **options) -> None:
    """The labels of both engines are those of the reference's groups."""
    points = np.array(naive.standardize(case.data))
    assert np.array_equal(points, standardize(case.data, [""] * points.shape[1]))
    expected = naive.labels_of(reference(points, case.k))
    for engine in ("generic", "cpu"):
        result = microaggregate(case.data, case.k, method, engine=engine, **options)
        assert result.labels.tolist() == expected


@given(cases(d=1))
@pytest.mark.parametrize("remainder", ["mode", "last"])
def test_fixed(remainder, case):
    check(case, "fixed", lambda p, k: naive.fixed(p, k, remainder), remainder=remainder)


@given(cases(d=1, most=60))
def test_optimal_has_the_least_sse(case):
    points = np.array(naive.standardize(case.data))
    result = microaggregate(case.data, case.k, "optimal")
    least = float(naive.optimal_sse(points, case.k))
    assert result.sse == pytest.approx(least, rel=1e-9, abs=1e-12)


@given(cases(d=1, most=120))
@pytest.mark.parametrize("convergence", ["average", "maximal"])
def test_genetic_lies_between_optimal_and_fixed(convergence, case):
    loss = {
        method: microaggregate(case.data, case.k, method, **options).loss
        for method, options in (
            ("optimal", {}),
            ("genetic", {"convergence": convergence, "generations": 20}),
            ("fixed", {}),
        )
    }
    assert loss["optimal"] <= loss["genetic"] + 1e-9
    assert loss["genetic"] <= loss["fixed"] + 1e-9


@given(cases(d=1, most=120))
@pytest.mark.parametrize("convergence", ["average", "maximal"])
def test_genetic(convergence, case):
    def reference(points, k):
        return naive_genetic.genetic(points, k, convergence, 20, seed=case.k)

    check(case, "genetic", reference, convergence=convergence, generations=20, seed=case.k)


@given(cases())
def test_mdav(case):
    check(case, "mdav", naive.mdav)


@given(cases())
@pytest.mark.parametrize("gamma", [0.0, 0.2, 1.1])
def test_vmdav(gamma, case):
    check(case, "vmdav", lambda p, k: naive.vmdav(p, k, gamma), gamma=gamma)


@given(cases(most=400))
@pytest.mark.parametrize("gather", ["centroid", "seed"])
def test_diameter(gather, case):
    check(case, "diameter", lambda p, k: naive.diameter(p, k, gather), gather=gather)


@given(cases())
@pytest.mark.parametrize("gather", ["centroid", "seed"])
def test_centroid(gather, case):
    check(case, "centroid", lambda p, k: naive.centroid(p, k, gather), gather=gather)


@given(cases(most=400))
@pytest.mark.parametrize("split", [None, "diameter", "centroid"])
def test_mst(split, case):
    check(case, "mst", lambda p, k: naive.mst(p, k, split), split=split)


@given(cases(most=120))
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("ranking", ["md", "sz", "pv", "fpc"])
def test_kward(ranking, descending, case):
    if case.data.shape[1] == 1:
        ranking = "pv"

    def reference(points, k):
        axis = scores(points, "fpc") if ranking == "fpc" else None
        return naive.kward(points, k, ranking, 0, descending, scores=axis)

    options = {"variable": 0} if ranking == "pv" else {}
    check(case, "kward", reference, ranking=ranking, descending=descending, **options)


@given(cases(most=80))
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("inner", ["fixed", "kward"])
@pytest.mark.parametrize("projection", ["fpc", "sz", "pv"])
def test_projection(projection, inner, descending, case):
    variable = {"variable": 0} if projection == "pv" else {}

    def reference(points, k):
        axis = scores(points, projection, **variable)
        return naive.projection(points, k, axis, inner, descending)

    options = {"projection": projection, "inner": inner, "descending": descending}
    check(case, "projection", reference, **variable, **options)


@given(cases(most=80))
@pytest.mark.parametrize("inner", ["fixed", "kward"])
def test_individual(inner, case):
    points = naive.standardize(case.data)
    expected = [naive.labels_of(groups) for groups in naive.individual(points, case.k, inner)]
    result = microaggregate(case.data, case.k, "individual", inner=inner)
    assert result.labels.T.tolist() == expected


@given(cases(most=120))
@pytest.mark.parametrize(
    ("method", "options"),
    [
        (name, options)
        for name, method in METHODS.items()
        if not method.univariate
        for options in method.variants
    ]
    + [("individual", {"inner": "optimal"}), ("projection", {"inner": "genetic"})],
)
def test_every_partition_is_valid(method, options, case):
    result = microaggregate(case.data, case.k, method, **options)
    n, p = case.data.shape
    for labels in np.atleast_2d(result.labels.T):
        sizes = np.bincount(labels)
        assert sizes.sum() == n
        assert sizes.min() >= case.k
        if METHODS[method].sizes == "k..2k-1" or "split" in options:
            assert sizes.max() < 2 * case.k
        first = [int(np.flatnonzero(labels == g)[0]) for g in range(len(sizes))]
        assert first == sorted(first)
    scale = np.abs(case.data).max(axis=0) + 1e-300
    assert np.abs((result.protected - case.data).mean(axis=0) / scale).max() < 1e-12
    points = standardize(case.data, [""] * p)
    ssa = measures.ssa(points, result.labels)
    assert result.sst == pytest.approx(ssa + result.sse, rel=1e-9, abs=1e-12)
    assert 0 <= result.loss <= 100 + 1e-9


def test_first_component_is_numpys():
    points = standardize(np.random.default_rng(0).normal(size=(50, 4)), "abcd")
    direction = np.linalg.svd(points)[2][0]
    expected = points @ direction * np.sign(direction.sum())
    assert np.allclose(scores(points, "fpc"), expected)


def test_a_partition_below_k_never_leaves():
    from microagg_gpu.pipeline.partition import Partition

    with pytest.raises(RuntimeError, match="fewer than k=3"):
        Partition(np.array([0, 0, 0, 1, 1]), 3)
    with pytest.raises(RuntimeError, match="in no group"):
        Partition(labels_from_groups([[0, 1]], 3), 2)
