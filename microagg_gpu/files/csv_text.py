"""CSV files as bytes: taken apart into cells of text, and put together again in the same way."""

import codecs
import csv
import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ..errors import InputError, Option, option, repeated, repeated_names
from .formats import native_copy

DELIMITERS = (",", ";", "\t", "|")
_BLOCK = 1 << 22
_BOMS = {
    codecs.BOM_UTF8: ("utf-8", "utf-8-sig"),
    codecs.BOM_UTF16_LE: ("utf-16-le", "utf-16"),
    codecs.BOM_UTF16_BE: ("utf-16-be", "utf-16"),
}
_OTHER_KINDS = {
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"\x04\x22\x4d\x18": ".lz4",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
}


@dataclass(frozen=True)
class TextForm:
    """How a CSV file is written; a copy is written the same way.

    Attributes
    ----------
    delimiter, newline : str
        What parts the cells and ends the lines.
    encoding : str
        Name of the codec that gives the text, without the mark of the byte order.
    bom : str
        The mark of the byte order at the beginning of the text, or nothing.
    decimal : str
        What stands before the decimals: a point or a comma.
    """

    delimiter: str = ","
    newline: str = "\n"
    encoding: str = "utf-8"
    bom: str = ""
    decimal: str = "."


def parse(
    path: Path,
    raw: bytes,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    *,
    ours: bool = False,
) -> tuple[pa.Table, TextForm]:
    """Take a CSV file apart into columns of text.

    Parameters
    ----------
    path : Path
        The name of the file, for messages.
    raw : bytes
        Its content, not compressed.
    delimiter, encoding : str or None
        None to find them out.
    decimal : str
        The decimal mark, which plays no part here.
    ours : bool
        Whether we wrote it ourselves, so that the delimiter is not in doubt.
    """
    if decimal not in (".", ","):
        raise InputError(
            option("decimal", decimal), " is not a decimal mark: give a point or a comma"
        )
    delimiter = _given(delimiter)
    data, encoding, bom = _decode(path, raw, encoding)
    data = data.rstrip(b"\r\n")
    if not data.strip():
        raise InputError(f"{path} is empty: it needs a header and a line for each record")
    guess, certain = _sniff(data)
    if delimiter is None:
        delimiter = guess
    header, newline = _header(path, data, delimiter)
    if len(header) == 1 and certain and guess != delimiter and not ours:
        raise InputError(
            f"{path} has one column only with the delimiter {delimiter!r}, but more with "
            f"{guess!r}: give ",
            option("delimiter", guess),
        )
    table = _fast(data, delimiter, header)
    if table is None:
        table = _exact(path, data, delimiter, header)
    return table, TextForm(delimiter, newline, encoding, bom, decimal)


def _given(delimiter: str | None) -> str | None:
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter)
    if delimiter is not None and (
        len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'
    ):
        raise InputError(
            option("delimiter", delimiter),
            " cannot separate columns: give one character of ASCII, or tab",
        )
    return delimiter


def _decode(path: Path, raw: bytes, encoding: str | None) -> tuple[bytes, str, str]:
    """The text in UTF-8, the name of its codec and its byte order mark."""
    wanted = None if encoding is None else _codec(encoding)
    name, bom = wanted or "utf-8", ""
    for mark, names in _BOMS.items():
        if raw.startswith(mark) and wanted in (None, *names):
            name, bom, raw = names[0], "\ufeff", raw[len(mark) :]
            break
    else:
        # Without a mark, these codecs would add one on writing.
        name = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(name, name)
    if "\0".encode(name) == b"\0" and b"\0" in raw:
        raise InputError(*_not_text(path, raw, name, raw.index(b"\0")))
    if name == "utf-8" and raw.isascii():
        return raw, name, bom
    try:
        text = raw.decode(name)
        data = raw if name == "utf-8" else text.encode()
    except UnicodeDecodeError as error:
        raise InputError(*_not_text(path, raw, name, error.start)) from None
    except UnicodeError:
        raise InputError(*_not_text(path, raw, name, None)) from None
    if b"\0" in data:
        raise InputError(*_not_text(path, raw, name, None))
    return data, name, bom


def _codec(encoding: str) -> str:
    try:
        "".encode(encoding)  # refuses codecs of bytes
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise InputError(
            option("encoding", encoding),
            " is unknown: give one such as utf-8, latin-1, cp1252 or utf-16",
        ) from None


