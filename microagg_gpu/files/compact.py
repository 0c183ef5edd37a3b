"""Columns without what is not published: unused categories, values behind nulls, old buffers.

A column can hold more than it shows. A dictionary keeps the names of records that were left out,
an array keeps numbers at places that are marked as missing, and a selection of text may still
refer to all of the text that it was selected from. Files and pickles written of such a column
publish these values. Here columns are made anew, with what they show and no more.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def compact_table(table: pa.Table) -> pa.Table:
    """A table of Arrow whose columns hold what they show, and without metadata."""
    # At once: to set a column copies the list of all others.
    columns = [compact_column(column) for column in table.itercolumns()]
    fields = [field.remove_metadata() for field in table.schema]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def without_views(table: pa.Table) -> pa.Table:
    """Text in the form that Arrow's functions take; polars writes views of text."""
    for i, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) and kind.value_type in _VIEWS:
            kind = pa.dictionary(kind.index_type, _VIEWS[kind.value_type], kind.ordered)
        kind = _VIEWS.get(kind, kind)
        if kind != field.type:
            table = table.set_column(i, field.with_type(kind), table[i].cast(kind))
    return table


def with_views(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The reverse: columns that are views of text in the schema are so again."""
    for i, field in enumerate(table.schema):
        kind = schema.field(field.name).type
        if kind in _VIEWS and field.type != kind:
            table = table.set_column(i, field.with_type(kind), table[i].cast(kind))
    return table


def compact_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of Arrow that holds what it shows, in its type."""
    kind = column.type
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        return _rebuilt(column)
    if pa.types.is_dictionary(kind):
        return pa.chunked_array([_compact_dictionary(column)], kind)
    if kind in _VIEWS:  # these refer to text elsewhere
        return column.cast(_VIEWS[kind]).combine_chunks().cast(kind)
    if not column.null_count:
        return column
    # Arrow writes zeros where the records that are taken are missing.
    return pa.chunked_array(
        [chunk.take(pa.array(np.arange(len(chunk)))) for chunk in column.chunks], kind
    )


def _rebuilt(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same for lists, structures and extensions, value by value."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = [chunk.storage for chunk in column.chunks]
        inner = compact_column(pa.chunked_array(stored, kind.storage_type))
        return pa.chunked_array([kind.wrap_array(chunk) for chunk in inner.chunks], kind)
    return pa.chunked_array([pa.array(column.to_pylist(), kind)], kind)


def _compact_dictionary(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Records of all chunks by one dictionary, in its order, of the values that they have."""
    kind = column.type
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no records
        return pa.DictionaryArray.from_arrays(
            pa.array([], kind.index_type), pa.array([], kind.value_type), ordered=kind.ordered
        )
    gone = whole.indices.is_null().to_numpy(zero_copy_only=False)
    codes = whole.indices.fill_null(0).to_numpy().astype(np.int64)
    used, numbers = np.unique(codes[~gone], return_inverse=True)
    new = np.zeros(len(codes), dtype=np.int64)
    new[~gone] = numbers.reshape(-1)
    values = compact_column(pa.chunked_array([whole.dictionary.take(pa.array(used))]))
    return pa.DictionaryArray.from_arrays(
        pa.array(new, mask=gone).cast(kind.index_type), values.combine_chunks(),
        ordered=kind.ordered,
    )  # fmt: skip


def unused_categories(column: pa.ChunkedArray) -> int:
    """How many entries of a column's dictionaries, at any depth, no record has."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = [chunk.storage for chunk in column.chunks]
        return unused_categories(pa.chunked_array(stored, kind.storage_type))
    if pa.types.is_struct(kind):
        parts = [pa.chunked_array([chunk.field(j) for chunk in column.chunks], kind.field(j).type)
                 for j in range(kind.num_fields)]  # fmt: skip
        return sum(map(unused_categories, parts))
    if pa.types.is_nested(kind) and not pa.types.is_union(kind):  # lists and maps
        values = [chunk.values for chunk in column.chunks]
        return unused_categories(pa.chunked_array(values)) if values else 0
    if not pa.types.is_dictionary(kind) or not column.num_chunks:
        return 0
    there = pc.unique(pa.chunked_array([chunk.dictionary for chunk in column.chunks]))
    seen = pc.unique(column.cast(kind.value_type))
    return int(pc.sum(pc.invert(pc.is_in(there, seen))).as_py() or 0)


def compact_polars(frame: Any) -> Any:
    """A DataFrame of polars whose columns hold what they show."""
    import polars as pl

    columns = []
    for series in frame:
        kind = series.dtype
        if isinstance(kind, pl.Enum):
            used = set(series.unique().to_list())
            known = [category for category in kind.categories if category in used]
            series = series.cast(pl.String).cast(pl.Enum(known))
        elif isinstance(kind, pl.Categorical):
            # Polars 1 writes all categories of a column, in the order of their numbers.
            seen = series.drop_nulls().unique()
            known = seen.gather(seen.to_physical().arg_sort()).cast(pl.String)
            series = pl.concat([known, series.cast(pl.String)]).cast(kind)[len(known) :]
        elif series.null_count() or kind.is_nested() or kind in (pl.String, pl.Binary):
            arrow = series.to_arrow(compat_level=pl.CompatLevel.oldest())
            new = compact_column(pa.chunked_array([arrow]))
            # Not pl.Series(new): polars 1 loses text in lists so, or ends the process (seen in 1.3
            # and 1.8, reported of 1.43, not seen in 2.1). Tables are read as they should be.
            series = pl.DataFrame(pa.table({series.name: new}))[series.name].cast(kind)
        columns.append(series)
    return pl.DataFrame(columns)


def compact_pandas(frame: Any) -> Any:
    """A DataFrame of pandas (changed in place) whose columns and index hold what they show."""
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        new = _compact_series(column)
        if new is not column:
            frame.isetitem(j, new)
    frame.index = _compact_index(frame.index)
    frame.attrs = {}
    return frame


def _compact_series(column: Any) -> Any:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return column.cat.remove_unused_categories()
    if isinstance(kind, pd.ArrowDtype):
        stored = pa.chunked_array(column.array.__arrow_array__())
        return pd.Series(pd.array(compact_column(stored), dtype=kind), column.index)
    absent = column.isna() if hasattr(kind, "numpy_dtype") else None
    if absent is None or not absent.any():
        return column
    # What is marked as missing in Int64, boolean, ... keeps its number.
    nothing = False if kind.kind == "b" else 0
    return column.fillna(nothing).mask(absent).astype(kind)


def _compact_index(index: Any) -> Any:
    import pandas as pd

    if isinstance(index, pd.CategoricalIndex):
        return index.remove_unused_categories()
    if isinstance(index, pd.MultiIndex):
        index = index.remove_unused_levels()
        return index.set_levels([_compact_index(level) for level in index.levels])
    return index
