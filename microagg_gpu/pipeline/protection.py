"""From prepared records to a result: group, refine, prove, publish, measure."""

import time
from dataclasses import replace

import numpy as np

from ..engines import device_name
from ..kernels.protocol import Progress, Watch
from ..settings import Settings
from .grouping import group
from .partition import prove
from .problem import Problem
from .provenance import Provenance, Refinement
from .publishing import loss_of, publish
from .refinement import improve
from .result import Result


def protect(
    problem: Problem,
    settings: Settings,
    progress: Progress | None = None,
    watch: Watch | None = None,
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
    table, cells = problem.table, problem.cells
    begun = time.perf_counter()
    found_by: list[str] = []
    labels = groups
    if labels is None:
        labels, found_by = group(problem, settings, progress)
    refined = None
    if settings.refine is not None or settings.refine_steps is not None:
        better = improve(problem, labels, settings, watch)
        before, labels = _loss(problem, labels, settings), better.labels
        refined = Refinement(before, settings.refine, settings.refine_steps, better.stopped)
    seconds = time.perf_counter() - begun
    parts = prove(problem, labels)
    proven = parts[0].labels if labels.ndim == 1 else np.stack([p.labels for p in parts], axis=1)
    published = publish(problem, parts, settings)
    loss, sse, sst = loss_of(problem, proven, published, settings)
    every = np.full((table.values.shape[0], *proven.shape[1:]), -1, dtype=np.int64)
    every[cells.kept] = proven
    provenance = Provenance(
        roles=table.roles,
        settings=settings if groups is None else replace(settings, method="given"),
        names=table.names,
        device=device_name(problem.points),
        engine=problem.engine_name,
        seconds=seconds,
        found_by="; ".join(dict.fromkeys(found_by)),
        refined=refined,
        dropped=cells.dropped,
        suppressed=cells.suppressed,
        merged=cells.merged,
    )
    return Result(
        labels=every,
        protected=table.rebuild(
            published.values, cells.kept, settings.keep_integers, published.exact, published.weights
        ),
        loss=loss,
        sse=sse,
        sst=sst,
        sizes=parts[0].sizes if labels.ndim == 1 else [part.sizes for part in parts],
        provenance=provenance,
        _problem=problem,
        _published=published,
    )


def _loss(problem: Problem, labels: np.ndarray, settings: Settings) -> float:
    """The loss of groups as it would be published."""
    parts = prove(problem, labels)
    return loss_of(problem, labels, publish(problem, parts, settings), settings)[0]
