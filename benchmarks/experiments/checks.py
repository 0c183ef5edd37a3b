"""What section 4.3 of Laszlo and Mukherjee (2005) states, checked on our figures."""

import math
from collections.abc import Iterable, Iterator

from ..common import figure
from ..papers.printed import TABLES
from .data import PHASES, UB, Curves, printed_power

FIXED, TREES, SPLIT = ("D", "C"), ("M", "M-d", "M-c"), ("M-d", "M-c")
# How words of the paper are taken.
SEPARATED, OVERLAPPING = 0.15, 0.2  # sigma below, and from
MARGINAL = 1.25  # "comparable", "marginally", "just over": at most so many times
SIGNIFICANT = 10  # "significantly lower": at least so many times, for points per cluster
QUADRATIC = 0.25  # an exponent this near to 2
LITTLE = 0.5  # "little impact": an exponent of at most

Statement = tuple[str, str, str]  # of the paper; "agrees" or "differs"; our figures


def checks(curves: Curves, every_k: list[Curves]) -> Iterator[Statement]:
    """The statements about an experiment that what was measured can show."""
    if curves.name == "separation":
        yield from separation(curves)
        yield from oversized(every_k)
        yield from running_time(curves)
    elif curves.name == "points":
        yield from points(curves)
    elif curves.name == "size":
        yield from size(curves)
    else:
        yield from dimension(curves)


def said(what: str, holds: bool, detail: str) -> Statement:
    """A statement, and whether it holds for ours."""
    return what, "agrees" if holds else "**differs**", detail


def sentence(curves: Curves, found: list[Statement]) -> str:
    """Whether an experiment agrees with the paper."""
    start = f"**{curves.experiment.title}** ({curves.setting()}): "
    if not found:
        return f"{start}not enough was measured to check a statement of the paper."
    wrong = [f"{what} ({detail})" for what, holds, detail in found if holds != "agrees"]
    if not wrong:
        return f"{start}agrees with the paper in every statement checked ({len(found)})."
    if len(wrong) == len(found):
        return f"{start}differs from the paper: {'; '.join(wrong)}."
    return (
        f"{start}agrees with the paper in {len(found) - len(wrong)} of {len(found)} statements "
        f"checked, and differs in: {'; '.join(wrong)}."
    )


def ratios(curves: Curves, trees: Iterable[str]) -> dict[float, float]:
    """Loss of the best fixed-size method by that of the best MST method; figure 3, Table 8."""
    found = {}
    for x in curves.xs:
        fixed = [curves.middle(m, x) for m in FIXED if curves.values(m, x)]
        tree = [curves.middle(m, x) for m in trees if curves.values(m, x)]
        if fixed and tree and min(tree) > 0:
            found[x] = min(fixed) / min(tree)
    return found


def printed_ratios(curves: Curves, trees: Iterable[str]) -> dict[float, float]:
    """The same of the printed losses."""
    fixed, tree = (
        [curves.printed(row) for row in rows if curves.printed(row)] for rows in (FIXED, trees)
    )
    if not fixed or not tree:
        return {}
    return {
        x: min(float(row[x]) for row in fixed) / min(float(row[x]) for row in tree)
        for x in fixed[0]
    }


def _figures(curves: Curves, ratio: dict[float, float], printed: dict[float, float]) -> str:
    """Ratios in words, ours and printed."""
    parts = []
    for x, value in ratio.items():
        beside = f" (printed {figure(printed[x])})" if x in printed else ""
        parts.append(f"{figure(value)}{beside} at {curves.label(x)}")
    return "fixed-size / MST " + ", ".join(parts)


def separation(curves: Curves) -> Iterator[Statement]:
    """Table 7 and figure 3."""
    every, printed = ratios(curves, TREES), printed_ratios(curves, TREES)
    low = {x: ratio for x, ratio in every.items() if x < SEPARATED}
    if low:
        what = f"MST methods lose significantly less for sigma < {SEPARATED}"
        yield said(what, min(low.values()) > 1, _figures(curves, low, printed))
    high = {x: ratio for x, ratio in every.items() if x >= OVERLAPPING}
    if high:
        what = f"fixed-size methods lose marginally less for sigma >= {OVERLAPPING}"
        holds = max(high.values()) < 1 and min(high.values()) > 1 / MARGINAL
        yield said(what, holds, _figures(curves, high, printed))
    if 0.01 in every and printed:
        what = "at sigma = 0.01 fixed-size methods lose about 37 times as much (within a factor 2)"
        yield said(what, 37 / 2 < every[0.01] < 37 * 2, f"{figure(every[0.01])} times")
    yield from bound(curves)


def bound(curves: Curves) -> Iterator[Statement]:
    """Row UB of Table 7."""
    others = [method for method in curves.methods if method != UB]
    tight = {}
    for x in curves.xs:
        losses = [curves.middle(method, x) for method in others if curves.values(method, x)]
        if curves.values(UB, x) and min(losses, default=0.0) > 0:
            tight[x] = curves.middle(UB, x) / min(losses)
    if len(tight) > 1:
        first, last = min(tight), max(tight)
        figures = f"UB is {figure(tight[first])} of the least loss at {curves.label(first)}, "
        figures += f"{figure(tight[last])} at {curves.label(last)}"
        what = "the bound UB is tight for separated clusters, less so for overlapping ones"
        yield said(what, tight[first] < tight[last], figures)


