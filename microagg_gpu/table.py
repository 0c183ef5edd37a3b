"""Any table in: a matrix of numbers; group values out: the same kind of table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

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
    if isinstance(data, Table):
        table = data
    elif isinstance(data, (list, tuple)):
        table = _read_list(data, columns)
    elif is_array_api_obj(data):
        table = _read_array(data, columns)
    else:
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
    values = xp.astype(xp.take(matrix, where, axis=1), xp.float64)
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
    names = list(data.columns) if hasattr(data, "columns") else []
    if len(set(map(str, names))) < len(names):
        twice = sorted({str(name) for name in names if list(map(str, names)).count(str(name)) > 1})
        raise InputError(f"column names appear twice ({', '.join(twice)}): rename them")
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        series = frame
        table = _read_frame(series.to_frame().to_native(), columns)
        return Table(
            table.values,
            table.names,
            lambda protected: _as_frame(table.rebuild(protected))[series.name].to_native(),
        )
    if not isinstance(frame, nw.DataFrame):
        raise InputError(
            f"data of type {type(data).__name__} cannot be read: "
            "give an array, a list of lists or a DataFrame"
        )
    chosen = list(frame.columns) if columns is None else list(columns)
    missing = [c for c in chosen if c not in frame.columns]
    if missing:
        raise InputError(
            f"column {missing[0]!r} is not in the table, which has: {', '.join(frame.columns)}"
        )
    _check_unique(chosen)
    other = [f"{c!r} ({frame[c].dtype})" for c in chosen if not frame[c].dtype.is_numeric()]
    if other:
        raise InputError(
            f"{len(other)} of {len(chosen)} columns are not numbers: {', '.join(other[:5])}: "
            "choose numeric ones with columns="
        )
    values = np.empty((len(frame), len(chosen)))
    for j, c in enumerate(chosen):
        values[:, j] = frame[c].cast(nw.Float64).to_numpy()

    def rebuild(protected: np.ndarray) -> Any:
        new = []
        for j, c in enumerate(chosen):
            kind = nw.Float32 if frame[c].dtype == nw.Float32 else nw.Float64
            series = nw.new_series(c, protected[:, j].copy(), kind, backend=frame.implementation)
            new.append(series)
        if frame.implementation.is_pandas_like():
            result = frame.to_native().copy()
            for series in new:
                result[series.name] = series.to_numpy()
            return result
        return frame.with_columns(*new).to_native()

    return Table(values, [str(c) for c in chosen], rebuild)


def _as_frame(data: Any) -> nw.DataFrame:
    return nw.from_native(data, eager_only=True)


def _check_unique(chosen: list[Any]) -> None:
    twice = [c for i, c in enumerate(chosen) if c in chosen[:i]]
    if twice:
        raise InputError(f"column {twice[0]!r} is chosen twice: name each column once")


def _check_finite(table: Table) -> None:
    xp = array_namespace(table.values)
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
