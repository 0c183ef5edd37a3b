"""What must hold of a protected table, recomputed from nothing but the data and the labels.

Plain Python with exact fractions and `math.fsum`; nothing is imported from the library. Each check
returns sentences about what is wrong; none means that all holds.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .containers import Content
from .draw import ARRAYS, Case
from .losses import loss_faults

EPS = 2.0**-52


@dataclass
class Answer:
    """What a call returned."""

    table: Content
    labels: list[Any]  # of each record; of individual ranking a list for each record
    loss: float
    sse: float
    sst: float
    sizes: list[Any]
    dropped: int
    suppressed: int
    merged: int


class Plan:
    """What a case asks for: who is left out, who may share a group, and whether it is refused."""

    def __init__(self, case: Case) -> None:
        self.case = case
        columns, settings = case.columns, case.settings
        n = case.n
        self.pattern = [
            tuple(columns[name][i] is None for name in case.protect) for i in range(n)
        ]  # fmt: skip
        self.stratum = [tuple(columns[name][i] for name in case.by) for i in range(n)]
        self.dropped = [
            i for i in range(n) if settings["missing"] == "drop" and any(self.pattern[i])
        ]
        left = sorted(set(range(n)) - set(self.dropped))
        cells = Counter(self.cell(i) for i in left)
        self.small = {cell for cell, size in cells.items() if size < case.k}
        self.suppressed: list[int] = []
        if settings["small_strata"] == "suppress":
            self.suppressed = [i for i in left if self.cell(i) in self.small]
        self.kept = [i for i in left if i not in set(self.suppressed)]
        self.must_refuse = self._must_refuse(cells, left)
        self.may_refuse = bool(self.must_refuse) or self._may_refuse()

    def cell(self, i: int) -> Any:
        """Stratum and pattern of missing values of a record."""
        return self.stratum[i], self.pattern[i]

    def numbers(self) -> list[Any]:
        """Names of the protected columns that hold numbers."""
        case = self.case
        return [c for c in case.protect if c not in case.ordinal and c not in case.nominal]

    def _must_refuse(self, cells: Counter, left: list[int]) -> str:
        case, settings = self.case, self.case.settings
        if case.k > case.n:
            return "k is more than the records"
        for name in self.numbers():
            if any(value is not None and math.isinf(value) for value in case.columns[name]):
                return "infinite values"
        if settings["missing"] == "error" and any(map(any, self.pattern)):
            return "missing values"
        if not left or not self.kept:
            return "nothing is left"
        if self.small and (len(cells) == 1 or settings["small_strata"] == "error"):
            return "small strata"
        if self.small and settings["small_strata"] == "merge":
            patterns = Counter(self.pattern[i] for i in left)
            if min(patterns.values()) < case.k:
                return "too few with this pattern of missing values"
        if not settings["standardize"] and any(
            abs(value) > 1e150 for name in self.numbers() for value in self._known(name)
        ):
            return "values above 1e150"
        return ""

    def _known(self, name: Any) -> list[float]:
        column = self.case.columns[name]
        return [float(column[i]) for i in self.kept if column[i] is not None]

    def _may_refuse(self) -> bool:
        """Values whose squares leave the range of floats; a ranking variable that is missing."""
        for name in self.numbers() if self.case.settings["standardize"] else []:
            values = self._known(name)
            if values and max(values) > min(values):
                spread = max(values) / 2 - min(values) / 2
                if not 1e-150 < spread < 1e150:
                    return True
        if self.case.form == "series" and self.case.weight is not None:
            return True  # no sampling weights are promised for a series: used or refused
        return "variable" in self.case.options and any(map(any, self.pattern))


def check(case: Case, before: Content, answer: Answer) -> list[str]:
    """All that is wrong with what a call returned."""
    plan = Plan(case)
    if plan.must_refuse:
        return [f"was not refused: {plan.must_refuse}"]
    faults = list(left_out_faults(plan, answer))
    if faults:
        return faults
    faults += group_faults(plan, answer)
    faults += untouched_faults(plan, before, answer.table)
    if not faults:
        faults += published_faults(plan, answer)
        faults += count_faults(plan, answer)
        faults += loss_faults(plan, answer)
    return faults


def left_out_faults(plan: Plan, answer: Answer) -> Iterator[str]:
    """Exactly the records that should be are left out."""
    out = [i for i, label in enumerate(answer.labels) if (label[0] if _several(label) else label)
           < 0]  # fmt: skip
    expected = sorted([*plan.dropped, *plan.suppressed])
    if len(answer.labels) != plan.case.n or out != expected:
        yield f"records {out} are left out instead of {expected}"
    elif (answer.dropped, answer.suppressed) != (len(plan.dropped), len(plan.suppressed)):
        yield f"{answer.dropped} dropped and {answer.suppressed} suppressed are reported"


def _several(label: Any) -> bool:
    return isinstance(label, list)


def partitions(plan: Plan, answer: Answer) -> list[dict[int, list[int]]]:
    """Records of each group: one partition for all columns, or one for each."""
    first = answer.labels[plan.kept[0]]
    count = len(first) if _several(first) else 1
    result = []
    for j in range(count):
        groups: dict[int, list[int]] = defaultdict(list)
        for i in plan.kept:
            label = answer.labels[i]
            groups[label[j] if _several(label) else label].append(i)
        result.append(dict(groups))
    return result


def group_faults(plan: Plan, answer: Answer) -> Iterator[str]:
    """Groups have k records, are numbered by their first record and stay in their stratum."""
    case = plan.case
    parts = partitions(plan, answer)
    if len(parts) > 1 and (case.method != "individual" or len(parts) != len(case.protect)):
        yield f"{len(parts)} partitions of {len(case.protect)} columns"
    several = _several(answer.labels[plan.kept[0]])
    for groups, sizes in zip(parts, answer.sizes if several else [answer.sizes], strict=True):
        if list(groups) != list(range(len(groups))):
            yield f"groups are numbered {list(groups)[:20]}"
        if [len(group) for group in groups.values()] != list(sizes):
            yield f"sizes are reported as {sizes}"
        if min(map(len, groups.values())) < case.k:
            yield f"a group has {min(map(len, groups.values()))} records"
        for group in groups.values():
            if len({plan.pattern[i] for i in group}) > 1:
                yield f"group {group} has several patterns of missing values"
        yield from _crossing(plan, groups)


def _crossing(plan: Plan, groups: dict[int, list[int]]) -> Iterator[str]:
    """A group crosses strata only where one of these was too small and all may be merged."""
    merging = plan.case.settings["small_strata"] == "merge"
    joined: dict[Any, Any] = {plan.cell(i): plan.cell(i) for i in plan.kept}

    def root(cell: Any) -> Any:
        while joined[cell] != cell:
            cell = joined[cell]
        return cell

    for group in groups.values():
        cells = {plan.cell(i) for i in group}
        if len(cells) > 1 and not merging:
            yield f"group {group} crosses strata"
        one, *others = cells
        for other in others:
            joined[root(other)] = root(one)
    families = defaultdict(set)
    for cell in joined:
        families[root(cell)].add(cell)
    for family in families.values():
        if len(family) > 1 and not family & plan.small:
            yield f"strata {sorted(map(str, family))} are merged and none is too small"


def untouched_faults(plan: Plan, before: Content, after: Content) -> Iterator[str]:
    """Columns, their order and types, the index and what is not protected survive."""
    case, kept = plan.case, plan.kept
    if list(after.columns) != list(before.columns):
        yield f"columns are {list(after.columns)} instead of {list(before.columns)}"
        return
    if before.index:
        index = before.index[-1]
        if after.index[1:] != [before.index[1], [index[i] for i in kept]]:
            yield "the index changed"
        if len(kept) == case.n and after.index[0] != before.index[0]:
            yield f"the index is a {after.index[0]} instead of a {before.index[0]}"
    for name, column in before.columns.items():
        expected = [column[i] for i in kept]
        if name not in case.protect and after.columns[name] != expected:
            as_floats = [None if v is None else float(v) for v in expected] if (
                case.container in ARRAYS) else None  # fmt: skip
            if after.columns[name] != as_floats:
                yield f"column {name!r} is not protected and changed"
        if len(after.columns[name]) != len(kept):
            yield f"column {name!r} has {len(after.columns[name])} records"
        if not _type_survives(plan, name, before.types[name], after.types[name]):
            yield f"column {name!r} was {before.types[name]} and is {after.types[name]}"


def _type_survives(plan: Plan, name: Any, before: str, after: str) -> bool:
    case = plan.case
    whole = case.types[name].startswith(("int", "uint"))
    changes = whole and not case.settings["keep_integers"]
    categories = name in case.ordinal or name in case.nominal
    if case.container in ARRAYS:
        return after == ("float64" if changes and before != "list" else before)
    if name not in case.protect or categories or not changes:
        return after == before
    return after.lower() in ("float64", "double", "double[pyarrow]", "float64[pyarrow]")


def published_faults(plan: Plan, answer: Answer) -> Iterator[str]:
    """Each published value is recomputed from the group's original values."""
    parts = partitions(plan, answer)
    place = {i: at for at, i in enumerate(plan.kept)}
    for j, name in enumerate(plan.case.protect):
        column = plan.case.columns[name]
        after = answer.table.columns[name]
        for group in parts[j % len(parts)].values():
            new = [after[place[i]] for i in group]
            if any(value != new[0] for value in new):
                yield f"column {name!r}: a group is published with several values {set(new)}"
            elif (column[group[0]] is None) != (new[0] is None):
                yield f"column {name!r}: missing values {column[group[0]]} became {new[0]}"
            elif new[0] is not None:
                values = [column[i] for i in group]
                weights = plan.case.sampling and [plan.case.sampling[i] for i in group]
                fault = value_fault(plan.case, name, values, weights, new[0])
                if fault:
                    yield f"column {name!r}: {fault}"
    if plan.case.settings["aggregate"] == "mean":
        yield from total_faults(plan, answer)


