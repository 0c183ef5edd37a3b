"""Tables as HTML. All texts are escaped."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


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
        name = escape(row[0])
        span = ' rowspan="2"' if kind == "first" else ""
        head = "" if kind == "second" else f'<th scope="row"{span}>{name}</th>'
        of_kind = f' class="{kind}"' if kind else ""
        body.append(f"<tr{of_kind}>{head}{entries}</tr>")
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<thead>{_over(columns)}<tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody>"
        "</table></div>"
    )


def facts(rows: Sequence[tuple[str, str]], numbers: bool = False) -> str:
    """A table of names and values: texts, or right-aligned numbers."""
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
        for name, text in rows
    )
    kind = "facts numbers" if numbers else "facts"
    return f'<table class="{kind}"><tbody>{body}</tbody></table>'


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
