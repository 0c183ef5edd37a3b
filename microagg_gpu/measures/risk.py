"""What an intruder can find out: record linkage, interval disclosure, range inference.

Values may be missing (NaN), in the same places before and after protection. Measures of a
variable then use its observed values, and a record is linked only with records that miss the
same variables.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import callable_or_none, known_keywords, on_host
from ..engines import choose, nearest_work, set_compiled
from ..errors import InputError
from ..progress import Progress, share
from .checks import as_scale
from .spread import deviations, standard_scale, varies
from .utility import as_pair


class Linkage(NamedTuple):
    """The share of records that distance-based record linkage identifies."""

    share: float
    """Share of records that an intruder with all the original data would identify.

    It counts the published records whose nearest original record is their own; ties are shared.
    """
    at_most: float
    """Distinct published records divided by all records: an upper limit of `share`."""


class Intervals(NamedTuple):
    """Shares of original values close to the published ones, for each variable."""

    ranks: np.ndarray
    """Share within 1, 2, ... 10 percent of the ranks, averaged."""
    near: np.ndarray
    """Share within 5 percent of a standard deviation."""


class Ranges(NamedTuple):
    """What the neighbouring published values reveal, for each variable."""

    inside: np.ndarray
    """Share of original values between the next lower and the next higher published value."""
    width: np.ndarray
    """Median width of this interval in standard deviations, inf if it is open."""
    narrow: np.ndarray
    """Share of original values inside an interval narrower than 5 percent of a deviation."""


NEAR = 0.05
"""An interval of this many standard deviations reveals a value."""


@known_keywords
def record_linkage(
    original: ArrayLike,
    protected: ArrayLike,
    cells: ArrayLike | None = None,
    *,
    scale: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Linkage:
    """Return the share of records that an intruder with all the original data would identify.

    This is distance-based record linkage (Pagliuca and Seri 1999; Domingo-Ferrer and Torra 2001,
    A quantitative comparison of disclosure control methods for microdata). The intruder links
    each published record to the nearest original record. Let N_i be the original records nearest
    to published record i. Record i counts ``1 / |N_i|`` if it is in N_i, else 0, because the
    intruder guesses among records that are equally near. Over m equal published records the sum
    is at most 1, since they share one N_i. So the share is at most the number of distinct
    published records divided by n (`at_most`). Lower is better.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; NaN marks a missing value of both.
    cells : array_like of n integers, optional
        The stratum of each record, or whatever else is published unchanged: only records with
        the same number, and with the same variables missing, are compared.
    scale : array_like of p numbers, optional
        Factor of each variable. The default is 1 / its original standard deviation.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Linkage
    """
    before, after = as_pair(original, protected)
    n = len(before)
    unit = standard_scale(before) if scale is None else as_scale(scale, before.shape[1])
    callable_or_none("progress", progress)
    before, after = before * unit, after * unit
    seen = with_patterns(before, cells)
    # Rows are numbered in order, so the rows of a stratum are consecutive.
    first, member = distinct_rows(np.column_stack([seen, after]))
    stops = np.cumsum(np.bincount(seen[first]))
    work = nearest_work(n, len(first), before.shape[1])
    engine = choose(before, "cpu", work=work)[1]
    hits, done, start = 0.0, 0, 0
    for records in _runs(np.argsort(seen, kind="stable"), seen):
        size, stop = len(records), int(stops[seen[records[0]]])
        part = share(progress, done, size, n)
        known = np.flatnonzero(~np.isnan(before[records[0]]))
        if len(known) == 0:
            hits += 1.0
        else:
            points, asked = before[np.ix_(records, known)], after[np.ix_(first[start:stop], known)]
            squares, _, ties = engine.nearest_records(points, asked, progress=part)
            row = member[records] - start
            own = _squares(points, asked[row])
            hits += float(np.sum((own == squares[row]) / ties[row]))
        done, start = done + size, stop
        part(1.0)
    set_compiled(engine, work)
    return Linkage(hits / n, len(first) / n)


def _squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distances row by row, rounded as the engines do: variables in order."""
    total = np.zeros(len(a))
    for x, y in zip(a.T, b.T, strict=True):
        total += (x - y) ** 2
    return total


def _runs(order: np.ndarray, key: np.ndarray) -> list[np.ndarray]:
    """Cut indices that are sorted by a key where the key changes."""
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def with_patterns(data: np.ndarray, cells: ArrayLike | None = None) -> np.ndarray:
    """Number the records by stratum and by missing variables: 0, 1, ..."""
    try:
        given = np.zeros(len(data)) if cells is None else on_host(cells)
        number = np.unique(given, return_inverse=True)[1]
    except (TypeError, ValueError, RuntimeError):  # of different lengths, or without an order
        raise InputError("cells must be numbers or texts, one for each record.") from None
    if given.shape != (len(data),):
        raise InputError(
            f"cells have shape {given.shape}; give one for each of {len(data)} records."
        )
    missing = np.isnan(data)
    columns = [number, *missing.T[missing.any(axis=0)]]
    return distinct_rows(np.column_stack(columns).astype(np.float64))[1]


