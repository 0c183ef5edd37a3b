"""Columns that say who somebody is: identifiers, dates, names, addresses, weights."""

import re
from collections.abc import Iterable
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

FEW = 10  # records below which a column can have different values by chance
LOOKED_AT = 1000  # values of a column of text
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ].*)?\s*")
_MAIL = re.compile(r"\s*[^@\s]+@[^@\s]+\.[^@\s]+\s*")
_WEIGHT = re.compile(r"(^|[^a-z])(weights?|wgt|wt|w)([^a-z]|$)")
_IDENTIFIER = re.compile(r"(^|[^a-z])(id|ident|identifier|key|number|no|nr|code)([^a-z]|$)")
_PERSON = re.compile(
    r"(^|[^a-z])((sur|first|last|fore)?names?|contacts?|persons?|(tele)?phone|mobile|fax|e?mail|"
    r"address|street|birth(day|date)?|born|dob|iban|passport|ssn|vat)([^a-z]|$)"
)
_DAY = re.compile(r"\s*(1[89]|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\s*")  # 19991231
_NEARLY = 0.9  # of the records have different values
_SEVERAL = 20  # values that a column of persons has, and one of some classes has not


def identifying_columns(table: pa.Table, names: Iterable[str]) -> dict[str, str]:
    """What identifies people in columns that are published unchanged, by column."""
    found = {name: _identifying(name, table[name]) for name in names}
    return {name: text for name, text in found.items() if text}


def _identifying(name: str, column: pa.ChunkedArray) -> str:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        return ""
    if pa.types.is_temporal(column.type):
        return "holds dates or times"
    some = _some_texts(column)
    if some and all(_MAIL.fullmatch(text) for text in some):
        return "holds e-mail addresses"
    if some and all(_DATE.fullmatch(text) or _DAY.fullmatch(text) for text in some):
        return "holds dates"
    known = len(column) - column.null_count
    different = pc.count_distinct(column).as_py() if known >= FEW else 0
    if known and different == known:
        return "has a different value in every record"
    letters = sum(any(c.isalpha() for c in text) for text in some)
    if len(some) >= FEW and letters > len(some) / 2 and len(set(some)) > len(some) / 2:
        return "holds names or other texts that few records share"
    if different > _SEVERAL and different >= _NEARLY * known:
        return "has a different value in nearly every record"
    if different > _SEVERAL and _PERSON.search(name.strip().casefold()):
        return "seems to say who somebody is"
    return ""


def _some_texts(column: pa.ChunkedArray) -> list[str]:
    """The first values, as texts; none of numbers that are not whole."""
    if not (_is_text(column) or pa.types.is_integer(column.type)):
        return []
    return [
        text for v in column.drop_null().slice(0, LOOKED_AT).to_pylist() if (text := str(v)).strip()
    ]


def is_weight(name: str) -> bool:
    """Whether the name of a column says that it holds sampling weights."""
    return _WEIGHT.search(name.strip().casefold()) is not None


def is_identifier(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column of whole numbers only numbers the records, or weights them."""
    return is_weight(name) or bool(
        _is_whole(column) and (_IDENTIFIER.search(name.strip().casefold()) or _all_differ(column))
    )


def is_no_variable(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a column of whole numbers surely only numbers the records.

    It counts up from record to record; or its name says so, and nearly all values differ.
    """
    if len(column) < FEW or not _is_whole(column):
        return False
    if _IDENTIFIER.search(name.strip().casefold()):
        return bool(pc.count_distinct(column).as_py() >= _NEARLY * len(column))
    first = [int(text) for text in _some_texts(column)]
    return len(first) >= FEW and all(b == a + 1 for a, b in pairwise(first))


def _is_whole(column: pa.ChunkedArray) -> bool:
    if not _is_text(column):
        return not pa.types.is_floating(column.type)
    return bool(pc.all(pc.match_substring_regex(column.drop_null(), r"^\s*\d+\s*$")).as_py())


def _is_text(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type) or pa.types.is_large_string(column.type)


def _all_differ(column: pa.ChunkedArray) -> bool:
    known = len(column) - column.null_count
    return known >= FEW and pc.count_distinct(column).as_py() == known
