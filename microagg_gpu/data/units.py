"""Units of several records, such as households: grouped as one, so that k counts units.

A unit is grouped by the means of its records. All its records get into one group, and so the same
published values. What is published for a group is computed from all its records, as always.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..errors import InputError, option
from .columns import Table
from .labels import by_first_record
from .strata import Cells, divide, without_small


class Units(NamedTuple):
    """The units of the records that are published.

    Attributes
    ----------
    of : int array of shape (m,)
        Unit of each record: 0, 1, ... in order of first record.
    first : int array of shape (u,)
        The first record of each unit.
    """

    of: np.ndarray
    first: np.ndarray

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean over the records of each unit; equal values stay as they are."""
        order = np.argsort(self.of, kind="stable")
        starts = np.flatnonzero(np.diff(self.of[order], prepend=-1))
        ranked = values[order]
        sizes = np.diff(starts, append=len(order))[:, np.newaxis]
        means = np.add.reduceat(ranked, starts, axis=0) / sizes
        low, high = (part.reduceat(ranked, starts, axis=0) for part in (np.minimum, np.maximum))
        return np.clip(means, low, high).astype(values.dtype, copy=False)

    def cells(self, cells: Cells) -> Cells:
        """Cells of the units, of those of their records."""
        kept = np.arange(len(self.first))
        return replace(cells, kept=kept, cell=cells.cell[self.first], seen=cells.seen[self.first])

    def table(self, table: Table, kept: np.ndarray) -> Table:
        """The units as records of a table, which cannot be rebuilt."""
        strata = None if table.strata is None else table.strata[kept][self.first]
        values = self.means(table.on_host[kept])
        return replace(
            table, values=values, strata=strata, sampling=None, exact={}, sensitive=None, units=None
        )


def divide_units(table: Table, k: int, missing: str, small_strata: str) -> tuple[Cells, Units]:
    """Divide the records of a table into cells of at least k units; as `strata.divide`."""
    if table.units is None:
        raise ValueError("the table has no units")
    cells = divide(table, 1, missing, "error")
    of, _, first = by_first_record(table.units[cells.kept])
    apart = np.unique(of[cells.cell != cells.cell[first][of]])
    if len(apart):
        strata = np.zeros(len(of)) if table.strata is None else table.strata[cells.kept]
        several = (strata != strata[first][of]).any()
        raise InputError(
            f"{len(apart)} of the {len(first)} units have records "
            + ("in several strata" if several else "with different values missing")
            + ", and all records of a unit must be in one group: "
            + ("choose other strata" if several else "use "),
            *([] if several else [option("missing", "drop")]),
        )
    units = Units(of, first)
    own = without_small(units.cells(cells), k, small_strata, table.strata is not None, "units")
    stays = np.isin(of, own.kept)
    if stays.all():
        return cells, units
    cells = replace(cells.only(stays), suppressed=int((~stays).sum()))
    of, _, first = by_first_record(of[stays])
    return cells, Units(of, first)
