"""DataFrames and Series of pandas, polars, Arrow, ..., by narwhals."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from .checks import column_list, is_column, shown
from .errors import InputError
from .table import Columns, Ordinal, Table, choose, combine, kinds_of, numbers_given, ranks

MISSING = "(missing)"


def read_frame(
    data: Any,
    columns: Columns,
    by: Columns,
    sampling_weight: Any,
    ordinal: Ordinal,
    nominal: Columns,
) -> Table:
    """Read the variables of a DataFrame, or a Series as one variable; see `table.read`."""
    if nw.dependencies.is_pandas_like_dataframe(data):
        _check_names(data)
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        return _read_series(frame, columns, by, sampling_weight, ordinal, nominal)
    if not isinstance(frame, nw.DataFrame):
        raise InputError(
            f"data of type {type(data).__name__} cannot be read: "
            "give an array, a list of lists or a DataFrame"
        )
    names = list(frame.columns)
    sampling = None
    if sampling_weight is not None and is_column(sampling_weight, names):
        (sampling_weight,) = _existing("sampling_weight", sampling_weight, names)
        sampling = _numbers([_column(frame, sampling_weight)], [str(sampling_weight)])[:, 0]
    elif sampling_weight is not None:
        _check_index(data, sampling_weight)
        sampling, sampling_weight = numbers_given(sampling_weight), None
    by_list = _existing("by", by, names)
    nominal = _existing("nominal", nominal, names)
    ranked: Any = _existing("ordinal", ordinal, names)
    if isinstance(ordinal, Mapping):
        ranked = {name: ordinal[name] for name in ranked}
    chosen, orders = choose(
        None if columns is None else _existing("columns", columns, names), by_list,
        sampling_weight, ranked, nominal, names,
    )  # fmt: skip
    labels = [str(name) for name in chosen]
    series = [_column(frame, name) for name in chosen]
    numeric = [j for j in range(len(chosen)) if j not in orders]
    values = np.empty((len(frame), len(chosen)))
    if numeric:
        values[:, numeric] = _numbers([series[j] for j in numeric], [labels[j] for j in numeric])
    categories = {}
    for j, order in orders.items():
        known, codes = _codes(series[j], labels[j])
        if chosen[j] in ranked:
            order = order if order is not None else _natural_order(series[j], known, labels[j])
            codes = np.append(ranks(known, order, labels[j]), -1)[codes]  # -1 stays itself
            known = list(order)
        values[:, j] = np.where(codes < 0, np.nan, codes)
        categories[j] = known
    strata, strata_names = None, list[str]()
    if by_list:
        parts = [_codes(_column(frame, name), str(name)) for name in by_list]
        texts = [[*map(str, known), MISSING] for known, _ in parts]
        strata, strata_names = combine(
            [np.where(codes < 0, len(known), codes) for known, codes in parts],
            texts,
            [str(name) for name in by_list],
        )

    def rebuild(protected: np.ndarray, kept: np.ndarray, keep_integers: bool) -> Any:
        every = len(kept) == len(frame)
        new = []
        for j, column in enumerate(protected.T):
            old = series[j] if every else series[j][kept]
            if j in categories:
                new.append(_recoded(series[j], values[:, j], column, kept))
            else:
                new.append(_replaced(old, column, keep_integers))
        if not frame.implementation.is_pandas_like():
            rows = frame if every else frame[kept]
            return rows.with_columns(*new).to_native()
        native = frame.to_native()
        result = native.copy() if every else native.iloc[kept].copy()
        for name, column in zip(chosen, new, strict=True):
            result.isetitem(names.index(name), column.to_native().array)
        return result

    return Table(
        values,
        labels,
        rebuild,
        kinds_of(len(chosen), orders, nominal=[chosen.index(name) for name in nominal]),
        np.array([column.dtype.is_integer() for column in series], dtype=bool),
        categories,
        strata,
        strata_names,
        sampling,
        [str(name) for name in by_list],
    )


def _read_series(
    series: nw.Series,
    columns: Columns,
    by: Columns,
    sampling_weight: Any,
    ordinal: Ordinal,
    nominal: Columns,
) -> Table:
    name = str(series.name)
    if columns is not None:
        _existing("columns", columns, [series.name])
    for role, given in (("by", by), ("ordinal", ordinal), ("nominal", nominal)):
        if column_list(role, given, [series.name]):
            raise InputError(f"{role}= is for tables and the data are one column: leave it out")
    if sampling_weight is not None:
        _check_index(series.to_native(), sampling_weight)
        sampling_weight = numbers_given(sampling_weight)
    return Table(
        _numbers([series], [name]),
        [name],
        lambda protected, kept, keep_integers: _replaced(
            series if len(kept) == len(series) else series[kept], protected[:, 0], keep_integers
        ).to_native(),
        np.zeros(1, dtype=np.int64),
        np.array([series.dtype.is_integer()]),
        sampling=sampling_weight,
    )


def _column(frame: nw.DataFrame, name: Any) -> nw.Series:
    return frame[:, list(frame.columns).index(name)]


def _existing(role: str, columns: Columns, names: list[Any]) -> list[Any]:
    """Columns that are given for a role, as a list of names of the table."""
    chosen, known = column_list(role, columns, names), set(names)
    for column in chosen:
        if column not in known:
            raise InputError(
                f"column {shown(column)} is not in the table, which has: "
                f"{', '.join(map(str, names))}"
            )
    return chosen


def _replaced(series: nw.Series, values: np.ndarray, keep_integers: bool) -> nw.Series:
    """New numbers in a column; what is missing stays as it is."""
    if series.implementation.is_pyarrow():
        return _arrow_numbers(series, values, keep_integers)
    where = np.flatnonzero(~np.isnan(values))
    result = series.cast(nw.Float64)
    if len(where):
        result = result.scatter(where, values[where])
    keep = series.dtype == nw.Float32 or (keep_integers and series.dtype.is_integer())
    return result.cast(series.dtype) if keep else result


def _arrow_numbers(series: nw.Series, values: np.ndarray, keep_integers: bool) -> nw.Series:
    """The same for a column of Arrow, whose casts refuse integers above 2**53."""
    import pyarrow as pa

    kind = series.to_native().type
    keep = pa.types.is_float32(kind) or (keep_integers and pa.types.is_integer(kind))
    new = pa.chunked_array([pa.array(values, mask=np.isnan(values))])
    new = new.cast(kind, safe=False) if keep else new
    return nw.from_native(new, series_only=True).alias(series.name)


def _recoded(
    series: nw.Series, codes: np.ndarray, protected: np.ndarray, kept: np.ndarray
) -> nw.Series:
    """New categories in a column, each taken from a record that has it, so its type survives."""
    missing = np.isnan(protected)
    known, first = np.unique(codes, return_index=True)
    place = np.searchsorted(known, np.where(missing, known[0], protected))
    return series[np.where(missing, kept, first[place])]


def _numbers(series: list[nw.Series], names: list[str]) -> np.ndarray:
    """Columns of a DataFrame as float64; missing values as NaN."""
    other = [
        f"{name!r} ({s.dtype})"
        for s, name in zip(series, names, strict=True)
        if not s.dtype.is_numeric() and not _without_type(s)
    ]
    if other:
        raise InputError(
            f"{len(other)} of {len(series)} columns are not numbers: {', '.join(other[:5])}: "
            "choose numeric ones with columns=, or name them in ordinal= or nominal="
        )
    return np.stack([_floats(s) for s in series], axis=1)


def _without_type(series: nw.Series) -> bool:
    """Whether a column holds nothing at all, so that it may be one of numbers as well."""
    untyped = series.dtype in (nw.Unknown, nw.Object, nw.String)  # pandas calls it any of these
    return untyped and 0 < len(series) == series.null_count()


def _floats(series: nw.Series) -> np.ndarray:
    if _without_type(series):
        return np.full(len(series), np.nan)
    if series.implementation.is_pyarrow():
        return series.to_native().cast("float64", safe=False).to_numpy()
    return series.cast(nw.Float64).to_numpy()


def _codes(series: nw.Series, name: str) -> tuple[list[Any], np.ndarray]:
    """The values of a column in order of appearance and the number of each record's, -1 if missing.

    Arrow's own encoding is ten times as fast as sorting Python objects.
    """
    import pyarrow as pa

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
        f"in ordinal={{{name!r}: {sorted(map(str, known))[:4]}}}"
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
    names = [str(name) for name in data.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"column names appear twice ({', '.join(twice)}): rename them")
