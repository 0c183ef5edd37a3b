"""Data files: CSV, Parquet and Arrow; only the chosen columns are read as numbers and replaced."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, Option, option, unknown_column, values_are
from . import csv_text, excel, numbers, stat_files
from .compact import compact_table
from .counting import group_sizes
from .csv_text import TextForm
from .formats import (
    check_ending,
    check_target,
    kind_of,
    read_bytes,
    read_table,
    sync,
    write_bytes,
    write_table,
)
from .stat_files import Labels

__all__ = [
    "DataFile",
    "TextForm",
    "check_ending",
    "check_target",
    "group_sizes",
    "read_file",
    "write_file",
]


@dataclass(frozen=True)
class DataFile:
    """A data file in memory.

    Attributes
    ----------
    path : Path
        Where it was read, for messages.
    table : pa.Table
        Its columns: of a CSV file as text, each cell as it is in the file, without quotation
        marks and without nulls; of other files in their types.
    text : TextForm or None
        How a CSV file is written; None for other files.
    missing : mapping of str to str
        What a CSV file holds for a missing value, of columns that were replaced.
    labels : Labels
        What a file of Stata, SPSS or SAS says about its columns.
    """

    path: Path
    table: pa.Table
    text: TextForm | None
    missing: Mapping[str, str] = field(default_factory=dict)
    labels: Labels = field(default_factory=Labels)

    def resolve(self, names: Sequence[str] | None) -> list[str]:
        """Exact names of columns, of all by default; spaces around a name do not count."""
        exact = {name.strip(): name for name in self.table.column_names}
        if names is None:
            if self.text is not None and all(map(numbers.is_number, exact)):
                raise InputError(
                    f"the first line of {self.path} holds only numbers, so the line of column "
                    "names seems to be missing: add it, or name the columns with ",
                    option("columns"),
                )
            return list(exact.values())
        chosen: list[str] = []
        for name in map(str.strip, names):
            if name not in exact:
                only = self.text is not None and len(exact) == 1
                advice = ("; if that is more than one, give ", option("delimiter")) if only else ()
                raise unknown_column(name, self.path, exact, *advice)
            if exact[name] in chosen:
                raise InputError(f"column {name!r} is chosen twice: name each column once")
            chosen.append(exact[name])
        return chosen

    def with_numbers(self, names: Sequence[str]) -> pa.Table:
        """The table with columns read as numbers; missing values are null, infinite ones refused.

        Text becomes int64 or uint64 if it is whole numbers only, else float64. Numbers of typed
        files stay in their type, but half precision becomes single.
        """
        columns, infinite = {}, {}
        for name in names:
            column = self._numbers(name)
            if column is None:
                raise InputError(*self._not_numeric(name))
            if _any_infinite(column):
                infinite[name] = pc.is_inf(column).fill_null(False).to_numpy()
            columns[name] = column
        if infinite:
            raise InputError(
                f"{values_are(sum(map(np.count_nonzero, infinite.values())), self.path)} "
                f"infinite or too large, in column {self.where(infinite)}: correct them or leave "
                "out those records"
            )
        return _with_columns(self.table, columns)

    def numeric_columns(self) -> list[str]:
        """Names of the columns that `with_numbers` takes, unless all is missing in them."""
        found = []
        for name in self.table.column_names:
            column = self._numbers(name)
            if column is None or column.null_count == len(column):
                continue
            if not _any_infinite(column):
                found.append(name)
        return found

    def decimals(self, names: Sequence[str]) -> dict[str, int]:
        """The decimals that the numbers of columns have, where they have few."""
        mark = "." if self.text is None else self.text.decimal
        found = {name: numbers.decimals(self.table[name], mark) for name in names}
        return {name: d for name, d in found.items() if d is not None}

    def places(self, records: Sequence[int]) -> list[str]:
        """Where records stand, as "line 3" of a CSV file or "record 2" of another."""
        places = [f"record {record + 1}" for record in records]
        # A pipe cannot be read again: who opened a named one would wait for ever.
        if self.text is None or not self.path.is_file():
            return places
        raw = read_bytes(self.path, kind_of(self.path)[1])
        lines = csv_text.line_numbers(self.path, raw, self.text, list(records))
        # The file may be another by now.
        return [f"line {a}" if a else b for a, b in zip(lines, places, strict=True)]

    def where(self, marks: Mapping[str, np.ndarray]) -> str:
        """Say how many records of each column are marked, and where the first one stands."""
        marks = {name: mark for name, mark in marks.items() if mark.any()}
        shown = dict(list(marks.items())[:5])
        places = self.places([int(mark.argmax()) for mark in shown.values()])
        parts = [
            f"{name.strip()} ({np.count_nonzero(mark)}, the first on {place})"
            for (name, mark), place in zip(shown.items(), places, strict=True)
        ]
        more = len(marks) - len(shown)
        return ", ".join(parts) + (f" and {more} more columns" if more else "")

    def replaced(
        self,
        protected: pa.Table,
        names: Sequence[str],
        kept: np.ndarray | None = None,
        *,
        drop: Sequence[str] = (),
        added: Mapping[str, Any] | None = None,
        strata: Sequence[str] = (),
        keep_metadata: bool = False,
    ) -> "DataFile":
        """A file with other values in some columns, which holds what it shows and no more.

        Where a column of a CSV file spells missing values in several ways, all get the most
        common one: the way would tell records of a group apart. Dictionaries lose the
        categories that no record has. Of metadata only the note of pandas stays which columns
        are the index.

        Parameters
        ----------
        protected : pa.Table
            The new columns, for the kept records only.
        names : sequence of str
            Columns that are replaced, by their exact names.
        kept : ndarray of bool or int, optional
            Which records remain, or their places in the order of the new file; by default all.
        drop : sequence of str, optional
            Columns that are left out.
        added : mapping of str to array, optional
            New columns, at the end.
        strata : sequence of str, optional
            Columns of strata, in which NaN becomes null: both are a missing value.
        keep_metadata : bool
            Keep the metadata of the file and of its columns.
        """
        table = self.table if kept is None else _records(self.table, kept)
        before = table.schema
        missing, columns = dict(self.missing), {}
        for name in names:
            old, new = table[name], protected[name]
            if self.text is not None and pa.types.is_string(old.type) and new.null_count:
                missing[name] = _most_common(old.filter(pc.is_null(new)))
            columns[name] = new
        for name in strata:
            columns[name] = numbers.without_nan(columns.get(name, table[name]))
        table = _with_columns(table, columns)
        table = table.select([name for name in table.column_names if name not in drop])
        for name, values in (added or {}).items():
            if name.strip() in (there.strip() for there in table.column_names):
                raise InputError(f"column {name!r} is in {self.path} already: give another name")
            table = table.append_column(name, pa.array(values))
        table = compact_table(table)
        if keep_metadata:
            kept_of = {field.name: field.metadata for field in before}
            fields = [field.with_metadata(kept_of.get(field.name)) for field in table.schema]
            table = pa.Table.from_arrays(table.columns, schema=pa.schema(fields))
        notes = _pandas_notes(before, table.schema, kept is None, keep_metadata)
        others = before.metadata or {} if keep_metadata else {}
        table = table.replace_schema_metadata(others | notes)
        labels = self.labels.published(table, names)
        return DataFile(self.path, table, self.text, missing, labels)

    def _numbers(self, name: str) -> pa.ChunkedArray | None:
        column = self.table[name]
        kind = column.type
        if self.text is not None and pa.types.is_string(kind):
            return numbers.read_numbers(column, self.text.decimal)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return numbers.without_nan(self.labels.without_missing(name, column))
        return None

    def _not_numeric(self, name: str) -> list[str | Option]:
        what = f"column {name.strip()!r} of {self.path} is not numeric"
        use: list[str | Option] = [
            "use it for strata (", option("by"), ") or as categories (", option("nominal"),
            "), leave it out (--drop), or name the columns to protect (", option("columns"), ")",
        ]  # fmt: skip
        cells = self.table[name]
        if self.text is None:
            return [f"{what} but {cells.type}: ", *use]
        bad = numbers.not_numbers(cells, self.text.decimal)
        first, count = int(bad.argmax()), int(np.count_nonzero(bad))
        cell = cells[first].as_py()
        if not (advice := numbers.advice(cell, self.text.decimal)):
            advice = use if count == len(bad) else ["correct them, or do not protect this column"]
        return [
            f"{what}: {count:,} of {len(bad):,} values are not numbers, the first "
            f"{_shown(cell)} on {self.places([first])[0]}: ",
            *advice,
        ]


def _any_infinite(column: pa.ChunkedArray) -> bool:
    return pa.types.is_floating(column.type) and bool(pc.any(pc.is_inf(column)).as_py())


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")


def _most_common(cells: pa.ChunkedArray) -> str:
    counts = pc.value_counts(cells).to_pylist()
    return max(counts, key=lambda entry: entry["counts"])["values"] if counts else ""


def _with_columns(table: pa.Table, columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    """A table with some of its columns replaced, all at once: there may be thousands."""
    fields, new = list(table.schema), table.columns
    for place, name in enumerate(table.column_names):
        if (column := columns.get(name)) is not None:
            nullable = fields[place].nullable or column.null_count > 0
            fields[place] = fields[place].with_type(column.type).with_nullable(nullable)
            new[place] = column
    return pa.Table.from_arrays(new, schema=pa.schema(fields, table.schema.metadata))


def _records(table: pa.Table, kept: np.ndarray) -> pa.Table:
    """Some records of a table, by a mask or by places, perhaps in another order."""
    if kept.dtype != bool:
        if (np.diff(kept) < 0).any():
            return table.take(pa.array(kept))
        kept = np.isin(np.arange(table.num_rows), kept)
    return table.filter(pa.array(kept))


def _pandas_notes(old: pa.Schema, new: pa.Schema, every: bool, keep: bool) -> dict[bytes, bytes]:
    """What pandas noted about columns that are still what they were: it finds its index again.

    Parameters
    ----------
    old, new : pa.Schema
        Before and after.
    every : bool
        Whether all records are there; otherwise an index that only counts them is not theirs.
    keep : bool
        Whether attributes and notes on values, such as the number of categories, stay as well.
    """
    if b"pandas" not in (old.metadata or {}):
        return {}
    notes = json.loads(old.metadata[b"pandas"])
    same = [name for name in new.names if name in old.names
            and old.field(name).type == new.field(name).type]  # fmt: skip
    columns = [note for note in notes["columns"] if note.get("field_name") in same]
    index = [
        place for place in notes["index_columns"]
        if (place in new.names if isinstance(place, str) else every)
    ]  # fmt: skip
    if not keep:
        known = ("column_indexes", "creator", "pandas_version")
        notes = {name: notes[name] for name in known if name in notes}
        columns = [note | {"metadata": None} for note in columns]
    return {b"pandas": json.dumps(notes | {"columns": columns, "index_columns": index}).encode()}


# Reading


def read_file(
    path: Path, *, delimiter: str | None = None, encoding: str | None = None, decimal: str = "."
) -> DataFile:
    """Read a data file; its ending says which kind it is, an unknown ending means CSV.

    Parameters
    ----------
    path : Path
        .parquet and .pq are Parquet files, .arrow, .feather and .ipc Arrow files, .dta of Stata,
        .sav and .zsav of SPSS, .xpt and .sas7bdat of SAS, .xlsx of Excel; all others are CSV files
        with a header, compressed if they end with .gz, .bz2, .zst or .lz4.
    delimiter : str, optional
        What parts the cells of a CSV file; found among comma, semicolon, tab and bar by default.
    encoding : str, optional
        Of a CSV file; UTF-8 by default, and UTF-16 with a byte order mark.
    decimal : str, optional
        The decimal mark of a CSV file, a point or a comma.
    """
    return read_as(path, path, delimiter=delimiter, encoding=encoding, decimal=decimal)


def read_as(path: Path, kind: Path, **text_options: Any) -> DataFile:
    """Read a file of the kind that another name says; see `read_file`."""
    form, compression = kind_of(kind)
    if form == "CSV":
        table, text = csv_text.parse(path, read_bytes(path, compression), **text_options)
        if not table.num_rows:
            raise InputError(f"{path} has a header and no records")
        return DataFile(path, table, text)
    labels = Labels()
    if form in stat_files.FORMATS.values():
        table, labels = stat_files.read(path, form)
    elif form in excel.FORMATS.values():
        table = excel.read(path)
    else:
        table = read_table(path, form)
    csv_text.check_names(path, table.column_names)
    if not table.num_rows or not table.num_columns:
        raise InputError(f"{path} has no records")
    return DataFile(path, table, None, labels=labels)


# Writing


def write_file(file: DataFile, path: Path, kind: Path) -> None:
    """Write a data file, of the kind that the ending of `kind` says; see `read_file`.

    A CSV file is written in the way of its original.

    Parameters
    ----------
    path : Path
        The file to write, under a temporary name.
    kind : Path
        The name that it will get.
    """
    form, compression = kind_of(kind)
    file = held_in(file, kind)
    try:
        if form == "CSV":
            texts, written = _as_text(file, kind), text_form(file, kind)
            write_bytes(lambda send: csv_text.write(texts, written, send), path, compression)
        elif form in stat_files.FORMATS.values():
            stat_files.write(file.table, file.labels, path, form)
        else:
            write_table(file.table, path, form)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeEncodeError) as error:
        raise InputError(f"{kind} cannot be written as {form}: {error}") from None
    sync(path)


def held_in(file: DataFile, kind: Path) -> DataFile:
    """What a file of this name can hold of the data: only Stata's has .a to .z."""
    if not file.labels.missing or kind_of(kind)[0] == "Stata":
        return file
    table, labels = stat_files.without_letters(file.table, file.labels)
    return replace(file, table=table, labels=labels)


def text_form(file: DataFile, kind: Path) -> TextForm:
    """How a CSV file of this name is written."""
    names = [part.lower() for part in kind.suffixes]
    return file.text or TextForm(delimiter="\t" if ".tsv" in names else ",")


def _as_text(file: DataFile, kind: Path) -> pa.Table:
    decimal = text_form(file, kind).decimal
    columns = []
    for name in file.table.column_names:
        column = file.table[name]
        try:
            columns.append(numbers.spell(column, decimal, file.missing.get(name, "")))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"column {name!r} holds {column.type}, which CSV cannot hold: leave it out, or "
                "write Parquet"
            ) from None
    return pa.table(columns, names=file.table.column_names)
