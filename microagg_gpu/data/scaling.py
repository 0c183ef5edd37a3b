"""Scaling: what differences of each variable count for in distances and loss."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
)

from ..errors import InputError
from ..kernels import to_numpy
from ..kernels.protocol import Engine


def standardize(values: Any, names: Sequence[str], engine: Engine) -> Any:
    """Bring each variable to mean 0 and standard deviation 1; a constant one to 0.

    Missing values (NaN) stay and count for nothing. Sums are correctly rounded and roots taken on
    the host (not every library's are exact), so all array libraries give the same numbers.
    """
    return standardized(values, names, engine)[0]


def standardized(values: Any, names: Sequence[str], engine: Engine) -> tuple[Any, np.ndarray]:
    """`standardize`, and what each variable's differences were multiplied by."""
    total = engine.correctly_rounded_sum
    xp = array_namespace(values)
    columns = values.T
    missing = xp.isnan(columns)
    some = bool(xp.any(missing))
    n: Any = values.shape[0]
    known = columns
    if some:
        n = xp.astype(xp.sum(xp.astype(~missing, xp.int64), axis=1), xp.float64)
        n = xp.where(n == 0, 1.0, n)  # a variable without values
        known = xp.where(missing, 0.0, columns)
    with np.errstate(over="ignore", invalid="ignore"):
        centred = known - xp.reshape(total(known) / n, (-1, 1))
        if some:
            centred = xp.where(missing, 0.0, centred)
        spread = np.sqrt(to_numpy(total(centred * centred) / n))
    lowest, highest = columns, columns
    if some:
        lowest, highest = xp.where(missing, xp.inf, columns), xp.where(missing, -xp.inf, columns)
    constant = to_numpy(xp.max(highest, axis=1) <= xp.min(lowest, axis=1))
    usable = (np.isfinite(spread) & (spread > 0)) | constant
    if not usable.all():
        raise InputError(
            f"column {names[int(np.argmin(usable))]} has values too large or too close together "
            "to standardize: rescale it"
        )
    divisor = xp.asarray(np.where(constant, 1.0, spread)[:, np.newaxis], device=device(values))
    flat = xp.asarray(constant[:, np.newaxis], device=device(values))
    result = xp.where(flat, 0.0, centred) / divisor
    if some:
        result = xp.where(missing, xp.nan, result)
    return result.T, np.where(constant, 0.0, 1 / np.where(constant, 1.0, spread))
