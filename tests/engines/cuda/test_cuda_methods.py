"""Every method with the CUDA engine gives the labels of the CPU engine, on the hard cases."""

import numpy as np
import pytest

from helpers.methods import run, standardize
from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu import METHODS, microaggregate
from microagg_gpu.pipeline.partition import Partition

RUNS = [(name, options) for name, method in METHODS.items() for options in method.variants] + [
    ("individual", {"inner": "optimal"}),
    ("individual", {"inner": "kward"}),
    ("projection", {"projection": "pv", "variable": 0, "descending": True, "inner": "kward"}),
    ("projection", {"inner": "genetic", "generations": 3}),
    ("diameter", {"gather": "seed"}),
    ("centroid", {"gather": "seed"}),
    ("vmdav", {"gamma": 1.1}),
    ("kward", {"descending": True}),
    ("tsp", {"tour": "nearest"}),
]

SLOW = {"best": 7, "path": 12, "mst": 12}  # walks of warps: so many records in Numba's simulator


def check(method: str, options: dict, data: np.ndarray, k: int) -> None:
    if method == "genetic":
        options = {"generations": 4, "population": 4} | options
    if method == "best":
        options = {"steps": size(5, 30)}
    points = standardize(data, [""] * data.shape[1])
    expected = run(method, points, k, engine="cpu", **options)
    found = run(method, points, k, engine="cuda", **options)
    assert found.shape == expected.shape
    for ours, theirs in zip(np.atleast_2d(found.T), np.atleast_2d(expected.T), strict=True):
        assert Partition(ours, k).labels.tolist() == Partition(theirs, k).labels.tolist()


@pytest.mark.parametrize("kind", KINDS if SIMULATOR else ["duplicated", "clustered"])
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_hard_cases(method, options, kind):
    """Duplicates, ties, all equal; more records than a tile or a block, and not a multiple."""
    n = size(SLOW.get(method, 19), 45)
    check(method, options, make_table(kind, n, width(method, 3), seed=8), 3)


@pytest.mark.parametrize("kind", ["random", "grid"])
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_shapes(method, options, kind):
    """One record, fewer records than a tile, k=1 and k=n, one variable and 33."""
    for n, d, k in [(1, 1, 1), (3, 2, 1), (3, 1, 3), (9, 33, 2), (11, 1, 5)]:
        check(method, options, make_table(kind, n, width(method, d), seed=n), k)


@pytest.mark.skipif(not SIMULATOR, reason="microaggregate takes a simulated or a real GPU")
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_single_precision_data(method, options):
    """Data in single precision are protected in double, as by the CPU engine."""
    data = make_table("clustered", 14, width(method, 2), seed=4).astype(np.float32)
    if method == "genetic":
        options = {"generations": 3} | options
    expected = microaggregate(data, 3, method, engine="cpu", **options)
    result = microaggregate(data, 3, method, engine="cuda", **options)
    assert result.engine == "cuda"
    assert result.protected.dtype == np.float32
    assert np.array_equal(result.labels, expected.labels)
    assert np.array_equal(result.protected, expected.protected)


def width(method: str, d: int) -> int:
    return 1 if METHODS[method].univariate else d
