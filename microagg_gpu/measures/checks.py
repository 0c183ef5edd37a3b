"""Arguments of the measures as NumPy arrays, or an error that says what is wrong."""

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_floats, on_host, whole_floats
from ..errors import InputError


def as_numbers(data: ArrayLike, name: str) -> np.ndarray:
    """Return `data` as float64; a 1-D array is one variable."""
    matrix = as_floats(data, f"{name} must be a matrix of numbers; remove or encode the rest.")
    return matrix[:, np.newaxis] if matrix.ndim == 1 else matrix


def as_matrix(data: ArrayLike, name: str = "points") -> np.ndarray:
    """Return `data` as a float64 matrix without missing values."""
    matrix = as_numbers(data, name)
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"{name} has shape {matrix.shape}; a matrix of at least one record and one variable "
            "is needed."
        )
    bad = np.count_nonzero(~np.isfinite(matrix))
    if bad:
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"{name} holds {bad} missing or infinite values, the first in record {row}, "
            f"variable {column}: fill them in, or leave out those records"
        )
    return matrix


def as_labels(labels: ArrayLike) -> np.ndarray:
    """Return `labels` as an integer array of shape (n,) or (n, p)."""
    try:
        array = on_host(labels)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths
        raise InputError("labels must be whole numbers, the group of each record.") from None
    array = whole_floats(array)
    if array.ndim not in (1, 2) or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"labels have shape {array.shape} and type {array.dtype}; whole numbers of shape "
            "(records,) or (records, variables) are needed."
        )
    return array


def same_shape(original: ArrayLike, protected: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both as matrices of one shape."""
    return check_shapes(as_matrix(original, "original"), as_matrix(protected, "protected"))


def check_shapes(original: np.ndarray, protected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both if they have one shape."""
    if original.shape != protected.shape:
        raise InputError(
            f"original has shape {original.shape} and protected {protected.shape}; give the same "
            "records and variables."
        )
    return original, protected


def as_scale(scale: ArrayLike, p: int) -> np.ndarray:
    """Return the factors of p variables."""
    unit = as_floats(scale, "scale must be numbers, one for each variable.")
    if unit.shape != (p,) or not np.isfinite(unit).all():
        raise InputError(
            f"scale has shape {unit.shape} or is not finite; give one number for each of {p} "
            "variables."
        )
    return unit


def as_weights(given: ArrayLike, n: int) -> np.ndarray:
    """Return the sampling weights of n records."""
    weights = as_floats(given, "sampling_weight must be numbers, one for each record.")
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise InputError(
            f"sampling_weight must be {n} finite numbers above 0, one for each record."
        )
    return weights
