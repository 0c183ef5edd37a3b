"""The least loss within a time: constructive methods, paths, and refinement of what they find."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..checks import number, whole_number
from ..data.labels import numbered
from ..kernels import to_numpy
from ..kernels.compiling import clock
from ..kernels.protocol import Engine, Progress
from .annealing import refine, sum_of_squares
from .extremes import centroid
from .mdav import mdav
from .mst import mst
from .path import path
from .ranked import optimal
from .vmdav import vmdav

_SHARE = 0.2  # of the time, for constructive methods
_MANY = 50_000  # records above which only the quickest of them runs: annealing forgets its start
_ROUNDS = 4  # of annealing at most: now and then one freezes badly
_ENOUGH = 5_000  # steps for each record in a round, if there are several
_SPEED = 3e6  # steps in a second, about

_STARTS: dict[str, Callable[..., np.ndarray]] = {
    "path curve": partial(path, order="curve"),
    "mdav": mdav,
    "path": path,
    "mst centroid": partial(mst, split="centroid"),
    "vmdav": vmdav,
    "centroid": centroid,
}


def best(
    points: Any,
    k: int,
    *,
    seconds: float = 60.0,
    steps: int = 0,
    seed: int = 0,
    engine: Engine,
    progress: Progress | None = None,
    found_by: list[str] | None = None,
) -> np.ndarray:
    """The best of a portfolio of methods, refined.

    Constructive methods run in turn for a fifth of the time; the best is annealed (see
    `refine`) in the rest, in up to four rounds of which the best counts. One variable is solved
    exactly instead.

    Parameters
    ----------
    seconds : float
        The time to spend.
    steps : int
        Instead of seconds: annealing steps for each record, for a result that is the same
        everywhere.
    seed : int
        Seed of the random numbers.
    found_by : list of str, optional
        Gets a line on what was tried and what won.
    """
    number("seconds", seconds, 0, above=True)
    whole_number("steps", steps, 0, 10**9)
    if points.shape[1] == 1:
        if found_by is not None:
            found_by.append("optimal")
        return optimal(points, k, engine=engine)
    begun = clock()

    def gone() -> float:
        return (clock() - begun) / seconds

    values = to_numpy(points)
    n = len(values)
    found: list[tuple[float, str, np.ndarray]] = []
    for name, method in _STARTS.items():
        if found and (n > _MANY or (steps == 0 and gone() > _SHARE)):
            break
        labels = numbered(method(points, k, engine=engine))[0]
        found.append((sum_of_squares(values, labels), name, labels))
        if progress is not None:
            progress(_SHARE * (len(found) / len(_STARTS)))
    least, won, labels = min(found, key=lambda candidate: candidate[0])
    line = f"{won} of {', '.join(name for _, name, _ in found)}"
    left = max(0.0, seconds * (1 - gone()))
    rounds = int(min(_ROUNDS, max(1, (steps or left * _SPEED / n) // _ENOUGH)))
    for turn in range(rounds):

        def watch(fraction: float, value: float, turn: int = turn) -> None:
            if progress is not None:
                progress(_SHARE + (1 - _SHARE) * ((turn + fraction) / rounds))

        refined = refine(
            points, labels, k, seconds=left / rounds, steps=steps // rounds if steps else None,
            seed=seed * _ROUNDS + turn, engine=engine, watch=watch,
        )  # fmt: skip
        value = sum_of_squares(values, refined.labels)
        if value < least:
            least, labels, won = value, refined.labels, "refined"
        if refined.stopped is not None:
            break
    if found_by is not None:
        found_by.append(f"{line}, refined" if won == "refined" else line)
    return labels
