"""Array library and device: detect, choose, move."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from math import inf
from typing import Any, NamedTuple

from array_api_compat import device as device_of
from array_api_compat import is_cupy_array, is_numpy_array

from .errors import InputError, Option, option
from .kernels import ENGINES, Engine, cache, engine_for, engine_name, to_numpy


def gpu_available() -> bool:
    """Whether CuPy is installed and finds a usable GPU; costs nothing where it is not."""
    if find_spec("cupy") is None:
        return False
    try:
        import cupy
    except ImportError:  # installed for another CUDA than this machine has
        return False
    return bool(cupy.is_available())


def simulated() -> bool:
    """Whether Numba simulates CUDA on the CPU, as the tests of the CUDA engine let it."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


class Work(NamedTuple):
    """What an engine is chosen for, if the user names none."""

    name: str  # by which it is known whether its kernels are compiled; a method's comes first
    seconds: float  # that the generic engine needs, about
    records: int  # that are worked on at once
    runs: int = 1  # that are to come, of this work and of other


# What runs where, of records on a GPU: from how many up to how many the CUDA engine is expected to
# be faster than the CPU engine on a copy of them; what is not here runs on the CPU. Nobody has
# measured it. By the projections for an RTX 4090 and the CPU engine's times on two cores, with 10
# variables, the slow end of the range (benchmarks/results/cuda.md). `centroid` looks at all records
# in each step on a GPU but not on the CPU, so it loses its advantage as records become more;
# `mdav`, `vmdav` and `kward` go in rounds. `genetic` takes 200 generations of some 0.1 ms;
# `individual` sorts. A warp takes a region in refinement: of 300 records where seconds are counted,
# as `best` does, and of 2,000 where steps are, of which a card needs some hundred. Not here:
# `optimal`, whose steps wait for each other, and paths, which are built and cut on the host.
ON_GPU: dict[str, tuple[float, float]] = {
    "mdav": (20_000, inf),
    "vmdav": (20_000, inf),
    "diameter": (20_000, inf),
    "mst": (5_000, inf),
    "kward": (20_000, inf),
    "genetic": (5_000, inf),
    "best": (50_000, inf),
    "refinement by seconds": (20_000, inf),
    "refinement by steps": (200_000, inf),
    "individual": (1_000_000, inf),
    "nearest records": (10_000, inf),
}


def choose(
    points: Any, device: str, engine: str | None = None, work: Work | None = None
) -> tuple[Any, Engine]:
    """Bring an array to the device that the caller asked for, and choose the engine for it there.

    On the CPU it becomes a NumPy array, which the CPU engine works on; the generic engine, if
    asked for, works in the array library of the data. The CUDA engine, if asked for, gets it on
    a GPU.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "cuda:0", ...}
        "auto" leaves it where it is.
    engine : {"generic", "cpu", "cuda"}, optional
        By default the fastest one for the array.
    work : Work, optional
        What it is for. All engines return the same, so work that the generic engine has done
        before the CPU engine could begin is left to it, and work that the CPU engine does sooner
        than the CUDA engine is done by the CPU engine on a copy (`ON_GPU`).
    """
    placed = _moved(points, device, engine)
    if engine is None and work is not None:
        if is_numpy_array(placed):
            engine = host_engine(work)
        elif is_cupy_array(placed) and not _stays_on_gpu(work):
            placed, engine = to_numpy(placed), "cpu"
    return placed, engine_for(placed, engine)


def host_engine(work: Work) -> str:
    """The name of the engine for work on NumPy arrays.

    To compile the kernels of a method takes 5 to 25 seconds, once: larger work causes it, or
    ``microagg warmup``. To load Numba and compiled kernels takes half a second in each process.
    """
    if not cache.is_ready(work.name):
        wait = 3.0
    else:
        wait = 0.0 if "numba" in sys.modules else 0.5 / work.runs
    return "generic" if work.seconds <= wait else "cpu"


def _stays_on_gpu(work: Work) -> bool:
    """Whether `ON_GPU` has the work; a ranked variable's inner method is not in the table."""
    if find_spec("numba_cuda") is None or " inner=" in work.name:
        return False
    least, most = next(
        (sizes for name, sizes in ON_GPU.items() if work.name.startswith(name)), (inf, inf)
    )
    return least <= work.records <= most


def nearest_work(n: int, m: int, d: int) -> Work:
    """The search for the nearest of n records to each of m, of d variables.

    The generic engine needs some 5 ns for each pair and variable.
    """
    return Work("nearest records", 5e-9 * n * m * d, n)


def set_compiled(engine: Engine, work: Work) -> None:
    """Note that work is done: if by the CPU engine, its kernels are compiled now."""
    if engine_name(engine) == "cpu":
        cache.set_ready(work.name)


def _moved(points: Any, device: str, engine: str | None) -> Any:
    held_on = device_name(points)
    if engine == "cuda" and not simulated():
        if device == "cpu":
            raise InputError(
                option("engine", "cuda"), " cannot be combined with ", option("device", "cpu")
            )
        if device == "auto" and not held_on.startswith("cuda"):
            device = "cuda"
    if device in ("auto", "cpu"):
        stays = engine == "generic" if held_on == "cpu" else device == "auto" and engine != "cpu"
        return points if stays else to_numpy(points)
    check_gpu(option("device", device))
    import cupy

    number = device.partition(":")[2]
    found = cupy.cuda.runtime.getDeviceCount()
    if int(number or 0) >= found:
        raise InputError(
            option("device", device), f" does not exist: this machine has {found} GPU(s)"
        )
    with cupy.cuda.Device(int(number)) if number else nullcontext():  # else the current one
        try:
            return cupy.asarray(points if is_cupy_array(points) else to_numpy(points))
        except MemoryError:  # asked of whoever allocates: CuPy's pool or RMM may hold free memory
            raise InputError(
                f"the data take {points.nbytes} bytes and the GPU has "
                f"{cupy.cuda.Device().mem_info[0]} free: protect fewer records at a time, or use ",
                option("device", "cpu"),
            ) from None


def check_gpu(wanted: Option) -> None:
    """Refuse an option that needs a GPU where none is usable."""
    if not gpu_available():
        raise InputError(
            wanted,
            " needs an NVIDIA GPU and CuPy, and none is usable here: install "
            "microagg-gpu[cuda13] (or cuda12) on a machine with a GPU, or use ",
            option("device", "cpu"),
        )


def on_device(points: Any) -> AbstractContextManager[Any]:
    """Make an array's GPU the current one for a while."""
    return points.device if is_cupy_array(points) else nullcontext()


def device_name(points: Any) -> str:
    """Name of an array's device: "cpu", "cuda:0", ..."""
    if is_numpy_array(points):
        return "cpu"
    if is_cupy_array(points):
        return f"cuda:{points.device.id}"
    name = str(device_of(points))
    return "cpu" if "cpu" in name.lower() else name


def usable_engines() -> list[str]:
    """Names of the engines that can run here."""
    cuda = simulated() or (gpu_available() and find_spec("numba_cuda") is not None)
    return [name for name in ENGINES if cuda or name != "cuda"]


def check_engine(engine: str | None) -> None:
    """Refuse an engine that cannot run here."""
    if engine == "cuda" and not simulated():
        check_gpu(option("engine", "cuda"))
        if find_spec("numba_cuda") is None:
            raise InputError(
                option("engine", "cuda"),
                " needs the package numba-cuda: install microagg-gpu[cuda13] or cuda12",
            )
