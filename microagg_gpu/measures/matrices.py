"""How much values, covariances, correlations and components change: tables of the field.

The table is that of Domingo-Ferrer and Torra (2001), "Disclosure protection methods and information
loss for microdata", which the handbook of Hundepool et al. (2012), section 3.7, takes over. *Gamma*
and *lambda* are by Mlodak (2020), "Information loss resulting from statistical disclosure control
of output data". sdcMicro has them as `IL_correl`, `IL_variables` and `dUtility`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_floats, known_keywords, whole_floats
from ..errors import InputError
from .checks import same_shape
from .spread import deviations, means
from .structure import _correlations


class Change(NamedTuple):
    """The mean change of the elements of a matrix."""

    mse: float
    """Mean squared error."""
    mae: float
    """Mean absolute error."""
    variation: float
    """Mean of the absolute changes, each relative to the original; NaN if one of these is 0."""


@known_keywords
def matrix_changes(original: ArrayLike, protected: ArrayLike) -> dict[str, Change]:
    """Return the changes of six matrices that analysts use; all are 0 if nothing changed.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value missing, no variable constant.

    Returns
    -------
    dict of Change
        "X", the values; "V", the covariances, each once; "R", the correlations, each pair once;
        "RF", the correlations between the variables and the principal components; "C", the
        communalities, which are the shares of the variables that the first component explains;
        and "F", the coefficients of the components' scores. RF and F are weighted by the share
        of the variation that a component explains in the original. The sign of a protected
        component is the one that is nearer to the original.

    Raises
    ------
    InputError
        If a variable is constant: it has no correlations.
    """
    before, after = same_shape(original, protected)
    _refuse_constant(before, after)
    p = before.shape[1]
    lower, below = np.tril_indices(p), np.tril_indices(p, -1)
    first, second = _correlations(before), _correlations(after)
    shares, loadings, scores = _components(first, None)
    _, new_loadings, new_scores = _components(second, loadings)
    weights = np.broadcast_to(shares, (p, p))
    return {
        "X": _change(before, after),
        "V": _change(_covariances(before)[lower], _covariances(after)[lower]),
        "R": _change(first[below], second[below]),
        "RF": _change(loadings, new_loadings, weights),
        "C": _change(loadings[:, 0] ** 2, new_loadings[:, 0] ** 2),
        "F": _change(scores, new_scores, weights),
    }


@known_keywords
def eigenvalue_change(original: ArrayLike, protected: ArrayLike) -> float:
    """Return the sum of the relative changes of the eigenvalues of the correlation matrix.

    The eigenvalues are in decreasing order. The measure means little if the smallest ones are near
    0, that is, if a variable is nearly a sum of others. It is sdcMicro's ``dUtility(method=
    "eigen")``. 0 is best.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value missing, no variable constant.

    Returns
    -------
    float
        NaN if an eigenvalue of the original is 0 to within rounding.
    """
    before, after = same_shape(original, protected)
    _refuse_constant(before, after)
    old, new = (np.linalg.eigvalsh(_correlations(data))[::-1] for data in (before, after))
    if old[-1] <= len(old) * np.finfo(float).eps * old[0]:
        return float("nan")
    return float(np.sum(np.abs(old - new) / old))


@known_keywords
def inverse_correlation_change(original: ArrayLike, protected: ArrayLike) -> float:
    """Return gamma, the change of the variables' dependence on all others, from 0 to 1.

    The diagonal of the inverse correlation matrix says how well the other variables explain each
    one (its variance inflation factor). Gamma is the Euclidean distance between the diagonals of
    the original and of the protected data, each divided by its norm, times 1 / sqrt(2) (Mlodak
    2020). 0 is best.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value missing, no variable constant.

    Returns
    -------
    float
        NaN if a correlation matrix has no inverse, or none to within rounding.
    """
    before, after = same_shape(original, protected)
    _refuse_constant(before, after)
    units = []
    for data in (before, after):
        matrix = _correlations(data)
        if np.linalg.cond(matrix) > 1e12:
            return float("nan")
        diagonal = np.diag(np.linalg.inv(matrix))
        units.append(diagonal / np.linalg.norm(diagonal))
    return float(np.linalg.norm(units[0] - units[1]) / np.sqrt(2))


@known_keywords
def mean_distance(
    original: ArrayLike, protected: ArrayLike, levels: ArrayLike | None = None
) -> float:
    """Return lambda, the mean over all values of a distance from 0 to 1 (Mlodak 2020).

    The distance of numbers is ``(2 / pi) arctan |x - x'|``. It depends on the units of the data:
    amounts in euros that change by some hundreds are near 1. That of ordered categories is the
    difference of their ranks divided by the number of categories less 1. Categories without order
    count 1 if they changed. 0 is best.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection, in the units of the data; categories by
        their numbers.
    levels : array_like of p integers, optional
        0 for numbers, 1 for categories without order, and for ordered categories how many there
        are. By default all variables are numbers.

    Returns
    -------
    float
        From 0 to 1.
    """
    before, after = same_shape(original, protected)
    p = before.shape[1]
    wrong = f"levels must be {p} whole numbers of 0 or more, one for each variable."
    counts = np.zeros(p, np.int64) if levels is None else whole_floats(as_floats(levels, wrong))
    if counts.shape != (p,) or counts.dtype.kind != "i" or (counts < 0).any():
        raise InputError(wrong)
    apart = np.abs(before - after)
    ranks = np.minimum(apart / np.maximum(counts - 1, 1), 1.0)
    number, nominal = 2 / np.pi * np.arctan(apart), np.sign(apart)
    return float(np.mean(np.select([counts == 0, counts == 1], [number, nominal], ranks)))


def _refuse_constant(*data: np.ndarray) -> None:
    for name, matrix in zip(("original", "protected"), data, strict=True):
        constant = np.flatnonzero(deviations(matrix) == 0)
        if len(constant):
            raise InputError(
                f"{len(constant)} variables of {name} are constant, the first is {constant[0]}; "
                "leave them out: they have no correlations."
            )


def _covariances(data: np.ndarray) -> np.ndarray:
    spread = deviations(data)
    return _correlations(data) * np.outer(spread, spread) * len(data) / max(len(data) - 1, 1)


def _components(
    correlations: np.ndarray, like: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The share of each principal component, its correlations with variables, and coefficients."""
    values, vectors = np.linalg.eigh(correlations)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    loadings = vectors * np.sqrt(values)
    if like is not None:
        loadings = loadings * np.where(np.sum(loadings * like, axis=0) < 0, -1.0, 1.0)
    scores = np.divide(loadings, values, out=np.zeros_like(loadings), where=values > 0)
    return values / values.sum(), loadings, scores


def _change(old: np.ndarray, new: np.ndarray, weights: np.ndarray | None = None) -> Change:
    apart = np.abs(old - new)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(apart == 0, 0.0, apart / np.abs(old))
    weighted = [x if weights is None else weights * x for x in (apart**2, apart, relative)]
    mse, mae, variation = (float(means(x.reshape(-1, 1))[0]) for x in weighted)
    return Change(mse, mae, variation if np.isfinite(relative).all() else float("nan"))
