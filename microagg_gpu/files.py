"""CSV files: every cell kept as text, only the chosen columns read as numbers and replaced."""

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .errors import InputError

DELIMITERS = (",", ";", "\t", "|")
MISSING = {"", "na", "n/a", "nan", "null"}
_BOM = "\ufeff"


@dataclass(frozen=True)
class CsvFile:
    """A CSV file in memory.

    Attributes
    ----------
    path : Path
        Where it was read, for messages.
    header : list of str
        Names of the columns.
    rows : list of list of str
        The cells of each record, as text.
    lines : list of int
        The line of the file on which each record begins.
    delimiter, newline, bom : str
        How the file is written: a copy is written the same way.
    """

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    delimiter: str
    newline: str
    bom: str

    def positions(self, columns: Sequence[str] | None) -> list[int]:
        """Positions of the named columns, of all by default; spaces around a name do not count."""
        names = [name.strip() for name in self.header]
        if columns is None:
            if all(_is_number(name) for name in names):
                raise InputError(
                    f"the first line of {self.path} holds only numbers, so the line of column "
                    "names seems to be missing: add it, or name the columns with --columns"
                )
            return list(range(len(names)))
        chosen = []
        for column in map(str.strip, columns):
            if column not in names:
                raise InputError(
                    f"column {column!r} is not in {self.path}, which has: {', '.join(names)}"
                )
            if names.index(column) in chosen:
                raise InputError(f"column {column!r} is chosen twice: name each column once")
            chosen.append(names.index(column))
        return chosen

    def numbers(self, chosen: Sequence[int]) -> np.ndarray:
        """Read columns as float64, of shape (n, p); refuse text, missing and infinite values."""
        values = np.empty((len(self.rows), len(chosen)))
        for place, j in enumerate(chosen):
            try:
                values[:, place] = [_number(row[j]) for row in self.rows]
            except ValueError:
                raise InputError(self._not_numeric(j)) from None
        for what, test in (("missing", np.isnan), ("infinite or too large", np.isinf)):
            found = test(values)
            if found.any():
                raise InputError(self._not_usable(found, chosen, what))
        return values

    def replaced(self, chosen: Sequence[int], values: np.ndarray) -> "CsvFile":
        """A copy with new numbers in the chosen columns, in the fewest digits that give them."""
        rows = [row.copy() for row in self.rows]
        for row, numbers in zip(rows, values.tolist(), strict=True):
            for j, number in zip(chosen, numbers, strict=True):
                row[j] = repr(number)
        return replace(self, rows=rows)

    def _not_numeric(self, j: int) -> str:
        bad = [i for i, row in enumerate(self.rows) if not _is_number(row[j])]
        numeric = [
            name.strip()
            for place, name in enumerate(self.header)
            if all(_is_number(row[place]) for row in self.rows)
        ]
        choose = ",".join(numeric[:12] + ["..."] * (len(numeric) > 12))
        return (
            f"column {self.header[j].strip()!r} of {self.path} is not numeric: {len(bad)} of "
            f"{len(self.rows)} values are not numbers, the first {_shown(self.rows[bad[0]][j])} "
            f"on line {self.lines[bad[0]]}: correct them, or choose --columns {choose}"
        )

    def _not_usable(self, found: np.ndarray, chosen: Sequence[int], what: str) -> str:
        where = [
            f"{self.header[j].strip()} ({count}, the first on line {self.lines[first]})"
            for j, count, first in zip(chosen, found.sum(axis=0), found.argmax(axis=0), strict=True)
            if count
        ]
        more = f" and {len(where) - 5} more columns" if len(where) > 5 else ""
        return (
            f"{found.sum()} values of {self.path} are {what}, in column {', '.join(where[:5])}"
            f"{more}: fill them in or leave out those records"
        )


def _number(cell: str) -> float:
    if "_" in cell:  # Python's own spelling of thousands
        raise ValueError(cell)
    try:
        return float(cell)
    except ValueError:
        if cell.strip().casefold() in MISSING:
            return float("nan")
        raise


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")


def read_csv(path: Path, delimiter: str | None = None) -> CsvFile:
    """Read a CSV file in UTF-8 with a header.

    Parameters
    ----------
    delimiter : str, optional
        What parts the cells; found among comma, semicolon, tab and bar by default.
    """
    text = _read_text(path)
    bom = _BOM if text.startswith(_BOM) else ""
    text = text.removeprefix(_BOM)
    if not text.strip():
        raise InputError(f"{path} is empty: it needs a header and a line for each record")
    delimiter = delimiter or _sniff(text)
    header, rows, lines = _parse(path, text, delimiter)
    names = Counter(name.strip() for name in header)
    twice = [repr(name) for name, count in names.items() if count > 1]
    if twice:
        raise InputError(f"column names of {path} appear twice ({', '.join(twice)}): rename them")
    if not rows:
        raise InputError(f"{path} has a header and no records")
    first_line = io.StringIO(text, newline="").readline()
    newline = first_line[len(first_line.rstrip("\r\n")) :] or os.linesep
    return CsvFile(path, header, rows, lines, delimiter, newline, bom)


