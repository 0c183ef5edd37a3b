"""DataFrames and Series of pandas, polars, Arrow, ..., by narwhals."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from ..checks import column_list, is_column
from ..errors import InputError, option, repeated, repeated_names, unknown_column
from ..files.compact import compact_pandas, compact_polars, compact_table, with_views, without_views
from ..settings import Columns, Roles
from .columns import (
    Exact,
    Sensitive,
    Table,
    choose,
    combine,
    first_with,
    is_every,
    kinds_of,
    numbers_given,
    one_column,
    ranks,
    roles_of,
    sensitive_column,
    unit_numbers,
)
from .numeric import EXACT, numbers

MISSING = "(missing)"
_SIGNED: dict[Any, int] = {
    nw.Int8: 8,
    nw.Int16: 16,
    nw.Int32: 32,
    nw.Int64: 64,
    nw.Int128: 128,
}  # bits


def read_frame(data: Any, roles: Roles) -> Table:
    """Read the variables of a DataFrame, or a Series as one variable; see `table.read`."""
    if nw.dependencies.is_pandas_like_dataframe(data):
        _check_names(data)
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        return _read_series(frame, roles)
    if not isinstance(frame, nw.DataFrame):
        raise InputError(
            f"data of type {type(data).__name__} cannot be read: "
            "give an array, a list of lists or a DataFrame"
        )
    if frame.implementation.is_pyarrow():
        frame = nw.from_native(without_views(data), eager_only=True)
    names = list(frame.columns)
    sampling, sampling_weight = None, roles.sampling_weight
    if sampling_weight is not None and is_column(sampling_weight, names):
        (sampling_weight,) = _existing("sampling_weight", sampling_weight, names)
        sampling = numbers([_column(frame, sampling_weight)], [str(sampling_weight)])[:, 0]
    elif sampling_weight is not None:
        _check_index(data, sampling_weight)
        sampling, sampling_weight = numbers_given(sampling_weight), None
    by_list = _existing("by", roles.by, names)
    nominal = _existing("nominal", roles.nominal, names)
    unit = _existing("unit", roles.unit, names)
    ranked: Any = _existing("ordinal", roles.ordinal, names)
    if isinstance(roles.ordinal, Mapping):
        ranked = {name: roles.ordinal[name] for name in ranked}
    secret = one_column("sensitive", _existing("sensitive", roles.sensitive, names))
    chosen, orders = choose(
        None if roles.columns is None else _existing("columns", roles.columns, names), by_list,
        sampling_weight, ranked, nominal, names, secret, unit,
    )  # fmt: skip
    labels = [str(name) for name in chosen]
    series = [_column(frame, name) for name in chosen]
    numeric = [j for j in range(len(chosen)) if j not in orders]
    values = np.empty((len(frame), len(chosen)))
    if numeric:
        values[:, numeric] = numbers([series[j] for j in numeric], [labels[j] for j in numeric])
    categories = {}
    for j, order in orders.items():
        known, codes = _codes(series[j], labels[j])
        if chosen[j] in ranked:
            order = order if order is not None else _natural_order(series[j], known, labels[j])
            codes = np.append(ranks(known, order, labels[j]), -1)[codes]  # -1 stays itself
            known = list(order)
        values[:, j] = np.where(codes < 0, np.nan, codes)
        categories[j] = known
    strata, strata_names = _strata(frame, by_list) if by_list else (None, [])
    units = None
    if unit:
        units = unit_numbers([_unit(_column(frame, c), str(c)) for c in unit], list(map(str, unit)))
    exact = {j: large for j in numeric if (large := _large_integers(series[j])) is not None}
    return Table(
        values,
        labels,
        _rebuilder(data, frame, chosen, values, categories, by_list, sampling_weight),
        kinds_of(len(chosen), orders, nominal=[chosen.index(name) for name in nominal]),
        np.array([column.dtype.is_integer() for column in series], dtype=bool),
        categories,
        strata,
        strata_names,
        sampling,
        roles_of(
            chosen,
            by_list,
            sampling if sampling_weight is None else sampling_weight,
            ranked,
            nominal,
            secret,
            unit,
        ),
        exact,
        {j: -(2 ** (bits - 1)) for j in numeric if (bits := _SIGNED.get(series[j].dtype))},
        _sensitive(frame, secret, by_list, sampling_weight),
        units,
    )


def _strata(frame: nw.DataFrame, by: list[Any]) -> tuple[np.ndarray, list[str]]:
    """The number of each record's stratum, and the names of the strata."""
    parts = [_codes(_column(frame, name), str(name)) for name in by]
    texts = [[*map(str, known), MISSING] for known, _ in parts]
    codes = [np.where(codes < 0, len(known), codes) for known, codes in parts]
    return combine(codes, texts, [str(name) for name in by])


