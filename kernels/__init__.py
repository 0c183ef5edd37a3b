"""The engines: packages with the same words, and the one function that picks one.

``generic``  the Array API only: plain, and the reference for the other two
``cpu``      Numba, by search trees and on all cores
``cuda``     Numba CUDA; not in this version

Nothing here imports the rest of ``microagg_gpu``.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from array_api_compat import is_numpy_array

ENGINES = ("generic", "cpu", "cuda")


def available_engines() -> tuple[str, ...]:
    """Names of the engines that this version contains."""
    specs = {name: find_spec(f"{__name__}.{name}") for name in ENGINES}
    return tuple(name for name, spec in specs.items() if spec is not None and spec.origin)


def engine_for(points: Any, name: str | None = None) -> ModuleType:
    """Return the engine for an array: the one named, else the one its type and device call for.

    Parameters
    ----------
    points : array
        The records, of any Array API library.
    name : {"generic", "cpu", "cuda"}, optional
        Force an engine whatever the array's type.
    """
    if name is None:
        name = "cpu" if is_numpy_array(points) else "generic"
    return import_module(f"{__name__}.{name}")
