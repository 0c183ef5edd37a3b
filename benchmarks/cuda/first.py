"""How long a process waits for its kernels at its first call: compiled, or loaded from the cache.

Compiling and linking is done by the compilers of a card, without one. Loading is done on the
emulated driver (``CUDAEMU_HOME``), in a second process that finds what a first one has kept: the
files are read and the kernels handed to the driver. Seconds are those of one core.
"""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..common import ROOT
from . import compile as compiling
from .kernels import Kernel

# What a first call of each is, and who launches its kernels besides (`kernels.operations`).
CALLS = {
    "mdav": "METHODS['mdav'].function(points, 5, engine=engine)",
    "mst": "engine.minimum_spanning_tree(points)",
    "nearest_records": "engine.nearest_records(points, points)",
}
CODE = """
import time
from numba.cuda.dispatcher import CUDADispatcher
usual, spent = CUDADispatcher.compile, []
def timed(self, *given):
    begun = time.process_time()
    try:
        return usual(self, *given)
    finally:
        spent.append((time.process_time() - begun, self.targetoptions.get("device", False)))
CUDADispatcher.compile = timed
import cupy, numpy as np
from microagg_gpu import METHODS
from microagg_gpu.kernels import engine_named
from microagg_gpu.kernels.cuda import launching
launching.RECORDS_PER_BLOCK = 40
engine = engine_named("cuda")
# Clusters far apart: a spanning tree has to search.
places = np.repeat(np.arange(12.0) * 1e4, 20)[:, None]
points = cupy.asarray(places + np.random.default_rng(0).normal(size=(240, 3)))
{call}
print(sum(1 for _, device in spent if not device), sum(s for s, device in spent if not device))
"""


class First(NamedTuple):
    """Kernels of a first call, and seconds for them; None where there is no emulated driver."""

    kernels: int
    compiled: float
    loaded: float | None


def measured(name: str, kernels: list[Kernel]) -> First:
    """The first call of a method or operation, of the kernels that are known."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:  # a process that has compiled nothing
        seconds = pool.submit(compiling.seconds, kernels).result()
    return First(len(kernels), seconds, loaded(name))


def needed(name: str, kernels: list[Kernel]) -> list[Kernel]:
    """The kernels for many records in double precision that a first call launches."""
    users = {name, "searches of mst"} if name == "mst" else {name}
    return [
        kernel
        for kernel in kernels
        if kernel.real == "float64" and kernel.cooperative is not False
        if users & set(kernel.methods)
    ]


def loaded(name: str) -> float | None:
    """Seconds for the kernels of a first call whose kernels a process before has kept."""
    home = Path(os.environ.get("CUDAEMU_HOME") or ROOT.parent / "shared" / "cudaemu")
    if not home.is_dir():
        return None
    with TemporaryDirectory() as folder:
        command = [str(home / "cudaemu"), "--standin", "env", f"NUMBA_CACHE_DIR={folder}"]
        for _ in range(2):
            done = subprocess.run(
                [*command, sys.executable, "-c", CODE.format(call=CALLS[name])],
                cwd=ROOT, env={**os.environ, "CUDAEMU_SMS": "2", "PYTHON": sys.executable},
                capture_output=True, text=True, check=True,
            )  # fmt: skip
    return float(done.stdout.split()[-1])