def _rebuilder(
    data: Any,
    frame: nw.DataFrame,
    chosen: list[Any],
    values: np.ndarray,
    categories: dict[int, list[Any]],
    by: list[Any],
    sampling_weight: Any,
) -> Callable[..., Any]:
    """What `Table.rebuild` is for a DataFrame."""
    series = [_column(frame, name) for name in chosen]

    def rebuild(
        protected: np.ndarray,
        kept: np.ndarray,
        keep_integers: bool,
        exact: Exact = None,
        weights: np.ndarray | None = None,
    ) -> Any:
        every = is_every(kept, len(frame))
        new = {}
        for j, column in enumerate(protected.T):
            old = series[j] if every else series[j][kept]
            if j in categories:
                new[chosen[j]] = series[j][first_with(values[:, j], column)]
            else:
                integers = exact.get(j) if exact else None
                new[chosen[j]] = _replaced(old, column, keep_integers, integers)
        for name in by:
            old = _column(frame, name)
            new[name] = _one_missing(old if every else old[kept])
        if weights is not None:
            old = _column(frame, sampling_weight)
            old = old if every else old[kept]
            new[sampling_weight] = _replaced(old, weights, keep_integers=False, integers=None)
        result = _with_columns(frame, new, None if every else kept)
        return with_views(result, data.schema) if frame.implementation.is_pyarrow() else result

    return rebuild


def _sensitive(
    frame: nw.DataFrame, secret: list[Any], by: list[Any], weight: Any
) -> Sensitive | None:
    """The sensitive attribute: numbers have an order, all else has none."""
    if not secret:
        return None
    (name,) = secret
    series = _column(frame, name)
    ordered = series.dtype.is_numeric()
    values = numbers([series], [str(name)])[:, 0] if ordered else _codes(series, str(name))[1]
    return sensitive_column(name, values, ordered, by, weight)


def arrow_columns(data: Any) -> pa.Table:
    """The columns of a DataFrame, or a Series as one; what Arrow cannot hold by its text."""
    frame = nw.from_native(data, eager_only=True, allow_series=True)
    frame = frame.to_frame() if isinstance(frame, nw.Series) else frame
    columns = []
    for name in frame.columns:
        column = _column(frame, name)
        try:
            columns.append(column.to_arrow())
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            columns.append(pa.array(map(repr, column.to_list())))
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _with_columns(frame: nw.DataFrame, new: dict[Any, nw.Series], kept: np.ndarray | None) -> Any:
    """A frame with some columns replaced, of the kept records, that holds what it shows."""
    native = frame.to_native()
    if frame.implementation.is_pandas_like():
        result = native.copy() if kept is None else native.iloc[kept].copy()
        if kept is not None and (np.diff(kept) < 0).any():  # the old index would undo the shuffle
            result = result.reset_index(drop=True)
        for name, column in new.items():
            result.isetitem(list(frame.columns).index(name), column.to_native().array)
        return compact_pandas(result)
    rows = frame if kept is None else frame[kept]
    result = rows.with_columns(*new.values()).to_native()
    if frame.implementation.is_polars():
        return compact_polars(result)
    return compact_table(result) if frame.implementation.is_pyarrow() else result


def _read_series(series: nw.Series, roles: Roles) -> Table:
    """One variable, read as a frame of one column."""
    name = str(series.name)
    if roles.columns is not None:
        _existing("columns", roles.columns, [series.name])
    for role in ("by", "ordinal", "nominal", "sensitive", "unit"):
        if column_list(role, getattr(roles, role), [series.name]):
            raise InputError(
                option(role), " is for tables and the data are one column: leave it out"
            )
    sampling_weight = roles.sampling_weight
    if sampling_weight is not None:
        _check_index(series.to_native(), sampling_weight)
        sampling_weight = numbers_given(sampling_weight)
    frame = series.alias(name).to_frame().to_native()
    table = read_frame(frame, Roles(sampling_weight=sampling_weight))

    def rebuild(*new: Any) -> Any:
        frame = nw.from_native(table.rebuild(*new), eager_only=True)
        return _column(frame, name).alias(series.name).to_native()

    return replace(table, rebuild=rebuild)


def _column(frame: nw.DataFrame, name: Any) -> nw.Series:
    return frame[name] if isinstance(name, str) else frame[:, list(frame.columns).index(name)]


def _existing(role: str, columns: Columns, names: list[Any]) -> list[Any]:
    """Columns that are given for a role, as a list of names of the table."""
    chosen, known = column_list(role, columns, names), set(names)
    for column in chosen:
        if column not in known:
            raise unknown_column(column, "the table", names)
    return chosen


