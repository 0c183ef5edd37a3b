"""Records that share their values in some columns of a table, counted."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .numbers import widened, without_nan


def group_codes(table: pa.Table, columns: Sequence[str]) -> np.ndarray:
    """Number the combinations of values, 0, 1, ... in order of first record.

    A missing value is a value of its own, NaN is one, and -0.0 is 0.0. Text is taken as it stands.
    """
    codes, count = np.zeros(table.num_rows, np.int64), 1
    for name in columns:
        own = _column_codes(table[name])
        size = int(own.max(initial=0)) + 1
        if count * size >= 2**62:
            codes = _compact(codes)
            count = int(codes.max(initial=0)) + 1
        codes, count = codes * size + own, count * size
    return _compact(codes)


def group_sizes(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The combinations of values in some columns, smallest count first.

    Returns
    -------
    pa.Table
        The columns, and as the last one the number of records: ``count``, with as many
        underscores behind as it takes to be a new name.
    """
    codes = group_codes(table, columns)
    counts = np.bincount(codes)
    first = np.empty(len(counts), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(counts, kind="stable")
    name = "count"
    while name in columns:
        name += "_"
    groups = table.select(list(columns)).take(pa.array(first[order]))
    return groups.append_column(name, pa.array(counts[order]))


def _column_codes(column: pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())  # more than 2 GiB in one piece
    if pa.types.is_floating(column.type):
        column = without_nan(column)
        column = pc.add(column, pa.scalar(0, column.type))
    try:
        # In one piece, since the chunks of a column are not promised to share a dictionary.
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    except pa.ArrowNotImplementedError:  # nested values: by their text
        encoded = pa.array(map(repr, column.to_pylist())).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64)


def _compact(codes: np.ndarray) -> np.ndarray:
    return pa.array(codes).dictionary_encode().indices.to_numpy().astype(np.int64)


def equal_columns(first: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    """Whether two columns hold the same values, NaN being one, perhaps in another type."""
    if pa.types.is_dictionary(other.type):  # the same values may be numbered in another way
        other = other.cast(other.type.value_type)
    try:
        first = first.cast(other.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    if pa.types.is_floating(other.type):
        first, other = widened(first), widened(other)
        if not pc.is_nan(first).equals(pc.is_nan(other)):
            return False
        first, other = without_nan(first), without_nan(other)
    # Only nested values that hold NaN are equal and yet not to Arrow.
    return first.equals(other) or (
        pa.types.is_nested(other.type) and repr(first.to_pylist()) == repr(other.to_pylist())
    )
