"""Small things that every operation of the generic engine needs."""

from typing import Any

from ..arrays import array_namespace
from ..arrays import to_numpy as to_numpy


def squared_distances(columns: Any, target: Any) -> Any:
    """Squared Euclidean distances of m records to one target.

    In difference form with the variables added in order, so that every library and device
    rounds in the same way.

    Parameters
    ----------
    columns : array of shape (d, m)
        The records, one row per variable.
    target : array of shape (d,)
    """
    squares = columns - array_namespace(columns).reshape(target, (-1, 1))
    squares *= squares
    total = squares[0, :]
    for j in range(1, columns.shape[0]):
        total += squares[j, :]
    return total
