"""The variables before and after: moments, losses, risks, correlations and densities."""

from typing import Any

import numpy as np

from ..measures.risk import interval_disclosure, range_inference, record_linkage
from ..measures.spread import deviations, means, varies
from ..measures.structure import first_component, mean_weight_change, weight_changes
from ..measures.utility import ByVariable, Sums, correlations, il1s, sums_of_squares
from .analysis import stratum_analysis

PERCENTS = (1, 5, 25, 50, 75, 95, 99)
DRAWN = 12  # densities are shown for at most this many variables
GRID = 80
CHANGES = 10


def variables(
    before: np.ndarray,
    after: np.ndarray,
    names: list[str],
    *,
    strata: np.ndarray,
    sums: Sums,
    weight: np.ndarray | None,
) -> list[dict[str, Any]]:
    """One row for each variable: moments before and after, loss and risk."""
    intervals = interval_disclosure(before, after)
    ranges = range_inference(before, after, strata)
    distance = il1s(before, after).by_variable
    moments = [_moments(data, weight) for data in (before, after)]
    total = sums.sse.sum()
    return [
        {
            "name": name,
            "observed": np.count_nonzero(~np.isnan(before[:, j])),
            "loss": 100 * sums.sse[j] / sums.sst[j] if sums.sst[j] > 0 else np.nan,
            "share_of_loss": 100 * sums.sse[j] / total if total > 0 else 0.0,
            "il1s": distance[j],
            "before": moments[0][j],
            "after": moments[1][j],
            "risk": {
                "ranks": 100 * intervals.ranks[j],
                "near": 100 * intervals.near[j],
                "inside": 100 * ranges.inside[j],
                "width": ranges.width[j],
                "narrow": 100 * ranges.narrow[j],
            },
        }
        for j, name in enumerate(names)
    ]


def _moments(data: np.ndarray, weight: np.ndarray | None) -> list[dict[str, Any]]:
    rows = _means(data, weight)
    for row, column in zip(rows, data.T, strict=True):
        observed = column[~np.isnan(column)]
        points = (
            np.percentile(observed, PERCENTS) if len(observed) else np.full(len(PERCENTS), np.nan)
        )
        row["quantiles"] = {str(q): x for q, x in zip(PERCENTS, points, strict=True)}
    return rows


def _means(data: np.ndarray, weight: np.ndarray | None) -> list[dict[str, Any]]:
    mean, spread = means(data), deviations(data)
    rows: list[dict[str, Any]] = [{"mean": mean[j], "std": spread[j]} for j in range(data.shape[1])]
    if weight is not None:
        mean, spread = means(data, weight), deviations(data, weight)
        for j, row in enumerate(rows):
            row |= {"weighted_mean": mean[j], "weighted_std": spread[j]}
    return rows


def weighted_losses(
    before: np.ndarray, after: np.ndarray, scale: np.ndarray, weight: np.ndarray
) -> ByVariable:
    """The loss with squares weighted by sampling weights, in total and of each variable."""
    center = means(before, weight)
    sse, sst = (
        np.nansum(weight[:, np.newaxis] * (apart * scale) ** 2, axis=0)
        for apart in (before - after, before - center)
    )
    each = np.divide(100 * sse, sst, out=np.full(len(sst), np.nan), where=sst > 0)
    return ByVariable(float(100 * sse.sum() / sst.sum()) if sst.sum() > 0 else 0.0, each)


def figures_by_stratum(
    before: np.ndarray,
    after: np.ndarray,
    names: list[str],
    *,
    strata: np.ndarray,
    seen: np.ndarray,
    groups: np.ndarray,
    scale: np.ndarray,
    measured: tuple[np.ndarray, np.ndarray],
    weight: np.ndarray | None,
    linked: bool,
) -> list[dict[str, Any]]:
    """One row for each stratum: its records, groups, loss and linkage, and its variables.

    The loss of a stratum is relative to the variation within it.
    """
    known, number = np.unique(strata, return_inverse=True)
    order = np.argsort(number, kind="stable")
    total = float(sums_of_squares(*measured, scale).sse.sum())
    rows = []
    for name, records in zip(
        known, np.split(order, np.flatnonzero(np.diff(number[order])) + 1), strict=True
    ):
        old, new = before[records], after[records]
        own = None if weight is None else weight[records]
        pair = measured[0][records], measured[1][records]
        sums = sums_of_squares(*pair, scale)
        sse, sst = float(sums.sse.sum()), float(sums.sst.sum())
        inside = groups[records] if groups.ndim == 1 else np.empty(0, dtype=np.int64)
        sizes = np.unique(inside[inside >= 0], return_counts=True)[1]
        moments = [_means(data, own) for data in (old, new)]
        found = stratum_analysis(old, new, own)
        rows.append(
            {
                "name": name,
                "records": len(records),
                "groups": len(sizes) or None,
                "smallest": sizes.min() if len(sizes) else None,
                "loss": 100 * sse / sst if sst > 0 else np.nan,
                "share_of_loss": 100 * sse / total if total > 0 else 0.0,
                "linkage": 100 * record_linkage(*pair, seen[records], scale=scale).share
                if names and linked
                else None,
                "by_variable": [
                    {
                        "name": names[j],
                        "observed": np.count_nonzero(~np.isnan(old[:, j])),
                        "before": moments[0][j],
                        "after": moments[1][j],
                        **found[j],
                    }
                    for j in range(len(names))
                ],
            }
        )
    return rows


