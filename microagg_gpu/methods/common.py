"""What the method files share."""

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..errors import InputError

Progress = Callable[[float], None]


def take_records(points: Any, records: np.ndarray) -> Any:
    """The rows of some records, in the points' own array library."""
    xp = array_namespace(points)
    return xp.take(points, xp.asarray(records, device=device(points)), axis=0)


def check_options(name: str, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Refuse options that a method does not have, and values of another type than they take."""
    parameters = inspect.signature(function).parameters
    inner = any(p.kind is p.VAR_KEYWORD for p in parameters.values())  # checks what is for it
    for option, value in options.items():
        if option not in parameters and not inner:
            hidden = ("points", "k", "engine", "progress", "seed", "story")
            own = [p for p in parameters if p not in hidden]
            takes = f"it takes {', '.join(own)}" if own else "it takes none"
            raise InputError(f"method {name!r} has no option {option!r}: {takes}")
        default = parameters[option].default if option in parameters else None
        for kind, numbers, what in (
            (bool, bool, "true or false"),
            (int, Integral, "a whole number"),
            (float, Real, "a number"),
            (str, str, "a text"),
        ):
            if type(default) is kind and not isinstance(value, numbers):
                raise InputError(f"{option}={value!r} is not {what}")
