"""The sections about rules beyond k: contributors of groups."""

from html import escape
from typing import Any

from .tables import Column, table
from .wording import percent


def sentences(content: dict[str, Any]) -> list[str]:
    """Whether each rule that was asked for holds, for the head of the report."""
    return [
        found["sentence"].rstrip(".") + "."
        for found in (content.get(name) for name in ("dominance",))
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
