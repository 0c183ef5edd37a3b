"""Sums of squares and information loss: 1999 section 1 and expression (1), 2002 expression (5)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..checks import known_keywords
from ..data.labels import numbered
from ..errors import InputError
from .checks import as_labels, as_matrix


@known_keywords
def sst(points: ArrayLike) -> float:
    """Return the total sum of squares SST about the centroid of all records.

    Parameters
    ----------
    points : array_like, n x p
        Records, in the papers standardized; a 1-D array is one variable.

    Returns
    -------
    float
    """
    matrix = as_matrix(points)
    return _within(matrix, _one_group(matrix))


@known_keywords
def sse(points: ArrayLike, labels: ArrayLike) -> float:
    """Return the within-groups sum of squares SSE (1999 section 1; 2005 expression 3).

    Parameters
    ----------
    points : array_like, n x p
        Records; a 1-D array is one variable.
    labels : array_like of int, (n,) or (n, p)
        Group of each record; with one column for each variable (individual ranking), the group
        of each value.

    Returns
    -------
    float
    """
    return _within(*_matched(points, labels))


@known_keywords
def ssa(points: ArrayLike, labels: ArrayLike) -> float:
    """Return the between-groups sum of squares SSA (1999 section 1; 2002 section 2).

    Parameters
    ----------
    points, labels
        As in `sse`.

    Returns
    -------
    float
        SST = SSA + SSE holds up to rounding; SSA and SSE are computed independently.
    """
    return _between(*_matched(points, labels))


@known_keywords
def information_loss(points: ArrayLike, labels: ArrayLike) -> float:
    """Return the information loss 100 * SSE / SST in percent (1999 expression 1; 2002, 5).

    Parameters
    ----------
    points, labels
        As in `sse`.

    Returns
    -------
    float
        From 0 to 100, lower is better; 0 if SST is 0, since identical records lose nothing.
    """
    return loss_and_sums(points, labels)[0]


def loss_and_sums(points: ArrayLike, labels: ArrayLike) -> tuple[float, float, float]:
    """Information loss in percent, SSE and SST, in one pass over the records."""
    matrix, partition = _matched(points, labels)
    unit = safe_unit(matrix)
    matrix = matrix * unit  # the loss does not depend on the unit
    within, total = _within(matrix, partition), _within(matrix, _one_group(matrix))
    loss = 100 * (within / total) if total > 0 else 0.0
    return loss, within / unit / unit, total / unit / unit


def safe_unit(matrix: np.ndarray) -> float:
    """A power of 2 by which values can be multiplied so that the squares of any float are finite.

    Other factors would change the digits, and far from 0 with them the differences.
    """
    return 2.0 ** -max(int(np.frexp(max(matrix.max(), -matrix.min()))[1]), -1000)


def _matched(points: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    matrix, partition = as_matrix(points), as_labels(labels)
    if partition.shape not in (matrix.shape[:1], matrix.shape):
        raise InputError(
            f"labels have shape {partition.shape} for points of shape {matrix.shape}; "
            "give one label for each record, or one for each value."
        )
    return matrix, partition


def _one_group(matrix: np.ndarray) -> np.ndarray:
    return np.zeros(len(matrix), dtype=np.int64)


def _columns(points: np.ndarray, labels: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the values, the group of each value and the group sizes, variable by variable."""
    partitions = labels.T if labels.ndim == 2 else [labels]
    groups = [numbered(part) for part in partitions]
    for j, values in enumerate(points.T):
        group, sizes = groups[j % len(groups)]
        yield values, group, sizes


def _means(values: np.ndarray, group: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return np.bincount(group, values) / sizes


def _deviations(values: np.ndarray, group: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    means = np.take(_means(values, group, sizes), group)
    return np.subtract(values, means, out=means)


def _within(points: np.ndarray, labels: np.ndarray) -> float:
    total = 0.0
    for values, group, sizes in _columns(points, labels):
        # A mean is rounded, coarsely if it is far from 0. The mean of the deviations corrects it.
        deviations = _deviations(_deviations(values, group, sizes), group, sizes)
        total += float(np.sum(np.square(deviations, out=deviations)))
    return total


def _between(points: np.ndarray, labels: np.ndarray) -> float:
    total = 0.0
    everything = _one_group(points)
    n = np.array([len(points)])
    for values, group, sizes in _columns(points, labels):
        # Centered first: a difference of two rounded means is poor if the values are far from 0.
        centered = values - _means(values, everything, n)
        offsets = _means(centered, group, sizes) - _means(centered, everything, n)
        total += float(np.sum(sizes * offsets**2))
    return total
