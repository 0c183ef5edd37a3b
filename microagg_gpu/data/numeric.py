"""Columns of a DataFrame as numbers, or an error that says what to do with the others."""

import datetime
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import InputError, option

EXACT: dict[Any, type] = {nw.Int64: np.int64, nw.UInt64: np.uint64}
"""Types of integers that float64 cannot always hold."""


def numbers(series: list[nw.Series], names: list[str]) -> np.ndarray:
    """Columns of a DataFrame as float64; missing values as NaN."""
    other = [
        (s, name)
        for s, name in zip(series, names, strict=True)
        if not s.dtype.is_numeric() and not _without_type(s)
    ]
    if other:
        shown = ", ".join(f"{name!r} ({s.dtype})" for s, name in other[:5])
        raise InputError(
            f"{len(other)} of {len(series)} columns are not numbers: {shown}: choose numeric ones "
            "with ",
            option("columns"),
            ", or name them in ",
            option("ordinal"),
            " or ",
            option("nominal"),
            _advice([s for s, _ in other]),
        )
    return np.stack([_floats(s) for s in series], axis=1)


def _advice(series: list[nw.Series]) -> str:
    """What to do with columns that look like numbers to their owners."""
    if any(s.dtype.is_temporal() or _holds_dates(s) for s in series):
        return "; of a date or time make a number that may be averaged, such as the year or the age"
    if any(s.dtype == nw.Boolean for s in series):
        return "; of true and false make 1 and 0 if a share may be published"
    return ""


def _holds_dates(series: nw.Series) -> bool:
    """Whether a column of Python objects holds dates."""
    if series.dtype != nw.Object:
        return False
    values = series.drop_nulls().head(1).to_list()
    return bool(values) and isinstance(values[0], datetime.date | datetime.time)


def _without_type(series: nw.Series) -> bool:
    """Whether a column holds nothing at all, so that it may be one of numbers as well."""
    untyped = series.dtype in (nw.Unknown, nw.Object, nw.String)  # pandas calls it any of these
    return untyped and 0 < len(series) == series.null_count()


def _floats(series: nw.Series) -> np.ndarray:
    if _without_type(series):
        return np.full(len(series), np.nan)
    if series.dtype in EXACT:  # Arrow, in pandas too, refuses to cast those above 2^53
        return series.to_arrow().cast("float64", safe=False).to_numpy(zero_copy_only=False)
    if series.implementation.is_pyarrow():
        return series.to_native().cast("float64", safe=False).to_numpy()
    return series.cast(nw.Float64).to_numpy()
