"""The engines: packages with the same operations, and the one function that picks one.

``generic``  the Array API only: plain, and the reference for the other two
``cpu``      Numba, by search trees and on all cores
``cuda``     Numba CUDA, for arrays on a GPU

`protocol.py` says what each operation does. Nothing here imports the rest of ``microagg_gpu``.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast, get_args

from array_api_compat import is_cupy_array, is_numpy_array

from .arrays import array_namespace, to_numpy
from .bounding import HasPricing
from .optional import HasDiameterLoop, HasLoopOfFew, HasLoops, HasMixedLoop
from .point_set import HasPointSet
from .protocol import Engine, EngineName

if TYPE_CHECKING:  # here mypy finds what an engine lacks or has otherwise
    from . import cpu, cuda, generic

    _generic: Engine = generic
    _cpu: Engine = cpu
    _cuda: Engine = cuda
    _steps: tuple[HasPointSet, ...] = (generic, cpu)
    _loops: tuple[HasLoops, ...] = (cpu, cuda)
    _diameter_loop: HasDiameterLoop = cuda
    _mixed_loop: HasMixedLoop = cpu
    _loop_of_few: HasLoopOfFew = cpu
    _pricing: HasPricing = cpu

__all__ = [
    "ENGINES",
    "Engine",
    "array_namespace",
    "engine_for",
    "engine_name",
    "engine_named",
    "to_numpy",
]

ENGINES = get_args(EngineName)


def engine_for(points: Any, name: str | None = None) -> Engine:
    """Return the engine for an array: the one named, else the one its type and device call for.

    CuPy arrays go to the CUDA engine, or without the package numba-cuda to the generic one.

    Parameters
    ----------
    points : array
        The records, of any Array API library.
    name : {"generic", "cpu", "cuda"}, optional
        Force an engine whatever the array's type.
    """
    if name is None:
        if is_numpy_array(points):
            name = "cpu"
        else:
            kernels = is_cupy_array(points) and find_spec("numba_cuda") is not None
            name = "cuda" if kernels else "generic"
    return engine_named(name)


def engine_named(name: str) -> Engine:
    """Import an engine by its name."""
    return cast(Engine, import_module(f"{__name__}.{name}"))


def engine_name(engine: Engine) -> str:
    """The name of an engine, by which `engine_named` finds it again."""
    return engine.__name__.rpartition(".")[2]