def _not_text(path: Path, raw: bytes, name: str, place: int | None) -> list[str | Option]:
    if raw.startswith(b"PK\3\4"):
        return [f"{path} is a ZIP archive or an Excel workbook: save its table as CSV"]
    for begin, ending in _OTHER_KINDS.items():
        if raw.startswith(begin):
            return [f"{path} is not a text file: it seems to need the ending {ending}"]
    where = "" if place is None else f" (byte {place + 1} is 0x{raw[place]:02X})"
    other = "utf-16" if place is not None and not raw[place] else "latin-1"
    said = f"{path} is not a text file in {name.upper()}{where}: save it as CSV in UTF-8"
    if other == name:
        return [said]
    return [f"{said}, or give its encoding, such as ", option("encoding", other)]


def _lines(data: bytes) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")


def _reader(lines: Iterator[str], delimiter: str) -> Any:
    return csv.reader(lines, delimiter=delimiter, strict=True)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Lift the limit of Python's csv module, 128 KiB a cell."""
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _sniff(data: bytes) -> tuple[str, bool]:
    """Find the delimiter that gives most of the first 100 lines the width of a header of 2 or more.

    Returns
    -------
    delimiter : str
    certain : bool
        Whether it gives all of them that width.
    """

    def score(delimiter: str) -> tuple[float, int]:
        widths = []
        with suppress(csv.Error):
            for row in islice(_reader(_lines(data), delimiter), 100):
                widths.append(len(row))
        if not widths or widths[0] < 2:
            return 0.0, 0
        return widths.count(widths[0]) / len(widths), widths[0]

    best = max(DELIMITERS, key=score)
    return best, score(best)[0] == 1


def _header(path: Path, data: bytes, delimiter: str) -> tuple[list[str], str]:
    """The names of the columns, and what ends their line."""
    reader = _reader(_lines(data), delimiter)
    try:
        with _long_cells():
            header = next(reader)
    except csv.Error as error:
        raise InputError(_not_csv(path, 1, error)) from None
    if not header:
        raise InputError(f"line 1 of {path} is empty: the names of the columns belong there")
    check_names(path, header)
    last = next(islice(_lines(data), reader.line_num - 1, None))
    return header, last[len(last.rstrip("\r\n")) :] or "\n"


def check_names(path: Path, names: list[str]) -> None:
    """Refuse columns of the same name."""
    twice = repeated(name.strip() for name in names)
    if twice:
        raise repeated_names(map(repr, twice), path)


def _not_csv(path: Path, line: int, error: csv.Error) -> str:
    return (
        f"{path} cannot be read as CSV from line {line} on: {error}; look for a quotation "
        "mark that is not closed"
    )


def _fast(data: bytes, delimiter: str, header: list[str]) -> pa.Table | None:
    """All cells by Arrow's reader; None if Python's csv module may see other ones."""
    quoted = b'"' in data
    size = _block_size(data) if quoted else _BLOCK
    if len(header) == 1 or size is None or (quoted and not _well_quoted(data, delimiter)):
        return None
    threads = len(data) > size  # for one block they are not worth starting
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(native_copy(data)),
            read_options=pa.csv.ReadOptions(block_size=size, use_threads=threads),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=quoted, ignore_empty_lines=False
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.column_names != header:
        return None
    # Arrow takes an empty line for a record of empty cells.
    if any(blank in data for blank in (b"\n\n", b"\n\r", b"\r\r")):
        empty: Any = True
        for column in table.columns:
            empty = pc.and_(pc.equal(column, ""), empty)
        if pc.any(empty).as_py():
            return None
    return table


