"""What the method files share."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..checks import number, true_or_false, whole_number
from ..errors import InputError, shown

HIDDEN = ("points", "k", "engine", "progress", "seed", "story")
"""Parameters of methods that are no options of them."""


def take_records(points: Any, records: np.ndarray) -> Any:
    """The rows of some records, in the points' own array library."""
    xp = array_namespace(points)
    return xp.take(points, xp.asarray(records, device=device(points)), axis=0)


def check_options(
    name: str, function: Callable[..., Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return options that a method has, with values of the type of their default."""
    parameters = inspect.signature(function).parameters
    inner = any(p.kind is p.VAR_KEYWORD for p in parameters.values())  # checks what is for it
    checked = dict(options)
    for option, value in options.items():
        if option in HIDDEN or (option not in parameters and not inner):
            own = [p.name for p in parameters.values() if p.kind is not p.VAR_KEYWORD]
            own = [p for p in own if p not in HIDDEN]
            takes = f"it takes {', '.join(own)}" if own else "it takes none"
            raise InputError(f"method {name!r} has no option {shown(option)}: {takes}")
        default = parameters[option].default if option in parameters else None
        if isinstance(default, bool):
            checked[option] = true_or_false(option, value)
        elif isinstance(default, int):
            checked[option] = whole_number(option, value, 0)
        elif isinstance(default, float):
            checked[option] = number(option, value, 0)
        elif isinstance(default, str) and not isinstance(value, str):
            raise InputError(f"{option}={shown(value)} is not a text")
    return checked
