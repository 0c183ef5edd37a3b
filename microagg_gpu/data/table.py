"""Any table in: a matrix of numbers and what each column is for; the same kind of table out."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from array_api_compat import is_array_api_obj

from ..errors import DataWarning, InputError, values_are
from ..kernels import array_namespace, to_numpy
from ..settings import ROLES, Roles
from .arrays import read_array, read_list
from .columns import NUMBER, Table, places_of
from .kinds import opened


def read(data: Any, roles: Roles = ROLES) -> Table:
    """Read the variables of an array, a list of lists, a DataFrame or another table.

    Parameters
    ----------
    data : array, list, DataFrame or other
        Two-dimensional with a row per record, or one-dimensional for one variable. Other kinds of
        tables are those of `kinds.opened`.
    roles : Roles
        Names in a DataFrame, positions in an array.
    """
    with np.errstate(invalid="ignore"):  # R's missing value is a signalling NaN
        if isinstance(data, (list, tuple)):
            table = read_list(data, roles)
        elif _is_matrix(data):
            table = read_array(data, roles)
        else:
            from .frames import read_frame  # by narwhals, and PyArrow for categories

            data, back = opened(data)
            table = read_frame(data, roles)
            if back is not None:
                table = replace(table, rebuild=_chained(table.rebuild, back))
    n, p = table.values.shape
    if n == 0 or p == 0:
        raise InputError(f"the data are empty: {n} records of {p} variables")
    table = replace(table, values=_with_one_nan(table.values))
    count, where = places_of(table, "isinf")
    if count:
        raise InputError(
            f"{values_are(count)} infinite, in column {where}: correct them or leave out those "
            "records"
        )
    _warn_of_missing_codes(table)
    if table.sampling is not None:
        _check_sampling(table.sampling, n)
    return table


def as_columns(data: Any) -> pa.Table:
    """Any table that is published, as columns of Arrow that can be counted."""
    if isinstance(data, (list, tuple)):
        data = np.asarray(data)
    if _is_matrix(data):
        matrix = to_numpy(data).reshape(data.shape[0], -1)
        return pa.table({str(j): column for j, column in enumerate(matrix.T)})
    from .frames import arrow_columns

    return arrow_columns(opened(data)[0])


def _is_matrix(data: Any) -> bool:
    return is_array_api_obj(data) and not getattr(data.dtype, "names", None)


def _chained(rebuild: Callable[..., Any], back: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *new: back(rebuild(*new))


def _with_one_nan(values: Any) -> Any:
    """Values in which all NaN are the same, quiet one: its bits could tell records apart."""
    xp = array_namespace(values)
    missing = xp.isnan(values)
    return xp.where(missing, xp.nan, values) if bool(xp.any(missing)) else values


def _check_sampling(sampling: np.ndarray, n: int) -> None:
    if sampling.shape != (n,):
        shape = "" if sampling.ndim == 1 else f" of shape {sampling.shape}"
        raise InputError(
            f"{sampling.size} sampling weights{shape} for {n} records: give one for each"
        )
    bad = ~(np.isfinite(sampling) & (sampling > 0))
    if bad.any():
        raise InputError(
            f"{bad.sum()} sampling weights are missing, infinite, 0 or negative, the first that of "
            f"record {int(bad.argmax()) + 1}, counted from 1: give numbers above 0"
        )


def _warn_of_missing_codes(table: Table) -> None:
    """Warn of integers that other programs take for a missing value: the least of a type.

    R's NA_integer_ is the least integer of 32 bits, in whatever type it arrives.
    """
    xp = array_namespace(table.values)
    for j in np.flatnonzero(table.whole & (table.kinds == NUMBER)).tolist():
        if j in table.exact:
            low: float = int(table.exact[j].min())  # to the last digit
        else:
            column = table.values[:, j]
            low = float(xp.min(xp.where(xp.isnan(column), xp.inf, column)))
        if low in (-(2**31), table.least.get(j)):
            low = int(low)
            count = int(xp.sum(xp.astype(table.values[:, j] == low, xp.int64)))
            warnings.warn(
                f"column {table.names[j]} holds {low} in {count} record{'s' if count > 1 else ''}, "
                "a number that other programs write for a missing value (R for NA): if it stands "
                "for one, make it missing before you protect",
                DataWarning, stacklevel=4,
            )  # fmt: skip
