"""Who may be grouped with whom: strata, records with the same values missing, and small ones."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import InputError, listed, option, too_few_records, values_missing
from .columns import NOMINAL, Table, places_of
from .labels import numbered


@dataclass(frozen=True)
class Cells:
    """Records in cells; a group never leaves its cell.

    Attributes
    ----------
    kept : int array of shape (m,)
        Positions of the records that are published, in their order.
    cell : int array of shape (m,)
        Cell of each of them: 0, 1, ...
    observed : list of int array
        For each cell the variables that are not missing in it.
    names : list of str
        What to call each cell.
    dropped, suppressed : int
        Records left out for missing values, or for being fewer than k in their cell.
    merged : list of str
        The cells that were put together, as 'a + b'.
    seen : int array of shape (m,)
        Cell of each record before any merger: what everybody sees of it.
    """

    kept: np.ndarray
    cell: np.ndarray
    observed: list[np.ndarray]
    names: list[str]
    seen: np.ndarray
    dropped: int = 0
    suppressed: int = 0
    merged: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> np.ndarray:
        """Number of records of each cell."""
        return np.bincount(self.cell, minlength=len(self.names))

    def only(self, stays: np.ndarray) -> "Cells":
        """The cells of some records; one without any is left out."""
        left, cell = np.unique(self.cell[stays], return_inverse=True)
        return replace(
            self,
            kept=self.kept[stays],
            cell=cell.reshape(-1),
            seen=np.unique(self.seen[stays], return_inverse=True)[1].reshape(-1),
            observed=[self.observed[c] for c in left],
            names=[self.names[c] for c in left],
        )


def divide(table: Table, k: int, missing: str, small_strata: str) -> Cells:
    """Divide the records of a table into cells.

    Parameters
    ----------
    table : Table
    k : int
    missing : {"error", "pattern", "drop"}
        What to do with missing values: refuse them; group only records that have the same ones
        missing; leave out records with any.
    small_strata : {"error", "merge", "suppress"}
        What to do with cells of fewer than k records: refuse them; leave them for `merge`; leave
        out their records.
    """
    if missing == "error":
        count, where = places_of(table, "isnan")
        if count:
            raise values_missing(count, where, form="missing (NaN)")
    absent = table.absent
    n, p = absent.shape
    kept = np.flatnonzero(~absent.any(axis=1)) if missing == "drop" else np.arange(n)
    if not len(kept):
        raise InputError(
            f"each of the {n} records has a missing value: use ", option("missing", "pattern")
        )
    dropped = n - len(kept)
    strata = np.zeros(n, dtype=np.int64) if table.strata is None else table.strata
    names = ["all records"] if table.strata is None else table.strata_names
    patterns, pattern = _patterns(absent[kept])
    both = strata[kept] * len(patterns) + pattern
    cell, sizes = numbered(both)
    pairs = np.empty(len(sizes), dtype=np.int64)
    pairs[cell] = both
    absences = np.unpackbits(patterns, axis=1, count=p).astype(bool)[pairs % len(patterns)]
    cells = Cells(
        kept,
        cell,
        [np.flatnonzero(~row) for row in absences],
        [
            _name(names[pair // len(patterns)], [table.names[j] for j in np.flatnonzero(row)])
            for pair, row in zip(pairs, absences, strict=True)
        ],
        cell,
        dropped=dropped,
    )
    return without_small(cells, k, small_strata, table.strata is not None)


def without_small(
    cells: Cells, k: int, small_strata: str, strata: bool, what: str = "records"
) -> Cells:
    """Refuse cells of fewer than k, leave them out, or leave them for `merge`."""
    small = np.flatnonzero(cells.sizes < k)
    if len(cells.names) == 1 and len(small):
        raise too_few_records(k, len(cells.cell), what)
    if small_strata == "merge" or not len(small):
        return cells
    if small_strata == "error":
        _refuse_small(cells, small, k, strata, what)
    return _without(cells, small, k)


def _patterns(absent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows, as bits, and which of them each record has."""
    if not absent.any():  # as in most files: no need to sort a million equal rows
        return np.packbits(absent[:1], axis=1), np.zeros(len(absent), dtype=np.int64)
    rows = np.packbits(absent, axis=1)
    patterns, pattern = np.unique(rows, axis=0, return_inverse=True)
    return patterns, pattern.reshape(-1)


