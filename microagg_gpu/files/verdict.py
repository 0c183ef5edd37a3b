"""Is a table k-anonymous? What is published, counted, and the verdict in a sentence."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..errors import InputError, listed
from .counting import group_codes

Word = Literal["PASS", "PARTLY", "FAIL"]


class NotAnonymous(InputError):
    """What was made is not published, since k does not hold over all its columns."""


@dataclass(frozen=True)
class Verdict:
    """Whether each record shares what is published of it with at least k - 1 others.

    Attributes
    ----------
    k, records : int
    smallest, below : int
        The fewest records that share all their published values, and how many records share
        theirs with fewer than k - 1 others.
    columns : list of str
        The columns that were protected or named, and those of strata.
    smallest_named, below_named : int
        The same counted over these columns only.
    others : list of str
        The other columns that are published.
    each : bool
        Whether the columns were counted one by one (individual ranking) or in blocks.
    blocks : list of list of str
        Columns that were counted together, beside those of strata, if there are several blocks.
    unique : int, optional
        How many records share all their published values with no other.
    sensitive : str
        A column that an intruder is taken not to know, and that is not counted; empty if none.
    unit : str
        The columns that name units of several records, if these were counted and not records.
    """

    k: int
    records: int
    smallest: int
    below: int
    columns: list[str]
    smallest_named: int
    below_named: int
    others: list[str]
    each: bool = False
    blocks: list[list[str]] = field(default_factory=list)
    unique: int | None = None
    sensitive: str = ""
    unit: str = ""

    @property
    def word(self) -> Word:
        """PASS over all columns, PARTLY for some of them, or FAIL."""
        if not self.below:
            return "PASS"
        return "FAIL" if self.below_named or (not self.others and not self.each) else "PARTLY"

    def __str__(self) -> str:
        count = len(self.columns) + len(self.others)
        everything = f"all {count} columns" if count > 1 else "the one column"
        everything += f" beside the sensitive {self.sensitive}" if self.sensitive else ""
        others = f"other units ({self.unit})" if self.unit else "others"
        if self.word == "PASS":
            return (
                f"PASS: every one of the {self.records:,} records shares its values in "
                f"{everything} with at least {self.smallest - 1:,} {others}"
            )
        few = f"of the {self.records:,} records share their values in"
        if self.word == "FAIL":
            named = everything if not self.others else listed(self.columns)
            below, least = (
                (self.below_named, self.smallest_named)
                if self.others
                else (self.below, self.smallest)
            )
            return (
                f"FAIL: {below:,} {few} {named} with fewer than {self.k - 1:,} {others}; the "
                f"smallest group has {least:,}"
            )
        how = "for each of these columns by itself only" if self.each else "for these columns only"
        why = f", because of {listed(self.others)}" if self.others else ""
        columns = listed(self.columns)
        if any(len(block) > 1 for block in self.blocks):
            how = "within each of these blocks of columns only"
            columns = "; ".join(map(listed, self.blocks))
            why += f"; {self.unique:,} of them are unique"
        return (
            f"k = {self.k} holds {how}: {columns}. {self.below:,} {few} {everything} "
            f"with fewer than {self.k - 1:,} {others}{why}"
        )

    def as_dict(self, replaced: Sequence[str]) -> dict[str, Any]:
        """The verdict for JSON, with the columns that are published unchanged.

        Parameters
        ----------
        replaced : sequence of str
            The columns with new values.
        """
        published = [*self.columns, *self.others, *[self.sensitive] * bool(self.sensitive)]
        unchanged = [name for name in published if name not in replaced]
        return {
            "word": self.word, "sentence": str(self), **asdict(self), "unchanged": unchanged,
        }  # fmt: skip


def count_k(
    table: pa.Table,
    k: int,
    views: Sequence[Sequence[str]],
    sensitive: str | None = None,
    units: np.ndarray | None = None,
    unit: str = "",
) -> Verdict:
    """Count the records that share their values, in some columns and in all of a table.

    Parameters
    ----------
    views : sequence of sequence of str
        Columns that are counted together, beside all columns of the table.
    sensitive : str, optional
        A column that is left out of both: an intruder is taken not to know it.
    units : int array, optional
        The unit of each record: units are counted then, and not records.
    unit : str
        What names the units.
    """
    table = table if sensitive is None else table.drop_columns([sensitive])
    named = list(dict.fromkeys(name for view in views for name in view))
    others = [name for name in table.column_names if name not in named]
    few, least = _few((group_codes(table, view) for view in views), k, units)
    blocks, unique = list[list[str]](), None
    if not others and len(views) == 1:
        all_few, all_least = few, least
    else:
        codes = group_codes(table, table.column_names)
        all_few, all_least = _few([codes], k, units)
        if len(views) > 1:
            strata = set(views[0]).intersection(*views[1:])
            blocks = [[name for name in view if name not in strata] for view in views]
            unique = int((np.bincount(codes) == 1).sum())
    return Verdict(
        k, table.num_rows, all_least, all_few, named, least, few, others, len(views) > 1, blocks,
        unique, sensitive or "", unit,
    )  # fmt: skip


def _few(
    all_codes: Iterable[np.ndarray], k: int, units: np.ndarray | None = None
) -> tuple[int, int]:
    """How many records are in a group below k in some view, and the smallest group."""
    few, least = None, None
    for codes in all_codes:
        counts = np.bincount(codes if units is None else _each_once(codes, units))
        below = counts[codes] < k
        few = below if few is None else few | below
        smallest = int(counts.min(initial=len(codes)))
        least = smallest if least is None else min(least, smallest)
    return 0 if few is None else int(np.count_nonzero(few)), least or 0


def _each_once(codes: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The codes of groups, once for each unit that has a record in the group."""
    size = int(units.max(initial=0)) + 1
    return np.unique(codes * size + units) // size
