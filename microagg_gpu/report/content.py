"""The content of the report as plain Python values, for the JSON file and the HTML page.

All shares are percentages, like the loss.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import __version__
from ..checks import (
    as_floats,
    as_list,
    callable_or_none,
    comparison_rows,
    known_keywords,
    mapping,
    number,
    plain_text,
    true_or_false,
    whole_floats,
    whole_number,
)
from ..data.labels import numbered
from ..errors import InputError, as_text, shown
from ..kernels.protocol import Progress
from ..measures.checks import as_labels, as_scale, as_weights
from ..measures.groups import oversized
from ..measures.records import RecordRisk, record_risk
from ..measures.risk import Linkage, distinct_rows, record_linkage, with_patterns
from ..measures.spread import standard_scale
from ..measures.utility import as_pair, il1s, sums_of_squares
from .analysis import RECORDS, KnownRisk, OutsideRisk, analysis, at_risk
from .categories import checked_category, compared
from .variables import densities, figures_by_stratum, structure, variables, weighted_losses
from .wording import summary

SHOWN_SIZES = 40


@known_keywords
def describe(
    original: ArrayLike,
    protected: ArrayLike,
    *,
    names: Sequence[str],
    k: int | None,
    labels: ArrayLike | None = None,
    blocks: Sequence[Sequence[str]] | None = None,
    cells: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sampling_weight: ArrayLike | None = None,
    categories: Sequence[dict[str, Any]] | None = None,
    provenance: dict[str, Any] | None = None,
    alternatives: Sequence[dict[str, Any]] | None = None,
    method: str | None = None,
    strata: ArrayLike | None = None,
    loss: float | None = None,
    weighted_loss: float | None = None,
    measured: Sequence[ArrayLike] | None = None,
    link: Linkage | None = None,
    verdict: Mapping[str, Any] | None = None,
    rounding: Sequence[Mapping[str, Any]] = (),
    dominance: Mapping[str, Any] | None = None,
    more: bool = False,
    risks: RecordRisk | None = None,
    positions: ArrayLike | None = None,
    known: KnownRisk | None = None,
    outside: OutsideRisk | None = None,
    closeness: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return all measures of protected data, ready for `json.dumps` and for `page`.

    Parameters
    ----------
    original, protected : array_like, n x p
        The same records before and after protection, in the original units. NaN marks a missing
        value and must be in the same places of both. p may be 0 if there are `categories`.
    names : sequence of str
        Names of the variables.
    k : int or None
        The minimum group size that was requested, None if it is unknown.
    labels : array_like of int, (n,) or (n, p), optional
        Group of each record, or of each value (individual ranking); a negative label means no
        group. By default records with the same published values form a group.
    blocks : sequence of sequence of str, optional
        Variables that were grouped together, if labels are those of values and not of each
        variable by itself.
    cells : array_like of n integers, optional
        The stratum of each record, or whatever else is published unchanged: an intruder only
        compares records with the same number.
    scale : array_like of p numbers, optional
        Factor of each variable in loss and distances. The default is 1 / its original standard
        deviation.
    sampling_weight : array_like of n numbers, optional
        Sampling weights; the report then adds weighted means and standard deviations.
    categories : sequence of dict, optional
        Ordinal and nominal variables: "name", "kind", and the texts "before" and "after".
    provenance : dict, optional
        Provenance: what was done and with which settings, shown unchanged and in this order.
    alternatives : sequence of dict, optional
        Other runs for the risk-utility map: "method", "k", "loss" and "risk" (the linkage), both
        in percent, "seconds", and "records" if they used a sample of so many.
    method : str, optional
        The method of this run, for the risk-utility map.
    strata : array_like of n texts, optional
        The name of each record's stratum; the content then has figures for each ("by_stratum").
    measured : pair of array_like, n x p, optional
        Both files as their differences count in loss and distances, such as logarithms. The
        default is the values themselves.
    loss, weighted_loss, link : float, float, Linkage, optional
        Losses and linkage of numeric and categorical variables together, if there are categories.
        The default is those of the numeric variables.
    verdict : dict, optional
        Whether k holds over all published columns, as `Verdict.as_dict` says it.
    rounding : sequence of dict, optional
        What rounding did to totals, as `Result.rounding` says it.
    dominance : dict, optional
        Whether the groups obey a rule on their contributors, as `Result.dominance` says it.
    more : bool
        Add the measures that take long: pMSE, the best one-to-one matching, and the risk of each
        record if there are more than 50,000.
    risks : RecordRisk, optional
        Risks of numeric and ordinal variables together, if there are categories.
    positions : array_like of n integers, optional
        Where each record stands in the original file, from 0. The default is in this order.
    known, outside : KnownRisk, OutsideRisk, optional
        What an intruder finds who knows some columns, or has an outside file.
    closeness : dict, optional
        What the groups give away of a sensitive attribute, as `Result.closeness` says it.
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    dict
        Dicts, lists, texts and numbers only; None for values that are not defined. "risk" has
        the same figures of the records "before" and "after": "linkage", "smallest" (the fewest
        records with equal values), and the shares that are "unique" and "below_k".
    """
    before, after = as_pair(original, protected)
    n, p = before.shape
    names = [as_text(name) for name in as_list(names)]
    if len(names) != p:
        raise InputError(f"{len(names)} names for {p} variables; give one for each.")
    k = None if k is None else whole_number("k", k, 1)
    loss = None if loss is None else number("loss", loss)
    _check_kind("link", link, Linkage)
    _check_kind("risks", risks, RecordRisk)
    _check_kind("known", known, KnownRisk)
    _check_kind("outside", outside, OutsideRisk)
    more = true_or_false("more", more)
    callable_or_none("progress", progress)
    provenance = mapping("provenance", provenance)
    alternatives = comparison_rows("alternatives", alternatives)
    categories = [
        checked_category(category) for category in as_list(() if categories is None else categories)
    ]
    comparisons = [compared(n, **category) for category in categories]
    ordinal = [
        category["before"]
        for category, checked in zip(categories, comparisons, strict=True)
        if checked["kind"] == "ordinal"
    ]
    published = [np.asarray(category["after"], dtype=str) for category in categories]
    seen = with_patterns(before, cells)
    groups = _groups(after, seen, published, labels)
    together = None if blocks is None else [_texts(block) for block in as_list(blocks)]
    parts = _each_once(np.atleast_2d(groups.T), names, together)
    sizes = [numbered(part[part >= 0])[1] for part in parts if (part >= 0).any()]
    if not sizes:
        raise InputError("labels are all negative: no record is in a group.")
    all_sizes = np.concatenate(sizes)

    unit = standard_scale(before) if scale is None else as_scale(scale, p)
    old, new = (before, after) if measured is None else as_pair(*_two(measured))
    if old.shape != before.shape:
        raise InputError(f"measured has shape {old.shape} for records of shape {before.shape}.")
    sums = sums_of_squares(old, new, unit)
    sse, sst = float(sums.sse.sum()), float(sums.sst.sum())
    if p and link is None:
        link = record_linkage(old, new, cells, scale=unit, progress=progress)
    if loss is None:
        loss = 100 * sse / sst if sst > 0 else 0.0
    weight = None if sampling_weight is None else as_weights(sampling_weight, n)
    rows = variables(before, after, names, strata=seen, sums=sums, weight=weight)
    if weight is not None:
        lost = weighted_losses(old, new, unit, weight)
        weighted_loss = (
            lost.total if weighted_loss is None else number("weighted_loss", weighted_loss)
        )
        for row, share in zip(rows, lost.by_variable, strict=True):
            row["weighted_loss"] = share
    if p and risks is None and (more or n <= RECORDS):
        risks = record_risk(old, new, cells, scale=unit)
    equal = _sharing(after, seen, [c["after"] for c in categories])
    by_stratum = None
    if strata is not None:
        by_stratum = figures_by_stratum(
            before, after, names, strata=_strata(strata, n), seen=seen, groups=groups, scale=unit,
            measured=(old, new), weight=weight, linked=not categories,
        )  # fmt: skip
    content = {
        "verdict": None if verdict is None else mapping("verdict", verdict),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": __version__,
        "method": None if method is None else plain_text("method", method),
        "records": n,
        "variables": p,
        "k": k,
        "groups": len(all_sizes),
        "smallest": all_sizes.min(),
        "largest": all_sizes.max(),
        "individual": groups.ndim == 2,
        "blocks": together,
        "cells": seen.max() + 1,
        "missing": np.count_nonzero(np.isnan(before)),
        "weight": None if weight is None else weight.sum(),
        "loss": loss,
        "weighted_loss": None if weight is None else weighted_loss,
        "sse": sse,
        "ssa": sums.ssa.sum(),
        "sst": sst,
        "il1s": il1s(before, after).total if p else None,
        "risk": {
            **_risk(link, rows),
            "before": {
                "linkage": _linked(before, seen, ordinal) if link else None,
                **_shared(_sharing(before, seen, [c["before"] for c in categories]), k),
            },
            "after": {"linkage": 100 * link.share if link else None, **_shared(equal, k)},
        },
        "oversized": oversized(np.repeat(np.arange(len(all_sizes)), all_sizes), k)._asdict()
        if k
        else None,
        **structure(before, after, names),
        "analysis": analysis(
            before, after, names, weight=weight, cells=seen, measured=(old * unit, new * unit),
            more=more,
        ),
        "at_risk": None if risks is None else at_risk(risks, equal, _places(positions, n)),
        "known": None if known is None else known._asdict(),
        "outside": None if outside is None else outside._asdict(),
        "by_variable": rows,
        "densities": densities(before, after, names, sums.sse),
        "group_sizes": _sizes(all_sizes),
        "categories": comparisons,
        "by_stratum": by_stratum,
        "provenance": {str(key): _text(value) for key, value in provenance.items()},
        "rounding": [mapping("rounding", change) for change in as_list(rounding)],
        "dominance": None if dominance is None else mapping("dominance", dominance),
        "closeness": None if closeness is None else mapping("closeness", closeness),
        "alternatives": alternatives,
    }  # fmt: skip
    plain = _plain(content)
    return {"summary": summary(plain), **plain}


