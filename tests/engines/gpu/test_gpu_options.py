"""Every option with records on a GPU: the groups, and what is published, of the CPU engine."""

import numpy as np
import pytest

from helpers.gpu import at_most
from helpers.strategies import make_table
from microagg_gpu import InputError, microaggregate

pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("options")]
N = at_most(300)


def table():
    """Three variables of numbers, one of few values, strata, weights and whole numbers."""
    rng = np.random.default_rng(1)
    more = [rng.integers(0, 3, N), np.arange(N) % 2, rng.integers(1, 5, N), rng.integers(0, 99, N)]
    return np.column_stack([make_table("random", N, 3, seed=1), *more])


def gaps():
    data = table()
    data[: N // 3, 1] = np.nan
    return data


OPTIONS = {
    "plain": {},
    "strata": {"by": 4},
    "small strata": {"by": [3, 4], "small_strata": "suppress", "k": N // 6},
    "merged strata": {"by": [3, 4], "small_strata": "merge", "k": N // 6},
    "weights": {"sampling_weight": 5},
    "averaged weights": {"sampling_weight": 5, "average_weight": True, "decimals": 1},
    "variable weights": {"columns": [0, 1, 2], "variable_weights": [1, 2, 0.5]},
    "not standardized": {"columns": [0, 2], "standardize": False},
    "median": {"aggregate": "median"},
    "trimmed": {"aggregate": "trimmed", "decimals": 2},
    "nominal": {"nominal": [3], "columns": [0, 1]},
    "ordinal": {"ordinal": {3: [2, 0, 1]}, "columns": [0, 1]},
    "refined": {"refine_steps": 3},
    "robust": {"scale": "robust"},
    "logarithms": {"scale": "log"},
    "scale of strata": {"by": 4, "scale": "strata", "columns": [0, 1, 2]},
    "blocks": {"blocks": [[0, 2], [1, 3]]},
    "units": {"unit": 6, "columns": [0, 1], "k": 3},
    "shuffled": {"shuffle": True, "seed": 3},
    "engine": {"engine": "cuda"},
    "generic": {"engine": "generic"},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(cupy, name):
    options = {"k": 5} | OPTIONS[name]
    same(cupy, table(), options)


@pytest.mark.parametrize("missing", ["pattern", "drop"])
def test_missing_values(cupy, missing):
    same(cupy, gaps(), {"k": 5, "missing": missing})
    same(cupy, gaps(), {"k": 5, "missing": missing, "by": 4, "refine_steps": 1})
    with pytest.raises(InputError, match=f"{N // 3} values are missing"):
        microaggregate(cupy.asarray(gaps()), 5)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, np.float32])
def test_types(cupy, kind):
    data = (np.abs(table()) * 20).astype(kind)
    same(cupy, data, {"k": 5, "keep_integers": True})
    same(cupy, data, {"k": 5})


def test_integers_that_a_double_cannot_hold(cupy):
    data = (table() * 20).astype(np.int64) + 2**60
    same(cupy, data, {"k": 5, "keep_integers": True})


def test_one_variable_and_other_layouts(cupy):
    data = table()
    same(cupy, data[:, 0], {"k": 5, "method": "optimal"})
    turned = cupy.asarray(data[:, :3].T.copy()).T
    assert np.array_equal(microaggregate(turned, 5).labels, microaggregate(data[:, :3], 5).labels)
    assert np.array_equal(
        microaggregate(cupy.asarray(data)[::2, :3], 5).labels,
        microaggregate(data[::2, :3], 5).labels,
    )


def same(cupy, data, options):
    expected = microaggregate(data, **{**options, "engine": "cpu"})
    result = microaggregate(cupy.asarray(data), **options)
    assert result.engine == options.get("engine", "cuda")
    assert result.device == "cuda:0"
    assert np.array_equal(result.labels, expected.labels)
    assert isinstance(result.protected, cupy.ndarray)
    assert result.protected.dtype == expected.protected.dtype
    assert np.array_equal(result.protected.get(), expected.protected, equal_nan=True)
    assert (result.loss, result.sse, result.sst) == (expected.loss, expected.sse, expected.sst)
    assert (result.dropped, result.suppressed, result.merged) == (
        expected.dropped,
        expected.suppressed,
        expected.merged,
    )
