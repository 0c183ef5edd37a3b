"""What a method takes besides records and k, read once from the signature of its function."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..checks import number, one_of, true_or_false, whole_number
from ..errors import InputError, shown, suggestion
from ..settings import Roles, Settings


@dataclass(frozen=True)
class Option:
    """An option of a method.

    Attributes
    ----------
    default : Any
        Its type is the type of the option, if it is not None.
    choices : tuple of str or None
        The values it can have; empty if it is not a choice.
    """

    default: Any
    choices: tuple[str | None, ...] = ()

    def check(self, name: str, value: Any) -> Any:
        """Return a value that the option can have."""
        if self.choices:
            return one_of(name, value, self.choices)
        if isinstance(self.default, bool):
            return true_or_false(name, value)
        if isinstance(self.default, int):
            return whole_number(name, value, 0)
        if isinstance(self.default, float):
            return number(name, value, 0)
        return value


@dataclass(frozen=True)
class Parameters:
    """What the function of a method takes.

    Attributes
    ----------
    options : dict from name to Option
    seed : bool
        It takes a ``seed`` for random numbers.
    found_by : bool
        It takes a list ``found_by``, to which it adds a line on what was tried and what won.
    others : bool
        It takes the options of another method too, and checks them.
    """

    options: dict[str, Option]
    seed: bool
    found_by: bool
    others: bool

    def check(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return options that the method has, with values that they can have."""
        for name in given:
            if name not in self.options and not (self.others and name not in RESERVED):
                raise no_option(method, name, self.options)
        return {
            name: self.options[name].check(name, value) if name in self.options else value
            for name, value in given.items()
        }


def no_option(method: str, name: str, known: Collection[str]) -> InputError:
    """The error for an option that a method does not have."""
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    others = [field.name for kind in (Settings, Roles) for field in fields(kind)]
    near = suggestion(name, [*known, *others])
    return InputError(f"method {method!r} has no option {shown(name)}: {takes}{near and '.'}{near}")


RESERVED = ("points", "k", "engine", "progress", "seed", "found_by")
"""What a method is given by the library. All other parameters are options."""


@cache
def parameters_of(function: Callable[..., Any]) -> Parameters:
    """Read what a method takes from the signature of its function."""
    parameters = inspect.signature(function).parameters
    types = get_type_hints(function)
    return Parameters(
        options={
            name: Option(parameter.default, _choices(types.get(name)))
            for name, parameter in parameters.items()
            if name not in RESERVED and parameter.kind is not parameter.VAR_KEYWORD
        },
        seed="seed" in parameters,
        found_by="found_by" in parameters,
        others=any(p.kind is p.VAR_KEYWORD for p in parameters.values()),
    )


def _choices(kind: Any) -> tuple[str | None, ...]:
    """The values of a Literal type, of a union of such types, or of one with None (first)."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    parts = get_args(kind)
    found = [value for part in parts for value in _choices(part)]
    return (None, *found) if found and NoneType in parts else tuple(found)
