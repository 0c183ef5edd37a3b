"""A written file, read again: is it what was to be written, and does k hold in it?"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from . import numbers, stat_files
from .compact import unused_categories
from .counting import equal_columns
from .data_file import DataFile, held_in, read_as, text_form
from .formats import kind_of
from .verdict import Verdict, count_k


def verify(
    path: Path,
    kind: Path,
    expected: DataFile,
    views: Sequence[Sequence[str]],
    k: int,
    sensitive: str | None = None,
    units: np.ndarray | None = None,
    unit: str = "",
) -> Verdict:
    """Read a written file again, compare every cell, and count the records that share theirs.

    Parameters
    ----------
    path, kind : Path
        As given to `write_file`.
    expected : DataFile
        What was to be written.
    views : sequence of sequence of str
        Columns whose values, taken together, each record must share with k - 1 others.
    sensitive : str, optional
        A column in which k is not counted.
    units, unit
        As in `count_k`.

    Returns
    -------
    Verdict
        Counted over these columns and over all that are in the file.

    Raises
    ------
    RuntimeError
        If k does not hold for the columns of a view, a cell is not what it should be, or a
        dictionary holds categories that no record has.
    """
    expected = held_in(expected, kind)
    form = text_form(expected, kind)
    try:
        written = read_as(
            path, kind, delimiter=form.delimiter, encoding=form.encoding, decimal=form.decimal,
            ours=True,
        )  # fmt: skip
    except InputError as error:
        raise RuntimeError(f"internal error: the written file cannot be read: {error}") from None
    if kind_of(kind)[0] in stat_files.FORMATS.values():
        expected = replace(expected, table=stat_files.as_held(expected.table))
    same = written.table.column_names == expected.table.column_names and all(
        _same(written, expected, name) for name in expected.table.column_names
    )
    if not same:
        raise RuntimeError("internal error: the written file differs from what was to be written")
    unused = {name: unused_categories(written.table[name]) for name in written.table.column_names}
    for name in (name for name in unused if unused[name]):
        raise RuntimeError(
            f"internal error: {unused[name]} categories of column {name!r} are in the file that no "
            "record has"
        )
    verdict = count_k(written.table, k, views, sensitive, units, unit)
    if verdict.below_named:
        raise RuntimeError(
            f"internal error: {verdict.below_named} records are in groups below k={k} in the file"
        )
    return verdict


def _same(written: DataFile, expected: DataFile, name: str) -> bool:
    cells, wanted = written.table[name], expected.table[name]
    if written.text is not None and not pa.types.is_floating(wanted.type):
        cells = cells.cast(pa.large_string())
        wanted = numbers.spell(wanted, ".", expected.missing.get(name, ""))
    elif written.text is not None:
        gaps = cells.filter(pc.is_null(wanted))
        if pc.any(pc.not_equal(gaps, expected.missing.get(name, ""))).as_py():
            return False
        values = numbers.read_numbers(cells, written.text.decimal)
        if values is None:
            return False
        wanted = numbers.without_nan(wanted)
        cells = values.cast(wanted.type, safe=False)
    return equal_columns(cells, wanted)
