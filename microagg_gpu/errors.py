"""The one exception that bad input raises, and the warning about data that look wrong."""

import os
from collections.abc import Hashable, Iterable


def reason(error: OSError) -> str:
    """Why the system refused, in its own words; Arrow puts more around them."""
    return os.strerror(error.errno) if error.errno else error.strerror or str(error)


def values_are(count: int, of: object = "") -> str:
    """'1 value is', '7 values are', '7 values of FILE are'."""
    one = count == 1
    return f"{count} value{'' if one else 's'}{f' of {of}' if of else ''} {'is' if one else 'are'}"


class InputError(ValueError):
    """The data or an option cannot be used; the message says what, where and what to do.

    It is one line, whatever stands in the names that it quotes.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(" ".join(str(message).splitlines()))


class DataWarning(UserWarning):
    """The data can be used but hold something that is probably a mistake."""


def repeated(names: Iterable[Hashable]) -> list[Hashable]:
    """The names that are there more than once, in the order in which they come again."""
    before: set[Hashable] = set()
    again: dict[Hashable, None] = {}
    for name in names:
        if name in before:
            again[name] = None
        before.add(name)
    return list(again)


def repeated_names(names: Iterable[str], of: object = "") -> InputError:
    """The error for columns of the same name, in a file that may be named."""
    source = f" of {of}" if of else ""
    return InputError(f"column names{source} appear twice ({', '.join(names)}): rename them")


def too_few_records(k: object, n: int) -> InputError:
    """The error for a k above the number of records."""
    return InputError(f"k={k} is more than the {n} records: give a k of {n} or less")


def values_missing(count: int, where: str, of: object = "", form: str = "missing") -> InputError:
    """The error for missing values where none may be; `where` names the columns."""
    return InputError(
        f"{values_are(count, of)} {form}, in column {where}: fill them in, group records with the "
        "same ones missing (missing='pattern'), or leave out those records (missing='drop')"
    )
