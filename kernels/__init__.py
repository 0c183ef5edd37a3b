"""The engines: packages with the same words, and the one function that picks one.

``generic``  the Array API only: plain, and the reference for the other two
``cpu``      Numba, by search trees and on all cores
``cuda``     Numba CUDA, for arrays on a GPU

Nothing here imports the rest of ``microagg_gpu``.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from array_api_compat import is_cupy_array, is_numpy_array

ENGINES = ("generic", "cpu", "cuda")


def engine_for(points: Any, name: str | None = None) -> ModuleType:
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
    return import_module(f"{__name__}.{name}")
