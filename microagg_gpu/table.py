"""Any table in: a matrix of numbers; group values out: the same kind of table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_dask_array,
    is_jax_array,
    is_torch_array,
)

from .errors import InputError
from .kernels import engine_for


@dataclass(frozen=True)
class Table:
    """The variables to protect.

    Attributes
    ----------
    values : array of shape (n, p)
        float64, in the array library and on the device of the data.
    names : list of str
        Names of the p variables.
    rebuild : callable
        From a protected NumPy matrix (n, p) to the same kind of object as the data.
    """

    values: Any
    names: list[str]
    rebuild: Callable[[np.ndarray], Any]


def read(data: Any, columns: Sequence[Any] | None = None) -> Table:
    """Read the variables of an array, a list of lists or a DataFrame.

    Parameters
    ----------
    data : array, list, DataFrame or Table
        Two-dimensional with a row per record, or one-dimensional for one variable.
    columns : sequence of str or int, optional
        The variables to protect, all by default; names in a DataFrame, positions in an array.
    """
    if columns is not None and not len(columns):
        raise InputError("no columns are chosen: name at least one")
    if isinstance(data, Table):
        table = data
    elif isinstance(data, (list, tuple)):
        table = _read_list(data, columns)
    elif is_array_api_obj(data):
        table = _read_array(data, columns)
    else:
        if nw.dependencies.is_pandas_like_dataframe(data):
            _check_names(data)
        table = _read_frame(data, columns)
    n, p = table.values.shape
    if n == 0 or p == 0:
        raise InputError(f"the data are empty: {n} records of {p} variables")
    _check_finite(table)
    return table


def _read_list(data: Any, columns: Sequence[Any] | None) -> Table:
    try:
        array = np.asarray(data)
    except ValueError:
        lengths = {len(row) for row in data if isinstance(row, (list, tuple))}
        raise InputError(
            f"the rows of the list have different lengths ({sorted(lengths)}): "
            "give each record the same variables"
        ) from None
    table = _read_array(array, columns)
    return Table(table.values, table.names, lambda protected: table.rebuild(protected).tolist())


def _read_array(data: Any, columns: Sequence[Any] | None) -> Table:
    if is_jax_array(data) or is_dask_array(data):
        raise InputError(
            f"arrays of type {type(data).__name__} cannot be changed in place: "
            "convert the data with numpy.asarray first"
        )
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    if is_torch_array(data):
        data = data.detach()
    xp = array_namespace(data)
    if data.ndim not in (1, 2):
        raise InputError(f"the array has {data.ndim} dimensions: give a row per record (2, or 1)")
    kinds = ("real floating", "integral")
    if isinstance(data, np.ndarray) and data.dtype.kind not in "fiu":
        raise InputError(
            f"the array holds {data.dtype} values, not numbers: "
            "convert it, or give a DataFrame and choose its numeric columns"
        )
    if not xp.isdtype(data.dtype, kinds):
        raise InputError(f"the array holds {data.dtype} values, not real numbers: convert it")
    matrix = data if data.ndim == 2 else xp.reshape(data, (-1, 1))
    p = matrix.shape[1]
    chosen = list(range(p)) if columns is None else [_position(c, p) for c in columns]
    _check_unique(chosen)
    where = xp.asarray(chosen, dtype=xp.int64, device=device(data))
    values = xp.astype(xp.take(matrix, where, axis=1), xp.float64, copy=False)
    kind = data.dtype if xp.isdtype(data.dtype, "real floating") else xp.float64

    def rebuild(protected: np.ndarray) -> Any:
        result = xp.astype(matrix, kind, copy=True)
        for j, column in enumerate(chosen):
            new = xp.asarray(protected[:, j].copy(), device=device(data))
            result[:, column] = xp.astype(new, kind)
        return xp.reshape(result, data.shape)

    return Table(values, [str(c) for c in chosen], rebuild)


def _position(column: Any, p: int) -> int:
    if not isinstance(column, (int, np.integer)) or not -p <= column < p:
        raise InputError(
            f"column {column!r} is not in the array: its {p} columns are numbered from 0"
        )
    return int(column) % p


def _read_frame(data: Any, columns: Sequence[Any] | None) -> Table:
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        series = frame
        values = _numbers([series], [str(series.name)])
        kind = _kind(series)
        where = np.arange(len(series))
        return Table(
            values,
            [str(series.name)],
            lambda protected: series.cast(kind).scatter(where, protected[:, 0]).to_native(),
        )
    if not isinstance(frame, nw.DataFrame):
        raise InputError(
            f"data of type {type(data).__name__} cannot be read: "
            "give an array, a list of lists or a DataFrame"
        )
    names = list(frame.columns)
    columns = [columns] if isinstance(columns, str) else columns
    missing = [c for c in columns or [] if c not in names]
    if missing:
        raise InputError(
            f"column {missing[0]!r} is not in the table, which has: {', '.join(map(str, names))}"
        )
    chosen = list(range(len(names))) if columns is None else [names.index(c) for c in columns]
    labels = [str(names[j]) for j in chosen]
    _check_unique(labels)
    values = _numbers([frame[:, j] for j in chosen], labels)

    def rebuild(protected: np.ndarray) -> Any:
        if frame.implementation.is_pandas_like():
            result = frame.to_native().copy()
            for column, j in zip(protected.T, chosen, strict=True):
                single = frame[:, j].dtype == nw.Float32
                result.isetitem(j, column.astype(np.float32 if single else np.float64))
            return result
        where = np.arange(len(frame))
        series = [frame[:, j].cast(_kind(frame[:, j])) for j in chosen]
        new = [s.scatter(where, column) for s, column in zip(series, protected.T, strict=True)]
        return frame.with_columns(*new).to_native()

    return Table(values, labels, rebuild)


def _kind(series: nw.Series) -> Any:
    return nw.Float32 if series.dtype == nw.Float32 else nw.Float64


def _numbers(series: list[nw.Series], names: list[str]) -> np.ndarray:
    """Columns of a DataFrame as float64; missing values as NaN."""
    other = [
        f"{name!r} ({s.dtype})"
        for s, name in zip(series, names, strict=True)
        if not s.dtype.is_numeric()
    ]
    if other:
        raise InputError(
            f"{len(other)} of {len(series)} columns are not numbers: {', '.join(other[:5])}: "
            "choose numeric ones with columns="
        )
    return np.stack([s.cast(nw.Float64).to_numpy() for s in series], axis=1)


def _check_names(data: Any) -> None:
    names = [str(name) for name in data.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"column names appear twice ({', '.join(twice)}): rename them")


def _check_unique(chosen: list[Any]) -> None:
    twice = [c for i, c in enumerate(chosen) if c in chosen[:i]]
    if twice:
        raise InputError(f"column {twice[0]!r} is chosen twice: name each column once")


def _check_finite(table: Table) -> None:
    xp = array_namespace(table.values)
    if bool(xp.all(xp.isfinite(table.values))):
        return
    to_numpy = engine_for(table.values).to_numpy
    for what, test in (("missing (NaN)", xp.isnan), ("infinite", xp.isinf)):
        found = to_numpy(xp.sum(xp.astype(test(table.values), xp.int64), axis=0))
        bad = [f"{name} ({count})" for name, count in zip(table.names, found, strict=True) if count]
        if bad:
            more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
            raise InputError(
                f"{int(found.sum())} values are {what}, in column {', '.join(bad[:5])}{more}: "
                "fill them in or leave out those records"
            )


def standardize(values: Any, names: Sequence[str]) -> Any:
    """Bring each variable to mean 0 and standard deviation 1; a constant one to 0.

    Sums are correctly rounded and roots taken on the host (not every library's are exact), so
    all array libraries give the same numbers.
    """
    words = engine_for(values)
    total = words.correctly_rounded_sum
    xp = array_namespace(values)
    n = values.shape[0]
    columns = values.T
    with np.errstate(over="ignore", invalid="ignore"):
        centred = columns - xp.reshape(total(columns) / n, (-1, 1))
        spread = np.sqrt(words.to_numpy(total(centred * centred) / n))
    constant = words.to_numpy(xp.max(columns, axis=1) == xp.min(columns, axis=1))
    usable = (np.isfinite(spread) & (spread > 0)) | constant
    if not usable.all():
        raise InputError(
            f"column {names[int(np.argmin(usable))]} has values too large or too close together "
            "to standardize: rescale it"
        )
    divisor = xp.asarray(np.where(constant, 1.0, spread)[:, np.newaxis], device=device(values))
    flat = xp.asarray(constant[:, np.newaxis], device=device(values))
    return (xp.where(flat, 0.0, centred) / divisor).T
