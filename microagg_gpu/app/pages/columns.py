"""Columns: what each is, with a suggestion and its reason."""

import json
from html import escape
from typing import Any

from ...errors import listed
from ...report.curves import histogram
from ...report.tables import Column, table
from ...report.wording import DASH, number
from ..plan import Role
from ..session import Session
from .shell import MARKS, button_bar, document

NAMES: dict[Role, str] = {
    "protect": "Protect",
    "stratum": "Stratum, kept as is",
    "weight": "Sampling weight",
    "ordinal": "Protect, ordered categories",
    "nominal": "Protect, categories",
    "keep": "Keep as is",
    "drop": "Leave out",
}


def page(session: Session) -> str:
    """The whole page."""
    assert session.described is not None
    columns = session.described["columns"]
    rows = "".join(_row(session, i, column) for i, column in enumerate(columns))
    return document(
        session,
        "columns",
        "What is each column?",
        '<p class="sub">No program can decide this for you. The suggestions come from names and '
        "values; change what is wrong. What an outsider could know must be protected, kept as a "
        "stratum, or left out.</p>"
        f'<div id="state" aria-live="polite">{state(session)}</div>'
        '<table class="cols"><caption>Columns and what happens to them</caption><thead><tr>'
        '<th scope="col" class="left">column</th><th scope="col" class="left">values</th>'
        '<th scope="col">missing</th><th scope="col" class="left">what happens to it</th>'
        '<th scope="col" class="left">why this is suggested</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{_counts(columns)}"
        + button_bar(
            f'<span id="summary">{_summary(session)}</span>',
            '<a class="btn second" href="open">Back</a>',
            '<button type="button" class="btn" id="next">Explore k and methods</button>',
        ),
    )


def _row(session: Session, i: int, column: dict[str, Any]) -> str:
    assert session.plan is not None
    name, role = column["name"], session.plan.roles[column["name"]]
    numeric, categories = column["numeric"], column["categories"]
    options = "".join(
        f'<option value="{key}"{" selected" if key == role else ""}>{text}</option>'
        for key, text in NAMES.items()
        if numeric or key not in ("protect", "weight") or column["mark"]
    )
    examples = " · ".join(escape(text) for text in column["examples"])
    few = f"{column['distinct']:,} different"
    drawn = histogram(_said(column), [b["count"] for b in column["histogram"]])
    order = ""
    if not numeric and categories:
        text = " < ".join(session.plan.orders.get(name, categories))
        order = (
            f'<div class="order"{"" if role == "ordinal" else " hidden"}><label class="f" '
            f'for="order{i}">Order of {escape(name)}, lowest first</label>'
            f'<input id="order{i}" data-order="{escape(name)}" value="{escape(text)}"></div>'
        )
    return (
        f'<tr><th scope="row">{escape(name) or "(no name)"}<span class="ex">{examples}</span></th>'
        f'<td class="left values"><div class="hist">{drawn}</div>{few}, {escape(column["kind"])}'
        f'</td><td class="gaps">{_missing(column)}</td>'
        f'<td class="left role"><select class="r-{role}" data-column="{escape(name)}" '
        f'aria-label="What happens to {escape(name)}" aria-describedby="why{i}">{options}</select>'
        f'{order}</td><td class="left why" id="why{i}">{escape(column["why"])}</td></tr>'
    )


def _missing(column: dict[str, Any]) -> str:
    count = column["missing"]
    return f'{count:,}<span class="small-only"> missing</span>' if count else (
        f'<span class="none" role="img" aria-label="none">{DASH}</span>'
    )  # fmt: skip


def _said(column: dict[str, Any]) -> str:
    """A histogram in words."""
    bins = column["histogram"]
    if not bins:
        return f"{column['name']} is empty"
    if not column["numeric"]:
        return f"{column['name']}: most often {bins[0]['from']}, {bins[0]['count']:,} times"
    low, high = number(bins[0]["from"], 3), number(bins[-1]["to"], 3)
    return f"Distribution of {column['name']} from {low} to {high}"


def _counts(columns: list[dict[str, Any]]) -> str:
    """The table behind the histograms."""
    rows = []
    for column in columns:
        for b in column["histogram"]:
            of = b["from"] if "to" not in b else f"{number(b['from'])} to {number(b['to'])}"
            rows.append([column["name"], str(of), f"{b['count']:,}"])
    heads = [Column("column", left=True), Column("values", left=True), Column("records")]
    shown = table("Histograms of the columns", heads, rows)
    return f"<details><summary>Histograms as a table</summary>{shown}</details>"


def state(session: Session) -> str:
    """What needs a look."""
    parts = [_other_mark(session), *_warnings(session)]
    return "".join(part for part in parts if part) + (
        f'<span hidden id="new-summary">{_summary(session)}</span>'
    )


def _other_mark(session: Session) -> str:
    """Numbers that were read as text, for their decimal mark."""
    assert session.described is not None
    wrong = [c["name"] for c in session.described["columns"] if c["mark"]]
    if not wrong:
        return ""
    mark = next(c["mark"] for c in session.described["columns"] if c["mark"])
    given = escape(json.dumps({"decimal": mark}))
    holds = "holds numbers" if len(wrong) == 1 else "hold numbers"
    return (
        f'<div class="notice"><p><b>{escape(listed(wrong))}</b> {holds} with a '
        f"{MARKS[mark]} before the decimals, and count as text now.</p>"
        f'<p class="repairs"><button type="button" class="link" data-format="{given}">Read it with '
        f"a {MARKS[mark]} as decimal mark</button></p></div>"
    )


def _warnings(session: Session) -> list[str]:
    checked = session.checked
    if checked is None:
        return []
    notices = []
    if checked["refusal"]:
        text = escape(checked["refusal"][:1].upper() + checked["refusal"][1:])
        notices.append(f'<div class="notice"><p>{text}.</p></div>')
    for name, text in checked["identifying"].items():
        notices.append(
            f'<div class="notice"><p><b>{escape(name)}</b> {escape(text)} and would be published '
            "unchanged: leave it out.</p></div>"
        )
    if checked["kept"]:
        notices.append(f'<div class="notice"><p>{escape(checked["kept"].strip())}</p></div>')
    assert session.plan is not None
    k = session.plan.choices.k
    if checked["strata"] and checked["smallest"] < k:
        notices.append(
            f'<div class="notice"><p>The smallest stratum has {checked["smallest"]} records, fewer '
            f"than k = {k}: use fewer strata, or merge or leave out small ones on the next page."
            "</p></div>"
        )
    return notices


def _summary(session: Session) -> str:
    assert session.plan is not None
    plan, checked = session.plan, session.checked
    protected = len(plan.having("protect", "ordinal", "nominal"))
    parts = [f"{protected} to protect"]
    strata = plan.having("stratum")
    if strata:
        text = f"{len(strata)} {'stratum' if len(strata) == 1 else 'strata'}"
        if checked is not None and checked["strata"]:
            text += (
                f" in {checked['strata']} combinations, smallest {checked['smallest']:,} records"
            )
        parts.append(text)
    for role, word in (("weight", "weight"), ("keep", "kept"), ("drop", "left out")):
        count = len(plan.having(role))  # type: ignore[arg-type]
        if count:
            parts.append(f"{count} {word}")
    return escape(" · ".join(parts))
