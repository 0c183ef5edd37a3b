"""Rules on the contributors of a group: dominance and p %, for amounts that are averaged.

A group of k records gives away a large contributor if the others are small: k times the published
mean is nearly its value. The rules are those of tables of totals, with a group as the cell
(Hundepool, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer and de Wolf 2012,
"Statistical Disclosure Control", the chapter on magnitude tabular data):

- (n, k)-dominance: a group breaks it if its n largest contributors hold more than k percent of
  its total;
- p %: a group breaks it if the second largest contributor can estimate the largest to within p
  percent: total - x1 - x2 < p / 100 * x1.

What the rules leave open is decided here so:

- amounts are absolute values, so that a loss counts by its size;
- a missing value is no contributor, nor is a value of 0. A group of zeros breaks no rule (all of
  its records have the same value, which `Dominance.equal` counts);
- a record of sampling weight w stands for w contributors of its value, as in tau-Argus, and for
  one at least: it is in the file itself. The n largest contributors are then those of the weight
  n, and x1 + x2 those of the weight 2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import known_keywords
from ..data.labels import numbered
from ..errors import InputError, listed
from ..settings import check_dominance, check_p_percent
from .checks import as_labels, as_numbers, as_weights

HALF = 1, 50.0
"""One record holds more than half: its value is nearly the published sum."""
MANY = 1e15  # contributors of one record, at most, so that no sum overflows


@dataclass(frozen=True)
class Rule:
    """What a group may not do; None for a rule that is not asked for."""

    dominance: tuple[int, float] | None = HALF
    p_percent: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.dominance is not None:
            parts.append("({}, {:g})-dominance".format(*self.dominance))
        parts += [] if self.p_percent is None else [f"the {self.p_percent:g} % rule"]
        return " and ".join(parts)


class Dominance(NamedTuple):
    """Groups that break a rule on their contributors, by variable."""

    groups: np.ndarray
    """How many groups break it."""
    records: np.ndarray
    """How many records are in these groups."""
    share: np.ndarray
    """The largest share that the n largest contributors of any group hold, from 0 to 1."""
    record: np.ndarray
    """The largest contributor of that group; of several groups, the first record."""
    equal: np.ndarray
    """How many groups have the same value in every record: it is published as it is."""
    breaking: np.ndarray
    """Whether the group of a record breaks the rule, n x p."""


@dataclass(frozen=True)
class RuleCheck:
    """Whether groups obey a rule: what the command, the report and the result say about it.

    Attributes
    ----------
    rule : str
        The rule in words.
    groups : int
        How many groups there are, of all variables for individual ranking.
    broken : int
        How many of them break the rule in some variable.
    records, broken_records : int
        How many records there are, and how many are in such groups.
    by_variable : list of dict
        "name", "groups" and "records" that break the rule, and "share": the most that the largest
        contributors of a group hold, in percent.
    """

    rule: str
    groups: int
    broken: int
    records: int
    broken_records: int
    by_variable: list[dict[str, Any]]

    def __str__(self) -> str:
        if not self.broken:
            return f"PASS: all {self.groups:,} groups obey {self.rule}"
        most = [f"{row['name']} ({row['groups']:,})" for row in self.by_variable if row["groups"]]
        either = self.rule.replace(" and ", " or ")
        return (
            f"FAIL: {self.broken:,} of the {self.groups:,} groups, with {self.broken_records:,} of "
            f"the {self.records:,} records, break {either}: {listed(most)}"
        )


def check_rule(
    values: np.ndarray,
    labels: np.ndarray,
    rule: Rule,
    names: Sequence[str],
    weights: np.ndarray | None = None,
) -> RuleCheck:
    """Whether groups obey a rule, of all variables together."""
    found = dominance(values, labels, rule.dominance, rule.p_percent, sampling_weight=weights)
    columns = labels.T if labels.ndim == 2 else [labels]
    broken = sum(
        len(
            np.unique(own[found.breaking[:, j] if labels.ndim == 2 else found.breaking.any(axis=1)])
        )
        for j, own in enumerate(columns)
    )
    return RuleCheck(
        str(rule),
        sum(len(np.unique(own[own >= 0])) for own in columns),
        broken,
        int(np.count_nonzero(np.atleast_2d(labels.T)[0] >= 0)),
        int(np.count_nonzero(found.breaking.any(axis=1))),
        [
            {
                "name": name, "groups": int(found.groups[j]), "records": int(found.records[j]),
                "share": 100 * float(found.share[j]),
            }
            for j, name in enumerate(names)
        ],
    )  # fmt: skip


@known_keywords
def dominance(
    original: ArrayLike,
    labels: ArrayLike,
    rule: tuple[int, float] | None = HALF,
    p_percent: float | None = None,
    *,
    sampling_weight: ArrayLike | None = None,
) -> Dominance:
    """Return the groups that break (n, k)-dominance or the p % rule, by variable.

    A group breaks (n, k)-dominance if its n largest contributors hold more than k percent of its
    total, and the p % rule if total - x1 - x2 < p / 100 * x1: then the second largest contributor
    can estimate the largest to within p percent (Hundepool et al. 2012, "Statistical Disclosure
    Control"). Amounts are absolute values. Missing values and zeros are no contributors.

    Parameters
    ----------
    original : array_like, n x p
        The records before protection; NaN where a value is missing.
    labels : array_like of int, (n,) or (n, p)
        Group of each record, or of each value (individual ranking); a negative label is no group.
    rule : pair of numbers, optional
        How many contributors, and percent: (1, 85). None leaves it out.
    p_percent : float, optional
        The percentage of the p % rule; None leaves it out.
    sampling_weight : array_like of n numbers, optional
        A record stands for so many contributors of its value, and for one at least.

    Returns
    -------
    Dominance
        Numbers of groups and records that break either rule, the largest shares, and groups of
        equal values.
    """
    values, groups = as_numbers(original, "original"), as_labels(labels)
    if values.ndim != 2 or values.size == 0 or np.isinf(values).any():
        raise InputError("original must be a matrix of finite numbers, NaN where one is missing.")
    if groups.shape not in (values.shape[:1], values.shape):
        raise InputError(
            f"labels have shape {groups.shape} for records of shape {values.shape}; give one "
            "label for each record, or one for each value."
        )
    given = Rule(check_dominance(rule, "rule"), check_p_percent(p_percent))
    weights = None if sampling_weight is None else as_weights(sampling_weight, len(values))
    n, p = values.shape
    size, columns = amounts(values), np.atleast_2d(groups.T)
    counts, records, equal, record = (np.zeros(p, dtype=np.int64) for _ in range(4))
    share, breaking = np.zeros(p), np.zeros((n, p), dtype=bool)
    for j in range(p):
        own = columns[j % len(columns)]
        for members in same_size(own):
            broken, held = breaks(
                size[members][..., [j]], None if weights is None else weights[members], given
            )
            breaking[members, j] = broken
            counts[j] += np.count_nonzero(broken)
            equal[j] += np.count_nonzero(_equal(values[members, j]))
            most = float(held.max())
            largest = members[held[:, 0] == most]
            tops = largest[np.arange(len(largest)), size[largest, j].argmax(axis=1)]
            if most > share[j] or (most == share[j] > 0 and tops.min() < record[j]):
                share[j], record[j] = most, tops.min()
        records[j] = np.count_nonzero(breaking[:, j])
    return Dominance(counts, records, share, record, equal, breaking)


def amounts(values: np.ndarray) -> np.ndarray:
    """What records contribute to each variable: absolute values, 0 where one is missing.

    Divided by a power of two for each variable, which is exact, so that no sum overflows.
    """
    size = np.abs(np.where(np.isnan(values), 0.0, values))
    return np.ldexp(size, -np.frexp(size.max(axis=0))[1])


def same_size(labels: np.ndarray) -> Iterator[np.ndarray]:
    """The records of the groups of each size, a row for each group; negative labels are none."""
    known = np.flatnonzero(labels >= 0)
    if not len(known):
        return
    numbers, sizes = numbered(labels[known])
    order, starts = known[np.argsort(numbers, kind="stable")], np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        yield order[starts[sizes == size][:, np.newaxis] + np.arange(size)]


def breaks(
    size: np.ndarray, weights: np.ndarray | None, rule: Rule
) -> tuple[np.ndarray, np.ndarray]:
    """Whether groups break a rule in each variable, and the share of their largest contributors.

    Parameters
    ----------
    size : float array of shape (..., s, p)
        What each of the s records of a group contributes, as `amounts` has it.
    weights : float array of shape (..., s), optional
        For how many contributors each record stands; below 1 it counts as 1.
    """
    count, percent = (1, None) if rule.dominance is None else rule.dominance
    order = np.argsort(-size, axis=-2, kind="stable")
    ranked = np.take_along_axis(size, order, axis=-2)
    many = np.ones_like(ranked)
    if weights is not None:
        wide = np.broadcast_to(np.clip(weights, 1.0, MANY)[..., np.newaxis], size.shape)
        many = np.take_along_axis(wide, order, axis=-2)
    before = np.cumsum(many, axis=-2) - many

    def largest(contributors: int) -> tuple[np.ndarray, np.ndarray]:
        """What the largest contributors hold together, and all others."""
        taken = np.clip(contributors - before, 0.0, many)
        return (taken * ranked).sum(axis=-2), ((many - taken) * ranked).sum(axis=-2)

    top, rest = largest(count)
    total = top + rest
    broken = np.zeros(total.shape, dtype=bool)
    if percent is not None:
        broken |= 100 * top > percent * total
    if rule.p_percent is not None:
        broken |= 100 * largest(2)[1] < rule.p_percent * ranked[..., 0, :]
    return broken, np.divide(top, total, out=np.zeros_like(top), where=total > 0)


def _equal(values: np.ndarray) -> np.ndarray:
    """Whether the known values of each group are the same; values is groups x records."""
    known = ~np.isnan(values)
    low = np.where(known, values, np.inf).min(axis=1)
    return known.any(axis=1) & (low == np.where(known, values, -np.inf).max(axis=1))
