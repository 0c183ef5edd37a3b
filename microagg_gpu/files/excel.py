"""Workbooks of Excel, through python-calamine: the table on the first sheet that can be seen."""

import datetime
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InputError, reason

FORMATS = {".xlsx": "Excel"}


def read(path: Path) -> pa.Table:
    """The first visible sheet with its names in the first row; empty cells and errors are null.

    Excel has one type of number: a column of whole numbers is read as integers. A column of numbers
    and texts is read as text, so that it is refused where numbers are needed.
    """
    try:
        import python_calamine as calamine
    except ImportError:
        raise InputError(
            f"{path} needs the package python-calamine: install microagg-gpu[excel]"
        ) from None
    try:
        with path.open("rb"):  # says why, where calamine does not
            book = calamine.CalamineWorkbook.from_path(os.fspath(path))
        seen = [
            sheet.name
            for sheet in book.sheets_metadata
            if sheet.typ == calamine.SheetTypeEnum.WorkSheet
            and sheet.visible == calamine.SheetVisibleEnum.Visible
        ]
        rows = book.get_sheet_by_name(seen[0]).to_python() if seen else []
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except calamine.PasswordError:
        raise InputError(f"{path} has a password: save it without one") from None
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno:
            raise InputError(f"{path} cannot be read: {reason(error)}") from None
        raise InputError(
            f"{path} cannot be read as Excel: it has another format, or is damaged"
        ) from None
    names = [_text(cell) for cell in rows[0]] if rows else []
    columns = [_column([row[j] for row in rows[1:]]) for j in range(len(names))]
    return pa.table(columns, names=names)


def _column(cells: list[Any]) -> pa.Array:
    values = [None if cell == "" else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        whole = all(value is None or float(value).is_integer() for value in values)
        if kinds and whole and all(abs(value or 0) <= 2**53 for value in values):
            return pa.array([None if v is None else int(v) for v in values], pa.int64())
        return pa.array(values, pa.float64())
    if kinds == {datetime.date, datetime.datetime}:
        values = [_moment(value) for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else _text(value) for value in values]
    return pa.array(values)


def _moment(value: Any) -> datetime.datetime | None:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value


def _text(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)
