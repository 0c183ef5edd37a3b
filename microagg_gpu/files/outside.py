"""An outside file, as an intruder may have it: its records, and which published ones they are."""

from typing import NamedTuple

import numpy as np

from ..errors import InputError
from .data_file import DataFile
from .pairs import Pair, matrix


class Outside(NamedTuple):
    """What an outside file knows about published records.

    Attributes
    ----------
    columns : list of str
        Columns of the outside file that are published too.
    known, published : float arrays of shape (m, q) and (n, q)
        Numbers of the outside file and published ones.
    record : int array of shape (m,)
        The published record of each outside one, -1 for none.
    known_cells, cells : int arrays of shapes (m,) and (n,)
        Numbers of what else is known, equal if the values of all strata are.
    """

    columns: list[str]
    known: np.ndarray
    published: np.ndarray
    record: np.ndarray
    known_cells: np.ndarray
    cells: np.ndarray


def match_outside(
    pair: Pair, before: DataFile, outside: DataFile, columns: list[str] | None, key: str
) -> Outside:
    """Find the records of an outside file among the published ones.

    Parameters
    ----------
    columns : list of str, optional
        What the intruder uses: variables and strata of the pair. By default all that are in the
        outside file.
    key : str
        The column of the original and of the outside file that tells which records are the same.
    """
    there = {name.strip() for name in outside.table.column_names}
    chosen = check_known(pair, columns) if columns else [
        name for name in [*pair.names, *pair.strata] if name.strip() in there
    ]  # fmt: skip
    if not chosen:
        raise InputError(
            f"{outside.path} has none of the columns {', '.join([*pair.names, *pair.strata])}"
        )
    numbers = [name for name in pair.names if name in chosen]
    strata = [name for name in pair.strata if name.strip() in chosen or name in chosen]
    same = outside.resolve(numbers)
    known = matrix(outside.with_numbers(same), same) if numbers else np.empty((_size(outside), 0))
    places = {text: i for i, text in enumerate(_texts(before, key))}
    if len(places) < before.table.num_rows:
        raise InputError(
            f"values of column {key!r} of {before.path} appear more than once: give --outside-key "
            "a column that tells records apart"
        )
    published = np.full(before.table.num_rows, -1)
    published[pair.rows] = np.arange(len(pair.rows))
    record = [places.get(text, -1) for text in _texts(outside, key)]
    found = np.array([-1 if i < 0 else published[i] for i in record], dtype=np.int64)
    codes: dict[tuple[str, ...], int] = {}
    cells = []
    for file in (outside, before):
        texts = [_texts(file, name) for name in strata]
        rows = zip(*texts, strict=True) if texts else [()] * _size(file)
        cells.append(np.array([codes.setdefault(tuple(row), len(codes)) for row in rows]))
    places_of = [pair.names.index(name) for name in numbers]
    return Outside(
        [*numbers, *strata], known, pair.protected[:, places_of], found, cells[0],
        cells[1][pair.rows],
    )  # fmt: skip


def check_known(pair: Pair, known: list[str]) -> list[str]:
    """Columns that an intruder knows, if they are among those of the pair."""
    columns = {name.strip(): name for name in [*pair.strata, *pair.names]}
    for name in known:
        if name.strip() not in columns:
            raise InputError(
                f"column {name.strip()!r} of --known is neither protected nor in --by: choose "
                f"among {', '.join(columns)}"
            )
    return [columns[name.strip()] for name in known]


def _texts(file: DataFile, name: str) -> list[str]:
    """The values as texts; 7.0, as Stata and Excel have it, is 7, as in CSV."""
    (column,) = file.resolve([name])
    return [
        str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()
        for value in file.table[column].to_pylist()
    ]


def _size(file: DataFile) -> int:
    return file.table.num_rows