def _read_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory: give a CSV file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not a text file in UTF-8 (byte {error.start + 1} is "
            f"0x{error.object[error.start]:02X}): save it as CSV in UTF-8"
        ) from None
    if "\0" in text:
        raise InputError(f"{path} is not a text file in UTF-8: save it as CSV in UTF-8")
    return text


def _reader(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)


def _sniff(text: str) -> str:
    """The delimiter that gives most of the first 100 lines the width of a header of 2 or more."""

    def score(delimiter: str) -> tuple[float, int]:
        widths = []
        with suppress(csv.Error):
            for row in islice(_reader(text, delimiter), 100):
                widths.append(len(row))
        if not widths or widths[0] < 2:
            return 0.0, 0
        return widths.count(widths[0]) / len(widths), widths[0]

    return max(DELIMITERS, key=score)


def _parse(path: Path, text: str, delimiter: str) -> tuple[list[str], list[list[str]], list[int]]:
    reader = _reader(text, delimiter)
    rows: list[list[str]] = []
    lines: list[int] = []
    last = 0
    try:
        for row in reader:
            rows.append(row)
            lines.append(last + 1)
            last = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"{path} cannot be read as CSV from line {last + 1} on: {error}; look for a quotation "
            "mark that is not closed"
        ) from None
    while not rows[-1]:  # empty lines at the end
        rows.pop()
    if not rows[0]:
        raise InputError(f"line 1 of {path} is empty: the names of the columns belong there")
    for row, line in zip(rows, lines, strict=False):
        if len(row) != len(rows[0]):
            raise InputError(
                f"line {line} of {path} has {_cells(len(row))} and the header {len(rows[0])}: "
                "give each line as many cells as the header"
            )
    return rows[0], rows[1:], lines[1 : len(rows)]


def _cells(count: int) -> str:
    return f"{count or 'no'} cell{'' if count == 1 else 's'}"


def write_csv(table: CsvFile, path: Path) -> None:
    """Write a file in the way its original was written."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(table.bom)
        # Python 3.11 quotes a carriage return in a cell only if it ends lines as well.
        ends = SimpleNamespace(write=lambda line: file.write(line[:-2] + table.newline))
        writer = csv.writer(ends, delimiter=table.delimiter, lineterminator="\r\n")
        writer.writerow(table.header)
        writer.writerows(table.rows)
        file.flush()
        os.fsync(file.fileno())


def verify(path: Path, original: CsvFile, chosen: Sequence[int], k: int, whole: bool) -> int:
    """Read a protected file again and count its records that are alike.

    Parameters
    ----------
    chosen : sequence of int
        The protected columns.
    whole : bool
        Whether records are alike in all protected columns; if not, in each by itself.

    Returns
    -------
    int
        The smallest number of records that are alike: at least k.

    Raises
    ------
    RuntimeError
        If that is less than k, or anything else in the file was changed.
    """
    written = read_csv(path, original.delimiter)
    kept = [j for j in range(len(original.header)) if j not in set(chosen)]
    same = written.header == original.header and all(
        new[j] == old[j] for new, old in zip(written.rows, original.rows, strict=True) for j in kept
    )
    if not same:
        raise RuntimeError("internal error: the written file differs from the original elsewhere")
    views = [list(chosen)] if whole else [[j] for j in chosen]
    least = min(
        min(Counter(tuple(row[j] for j in view) for row in written.rows).values()) for view in views
    )
    if least < k:
        raise RuntimeError(f"internal error: {least} records are alike in the file, not k={k}")
    return least


def check_target(target: Path, sources: Sequence[Path], force: bool) -> None:
    """Refuse a target that cannot or should not be written, before any work is done."""
    if any(os.path.realpath(target) == os.path.realpath(source) for source in sources):
        raise InputError(f"{target} is named twice: give each file a name of its own")
    if target.is_dir():
        raise InputError(f"{target} is a directory: give the name of a file")
    if target.exists() and not force:
        raise InputError(f"{target} exists: give another name, or --force to replace it")
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written: {target.parent} is not a directory")
    with whole_file(target) as temporary:
        temporary.touch()
        temporary.unlink()


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Yield a temporary name beside the target, which takes its place if all goes well."""
    real = Path(os.path.realpath(target))
    temporary = real.with_name(f".{real.stem}.{os.getpid()}{real.suffix}")
    try:
        yield temporary
        if temporary.exists():
            os.replace(temporary, real)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
