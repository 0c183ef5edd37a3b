"""What is published for a group: the mean, median or trimmed mean; of categories median or mode."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..data.columns import NOMINAL, NUMBER
from ..errors import InputError, option
from ..settings import DEFAULT, Decimals, Settings
from .partition import Partition
from .problem import Problem


def aggregate(
    partition: Partition,
    values: np.ndarray,
    how: str = "mean",
    kinds: np.ndarray | None = None,
    sampling: np.ndarray | None = None,
    trim: float = DEFAULT.trim,
) -> np.ndarray:
    """Replace each record by what is published for its group.

    Parameters
    ----------
    values : array of shape (n, p)
        Numbers, and categories by their numbers. Where a value is missing (NaN), it is so in the
        whole group.
    how : {"mean", "median", "trimmed"}
        For numbers. "trimmed" is the mean without the lowest and the highest values of the
        group, a share of ``trim`` each and at least one in groups of three or more.
    kinds : int array of shape (p,), optional
        An ordinal variable gets the median category (of two the lower), a nominal one the most
        frequent (of several the first).
    sampling : array of shape (n,), optional
        Sampling weights: means become weighted ones, medians those of half the weight, and
        categories count by weight.
    """
    if how == "mean" and sampling is None and (kinds is None or not kinds.any()):
        return partition.protect(values)
    groups = _Groups(partition, sampling, trim)
    kinds = np.zeros(values.shape[1], dtype=np.int64) if kinds is None else kinds
    columns = []
    for column, kind in zip(values.T, kinds, strict=True):
        if kind == NOMINAL:
            centre = groups.mode(column)
        elif kind != NUMBER:
            centre = groups.median(column, lower=True)
        else:
            centre = {"mean": groups.mean, "median": groups.median, "trimmed": groups.trimmed}[how](
                column
            )
        columns.append(centre[partition.labels])
    return np.stack(columns, axis=1)


def aggregate_integers(
    partition: Partition,
    integers: np.ndarray,
    how: str = "mean",
    sampling: np.ndarray | None = None,
    trim: float = DEFAULT.trim,
) -> np.ndarray:
    """Replace each integer by what is published for its group, rounded half to even.

    Without sampling weights the result is exact: no integer of 64 bits loses a digit. With them
    it is as exact as a double can tell apart the values of a group. It never leaves the range of
    its group.

    Parameters
    ----------
    integers : int64 or uint64 array of shape (n,)
    how, sampling, trim
        As in `aggregate`.
    """
    groups = _Groups(partition, sampling, trim)
    return groups.integers(integers, how)[partition.labels]


class _Groups:
    """The groups of a partition, with the weights of their records."""

    def __init__(self, partition: Partition, sampling: np.ndarray | None, trim: float) -> None:
        self.labels, self.sizes = partition.labels, partition.sizes
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.weighted = sampling is not None
        self.weights = np.ones(len(self.labels)) if sampling is None else sampling
        self.trim = trim

    def _ranked(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights group by group, from the lowest to the highest."""
        order = np.lexsort((column, self.labels))
        return column[order], self.weights[order]

    def _sums(self, ranked: np.ndarray) -> np.ndarray:
        return np.add.reduceat(ranked, self.starts)

    def mean(self, column: np.ndarray) -> np.ndarray:
        values, weights = self._ranked(column)
        return self._within(values, self._sums(weights * values) / self._sums(weights))

    def _within(self, values: np.ndarray, means: np.ndarray) -> np.ndarray:
        """A mean never leaves the range of its group, whatever the rounding."""
        return np.clip(means, values[self.starts], values[self.starts + self.sizes - 1])

    def trimmed(self, column: np.ndarray) -> np.ndarray:
        values, weights = self._ranked(column)
        weights = np.where(self._inner(), weights, 0.0)
        return self._within(values, self._sums(weights * values) / self._sums(weights))

    def _inner(self) -> np.ndarray:
        """Which of the ranked records are not trimmed: not the lowest or highest of their group."""
        ends = np.floor(self.trim * self.sizes + 1e-9).astype(np.int64)  # 0.29 * 100 is below 29
        ends = np.clip(ends, np.minimum(1, (self.sizes - 1) // 2), (self.sizes - 1) // 2)
        place = np.arange(len(self.labels)) - np.repeat(self.starts, self.sizes)
        low, high = np.repeat(ends, self.sizes), np.repeat(self.sizes - ends, self.sizes)
        return (place >= low) & (place < high)

    def median(self, column: np.ndarray, lower: bool = False) -> np.ndarray:
        values, weights = self._ranked(column)
        low, high = self._middle(weights)
        if lower:
            return values[low]
        return values[low] + (values[high] - values[low]) / 2

    def _middle(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Places of the lower and the upper median of each group among the ranked records."""
        if not self.weighted:
            return self.starts + (self.sizes - 1) // 2, self.starts + self.sizes // 2
        # The first value at which half the weight is reached; exactly half: this and the next.
        reached = np.cumsum(weights)
        before = np.repeat((reached - weights)[self.starts], self.sizes)
        twice = 2 * (reached - before)
        total = np.repeat(self._sums(weights), self.sizes)
        low = self.starts + self._sums((twice < total).astype(np.int64))
        high = self.starts + self._sums((twice <= total).astype(np.int64))
        last = self.starts + self.sizes - 1
        return np.minimum(low, last), np.minimum(high, last)

    def integers(self, column: np.ndarray, how: str) -> np.ndarray:
        """The mean, median or trimmed mean of integers, to the last digit.

        Computed as differences from the lowest value of the group. These fit in 64 bits without
        a sign, whatever the range of the group, since that arithmetic is modulo 2^64.
        """
        ranked, weights = self._ranked(column)
        bits = ranked.view(np.uint64)
        lowest = bits[self.starts]
        above = bits - np.repeat(lowest, self.sizes)
        if how == "median":
            low, high = self._middle(weights)
            apart = above[high] - above[low]
            whole, rest = above[low] + apart // 2, apart % 2
            more, tie = np.zeros(len(rest), dtype=bool), rest == 1
        elif self.weighted:
            if how == "trimmed":
                weights = np.where(self._inner(), weights, 0.0)
            means = self._sums(weights * above) / self._sums(weights)
            means = np.minimum(means, float(np.nextafter(2.0**64, 0.0)))
            whole = means.astype(np.uint64)  # rounded down
            more, tie = means - np.floor(means) > 0.5, means - np.floor(means) == 0.5
        else:
            inner = self._inner() if how == "trimmed" else np.ones(len(above), dtype=bool)
            whole, rest, count = self._exact_means(np.where(inner, above, np.uint64(0)), inner)
            more, tie = 2 * rest > count, 2 * rest == count
        odd = (lowest + whole) % 2 == 1
        centre = whole + (more | (tie & odd)).astype(np.uint64)
        centre = np.minimum(centre, above[self.starts + self.sizes - 1])
        return (lowest + centre).view(column.dtype)

    def _exact_means(
        self, above: np.ndarray, counted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Quotient, remainder and divisor of means, by sums of the upper and lower 32 bits."""
        count = self._sums(counted.astype(np.uint64))
        upper, lower = self._sums(above >> np.uint64(32)), self._sums(above & np.uint64(2**32 - 1))
        rest = ((upper % count) << np.uint64(32)) + lower
        return ((upper // count) << np.uint64(32)) + rest // count, rest % count, count

    def mode(self, column: np.ndarray) -> np.ndarray:
        values, weights = self._ranked(column)
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        missing = np.isnan(values)
        new = np.ones(len(values), dtype=bool)
        same = (values[1:] == values[:-1]) | (missing[1:] & missing[:-1])
        new[1:] = ~(same & (labels[1:] == labels[:-1]))
        runs = np.flatnonzero(new)
        counts = np.add.reduceat(weights, runs)
        best = np.lexsort((values[runs], -counts, labels[runs]))
        first = np.searchsorted(labels[runs][best], np.arange(len(self.sizes)))
        return values[runs][best][first]


class Rounding(NamedTuple):
    """What rounding did to the total of a variable; weighted if there are sampling weights.

    Attributes
    ----------
    name : str
    decimals : int
    total : float
        Before rounding.
    change : float
        By rounding.
    size : float
        The total of the absolute values before rounding, which is not near 0 if they are not.
    """

    name: str
    decimals: int
    total: float
    change: float
    size: float


@dataclass(frozen=True)
class Published:
    """What is published for each record, in the units of the data.

    Attributes
    ----------
    values : float array of shape (m, p)
    exact : dict of integer arrays of shape (m,)
        The same of variables in `Table.exact` if integers are kept, to the last digit.
    weights : array of shape (m,), optional
        The mean sampling weight of each record's group, if it is published.
    rounding : list of Rounding
        What rounding did to the totals of the variables, and of the weights.
    """

    values: np.ndarray
    exact: dict[int, np.ndarray] = field(default_factory=dict)
    weights: np.ndarray | None = None
    rounding: list[Rounding] = field(default_factory=list)


def publish(problem: Problem, parts: list[Partition], settings: Settings) -> Published:
    """Aggregate each group, round what is to be rounded, and average the weights."""
    kinds, names = problem.table.kinds, problem.table.names
    plain = _aggregated(problem, parts, settings)
    values, exact = plain, dict[int, np.ndarray]()
    decimals = decimals_of(settings.decimals, names)
    if settings.keep_integers:
        values, exact = _with_integers(problem, parts, plain.copy(), settings)
        decimals = {j: d for j, d in decimals.items() if not problem.table.whole[j]}
        decimals |= dict.fromkeys(np.flatnonzero(problem.table.whole & (kinds == NUMBER)), 0)
    elif decimals:
        values = plain.copy()
    decimals = {j: d for j, d in decimals.items() if kinds[j] == NUMBER}
    rounding = []
    for j, d in sorted(decimals.items()):
        if not (settings.keep_integers and problem.table.whole[j]):
            values[:, j] = rounded(values[:, j], d)
        rounding.append(_rounding(names[j], d, plain[:, j], values[:, j], problem.sampling))
    weights = None
    if settings.average_weight:
        weights, change = _average_weights(problem, parts, settings.decimals)
        rounding += change
    return Published(values, exact, weights, rounding)


def rounded(values: np.ndarray, decimals: int) -> np.ndarray:
    """Numbers rounded half to even; those too large to have these decimals stay."""
    with np.errstate(over="ignore", invalid="ignore"):
        small = np.abs(values) * 10.0**decimals < 2**53
        return np.where(small, np.round(values, decimals) + 0.0, values)  # and never -0.0


def decimals_of(given: Decimals | None, names: list[str]) -> dict[int, int]:
    """The decimals of variables that are rounded, by their places."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {j: given[name] for j, name in enumerate(names) if name in given}
    return dict.fromkeys(range(len(names)), given)


def _rounding(
    name: str, decimals: int, before: np.ndarray, after: np.ndarray, sampling: np.ndarray | None
) -> Rounding:
    weights = 1.0 if sampling is None else sampling
    total, change, size = (
        float(np.nansum(weights * values)) for values in (before, after - before, np.abs(before))
    )
    return Rounding(name, decimals, total, change, size)


def no_weight_to_average() -> InputError:
    """The error if weights are to be averaged and no column has them."""
    return InputError(
        option("average_weight", True),
        " publishes the mean weight of each group: name the column of weights with ",
        option("sampling_weight"),
    )


def _average_weights(
    problem: Problem, parts: list[Partition], decimals: Decimals | None
) -> tuple[np.ndarray, list[Rounding]]:
    """The mean weight of each record's group, rounded if asked for."""
    column = problem.table.roles.sampling_weight
    if problem.sampling is None or isinstance(column, np.ndarray):
        raise no_weight_to_average()
    if len(parts) > 1:
        raise InputError(
            "individual ranking and blocks have no groups of whole records to average weights in: "
            "leave out ",
            option("average_weight", True),
        )
    weights = parts[0].protect(problem.sampling[:, np.newaxis])[:, 0]
    places = decimals_of(decimals, [str(column)]).get(0)
    if places is None:
        return weights, []
    new = rounded(weights, places)
    new = np.where(new > 0, new, weights)  # a weight of 0 would take the record out
    return new, [_rounding(str(column), places, weights, new, None)]


def _aggregated(problem: Problem, parts: list[Partition], settings: Settings) -> np.ndarray:
    kinds, values = problem.table.kinds, problem.values
    how, sampling, trim = settings.aggregate, problem.sampling, settings.trim
    if len(parts) == 1:
        return aggregate(parts[0], values, how, kinds, sampling, trim)
    return np.hstack(
        [
            aggregate(part, values[:, [j]], how, kinds[[j]], sampling, trim)
            for j, part in enumerate(parts)
        ]
    )


def _with_integers(
    problem: Problem, parts: list[Partition], result: np.ndarray, settings: Settings
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """What is published, with integers in columns of integers."""
    kinds, values = problem.table.kinds, problem.values
    exact: dict[int, np.ndarray] = {}
    for j in np.flatnonzero(problem.table.whole & (kinds == NUMBER)).tolist():
        known = ~np.isnan(values[:, j])
        if j in problem.table.exact:
            integers = problem.table.exact[j][problem.cells.kept]
        elif np.abs(values[known, j]).max(initial=0) > 2**53:  # such as Int128
            raise InputError(
                f"column {problem.table.names[j]} holds integers above 2^53 that cannot be kept to "
                "the last digit here: leave out keep_integers"
            )
        else:
            integers = np.where(known, values[:, j], 0).astype(np.int64)
        new = aggregate_integers(
            parts[j % len(parts)], integers, settings.aggregate, problem.sampling, settings.trim
        )
        result[known, j] = new[known]
        if j in problem.table.exact:
            exact[j] = new
    return result, exact
