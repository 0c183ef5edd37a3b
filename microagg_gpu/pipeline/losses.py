"""The loss of what is published, on the scale of the grouping."""

import numpy as np

from ..data.columns import NOMINAL
from ..measures.loss import loss_and_sums
from ..settings import Settings
from .partition import Partition
from .problem import Problem
from .publishing import Published, aggregate


def loss_of(
    problem: Problem, labels: np.ndarray, published: Published, settings: Settings
) -> tuple[float, float, float]:
    """Information loss in percent, SSE and SST, on the scaled variables.

    Parameters
    ----------
    labels : int array of shape (m,) or (m, p)
    published : Published
        If it is the plain means, SSE is that of the groups; otherwise the sum of squared
        differences between records and what is published.
    """
    means = settings.aggregate == "mean" and problem.sampling is None and not published.rounding
    if means and not problem.table.mixed and settings.scale != "log":
        return loss_and_sums(problem.filled, labels)
    sse, sst = _squares(problem, published, None)
    return 100 * sse / sst if sst > 0 else 0.0, sse, sst


def weighted_loss(problem: Problem, published: Published) -> float | None:
    """The loss with squares weighted by sampling weights, about weighted means; None without any.

    With weighted means it is at most 100 %. The loss that is not weighted can be more: a record
    that counts little may be far from the mean of its group.
    """
    if problem.sampling is None:
        return None
    sse, sst = _squares(problem, published, problem.sampling)
    return 100 * sse / sst if sst > 0 else 0.0


def _squares(
    problem: Problem, published: Published, sampling: np.ndarray | None
) -> tuple[float, float]:
    """Squared differences between records and what is published, and between them and the mean."""
    absent = np.isnan(problem.values)
    records, new = problem.measured(problem.values), problem.measured(published.values)
    sse = sst = 0.0
    for j, kind in enumerate(problem.table.kinds):
        known = ~absent[:, j]
        before, after = records[known, j], new[known, j]
        if not len(before):
            continue
        weights = None if sampling is None else sampling[known]
        alone = Partition(np.zeros(len(before), dtype=np.int64), 1)
        centre = aggregate(alone, before[:, np.newaxis], "mean", np.array([kind]), weights)[:, 0]
        for_all, for_groups = before - centre, before - after
        if kind == NOMINAL:
            for_all, for_groups = for_all != 0, for_groups != 0
        count = 1.0 if weights is None else weights
        sse += float((count * np.square(problem.scale[j] * for_groups)).sum())
        sst += float((count * np.square(problem.scale[j] * for_all)).sum())
    return sse, sst
