"""Array library and device: detect, choose, move."""

from importlib.util import find_spec
from typing import Any

from array_api_compat import device as device_of
from array_api_compat import is_cupy_array, is_numpy_array

from .errors import InputError
from .kernels import available_engines, engine_for


def gpu_available() -> bool:
    """Whether CuPy is installed and finds a usable GPU; costs nothing where it is not."""
    if find_spec("cupy") is None:
        return False
    import cupy

    return bool(cupy.is_available())


def move(points: Any, device: str, engine: str | None = None) -> Any:
    """Bring an array to the device that the caller asked for.

    On the CPU it becomes a NumPy array, which the CPU engine works on; the generic engine, if
    asked for, works in the array library of the data.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "cuda:0", ...}
        "auto" leaves it where it is.
    engine : str, optional
    """
    name, _, number = device.partition(":")
    if device in ("auto", "cpu"):
        here = device_name(points) == "cpu"
        stays = engine == "generic" if here else device == "auto"
        return points if stays else engine_for(points).to_numpy(points)
    if name != "cuda" or (number and not number.isdigit()) or device == "cuda:":
        raise InputError(f"device={device!r} is unknown: choose 'auto', 'cpu', 'cuda' or 'cuda:1'")
    if not gpu_available():
        raise InputError(
            f"device={device!r} needs an NVIDIA GPU and CuPy, and none is usable here: "
            "install cupy-cuda12x or cupy-cuda13x on a machine with a GPU, or take device='cpu'"
        )
    import cupy

    found = cupy.cuda.runtime.getDeviceCount()
    if int(number or 0) >= found:
        raise InputError(f"device={device!r} does not exist: this machine has {found} GPU(s)")
    with cupy.cuda.Device(int(number or 0)):
        return cupy.asarray(
            points if is_cupy_array(points) else engine_for(points).to_numpy(points)
        )


def device_name(points: Any) -> str:
    """Name of an array's device: "cpu", "cuda:0", ..."""
    if is_numpy_array(points):
        return "cpu"
    if is_cupy_array(points):
        return f"cuda:{points.device.id}"
    name = str(device_of(points))
    return "cpu" if "cpu" in name.lower() else name


def check_engine(engine: str | None) -> None:
    """Refuse an engine that this version does not have."""
    available = available_engines()
    if engine is not None and engine not in available:
        names = ", ".join(repr(name) for name in available)
        raise InputError(f"engine={engine!r} is not in this version, which has {names}")
