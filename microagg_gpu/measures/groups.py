"""Properties of the groups themselves: oversized groups and the number of partitions."""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import whole_number
from ..data.labels import numbered
from .checks import as_labels


class Oversized(NamedTuple):
    """Groups of 2k records or more."""

    share: float
    """Percentage of all groups."""
    mean_size: float
    """Their mean size, 0 if there are none."""


def oversized(labels: ArrayLike, k: int) -> Oversized:
    """Return the share and the mean size of groups of 2k records or more (2005 Table 6).

    Parameters
    ----------
    labels : array_like of int, (n,) or (n, p)
        Group of each record; with one column for each variable (individual ranking), the groups
        of all variables are counted.
    k : int
        Minimum group size.

    Returns
    -------
    Oversized
        `share` in percent and `mean_size`.
    """
    k = whole_number("k", k, 1)
    columns = np.atleast_2d(as_labels(labels).T)
    sizes = np.concatenate([numbered(column)[1] for column in columns])
    large = sizes[sizes >= 2 * k]
    return Oversized(100 * large.size / sizes.size, float(large.mean()) if large.size else 0.0)


def count_partitions(n: int, k: int) -> int:
    """Return the number of partitions of n records into groups of k to 2k-1 (2005 Table 11).

    An optimal k-partition is among them (2002 Proposition 1), so this is the size of an
    exhaustive search.

    Parameters
    ----------
    n : int
        Number of records, 0 or more.
    k : int
        Minimum group size, 1 or more.

    Returns
    -------
    int
        Exact; 0 if n records have no such partition.

    Notes
    -----
    The recurrence goes by the group of the first record. A group of s records contains s - 1 of
    the other n - 1 records, which gives C(n-1, s-1) choices; the rest is partitioned freely::

        P(0) = 1,    P(n) = sum over s = k ... min(2k-1, n) of C(n-1, s-1) * P(n-s).

    2005 Appendix A goes by the number m of groups of the smallest size k, then by those of k+1
    and so on: expressions (4) to (6). As printed, (4) repeats the name of the function it
    defines, and the second line of (6) lacks the m! of the first. Corrected, they count the same
    partitions and give all 24 entries of Table 11.
    """
    n, k = whole_number("n", n, 0, 100_000), whole_number("k", k, 1)
    counts = [1]
    for m in range(1, n + 1):
        sizes = range(k, min(2 * k - 1, m) + 1)
        counts.append(sum(comb(m - 1, s - 1) * counts[m - s] for s in sizes))
    return counts[n]
