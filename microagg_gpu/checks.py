"""Checks of arguments: each kind once, with one sentence for what cannot be used."""

import functools
import inspect
import operator
import os
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from math import inf, isfinite
from numbers import Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array

from .errors import InputError, option, shown, suggestion

LARGEST = 2**63 - 1
"""The largest whole number that all engines hold."""

P = ParamSpec("P")
R = TypeVar("R")
RENAMED = {"weights": "variable_weights"}
"""Keywords of earlier versions, and what they are called now."""


def known_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function answer an unknown keyword with an `InputError` that names the nearest.

    Old names of keywords are accepted, with a notice.
    """
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    open_ended = bool(code.co_flags & inspect.CO_VARKEYWORDS)  # options of a method

    @functools.wraps(function)
    def checked(*arguments: P.args, **given: P.kwargs) -> R:
        for name in [name for name in given if name not in known]:
            new = RENAMED.get(name)
            if new in known and new not in given:
                warnings.warn(f"{name}= is called {new}= now", FutureWarning, stacklevel=2)
                given[new] = given.pop(name)
            elif not open_ended:
                raise unknown_keyword(function.__name__, name, known)
        return function(*arguments, **given)

    return checked


def unknown_keyword(function: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a keyword that a function does not take."""
    names = [name for name in known if name != "self"]
    near = suggestion(name, names)
    return InputError(
        f"{function}() takes no {name!r}"
        + (f".{near}" if near else f": it takes {', '.join(names)}")
    )


def one_of(name: str, value: Any, known: Collection[str | None]) -> Any:
    """Return the value if it is one of those that are known: texts, or None."""
    if not (value is None or isinstance(value, str)) or value not in known:
        choice = ", ".join("None" if choice is None else repr(str(choice)) for choice in known)
        near = suggestion(value, [choice for choice in known if choice is not None])
        raise InputError(
            option(name, value), f" is unknown: choose one of {choice}{near and '.'}{near}"
        )
    return value


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and not a truth value.

    One that arrives as a float, as from R, is whole too.
    """
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, (float, np.floating)):
        return bool(value.is_integer())
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, np.ndarray) or value.dtype.kind in "iu"


def whole_number(name: str, value: Any, least: int, most: int = LARGEST) -> int:
    """Return the value as an int from least to most."""
    if not is_whole(value) or not least <= (number := int(value)) <= most:
        limits = f"of {least} or more" if most == LARGEST else f"from {least} to {most}"
        raise InputError(option(name, value), f" must be a whole number {limits}")
    return number


def number(
    name: str, value: Any, least: float = -inf, most: float = inf, *, above: bool = False
) -> float:
    """Return the value as a finite float from least to most; with `above` not least itself."""
    try:
        real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        found = float(value) if real else inf
    except OverflowError:
        found = inf
    if not isfinite(found) or not least <= found <= most or (above and found == least):
        limits = f" from {least:g} to {most:g}" if most < inf else f" of {least:g} or more"
        if above:
            limits = f" above {least:g}" + (f" and at most {most:g}" if most < inf else "")
        raise InputError(
            option(name, value), f" must be a finite number{limits if least > -inf else ''}"
        )
    return found


def true_or_false(name: str, value: Any) -> bool:
    """Return a truth value as a bool; 0 and 1 are such too."""
    if not isinstance(value, (bool, np.bool_)) and not (is_whole(value) and value in (0, 1)):
        raise InputError(option(name, value), " is not true or false")
    return bool(value)


def plain_text(name: str, value: Any) -> str:
    """Return a text, with a question mark for what no file can hold."""
    if not isinstance(value, str):
        raise InputError(option(name, value), " must be a text")
    return value.encode("utf-8", "replace").decode()


def callable_or_none(name: str, value: Any) -> Any:
    """Return a function that is to be called, or None."""
    if value is not None and not callable(value):
        raise InputError(option(name, value), " must be a function, or left out")
    return value


def mapping(name: str, value: Any) -> dict[str, Any]:
    """Return a dictionary with texts as keys; None is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(option(name, value), " must be a dictionary with texts as keys")
    return dict(value)