def value_fault(
    case: Case, name: Any, values: list[Any], weights: list[float] | None, new: Any
) -> str:
    """What is wrong with the value published for a group, if anything."""
    if name in case.nominal:
        counts: dict[Any, Fraction] = defaultdict(Fraction)
        for value, weight in zip(values, weights or [1] * len(values), strict=True):
            counts[value] += Fraction(weight)
        if new not in counts or counts[new] < max(counts.values()) * Fraction(1 - 1e-12):
            return f"{new!r} is not the most frequent of {dict(Counter(values))}"
        return ""
    if name in case.ordinal:
        order = case.ordinal[name] or (
            ["low", "middle", "high"] if isinstance(new, str) else sorted(set(values))
        )
        if new not in values:
            return f"{new!r} is no category of its group"
        ranks = [order.index(value) for value in values]
        allowed = {low for low, _ in medians(ranks, weights)}
        return "" if order.index(new) in allowed else f"{new!r} is not the median of {values}"
    return number_fault(case, name, values, weights, new)


def number_fault(
    case: Case, name: Any, values: list[Any], weights: list[float] | None, new: Any
) -> str:
    """The same for numbers."""
    whole = case.types[name].startswith(("int", "uint")) and case.settings["keep_integers"]
    if not min(values) <= new <= max(values):
        read = [float(value) for value in values]  # as which integers are published
        if whole or not min(read) <= new <= max(read):
            return f"{new!r} is outside of its group's {min(values)!r} to {max(values)!r}"
    if not whole:  # integers that are one float are a tie when the lowest and highest are cut off
        values = [float(value) for value in values]
    how = case.settings["aggregate"]
    plain = how == "mean" and weights is None
    size = float(max(max(values), -min(values)))
    unit = 2.0**-23 if case.types[name] == "float32" else EPS
    allowed = size * (unit + (2 + len(values)) * EPS)
    if plain and not whole and abs(new - math.fsum(v / len(values) for v in values)) < allowed / 2:
        return ""  # the quick way for most; what is not so near is computed exactly
    if how == "median":
        exact = [(Fraction(a) + Fraction(b)) / 2 for a, b in medians(values, weights)]
    else:
        exact = [mean(values, weights, how == "trimmed")]
    if whole and plain:
        rounded = round(exact[0])
        return "" if new == rounded else f"{new!r} is published and the rounded mean is {rounded!r}"
    tolerance = Fraction(allowed) + Fraction(5e-324)
    if case.types[name] == "float32":
        tolerance += Fraction(2.0**-149)
    if whole:
        tolerance += Fraction(1, 2)
    if min(abs(Fraction(new) - one) for one in exact) > tolerance:
        return f"{new!r} is published and the {how} is {[float(one) for one in exact]}"
    return ""


