"""Arrays of any library and device, on the host."""

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import is_cupy_array, is_numpy_array, is_torch_array


def array_namespace(x: Any) -> Any:
    """The functions of an array's library, as the Array API standard has them.

    NumPy has them itself since 2.1; to import array_api_compat's copy of it takes 0.2 s.
    """
    if is_numpy_array(x) and hasattr(np, "astype"):
        return np
    return array_api_compat.array_namespace(x)


def to_numpy(x: Any) -> np.ndarray:
    """Copy an array of any library and device to the host."""
    if is_numpy_array(x):
        return x
    if is_cupy_array(x):
        return x.get()
    return np.from_dlpack(x.cpu() if is_torch_array(x) else x)
