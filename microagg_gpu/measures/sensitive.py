"""A sensitive attribute in groups: t-closeness, distinct values, and the most frequent one.

t-closeness (Li, Li and Venkatasubramanian 2007): the distribution of the attribute in each group
is at most t away from that of all records, by the Earth mover's distance. Between m ordered values
it is the sum of the absolute differences of cumulative shares, divided by m - 1 (Soria-Comas,
Domingo-Ferrer, Sanchez and Martinez 2015). Between values without order any two are 1 apart, and
it is half the sum of the absolute differences of shares.
"""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import known_keywords, on_host, true_or_false
from ..data.labels import numbered
from ..errors import InputError, as_text
from .checks import as_labels

ROUNDING = 1e-12
"""A distance may be so much above t: it is a sum of rounded numbers."""


class Closeness(NamedTuple):
    """A sensitive attribute in each group, in the order of the labels."""

    distance: np.ndarray
    """How far its distribution is from that of all records, from 0 to 1."""
    distinct: np.ndarray
    """How many different values there are: l of distinct l-diversity."""
    share: np.ndarray
    """The share of the most frequent value, from 0 to 1."""


@dataclass(frozen=True)
class ClosenessCheck:
    """What groups give away of a sensitive attribute, and whether t holds.

    Attributes
    ----------
    name : str
        The attribute.
    t : float or None
        The largest distance that is allowed.
    ordered : bool
        Whether its values have an order.
    groups, beyond : int
        How many groups there are, and how many of them are farther than t.
    distance, mean_distance : float
        The largest and the mean distance of a group.
    distinct : int
        The fewest different values in a group.
    single : int
        How many groups have only one value, which is then known of all their records.
    share : float
        The largest share of one value in a group, from 0 to 1.
    """

    name: str
    t: float | None
    ordered: bool
    groups: int
    beyond: int
    distance: float
    mean_distance: float
    distinct: int
    single: int
    share: float

    def __str__(self) -> str:
        count, name = f"{self.groups:,} groups", self.name
        more = (
            f"a group has at least {self.distinct:,} different value{'s' * (self.distinct != 1)}, "
            f"and the most frequent has at most {100 * self.share:.3g} %"
        )
        if self.t is None:
            return (
                f"the distribution of {name} in {count} is at most {self.distance:.4g} from that "
                f"of all records; {more}"
            )
        if not self.beyond:
            return (
                f"PASS: the distribution of {name} in each of {count} is within t = {self.t:g} of "
                f"that of all records, at most {self.distance:.4g}; {more}"
            )
        return (
            f"FAIL: the distribution of {name} in {self.beyond:,} of {count} is farther than "
            f"t = {self.t:g} from that of all records, up to {self.distance:.4g}; {more}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"sentence": str(self), **asdict(self)}


@known_keywords
def closeness(sensitive: ArrayLike, labels: ArrayLike, ordered: bool | None = None) -> Closeness:
    """Return what each group gives away of a sensitive attribute.

    The distance is the Earth mover's distance of t-closeness. Between m ordered values it is the
    sum of the absolute differences of cumulative shares, divided by m - 1 (Soria-Comas,
    Domingo-Ferrer, Sanchez and Martinez 2015); between values without order it is half the sum of
    the absolute differences of shares.

    Parameters
    ----------
    sensitive : array_like of n numbers or texts
        The attribute; none may be missing.
    labels : array_like of n integers
        Group of each record.
    ordered : bool, optional
        Whether the values have an order; by default numbers have one, and texts do not.

    Returns
    -------
    Closeness
        Of each group, in the order of the labels.
    """
    groups = as_labels(labels)
    codes, numbers = coded(sensitive)
    if groups.shape != codes.shape:
        raise InputError(
            f"labels have shape {groups.shape} for {len(codes)} values; give one for each."
        )
    if ordered is not None:
        numbers = true_or_false("ordered", ordered)
    return Distribution(codes, numbers).groups(codes, groups)


def check_closeness(
    codes: np.ndarray, labels: np.ndarray, ordered: bool, name: str, t: float | None
) -> ClosenessCheck:
    """What groups give away of an attribute, all together."""
    found = Distribution(codes, ordered).groups(codes, labels)
    beyond = 0 if t is None else int(np.count_nonzero(found.distance > t + ROUNDING))
    return ClosenessCheck(
        name, t, ordered, len(found.distance), beyond, float(found.distance.max()),
        float(found.distance.mean()), int(found.distinct.min()),
        int(np.count_nonzero(found.distinct == 1)), float(found.share.max()),
    )  # fmt: skip


def coded(values: ArrayLike, name: str = "sensitive") -> tuple[np.ndarray, bool]:
    """Values as ranks 0, 1, ..., and whether they are numbers."""
    try:
        array = on_host(values)
    except (TypeError, ValueError, RuntimeError):
        array = np.empty(0)
    if array.ndim != 1 or not len(array) or array.dtype.kind not in "biufUO":
        raise InputError(f"{name} must be numbers or texts, one for each record.")
    ordered = array.dtype.kind in "biuf"
    if not ordered:
        texts = [None if x is None or x != x else as_text(x) for x in array.tolist()]
        missing = np.array([text is None for text in texts])
        array = np.array(["" if text is None else text for text in texts])
    else:
        missing = np.isnan(array.astype(np.float64))
    if missing.any():
        raise InputError(
            f"{int(missing.sum())} values of {name} are missing, the first that of record "
            f"{int(missing.argmax()) + 1}, counted from 1: leave out those records"
        )
    return np.unique(array, return_inverse=True)[1].reshape(-1), ordered


class Distribution:
    """The distribution of an attribute over all records, which groups are compared with.

    Parameters
    ----------
    codes : int array of shape (n,)
        Ranks of the values: 0, 1, ..., m - 1.
    ordered : bool
    """

    def __init__(self, codes: np.ndarray, ordered: bool) -> None:
        counts = np.bincount(codes)
        used = counts > 0
        self._rank = np.cumsum(used) - 1
        self.share = counts[used] / len(codes)
        self.ordered = ordered
        # Cumulative shares; the last one is 1 whatever the rounding.
        self._until = np.append(np.cumsum(self.share)[:-1], 1.0)
        self._sums = np.append(0.0, np.cumsum(self._until))

    def groups(self, codes: np.ndarray, labels: np.ndarray) -> Closeness:
        """The distance, different values and most frequent share of groups of some records."""
        number, sizes = numbered(labels)
        ranks = self._rank[codes]
        order = np.lexsort((ranks, number))
        ranks, number = ranks[order], number[order]
        starts = np.cumsum(sizes) - sizes
        new = np.append(True, (np.diff(ranks) != 0) | (np.diff(number) != 0))
        runs = np.flatnonzero(new)  # equal values of a group
        length = np.diff(np.append(runs, len(ranks)))
        first = np.searchsorted(number[runs], np.arange(len(sizes)))
        distinct = np.diff(np.append(first, len(runs)))
        within = length / sizes[number[runs]]
        if self.ordered:
            distance = self._ordered(ranks, number, sizes, starts)
        else:
            distance = np.add.reduceat(np.maximum(within - self.share[ranks[runs]], 0.0), first)
        return Closeness(distance, distinct, np.maximum.reduceat(within, first))

    def _ordered(
        self, ranks: np.ndarray, number: np.ndarray, sizes: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        """Sums of absolute differences of cumulative shares, divided by m - 1.

        The cumulative share of a group is constant from one of its records to the next, so a sum
        between them is one of differences of one sign up to where that of all records passes it,
        and of the other sign from there on: two differences of sums that are known.
        """
        m = len(self.share)
        if m == 1:
            return np.zeros(len(sizes))
        place = np.arange(len(ranks)) - np.repeat(starts, sizes)
        level = (place + 1) / sizes[number]
        end = np.append(ranks[1:], m)
        end[starts + sizes - 1] = m
        turn = np.clip(np.searchsorted(self._until, level), ranks, end)
        sums = self._sums
        below = level * (turn - ranks) - (sums[turn] - sums[ranks])
        above = (sums[end] - sums[turn]) - level * (end - turn)
        total = np.add.reduceat(below + above, starts) + sums[ranks[starts]]
        return np.maximum(total, 0.0) / (m - 1)
