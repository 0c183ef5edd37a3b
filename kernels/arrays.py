"""Arrays of any library and device, on the host."""

from typing import Any

import numpy as np
from array_api_compat import is_cupy_array, is_numpy_array, is_torch_array


def to_numpy(x: Any) -> np.ndarray:
    """Copy an array of any library and device to the host."""
    if is_numpy_array(x):
        return x
    if is_cupy_array(x):
        return x.get()
    return np.from_dlpack(x.cpu() if is_torch_array(x) else x)
