"""The least loss within a time: constructive methods, paths, and refinement of what they find.

Annealing freezes somewhere badly now and then. So few records are annealed in several rounds, and
of two partitions the better is taken in each part of the records that both divide by themselves
(Whitley, Hains and Howe 2009 recombine tours in this way). On EIA with k = 4 four rounds of 8,000
steps for each record end at 0.4866, 0.4852, 0.4856 and 0.4860 % and all together at 0.4837 %.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..checks import number, whole_number
from ..data.labels import numbered
from ..kernels import to_numpy
from ..kernels.compiling import clock
from ..kernels.protocol import Engine, Progress
from .annealing import centroids_of, refine, sum_of_squares
from .extremes import centroid
from .mdav import mdav
from .mst import mst
from .path import path
from .ranked import optimal
from .vmdav import vmdav

_MANY = 50_000  # records above which only the first two methods run
_ROUNDS = 8  # of annealing at most
_ENOUGH = 10_000  # steps for each record in a round, if there are several
_SPEED = 2e7  # steps in a second, about

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
    (see `refine`) in the rest. Few records have up to eight rounds, whose results are combined. One
    variable is solved exactly instead.

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
    end, stopped = clock() + seconds, False
    values = to_numpy(points)
    found: list[tuple[float, str, np.ndarray]] = []
    try:
        for name, labels in _constructed(points, k, 0 if steps else seconds, engine, progress):
            found.append((sum_of_squares(values, labels), name, labels))
    except KeyboardInterrupt:
        stopped = True
        if not found:
            raise
    least, won, labels = min(found, key=lambda candidate: candidate[0])
    line = f"{won} of {', '.join(name for _, name, _ in found)}"
    begun = clock()
    rounds = int(min(_ROUNDS, max(1, (steps or (end - begun) * _SPEED / len(values)) // _ENOUGH)))
    for turn in range(0 if stopped else rounds):

        def watch(fraction: float, _: float, turn: int = turn) -> None:
            if progress is not None:
                progress(_PROGRESS + (1 - _PROGRESS) * (turn + fraction) / rounds)

        refined = refine(
            points, labels, k, seconds=max((end - clock()) / (rounds - turn), 1e-3),
            steps=steps // rounds if steps else None, seed=seed * _ROUNDS + turn, engine=engine,
            watch=watch,
        )  # fmt: skip
        labels = combined(values, labels, refined.labels)
        if refined.stopped is not None:
            break
    if sum_of_squares(values, labels) < least:
        won = "refined"
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
                progress(_PROGRESS * ((turn + fraction) / len(_STARTS)))

        try:
            labels = numbered(method(points, k, engine=engine, progress=watch))[0]
        except _TooLong:
            continue
        yield name, labels


def combined(values: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The better of two partitions in each part that consists of whole groups of both.

    Labels are numbers without gaps.
    """
    part, before = one, other
    while (part != before).any():  # the lowest number among records that groups connect
        before = part
        for labels in (other, one):
            lowest = np.full(labels.max() + 1, len(labels))
            np.minimum.at(lowest, labels, part)
            part = lowest[labels]
    sums = []
    for labels in (one, other):
        squares = np.square(values - centroids_of(values, labels)[0][labels]).sum(axis=1)
        sums.append(np.bincount(part, squares))
    better = sums[1] < sums[0]
    return numbered(np.where(better[part], one.max() + 1 + other, one))[0]