def _block_size(data: bytes) -> int | None:
    """A size of blocks whose ends part no CR LF, since Arrow would lose that LF within a cell.

    See https://github.com/apache/arrow/issues/51368.
    """
    begin = max(_BLOCK, len(data) // 32)
    for size in range(begin, begin + 64):
        if all(data[end - 1 : end + 1] != b"\r\n" for end in range(size, len(data), size)):
            return size
    return None


def _well_quoted(data: bytes, delimiter: str) -> bool:
    """Whether quotation marks stand around whole cells, doubled within, and nowhere else."""
    cells = np.frombuffer(data, np.uint8)
    beside = np.zeros(256, bool)
    beside[[ord(delimiter), *b'\r\n"']] = True
    count = 0
    for begin in range(0, len(cells), _BLOCK):
        marks = begin + np.flatnonzero(cells[begin : begin + _BLOCK] == ord('"'))
        opening, closing = marks[count % 2 :: 2], marks[1 - count % 2 :: 2]
        count += len(marks)
        opening = opening[opening > 0]
        closing = closing[closing < len(cells) - 1]
        if not (beside[cells[opening - 1]].all() and beside[cells[closing + 1]].all()):
            return False
    return count % 2 == 0


def _exact(path: Path, data: bytes, delimiter: str, header: list[str]) -> pa.Table:
    """All cells by Python's csv module; slower, but it knows the line of what is wrong."""
    schema = pa.schema([(name, pa.string()) for name in header])
    batches: list[pa.RecordBatch] = []
    reader = _reader(_lines(data), delimiter)
    with _long_cells():
        next(reader)
        while True:
            rows = []
            begins = reader.line_num + 1
            try:
                for row in islice(reader, max(1, 1_000_000 // len(header))):
                    line, begins = begins, reader.line_num + 1
                    if len(row) != len(header):
                        raise InputError(
                            f"line {line} of {path} has {_cells(len(row))} and the header "
                            f"{len(header)}: give each line as many cells as the header"
                        )
                    rows.append(row)
            except csv.Error as error:
                raise InputError(_not_csv(path, begins, error)) from None
            if not rows:
                return pa.Table.from_batches(batches, schema)
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
            batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))


def _cells(count: int) -> str:
    return f"{count or 'no'} cell{'' if count == 1 else 's'}"


def line_numbers(path: Path, raw: bytes, form: TextForm, records: list[int]) -> list[int | None]:
    """The lines of a CSV file on which records begin; None for records that are not in it."""
    data = _decode(path, raw, form.encoding)[0]
    if b'"' not in data:
        return [record + 2 for record in records]
    found = {}
    wanted = set(records)
    reader = _reader(_lines(data), form.delimiter)
    with _long_cells(), suppress(csv.Error):
        next(reader)
        begins = reader.line_num + 1
        for record, _ in enumerate(islice(reader, max(records, default=-1) + 1)):
            if record in wanted:
                found[record] = begins
            begins = reader.line_num + 1
    return [found.get(record) for record in records]


def write(table: pa.Table, form: TextForm, send: Callable[[Any], Any]) -> None:
    """Put a table of text together as a CSV file.

    Parameters
    ----------
    table : pa.Table
        Columns of text, or of dictionaries of text, without nulls.
    send : callable
        Takes the bytes, piece by piece.
    """
    names = [pa.array([name], pa.large_string()) for name in table.column_names]
    head = pa.RecordBatch.from_arrays(names, [str(j) for j in range(len(names))])
    rows = 1 + int(table.num_rows * 4 * _BLOCK / max(table.nbytes, 1))
    encoder = None if form.encoding == "utf-8" else codecs.getincrementalencoder(form.encoding)()

    def encoded(text: Any) -> Any:
        return text if encoder is None else encoder.encode(str(text, "utf-8"))

    send(encoded(form.bom.encode()))
    for batch in (head, *table.to_batches(max_chunksize=rows)):
        send(encoded(_joined(batch, form)))
    if encoder is not None:
        send(encoder.encode("", final=True))


def _joined(batch: pa.RecordBatch, form: TextForm) -> pa.Buffer:
    """The lines of a batch, one after the other as they lie in memory."""
    single = batch.num_columns == 1
    columns = [_quoted(column.cast(pa.large_string()), form, single) for column in batch.columns]
    lines = pc.binary_join_element_wise(*columns, _scalar(form.delimiter))
    lines = pc.binary_join_element_wise(lines, _scalar(""), _scalar(form.newline))
    joined = lines.buffers()[2].slice(0, pc.sum(pc.binary_length(lines)).as_py() or 0)
    if not np.frombuffer(joined, np.uint8).all():
        place = next(j for j, cells in enumerate(columns) if pc.any(_hold_nul(cells)).as_py())
        raise InputError(
            f"column {place + 1} holds the character NUL, which no CSV file can hold: "
            "leave it out, or write Parquet"
        )
    return joined


def _hold_nul(cells: pa.Array) -> pa.Array:
    return pc.match_substring(cells, "\0")


def _quoted(cells: pa.Array, form: TextForm, single: bool) -> pa.Array:
    """Put quotation marks around the cells that need them."""
    # At the start of a file U+FEFF would be taken for a byte order mark.
    special = pc.match_substring_regex(cells, f'[{re.escape(form.delimiter)}"\r\n]|^\ufeff')
    if single:  # an empty cell must not become an empty line
        special = pc.or_(special, pc.equal(cells, ""))
    if not pc.any(special).as_py():
        return cells
    doubled = pc.replace_substring(cells, '"', '""')
    marked = pc.binary_join_element_wise(_scalar('"'), doubled, _scalar('"'), _scalar(""))
    return pc.if_else(special, marked, cells)


def _scalar(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