def mean(values: list[Any], weights: list[float] | None, trimmed: bool) -> Fraction:
    """The exact mean, or that without the lowest and highest fifth."""
    ranked = list(zip(values, weights or [1] * len(values), strict=True))
    if trimmed and len(ranked) >= 3:
        ranked.sort(key=lambda pair: pair[0])
        ends = max(1, len(ranked) // 5)
        ranked = ranked[ends:-ends]
    if weights is None and all(isinstance(value, int) for value in values):
        return Fraction(sum(value for value, _ in ranked), len(ranked))
    total = sum((Fraction(weight) for _, weight in ranked), Fraction(0))
    products = (Fraction(value) * Fraction(weight) for value, weight in ranked)
    return sum(products, Fraction(0)) / total


def medians(values: list[Any], weights: list[float] | None) -> list[tuple[Any, Any]]:
    """The two values in the middle; several pairs where half the weight is met nearly."""
    if weights is None:
        ranked = sorted(values)
        return [(ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2])]
    pairs = sorted(zip(values, map(Fraction, weights), strict=True))
    total, reached, result = sum(weight for _, weight in pairs), Fraction(0), []
    for i, (value, weight) in enumerate(pairs):
        reached += weight
        near = abs(2 * reached - total) <= total * Fraction(1e-12)
        if near and i + 1 < len(pairs):
            following = pairs[i + 1][0]
            result += [(value, value), (value, following), (following, following)]
        elif 2 * reached > total and not result:
            result.append((value, value))
    return result