def structure(before: np.ndarray, after: np.ndarray, names: list[str]) -> dict[str, Any]:
    """Deviations, correlations and the first component, as in the 1999 and 2002 papers.

    The component uses only records without missing values.
    """
    spread, now = deviations(before), deviations(after)
    ratio = np.divide(now, spread, out=np.zeros_like(spread), where=spread > 0)
    complete = ~np.isnan(before).any(axis=1)
    usable = np.count_nonzero(complete) > 1 and bool(names)
    old, new = before[complete], after[complete]
    first, second = (first_component(data) if usable else None for data in (old, new))
    changes = weight_changes(old, new) if usable else None
    correlation = correlations(before), correlations(after)
    return {
        "standard_deviations": dict(zip(names, ratio, strict=True)),
        "weights": {
            name: {
                "original": first.weights[j],
                "protected": second.weights[j],
                "change": changes[j],
            }
            for j, name in enumerate(names)
        }
        if first and second and changes is not None
        else None,
        "mean_weight_change": mean_weight_change(old, new) if usable else None,
        "percent_explained": {"original": first.percent, "protected": second.percent}
        if first and second
        else None,
        **_correlation_changes(*correlation, varies(before), names),
    }


def _correlation_changes(
    before: np.ndarray, after: np.ndarray, used: np.ndarray, names: list[str]
) -> dict[str, Any]:
    left, right = np.triu_indices(len(names), 1)
    keep = used[left] & used[right] & ~np.isnan(before[left, right])
    left, right = left[keep], right[keep]
    size = np.abs(after[left, right] - before[left, right])
    largest = np.argsort(-size, kind="stable")[:CHANGES]
    return {
        "correlation_discrepancies": {
            "mean": size.mean() if len(size) else 0.0,
            "std": size.std() if len(size) else 0.0,
        },
        "largest_correlation_changes": [
            {
                "first": names[i],
                "second": names[j],
                "before": before[i, j],
                "after": after[i, j],
            }
            for i, j in zip(left[largest], right[largest], strict=True)
        ],
        "correlations": {"names": names, "before": before, "after": after},
    }


def densities(
    before: np.ndarray, after: np.ndarray, names: list[str], sse: np.ndarray
) -> list[dict[str, Any]]:
    """Densities on a grid; with many variables, only those with the largest loss."""
    chosen = np.flatnonzero(varies(before))
    if len(chosen) > DRAWN:
        chosen = np.sort(chosen[np.argsort(-sse[chosen], kind="stable")[:DRAWN]])
    rows = []
    for j in chosen:
        observed = ~np.isnan(before[:, j])
        rows.append({"name": names[j], **_density(before[observed, j], after[observed, j])})
    return rows


def _skewed(x: np.ndarray) -> bool:
    """Whether amounts above 0 are easier to see in logarithms: their upper half is far wider."""
    low, middle, high = np.percentile(x, [5, 50, 95])
    return bool(high - middle > 2 * (middle - low) and high > 5 * low)


def _density(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Gaussian kernel densities of x and y over the middle of x, in logarithms if x is skewed.

    In logarithms zeros are counted, not drawn: the area below a curve is the share of the others.
    """
    counts = len(x), len(y)
    positive = x[x > 0]
    logarithmic = min(x.min(), y.min()) >= 0 and 10 * len(positive) >= len(x) and _skewed(positive)
    zeros = None
    if logarithmic:
        if len(positive) < len(x) or (y == 0).any():
            zeros = {"before": 100 * np.mean(x == 0), "after": 100 * np.mean(y == 0)}
        x, y = np.log10(positive), np.log10(y[y > 0])
    middle = 99
    low, high = np.percentile(x, [0.5, 99.5])
    inner = np.percentile(x, [2.5, 5, 95, 97.5])
    if inner[1] < inner[2] and high - low > 3 * (inner[2] - inner[1]):  # long tails
        middle, low, high = 95, inner[0], inner[3]
    if low == high:
        low, high = x.min(), x.max()
    # Silverman's rule, by the original for both: a width of its own would hide what was lost.
    quarter, three = np.percentile(x, [25, 75])
    spread = min(x.std(), (three - quarter) / 1.34) or x.std()
    width = max(0.9 * spread * len(x) ** -0.2, (high - low) / GRID)
    grid = np.linspace(low, high, GRID)
    bins, ends = 20 * GRID, (low - 4 * width, high + 4 * width)
    centers = ends[0] + (np.arange(bins) + 0.5) * (ends[1] - ends[0]) / bins
    kernel = np.exp(-0.5 * ((grid[:, np.newaxis] - centers) / width) ** 2)
    kernel /= width * np.sqrt(2 * np.pi)
    curves = [
        kernel @ (np.histogram(data, bins, ends)[0] / count)
        for data, count in zip((x, y), counts, strict=True)
    ]
    return {
        "logarithmic": logarithmic,
        "middle": middle,
        "zeros": zeros,
        "grid": 10**grid if logarithmic else grid,
        "before": curves[0],
        "after": curves[1],
    }
