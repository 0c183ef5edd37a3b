"""Texts of options as values."""

import csv
import re
import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import typer

from ..errors import InputError, Option, option, shown
from ..methods import METHODS, check_names
from ..settings import ClusterSettings, Format, Roles, Settings, check_dominance, check_k

OWN = {
    field.name
    for kind in (Settings, Roles, Format, ClusterSettings)
    for field in fields(kind)
} | {"group_column", "drop", "output", "force"}  # fmt: skip
"""Parameters of the library that the command has as options; others are options of a method."""
SPELLED = {"k": "-k", "sampling_weight": "--weight", "standardize": "--no-standardize"}


def as_command(option: Option) -> str:
    """An option of the library as users of the command write it."""
    if option.name not in OWN:
        return f"--option {option.name}={_text(option.value) if option.has_value else '...'}"
    flag = SPELLED.get(option.name, f"--{option.name.replace('_', '-')}")
    if not option.has_value or isinstance(option.value, bool):
        return flag
    if option.name == "ordinal" and isinstance(option.value, dict):
        orders = (f"{name}={'<'.join(order)}" for name, order in option.value.items())
        return " ".join(f"{flag} {shlex.quote(order)}" for order in orders)
    return f"{flag} {_text(option.value)}"


def _text(value: Any) -> str:
    return shlex.quote(value) if isinstance(value, str) and value.isprintable() else shown(value)


def split(text: str | None) -> list[str]:
    """Split a list at its commas; a name that holds one is put in quotation marks."""
    if not text:
        return []
    try:
        return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:  # a line break
        raise InputError(f"{text!r} cannot be read as a list: separate names by commas") from None


def parse(name: str, kind: type, text: str) -> Any:
    """A value of the given type from its text."""
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                text.casefold()
            ]
        return kind(text)
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise InputError(f"{name}={text!r} is not {wanted}") from None


def least_size(k: int) -> int:
    """The size of groups, which protects from 2 on."""
    if check_k(k) < 2:
        raise InputError(option("k", k), " protects nobody: give 2 or more")
    return k


def variable_weights(
    text: str | None, old: str | None = None
) -> list[float] | dict[str, float] | None:
    """Weights in order, '1,2', or by name, 'staff=2'; `old` is that of an earlier option."""
    if old is not None:
        typer.echo("microagg: --column-weights is called --variable-weights now", err=True)
        text = old if text is None else text
    if text is None:
        return None
    pairs = [part.rpartition("=") for part in split(text)]
    if all(name for name, _, _ in pairs):
        return {name.strip(): parse("weight", float, weight) for name, _, weight in pairs}
    return [parse("weight", float, part) for part in split(text)]


def blocks_of(text: str | None) -> list[list[str]] | None:
    """Blocks of columns, as 'a,b;c,d'; a name that holds a comma or semicolon is in quotes."""
    if text is None:
        return None
    return [split(part) for part in re.findall(r'(?:"(?:[^"]|"")*"|[^;])+', text)]


def dominance(text: str | None) -> tuple[int, float] | None:
    """A number of contributors and a percentage, as '1,85'."""
    if text is None:
        return None
    try:
        count, percent = split(text)
        return check_dominance((int(count), float(percent)))
    except ValueError:
        return check_dominance(text)


def orders(given: Sequence[str]) -> dict[str, list[str] | None]:
    """Ordinal columns from 'size=small<medium<large', or a list of columns of numbers."""
    found: dict[str, list[str] | None] = {}
    for text in given:
        if "<" in text and "=" in text:
            name, _, order = text.partition("=")
            found[name.strip()] = [category.strip() for category in order.split("<")]
        else:
            found |= dict.fromkeys(split(text))
    return found


def roles_of(
    columns: str | None,
    by: str | None,
    weight: str | None,
    ordinal: Sequence[str] | None,
    nominal: str | None,
    sensitive: str | None = None,
    unit: str | None = None,
) -> Roles:
    """The columns that options name."""
    return Roles(
        None if columns is None else split(columns), split(by), weight, orders(ordinal or []),
        split(nominal), sensitive, split(unit) or None,
    )  # fmt: skip


def defaults(method: str) -> dict[str, Any]:
    """Options of a method and their defaults."""
    return {name: option.default for name, option in METHODS[method].takes.options.items()}


def method_options(method: str, pairs: Sequence[str]) -> dict[str, Any]:
    """Options of a method from NAME=VALUE, each of the type that its default has."""
    texts = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (name and equals):
            raise InputError(f"option {pair!r} is not NAME=VALUE, as in gamma=0.2")
        texts[name] = text
    if method not in METHODS:
        return {}  # `microaggregate` refuses it
    check_names(method, texts)
    known = METHODS[method].options(texts)
    return {name: _typed(name, known[name].default, text) for name, text in texts.items()}


def _typed(name: str, default: Any, text: str) -> Any:
    return _guess(text) if default is None else parse(name, type(default), text)


def _guess(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.casefold(), text)
