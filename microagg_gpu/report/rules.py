"""The sections about rules beyond k: contributors of groups, and a sensitive attribute."""

from html import escape
from typing import Any

from .tables import Column, facts, table
from .wording import fixed, percent


def sentences(content: dict[str, Any]) -> list[str]:
    """Whether each rule that was asked for holds, for the head of the report."""
    return [
        found["sentence"].rstrip(".") + "."
        for found in (content.get(name) for name in ("dominance", "closeness"))
        if found
    ]


def contributors(content: dict[str, Any]) -> str:
    """Groups that break a rule on contributors, before and after their repair, by variable."""
    found = content["dominance"]
    columns = [
        Column("variable", left=True),
        Column("before", "groups that break the rule"),
        Column("after", "groups that break the rule"),
        Column("before", "largest share of a group's total"),
        Column("after", "largest share of a group's total"),
    ]
    rows = [
        [
            row["name"], f"{row['groups_before']:,}", f"{row['groups']:,}",
            percent(row["share_before"]), percent(row["share"]),
        ]
        for row in found["by_variable"]
    ]  # fmt: skip
    text = (
        f"<p>The rule: {escape(found['rule'])}. A group that breaks it gives away its largest "
        "contributors, although it has k records. Such groups exchanged records or merged with "
        f"near ones; the loss was {percent(found['loss_before'])} before and is "
        f"{percent(content['loss'])} now. None should be left. Do not publish the numbers of the "
        "rule: they help to estimate contributors.</p>"
    )
    unrepaired = found["unrepaired"]
    if unrepaired:
        names = ", ".join(map(str, unrepaired[:20])) + " and more" * (len(unrepaired) > 20)
        text += f"<p>Groups that could not be repaired, by their numbers: {names}.</p>"
    return text + table("Contributors", columns, rows)


def sensitive(content: dict[str, Any]) -> str:
    """What groups give away of the sensitive attribute."""
    found = content["closeness"]
    order = (
        "mean absolute difference of the cumulative shares of its values"
        if found["ordered"]
        else "half the sum of the absolute differences of the shares of its values"
    )
    rows = [
        ("Largest distance of a group", fixed(found["distance"], 4)),
        ("Mean distance of a group", fixed(found["mean_distance"], 4)),
        ("Fewest different values in a group", f"{found['distinct']:,}"),
        ("Groups with one value only", f"{found['single']:,}"),
        ("Largest share of one value in a group", percent(100 * found["share"])),
    ]
    if found["t"] is not None:
        rows.insert(0, ("t", fixed(found["t"], 4)))
        rows.insert(1, ("Groups beyond t", f"{found['beyond']:,} of {found['groups']:,}"))
    return (
        f"<p>{escape(found['name'])} is published as it is. Whoever finds the group of a person "
        "learns how it is distributed in that group, and more than everybody knows if that "
        "differs from all records. The distance is the Earth mover\N{APOSTROPHE}s distance, the "
        f"{order}: 0 if the group is like all records, at most 1. Lower is safer.</p>"
        + facts("Sensitive attribute", rows, numbers=True)
    )
