"""The least loss within a time: constructive methods, paths, and refinement of what they find."""

from collections.abc import Callable, Iterator
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

_MANY = 50_000  # records above which only the first two methods run
_ROUNDS = 4  # of annealing at most: now and then one freezes badly

# Each method, and the share of the time that may be gone when it is done. Annealing forgets all of
# its start but where clusters are: there MDAV's groups end far lower than those of a curve.
_STARTS: dict[str, tuple[Callable[..., np.ndarray], float]] = {
    "path curve": (partial(path, order="curve"), np.inf),
    "mdav": (mdav, 0.75),
    "path": (path, 0.1),
    "mst centroid": (partial(mst, split="centroid"), 0.1),
    "vmdav": (vmdav, 0.1),
    "centroid": (centroid, 0.1),
}
_PROGRESS = 0.1  # what is shown when they are done


class _TooLong(Exception):
    """A method would not be done in its time."""


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

    Constructive methods run in turn, as long as they take little of the time; the best is annealed
    (see `refine`) in the rest, in up to four rounds of which the best counts. One variable is
    solved exactly instead.

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
    end, rounds = clock() + seconds, 1 if steps else _ROUNDS
    values = to_numpy(points)
    found: list[tuple[float, str, np.ndarray]] = []
    try:
        for name, labels in _constructed(points, k, 0 if steps else seconds, engine, progress):
            found.append((sum_of_squares(values, labels), name, labels))
    except KeyboardInterrupt:
        rounds = 0
        if not found:
            raise
    least, won, labels = min(found, key=lambda candidate: candidate[0])
    line = f"{won} of {', '.join(name for _, name, _ in found)}"
    begun = clock()

    def watch(fraction: float, _: float) -> None:
        if progress is not None:
            gone = fraction if steps else (clock() - begun) / (end - begun)
            progress(_PROGRESS + (1 - _PROGRESS) * min(1.0, gone))

    took = 0.0
    for turn in range(rounds):
        since = clock()
        if 2 * (end - since) < took:  # too little for a round as long as the last
            break
        refined = refine(
            points, labels, k, seconds=max(end - since, 1e-3), steps=steps or None,
            seed=seed * _ROUNDS + turn, engine=engine, watch=watch,
        )  # fmt: skip
        value, took = sum_of_squares(values, refined.labels), clock() - since
        if value < least:
            least, labels, won = value, refined.labels, "refined"
        if refined.stopped is not None:
            break
    if found_by is not None:
        found_by.append(f"{line}, refined" if won == "refined" else line)
    return labels


def _constructed(
    points: Any, k: int, seconds: float, engine: Engine, progress: Progress | None
) -> Iterator[tuple[str, np.ndarray]]:
    """What the methods find in their time, or without seconds: names and labels."""
    begun = clock()
    for turn, (name, (method, share)) in enumerate(_STARTS.items()):
        if turn == 2 and points.shape[0] > _MANY:
            return
        late = begun + share * seconds if seconds else np.inf
        if clock() > late:
            continue
        seen: list[tuple[float, float]] = []  # fractions done, and when

        def watch(fraction: float, turn: int = turn, late: float = late, seen: list = seen) -> None:
            seen.append((fraction, clock()))
            (before, since), (_, now) = seen[len(seen) // 2], seen[-1]  # the beginning is slow
            left = (1 - fraction) * (now - since) / max(fraction - before, 1e-9)
            if now > late or (fraction > 0.05 and len(seen) > 5 and now + left > late):
                raise _TooLong
            if progress is not None:
                progress(_PROGRESS * (turn + fraction) / len(_STARTS))

        try:
            labels = numbered(method(points, k, engine=engine, progress=watch))[0]
        except _TooLong:
            continue
        yield name, labels
