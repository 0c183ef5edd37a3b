"""In which simulator the tests of the CUDA engine run, and how large their tables may be."""

import os

SIMULATOR = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
PTXRUN = os.environ.get("PTXRUN") == "1"


def size(small: int, large: int) -> int:
    """A number of records: small in Numba's simulator, large where compiled code runs."""
    return small if SIMULATOR else large
