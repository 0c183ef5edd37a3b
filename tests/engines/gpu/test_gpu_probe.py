"""The program that measures a card's constants runs; its figures are not looked at."""

import subprocess
import sys

import pytest

from microagg_gpu.engines import gpu_available

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not gpu_available(), reason="no usable GPU"),
]


def test_every_constant_is_measured(tmp_path):
    target = tmp_path / "probe.md"
    command = [sys.executable, "-m", "benchmarks.cuda_probe", "--small", "--output", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    written = target.read_text("utf-8")
    for what in ("launch with 1 array", "grid synchronisation", "L2 answers", "sums in float32"):
        assert what in written
