"""What a group gives away although it has k records: one that holds most of it, or equal values."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

HALF = 0.5


class Dominance(NamedTuple):
    """Groups in which one record holds more than half of a variable, for each variable.

    Shares are of absolute values, so that losses count by their size.
    """

    dominated: np.ndarray
    """How many groups one record dominates. Its value is nearly the published sum."""
    share: np.ndarray
    """The largest share that a record of any group holds; 0 if all values are 0 or missing."""
    record: np.ndarray
    """The record that holds it, the first of several."""
    equal: np.ndarray
    """How many groups have the same value in every record: it is published as it is."""


def dominance(original: ArrayLike, labels: ArrayLike) -> Dominance:
    """Return the groups that one record dominates, or in which all records have the same value.

    Parameters
    ----------
    original : array_like, n x p
        The records before protection; NaN where a value is missing.
    labels : array_like of n integers
        Group of each record: 0, 1, ...

    Returns
    -------
    Dominance
    """
    values, groups = np.asarray(original, dtype=np.float64), np.asarray(labels)
    count, p = int(groups.max()) + 1, values.shape[1]
    dominated, equal, record = (np.zeros(p, dtype=np.int64) for _ in range(3))
    share = np.zeros(p)
    for j in range(p):
        known = np.flatnonzero(~np.isnan(values[:, j]))
        if not len(known):
            continue
        group, value = groups[known], values[known, j]
        size = np.abs(value)
        # By a power of two, which is exact, so that no sum overflows.
        size = np.ldexp(size, -np.frexp(size.max())[1])
        total, top = np.zeros(count), np.zeros(count)
        np.maximum.at(top, group, size)
        np.add.at(total, group, size)
        held = np.divide(top, total, out=np.zeros(count), where=total > 0)
        dominated[j] = np.count_nonzero(held > HALF)
        own = np.where(size == top[group], held[group], 0.0)
        share[j], record[j] = own.max(), known[int(own.argmax())]
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(low, group, value)
        np.maximum.at(high, group, value)
        equal[j] = np.count_nonzero(low == high)
    return Dominance(dominated, share, record, equal)
