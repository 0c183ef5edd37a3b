"""Small things that every operation of the generic engine needs."""

from typing import Any

from ..arrays import to_numpy as to_numpy


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