def _check_kind(name: str, value: Any, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise InputError(f"{name}={shown(value)} must be a {kind.__name__}, or left out")


def _risk(link: Linkage | None, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The risk of the published records, over all variables."""
    return {
        "linkage": 100 * link.share if link else None,
        "linkage_at_most": 100 * link.at_most if link else None,
        **{
            name: _mean(row["risk"][name] for row in rows)
            for name in ("ranks", "near", "inside", "narrow")
        },
    }


def _texts(block: Any) -> list[str]:
    return [as_text(name) for name in as_list(block)]


def _each_once(
    groups: np.ndarray, names: list[str], blocks: list[list[str]] | None
) -> list[np.ndarray]:
    """The labels of each variable, or of one variable of each block."""
    if blocks is None or len(groups) == 1:
        return list(groups)
    firsts = [next((name for name in block if name in names), None) for block in blocks]
    return [groups[names.index(name)] for name in firsts if name is not None]


def _two(measured: Any) -> list[Any]:
    pair = as_list(measured)
    if len(pair) != 2:
        raise InputError(f"measured={shown(measured)} must be two matrices, before and after.")
    return pair


def _strata(given: ArrayLike, n: int) -> np.ndarray:
    try:
        names = np.asarray(given, dtype=str)
    except (TypeError, ValueError, RuntimeError):
        names = np.empty(0, dtype=str)
    if names.shape != (n,):
        raise InputError(f"strata must be {n} texts, one for each record.")
    return names


def _codes(texts: Iterable[ArrayLike]) -> list[np.ndarray]:
    return [np.unique(np.asarray(part, dtype=str), return_inverse=True)[1] for part in texts]


def _places(positions: ArrayLike | None, n: int) -> np.ndarray:
    wrong = f"positions must be {n} whole numbers, one for each record."
    if positions is None:
        return np.arange(n)
    places = whole_floats(as_floats(positions, wrong))
    if places.shape != (n,) or places.dtype.kind != "i":
        raise InputError(wrong)
    return places


def _sharing(data: np.ndarray, seen: np.ndarray, texts: list[ArrayLike]) -> np.ndarray:
    """How many records share the values of each one.

    Values are those of the variables, the strata, and which values are missing.
    """
    number = distinct_rows(np.column_stack([seen, *_codes(texts), data]))[1]
    return np.bincount(number)[number]


def _shared(sharing: np.ndarray, k: int | None) -> dict[str, Any]:
    """The fewest records that share all their values, and shares of unique ones and below k."""
    return {
        "smallest": sharing.min(),
        "unique": 100 * np.mean(sharing == 1),
        "below_k": None if k is None else 100 * np.mean(sharing < k),
    }


def _linked(before: np.ndarray, seen: np.ndarray, ordinal: list[ArrayLike]) -> float:
    """The linkage of the original records to themselves: each finds its equals, and guesses."""
    first, _ = distinct_rows(np.column_stack([seen, *_codes(ordinal), before]))
    return 100 * len(first) / len(seen)


def _groups(
    after: np.ndarray, strata: np.ndarray, published: list[np.ndarray], labels: ArrayLike | None
) -> np.ndarray:
    """The given labels, or else a number for each distinct published record of a stratum."""
    if labels is None:
        return distinct_rows(np.column_stack([strata, *_codes(published), after]))[1]
    groups = as_labels(labels)
    if groups.shape not in (after.shape[:1], after.shape):
        raise InputError(
            f"labels have shape {groups.shape} for records of shape {after.shape}; give one label "
            "for each record, or one for each value."
        )
    return groups


def _sizes(sizes: np.ndarray) -> list[dict[str, Any]]:
    """Numbers of groups by size, in classes of equal width if there are many sizes."""
    low, high = int(sizes.min()), int(sizes.max())
    width = -(-(high - low + 1) // SHOWN_SIZES)
    counts = np.bincount((sizes - low) // width)
    return [
        {"from": low + i * width, "to": min(low + (i + 1) * width - 1, high), "groups": count}
        for i, count in enumerate(counts)
    ]


def _mean(values: Iterable[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else np.nan


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(as_text, value))
    return as_text(value)


def _plain(value: Any) -> Any:
    """The value in Python's own types, with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
