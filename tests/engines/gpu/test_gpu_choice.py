"""What runs where: few records, and what two cores do sooner, run on a copy on the CPU."""

import numpy as np
import pytest

from microagg_gpu import METHODS, microaggregate
from microagg_gpu.engines import ON_GPU, Work, _stays_on_gpu


@pytest.fixture(autouse=True)
def few_records_stay_on_the_gpu(monkeypatch):
    """Not here: these tests are about the choice."""


@pytest.fixture
def records(cupy):
    return cupy.asarray(np.random.default_rng(0).normal(size=(60, 3)))


def test_few_records_are_copied_and_the_result_is_on_the_gpu(cupy, records):
    result = microaggregate(records, 5)
    assert (result.engine, type(result.protected)) == ("cpu", cupy.ndarray)
    assert result.protected.device == records.device
    assert microaggregate(records, 5, engine="cuda").engine == "cuda"
    assert microaggregate(records, 5, precision="single").engine == "cuda"


def test_many_records_stay(monkeypatch, records):
    monkeypatch.setitem(ON_GPU, "mdav", (60, 60))
    assert microaggregate(records, 5).engine == "cuda"
    assert microaggregate(records[:59], 5).engine == "cpu"
    assert microaggregate(records, 5, "vmdav").engine == "cpu"


def test_every_method_is_where_the_table_says(monkeypatch, records):
    """`Result.engine` names the engine, whichever it was."""
    for name, method in METHODS.items():
        if name in ("tsp", "best"):  # which take long
            continue
        data = records[:, :1] if method.univariate else records
        few = {"generations": 2} if name == "genetic" else {}
        monkeypatch.setattr("microagg_gpu.engines.ON_GPU", dict.fromkeys(ON_GPU, (0, np.inf)))
        assert microaggregate(data, 5, name, **few).engine == ("cuda" if name in ON_GPU else "cpu")
    inner = microaggregate(records, 5, "individual", inner="optimal")
    assert inner.engine == "cpu"


def test_without_numba_cuda_nothing_stays(monkeypatch):
    """The generic engine on a GPU would be slower than two cores."""
    monkeypatch.setitem(ON_GPU, "mdav", (0, np.inf))
    monkeypatch.setattr("microagg_gpu.engines.find_spec", lambda name: None)
    assert not _stays_on_gpu(Work("mdav", 1.0, 60))
