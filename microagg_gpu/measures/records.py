"""The risk of each record: what an intruder finds who looks for it in the published file.

`record_linkage` starts from the published records. Here the intruder starts from what is known of
somebody, by an outside file or some variables, and takes the nearest published record.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_floats, callable_or_none, known_keywords, on_host, whole_floats
from ..engines import choose, nearest_work, set_compiled
from ..errors import InputError
from ..progress import Progress, share
from .checks import as_scale
from .risk import NEAR, _squares, distinct_rows, with_patterns
from .spread import deviations, standard_scale
from .utility import as_pair, as_records


class RecordRisk(NamedTuple):
    """The risk of each record."""

    before: np.ndarray
    """Chance to be identified in the original file: 1 / number of records with the same values."""
    after: np.ndarray
    """Chance to be identified in the published file, by whoever knows the original values."""
    near: np.ndarray
    """How many variables have the original value within 5 percent of a standard deviation."""
    distance: np.ndarray
    """Distance between the original and the published values, in standard deviations."""


@known_keywords
def linkage_chances(
    outside: ArrayLike,
    protected: ArrayLike,
    record: ArrayLike | None = None,
    *,
    scale: ArrayLike | None = None,
    outside_cells: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the chance of each record of an outside file to be found in the published file.

    The intruder knows some variables of somebody and looks for the nearest published record among
    those that agree in what is published unchanged. If g different published rows are equally near,
    the intruder picks one of them, and then one of the s records with these values. So the chance
    is 1 / (g s) if the right row is among the nearest, else 0: at most 1 / k with groups of k. This
    is distance-based record linkage as in `record_linkage`, from the other side. Lower is better.

    Parameters
    ----------
    outside : array_like, m x p
        What the intruder knows: the p variables in the units of the published file.
    protected : array_like, n x p
        The published values of the same variables.
    record : array_like of m integers, optional
        Which published record each outside one is, counted from 0; -1 if it is not published. By
        default they are in the same order.
    scale : array_like of p numbers, optional
        Factor of each variable. The default is 1 / its standard deviation outside.
    outside_cells, cells : array_like of m and n numbers or texts, optional
        What is known besides and published unchanged, such as strata: only records with the same
        value, and with the same variables missing, are compared.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    numpy.ndarray
        m chances from 0 to 1; 0 for a record that is not published.
    """
    known, published = as_records(outside, "outside"), as_records(protected, "protected")
    m, n = len(known), len(published)
    if known.shape[1] != published.shape[1]:
        raise InputError(
            f"outside has {known.shape[1]} variables and protected {published.shape[1]}; give the "
            "same."
        )
    own = _positions(record, m, n)
    unit = standard_scale(known) if scale is None else as_scale(scale, known.shape[1])
    callable_or_none("progress", progress)
    if (outside_cells is None) != (cells is None):
        raise InputError("outside_cells and cells belong together; give both or none.")
    both = None
    if cells is not None and outside_cells is not None:
        both = _joined(outside_cells, cells, m, n)
    seen = with_patterns(np.vstack([known, published]), both)
    known, published = known * unit, published * unit
    first, row = distinct_rows(np.column_stack([seen[m:], published]))
    sizes, stratum = np.bincount(row), seen[m:][first]
    work = nearest_work(len(first), m, known.shape[1])
    engine = choose(published, "cpu", work=work)[1]
    chances = np.zeros(m)
    asked = np.flatnonzero((own >= 0) & (seen[:m] == seen[m:][own]))
    order = asked[np.argsort(seen[asked], kind="stable")]
    done = 0
    for records in np.split(order, np.flatnonzero(np.diff(seen[order])) + 1) if len(order) else ():
        start, stop = np.searchsorted(stratum, [seen[records[0]], seen[records[0]] + 1])
        part = share(progress, done, len(records), len(order))
        there = np.flatnonzero(~np.isnan(known[records[0]]))
        rows = row[own[records]]
        if len(there) == 0:
            chances[records] = 1 / sizes[rows]
        else:
            points = published[np.ix_(first[start:stop], there)]
            queries = known[np.ix_(records, there)]
            squares, _, ties = engine.nearest_records(points, queries, progress=part)
            hit = _squares(queries, points[rows - start]) == squares
            chances[records] = hit / (ties * sizes[rows])
        done += len(records)
        part(1.0)
    set_compiled(engine, work)
    return chances


@known_keywords
def record_risk(
    original: ArrayLike,
    protected: ArrayLike,
    cells: ArrayLike | None = None,
    *,
    scale: ArrayLike | None = None,
    progress: Progress | None = None,
) -> RecordRisk:
    """Return the risk of each record, for an intruder who knows its original values.

    Give only some variables to measure the risk if only these are known.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection; NaN marks a missing value of both.
    cells : array_like of n integers, optional
        The stratum of each record, or whatever else is known and published unchanged.
    scale : array_like of p numbers, optional
        Factor of each variable. The default is 1 / its original standard deviation.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    RecordRisk
        The mean of `after` is the share of records that the intruder would identify.
    """
    before, after = as_pair(original, protected)
    unit = standard_scale(before) if scale is None else as_scale(scale, before.shape[1])
    seen = with_patterns(before, cells)
    row = distinct_rows(np.column_stack([seen, before]))[1]
    apart = np.where(np.isnan(before), 0.0, np.abs(before - after))
    near = ~np.isnan(before) & (apart <= NEAR * np.nan_to_num(deviations(before)))
    return RecordRisk(
        1 / np.bincount(row)[row],
        linkage_chances(
            before, after, scale=unit, outside_cells=seen, cells=seen, progress=progress
        ),
        np.count_nonzero(near, axis=1),
        np.sqrt(np.sum((apart * unit) ** 2, axis=1)),
    )


def _positions(record: ArrayLike | None, m: int, n: int) -> np.ndarray:
    wrong = f"record must be {m} whole numbers from -1 to {n - 1}, one for each outside record."
    if record is None:
        if m != n:
            raise InputError(f"{m} outside and {n} published records; say which is which: {wrong}")
        return np.arange(n)
    given = whole_floats(as_floats(record, wrong))
    if given.shape != (m,) or not np.issubdtype(given.dtype, np.integer):
        raise InputError(wrong)
    if (given < -1).any() or (given >= n).any():
        raise InputError(wrong)
    return given


def _joined(outside_cells: ArrayLike, cells: ArrayLike, m: int, n: int) -> np.ndarray:
    try:
        outside, inside = on_host(outside_cells), on_host(cells)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths
        raise InputError("outside_cells and cells must be numbers or texts.") from None
    if outside.shape != (m,) or inside.shape != (n,):
        raise InputError(
            f"outside_cells have shape {outside.shape} and cells {inside.shape}; give one for each "
            f"of {m} outside and {n} published records."
        )
    try:
        return np.concatenate([outside, inside])
    except (TypeError, ValueError):  # types without a common one
        raise InputError("outside_cells and cells must be numbers or texts.") from None
