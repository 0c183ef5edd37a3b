"""An original file and a protected one by any tool: the records and variables of both."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError
from .counting import group_codes
from .data_file import DataFile


@dataclass(frozen=True)
class Pair:
    """The records that both files hold.

    Attributes
    ----------
    names, strata : list of str
        Variables that were protected, and columns that divide the records.
    original, protected : float array of shape (n, p)
        NaN where a value is missing in either file.
    cells : int array of shape (n,), or None
        Stratum of each record.
    k : int
        The fewest records that share their values in the strata and variables of the protected
        file.
    table : pa.Table
        The original file, its variables as numbers.
    provenance : dict of str
        What is known of how the protected file was made.
    weights : float array of shape (n,), or None
        Sampling weights of the original file.
    rows : int array of shape (n,)
        The record of the original file that each one is.
    """

    names: list[str]
    strata: list[str]
    original: np.ndarray
    protected: np.ndarray
    cells: np.ndarray | None
    k: int
    table: Any
    provenance: dict[str, str]
    weights: np.ndarray | None = None
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def match(
    before: DataFile,
    after: DataFile,
    columns: list[str] | None,
    by: list[str],
    key: str | None,
    weight: str | None = None,
) -> Pair:
    """Find the same records and variables in two files.

    Parameters
    ----------
    columns : list of str, optional
        The variables; by default those columns of numbers in both files that differ.
    by : list of str
        Columns that divide the records into strata.
    key : str, optional
        The column that tells which records are the same; by default they are in the same order.
    weight : str, optional
        The column of sampling weights.
    """
    rows = _rows(before, after, key)
    sampling = before.resolve([] if weight is None else [weight])
    strata = before.resolve(by)
    after.resolve(by)
    if columns is None:
        other = [*strata, *sampling, *([] if key is None else [key])]
        names = _that_differ(before, after, rows, other)
    else:
        names = before.resolve(columns)
    same = after.resolve(names)
    table, published = before.with_numbers([*names, *sampling]), after.with_numbers(same)
    original, protected = matrix(table, names)[rows], matrix(published, same)
    absent = np.isnan(original) | np.isnan(protected)
    changed = int((np.isnan(original) != np.isnan(protected)).sum())
    counts = np.bincount(group_codes(after.table, [*after.resolve(by), *same]))
    return Pair(
        names=[name.strip() for name in names],
        strata=strata,
        original=np.where(absent, np.nan, original),
        protected=np.where(absent, np.nan, protected),
        cells=group_codes(before.table, strata)[rows] if strata else None,
        k=int(counts.min()),
        table=table,
        provenance={
            "Original": before.path.name,
            "Protected": after.path.name,
            "Columns": ", ".join(names),
            "Strata": ", ".join(strata),
            "Sampling weights": ", ".join(sampling),
            "Records matched by": key or "their order",
            "Records left out": str(before.table.num_rows - len(rows))
            if before.table.num_rows > len(rows)
            else "",
            "Values missing in one file only": f"{changed}, not counted" if changed else "",
        },
        weights=matrix(table, sampling)[rows, 0] if sampling else None,
        rows=rows,
    )


def _rows(before: DataFile, after: DataFile, key: str | None) -> np.ndarray:
    """The original record of each protected one."""
    n, m = before.table.num_rows, after.table.num_rows
    if key is None:
        if n != m:
            raise InputError(
                f"{before.path} has {n} records and {after.path} {m}: give --key COLUMN to match "
                "them by a column of both"
            )
        return np.arange(n)
    places: list[dict[Any, int]] = []
    for file in (before, after):
        values = file.table[file.resolve([key])[0]].to_pylist()
        places.append({value: i for i, value in enumerate(values)})
        if len(places[-1]) < len(values):
            raise InputError(
                f"{len(values) - len(places[-1])} values of column {key!r} of {file.path} appear "
                "more than once: give --key a column that tells records apart"
            )
    lost = [value for value in places[1] if value not in places[0]]
    if lost:
        raise InputError(
            f"{len(lost)} records of {after.path} are not in {before.path}, the first with "
            f"{key}={lost[0]!r}: give the original of this file"
        )
    return np.array([places[0][value] for value in places[1]], dtype=np.int64)


def _that_differ(
    before: DataFile, after: DataFile, rows: np.ndarray, other: list[str]
) -> list[str]:
    there = {name.strip(): name for name in after.numeric_columns()}
    skip = {name.strip() for name in other}
    names = [
        name
        for name in before.numeric_columns()
        if name.strip() in there and name.strip() not in skip
    ]
    if not names:
        raise InputError(f"{before.path} and {after.path} have no column of numbers in common")
    same = [there[name.strip()] for name in names]
    old = matrix(before.with_numbers(names), names)[rows]
    new = matrix(after.with_numbers(same), same)
    differ = ((old != new) & ~(np.isnan(old) & np.isnan(new))).any(axis=0)
    if not differ.any():
        raise InputError(
            f"no column of numbers of {after.path} differs from {before.path}: name those that "
            "were protected with --columns"
        )
    return [name for name, changed in zip(names, differ, strict=True) if changed]


def matrix(table: Any, names: list[str]) -> np.ndarray:
    """Columns of numbers as float64."""
    return np.stack(
        [table[name].cast("float64", safe=False).to_numpy(zero_copy_only=False) for name in names],
        axis=1,
    )
