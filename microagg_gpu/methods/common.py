"""What the method files share."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from ..checks import number, true_or_false, whole_number
from ..data.labels import labels_from_groups
from ..errors import InputError, shown
from ..kernels import engine_name
from ..kernels.protocol import Engine, HasPointSet, PointSet, Progress

HIDDEN = ("points", "k", "engine", "progress", "seed", "story")
"""Parameters of methods that are no options of them."""


def take_records(points: Any, records: np.ndarray) -> Any:
    """The rows of some records, in the points' own array library."""
    xp = array_namespace(points)
    return xp.take(points, xp.asarray(records, device=device(points)), axis=0)


def point_set(points: Any, engine: Engine) -> PointSet:
    """All records as a set that shrinks, if the engine has such sets."""
    if not isinstance(engine, HasPointSet):
        raise InputError(
            f"engine {engine_name(engine)!r} cannot run this method: take engine='generic', or "
            "device='cpu', or another method"
        )
    return engine.PointSet(points)


class Groups(list[list[int]]):
    """The groups formed so far; reports how many of the n records they hold."""

    def __init__(self, n: int, progress: Progress | None) -> None:
        self._n = n
        self._held = 0
        self._reported = 0
        self._progress = progress

    def append(self, group: list[int]) -> None:
        super().append(group)
        self._held += len(group)
        if self._progress is not None and 1000 * (self._held - self._reported) >= self._n:
            self._reported = self._held
            self._progress(self._held / self._n)

    def labels(self) -> np.ndarray:
        """The number of each record's group."""
        return labels_from_groups(self, self._n)


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
