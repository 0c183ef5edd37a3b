"""What is read of a partition: its records, the moments of their cells, and the way they travel."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..data.columns import Table
from ..data.scaling import exact_sums
from ..data.table import read
from ..errors import InputError, values_are
from ..files.numbers import decimals
from ..settings import Roles

Key = tuple[tuple[str | None, ...], bytes]  # values of a stratum, and what is missing


class Layout(NamedTuple):
    """Which columns are used, and what for."""

    columns: list[Any]
    by: list[Any]
    weight: Any
    missing: str
    averaged: bool = False  # whether weights are replaced by the means of groups

    @property
    def used(self) -> list[Any]:
        """All columns that are read."""
        return [*self.columns, *self.by, *([] if self.weight is None else [self.weight])]

    @property
    def replaced(self) -> list[Any]:
        """The columns with new values."""
        return [*self.columns, *([self.weight] if self.averaged else [])]

    @property
    def roles(self) -> Roles:
        """The columns with new values, by what they are."""
        return Roles(self.columns, sampling_weight=self.weight if self.averaged else None)

    @property
    def values(self) -> list[str]:
        """What the variables are called on their way."""
        return [f"v{j}" for j in range(len(self.columns))]


class Moments(NamedTuple):
    """Of the records of a cell: how many, and for each variable what its mean needs."""

    records: int
    known: np.ndarray
    sums: list[int]  # exact, see `exact_sums`
    low: np.ndarray
    high: np.ndarray


class Description(NamedTuple):
    """What is to be known of a partition before records move."""

    rows: int
    dropped: int
    missing: np.ndarray
    whole: np.ndarray
    decimals: list[int | None]  # of the columns that are replaced; None if they are many
    cells: dict[Key, Moments]


def _read(frame: pd.DataFrame, layout: Layout, where: str) -> Table | None:
    """The variables of a partition; None if it is empty."""
    if not len(frame):
        return None
    try:
        return read(
            frame[layout.used], Roles(columns=layout.columns, sampling_weight=layout.weight)
        )
    except InputError as error:
        raise InputError(f"{where}: ", *error.args) from None


def _cells(frame: pd.DataFrame, values: np.ndarray, layout: Layout) -> tuple[np.ndarray, list[Key]]:
    """The cell of each record, as a number in this partition, and what the cells are."""
    if not layout.by and layout.missing != "pattern":
        return np.zeros(len(values), dtype=np.int64), [((), b"")]
    strata = [pd.factorize(frame[name]) for name in layout.by]
    absent = np.packbits(np.isnan(values), axis=1).astype(np.int64)
    found, cell = np.unique(
        np.column_stack([*(codes for codes, _ in strata), absent]), axis=0, return_inverse=True
    )
    keys = [
        (
            tuple(
                None if code < 0 else str(known[code])
                for code, (_, known) in zip(row, strata, strict=False)
            ),
            row[len(strata) :].astype(np.uint8).tobytes(),
        )
        for row in found
    ]
    return cell.reshape(-1), keys


def describe(
    frame: pd.DataFrame, layout: Layout, where: str, keep_integers: bool
) -> Description | InputError:
    """Count the records of a partition and what is missing, and take the moments of its cells.

    What cannot be read is returned as an error: to repeat the task would not mend it.
    """
    d = len(layout.columns)
    try:
        table = _read(frame, layout, where)
        if keep_integers and table is not None:
            _check_integers(table, where)
    except InputError as error:
        return error
    if table is None:
        places: list[int | None] = [0] * len(layout.replaced)
        return Description(0, 0, np.zeros(d, dtype=np.int64), np.ones(d, dtype=bool), places, {})
    values = table.values
    missing = np.isnan(values)
    kept = ~missing.any(axis=1) if layout.missing == "drop" else np.ones(len(values), dtype=bool)
    cell, keys = _cells(frame[kept], values[kept], layout)
    order = np.argsort(cell, kind="stable")
    sizes = np.bincount(cell, minlength=len(keys))
    cells = {}
    for key, rows in zip(keys, np.split(order, np.cumsum(sizes)[:-1]), strict=True):
        if len(rows):
            cells[key] = _moments(values[kept][rows])
    places = [_decimals(frame[name]) for name in layout.replaced]
    return Description(
        len(values), int((~kept).sum()), missing.sum(axis=0), table.whole, places, cells
    )


def _decimals(column: pd.Series) -> int | None:
    """The decimals of a column's numbers; None if they are many."""
    found = pa.array(column, from_pandas=True)
    return decimals(found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found]))


def _check_integers(table: Table, where: str) -> None:
    """Refuse integers that float64, as which values travel, does not hold."""
    for j, integers in table.exact.items():
        large = int(((integers > 2**53) | (integers < -(2**53))).sum())
        raise InputError(
            f"{where}: {values_are(large, f'column {table.names[j]}')} above 2**53 in size, too "
            "large to be kept as integers on several workers: leave out keep_integers, or protect "
            "on one machine"
        )


def _moments(values: np.ndarray) -> Moments:
    missing = np.isnan(values)
    low, high = np.where(missing, np.inf, values), np.where(missing, -np.inf, values)
    return Moments(
        len(values),
        (~missing).sum(axis=0),
        exact_sums(values),
        low.min(axis=0),
        high.max(axis=0),
    )


def squares(
    frame: pd.DataFrame, layout: Layout, where: str, codes: dict[Key, int], centre: np.ndarray
) -> list[int]:
    """Exact sums of the squared differences from the centre, of the records that are published."""
    values = records(frame, layout, where, 0, codes)[layout.values].to_numpy(dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return exact_sums(np.square(values - centre))


def records(
    frame: pd.DataFrame, layout: Layout, where: str, number: int, codes: dict[Key, int]
) -> pd.DataFrame:
    """The records of a partition that are published, with where they come from and their cell."""
    table = _read(frame, layout, where)
    if table is None:
        return empty(layout)
    rows = np.arange(len(frame))
    if layout.missing == "drop":
        rows = np.flatnonzero(~np.isnan(table.values).any(axis=1))
    cell, keys = _cells(frame.iloc[rows], table.values[rows], layout)
    code = np.array([codes.get(key, -1) for key in keys])[cell]
    rows, code = rows[code >= 0], code[code >= 0]
    columns = dict(zip(layout.values, table.values[rows].T, strict=True))
    if table.sampling is not None:
        columns["weight"] = table.sampling[rows]
    return pd.DataFrame({"partition": number, "row": rows, "cell": code, **columns}).astype(
        empty(layout).dtypes.to_dict()
    )


def empty(layout: Layout, *more: str) -> pd.DataFrame:
    """No records: which columns they have on their way, and of which type."""
    numbers = [*layout.values, *([] if layout.weight is None else ["weight"])]
    kinds = dict.fromkeys(["partition", "row", "cell", *more], np.int64)
    return pd.DataFrame({}).assign(
        **{
            name: np.empty(0, kind)
            for name, kind in (kinds | dict.fromkeys(numbers, float)).items()
        }
    )
