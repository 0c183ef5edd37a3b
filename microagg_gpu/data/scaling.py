"""Scaling: what differences of each variable count for in distances and loss.

There is one scaling for a table, a Dask cluster and the scikit-learn estimator. Sums are correctly
rounded and roots taken on the host (not every library's are exact), so all array libraries and any
division into parts give the same numbers.
"""

from collections.abc import Sequence
from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from ..errors import InputError
from ..kernels import array_namespace, to_numpy
from ..kernels.protocol import Engine

LARGEST_SQUARED = 1e150
"""Values above it cannot be squared and added up."""


class Scaling(NamedTuple):
    """How variables are brought to mean 0 and standard deviation 1, and weighted.

    Attributes
    ----------
    centre : float array of shape (d,)
    spread : float array of shape (d,)
        Standard deviations; 1 for a constant variable.
    constant : bool array of shape (d,)
        Variables with one value only, which become 0.
    factor : float array of shape (d,)
        What the standardized variable is multiplied by.
    unit : float array of shape (d,)
        Of a variable that counts by its logarithm, sign(x) log(1 + |x| / unit); 0 for others.
    fallback : bool array of shape (d,)
        Variables whose MAD is 0, so that their spread is the standard deviation.
    """

    centre: np.ndarray
    spread: np.ndarray
    constant: np.ndarray
    factor: np.ndarray
    unit: np.ndarray
    fallback: np.ndarray

    @property
    def scale(self) -> np.ndarray:
        """What differences of each variable are multiplied by."""
        return np.where(self.constant, 0.0, 1 / self.spread) * self.factor

    def of(self, places: Sequence[int]) -> "Scaling":
        """The scaling of some of the variables."""
        return Scaling(*(part[places] for part in self))

    def measured(self, values: Any) -> Any:
        """Values of which differences count: those given, or their logarithms.

        Logarithms are taken on the host: libraries round them in different ways.
        """
        if not self.unit.any():
            return values
        host = to_numpy(values)
        unit = np.where(self.unit > 0, self.unit, 1.0)
        with np.errstate(over="ignore"):
            logarithms = np.copysign(np.log1p(np.abs(host) / unit), host)
        new = np.where(self.unit > 0, logarithms, host)
        return array_namespace(values).asarray(new, device=device(values))

    def apply(self, values: Any) -> Any:
        """Records, a row each, on the scale; missing values (NaN) stay missing."""
        values = self.measured(values)
        if not (self.centre.any() or self.constant.any()) and (self.scale == 1.0).all():
            return values
        xp = array_namespace(values)

        def column(numbers: np.ndarray) -> Any:
            return xp.asarray(numbers[:, np.newaxis], device=device(values))

        columns = values.T
        with np.errstate(over="ignore", invalid="ignore"):  # of constant variables
            centred = columns - column(self.centre)
        points = xp.where(column(self.constant), 0.0, centred) / column(self.spread)
        if self.constant.any():
            points = xp.where(xp.isnan(columns), xp.nan, points)
        if (self.factor != 1.0).any():
            points = points * column(self.factor)
        return points.T


def standardize(values: Any, names: Sequence[str], engine: Engine) -> Any:
    """Bring each variable to mean 0 and standard deviation 1; a constant one to 0.

    Missing values (NaN) stay and count for nothing.
    """
    return standard_scaling(values, names, engine).apply(values)


def unscaled(d: int) -> Scaling:
    """The scaling of variables that keep their units."""
    no = np.zeros(d, dtype=bool)
    return Scaling(np.zeros(d), np.ones(d), no, np.ones(d), np.zeros(d), no.copy())


def standard_scaling(values: Any, names: Sequence[str], engine: Engine) -> Scaling:
    """The scaling that brings variables to mean 0 and standard deviation 1.

    Parameters
    ----------
    values : array of shape (n, d)
        NaN where a value is missing.
    names : sequence of str
        Names of the variables, for errors.
    engine : Engine
    """
    xp = array_namespace(values)
    columns = values.T
    missing = xp.isnan(columns)
    some = bool(xp.any(missing))
    known = xp.where(missing, 0.0, columns) if some else columns
    count = to_numpy(xp.sum(xp.astype(~missing, xp.int64), axis=1)).astype(np.float64)

    def total(numbers: Any) -> np.ndarray:
        return to_numpy(engine.correctly_rounded_sum(numbers))

    with np.errstate(over="ignore", invalid="ignore"):
        centre = total(known) / np.maximum(count, 1)
        centred = known - xp.asarray(centre[:, np.newaxis], device=device(values))
        if some:
            centred = xp.where(missing, 0.0, centred)
        squares = total(centred * centred)
    low = xp.where(missing, xp.inf, columns) if some else columns
    high = xp.where(missing, -xp.inf, columns) if some else columns
    constant = to_numpy(xp.max(high, axis=1) <= xp.min(low, axis=1))
    return scaling_from_sums(centre, squares, count, constant, names)


NORMAL_MAD = 0.6744897501960817
"""The MAD of a normal variable with standard deviation 1: the upper quartile."""


