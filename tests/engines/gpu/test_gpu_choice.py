"""What runs where: few records, and what two cores do sooner, run on a copy on the CPU."""

import numpy as np
import pytest

from microagg_gpu import microaggregate
from microagg_gpu.engines import ON_GPU


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
