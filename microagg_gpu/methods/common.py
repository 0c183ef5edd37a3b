"""What the method files share."""

import inspect
from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace, device

from ..errors import InputError

Progress = Callable[[float], None]


def take_records(points: Any, records: list[int]) -> Any:
    """The rows of some records, in the points' own array library."""
    xp = array_namespace(points)
    return xp.take(points, xp.asarray(records, device=device(points)), axis=0)


def check_options(name: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Refuse options that a method does not have."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return  # the inner method checks them
    unknown = [option for option in options if option not in parameters]
    if unknown:
        known = [p for p in parameters if p not in ("points", "k", "engine", "progress", "seed")]
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise InputError(f"method {name!r} has no option {unknown[0]!r}: {takes}")
