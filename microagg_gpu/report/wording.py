"""The sentences of the report: its summary, its explanations, and numbers as people read them."""

import re
from collections import Counter
from collections.abc import Sequence
from math import floor, log10
from typing import Any

DASH = "\N{EN DASH}"
FIVE_PERCENT = "5\N{NO-BREAK SPACE}% of a standard deviation"

WARNING = "This report contains information about the original records. Do not publish it."

TERMS = (
    (
        "Information loss",
        "100\N{MIDDLE DOT}SSE/SST: the squared distances between published and original values, "
        "as a percentage of the squared distances between original values and their mean. The "
        "variables are scaled as for grouping. Lower is better: 0 means no change, 100 means "
        "that the mean is published everywhere (Mateo-Sanz and Domingo-Ferrer 1999; "
        "Domingo-Ferrer and Mateo-Sanz 2002).",
    ),
    (
        "IL1s",
        "Mean distance between a published value and its original, in units of \N{SQUARE ROOT}2 "
        "original standard deviations. Lower is better (Yancey, Winkler and Creecy 2002; "
        "Mateo-Sanz, Seb\N{LATIN SMALL LETTER E WITH ACUTE} and Domingo-Ferrer 2004).",
    ),
    (
        "Standard deviation, after / before",
        "Means of groups vary less than the values themselves, so this ratio is at most 1 for "
        "group means. Closer to 1 is better (1999, Table 2).",
    ),
    (
        "Correlation discrepancy",
        "Absolute change of a correlation, averaged over the pairs of variables. Lower is better "
        "(1999, Table 4; 2002, Tables 2 and 4).",
    ),
    (
        "First principal component",
        "The component of the standardized variables with the largest variance. The weight of a "
        "variable is its correlation with the component; the share explained is the component's "
        "share of the total variance (1999, Table 3). Small changes are better.",
    ),
    (
        "Groups",
        "Records with the same published values. Groups of 2k records or more are oversized: "
        "splitting them would reduce the loss (Laszlo and Mukherjee 2005, Table 6).",
    ),
    (
        "Unique records",
        "Records that no other record equals in the protected variables, the strata, and which "
        "values are missing. Before protection most records are unique, so whoever knows a "
        "record's values finds it.",
    ),
    (
        "Linkage risk",
        "Share of records that an intruder with all the original data would identify. The "
        "intruder links each published record to the nearest original record among those with "
        "the same unchanged values, such as strata and missing values, and guesses if several "
        "are equally near. Distances are over numeric and ordinal variables. Lower is better "
        "(Domingo-Ferrer and Torra 2001).",
    ),
    (
        "Interval disclosure",
        "By ranks: share of original values within p percent of the ranks on both sides of the "
        "published value, averaged over p = 1 to 10 (Domingo-Ferrer and Torra 2001). Within "
        f"{FIVE_PERCENT}: share of original values that are this close to the published value "
        "(as in Mateo-Sanz, Seb\N{LATIN SMALL LETTER E WITH ACUTE} and Domingo-Ferrer 2004). "
        "Lower is safer.",
    ),
    (
        "Chance to be identified",
        "Of somebody who knows a record's values and takes the nearest published record: one "
        "divided by the number of published records among which to guess if the right one is "
        "among the nearest, else 0. With groups of k it is at most 1/k. Lower is safer.",
    ),
    (
        "All values near, one-to-one matching",
        f"Records with all values within {FIVE_PERCENT} of the published variable: sdcMicro's "
        "dRisk. The best one-to-one matching is that with the least sum of squared distances. "
        "Lower is safer.",
    ),
    (
        "For analysts",
        "Overlap of confidence intervals: 1 if equal, below 0 if apart (Karr et al. 2006). pMSE: "
        "0 to 0.25, lower is better (Woo et al. 2009). Gamma and lambda: 0 to 1, lower is better "
        "(Mlodak 2020). Changes of matrices: 0 is best (Domingo-Ferrer and Torra 2001).",
    ),
    (
        "Range inference",
        "If each variable is grouped on its own, an original value lies between the means "
        "published for the neighbouring groups. If these are close together, an intruder "
        "practically knows the value (2002, section 6). Enclosed: share of values that lie "
        "between the neighbouring published values. Revealed: share of values that lie in such "
        f"an interval narrower than {FIVE_PERCENT}. Lower is safer.",
    ),
    (
        "Densities and quantiles",
        "Densities are Gaussian kernel estimates with the same bandwidth before and after, over "
        "the middle 99\N{NO-BREAK SPACE}% of the original values, or 95\N{NO-BREAK SPACE}% if they "
        "have long tails. Skewed amounts have a logarithmic axis; zeros are counted, not drawn. "
        "Standard deviations divide by the number of values.",
    ),
)
"""What each measure means, whether a low value is good, and the paper that defines it."""