def _replaced(
    series: nw.Series, values: np.ndarray, keep_integers: bool, integers: np.ndarray | None
) -> nw.Series:
    """New numbers in a column; `integers` are the same to the last digit.

    All missing values get one form, a null if there was one: two would tell records apart.
    """
    missing = np.isnan(values)
    if series.implementation.is_pyarrow():
        return _arrow_numbers(series, values if integers is None else integers, missing,
                              keep_integers)  # fmt: skip
    result = series
    if integers is None:
        # Arrow refuses to cast integers above 2^53; all numbers here are replaced anyway.
        result = (series - series if series.dtype.is_integer() else series).cast(nw.Float64)
    where = np.flatnonzero(~missing)
    if len(where):
        result = result.scatter(where, (values if integers is None else integers)[where])
    result = _one_missing(result)
    keep = series.dtype == nw.Float32 or (keep_integers and series.dtype.is_integer())
    return result.cast(series.dtype) if keep else result


def _arrow_numbers(
    series: nw.Series, values: np.ndarray, missing: np.ndarray, keep_integers: bool
) -> nw.Series:
    """The same for a column of Arrow, whose casts refuse integers above 2**53."""
    kind = series.to_native().type
    keep = pa.types.is_float32(kind) or (keep_integers and pa.types.is_integer(kind))
    new = pa.chunked_array([pa.array(values, mask=missing)])
    new = new.cast(kind, safe=False) if keep else new
    return nw.from_native(new, series_only=True).alias(series.name)


def _large_integers(series: nw.Series) -> np.ndarray | None:
    """Integers of a column if float64 cannot hold all of them; 0 where missing."""
    if series.dtype not in EXACT or series.is_null().all():
        return None
    if int(series.max()) <= 2**53 and int(series.min()) >= -(2**53):
        return None
    return series.fill_null(0).to_numpy().astype(EXACT[series.dtype])


def _one_missing(series: nw.Series) -> nw.Series:
    """A column whose missing values all have one form: null if one is, else NaN, None, ...

    Several forms, or several NaN, would tell records apart that are missing in it.
    """
    kind = getattr(series.to_native(), "dtype", None)
    objects = isinstance(kind, np.dtype) and kind.kind == "O"  # of text too, which is no nw.Object
    if not (series.dtype.is_float() or series.dtype == nw.Object or objects):
        return series
    null = series.is_null().to_numpy()
    missing = null
    if series.dtype.is_float():
        missing = null | series.is_nan().fill_null(True).to_numpy()
    if not missing.any():
        return series
    form = int(np.argmax(null if null.any() else missing))
    if series.dtype.is_float() and isinstance(kind, np.dtype):
        return series.scatter(np.flatnonzero(missing), np.full(missing.sum(), np.nan))
    return series[np.where(missing, form, np.arange(len(series)))]


def _codes(series: nw.Series, name: str) -> tuple[list[Any], np.ndarray]:
    """The values of a column in order of appearance and the number of each record's, -1 if missing.

    Arrow's own encoding is ten times as fast as sorting Python objects.
    """
    try:
        column = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            f"column {name!r} mixes values of different types: make them all text or all numbers"
        ) from None
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        return [], np.full(len(column), -1)
    if pa.types.is_floating(column.type):
        column = pa.array(column.to_numpy(zero_copy_only=False), from_pandas=True)  # NaN is missing
    try:
        encoded = column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise InputError(
            f"column {name!r} holds {column.type}, which cannot divide records: choose another"
        ) from None
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), codes


def _unit(series: nw.Series, name: str) -> np.ndarray:
    """The number of each record's value, -1 if it is missing or an empty text."""
    known, codes = _codes(series, name)
    empty = [isinstance(value, str) and not value.strip() for value in known]
    return np.where(np.array([*empty, True])[codes], -1, codes)


def _natural_order(series: nw.Series, known: list[Any], name: str) -> list[Any]:
    if isinstance(series.dtype, nw.Enum):
        return list(series.dtype.categories)
    if series.dtype.is_numeric() or not known:
        return sorted(known)
    column = series.to_arrow()
    if getattr(column.type, "ordered", False):  # a dictionary of Arrow
        whole = column if hasattr(column, "dictionary") else column.unify_dictionaries().chunk(0)
        return whole.dictionary.to_pylist()
    raise InputError(
        f"the order of the categories of column {name!r} is not known: give it, lowest first, as "
        "in ",
        option("ordinal", {name: sorted(map(str, known))[:4]}),
    )


def _check_index(data: Any, weights: Any) -> None:
    """Weights with an index of their own must have that of the data, or they are someone else's."""
    known = nw.dependencies
    pandas = known.is_pandas_dataframe(data) or known.is_pandas_series(data)
    pandas = pandas and known.is_pandas_series(weights)
    if pandas and not data.index.equals(weights.index):
        raise InputError(
            "the sampling weights have another index than the data: align them, or name a column"
        )


def _check_names(data: Any) -> None:
    twice = repeated(str(name) for name in data.columns)
    if twice:
        raise repeated_names(sorted(map(str, twice)))
