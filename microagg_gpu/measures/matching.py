"""Two more views of the risk: records near in all variables at once, and the best matching."""

import numpy as np
from numpy.typing import ArrayLike

from ..checks import known_keywords, number
from ..errors import InputError
from .checks import as_scale, same_shape
from .risk import distinct_rows, with_patterns
from .spread import deviations, standard_scale
from .utility import as_pair

MOST = 15_000  # records that are matched: the distances of all pairs take 8 bytes each


@known_keywords
def joint_interval_disclosure(
    original: ArrayLike, protected: ArrayLike, width: float = 0.05
) -> float:
    """Return the percentage of records with all original values near the published ones.

    Near is within `width` standard deviations of the published variable. This is sdcMicro's
    ``dRisk``: a record counts only if an intruder learns all its values to that precision.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; a missing value counts as near.
    width : float
        In standard deviations.

    Returns
    -------
    float
        In percent.
    """
    width = number("width", width, 0)
    before, after = as_pair(original, protected)
    near = ~(np.abs(before - after) > width * deviations(after))
    return float(100 * np.mean(near.all(axis=1)))


@known_keywords
def assignment_linkage(
    original: ArrayLike,
    protected: ArrayLike,
    scale: ArrayLike | None = None,
    cells: ArrayLike | None = None,
) -> float:
    """Return the percentage of records that the best one-to-one matching of both files finds.

    An intruder who knows that both files hold the same records can match them as a whole: the
    pairs with the least sum of squared distances. It may find more or fewer records than linking
    each one to the nearest (`record_linkage`). Records with the same published values cannot be
    told apart; of those that are matched to their own group, the share 1 / size counts. Needs
    SciPy.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection, at most `MOST` in a stratum.
    scale : array_like of p numbers, optional
        Factor of each variable. The default is 1 / its original standard deviation.
    cells : array_like of n integers, optional
        The stratum of each record, if it is published: only records of a stratum are matched.

    Returns
    -------
    float
        In percent.
    """
    before, after = same_shape(original, protected)
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise InputError(
            "assignment_linkage needs SciPy: install microagg-gpu[sklearn], which has it"
        ) from None
    unit = standard_scale(before) if scale is None else as_scale(scale, before.shape[1])
    stratum = with_patterns(np.empty((len(before), 0)), cells)
    largest = int(np.bincount(stratum).max())
    if largest > MOST:
        raise InputError(
            f"{largest} records of a stratum cannot be matched as a whole, {MOST} can: measure a "
            "sample, or use record_linkage."
        )
    found = 0.0
    for at in range(int(stratum.max()) + 1):
        rows = np.flatnonzero(stratum == at)
        a, b = before[rows] * unit, after[rows] * unit
        middle = a.mean(axis=0)  # distances are exacter near 0
        a, b = a - middle, b - middle
        squares = np.sum(a**2, axis=1)[:, np.newaxis] - 2 * a @ b.T + np.sum(b**2, axis=1)
        matched = linear_sum_assignment(squares)[1]
        group = distinct_rows(b)[1]
        own = group[matched] == group
        found += float(np.sum(own / np.bincount(group)[group]))
    return 100 * found / len(before)