def distinct_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first record of each distinct row, and the number of each record's row.

    Missing values count as equal.
    """
    order = np.lexsort(matrix.T[::-1])
    new = np.zeros(len(matrix), dtype=bool)
    for column in matrix.T:
        ranked = column[order]
        new[1:] |= (ranked[1:] != ranked[:-1]) & ~(np.isnan(ranked[1:]) & np.isnan(ranked[:-1]))
    number = np.empty(len(matrix), dtype=np.int64)
    number[order] = np.cumsum(new)
    new[0] = True
    return order[new], number


@known_keywords
def interval_disclosure(original: ArrayLike, protected: ArrayLike) -> Intervals:
    """Return the shares of original values that lie in an interval around the published ones.

    `ranks` is the measure of Domingo-Ferrer and Torra (2001), A quantitative comparison of
    disclosure control methods for microdata. The n published values of a variable are ranked.
    Around the rank of a published value (the mean rank of equal values) an interval reaches p
    percent of n ranks down and up; it ends with the published values at the last ranks inside.
    The share of original values in the intervals of their own published values is averaged over
    p = 1, 2, ... 10. `near` is the share within `NEAR` standard deviations of the published
    value, like SDID of Mateo-Sanz, Sebe and Domingo-Ferrer (2004), Outlier protection in
    continuous microdata masking.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; NaN marks a missing value of both.

    Returns
    -------
    Intervals
        NaN for a variable that is constant or empty in the original.
    """
    before, after = as_pair(original, protected)
    ranks, near = np.full((2, before.shape[1]), np.nan)
    spread = deviations(before)
    for j in np.flatnonzero(varies(before)):
        there = ~np.isnan(before[:, j])
        order = np.argsort(after[there, j])
        x, ranked = before[there, j][order], after[there, j][order]
        near[j] = np.mean(np.abs(x - ranked) <= NEAR * spread[j])
        n = len(ranked)
        first = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
        counts = np.diff(first, append=n)
        # Twice the mean rank, counted from 0, is a whole number.
        twice = 2 * first + counts - 1
        shares = []
        for percent in range(1, 11):
            reach = 2 * percent * n  # hundredths of half ranks: exact
            low = np.maximum(-((reach - 100 * twice) // 200), 0)
            high = np.minimum((100 * twice + reach) // 200, n - 1)
            above = np.repeat(ranked[low], counts) <= x
            shares.append(np.mean(above & (x <= np.repeat(ranked[high], counts))))
        ranks[j] = np.mean(shares)
    return Intervals(ranks, near)


@known_keywords
def range_inference(
    original: ArrayLike, protected: ArrayLike, cells: ArrayLike | None = None
) -> Ranges:
    """Return how well the neighbouring published values enclose the original ones.

    2002 section 6 warns of this for individual ranking: the true value of a record in the i-th
    group lies between the averages of groups i-1 and i+1, and if these are close together, an
    intruder practically knows the value. Here the interval of a record goes from the next lower
    to the next higher distinct published value of the variable. The intervals of the lowest and
    the highest value are open on one side and never narrow.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; NaN marks a missing value of both.
    cells : array_like of n integers, optional
        As in `record_linkage`: an intruder takes the neighbours in the stratum of the record.

    Returns
    -------
    Ranges
        NaN for a variable that is constant or empty in the original.
    """
    before, after = as_pair(original, protected)
    inside, width, narrow = np.full((3, before.shape[1]), np.nan)
    spread = deviations(before)
    cell = with_patterns(np.empty((len(before), 0)), cells)
    for j in np.flatnonzero(varies(before)):
        there = ~np.isnan(before[:, j])
        x = before[there, j]
        first, member = distinct_rows(np.column_stack([cell[there], after[there, j]]))
        values, of_cell = after[there, j][first], cell[there][first]
        edge = np.flatnonzero(np.diff(of_cell)) + 1
        below = np.insert(values[:-1], 0, -np.inf)
        above = np.append(values[1:], np.inf)
        below[edge], above[edge - 1] = -np.inf, np.inf
        within = (below[member] <= x) & (x <= above[member])
        widths = ((above - below) / spread[j])[member]
        inside[j] = np.mean(within)
        # The higher of the two middle widths: the mean of a width and inf is meaningless.
        width[j] = np.partition(widths, len(widths) // 2)[len(widths) // 2]
        narrow[j] = np.mean(within & (widths < NEAR))
    return Ranges(inside, width, narrow)
