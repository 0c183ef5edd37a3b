"""All measures of one protection together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..partition import numbered
from ._check import as_labels, as_whole, same_shape
from .groups import oversized
from .loss import information_loss, ssa, sse, sst
from .structure import (
    correlation_discrepancies,
    first_component,
    mean_weight_change,
    standard_deviations,
    weight_changes,
)


def report(
    original: ArrayLike,
    protected: ArrayLike,
    labels: ArrayLike,
    k: int,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return every measure of the papers for one protection, as plain Python values.

    Parameters
    ----------
    original, protected : array_like, n x p
        The records before and after protection, in the papers standardized.
    labels : array_like of int, (n,) or (n, p)
        Groups, as in `sse`.
    k : int
        Minimum group size.
    names : sequence of str, optional
        Names of the variables; V1, V2, ... as in the papers if left out.

    Returns
    -------
    dict
        Numbers of records, variables and groups; sums of squares and loss; oversized groups
        (2005 Table 6); standard deviations (1999 Table 2), weights on the first component with
        their changes in percent (1999 Table 3), mean change, percentages explained and
        correlation discrepancies (2002 Tables 2 and 4).
    """
    before, after = same_shape(original, protected)
    groups, k = as_labels(labels), as_whole(k, "k", 1)
    sizes = [numbered(part)[1] for part in np.atleast_2d(groups.T)]
    names = list(names or (f"V{j + 1}" for j in range(before.shape[1])))
    first, second = first_component(before), first_component(after)
    changes = weight_changes(before, after)
    weights = zip(names, first.weights.tolist(), second.weights.tolist(), changes, strict=True)
    deviations = standard_deviations(before, after).tolist()
    return {
        "records": len(before),
        "variables": before.shape[1],
        "k": k,
        "groups": sum(len(part) for part in sizes),
        "smallest": int(min(part.min() for part in sizes)),
        "largest": int(max(part.max() for part in sizes)),
        "sse": sse(before, groups),
        "ssa": ssa(before, groups),
        "sst": sst(before),
        "loss": information_loss(before, groups),
        "oversized": oversized(groups, k)._asdict(),
        "standard_deviations": dict(zip(names, deviations, strict=True)),
        "weights": {
            name: {"original": w, "protected": v, "change": float(change)}
            for name, w, v, change in weights
        },
        "mean_weight_change": mean_weight_change(before, after),
        "percent_explained": {"original": first.percent, "protected": second.percent},
        "correlation_discrepancies": correlation_discrepancies(before, after)._asdict(),
    }
