"""The CUDA engine on a real card, through CuPy: ``make test-gpu``.

Nobody has run these yet: no machine of ours has a GPU. They hold what a simulator cannot show.
"""

from functools import partial

import numpy as np
import pytest

from helpers.methods import run
from helpers.strategies import KINDS, make_table
from microagg_gpu import METHODS, InputError, compare, microaggregate
from microagg_gpu.datasets import simulated
from microagg_gpu.engines import gpu_available

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not gpu_available(), reason="no usable GPU"),
]
RUNS = [(name, options) for name, method in METHODS.items() for options in method.variants] + [
    ("individual", {"inner": "optimal"}),
    ("projection", {"inner": "kward"}),
    ("diameter", {"gather": "seed"}),
    ("centroid", {"gather": "seed"}),
    ("vmdav", {"gamma": 1.1}),
    ("tsp", {"tour": "nearest"}),
]


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_same_labels_as_the_cpu_engine(cupy, method, options, kind):
    univariate = METHODS[method].univariate
    for n, d, k in [(1, 2, 1), (40, 3, 3), (300, 33, 4), (90, 2, 1), (50, 2, 50), (2500, 5, 5)]:
        if method == "tsp" and n > 300:
            continue
        data = make_table(kind, n, 1 if univariate else d, seed=n)
        expected = microaggregate(data, k, method, **options)
        result = microaggregate(cupy.asarray(data), k, method, **options)
        assert result.engine == "cuda"
        assert np.array_equal(result.labels, expected.labels), (n, d, k)
        assert isinstance(result.protected, cupy.ndarray)
        assert np.array_equal(result.protected.get(), expected.protected)
        assert result.loss == expected.loss


@pytest.mark.parametrize("method", ["mdav", "vmdav", "centroid", "diameter", "mst", "kward"])
def test_twenty_thousand_records(method):
    data = simulated("SIM_9")
    expected = microaggregate(data, 5, method)
    assert np.array_equal(microaggregate(data, 5, method, device="cuda").labels, expected.labels)


def test_single_precision_is_that_of_the_generic_engine(cupy):
    data = make_table("clustered", 500, 4, seed=1).astype(np.float32)
    for method in ("mdav", "vmdav", "centroid", "diameter", "mst", "kward"):
        function = partial(run, method)
        expected = function(data, 4, engine="generic")
        found = function(cupy.asarray(data), 4, engine="cuda")
        assert len(set(zip(expected.tolist(), found.tolist(), strict=True))) == expected.max() + 1


def test_on_a_stream_of_its_own(cupy):
    data = make_table("random", 2000, 4, seed=1)
    with cupy.cuda.Stream(non_blocking=True):
        result = microaggregate(cupy.asarray(data), 5)
    assert np.array_equal(result.labels, microaggregate(data, 5).labels)


def test_devices_by_name(cupy):
    data = make_table("random", 100, 2, seed=1)
    last = cupy.cuda.runtime.getDeviceCount() - 1
    result = microaggregate(data, 3, device=f"cuda:{last}")
    assert result.device == f"cuda:{last}"
    assert isinstance(result.protected, np.ndarray)
    with pytest.raises(InputError, match="does not exist"):
        microaggregate(data, 3, device=f"cuda:{last + 1}")
    assert microaggregate(cupy.asarray(data), 3, device="cpu").engine == "cpu"


def test_too_large_for_the_card(cupy):
    from microagg_gpu.kernels.cuda import launching

    with pytest.raises(MemoryError, match="bytes"):
        launching.check_room(cupy.zeros(10), 10**18)


def test_compare_stays_on_the_device(cupy):
    rows = compare(cupy.asarray(make_table("random", 60, 2, seed=2)), 3, ["mdav", "mst"])
    assert len(rows) == 4
