"""Mean and standard deviation of each variable, over its observed values.

These are for figures that are printed; records are standardized by `data.scaling`, with correctly
rounded sums.
"""

import numpy as np


def means(data: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Mean of the observed values of each variable, NaN if there are none."""
    observed = ~np.isnan(data)
    share = observed if weight is None else observed * weight[:, np.newaxis]
    total = share.sum(axis=0, dtype=np.float64)
    sums = np.sum(np.where(observed, data, 0.0) * share, axis=0)
    return np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0)


def deviations(data: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Standard deviation (population formula) of each variable; 0 if constant, NaN if empty."""
    center = means(data, weight)
    distance = np.abs(data - center)
    largest = np.where(varies(data), np.fmax.reduce(distance, axis=0), 0.0)
    distance /= np.where(largest > 0, largest, 1.0)
    return np.where(np.isnan(center), np.nan, largest * np.sqrt(means(distance**2, weight)))


def varies(data: np.ndarray) -> np.ndarray:
    """Whether a variable has two different values (not deviation > 0: means are rounded)."""
    return np.fmin.reduce(data, axis=0) < np.fmax.reduce(data, axis=0)


def standard_scale(original: np.ndarray) -> np.ndarray:
    """Return 1 / standard deviation of each variable, 0 where it is constant or empty."""
    spread = deviations(original)
    return np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)
