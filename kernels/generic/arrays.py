"""Small things that every word of the generic engine needs."""

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


def squared_distances(columns: Any, target: Any) -> Any:
    """Squared Euclidean distances of m records to one target.

    In difference form with the variables added in order, so that every library and device
    rounds alike.

    Parameters
    ----------
    columns : array of shape (d, m)
        The records, one row per variable.
    target : array of shape (d,)
    """
    difference = columns[0, :] - target[0]
    total = difference * difference
    for j in range(1, columns.shape[0]):
        difference = columns[j, :] - target[j]
        total = total + difference * difference
    return total