def number(value: float | None, digits: int = 4, like: float | None = None) -> str:
    """A number with some significant digits; a dash for None.

    With `like`, the number gets the decimals that `like` would have, so that all numbers of a row
    have the same decimals.
    """
    if value is None:
        return DASH
    size = abs(like or value)
    if value == 0 and not like:
        return "0"
    if not 1e-6 <= size < 1e12 or abs(value) >= 1e15:
        return minus(f"{value:.{digits - 1}e}")
    decimals = max(digits - 1 - floor(log10(size)), 0)
    text = f"{round(value, decimals) + 0.0:,.{decimals}f}"
    return minus(text if like or "." not in text else text.rstrip("0").rstrip("."))


def percent(value: float | None) -> str:
    """A percentage with one decimal, or two if it is below 1."""
    if value is None:
        return DASH
    return f"{fixed(value, 2 if 0 < abs(value) < 1 else 1)}\N{NO-BREAK SPACE}%"


def fixed(value: float | None, decimals: int) -> str:
    """A number with a fixed number of decimals; a dash for None."""
    # Adding 0 turns what rounded to -0 into 0.
    return DASH if value is None else minus(f"{round(value, decimals) + 0.0:.{decimals}f}")


def minus(text: str) -> str:
    """The text with minus signs instead of hyphens."""
    return text.replace("-", "\N{MINUS SIGN}")


def count(quantity: int, noun: str) -> str:
    """A quantity with its noun: 1 group, 480 groups."""
    return f"{quantity:,} {noun}" + ("" if quantity == 1 else "s")


class Label(str):
    """A name in a chart or a table, without the beginning that most names share.

    Attributes
    ----------
    full : str
        The whole name.
    """

    full: str


def shared_beginning(names: Sequence[str]) -> str:
    """The beginning that most of several long names share, up to a separator; else nothing."""
    if max(map(len, names), default=0) <= 24:
        return ""
    starts: Counter[str] = Counter()
    for name in names:
        starts.update(name[: end.end()] for end in re.finditer(r"[^\W_][\W_]+(?=[^\W_])", name))
    common = [s for s, count in starts.items() if 2 * count > len(names) > 2 and len(s) >= 5]
    found = max(common, key=len, default="")
    rest = [name.removeprefix(found) for name in names]
    return found if len(set(rest)) == len(rest) else ""


def labels(names: Sequence[str]) -> list[Label]:
    """The names as labels: an ellipsis stands for the beginning that most of them share."""
    start = shared_beginning(names)
    made = []
    for name in names:
        cut = "\N{HORIZONTAL ELLIPSIS}\N{WORD JOINER}" + name.removeprefix(start)
        label = Label(cut if start and name.startswith(start) else name)
        label.full = name
        made.append(label)
    return made


def unchanged(content: dict[str, Any]) -> list[str]:
    """The columns that are published as they were: strata, and others beside the variables."""
    return list((content.get("verdict") or {}).get("unchanged", ()))


WEIGHTED_MORE = (
    "; it can be above 100 %, since the means are weighted and records with a small weight may be "
    "far from them"
)


def summary(content: dict[str, Any]) -> list[str]:
    """The measures of a content in a few sentences."""
    return [
        *_groups(content),
        _loss(content),
        *([_linkage(content)] if content["risk"]["linkage"] is not None else []),
        *_intruders(content),
        *([_intervals(content)] if content["variables"] else []),
        *_categories(content),
    ]


