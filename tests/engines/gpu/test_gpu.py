"""Every method on a GPU, through CuPy, gives the groups of the CPU engine.

`make test-gpu` runs them on a card, which nobody has done yet: no machine of ours has one.
`make test-gpu-emulated` runs them with few records on an emulated driver.
"""

from functools import partial

import numpy as np
import pytest

from helpers.gpu import EMULATED, RECORDS, at_most
from helpers.methods import run
from helpers.strategies import KINDS, make_table
from microagg_gpu import METHODS, microaggregate
from microagg_gpu.datasets import simulated
from microagg_gpu.pipeline.partition import Partition

pytestmark = pytest.mark.gpu
SHORT = {"best": {"steps": 20}}
RUNS = [
    pytest.param(name, options | SHORT.get(name, {}), marks=pytest.mark.xdist_group(name))
    for name, options in [
        *((name, options) for name, method in METHODS.items() for options in method.variants),
        ("individual", {"inner": "optimal"}),
        ("projection", {"inner": "kward"}),
        ("diameter", {"gather": "seed"}),
        ("centroid", {"gather": "seed"}),
        ("vmdav", {"gamma": 1.1}),
        ("tsp", {"tour": "nearest"}),
    ]
]
# The emulated GPU is some thousand times slower than a card: fewer kinds there.
HARDEST = ("grid", "clustered", "equal") if EMULATED else KINDS
LOOPS = ("mdav", "vmdav", "centroid", "diameter", "mst", "kward")


@pytest.mark.parametrize("kind", HARDEST)
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_same_labels_as_the_cpu_engine(cupy, method, options, kind):
    univariate = METHODS[method].univariate
    for n, d, k in [(1, 2, 1), (40, 3, 3), (300, 33, 4), (90, 2, 1), (50, 2, 50), (2500, 5, 5)]:
        if method == "tsp" and n > 300:
            continue
        n = at_most(n)
        data = make_table(kind, n, 1 if univariate else d, seed=n)
        expected = microaggregate(data, k, method, engine="cpu", **options)
        result = microaggregate(cupy.asarray(data), k, method, **options)
        assert result.engine == "cuda"
        assert np.array_equal(result.labels, expected.labels), (n, d, k)
        assert isinstance(result.protected, cupy.ndarray)
        assert np.array_equal(result.protected.get(), expected.protected)
        assert result.loss == expected.loss


@pytest.mark.xdist_group("mst")
@pytest.mark.parametrize("kind", HARDEST)
def test_a_spanning_tree_is_cut_on_the_gpu(cupy, kind, monkeypatch):
    """What the engine leaves to the host if there are few records."""
    data = make_table(kind, at_most(2500), 3, seed=1)
    expected = microaggregate(data, 4, "mst", engine="cpu")
    monkeypatch.setattr("microagg_gpu.kernels.cuda.cut.FEWEST", 2)
    monkeypatch.setattr("microagg_gpu.kernels.cuda.cut.on_host.cut_edges", None)
    result = microaggregate(cupy.asarray(data), 4, "mst")
    assert np.array_equal(result.labels, expected.labels)


@pytest.mark.skipif(RECORDS < 20_000, reason="20,000 records are too many for this GPU")
@pytest.mark.parametrize("method", LOOPS)
def test_twenty_thousand_records(method):
    data = simulated("SIM_9")
    expected = microaggregate(data, 5, method)
    assert np.array_equal(microaggregate(data, 5, method, device="cuda").labels, expected.labels)


@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=pytest.mark.xdist_group(m)) for m in LOOPS]
)
def test_single_precision_is_that_of_the_generic_engine(cupy, method):
    data = make_table("clustered", at_most(500), 4, seed=1).astype(np.float32)
    function = partial(run, method)
    expected = function(data, 4, engine="generic")
    found = function(cupy.asarray(data), 4, engine="cuda")
    # Methods number their groups as they like, some by a record of each.
    assert np.array_equal(Partition(found, 4).labels, Partition(expected, 4).labels)
    result = microaggregate(cupy.asarray(data.astype(float)), 4, method, precision="single")
    assert result.engine == "cuda"
    assert result.protected.dtype == np.float64


@pytest.mark.parametrize("method", ["mdav", "vmdav"])
@pytest.mark.xdist_group("rounds")
def test_rounds_of_few_records(cupy, method, monkeypatch):
    """What many records get: answers by the whole card, and a block that decides."""
    from microagg_gpu.kernels.cuda import fixed_size, rounds

    if EMULATED:
        for name, value in {"FEW": 0, "BATCH": (16, 16), "ENDS": (2, 2), "MEMBERS": 4}.items():
            monkeypatch.setattr(rounds, name, value)
        monkeypatch.setattr(fixed_size, "_Loop", None)
    data = make_table("clustered", at_most(20_000), 3, seed=7)
    expected = microaggregate(data, 4, method, engine="cpu")
    result = microaggregate(cupy.asarray(data), 4, method, engine="cuda")
    assert np.array_equal(result.labels, expected.labels)


@pytest.mark.parametrize("kind", ["clustered", "grid"])
@pytest.mark.xdist_group("rounds")
def test_kward_in_batches_of_few_records(cupy, kind, monkeypatch):
    """What many records get: the card searches for the pairs of a batch, the host decides."""
    from microagg_gpu.kernels.cuda import rounds, ward_rounds

    if EMULATED:
        few = {"FEW": 50, "ENOUGH": 0, "EVENTS_AT_ONCE": (4, 32), "REFRESHED": 2}
        for name, value in few.items():
            monkeypatch.setattr(ward_rounds, name, value)
        monkeypatch.setattr(rounds, "FEW", 50)
    data = make_table(kind, at_most(20_000), 3, seed=7)
    expected = microaggregate(data, 4, "kward", engine="cpu")
    result = microaggregate(cupy.asarray(data), 4, "kward", engine="cuda")
    assert np.array_equal(result.labels, expected.labels)
