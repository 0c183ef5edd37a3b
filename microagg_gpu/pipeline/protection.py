"""From prepared records to a result: group, refine, repair, prove, publish, measure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..engines import device_name
from ..errors import InputError, option
from ..kernels.compiling import clock
from ..progress import LossProgress, Progress
from ..settings import Settings
from .blocks import block_places
from .closeness import check_sensitive, close, first_groups, measured
from .contributors import Repair, obey, rule_of, with_unrepaired
from .grouping import group
from .losses import loss_of, weighted_loss
from .order import renumbered, shuffled
from .partition import prove
from .problem import Problem
from .provenance import Provenance, Refinement
from .publishing import Published, publish
from .refinement import improve
from .result import Result


def protect(
    problem: Problem,
    settings: Settings,
    progress: Progress | None = None,
    watch: LossProgress | None = None,
    groups: np.ndarray | None = None,
) -> Result:
    """Run a method on prepared records, prove what it returns and measure what it cost.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    progress, watch : callable, optional
        As in `microaggregate`.
    groups : int array of shape (m,), optional
        Where refinement starts; no method is run then.
    """
    table, rule = problem.table, rule_of(settings)
    formed = _formed(problem, settings, progress, watch, groups)
    problem, labels, repair = formed.problem, formed.labels, formed.repair
    cells = problem.cells
    parts = prove(problem, labels)
    proven = parts[0].labels if labels.ndim == 1 else np.stack([p.labels for p in parts], axis=1)
    published = publish(problem, parts, settings)
    loss, sse, sst = loss_of(problem, proven, published, settings)
    first: Sequence[int] = range(len(parts))  # the first variable of each block
    if settings.blocks is not None:
        first = [places[0] for places in block_places(settings.blocks, table.names)]
    order = np.arange(len(cells.kept))
    sizes: Sequence[np.ndarray] = [part.sizes for part in parts]
    if settings.shuffle:
        order = shuffled(len(order), settings.seed)
        numbers, sizes = zip(*(renumbered(part, order) for part in parts), strict=True)
        proven = numbers[0] if labels.ndim == 1 else np.stack(numbers, axis=1)
    if rule is not None and repair is not None:
        repair = with_unrepaired(repair, problem, proven, rule)
    every = np.full((table.values.shape[0], *proven.shape[1:]), -1, dtype=np.int64)
    every[cells.kept] = proven
    provenance = Provenance(
        roles=table.roles,
        settings=settings if groups is None else replace(settings, method="given"),
        names=table.names,
        device=device_name(problem.points),
        engine=problem.engine_name,
        seconds=formed.seconds,
        found_by="; ".join(dict.fromkeys(formed.found_by)),
        refined=formed.refined,
        dropped=cells.dropped,
        suppressed=cells.suppressed,
        merged=cells.merged,
        dominance=repair,
        no_mad=np.array(table.names)[problem.scaling.fallback].tolist(),
        closeness=measured(problem, proven, settings.t),
    )
    return Result(
        labels=every,
        protected=_rebuilt(problem, published, settings, order if settings.shuffle else None),
        order=cells.kept[order],
        loss=loss,
        weighted_loss=weighted_loss(problem, published),
        sse=sse,
        sst=sst,
        sizes=sizes[0] if labels.ndim == 1 else [sizes[j] for j in first],
        provenance=provenance,
        _problem=problem,
        _published=published,
    )


class _Formed(NamedTuple):
    """Groups, and how they were formed."""

    problem: Problem
    labels: np.ndarray
    found_by: list[str]
    refined: Refinement | None
    repair: Repair | None
    seconds: float


def _formed(
    problem: Problem,
    settings: Settings,
    progress: Progress | None,
    watch: LossProgress | None,
    groups: np.ndarray | None,
) -> _Formed:
    """Form groups by the method, refine them, and change those that break a rule."""
    check_sensitive(problem, settings)
    begun = clock()
    found_by: list[str] = []
    labels = groups
    if labels is None and settings.t is not None and settings.t_method == "first":
        labels = first_groups(problem, settings, progress)
    elif labels is None:
        labels, found_by = group(problem, settings, progress)
        problem.done(settings)
    refined = None
    if settings.refine is not None or settings.refine_steps is not None:
        problem = problem.for_refinement(settings)
        better = improve(problem, labels, settings, watch)
        before, labels = _loss(problem, labels, settings), better.labels
        refined = Refinement(before, settings.refine, settings.refine_steps, better.stopped)
    repair, rule = None, rule_of(settings)
    if rule is not None and settings.blocks is not None:
        raise InputError(
            "rules on contributors are for groups of whole records: leave out ", option("blocks")
        )
    if settings.t is not None:
        labels, how = close(problem, labels, settings, progress)
        found_by, refined = [how], refined if how == "merge" else None
    if rule is not None:
        before = _loss(problem, labels, settings)
        problem, labels, repair = obey(problem, labels, rule, settings, before)
    return _Formed(problem, labels, found_by, refined, repair, clock() - begun)


def _loss(problem: Problem, labels: np.ndarray, settings: Settings) -> float:
    """The loss of groups as it would be published."""
    parts = prove(problem, labels)
    return loss_of(problem, labels, publish(problem, parts, settings), settings)[0]


def _rebuilt(
    problem: Problem, published: Published, settings: Settings, order: np.ndarray | None
) -> Any:
    """A table of the kind that was given, in another order if there is one."""
    kept, new = problem.cells.kept, published
    if order is not None:
        exact = {j: integers[order] for j, integers in new.exact.items()}
        weights = None if new.weights is None else new.weights[order]
        kept, new = kept[order], Published(new.values[order], exact, weights)
    return problem.table.rebuild(new.values, kept, settings.keep_integers, new.exact, new.weights)
