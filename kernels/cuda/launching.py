"""Launching kernels where the arrays are: on CuPy's current stream, or in a simulator."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from time import perf_counter
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


def at_its_arrays(operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of the engine that makes the GPU of its arrays the current one.

    Arrays that it makes are there then, and so are its kernels.
    """

    @wraps(operation)
    def placed(*arguments: Any, **named: Any) -> Any:
        for x in flat((*arguments, *named.values())):
            if is_cupy_array(x):
                with x.device:
                    return operation(*arguments, **named)
        return operation(*arguments, **named)

    return placed


def launch(
    kernel: Any, blocks: int, *arguments: Any, threads: int = THREADS, shared: int = 0
) -> None:
    """Launch a kernel on CuPy's current stream.

    Work on that stream keeps its order, so Numba need not wait for the arrays, as it would.

    Parameters
    ----------
    threads : int
        Of each block.
    shared : int
        Bytes of shared memory of each block that the kernel shares out itself.
    """
    stream: Any = 0
    if LAUNCHES is not None:
        LAUNCHES.append((kernel, blocks, arguments))
    if any(is_cupy_array(x) for x in flat(arguments)):
        import cupy

        current = cupy.cuda.get_current_stream().ptr
        # 0 would be the stream of the thread where Numba is told so, and CuPy means the legacy one.
        stream = cuda.external_stream(current) if current else cuda.legacy_default_stream()
        arguments = tuple(_for_numba(x) for x in arguments)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Grid size")  # few blocks are meant where few are asked
        configured = kernel[blocks, threads, stream, shared]
    configured(*arguments)


class Pace:
    """How much work a launch may do: what takes a tenth of a second, by the time of those before.

    Displays stop a kernel after 2 seconds, and Ctrl-C waits for one. No number of bytes tells how
    long they take: cards differ, and a block that works alone has a small part of one. So the first
    launches do little; nobody looks at the time of the very first, which may be that of compiling.

    Parameters
    ----------
    most : int
        The most work of a launch, whatever it takes.
    first : int, optional
        The work of the first launches.
    """

    SECONDS = 0.1
    FIRST = 1024  # so little of the most, since a multiprocessor may have to do it alone

    def __init__(self, most: int, first: int | None = None) -> None:
        self._most = max(1, most)
        self._timed = False
        self.work = max(1, most // self.FIRST if first is None else min(first, most))

    def __enter__(self) -> None:
        self._begun = perf_counter()

    def __exit__(self, *error: object) -> None:
        """Called when the launch is waited for."""
        seconds = perf_counter() - self._begun
        if self._timed:
            faster = min(4.0, self.SECONDS / max(seconds, 1e-6))
            self.work = min(self._most, max(1, int(self.work * faster)))
        self._timed = True


def read_number(x: Any) -> int:
    """A number from the device, for which the host waits."""
    return int(x)


def flat(arguments: Iterable[Any]) -> Iterator[Any]:
    """Arguments of a kernel, those in named tuples one by one."""
    for x in arguments:
        yield from flat(x) if isinstance(x, tuple) else (x,)


def _for_numba(x: Any) -> Any:
    """An argument as Numba takes it: CuPy's arrays without waiting for them."""
    if isinstance(x, tuple):
        return type(x)(*map(_for_numba, x))
    return cuda.as_cuda_array(x, sync=False) if is_cupy_array(x) else x


def team_blocks(records: int, fit: int | None = None) -> int:
    """Blocks of a team for a number of records: 1 where blocks cannot meet.

    One block fits on each multiprocessor whatever its registers, so a launch of so many is
    always possible. Numba's simulator runs blocks one after the other: there they cannot meet.

    Parameters
    ----------
    records : int
    fit : int, optional
        Blocks that fit on the device, if `blocks_that_fit` was asked. At most THREADS form a team,
        since a thread of each reads what the others show: two blocks and more on a multiprocessor.
    """
    if SIMULATED:
        return 1
    device = cuda.get_current_device()
    fit = device.MULTIPROCESSOR_COUNT if fit is None else fit
    most = min(fit, THREADS) if device.COOPERATIVE_LAUNCH else 1
    return max(1, min(most, records // RECORDS_PER_BLOCK))


def blocks_that_fit(kernel: Any, *arguments: Any) -> int:
    """Blocks of a cooperative kernel that the device holds at once; compiles it for the arguments.

    One to each multiprocessor cannot ask for all of the memory's bandwidth.
    """
    types = tuple(kernel.typeof_pyval(_for_numba(x)) for x in arguments)
    return kernel.compile(types).max_cooperative_grid_blocks(THREADS)


def larger_team(team: int, records: int, *launches: tuple[Any, ...]) -> int:
    """Blocks of a team as large as the device holds of each of some kernels, with arguments.

    A team of one block stays alone: its blocks cannot meet, or its records are few.
    """
    if team == 1:
        return 1
    fit = min(blocks_that_fit(kernel, *arguments) for kernel, *arguments in launches)
    return max(team, team_blocks(records, fit))


def check_room(points: Any, needed: int) -> None:
    """Refuse work for which the device has too little memory left.

    Only who allocates knows what is left: CuPy's pool or RMM may hold all memory and most of it be
    free. So the memory is asked for and given back, to be used by what comes next.
    """
    if not is_cupy_array(points):
        return
    import cupy

    try:
        cupy.empty(needed, dtype=cupy.uint8)
    except MemoryError:
        free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
        raise MemoryError(f"the GPU needs {needed} bytes for it and has {free} free") from None
