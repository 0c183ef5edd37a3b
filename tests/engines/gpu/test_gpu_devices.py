"""Which GPU, on which stream, and what happens if its memory is used up or somebody stops it."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from helpers.gpu import EMULATED, at_most
from helpers.strategies import make_table
from microagg_gpu import InputError, compare, microaggregate, refine
from microagg_gpu.kernels import engine_named

pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("devices")]
DATA = make_table("random", at_most(2000), 4, seed=1)


@pytest.fixture
def second(cupy):
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one GPU")
    return cupy.cuda.Device(1)


@pytest.fixture(scope="module")
def expected():
    return microaggregate(DATA, 5, engine="cpu").labels


def test_on_a_stream_of_its_own(cupy, expected):
    with cupy.cuda.Stream(non_blocking=True):
        result = microaggregate(cupy.asarray(DATA), 5)
        other = microaggregate(cupy.asarray(DATA), 5, "kward")
    assert np.array_equal(result.labels, expected)
    assert np.array_equal(other.labels, microaggregate(DATA, 5, "kward", engine="cpu").labels)


def test_the_stream_is_named(cupy, monkeypatch):
    """A bare 0 would be the stream of the thread where Numba is told so."""
    from microagg_gpu.kernels.cuda import launching

    named = []
    usual = launching.cuda.legacy_default_stream
    monkeypatch.setattr(
        launching.cuda, "legacy_default_stream", lambda: named.append("legacy") or usual()
    )
    engine_named("cuda").neighbours(cupy.asarray(DATA[:40]), 2)
    assert named
    named.clear()
    with cupy.cuda.Stream(non_blocking=True):
        engine_named("cuda").neighbours(cupy.asarray(DATA[:40]), 2)
    assert not named


def test_devices_by_name(cupy, expected):
    last = cupy.cuda.runtime.getDeviceCount() - 1
    result = microaggregate(DATA, 5, device=f"cuda:{last}")
    assert result.device == f"cuda:{last}"
    assert isinstance(result.protected, np.ndarray)
    assert np.array_equal(result.labels, expected)
    with pytest.raises(InputError, match="does not exist"):
        microaggregate(DATA, 5, device=f"cuda:{last + 1}")
    assert microaggregate(cupy.asarray(DATA), 5, device="cpu").engine == "cpu"


def test_cuda_is_the_current_device(second, expected):
    assert microaggregate(DATA, 5, device="cuda").device == "cuda:0"
    with second:
        result = microaggregate(DATA, 5, device="cuda")
    assert result.device == "cuda:1"
    assert np.array_equal(result.labels, expected)


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_records_stay_on_their_device(cupy, second, expected, device):
    with second:
        data = cupy.asarray(DATA)
    result = microaggregate(data, 5, device=device, refine_steps=1)
    assert result.device == "cuda:1"
    assert result.protected.device == second
    moved = microaggregate(data, 5, device="cuda:0")
    assert moved.device == "cuda:0"
    assert moved.protected.device == second
    assert np.array_equal(moved.labels, expected)
    assert cupy.cuda.Device() == cupy.cuda.Device(0)


def test_compare_and_refine_stay_on_their_device(cupy, second, expected):
    with second:
        data, labels = cupy.asarray(DATA), cupy.asarray(expected)
    assert len(compare(data, 5, ["mdav", "mst"])) == 4
    refined = refine(data, labels, 5, seconds=None, steps=1)
    assert refined.device == "cuda:1"
    assert np.array_equal(refined.labels, refine(DATA, expected, 5, None, 1).labels)


def test_an_operation_works_where_the_records_are(cupy, second):
    """Nobody has made the records' device the current one."""
    data, labels, one = DATA[:60], np.arange(60), np.zeros(60, dtype=np.int64)
    with second:
        points = cupy.asarray(data)
    for operation, *given in (
        ("minimum_spanning_tree",),
        ("merge_until_k", labels, one, 4),
        ("optimal_sizes", 4),
        ("hamiltonian_paths",),
        ("neighbours", 3),
    ):
        found = getattr(engine_named("cuda"), operation)(points, *given)
        if operation == "minimum_spanning_tree":  # it stays where the records are
            assert {x.device.id for x in found} == {1}
            found = tuple(x.get() for x in found)
        expected = getattr(engine_named("generic"), operation)
        np.testing.assert_equal(found, expected(data, *given), operation)


@pytest.mark.skipif(not EMULATED, reason="the class of a device cannot be changed")
def test_memory_that_a_pool_holds_counts_as_free(cupy, monkeypatch, expected):
    """CuPy's pool, or RMM, may hold all memory of the device and most of it be free."""
    monkeypatch.setattr(cupy.cuda.Device, "mem_info", property(lambda device: (0, 2**32)))
    assert np.array_equal(microaggregate(DATA, 5, device="cuda").labels, expected)


def small_card(code, **more):
    """Run code in a process whose GPU has 16 MB."""
    limits = {"CUDAEMU_MEMORY": "16M", "CUPY_GPU_MEMORY_LIMIT": str(2**24)}
    done = subprocess.run(
        [sys.executable, *code], env=os.environ | limits, capture_output=True, text=True, **more
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_records_too_many_for_the_card():
    code = """
import cupy, numpy as np
from microagg_gpu import InputError, microaggregate
large = np.random.default_rng(0).normal(size=(2**18, 10))
try:
    microaggregate(large, 5, device="cuda")
except InputError as error:
    print(error)
on_card = cupy.asarray(large[: 1600])
for records, method in ((on_card, "tsp"), (on_card[:60], "mdav")):
    try:
        print(microaggregate(records, 5, method, engine="cuda").engine)
    except InputError as error:
        print(error)
print(bool((on_card.get() == large[: 1600]).all()))
"""
    moved, method, engine, same = small_card(["-c", code], check=True).stdout.splitlines()
    assert moved.startswith("the data take 20971520 bytes and the GPU has ")
    assert "1600 records of 10 variables (the GPU needs " in method
    assert method.endswith("protect fewer at a time or choose another method")
    assert engine == "cuda"  # and fewer can be protected
    assert same == "True"


def test_a_file_too_large_for_the_card(tmp_path):
    rng = np.random.default_rng(0)
    source, output = tmp_path / "records.csv", tmp_path / "protected.csv"
    names = "a,b,c,d,e,f,g,h,i,j"
    np.savetxt(source, rng.integers(0, 99, (2**18, 10)), "%d", ",", header=names, comments="")
    command = ["protect", str(source), "-k", "5", "-o", str(output), "--device", "cuda"]
    done = small_card(["-m", "microagg_gpu", *command])
    assert done.returncode == 2
    assert "the GPU has" in done.stderr
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("method", ["mdav", "kward"])
def test_ctrl_c_between_two_launches(cupy, expected, method):
    """A launch takes a tenth of a second; between two of them Python looks for signals."""
    data = cupy.asarray(DATA)

    def stop(share):
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            microaggregate(data, 5, method, progress=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert np.array_equal(microaggregate(data, 5).labels, expected)
    assert np.array_equal(data.get(), DATA)