def file_path(name: str, value: Any) -> Path:
    """Return the path of a file."""
    try:
        usable = isinstance(value, (str, os.PathLike)) and b"\0" not in os.fsencode(value)
        if usable and os.fsencode(value).strip():
            return Path(os.fsdecode(value))
    except UnicodeError:  # a text that no file system takes
        pass
    raise InputError(option(name, value), " must be the path of a file")


def as_list(value: Any) -> list[Any]:
    """Return one thing or several as a list; a text is one thing."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return [value]
    try:
        return list(value)
    except TypeError:  # an array of no dimension
        return [value]


def comparison_rows(name: str, value: Any) -> list[dict[str, Any]]:
    """Return rows as `compare` makes them: method, k, loss and risk of each run."""
    rows = []
    for row in [] if value is None else as_list(value):
        if not isinstance(row, Mapping) or not {"method", "k", "loss", "risk"} <= set(row):
            raise InputError(
                f"{name} holds {shown(row)}: give rows of compare(), with method, k, loss and risk"
            )
        numbers = {part: row.get(part) for part in ("loss", "risk", "seconds")}
        rows.append(
            {
                **row,
                "method": plain_text("method", row["method"]),
                "k": whole_number("k", row["k"], 1),
                **{part: None if x is None else number(part, x) for part, x in numbers.items()},
            }
        )
    return rows


def column_list(name: str, value: Any, existing: Sequence[Any]) -> list[Any]:
    """Return columns as a list of their names: one name alone, or any iterable of names.

    Parameters
    ----------
    name : str
        The parameter, for messages.
    value : a name, iterable of names, or None
        A mapping gives its keys; a set, which has no order, that of the table.
    existing : sequence
        The columns of the table, which say whether a tuple is a name or several.
    """
    if value is None:
        return []
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    known = set(existing)
    if is_column(value, existing):
        chosen = [value]
    elif isinstance(value, (set, frozenset)):
        chosen = [c for c in existing if c in value] + [c for c in value if c not in known]
    else:
        try:
            # One more than there are: then one is unknown or named twice, and the rest is the same.
            chosen = list(islice(value, len(existing) + 1))
        except TypeError:  # as an array of no dimension
            raise InputError(option(name, value), " must be columns: give a list") from None
    for column in chosen:
        if not _is_hashable(column):
            raise InputError(
                f"{name} holds {shown(column)}, which is no name of a column: give a list of names"
            )
    return chosen


def is_column(value: Any, existing: Sequence[Any]) -> bool:
    """Whether a value stands for one column, by its name or in error, and not for several."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return True
    return _is_hashable(value) and value in set(existing)


def _is_hashable(value: Any) -> bool:
    if not isinstance(value, Hashable) or isinstance(value, slice):  # one from Python 3.12 on
        return False
    try:
        hash(value)
    except TypeError:  # a tuple with a list in it
        return False
    return True


def on_host(values: Any) -> np.ndarray:
    """Return an array_like as a NumPy array; one on a GPU is copied."""
    if is_cupy_array(values):
        return values.get()
    return np.asarray(values.detach().cpu() if is_torch_array(values) else values)


def whole_floats(values: np.ndarray) -> np.ndarray:
    """Floats that are whole numbers, such as labels from R, as integers; all else as it is."""
    if values.dtype.kind == "f" and bool(np.all(np.abs(values) < 2**53)):
        integers = values.astype(np.int64)
        return integers if np.array_equal(integers, values) else values
    return values


def as_floats(values: Any, what: str) -> np.ndarray:
    """Return numbers as a float64 array of any shape.

    Parameters
    ----------
    values : array_like
    what : str
        The sentence for what are not numbers.
    """
    try:
        array = on_host(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass
    raise InputError(what)
