"""Measures of handbooks and other programs for the report: what analysts find, records at risk."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..measures.inference import coefficient_overlaps, inequality, interval_overlap, pmse
from ..measures.matching import MOST, assignment_linkage, joint_interval_disclosure
from ..measures.matrices import (
    eigenvalue_change,
    inverse_correlation_change,
    matrix_changes,
    mean_distance,
)
from ..measures.records import RecordRisk
from ..measures.spread import varies

MATRICES = {
    "X": "values",
    "V": "covariances",
    "R": "correlations",
    "RF": "correlations of variables and components",
    "C": "communalities",
    "F": "coefficients of components",
}
SHOWN_RECORDS = 20
RECORDS = 50_000  # up to so many records the risk of each is measured unasked
SAMPLE = 5_000  # records of each file that pMSE is estimated from


def analysis(
    before: np.ndarray,
    after: np.ndarray,
    names: Sequence[str],
    *,
    weight: np.ndarray | None,
    cells: np.ndarray,
    measured: tuple[np.ndarray, np.ndarray],
    more: bool,
) -> dict[str, Any] | None:
    """What analysts would find; the measures that take long only with `more`.

    `measured` are the records as distances are measured. Measures of all variables together use the
    records without missing values and the variables that vary before and after.
    """
    if not names:
        return None
    complete = ~np.isnan(before).any(axis=1)
    if not complete.any():
        return None
    used = varies(before[complete]) & varies(after[complete])
    old, new = before[complete][:, used], after[complete][:, used]
    usable = old.shape[1] > 1 and len(old) > 2
    overlap = interval_overlap(before, after)
    slopes = np.full(len(names), np.nan)
    if usable:
        slopes[used] = coefficient_overlaps(old, new)
    known = slopes[~np.isnan(slopes)]
    return {
        "records": np.count_nonzero(complete),
        "interval_overlap": overlap.total,
        "coefficient_overlap": known.mean() if len(known) else None,
        "eigenvalue_change": eigenvalue_change(old, new) if usable else None,
        "gamma": inverse_correlation_change(old, new) if usable else None,
        "lambda": mean_distance(before[complete], after[complete]),
        "joint_intervals": joint_interval_disclosure(before, after),
        "matrices": {name: change._asdict() for name, change in matrix_changes(old, new).items()}
        if usable
        else None,
        "pmse": _pmse(old, new) if more and old.size else None,
        "assignment": _assignment(*measured, cells) if more else None,
        "by_variable": [
            {
                "name": name,
                "interval_overlap": overlap.by_variable[j],
                "coefficient_overlap": slopes[j],
                "inequality": _inequality(before[:, j], after[:, j], weight),
            }
            for j, name in enumerate(names)
        ],
    }


def stratum_analysis(
    old: np.ndarray, new: np.ndarray, weight: np.ndarray | None
) -> list[dict[str, Any]]:
    """Overlap of intervals and inequality of each variable, of the records of a stratum."""
    overlap = interval_overlap(old, new).by_variable
    return [
        {
            "interval_overlap": overlap[j],
            "inequality": _inequality(old[:, j], new[:, j], weight),
        }
        for j in range(old.shape[1])
    ]


def _inequality(
    old: np.ndarray, new: np.ndarray, weight: np.ndarray | None
) -> dict[str, dict[str, float]] | None:
    """Of amounts that are 0 or more before and after; None for others."""
    there = ~np.isnan(old)
    old, new = old[there], new[there]
    if not len(old) or min(old.min(), new.min()) < 0 or old.max() == 0 or new.max() == 0:
        return None
    own = None if weight is None else weight[there]
    return {
        "before": inequality(old, own)._asdict(),
        "after": inequality(new, own)._asdict(),
    }


def _pmse(old: np.ndarray, new: np.ndarray) -> float | None:
    """From a sample of many records; None without scikit-learn."""
    if len(old) > SAMPLE:
        rows = np.random.default_rng(0).choice(len(old), SAMPLE, replace=False)
        old, new = old[rows], new[rows]
    try:
        return pmse(old, new)
    except InputError:
        return None


def _assignment(before: np.ndarray, after: np.ndarray, cells: np.ndarray) -> float | None:
    """None for more records than can be matched, and without SciPy."""
    if np.bincount(cells).max() > MOST:
        return None
    old, new = (np.nan_to_num(data) for data in (before, after))  # cells tell what is missing
    try:
        return assignment_linkage(old, new, scale=np.ones(old.shape[1]), cells=cells)
    except InputError:
        return None


def at_risk(risk: RecordRisk, sizes: np.ndarray, positions: np.ndarray) -> dict[str, Any]:
    """The risk of records: the mean, and those with the highest.

    Of records with the same risk those come first that have more values near the published ones,
    then those that are nearer to them.
    """
    order = np.lexsort([risk.distance, -risk.near, -risk.before, -risk.after])[:SHOWN_RECORDS]
    return {
        "before": 100 * risk.before.mean(),
        "after": 100 * risk.after.mean(),
        "highest": 100 * risk.after.max(),
        "records": [
            {
                "record": positions[i] + 1,
                "equal": sizes[i],
                "before": 100 * risk.before[i],
                "after": 100 * risk.after[i],
                "near": risk.near[i],
                "distance": risk.distance[i],
            }
            for i in order
        ],
    }


class KnownRisk(NamedTuple):
    """What an intruder finds who knows some columns only; chances are in percent."""

    columns: list[str]
    before: float
    after: float
    highest: float
    records: int


class OutsideRisk(NamedTuple):
    """What an intruder finds who has an outside file; shares are in percent."""

    file: str
    columns: list[str]
    records: int
    published: int
    found: float | None
    right: float
    highest: float


def known_risk(columns: Sequence[str], risk: RecordRisk) -> KnownRisk:
    """The mean chance before and after, the highest one, and how many records have it."""
    top = risk.after.max()
    return KnownRisk(
        list(columns), 100 * risk.before.mean(), 100 * risk.after.mean(), 100 * top,
        int(np.count_nonzero(risk.after == top)),
    )  # fmt: skip


def outside_risk(
    file: str, columns: Sequence[str], chances: np.ndarray, published: np.ndarray
) -> OutsideRisk:
    """The share found of the published records, and of all.

    Parameters
    ----------
    chances : array of m numbers
        As `measures.linkage_chances` returns them.
    published : bool array of m
        Which records of the outside file are published.
    """
    return OutsideRisk(
        file, list(columns), len(chances), int(np.count_nonzero(published)),
        100 * chances[published].mean() if published.any() else None,
        100 * chances.mean(), 100 * chances.max(),
    )  # fmt: skip
