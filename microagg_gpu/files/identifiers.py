"""Columns that tell who somebody is: identifiers, dates, names, addresses, weights."""

import re
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

FEW = 10  # records below which a column can have different values by chance
LOOKED_AT = 1000  # values of a column of text
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?\s*")
_MAIL = re.compile(r"\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*")
_WEIGHT = re.compile(r"(^|[^a-z])(weights?|wgt|wt|w)([^a-z]|$)")
_IDENTIFIER = re.compile(r"(^|[^a-z])(id|ident|identifier|key|number|no|nr|code)([^a-z]|$)")


def telling_columns(table: pa.Table, names: Iterable[str]) -> dict[str, str]:
    """What is telling about columns that are published as they are, by their names."""
    found = {name: _told_by(table[name]) for name in names}
    return {name: text for name, text in found.items() if text}


def _told_by(column: pa.ChunkedArray) -> str:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        return ""
    if pa.types.is_temporal(column.type):
        return "holds dates or times"
    if not _is_text(column):
        return "has a different value in every record" if _all_differ(column) else ""
    some = [text for text in column.drop_null().slice(0, LOOKED_AT).to_pylist() if text.strip()]
    if some and all(_MAIL.fullmatch(text) for text in some):
        return "holds e-mail addresses"
    if some and all(_DATE.fullmatch(text) for text in some):
        return "holds dates"
    if _all_differ(column):
        return "has a different value in every record"
    letters = sum(any(c.isalpha() for c in text) for text in some)
    if len(some) >= FEW and letters > len(some) / 2 and len(set(some)) > len(some) / 2:
        return "holds names or other texts that few records share"
    return ""


def is_weight(name: str) -> bool:
    """Whether the name of a column says that it holds sampling weights."""
    return _WEIGHT.search(name.strip().casefold()) is not None


def is_identifier(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column of whole numbers only numbers the records, or weights them."""
    text = name.strip().casefold()
    if is_weight(name):
        return True
    if pa.types.is_floating(column.type):
        return False
    if _is_text(column):
        whole = pc.all(pc.match_substring_regex(column.drop_null(), r"^\s*\d+\s*$")).as_py()
        if not whole:
            return False
    return bool(_IDENTIFIER.search(text)) or _all_differ(column)


def _is_text(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def _all_differ(column: pa.ChunkedArray) -> bool:
    known = len(column) - column.null_count
    return known >= FEW and pc.count_distinct(column).as_py() == known
