"""Tables as HTML. All texts are escaped, except those that are marked as HTML."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

UNFOLDED = 20  # rows that a table may have
LONG = 300  # characters


class Html(str):
    """A text that is HTML already."""


class Column(NamedTuple):
    """A column: its header, a header shared with its neighbours, and its alignment."""

    head: str
    over: str = ""
    left: bool = False


def table(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    classes: Sequence[str] | None = None,
) -> str:
    """A table that scrolls sideways if it is too wide. The first entry of a row is its name.

    Parameters
    ----------
    caption : str
        Read aloud by screen readers.
    columns : sequence of Column
    rows : sequence of sequence of str
        The name of a row may be a `Label`.
    classes : sequence of str, optional
        A CSS class for each row. Rows "first" and "second" share the name of the first.
    """
    heads = "".join(
        f'<th scope="col"{_side(column)}>{escape(column.head)}</th>' for column in columns
    )
    body = []
    for i, row in enumerate(rows):
        kind = classes[i] if classes else ""
        entries = "".join(
            f"<td{_side(column)}>{escape(text)}</td>"
            for column, text in zip(columns[1:], row[1:], strict=True)
        )
        span = ' rowspan="2"' if kind == "first" else ""
        head = (
            ""
            if kind == "second"
            else f'<th scope="row"{span}{_title(row[0])}>{breakable(row[0])}</th>'
        )
        of_kind = f' class="{kind}"' if kind else ""
        body.append(f"<tr{of_kind}>{head}{entries}</tr>")
    kind = "scroll short" if len(rows) <= UNFOLDED else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead>{_over(columns)}<tr>{heads}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody>"
        "</table></div>"
    )


def facts(caption: str, rows: Sequence[tuple[str, str]], numbers: bool = False) -> str:
    """A table of names and values: texts, or right-aligned numbers."""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        f"<td>{text if isinstance(text, Html) else escape(text)}</td></tr>"
        for name, text in rows
    )
    kind = "facts numbers" if numbers else "facts"
    return (
        f'<table class="{kind}"><caption>{escape(caption)}</caption><tbody>{body}</tbody></table>'
    )


def folded(title: str, body: str, rows: int) -> str:
    """A part of a section below its heading, folded if it has many rows."""
    if rows <= UNFOLDED:
        return f"<h3>{escape(title)}</h3>{body}"
    return (
        f"<details><summary><h3>{escape(title)}</h3> <span>{rows:,} rows</span></summary>{body}"
        "</details>"
    )


def long_text(text: str) -> str:
    """A text, folded if it is long: its first item remains to be seen."""
    if len(text) <= LONG:
        return text
    items = text.split(", ")
    start = f"{items[0][:60]} and {len(items) - 1} more" if len(items) > 3 else f"{text[:60]}..."
    return Html(f"<details><summary>{escape(start)}</summary>{escape(text)}</details>")


def breakable(name: str) -> str:
    """A name as HTML; a long one may go on in another line after an underscore."""
    return escape(name).replace("_", "_<wbr>") if len(name) > 16 else escape(name)


def _title(name: str) -> str:
    full = getattr(name, "full", name)
    return f' title="{escape(full)}"' if full != name else ""


def _side(column: Column) -> str:
    return ' class="left"' if column.left else ""


def _over(columns: Sequence[Column]) -> str:
    """The row above the headers: neighbours with the same text share an entry."""
    if not any(column.over for column in columns):
        return ""
    runs: list[tuple[str, int]] = []
    for column in columns:
        if runs and column.over and runs[-1][0] == column.over:
            runs[-1] = (column.over, runs[-1][1] + 1)
        else:
            runs.append((column.over, 1))
    entries = "".join(
        f'<th scope="colgroup" class="over" colspan="{length}">{escape(text)}</th>'
        if text
        else "<td></td>"
        for text, length in runs
    )
    return f"<tr>{entries}</tr>"
