"""How a printed table is held."""

import re
from typing import NamedTuple


class Table(NamedTuple):
    """A printed table: cells are text, because the printed digits say how to compare."""

    name: str
    caption: str
    columns: list[str]
    rows: dict[str, list[str]]

    def cell(self, row: str, column: str) -> str:
        """The printed text of a cell."""
        return self.rows[row][self.columns.index(column)]


class Tables(dict[str, Table]):
    """Tables by name."""

    def add(self, name: str, caption: str, text: str) -> None:
        """Read a block: column names, then rows; names and cells two or more spaces apart."""
        head, *lines = (re.split(r"\s{2,}", line.strip()) for line in text.strip().splitlines())
        rows = {row: cells for row, *cells in lines}
        if len(rows) != len(lines) or any(len(cells) != len(head) for cells in rows.values()):
            raise ValueError(f"{name}: rows of one table need different names and as many cells")
        self[name] = Table(name, caption, head, rows)