def _name(stratum: str, absent: list[str]) -> str:
    return f"{stratum} without {', '.join(absent)}" if absent else stratum


def _refuse_small(cells: Cells, small: np.ndarray, k: int, strata: bool, of: str) -> None:
    names = [f"{cells.names[c]} ({cells.sizes[c]})" for c in small]
    what = "strata have" if strata else "patterns of missing values have"
    merge = (
        [option("small_strata", "merge"), ", which merges each with the nearest, or "]
        if strata
        else []
    )
    raise InputError(
        f"{len(small)} of {len(cells.names)} {what} fewer than k={k} {of}: {listed(names)}: "
        "choose a smaller k, or ",
        *merge,
        option("small_strata", "suppress"),
        ", which leaves out their records",
    )


def _without(cells: Cells, small: np.ndarray, k: int) -> Cells:
    stays = ~np.isin(cells.cell, small)
    if not stays.any():
        raise InputError(f"no stratum has k={k} records, so nothing is left: choose a smaller k")
    return replace(cells.only(stays), suppressed=int(len(stays) - stays.sum()))


def merge(cells: Cells, points: np.ndarray, kinds: np.ndarray, k: int) -> Cells:
    """Put each cell of fewer than k records together with the nearest one.

    The smallest goes first, to the cell whose centroid is nearest to its own among those with the
    same variables missing; ties go to the first cell.

    Parameters
    ----------
    points : array of shape (m, p)
        The kept records, scaled.
    kinds : int array of shape (p,)
        Numbers of nominal categories have no centroid: cells are compared in the other variables.
    """
    sizes = cells.sizes
    if sizes.min() >= k:
        return cells
    order = np.argsort(cells.cell, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(cells.cell, minlength=len(sizes)))[:-1])
    centroids = np.zeros((len(sizes), len(kinds)))
    for c, part in enumerate(parts):
        if len(cells.observed[c]):
            centroids[c] = points[part].mean(axis=0)
    patterns: dict[tuple[int, ...], int] = {}
    pattern = np.array([patterns.setdefault(tuple(o), len(patterns)) for o in cells.observed])
    members = [[c] for c in range(len(sizes))]
    alive = np.ones(len(sizes), dtype=bool)
    while sizes[alive].min() < k:
        small = int(np.argmin(np.where(alive, sizes, np.iinfo(np.int64).max)))
        used = cells.observed[small]
        alive[small] = False
        others = np.flatnonzero(alive & (pattern == pattern[small]))
        if not len(others):
            raise InputError(
                f"all strata together have only {sizes[small]} records like "
                f"'{cells.names[small]}', fewer than k={k}: leave them out (",
                option("small_strata", "suppress"),
                " or ",
                option("missing", "drop"),
                ")",
            )
        compared = used[kinds[used] != NOMINAL]
        far = np.square(centroids[small, compared] - centroids[np.ix_(others, compared)]).sum(
            axis=1
        )
        into = int(others[np.argmin(far)])
        total = sizes[small] + sizes[into]
        centroids[into] = (
            sizes[small] * centroids[small] + sizes[into] * centroids[into]
        ) / total  # fmt: skip
        sizes[into] = total
        members[into] += members[small]
    left = np.flatnonzero(alive)
    number = np.empty(len(sizes), dtype=np.int64)
    for new, last in enumerate(left):
        number[members[last]] = new
    names = [" + ".join(cells.names[m] for m in sorted(members[c])) for c in left]
    return replace(
        cells,
        cell=number[cells.cell],
        observed=[cells.observed[c] for c in left],
        names=names,
        merged=[names[new] for new, c in enumerate(left) if len(members[c]) > 1],
    )
