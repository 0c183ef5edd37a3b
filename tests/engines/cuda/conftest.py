"""The CUDA engine's tests run on NumPy arrays, in one of two simulators.

``NUMBA_ENABLE_CUDASIM=1`` interprets the Python text of the kernels; ``PTXRUN=1`` executes what
the compiler made of it (see `make test-cuda`). With neither they are left out.
"""

import sys
from threading import Lock
from zlib import crc32

import numpy as np
import pytest

from helpers.simulators import PTXRUN, SIMULATOR

collect_ignore_glob = [] if SIMULATOR or PTXRUN else ["test_*.py"]

if SIMULATOR:
    from numba.cuda.simulator.kernelapi import FakeCUDAShared

    # The simulator's threads are Python's, which take turns: at the usual 5 ms it would crawl.
    sys.setswitchinterval(1e-6)
    lock = Lock()

    def array(self, shape, dtype, alignment=None):
        """A shared array, the same for all threads that ask for it in the same line.

        The simulator's own looks whether there is one and then makes it, without a lock: now
        and then two threads of a block got one each.
        """
        if shape == 0:  # that of the launch, the same for all lines
            return np.frombuffer(self._dynshared.data, np.dtype(dtype.name))
        frame = sys._getframe(1)
        caller = frame.f_code.co_filename, frame.f_lineno
        with lock:
            if caller not in self._allocations:
                self._allocations[caller] = np.empty(shape, np.dtype(dtype))
            return self._allocations[caller]

    FakeCUDAShared.array = array


@pytest.fixture(autouse=True)
def teams_of_several_blocks(monkeypatch):
    """Let blocks work together on few records, where blocks can (not in Numba's simulator)."""
    from microagg_gpu.kernels.cuda import launching

    monkeypatch.setattr(launching, "RECORDS_PER_BLOCK", 16)
    # More blocks than one to a multiprocessor would only take longer here.
    monkeypatch.setattr(launching, "blocks_that_fit", lambda *given: 4)


@pytest.fixture(autouse=True)
def another_schedule(request):
    """Let compiled threads take their turns in another order in every test."""
    if PTXRUN:
        import ptxrun

        options = ptxrun._config["options"] | {"seed": crc32(request.node.nodeid.encode())}
        cc = ptxrun._context.device.compute_capability
        ptxrun.install(cc=cc, raise_on_finding=False, **options)
