"""What the method files share."""

from typing import Any

import numpy as np
from array_api_compat import device

from ..data.labels import labels_from_groups
from ..errors import InputError, option
from ..kernels import array_namespace, engine_name
from ..kernels.point_set import HasPointSet, PointSet
from ..kernels.protocol import Engine, Progress


def take_records(points: Any, records: np.ndarray) -> Any:
    """The rows of some records, in the points' own array library."""
    xp = array_namespace(points)
    return xp.take(points, xp.asarray(records, device=device(points)), axis=0)


def point_set(points: Any, engine: Engine) -> PointSet:
    """All records as a set that shrinks, if the engine has such sets."""
    if not isinstance(engine, HasPointSet):
        raise InputError(
            f"engine {engine_name(engine)!r} cannot run this method: use ",
            option("engine", "generic"),
            ", ",
            option("device", "cpu"),
            " or another method",
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
