"""Compiled kernels are kept: a later process compiles nothing."""

import os
import subprocess
import sys

import pytest

from microagg_gpu.engines import gpu_available

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not gpu_available(), reason="no usable GPU"),
]

CODE = """
import cupy
from microagg_gpu import microaggregate
from microagg_gpu.kernels.compiling import spent

x = cupy.asarray([[float(i * i % 37), float(i % 11)] for i in range(40)])
result = microaggregate(x, 4, method={method!r}, engine="cuda")
print(spent() > 0, *result.labels.tolist())
"""


def run(folder, method):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(method=method)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    compiled, *labels = done.stdout.split()
    return compiled == "True", labels


def test_a_later_process_compiles_nothing(tmp_path):
    compiled, labels = run(tmp_path, "centroid")
    assert compiled
    assert run(tmp_path, "centroid") == (False, labels)
    for file in tmp_path.rglob("cuda.*"):
        file.write_bytes(b"broken")
    assert run(tmp_path, "centroid") == (True, labels)
