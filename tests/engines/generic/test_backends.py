"""The same methods on every array library give the same labels as on NumPy."""

import functools
import importlib

import numpy as np
import pytest

from helpers.libraries import ARRAY_LIBRARIES
from helpers.strategies import KINDS, make_table
from microagg_gpu import METHODS, microaggregate
from microagg_gpu.data.table import read
from microagg_gpu.kernels import to_numpy
from microagg_gpu.pipeline.problem import prepare
from microagg_gpu.settings import Settings

SHORT = {"best": {"steps": 20}}
RUNS = [
    (name, options | SHORT.get(name, {}))
    for name, method in METHODS.items()
    for options in method.variants
] + [
    ("individual", {"inner": "optimal"}),
    ("projection", {"projection": "pv", "variable": 0, "descending": True, "inner": "kward"}),
    ("diameter", {"gather": "seed"}),
    ("vmdav", {"gamma": 1.1}),
]


@pytest.fixture(params=ARRAY_LIBRARIES)
def xp(request):
    """Every array library that is installed and usable here."""
    return importlib.import_module(request.param)


@functools.cache
def on_numpy(run, kind):
    """Records, and what the reference engine makes of them: the same for all array libraries."""
    method, options = RUNS[run]
    d = 1 if METHODS[method].univariate else 3
    data = make_table(kind, 40, d, seed=7)
    data.flags.writeable = False
    return data, microaggregate(data, 3, method, engine="generic", **options)


@pytest.mark.parametrize("engine", ["generic", None])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("run", range(len(RUNS)), ids=lambda run: f"{RUNS[run][0]}-{run}")
def test_same_labels_as_numpy(xp, run, kind, engine):
    method, options = RUNS[run]
    data, expected = on_numpy(run, kind)
    result = microaggregate(xp.asarray(data.copy()), 3, method, engine=engine, **options)
    assert result.engine == ("generic" if engine else "cpu")
    assert np.array_equal(result.labels, expected.labels)
    assert result.loss == expected.loss
    assert type(result.protected) is type(xp.asarray(data.copy()))
    assert str(result.protected.dtype).endswith("float64")
    assert np.array_equal(to_numpy(result.protected), expected.protected)


def test_single_precision_and_integers_come_back_as_they_should(xp):
    data = make_table("random", 20, 2, seed=1)
    single = microaggregate(xp.asarray(data.astype(np.float32)), 4)
    assert single.protected.dtype == xp.float32
    whole = microaggregate(xp.asarray((data * 10).astype(np.int64)), 4)
    assert whole.protected.dtype == xp.float64
    assert whole.device == "cpu" or whole.device.startswith("cuda")


def test_one_dimension_is_one_variable(xp):
    values = make_table("random", 20, 1, seed=2)[:, 0]
    result = microaggregate(xp.asarray(values), 4, "optimal")
    assert result.protected.shape == (20,)
    assert result.labels.shape == (20,)


def test_single_precision_if_asked_for(xp):
    data = make_table("clustered", 60, 3, seed=3)
    double = microaggregate(xp.asarray(data), 4, engine="generic")
    single = microaggregate(xp.asarray(data), 4, engine="generic", precision="single")
    assert single.protected.dtype == double.protected.dtype
    assert single.loss == pytest.approx(double.loss, rel=0.01)


@pytest.mark.parametrize("run", range(len(RUNS)), ids=lambda run: f"{RUNS[run][0]}-{run}")
def test_nothing_is_copied_in_secret(run):
    """array-api-strict has a second device, whose arrays NumPy and the first one refuse."""
    strict = pytest.importorskip("array_api_strict")
    method, options = RUNS[run]
    data, expected = on_numpy(run, "random")
    second = strict.Device("device1")
    result = microaggregate(strict.asarray(data.copy(), device=second), 3, method, **options)
    assert result.engine == "generic"
    assert result.protected.device == second
    assert np.array_equal(result.labels, expected.labels)


def test_records_are_prepared_where_they_are(monkeypatch):
    strict = pytest.importorskip("array_api_strict")
    copied = []
    original = strict._array_object.Array.__dlpack__

    def noted(array, **given):
        copied.append(array.size)
        return original(array, **given)

    monkeypatch.setattr(strict._array_object.Array, "__dlpack__", noted)
    n, p = 400, 5
    data = make_table("random", n, p, seed=1)
    prepare(read(strict.asarray(data, device=strict.Device("device1"))), Settings(3))
    assert sum(copied) < 20 * p
    data[:10, 0] = np.nan
    copied.clear()
    given = Settings(3, missing="pattern")
    prepare(read(strict.asarray(data, device=strict.Device("device1"))), given)
    assert sum(copied) < n * p + 20 * p  # which values are missing
