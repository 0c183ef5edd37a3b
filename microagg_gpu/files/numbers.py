"""Cells of text read as numbers, and values written as text."""

import re
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import Option, option

MOST_DECIMALS = 9  # with more, numbers are taken to be measured or computed, and not rounded
_MISSING = r"(?i)^(na|n/a|nan|null)?$"
_SPACES = " \u00a0\u202f'\u2019_"  # thousands are parted by these, too


def widened(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in single precision if it is in half, for which Arrow lacks functions."""
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in which what is not a number is missing."""
    column = widened(column)
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def read_numbers(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray | None:
    """Read text as int64 or uint64 if all are whole numbers, else as float64; None if not numbers.

    Empty cells, NA, N/A, nan and null are missing.
    """
    nothing = pa.scalar(None, cells.type)
    clean = pc.utf8_trim_whitespace(cells)
    clean = pc.if_else(pc.match_substring_regex(clean, _MISSING), nothing, clean)
    if decimal == ",":
        if pc.any(pc.match_substring(clean, ".")).as_py():
            return None
        clean = pc.replace_substring(clean, ",", ".")
    if pc.any(pc.starts_with(clean, "+")).as_py():
        clean = pc.replace_substring_regex(clean, r"^\+([^+-])", r"\1")
    try:
        floats = pc.cast(clean, pa.float64())  # refuses hexadecimal, which int64 would take
    except pa.ArrowInvalid:
        return None
    for whole in (pa.int64(), pa.uint64()) if clean.null_count < len(clean) else ():
        with suppress(pa.ArrowInvalid):
            return pc.cast(clean, whole)
    return without_nan(floats)


def decimals(column: pa.ChunkedArray, mark: str = ".") -> int | None:
    """The most decimals that a number of a column has; None if they are many, or not to be seen.

    Text is taken as it is written, numbers in the fewest digits that give them back.
    """
    kind = column.type
    if pa.types.is_integer(kind):
        return 0
    if pa.types.is_decimal(kind):
        return int(kind.scale) if 0 <= kind.scale <= MOST_DECIMALS else None
    if pa.types.is_floating(kind):
        values = column.drop_null().to_numpy()
        values = values[np.isfinite(values)]
        some = _places(values[:1000], 0)  # few have many decimals without these
        return None if some is None else _places(values, some)
    clean = pc.utf8_trim_whitespace(column)
    if pc.any(pc.match_substring_regex(clean, "(?i)[0-9.,]e")).as_py():
        return None
    place = pc.find_substring(clean, mark)
    after = pc.subtract(pc.subtract(pc.utf8_length(clean), place), 1)
    most = pc.max(pc.if_else(pc.less(place, 0), 0, after)).as_py() or 0
    return most if most <= MOST_DECIMALS else None


def _places(values: np.ndarray, least: int) -> int | None:
    """The fewest decimals, from some number on, that give all values back."""
    for places in range(least, MOST_DECIMALS + 1):
        if (np.round(values.astype(np.float64), places).astype(values.dtype) == values).all():
            return places
    return None


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a cell holds a finite number."""
    mark = re.escape(decimal)
    number = rf"[+-]?([0-9]+{mark}?[0-9]*|{mark}[0-9]+)(e[+-]?[0-9]+)?"
    return re.fullmatch(number, text.strip(), re.IGNORECASE) is not None


def not_numbers(cells: pa.ChunkedArray, decimal: str) -> np.ndarray:
    """Mark the cells that `read_numbers` cannot read."""
    others = re.compile("([+-]?(inf|infinity|nan)|na|n/a|null)?", re.IGNORECASE)
    return np.array(
        [
            not is_number(cell, decimal) and others.fullmatch(cell.strip()) is None
            for cell in cells.to_pylist()
        ],
        bool,
    )


def advice(cell: str, decimal: str) -> list[str | Option]:
    """What to do about a cell that is a number in another notation: parts of a message."""
    mark, other = re.escape(decimal), "," if decimal == "." else "."
    cell = cell.strip()
    if re.fullmatch(rf"[+-]?\d{{1,3}}[{other}]\d{{3}}", cell):
        return [
            "if its mark parts thousands, take it out, and if it is the decimal mark, give ",
            option("decimal", other),
        ]
    if re.fullmatch(rf"[+-]?\d*[{other}]\d+(e[+-]?\d+)?", cell, re.IGNORECASE):
        return [f"if {other} is the decimal mark, give ", option("decimal", other)]
    if re.fullmatch(rf"[+-]?\d{{1,3}}([{_SPACES}{other}]\d{{3}})+({mark}\d*)?", cell):
        return ["take out the marks that part thousands"]
    if re.fullmatch(rf"[+-]?\d{{1,3}}([{_SPACES}{decimal}]\d{{3}})+([{other}]\d*)?", cell):
        return [f"take out the marks that part thousands; the decimal mark seems to be {other}"]
    return []


def spell(column: pa.ChunkedArray, decimal: str, missing: str) -> pa.ChunkedArray:
    """Write values as text: numbers in the fewest digits that give them back.

    Returns
    -------
    pa.ChunkedArray
        Of large_string, or of a dictionary of text for floating-point numbers.
    """
    if not pa.types.is_floating(column.type):
        return column.cast(pa.large_string()).fill_null(missing)
    # Each distinct value once, and by its bits: -0.0 is another text than 0.0.
    column = widened(column)
    bits = pa.int64() if pa.types.is_float64(column.type) else pa.int32()
    codes = pa.chunked_array([chunk.view(bits) for chunk in column.chunks], bits)
    codes = codes.combine_chunks().dictionary_encode()
    distinct = codes.dictionary.to_numpy().view(column.type.to_pandas_dtype())
    texts = [str(value) for value in distinct]
    if decimal == ",":
        texts = [text.replace(".", ",") for text in texts]
    indices = codes.indices.fill_null(len(texts))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, pa.array([*texts, missing]))])
