"""Other kinds of tables, as one that narwhals reads, and the way back.

A lazy table, a query or a stream comes back as what it collects to; other kinds come back as they
went.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputError, shown

Back = Callable[[Any], Any]


def opened(data: Any) -> tuple[Any, Back | None]:
    """A table as a DataFrame or an Arrow table, and what makes the original kind of it again.

    Parameters
    ----------
    data : object
        A dict of columns, a NumPy structured array, a lazy frame of polars, a record batch, reader
        or dataset of Arrow, a relation of DuckDB, a table of Ibis, or whatever has
        ``__arrow_c_stream__`` or ``__dataframe__``. All else is returned as it is.
    """
    if isinstance(data, Mapping):
        return _arrow(dict(data), "a dict"), _to_dict
    if isinstance(data, np.ndarray) and data.dtype.names:
        columns = {name: data[name] for name in data.dtype.names}
        return _arrow(columns, "a structured array"), lambda table: _to_structured(
            table, data.dtype
        )
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data]), _to_batch
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all(), None
    module = type(data).__module__.partition(".")[0]
    if module == "polars" and hasattr(data, "collect"):
        return data.collect(), None
    if module == "ibis" and hasattr(data, "to_pyarrow"):
        return data.to_pyarrow(), None
    if module in ("duckdb", "_duckdb") and hasattr(data, "to_arrow_table"):
        return data.to_arrow_table(), None
    if module == "pyarrow" and hasattr(data, "to_table") and not isinstance(data, pa.Table):
        return data.to_table(), None
    if module in ("pandas", "polars", "pyarrow", "modin", "cudf"):
        return data, None
    if hasattr(data, "__arrow_c_stream__") and not isinstance(data, type):
        return pa.table(data), None
    if hasattr(data, "__dataframe__") and not isinstance(data, type):
        from pyarrow.interchange import from_dataframe

        return from_dataframe(data), None
    return data, None


def _arrow(columns: dict[Any, Any], what: str) -> pa.Table:
    for name in columns:
        if not isinstance(name, str):
            raise InputError(f"column {shown(name)} of {what} has no text for a name: give it one")
    try:
        return pa.table({name: _array(column) for name, column in columns.items()})
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError):
        raise InputError(
            f"{what} cannot be read: give each column as a list or an array of numbers or texts, "
            "all of one length"
        ) from None


def _array(column: Any) -> Any:
    if hasattr(column, "__arrow_c_stream__"):  # a Series
        return pa.chunked_array(column)
    return pa.array(column)


def _to_dict(table: pa.Table) -> dict[str, np.ndarray]:
    return {name: table[name].to_numpy() for name in table.column_names}


def _to_structured(table: pa.Table, before: np.dtype) -> np.ndarray:
    """An array with the types of the original, but for integers that became means."""
    columns = _to_dict(table)
    kinds = [
        (name, column.dtype if before[name].kind in "iu" else before[name])
        for name, column in columns.items()
    ]
    result = np.empty(table.num_rows, dtype=kinds)
    for name, column in columns.items():
        result[name] = column
    return result


def _to_batch(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0]
