"""These tests need a GPU and CuPy, or what stands for them: see `make test-gpu-emulated`."""

import pytest

from helpers.gpu import EMULATED
from microagg_gpu.engines import gpu_available


def pytest_collection_modifyitems(items):
    """Mark all tests of this folder, wherever the tests of others are."""
    for item in items:
        if "engines/gpu" in item.path.as_posix():
            item.add_marker("gpu")


@pytest.fixture(autouse=True)
def _gpu():
    if not gpu_available():
        pytest.skip("no usable GPU")


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def few_records_stay_on_the_gpu(monkeypatch):
    monkeypatch.setattr("microagg_gpu.engines._stays_on_gpu", lambda work: True)


@pytest.fixture(autouse=True)
def teams_of_several_blocks(monkeypatch):
    """Let blocks work together on few records, where more would take too long."""
    if EMULATED:
        from microagg_gpu.kernels.cuda import launching

        monkeypatch.setattr(launching, "RECORDS_PER_BLOCK", 40)
