"""What users of the data lose: distance to the original, loss by variable, correlations.

Values may be missing (NaN), in the same places before and after protection. A measure of a
variable then uses its observed values, and a correlation the records that have both values.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import known_keywords
from ..errors import InputError
from .checks import as_numbers, as_scale, check_shapes
from .spread import deviations, means, standard_scale
from .structure import _correlations


class ByVariable(NamedTuple):
    """A measure of the whole file and of each of its variables."""

    total: float
    """The measure of the whole file."""
    by_variable: np.ndarray
    """The measure of each variable."""


class Sums(NamedTuple):
    """Sums of squares of each variable."""

    sse: np.ndarray
    """Squared differences between published and original values."""
    ssa: np.ndarray
    """Squares of the published values about the mean of the original ones."""
    sst: np.ndarray
    """Squares of the original values about their mean."""


def as_records(data: ArrayLike, name: str) -> np.ndarray:
    """Return a matrix of at least one record; values may be missing."""
    matrix = as_numbers(data, name)
    if matrix.ndim != 2 or len(matrix) == 0:
        raise InputError(f"{name} has shape {matrix.shape}; give a matrix of records.")
    if np.isinf(matrix).any():
        count = np.count_nonzero(np.isinf(matrix))
        raise InputError(f"{name} holds {count} infinite values; remove or impute them.")
    return matrix


def as_pair(original: ArrayLike, protected: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both as matrices of one shape that miss the same values."""
    before, after = check_shapes(
        as_records(original, "original"), as_records(protected, "protected")
    )
    differ = np.isnan(before) != np.isnan(after)
    if differ.any():
        row, column = np.argwhere(differ)[0]
        raise InputError(
            f"{np.count_nonzero(differ)} values are missing in only one of original and "
            f"protected, the first in record {row}, variable {column}; leave these records out."
        )
    return before, after


@known_keywords
def il1s(original: ArrayLike, protected: ArrayLike) -> ByVariable:
    """Return IL1s, the mean distance to the original in units of sqrt(2) standard deviations.

    IL1s is the mean over records i and variables j of ``|x_ij - x'_ij| / (sqrt(2) S_j)``, S_j the
    standard deviation of the original variable (here the population formula). The measure is by
    Yancey, Winkler and Creecy (2002), Disclosure risk assessment in perturbative microdata
    protection, and Mateo-Sanz, Sebe and Domingo-Ferrer (2004), Outlier protection in continuous
    microdata masking. sqrt(2) S_j is the standard deviation of the difference of two independent
    values. Publishing the values of other records at random gives about 0.8 for normal variables.
    Lower is better.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection, in any unit common to both.

    Returns
    -------
    ByVariable
        `by_variable` over the observed values, NaN for a variable that is constant or empty in
        the original; `total` is the mean of all values of the others, NaN if there are none.
    """
    before, after = as_pair(original, protected)
    spread = deviations(before)
    unit = np.where(spread > 0, np.sqrt(2) * spread, np.nan)
    each = means(np.abs(before - after) / unit)
    known = ~np.isnan(each)
    counts = np.count_nonzero(~np.isnan(before[:, known]), axis=0)
    total = np.average(each[known], weights=counts) if known.any() else np.nan
    return ByVariable(float(total), each)


@known_keywords
def sums_of_squares(
    original: ArrayLike, protected: ArrayLike, scale: ArrayLike | None = None
) -> Sums:
    """Return the sums of squares of each variable from the values themselves.

    If means of groups are published, SSE is the within-groups sum of squares and SST = SSA + SSE
    (1999 section 1). With medians, weighted or rounded means SSE is slightly larger.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; NaN marks a missing value of both.
    scale : array_like of p numbers, optional
        Factor of each variable. The default is 1 / its original standard deviation, or 0 if that
        is 0.

    Returns
    -------
    Sums
    """
    before, after = as_pair(original, protected)
    unit = standard_scale(before) if scale is None else as_scale(scale, before.shape[1])
    center = means(before)

    def sum_of(difference: np.ndarray) -> np.ndarray:
        return np.nansum((difference * unit) ** 2, axis=0)

    # The mean is rounded, coarsely if it is far from 0. The mean of the deviations corrects it.
    centered = before - center
    rest = means(centered)
    return Sums(sum_of(before - after), sum_of(after - center - rest), sum_of(centered - rest))


@known_keywords
def correlations(data: ArrayLike) -> np.ndarray:
    """Return the correlation matrix, pairwise over the records that have both values.

    Parameters
    ----------
    data : array_like, n x p
        Records in rows; NaN marks a missing value.

    Returns
    -------
    numpy.ndarray
        p x p; 0 in the row and column of a constant variable, NaN for a pair without two records
        that have both values.
    """
    matrix = as_records(data, "data")
    observed = ~np.isnan(matrix)
    if observed.all():
        return _correlations(matrix)
    spread = deviations(matrix)
    units = (matrix - means(matrix)) / np.where(spread > 0, spread, np.inf)
    there, units = observed.astype(np.float64), np.where(observed, units, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        count = there.T @ there
        mean = units.T @ there / count  # [i, j]: of variable i where j is observed too
        variance = (units**2).T @ there / count - mean**2
        product = np.sqrt(variance * variance.T)
        covariance = units.T @ units / count - mean * mean.T
        # Below this a variable is constant among the records of the pair, but for rounding.
        known = product > 1e-12
        found = np.where(known, np.clip(covariance / np.where(known, product, 1.0), -1, 1), 0.0)
    return np.where(count < 2, np.nan, found)
