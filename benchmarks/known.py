"""Cells where the printed figure does not come out, and the most likely reason.

A line names table, rows, columns and the reason; "*" stands for all. `tests/test_papers.py`
holds that no other cell differs and that each of these still does.
"""

from .cells import Cell

_REASONS = {
    "axis": (
        "another first component: weights rounded to three decimals (.811, .846, ...) give the "
        "losses printed, 23.87 and 30.62"
    ),
    "truncated": "cut off, not rounded: ours begins with the printed digits",
    "twice": "rounded twice in print: ours with one digit more rounds to the printed figure",
    "misprint": "a misprint: 1999 and 2002 print different figures, or neighbours forbid it",
    "average": "the mean of the rounded losses of the variables (2002 Table 1), 2.366",
    "direction": "two losses by direction, but step 1 is the same for both in our reading",
    "structure": "printed to more digits than the definition in the text determines",
    "ties": "equal values of the variable are ranked in another order",
    "md": "another choice of the extreme records in step 1",
    "weights": "weights or their changes from a slightly different partition",
    "pseudocode": "does not follow from the pseudocode, which gives 15.62, 19.23, 22.61, 37.10",
    "split": "oversized groups split in another order or with other ties",
}

_KNOWN = """
"""


def known() -> dict[tuple[str, str, str], str]:
    """The reason by table, row and column."""
    cells = {}
    for line in filter(None, _KNOWN.splitlines()):
        table, rows, columns, why = (part.strip() for part in line.split(";"))
        for row in rows.split(","):
            for column in columns.split(","):
                cells[table, row.strip(), column.strip()] = _REASONS[why]
    return cells


def reason(cell: Cell) -> str:
    """Why a cell differs, if that is known."""
    return known().get((cell.table, cell.row, cell.column), "not explained")
