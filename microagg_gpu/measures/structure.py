"""What protection does to the variables: spread, correlations, first principal component."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import known_keywords, whole_number
from .checks import as_matrix, same_shape
from .spread import deviations, varies


class FirstComponent(NamedTuple):
    """The first principal component of standardized variables."""

    weights: np.ndarray
    """Weight (loading) of each variable: its correlation with the component."""
    percent: float
    """Percentage of the variability of the whole data set that it explains."""


class Discrepancies(NamedTuple):
    """Mean and standard deviation of the correlation discrepancies."""

    mean: float
    """Mean over the pairs of variables."""
    std: float
    """Standard deviation over the pairs of variables."""


@known_keywords
def standard_deviations(original: ArrayLike, protected: ArrayLike) -> np.ndarray:
    """Return the standard deviation of each protected variable divided by the original one.

    This is 1999 Table 2: the data are standardized with the mean and standard deviation of the
    original. No value exceeds 1 after microaggregation, and closer to 1 is better.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection, in any unit common to both.

    Returns
    -------
    numpy.ndarray
        One value for each variable; 0 for a variable that is constant in the original.
    """
    original, protected = same_shape(original, protected)
    before, after = deviations(original), deviations(protected)
    return np.divide(after, before, out=np.zeros_like(before), where=before > 0)


@known_keywords
def first_component(data: ArrayLike) -> FirstComponent:
    """Return the weights on the first principal component and the percentage explained.

    These are the columns and the last row of 1999 Table 3 (%FPC in 2002 Tables 2 and 4). The
    component is that of the correlation matrix; a weight is the eigenvector's element times the
    square root of the eigenvalue, so the squares of the weights sum to the eigenvalue.

    Parameters
    ----------
    data : array_like, n x p
        Records, standardized or not.

    Returns
    -------
    FirstComponent
        `weights`, their sum positive (if it is 0, the first that is not 0), and `percent`. A
        constant variable has weight 0 and no share in the variability.
    """
    matrix = as_matrix(data)
    varied = varies(matrix)
    if not varied.any():
        return FirstComponent(np.zeros(matrix.shape[1]), 0.0)
    values, vectors = np.linalg.eigh(_correlations(matrix))
    weights = np.where(varied, vectors[:, -1] * np.sqrt(values[-1]), 0.0)
    if (weights.sum() or weights[np.flatnonzero(weights)[0]]) < 0:
        weights = -weights
    return FirstComponent(weights, float(100 * values[-1] / np.count_nonzero(varied)))


@known_keywords
def weight_changes(original: ArrayLike, protected: ArrayLike) -> np.ndarray:
    """Return the change of each variable's weight on the first component, in percent.

    These are the figures in parentheses of 1999 Table 3, with their sign: 100 * (w' - w) / w for
    the weights w of `first_component`; a weight that goes from -.50 to -.54 changes by +8.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value may be missing.

    Returns
    -------
    numpy.ndarray
        One signed percentage for each variable; 0 where both weights are 0.
    """
    original, protected = same_shape(original, protected)
    return _percent_changes(*_weights(original, protected))


@known_keywords
def mean_weight_change(original: ArrayLike, protected: ArrayLike) -> float:
    """Return the mean percentage difference of the weights, Delta W of 2002 Tables 2 and 4.

    The weights of 2002 are not those of 1999 Table 3 but the coefficients of the standardized
    variables in the component's score, scaled to variance 1: the weight of `first_component`
    divided by the eigenvalue. The differences are relative to the original and absolute. The
    text does not say so; this reading gives the three PF rows of 2002 Table 4 (11.7, 14.5, 13.1
    with k=3 and 15.7, 15.0, 13.4 with k=4). With it Table 2, printed to four decimals, agrees
    within .008 (F and k-Ward, k=3 and 4).

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value may be missing.

    Returns
    -------
    float
    """
    original, protected = same_shape(original, protected)
    before, after = (w / (np.sum(w**2) or 1.0) for w in _weights(original, protected))
    return float(np.mean(np.abs(_percent_changes(before, after))))


@known_keywords
def correlation_discrepancies(
    original: ArrayLike, protected: ArrayLike, *, ddof: int = 0
) -> Discrepancies:
    """Return mean and standard deviation of the discrepancies ``|r'_ij - r_ij|``.

    The pairs of variables are unordered (1999 Table 4; 2002 Tables 2 and 4). Lower is better.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; no value may be missing.
    ddof : {0, 1}
        The standard deviation divides by the number of pairs less `ddof`. 2002 Table 2 has 0 (F,
        k=3: .0208), 1999 Table 4 has 1 (the same protection, there FS_I: .0210). In 2002
        Table 4, PF(FPC) with k=4, printed .10, requires 1 (.0951, not .0944).

    Returns
    -------
    Discrepancies
        `mean` and `std`, 0 if there are too few pairs. Variables that are constant in
        the original are left out; one that protection made constant counts as uncorrelated.
    """
    ddof = whole_number("ddof", ddof, 0, 1)
    original, protected = same_shape(original, protected)
    varied = varies(original)
    difference = _correlations(protected[:, varied]) - _correlations(original[:, varied])
    pairs = np.abs(difference[np.triu_indices(len(difference), 1)])
    return Discrepancies(
        float(pairs.mean()) if pairs.size else 0.0,
        float(pairs.std(ddof=ddof)) if pairs.size > ddof else 0.0,
    )


def _correlations(matrix: np.ndarray) -> np.ndarray:
    """Return the correlation matrix, with zeros for constant variables."""
    centred = np.where(varies(matrix), matrix - matrix.mean(axis=0), 0.0)
    largest = np.abs(centred).max(axis=0)
    centred /= np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt(np.sum(centred**2, axis=0))
    units = centred / np.where(lengths > 0, lengths, 1.0)
    return units.T @ units


def _weights(original: np.ndarray, protected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    before, after = first_component(original).weights, first_component(protected).weights
    # If positive and negative weights balance, a small change may reverse the component.
    return before, -after if before @ after < 0 else after


def _percent_changes(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(after == before, 0.0, 100 * ((after - before) / before))
