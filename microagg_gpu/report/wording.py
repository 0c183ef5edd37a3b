"""Numbers as people read them, and the sentences at the top of the report."""

from math import floor, log10
from typing import Any

DASH = "\N{EN DASH}"


def number(value: float | None, digits: int = 4, like: float | None = None) -> str:
    """A number as people read it; a dash for None.

    With so many significant digits, or, so that a row has the same decimals throughout, with
    the decimals that a number `like` has with so many.
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
    """A percentage to a tenth, small ones to two digits."""
    if value is None:
        return DASH
    return f"{fixed(value, 2 if 0 < abs(value) < 1 else 1)}\N{NO-BREAK SPACE}%"


def fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals; a dash for None."""
    # Adding 0 turns what rounded to -0 into 0.
    return DASH if value is None else minus(f"{round(value, decimals) + 0.0:.{decimals}f}")


def minus(text: str) -> str:
    """A minus sign where the keyboard has a hyphen."""
    return text.replace("-", "\N{MINUS SIGN}")


def count(many: int, one: str) -> str:
    """So many of something: 1 group, 480 groups."""
    return f"{many:,} {one}" + ("" if many == 1 else "s")


def summary(content: dict[str, Any]) -> list[str]:
    """Say in a few sentences what the measures of a content come to."""
    return [
        *_groups(content),
        _loss(content),
        *([_linkage(content)] if content["risk"]["linkage"] is not None else []),
        *([_intervals(content)] if content["variables"] else []),
        *_categories(content),
    ]


def _groups(content: dict[str, Any]) -> list[str]:
    records, groups, k = content["records"], content["groups"], content["k"]
    smallest, largest = content["smallest"], content["largest"]
    sizes = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
    if content["individual"]:
        return [
            f"{count(records, 'record')} whose variables were grouped one by one, in "
            f"{count(groups, 'group')} of {sizes} values.",
            "Values are shared by whole groups but records are not: combinations of values may "
            "be unique.",
        ]
    found = [f"{count(records, 'record')} in {count(groups, 'group')} of {sizes}."]
    if k and smallest < k:
        found.append(
            f"This is not {k}-anonymous: the smallest group has {count(smallest, 'record')}."
        )
    return found


def _loss(content: dict[str, Any]) -> str:
    text = f"{percent(content['loss'])} of the variation is lost"
    rows = [row for row in content["by_variable"] if row["loss"] is not None]
    if len(rows) < 2 or len({percent(row["loss"]) for row in rows}) == 1:
        return text + "."
    least, most = min(rows, key=lambda r: r["loss"]), max(rows, key=lambda r: r["loss"])
    return (
        f"{text}, from {percent(least['loss'])} of {least['name']} to "
        f"{percent(most['loss'])} of {most['name']}."
    )


def _linkage(content: dict[str, Any]) -> str:
    risk = content["risk"]
    text = (
        "An intruder who links each published record to its nearest original finds the right one "
        f"for {percent(risk['linkage'])}"
    )
    if risk["linkage_at_most"] > 99:
        return text + "."
    return (
        f"{text}; since equal published records cannot be told apart, no more than "
        f"{percent(risk['linkage_at_most'])} is possible."
    )


def _intervals(content: dict[str, Any]) -> str:
    risk = content["risk"]
    if risk["near"] is None:
        return "No variable varies, so there is nothing to infer about a value."
    text = (
        f"On average {percent(risk['near'])} of the original values lie within "
        "5\N{NO-BREAK SPACE}% of a standard deviation of what is published"
    )
    if content["individual"]:
        return (
            f"{text}, and {percent(risk['narrow'])} are enclosed as narrowly by the neighbouring "
            "published values."
        )
    return text + "."


def _categories(content: dict[str, Any]) -> list[str]:
    changed = [f"{percent(c['changed'])} of {c['name']}" for c in content["categories"]]
    if not changed:
        return []
    return [f"Categories changed: {', '.join(changed[:5])}{' and more' * (len(changed) > 5)}."]
