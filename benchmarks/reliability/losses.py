"""The information loss, recomputed from the data and what was published; part of the checker."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checker import Answer, Plan


def loss_faults(plan: "Plan", answer: "Answer") -> Iterator[str]:
    """Loss = 100 SSE / SST of the standardized and weighted variables."""
    if not 0 <= answer.loss <= math.inf:
        yield f"the loss is {answer.loss}"
        return
    sse = sst = slack = 0.0
    for j, name in enumerate(plan.case.protect):
        found = _variable(plan, answer, j, name)
        if found is None:
            return  # squares leave the range of floats
        sse, sst, slack = sse + found[0], sst + found[1], slack + found[2]
    loss = 100 * sse / sst if sst > 0 else 0.0
    tolerance = 1e-9 * loss + 1e-10 + (300 * slack / sst if sst > 0 else 0.0)
    if abs(answer.loss - loss) > tolerance:
        yield f"the loss is {answer.loss!r} and was recomputed as {loss!r}"
    tolerance = 1e-9 * sst + 3 * slack
    if abs(answer.sse - sse) > tolerance or abs(answer.sst - sst) > tolerance:
        yield f"SSE and SST are {answer.sse!r}, {answer.sst!r}; recomputed {sse!r}, {sst!r}"


def _variable(
    plan: "Plan", answer: "Answer", j: int, name: Any
) -> tuple[float, float, float] | None:
    """SSE and SST of a variable in units of its scale, and how far rounding may move them."""
    case = plan.case
    weight = case.variable_weights[j] if case.variable_weights else 1.0
    rows = [i for i, at in enumerate(plan.kept) if case.columns[name][at] is not None]
    if not rows:
        return 0.0, 0.0, 0.0
    before = [case.columns[name][plan.kept[i]] for i in rows]
    after = [answer.table.columns[name][i] for i in rows]
    if name in case.nominal:
        differ = sum(a != b for a, b in zip(before, after, strict=True))
        return weight * differ, weight * (len(rows) - max(Counter(before).values())), 0.0
    if name in case.ordinal:
        return _ordinal(plan, name, before, after, weight)
    numbers = [float(value) for value in before]
    if _plain_means(plan):
        labels = [answer.labels[plan.kept[i]] for i in rows]
        groups = [label[j] if isinstance(label, list) else label for label in labels]
        after = _means(numbers, groups)
    return _squares(plan, name, numbers, after, weight)


def _plain_means(plan: "Plan") -> bool:
    """Whether SSE is that of the groups, not of what was published after rounding or weighting."""
    case, settings = plan.case, plan.case.settings
    rounded = settings["keep_integers"] and any(
        case.types[name].startswith(("int", "uint")) for name in plan.numbers()
    )
    categories = case.ordinal or case.nominal
    return not (settings["aggregate"] != "mean" or case.sampling or rounded or categories)


def _means(values: list[float], groups: list[int]) -> list[float]:
    members: dict[int, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        members.setdefault(group, []).append(value)
    means = {group: _mean(some) for group, some in members.items()}
    return [means[group] for group in groups]


def _mean(values: list[float]) -> float:
    """The mean; that of the deviations is added, as the first is rounded far from 0."""
    middle = math.fsum(value / len(values) for value in values)
    return middle + math.fsum(value - middle for value in values) / len(values)


def _ordinal(
    plan: "Plan", name: Any, before: list[Any], after: list[Any], weight: float
) -> tuple[float, float, float]:
    case = plan.case
    order = case.ordinal[name]
    if order is None and case.types[name] == "ordered":
        order = ["low", "middle", "high"]
    if order is None:
        order = sorted({value for value in case.columns[name] if value is not None})
    ranks = sorted(order.index(value) for value in before)
    middle = ranks[(len(ranks) - 1) // 2]
    scale = weight / len(order) ** 2
    sse = sum((order.index(a) - order.index(b)) ** 2 for a, b in zip(before, after, strict=True))
    return scale * sse, scale * sum((rank - middle) ** 2 for rank in ranks), 0.0


def _squares(
    plan: "Plan", name: Any, before: list[float], after: list[Any], weight: float
) -> tuple[float, float, float] | None:
    case, n = plan.case, len(before)
    low, high = min(before), max(before)
    standardize = case.settings["standardize"]
    if low == high:
        if standardize or all(value == low for value in after):
            return 0.0, 0.0, 0.0
        return None  # single precision, huge values: rounding is all there is
    spread = high / 2 - low / 2
    if not 1e-140 < spread < 1e140:
        return None
    middle = _mean(before)
    sst = math.fsum((value - middle) ** 2 for value in before)
    sse = math.fsum((a - float(b)) ** 2 for a, b in zip(before, after, strict=True))
    unit = math.ulp(max(abs(low), abs(high)))
    if case.types[name] == "float32" and not _plain_means(plan):
        unit = max(
            abs(low) * 2.0**-23, abs(high) * 2.0**-23, 2.0**-149
        )  # published is what was rounded to it
    scale = weight / (sst / n) if standardize else weight
    slack = 4 * unit * math.sqrt(n * sst) + 4 * n * unit**2
    return scale * sse, scale * sst, scale * slack
