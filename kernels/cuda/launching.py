"""Launching kernels where the arrays are: on CuPy's current stream, or in a simulator."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from array_api_compat import is_cupy_array
from numba import cuda

from .arithmetic import SIMULATED
from .team import THREADS

# A block of a team that looks after fewer records than this would rather wait than work.
RECORDS_PER_BLOCK = 256
# None, or a list in which every launch is noted: kernel, blocks, arguments.
LAUNCHES: list[tuple[Any, int, tuple[Any, ...]]] | None = None


def real_type(points: Any) -> Any:
    """The NumPy type of the points: float64 or float32."""
    return np.dtype(str(points.dtype)).type


def launch(kernel: Any, blocks: int, *arguments: Any) -> None:
    """Launch a kernel of THREADS threads a block on CuPy's current stream.

    Work on that stream keeps its order, so Numba need not wait for the arrays, as it would.
    """
    stream: Any = 0
    if LAUNCHES is not None:
        LAUNCHES.append((kernel, blocks, arguments))
    if any(is_cupy_array(x) for x in flat(arguments)):
        import cupy

        current = cupy.cuda.get_current_stream().ptr
        stream = cuda.external_stream(current) if current else 0
        arguments = tuple(_for_numba(x) for x in arguments)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Grid size")  # few blocks are meant where few are asked
        configured = kernel[blocks, THREADS, stream]
    configured(*arguments)


def flat(arguments: Iterable[Any]) -> Iterator[Any]:
    """Arguments of a kernel, those in named tuples one by one."""
    for x in arguments:
        yield from flat(x) if isinstance(x, tuple) else (x,)


def _for_numba(x: Any) -> Any:
    """An argument as Numba takes it: CuPy's arrays without waiting for them."""
    if isinstance(x, tuple):
        return type(x)(*map(_for_numba, x))
    return cuda.as_cuda_array(x, sync=False) if is_cupy_array(x) else x


def team_blocks(records: int) -> int:
    """Blocks of a team for a number of records: 1 where blocks cannot meet.

    One block fits on each multiprocessor whatever its registers, so a launch of so many is
    always possible. Numba's simulator runs blocks one after the other: there they cannot meet.
    """
    if SIMULATED:
        return 1
    device = cuda.get_current_device()
    most = min(device.MULTIPROCESSOR_COUNT, THREADS) if device.COOPERATIVE_LAUNCH else 1
    return max(1, min(most, records // RECORDS_PER_BLOCK))


def check_room(points: Any, needed: int) -> None:
    """Refuse work for which the device has too little memory left."""
    if not is_cupy_array(points):
        return
    import cupy

    free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
    if needed > free:
        raise MemoryError(f"the GPU needs {needed} bytes for it and has {free} free")
