"""The one exception that bad input raises, and the warning about data that look wrong.

A message is made of parts: texts, and the options that it names. The same message then says
``missing='pattern'`` in Python and ``--missing pattern`` in the command.
"""

import os
from collections.abc import Callable, Hashable, Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

_ABSENT = object()


class Option(NamedTuple):
    """An option that a message names, with its value if that is given."""

    name: str
    value: Any = _ABSENT

    @property
    def has_value(self) -> bool:
        """Whether the message names a value too."""
        return self.value is not _ABSENT

    def __str__(self) -> str:
        return f"{self.name}={shown(self.value) if self.has_value else ''}"

    def __reduce__(self) -> tuple[Any, ...]:
        return option, (self.name, self.value) if self.has_value else (self.name,)


def option(name: str, value: Any = _ABSENT) -> Option:
    """An option for a message: ``option("missing", "pattern")``, or ``option("columns")``."""
    return Option(name, value)


class InputError(ValueError):
    """The data or an option cannot be used; the message says what, where and what to do.

    It is one line, whatever stands in the names that it quotes.

    Parameters
    ----------
    *parts : texts and options
        What the message is made of; see `option`.
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*(part if isinstance(part, Option) else str(part) for part in parts))

    def __str__(self) -> str:
        return self.written(str)

    def written(self, spell: Callable[[Option], str]) -> str:
        """Return the message, with its options spelled as the caller's users write them.

        Parameters
        ----------
        spell : callable
            From an `Option` to its text.

        Returns
        -------
        str
            One line.
        """
        parts = (spell(part) if isinstance(part, Option) else part for part in self.args)
        return " ".join("".join(parts).splitlines())


class DataWarning(UserWarning):
    """The data can be used but hold something that is probably a mistake."""


def shown(value: Any) -> str:
    """A value as one short line, whatever it is."""
    text = " ".join(as_text(value, repr).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def as_text(value: Any, text_of: Callable[[Any], str] = str) -> str:
    """The text of a value, or the name of its type if it has none."""
    try:
        return text_of(value)
    except Exception:  # an object that cannot show itself must not hide what is wrong with it
        return f"<{type(value).__name__}>"


def listed(names: Iterable[Any], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    texts = [" ".join(as_text(name).split()) for name in names]
    more = len(texts) - most
    if more <= 0:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {more:,} more"


def suggestion(value: Any, known: Iterable[Any]) -> str:
    """' Did you mean ...?' if a known name is near to the value, else nothing."""
    names = {str(name).casefold(): str(name) for name in known}
    text = as_text(value).casefold()
    near = [names[text]] if text in names else get_close_matches(text, names, 1)
    return f" Did you mean {names.get(near[0], near[0])!r}?" if near else ""


def unknown_column(
    column: Any, table: object, names: Iterable[Any], *advice: str | Option
) -> InputError:
    """The error for a column that a table does not have; `table` is what to call it."""
    known = list(names)
    near = suggestion(column, map(as_text, known))
    return InputError(
        f"column {shown(column)} is not in {table}, which has: {listed(known)}",
        *advice,
        f".{near}" if near else "",
    )


def reason(error: OSError) -> str:
    """Why the system refused, in its own words; Arrow puts more around them."""
    return os.strerror(error.errno) if error.errno else error.strerror or str(error)


def values_are(count: int, of: object = "") -> str:
    """'1 value is', '7 values are', '7 values of FILE are'."""
    noun, verb = ("value", "is") if count == 1 else ("values", "are")
    return f"{count} {noun}{f' of {of}' if of else ''} {verb}"


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


def too_few_records(k: object, n: int, what: str = "records") -> InputError:
    """The error for a k above the number of records, or units."""
    return InputError(option("k", k), f" is more than the {n} {what}: give a k of {n} or less")


def values_missing(count: int, where: str, of: object = "", form: str = "missing") -> InputError:
    """The error for missing values where none may be; `where` names the columns."""
    return InputError(
        f"{values_are(count, of)} {form}, in column {where}: fill them in, group records with the "
        "same ones missing (",
        option("missing", "pattern"),
        "), or leave out those records (",
        option("missing", "drop"),
        ")",
    )
