"""One cell of a printed table beside ours, and the rule that compares them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Status = Literal["match", "differs", "not determined", "random", "not comparable"]

MARKS: dict[Status, str] = {
    "match": "=",
    "differs": "≠",
    "not determined": "?",
    "random": "~",
    "not comparable": "x",
}
MEANINGS: dict[Status, str] = {
    "match": "equal to every printed digit",
    "differs": "our figure is another",
    "not determined": "the text or the lack of data leaves the figure open",
    "random": "the data or the method are drawn at random, so figures are only similar",
    "not comparable": "no figure to compare: time on other hardware, or an empty cell",
}


@dataclass(frozen=True)
class Cell:
    """A figure of a paper and ours.

    Attributes
    ----------
    table, row, column : str
        Where it is printed, by the names in `printed.TABLES`.
    printed, ours : str
        As printed, and ours with one digit more, two if they differ ("" if there is none).
    status : str
        One of `MARKS`.
    note : str
        The reason, where the status needs one.
    """

    table: str
    row: str
    column: str
    printed: str
    ours: str
    status: Status
    note: str = ""


@dataclass(frozen=True)
class Check:
    """A statement of a paper about a table, and whether it holds for our figures."""

    table: str
    statement: str
    holds: bool
    detail: str = ""


_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e\d+)?")


def numbers(printed: str) -> list[Decimal]:
    """The figures of a printed cell, one or two, with the printed number of digits."""
    return [Decimal(text) for text in _NUMBER.findall(printed)]


def agree(printed: Decimal, ours: float | int) -> bool:
    """Whether ours gives the printed figure when rounded to its digits, halves either way."""
    half = Decimal((0, (1,), int(printed.as_tuple().exponent))) / 2
    return abs(Decimal(ours) - printed) <= half * (1 + Decimal("1e-9"))


def compare(
    table: str, row: str, column: str, printed: str, ours: Sequence[float | int], note: str = ""
) -> Cell:
    """Compare a printed cell with our figures.

    Two figures printed as a range are its ends, in order. Two printed as "a or b" are the
    ascending and the descending ranking; which end of an axis is its top is not always said,
    so either order will do. One printed where we have two matches if one of ours does (2002,
    section 5.3: two are printed "unless both are very similar").
    """
    expected = numbers(printed)
    if len(expected) == 1:
        same = any(agree(expected[0], value) for value in ours)
    else:
        same = all(map(agree, expected, ours))
        if not same and " or " in printed and all(map(agree, expected, reversed(ours))):
            same, note = True, "in the opposite order"
    more = 1 if same else 2
    texts = [show(value, expected[min(i, len(expected) - 1)], more) for i, value in enumerate(ours)]
    if " or " in printed or len(expected) < len(texts):
        text = " or ".join(dict.fromkeys(texts))
    else:
        text = " - ".join(texts)
    return Cell(table, row, column, printed, text, "match" if same else "differs", note)


def show(value: float | int, like: Decimal, more: int = 1) -> str:
    """Our figure with one digit more than the printed one, or several."""
    digits = like.as_tuple()
    if isinstance(value, int):
        return str(value) if digits.exponent == 0 else f"{value:.{len(digits.digits) - 1 + more}e}"
    return f"{value:.{more - int(digits.exponent)}f}"
