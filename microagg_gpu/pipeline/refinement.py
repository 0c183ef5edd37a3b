"""The least loss: groups that are refined, and a loss that none can be below."""

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import device as device_of

from .. import measures
from ..checks import on_host, whole_floats
from ..engines import choose, on_device, set_compiled
from ..errors import InputError, option
from ..kernels import array_namespace
from ..measures.bound import bound_by, bound_work
from ..methods.annealing import Refined, refine
from ..progress import LossProgress, Progress, share
from ..settings import Settings
from .blocks import parts_of
from .problem import Problem, numbers_only


def given_groups(labels: Any, problem: Problem) -> np.ndarray:
    """Labels that a user gives for all records, checked and renumbered, for those published."""
    n = problem.table.values.shape[0]
    try:
        given = on_host(labels)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths
        given = np.empty(0)
    given = whole_floats(given)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InputError(f"labels must be {n} whole numbers, the group of each record")
    kept, cell = problem.cells.kept, problem.cells.cell
    _, groups, sizes = np.unique(given[kept], return_inverse=True, return_counts=True)
    if (small := int((sizes < problem.k).sum())) > 0:
        raise InputError(
            f"{small} of the {len(sizes)} given groups have fewer than k={problem.k} records: "
            "refinement starts from groups of at least k"
        )
    first = np.zeros(len(sizes), dtype=np.int64)
    first[groups] = cell
    if (first[groups] != cell).any():
        raise InputError(
            "a given group has records of several strata, or with other values missing"
        )
    return groups


def improve(
    problem: Problem,
    labels: np.ndarray,
    settings: Settings,
    watch: LossProgress | None = None,
) -> Refined:
    """Refine groups of whole records, within their cells; `watch` is called with the loss."""
    if problem.units is not None:
        better = improve(problem.by_unit(), labels[problem.units.first], settings, watch)
        return Refined(better.labels[problem.units.of], better.stopped)
    if settings.blocks is not None:
        return _each_block(problem, labels, settings, watch)
    if labels.ndim > 1:
        raise InputError(
            "individual ranking has no groups of whole records to refine: leave out ",
            option("refine"),
        )
    numbers_only(problem.table, "refinement takes", "refine")
    points, total = problem.points, measures.sst(problem.filled)
    if problem.missing:
        points = array_namespace(points).asarray(problem.filled, device=device_of(points))

    def loss_so_far(fraction: float, sse: float) -> None:
        if watch is not None:
            watch(fraction, 100 * sse / total if total > 0 else 0.0)

    with on_device(points):
        return refine(
            points, labels, problem.k, seconds=settings.refine, steps=settings.refine_steps,
            cells=problem.cells.cell, seed=settings.seed, engine=problem.engine, watch=loss_so_far,
        )  # fmt: skip


def _each_block(
    problem: Problem, labels: np.ndarray, settings: Settings, watch: LossProgress | None
) -> Refined:
    """Refine the groups of each block of variables, in equal shares of the time."""
    blocks = settings.blocks or ()
    seconds = None if settings.refine is None else settings.refine / len(blocks)
    own = replace(settings, blocks=None, refine=seconds)
    new, stopped = labels.copy(), None
    for i, part in enumerate(parts_of(problem, blocks, None, watch)):
        better = improve(part.problem, labels[:, part.places[0]], own, part.watch)
        new[:, part.places] = better.labels[:, np.newaxis]
        if better.stopped is not None:
            stopped = (i + better.stopped) / len(blocks)
            break
    return Refined(new, stopped)


def least_loss(
    problem: Problem,
    progress: Progress | None = None,
    seconds: float | None = None,
    labels: np.ndarray | None = None,
    engine: str | None = None,
) -> float:
    """A loss that no grouping of these records within their cells is below, in percent.

    With `seconds`, each cell gets its share of them; the labels of a grouping are where it begins.
    """
    numbers_only(problem.table, "the lower bound is for")
    total = measures.sst(problem.filled)
    if total == 0:
        return 0.0
    order = np.argsort(problem.cells.cell, kind="stable")
    bound, done = 0.0, 0
    sizes, d = problem.cells.sizes, problem.filled.shape[1]
    work = bound_work(sizes.tolist(), d)
    # The loops over pairs run on the host.
    loops = choose(problem.filled, "cpu", None if engine == "cuda" else engine, work)[1]
    for rows in np.split(order, np.cumsum(sizes)[:-1]):
        bound += bound_by(
            loops,
            problem.filled[rows],
            problem.k,
            None if seconds is None else seconds * len(rows) / len(order),
            None if labels is None else np.unique(labels[rows], return_inverse=True)[1],
            share(progress, done, len(rows), len(order)),
        )
        done += len(rows)
    set_compiled(loops, work)
    # The sum of squares is rounded too, n times at most: that must not lift the bound.
    return 100 * bound / total * (1 - len(order) * np.finfo(np.float64).eps)