def oversized(every_k: list[Curves]) -> Iterator[Statement]:
    """Table 6: groups of 2k or more by MST partitioning of the best separated clusters."""
    x = min(every_k[0].xs)
    share = {c.k: c.middle("M", x, "oversized") for c in every_k}
    size = {c.k: c.middle("M", x, "oversized_size") for c in every_k}
    share = {k: value for k, value in share.items() if not math.isnan(value)}
    if not share or x != 0.01:
        return
    by_k = ", ".join(f"{value:.1f} % for k = {k}" for k, value in share.items())
    yield said("no more than 16 % of the groups are oversized", max(share.values()) <= 16, by_k)
    times = {k: size[k] / (2 * k) for k in share}
    figures = ", ".join(f"{value:.2f} times 2k for k = {k}" for k, value in times.items())
    what = f"their average size is just over 2k (at most {MARGINAL} times)"
    yield said(what, 1 <= min(times.values()) <= max(times.values()) <= MARGINAL, figures)
    page = TABLES["2005 Table 6"]
    files = {
        k: max(float(text.rstrip("%")) for text in page.rows[f"k={k} share"][:-1])
        for k in share
        if f"k={k} share" in page.rows
    }
    if files:
        figures = ", ".join(f"{share[k]:.1f} against {files[k]:.1f} %, k = {k}" for k in files)
        what = "more groups are oversized than in the three reference files"
        yield said(what, all(share[k] > files[k] for k in files), figures)


def running_time(curves: Curves) -> Iterator[Statement]:
    """The times of SIM_1 in the text: C 1 minute, M 4.2, M-d and M-c 4.5, D 44 to 153."""
    x = min(curves.xs)
    times = {m: curves.middle(m, x, "seconds") for m in (*FIXED, *TREES)}
    if x != 0.01 or any(math.isnan(seconds) for seconds in times.values()):
        return
    figures = ", ".join(f"{m} {figure(seconds)} s" for m, seconds in times.items())
    holds = times["C"] < times["M"] < times["D"] == max(times.values())
    yield said("on SIM_1 C is the fastest, then M; D is the slowest", holds, figures)
    slower = max(times[m] for m in SPLIT) / times["M"]
    what = f"M-d and M-c take only marginally longer than M (at most {MARGINAL} times)"
    yield said(what, slower <= MARGINAL, f"{figure(slower)} times; printed 4.5 / 4.2 minutes")


def points(curves: Curves) -> Iterator[Statement]:
    """Table 8."""
    every, printed = ratios(curves, SPLIT), printed_ratios(curves, SPLIT)
    multiple = {x: ratio for x, ratio in every.items() if x % curves.k == 0}
    other = {x: ratio for x, ratio in every.items() if x % curves.k}
    if multiple:
        what = f"losses are comparable where y is a multiple of k (within {MARGINAL} times)"
        holds = all(1 / MARGINAL < ratio < MARGINAL for ratio in multiple.values())
        yield said(what, holds, _figures(curves, multiple, printed))
    if other:
        what = f"else MST methods lose significantly less (at least {SIGNIFICANT} times)"
        yield said(what, min(other.values()) > SIGNIFICANT, _figures(curves, other, printed))


def size(curves: Curves) -> Iterator[Statement]:
    """Table 9."""
    names = {"seconds": "the total time", "cut_seconds": "edge cutting"}
    for phase, name in names.items():
        grown = curves.growth("M", phase)
        if math.isnan(grown):
            continue
        printed = printed_power(curves.printed(PHASES["size"][phase]))
        beside = "" if math.isnan(printed) else f", n^{printed:.2f} the printed times"
        holds = abs(grown - 2) <= QUADRATIC
        more = "" if holds else f": ours grows more {'slowly' if grown < 2 else 'quickly'}"
        what = f"{name} is quadratic: double the size, four times the time"
        yield said(what, holds, f"n^{grown:.2f} fits ours{beside}{more}")
    x = max(curves.xs)
    tree, cut = (curves.middle("M", x, what) for what in ("tree_seconds", "cut_seconds"))
    if not math.isnan(tree):
        share = 100 * tree / (tree + cut)
        what = "the total is clearly dominated by the minimum spanning tree (90 % or more)"
        yield said(what, share >= 90, f"{share:.1f} % of tree and cutting at {curves.label(x)}")


def dimension(curves: Curves) -> Iterator[Statement]:
    """Table 10."""
    grown = curves.growth("M")
    if math.isnan(grown):
        return
    printed = printed_power(curves.printed(PHASES["dimension"]["seconds"]))
    beside = "" if math.isnan(printed) else f", d^{printed:.2f} the printed times"
    what = f"the dimension has little impact on the total time (an exponent of at most {LITTLE})"
    yield said(what, grown <= LITTLE, f"d^{grown:.2f} fits ours{beside}")
