"""What an analyst would find in the protected data: intervals, coefficients, shares of income."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_floats, known_keywords, whole_number
from ..errors import InputError
from .checks import same_shape
from .loss import safe_unit
from .spread import deviations, means
from .structure import _correlations
from .utility import ByVariable, as_pair

NORMAL = 1.959963984540054  # half a 95 % interval in standard errors


@known_keywords
def interval_overlap(original: ArrayLike, protected: ArrayLike) -> ByVariable:
    """Return how far 95 % confidence intervals of means overlap: 1 if equal, below 0 if apart.

    The overlap is the mean of the shares of both intervals that they have in common (Karr, Kohnen,
    Oganian, Reiter and Sanil 2006, "A framework for evaluating the utility of data altered to
    protect confidentiality"). Intervals that do not meet have a negative overlap, their distance.
    Microaggregation preserves means and narrows intervals.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; NaN marks a missing value.

    Returns
    -------
    ByVariable
        NaN for a variable that is constant before or after; `total` is the mean of the others.
    """
    before, after = as_pair(original, protected)
    found = []
    for data in (before, after):
        count = np.count_nonzero(~np.isnan(data), axis=0)
        half = NORMAL * deviations(data) / np.sqrt(np.maximum(count - 1, 1))
        found.append((means(data) - half, means(data) + half))
    each = _overlap(*found[0], *found[1])
    return _with_mean(each)


@known_keywords
def coefficient_overlap(original: ArrayLike, protected: ArrayLike, target: int) -> ByVariable:
    """Return how far the 95 % intervals of regression coefficients overlap, as `interval_overlap`.

    One variable is explained by all others and a constant, by least squares.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection, more than p + 1 of them.
    target : int
        The variable to explain.

    Returns
    -------
    ByVariable
        Of the other variables in their order; NaN if coefficients are not determined.
    """
    before, after = same_shape(original, protected)
    n, p = before.shape
    target = whole_number("target", target, 0, p - 1)
    if n <= p + 1:
        raise InputError(f"{n} records do not determine {p} coefficients; give more than {p + 1}.")
    each = _overlap(*_coefficients(before, target), *_coefficients(after, target))
    return _with_mean(each)


@known_keywords
def pmse(original: ArrayLike, protected: ArrayLike) -> float:
    """Return pMSE: how well a model can tell protected records from original ones; 0 if it cannot.

    Both files are put together, and the propensity that a record is protected is estimated by
    logistic regression on all variables and their products of two. pMSE is the mean of
    (propensity - 1/2)^2, at most 1/4 (Woo, Reiter, Oganian and Karr 2009, "Global measures of data
    utility for microdata masked for disclosure limitation"). Needs scikit-learn.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value may be missing.

    Returns
    -------
    float
        From 0 to 0.25.
    """
    before, after = same_shape(original, protected)
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import PolynomialFeatures
    except ImportError:
        raise InputError("pmse needs scikit-learn: install microagg-gpu[sklearn]") from None
    both = np.vstack([before, after])
    both = both * [safe_unit(column) for column in both.T]  # standardized next
    spread = deviations(both)
    units = (both - means(both)) / np.where(spread > 0, spread, 1.0)
    terms = PolynomialFeatures(2, include_bias=False).fit_transform(units)
    protected_ones = np.repeat([0, 1], len(before))
    model = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-6)
    propensity = model.fit(terms, protected_ones).predict_proba(terms)[:, 1]
    return float(np.mean((propensity - 0.5) ** 2))


class Inequality(NamedTuple):
    """How unequal incomes are."""

    gini: float
    """Gini coefficient: 0 if all have the same, near 1 if one has everything."""
    quintile_ratio: float
    """S80/S20: the sum of the highest fifth divided by that of the lowest."""
    lowest_fifth: float
    """Share of the total that the lowest fifth has, from 0 to 0.2."""
    highest_fifth: float
    """Share of the total that the highest fifth has, from 0.2 to 1."""


@known_keywords
def inequality(values: ArrayLike, sampling_weight: ArrayLike | None = None) -> Inequality:
    """Return the Gini coefficient and the ratio of the highest to the lowest fifth (S80/S20).

    A record on the border of a fifth counts with the part of its weight that is inside.

    Parameters
    ----------
    values : array_like of n numbers, 0 or more
        Incomes, or other amounts.
    sampling_weight : array_like of n numbers, optional
        How many units each record stands for.

    Returns
    -------
    Inequality
        NaN if all amounts are 0; `quintile_ratio` is infinite if the lowest fifth has nothing.
    """
    amounts = as_floats(values, "values must be numbers.")
    weights = np.ones(len(amounts)) if sampling_weight is None else as_floats(
        sampling_weight, "sampling_weight must be numbers."
    )  # fmt: skip
    if amounts.ndim != 1 or amounts.shape != weights.shape or not len(amounts):
        raise InputError("values and sampling_weight must be one number for each record.")
    bad = np.count_nonzero(~((amounts >= 0) & (weights >= 0) & np.isfinite(amounts * weights)))
    if bad or not weights.any():
        raise InputError(
            f"{bad} values or weights are negative, missing or infinite, or all weights are 0; "
            "inequality is measured of amounts of 0 or more."
        )
    order = np.argsort(amounts, kind="stable")
    amounts, weights = amounts[order], weights[order]
    people = np.append(0.0, np.cumsum(weights)) / weights.sum()
    held = np.append(0.0, np.cumsum(weights * amounts))
    if held[-1] == 0:
        return Inequality(*[float("nan")] * 4)
    lorenz = held / held[-1]
    area = np.sum(np.diff(people) * (lorenz[1:] + lorenz[:-1]))  # twice that below the curve
    lowest, rest = np.interp([0.2, 0.8], people, lorenz)
    ratio = (1 - rest) / lowest if lowest > 0 else float("inf")
    return Inequality(float(1 - area), float(ratio), float(lowest), float(1 - rest))


def coefficient_overlaps(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The mean of `coefficient_overlap` for each variable as the target, all at once.

    With P the inverse of the correlation matrix and D_j its j-th diagonal element, the standardized
    coefficient of variable i for target j is -P_ij / D_j, the unexplained share of the variance
    1 / D_j, and the i-th diagonal element of the inverse for the others P_ii - P_ij^2 / D_j.
    """
    n, p = before.shape
    ends = []
    for data in (before, after):
        matrix = _correlations(data)
        spread = deviations(data)
        if p < 2 or n <= p + 1 or not (spread > 0).all() or np.linalg.cond(matrix) > 1e12:
            return np.full(p, np.nan)
        inverse = np.linalg.inv(matrix)
        diagonal = np.diag(inverse)
        units = spread / spread[:, np.newaxis]  # [i, j]: of target j for variable i
        found = -inverse / diagonal * units
        left = diagonal[:, np.newaxis] - inverse**2 / diagonal
        half = NORMAL * units * np.sqrt(np.maximum(left, 0.0) / diagonal / (n - p))
        ends.append((found - half, found + half))
    each = _overlap(*ends[0], *ends[1])
    np.fill_diagonal(each, np.nan)
    return np.array([_with_mean(column).total for column in each.T])


def _with_mean(each: np.ndarray) -> ByVariable:
    known = each[~np.isnan(each)]
    return ByVariable(float(known.mean()) if len(known) else float("nan"), each)


def _overlap(
    low: np.ndarray, high: np.ndarray, new_low: np.ndarray, new_high: np.ndarray
) -> np.ndarray:
    common = np.minimum(high, new_high) - np.maximum(low, new_low)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = (common / (high - low) + common / (new_high - new_low)) / 2
    return np.where(np.isfinite(each), each, np.nan)


def _coefficients(data: np.ndarray, target: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the intervals of all coefficients but the constant."""
    n, p = data.shape
    others = np.delete(data, target, axis=1)
    center, spread = means(others), deviations(others)
    unit = np.where(spread > 0, spread, np.nan)
    design = np.column_stack([np.ones(n), (others - center) / unit])
    if np.isnan(design).any() or np.linalg.matrix_rank(design) < p:
        return np.full(p - 1, np.nan), np.full(p - 1, np.nan)
    found, *_ = np.linalg.lstsq(design, data[:, target], rcond=None)
    rest = data[:, target] - design @ found
    inverse = np.linalg.inv(design.T @ design)
    errors = np.sqrt(np.diag(inverse) * (rest @ rest) / (n - p))
    half = NORMAL * errors[1:] / unit
    return found[1:] / unit - half, found[1:] / unit + half