def total_faults(plan: Plan, answer: Answer) -> Iterator[str]:
    """Totals of numbers are kept: weighted ones with sampling weights."""
    case = plan.case
    sampling = [case.sampling[i] if case.sampling else 1.0 for i in plan.kept]
    for name in plan.numbers():
        if case.types[name].startswith(("int", "uint")) and case.settings["keep_integers"]:
            continue
        before = [case.columns[name][i] for i in plan.kept]
        after = answer.table.columns[name]
        known = [i for i, value in enumerate(before) if value is not None]
        try:
            difference = math.fsum(sampling[i] * (float(before[i]) - after[i]) for i in known)
            size = math.fsum(sampling[i] * abs(float(before[i])) for i in known)
        except OverflowError:
            continue
        single = case.types[name] == "float32"
        least = math.fsum(sampling) * (2.0**-149 if single else 1e-320)
        unit = 2.0**-22 if single else EPS
        if abs(difference) > size * (4 * unit + 4 * len(known) * EPS) + least:
            yield f"column {name!r}: its total changed by {difference} of {size}"


def count_faults(plan: Plan, answer: Answer) -> Iterator[str]:
    """Each published record is one of k in the protected columns and the strata."""
    columns, case = answer.table.columns, plan.case
    strata = [] if case.settings["small_strata"] == "merge" and plan.small else case.by
    several = len(partitions(plan, answer)) > 1
    for view in [[name] for name in case.protect] if several else [case.protect]:
        counts = Counter(zip(*(columns[name] for name in [*view, *strata]), strict=True))
        if min(counts.values()) < case.k:
            yield f"only {min(counts.values())} published records are equal in {view} and strata"


def verdict_faults(k: int, table: Content, smallest: int, below: int) -> Iterator[str]:
    """The verdict is that of a plain count over all published columns."""
    counts = Counter(zip(*table.columns.values(), strict=True)).values()
    expected = min(counts), sum(count for count in counts if count < k)
    if (smallest, below) != expected:
        yield f"the verdict counts {smallest} and {below}, and it is {expected}"
