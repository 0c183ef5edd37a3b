"""Files of Stata, SPSS and SAS, through pyreadstat: the table, and the labels beside it.

These programs have two types only, numbers and texts, and a few formats for dates. They have no
null for texts: an empty one stands for it.
"""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError, reason

FORMATS = {
    ".dta": "Stata",
    ".sav": "SPSS",
    ".zsav": "SPSS, compressed",
    ".xpt": "SAS transport",
    ".sas7bdat": "SAS",
}
WRITTEN = tuple(ending for ending in FORMATS if ending != ".sas7bdat")

_MISSING = 2.0**1023  # in Stata all numbers from here on are missing values
LETTERS = {chr(97 + i): _MISSING * (1 + (i + 1) / 4096) for i in range(26)}
"""Stata's missing values .a to .z, as the numbers that its own files have for them."""
_NUMBERS = {number: letter for letter, number in LETTERS.items()}


@dataclass(frozen=True)
class Labels:
    """What a file says about its columns, by their names.

    Attributes
    ----------
    columns : mapping
        What each column is about.
    values : mapping
        What the codes of a column mean.
    missing : mapping
        Codes that SPSS counts as missing: values, or ranges from "lo" to "hi"; of Stata .a to .z.
    formats : mapping
        How SPSS shows a column.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    missing: Mapping[str, list[Any]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)

    def without_missing(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column of numbers with nulls for the codes that mean a missing value."""
        for code in self.missing.get(name, ()):
            low, high = (code["lo"], code["hi"]) if isinstance(code, dict) else (code, code)
            inside = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
            column = pc.if_else(inside.fill_null(False), None, column)
        return column

    def published(self, table: pa.Table, replaced: Collection[str]) -> "Labels":
        """The labels for a table that is published: none of a code that no record has.

        New values are no codes: a mean of 99 would count as missing.
        """
        kept = [name for name in table.column_names if name not in replaced]
        values = {}
        for name in (name for name in kept if name in self.values):
            seen = set(table[name].unique().to_pylist())
            values[name] = {code: text for code, text in self.values[name].items() if code in seen}
        return Labels(
            {name: text for name, text in self.columns.items() if name in table.column_names},
            {name: found for name, found in values.items() if found},
            {name: codes for name, codes in self.missing.items() if name in kept},
            {name: form for name, form in self.formats.items() if name in kept},
        )


def read(path: Path, form: str) -> tuple[pa.Table, Labels]:
    """The table of a file, and its labels; codes of SPSS for missing values stay numbers."""
    pyreadstat = _pyreadstat(path)
    readers: dict[str, Callable[..., Any]] = {
        "Stata": pyreadstat.read_dta,
        "SAS transport": pyreadstat.read_xport,
        "SAS": pyreadstat.read_sas7bdat,
    }
    given = {"user_missing": True} if form == "Stata" or form not in readers else {}
    try:
        with path.open("rb"):  # says why, where pyreadstat does not
            columns, meta = readers.get(form, pyreadstat.read_sav)(
                os.fspath(path), output_format="dict", **given
            )
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from None
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError):
        raise InputError(
            f"{path} cannot be read as {form}: it has another format, or is damaged"
        ) from None
    lettered = meta.missing_user_values if form == "Stata" else {}
    for name in lettered:
        columns[name] = [LETTERS.get(x, x) for x in columns[name]]
    spss = form not in readers
    missing = {name: [{"lo": _MISSING, "hi": float("inf")}] for name in lettered}
    values = {
        name: {LETTERS.get(code, code): text for code, text in known.items()}
        for name, known in meta.variable_value_labels.items()
    }
    labels = Labels(
        {name: text for name, text in meta.column_names_to_labels.items() if text},
        values if lettered else meta.variable_value_labels,
        meta.missing_ranges if spss else missing,
        meta.original_variable_types if spss else {},
    )
    return pa.table({name: _column(values) for name, values in columns.items()}), labels


def _column(values: list[Any]) -> pa.Array:
    found = pa.array(values)
    return found.cast(pa.float64()) if pa.types.is_null(found.type) else found


def write(table: pa.Table, labels: Labels, path: Path, form: str) -> None:
    """Write a table, as `as_held` has it, with its labels."""
    pyreadstat = _pyreadstat(path)
    try:
        frame = as_held(table).to_pandas()
    except ImportError:
        raise InputError(f"{path} needs pandas to be written: install microagg-gpu[stat]") from None
    about: dict[str, Any] = {"column_labels": dict(labels.columns)}
    if form != "SAS transport":
        about["variable_value_labels"] = {name: dict(v) for name, v in labels.values.items()}
    try:
        if form == "Stata":
            letters = {}
            for name in (name for name in labels.missing if name in frame):
                codes = frame[name][frame[name] >= _MISSING].unique()
                if len(codes):
                    letters[name] = sorted(_NUMBERS[code] for code in codes)
                    frame[name] = frame[name].astype(object).replace(_NUMBERS)
            for name in letters:
                known = about["variable_value_labels"].get(name, {})
                about["variable_value_labels"][name] = {
                    _NUMBERS.get(code, code): text for code, text in known.items()
                }
            pyreadstat.write_dta(frame, os.fspath(path), missing_user_values=letters, **about)
        elif form == "SAS transport":
            pyreadstat.write_xport(frame, os.fspath(path), **about)
        else:
            pyreadstat.write_sav(
                frame, os.fspath(path), missing_ranges=dict(labels.missing),
                variable_format=dict(labels.formats), row_compress=form == "SPSS",
                compress=form != "SPSS", **about,
            )  # fmt: skip
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError) as error:
        raise InputError(f"{path.name} cannot be written as {form}: {error}") from None


def without_letters(table: pa.Table, labels: Labels) -> tuple[pa.Table, Labels]:
    """The table and its labels for other files than Stata's: plain missing values for .a to .z."""
    lettered = [
        name
        for name, codes in labels.missing.items()
        if codes and isinstance(codes[0], dict) and codes[0]["lo"] == _MISSING
    ]
    for name in (name for name in lettered if name in table.column_names):
        column = labels.without_missing(name, table[name])
        table = table.set_column(table.column_names.index(name), name, column)
    values = {
        name: {code: text for code, text in known.items() if code not in _NUMBERS}
        for name, known in labels.values.items()
    }
    missing = {name: codes for name, codes in labels.missing.items() if name not in lettered}
    return table, Labels(labels.columns, values, missing, labels.formats)


def as_held(table: pa.Table) -> pa.Table:
    """The table as these files hold it: numbers as float64, texts without nulls."""
    columns = {}
    for name in table.column_names:
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            column = column.cast(pa.float64())
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            column = column.cast(pa.string()).fill_null("")
        elif pa.types.is_timestamp(kind):
            column = column.cast(pa.timestamp("us"))
        elif not pa.types.is_date(kind):
            raise InputError(
                f"column {name!r} is {kind}, which files of Stata, SPSS and SAS do not hold: leave "
                "it out, or write Parquet"
            )
        columns[name] = column
    return pa.table(columns)


def _pyreadstat(path: Path) -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise InputError(
            f"{path} needs the package pyreadstat: install microagg-gpu[stat]"
        ) from None
    return pyreadstat