def robust_scaling(values: Any, names: Sequence[str], engine: Engine) -> Scaling:
    """The scaling by median and MAD, the median distance from it, divided by that of a normal one.

    Outliers do not change it. If more than half of the values are equal, MAD is 0: such a variable
    is measured by its standard deviation, as `fallback` says.

    Parameters
    ----------
    values, names, engine
        As for `standard_scaling`.
    """
    standard = standard_scaling(values, names, engine)
    host, d = to_numpy(values), len(names)
    centre, spread, fallback = standard.centre.copy(), standard.spread.copy(), np.zeros(d, bool)
    for j in np.flatnonzero(~standard.constant):
        known = host[~np.isnan(host[:, j]), j]
        centre[j] = np.median(known)
        far = np.abs(known - centre[j])
        mad = np.median(far) / NORMAL_MAD
        fallback[j] = not far.max() < mad * LARGEST_SQUARED
        spread[j] = spread[j] if fallback[j] else mad
    return standard._replace(centre=centre, spread=spread, fallback=fallback)


def log_scaling(values: Any, names: Sequence[str], engine: Engine) -> Scaling:
    """The standard scaling of sign(x) log(1 + |x| / u), u the median of |x| where x is not 0.

    It is near x / u for small values and the logarithm for large ones. Zeros stay 0, negative
    values mirror positive ones, and the unit of the data makes no difference.

    Parameters
    ----------
    values, names, engine
        As for `standard_scaling`.
    """
    host = np.abs(to_numpy(values))
    sizes = [column[column > 0] for column in host.T]  # without NaN
    unit = np.array([np.median(some) if len(some) else 1.0 for some in sizes])
    logarithms = unscaled(len(names))._replace(unit=unit).measured(values)
    return standard_scaling(logarithms, names, engine)._replace(unit=unit)


class WithinStrata(NamedTuple):
    """A scaling for each stratum, by its number."""

    scalings: dict[int, Scaling]

    def apply(self, values: np.ndarray, strata: np.ndarray) -> np.ndarray:
        """Records, each on the scale of its stratum."""
        new = np.empty_like(values)
        for stratum, rows in members(strata):
            new[rows] = self.scalings[stratum].apply(values[rows])
        return new


def members(strata: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Each stratum's number with the places of its records."""
    order = np.argsort(strata, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(strata[order])) + 1)
    return [(int(strata[some[0]]), some) for some in rows]


def refuse_large(values: Any) -> None:
    """Refuse values that cannot be squared."""
    xp = array_namespace(values)
    if float(xp.max(xp.abs(xp.where(xp.isnan(values), 0.0, values)))) > LARGEST_SQUARED:
        raise InputError("the data hold values above 1e150, too large to square: rescale them")


def scaling_from_sums(
    centre: np.ndarray,
    squares: np.ndarray,
    count: np.ndarray,
    constant: np.ndarray,
    names: Sequence[str],
) -> Scaling:
    """The scaling of variables whose sums are known.

    Parameters
    ----------
    centre : float array of shape (d,)
        Correctly rounded sums over the counts.
    squares : float array of shape (d,)
        Correctly rounded sums of the squared differences from the centre.
    count : array of shape (d,)
        Values that are not missing.
    constant : bool array of shape (d,)
    names : sequence of str
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.sqrt(squares / np.maximum(count, 1))
    usable = (np.isfinite(spread) & (spread > 0)) | constant
    if not usable.all():
        raise InputError(
            f"column {names[int(np.argmin(usable))]} has values too large or too close together "
            "to standardize: rescale it"
        )
    spread = np.where(constant, 1.0, spread)
    return unscaled(len(spread))._replace(
        centre=np.where(constant, 0.0, centre), spread=spread, constant=constant
    )


# Sums that can be merged: an exact sum is an integer in units of the least float64.

_UNIT = 1074  # the least float64 is 2 ** -1074
_CHUNK = 2**14  # records at a time, which stay in the cache


def exact_sums(values: np.ndarray) -> list[int]:
    """The exact sum of each column, in units of 2 ** -1074.

    NaN counts for 0, and infinity for 2 ** 1024, which is infinite when it is `rounded`.
    """
    infinite = np.isinf(values).sum(axis=0).tolist()
    columns = np.where(np.isfinite(values), values, 0.0).T
    return [
        _exact_sum(np.ascontiguousarray(column)) + (count << (1024 + _UNIT))
        for column, count in zip(columns, infinite, strict=True)
    ]


def _exact_sum(numbers: np.ndarray) -> int:
    """Add the leading bits of all numbers, which float64 does exactly, then those that are left.

    These are the multiples of an ulp of sigma, a power of two above the sum of all sizes (Rump,
    Ogita and Oishi 2008, "Accurate floating-point summation", ExtractVector).
    """
    total = 0
    for start in range(0, len(numbers), _CHUNK):
        rest = numbers[start : start + _CHUNK]
        while (largest := float(np.abs(rest).max())) > 0:
            if largest > 2.0**900:  # sigma would overflow
                total += sum(map(_units, rest.tolist()))
                break
            sigma = ldexp(1.0, frexp(largest)[1] + len(rest).bit_length() + 1)
            leading = (sigma + rest) - sigma
            total += _units(float(leading.sum()))
            rest = rest - leading
    return total


def _units(number: float) -> int:
    """A float64 in units of the least one."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * (2**_UNIT // denominator)


def rounded(total: int) -> float:
    """An exact sum as the nearest float64; infinite if it is too large for one."""
    try:
        return total / 2**_UNIT  # Python divides integers to the nearest float
    except OverflowError:
        return np.inf if total > 0 else -np.inf