def _groups(content: dict[str, Any]) -> list[str]:
    records, groups, k = content["records"], content["groups"], content["k"]
    smallest, largest = content["smallest"], content["largest"]
    sizes = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
    if content.get("blocks"):
        return [
            f"{count(records, 'record')}; each of {count(len(content['blocks']), 'block')} of "
            f"variables was grouped on its own, in {count(groups, 'group')} of {sizes} records.",
            "k holds within each block. Whole records are not k-anonymous: "
            f"{percent(content['risk']['after']['unique'])} of them are unique.",
        ]
    if content["individual"]:
        return [
            f"{count(records, 'record')}; each variable was grouped on its own, in "
            f"{count(groups, 'group')} of {sizes} values.",
            "The records are not k-anonymous: groups share single values, but combinations of "
            "values may be unique.",
        ]
    unit = "record" if largest == 1 else "records"
    sentences = [f"{count(records, 'record')} in {count(groups, 'group')} of {sizes} {unit}."]
    if k and smallest < k:
        sentences.append(
            f"k = {k} does NOT hold: the smallest group has {count(smallest, 'record')}."
        )
    return sentences


def _loss(content: dict[str, Any]) -> str:
    text, key = f"{percent(content['loss'])} of the variation is lost", "loss"
    if content.get("weighted_loss") is not None:
        key = "weighted_loss"
        text = (
            f"{percent(content[key])} of the variation is lost with sampling weights "
            f"({percent(content['loss'])} without{WEIGHTED_MORE * (content['loss'] > 100)})"
        )
    rows = [row for row in content["by_variable"] if row.get(key) is not None]
    if len(rows) < 2 or len({percent(row[key]) for row in rows}) == 1:
        return text + "."
    least, most = min(rows, key=lambda r: r[key]), max(rows, key=lambda r: r[key])
    return (
        f"{text}: most for {most['name']} ({percent(most[key])}), least for {least['name']} "
        f"({percent(least[key])})."
    )


def _linkage(content: dict[str, Any]) -> str:
    risk = content["risk"]
    text = (
        f"An intruder with all the original data would identify {percent(risk['linkage'])} of the "
        "records, by linking each published record to the nearest original one"
    )
    if risk["linkage_at_most"] > 99:
        return text + "."
    return (
        f"{text}. The maximum is {percent(risk['linkage_at_most'])}, because records with the "
        "same published values cannot be distinguished."
    )


def _intruders(content: dict[str, Any]) -> list[str]:
    """What is found by somebody who knows some columns, or has an outside file."""
    known, outside = content.get("known"), content.get("outside")
    sentences = []
    if known:
        sentences.append(
            f"Somebody who knows only {', '.join(known['columns'])} of a record would pick the "
            f"right one in {percent(known['after'])} of cases; before protection, in "
            f"{percent(known['before'])}."
        )
    if outside:
        sentences.append(
            f"With {outside['file']} an intruder would find {percent(outside['found'])} of the "
            f"{outside['published']:,} published records in it, and be right in "
            f"{percent(outside['right'])} of all cases."
        )
    return sentences


def _intervals(content: dict[str, Any]) -> str:
    risk = content["risk"]
    if risk["near"] is None:
        return "No variable varies, so nothing can be inferred about a value."
    text = (
        f"On average {percent(risk['near'])} of the original values lie within {FIVE_PERCENT} of "
        "the published value"
    )
    if content["individual"]:
        return (
            f"{text}, and {percent(risk['narrow'])} are enclosed by neighbouring published values "
            "that are closer together than this."
        )
    return text + "."


def _categories(content: dict[str, Any]) -> list[str]:
    changed = [
        f"{category['name']} ({percent(category['changed'])} of the values)"
        for category in content["categories"]
    ]
    if not changed:
        return []
    return [f"Changed categories: {', '.join(changed[:5])}{' and more' * (len(changed) > 5)}."]
