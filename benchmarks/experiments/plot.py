"""Our curves beside the printed ones. Colours are of the palette of Okabe and Ito."""

import math
from pathlib import Path
from statistics import median
from typing import Any

from ..papers.printed import TABLES
from .checks import SPLIT, TREES, printed_ratios, ratios
from .data import PHASES, UB, Curves, printed_power

OURS, PRINTED, OTHERS = "#0072B2", "#D55E00", "0.8"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MARKERS = "osD^vPX"
NAMES = {
    "sigma": "standard deviation within clusters",
    "n": "number of records n",
    "d": "number of variables d",
    "y": "points per cluster y",
}


def plot(curves: Curves, every_k: list[Curves], path: Path) -> None:
    """Draw times in two panels, or losses in one panel for each method."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = 2 if curves.timed else len(curves.methods) + (2 if len(every_k) > 1 else 1)
    columns = 2 if curves.timed else min(panels, 3 if panels in (5, 6, 9) else 4)
    rows = -(-panels // columns)
    figure = Figure(figsize=(13, 6.6) if curves.timed else (13, 3.5 * rows + 1))
    figure.set_layout_engine("constrained")
    FigureCanvasAgg(figure)
    title = curves.experiment.title.split(": ")[1]
    figure.suptitle(f"{title[0].upper()}{title[1:]} ({curves.setting()})")
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    (times if curves.timed else losses)(axes, curves, every_k)
    for unused in (one for one in axes if not one.lines):
        unused.set_axis_off()
    temporary = path.with_name(f"{path.stem}.tmp.png")
    figure.savefig(temporary, dpi=110)
    temporary.replace(path)


def scale_x(axes: Any, curves: Curves) -> None:
    """The axis of the varied parameter, with its values as ticks."""
    axes.set(xlabel=NAMES[curves.varied])
    if curves.varied != "y":
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
    shown = sorted({*curves.xs, *curves.experiment.full[curves.varied]})
    axes.set_xticks(shown, [f"{x / 1000:g}k" if x >= 1000 else f"{x:g}" for x in shown])
    axes.tick_params("x", labelsize=8, labelrotation=60 if curves.varied in ("sigma", "n") else 0)
    axes.minorticks_off()
    axes.grid(True, color="0.92")


def draw_ours(axes: Any, xs: list[float], values: list[list[float]], **style: Any) -> None:
    """Medians as a line, the range over seeds as a band."""
    axes.plot(xs, [median(one) for one in values], "-", **style)
    if any(len(one) > 1 for one in values):
        low, high = [min(one) for one in values], [max(one) for one in values]
        axes.fill_between(xs, low, high, color=style["color"], alpha=0.25, linewidth=0)


def draw_printed(axes: Any, printed: dict[float, Any], **style: Any) -> None:
    """The figures of the paper, broken."""
    given = {"color": PRINTED, "marker": "s", "markerfacecolor": "none", "label": "printed, 2005"}
    ys = [float(value) for value in printed.values()]
    axes.plot(list(printed), ys, "--", markersize=7, linewidth=1.2, **given | style)


# Losses -----------------------------------------------------------------------------------------


def losses(axes: list[Any], curves: Curves, every_k: list[Curves]) -> None:
    """A panel for each method, the others grey; the ratio of figure 3; Table 6."""
    for one, method in zip(axes, curves.methods, strict=False):
        for other in curves.methods:
            xs, values = curves.curve(other)
            if other != method:
                one.plot(xs, [median(v) for v in values], color=OTHERS, linewidth=1, zorder=1)
        xs, values = curves.curve(method)
        draw_ours(
            one,
            xs,
            values,
            color=OURS,
            marker="o",
            markersize=4,
            label="ours (band: range over seeds)",
        )
        if printed := curves.printed(method):
            draw_printed(one, printed)
        scale_x(one, curves)
        one.set(ylabel="loss, %", title=method)
        if any(row["loss"] > 0 for row in curves.rows):
            one.set_yscale("log")
        one.yaxis.set_major_formatter("{x:g}")
        if one is not axes[0]:
            one.sharey(axes[0])
    axes[0].plot([], [], color=OTHERS, linewidth=1, label="ours, the other methods")
    axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    place = len(curves.methods)
    draw_ratio(axes[place], curves)
    if len(every_k) > 1:
        draw_oversized(axes[place + 1], every_k)


def draw_ratio(axes: Any, curves: Curves) -> None:
    """Loss of the best fixed-size method by that of the best MST method."""
    trees = SPLIT if curves.name == "points" else TREES
    found = ratios(curves, trees)
    if not found:
        return
    axes.plot(list(found), list(found.values()), "o-", color=OURS, markersize=4, label="ours")
    if printed := printed_ratios(curves, trees):
        draw_printed(axes, printed)
    axes.axhline(1, color="0.5", linewidth=0.8)
    scale_x(axes, curves)
    source = "Table 8" if curves.name == "points" else "Fig. 3"
    axes.set(yscale="log", ylabel="ratio of losses", title=f"best fixed-size / best MST ({source})")
    axes.yaxis.set_major_formatter("{x:g}")


def draw_oversized(axes: Any, every_k: list[Curves]) -> None:
    """The share of groups of 2k records or more, by k."""
    x = min(every_k[0].xs)
    found = {c.k: c.values("M", x, "oversized") for c in every_k}
    found = {k: values for k, values in found.items() if values}
    if not found:
        return
    draw_ours(axes, list(found), list(found.values()), color=OURS, marker="o", markersize=4)
    page = TABLES["2005 Table 6"]
    rows = {k: page.rows.get(f"k={k} share") for k in found}
    if x == every_k[0].experiment.full["sigma"][0]:
        draw_printed(axes, {k: row[-1].rstrip("%") for k, row in rows.items() if row})
    axes.set(
        ylim=(0, None),
        xlabel=f"k, at {every_k[0].label(x)}",
        ylabel="% of groups",
        xticks=list(found),
    )
    axes.set_title("oversized groups of M (Table 6)")
    axes.grid(True, color="0.92")


# Times ------------------------------------------------------------------------------------------


def times(axes: list[Any], curves: Curves, every_k: list[Curves]) -> None:
    """Seconds of all methods to the left; what M and its cutting grow by to the right."""
    left, right = axes
    total = curves.printed(PHASES[curves.name]["seconds"])
    for i, method in enumerate(m for m in curves.methods if m != UB):
        style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
        xs, values = curves.curve(method, "seconds")
        label = f"{method}, ours{_grows(curves, curves.growth(method))}"
        draw_ours(left, xs, values, label=label, **style)
        if method == "M" and total:
            label = f"M, printed, 2005{_grows(curves, printed_power(total))}"
            draw_printed(left, total, label=label, **style)
    left.set(title="seconds: other machines, so only slopes compare", ylabel="seconds")
    for what, name, colour, marker in (
        ("seconds", "M", COLOURS[2], MARKERS[2]),
        ("cut_seconds", "cutting of M", COLOURS[5], MARKERS[5]),
    ):
        printed = curves.printed(PHASES[curves.name].get(what, ""))
        xs, values = curves.curve("M", what)
        if not xs or what not in PHASES[curves.name]:
            continue
        style = {"color": colour, "marker": marker}
        base = _at(xs, [median(one) for one in values], next(iter(printed), xs[0]))
        label = f"{name}, ours{_grows(curves, curves.growth('M', what))}"
        draw_ours(right, xs, [[v / base for v in one] for one in values], label=label, **style)
        if printed:
            first = float(next(iter(printed.values())))
            grown = {x: float(text) / first for x, text in printed.items()}
            label = f"{name}, printed, 2005{_grows(curves, printed_power(printed))}"
            draw_printed(right, grown, label=label, **style)
    start = next(iter(total), min(curves.xs))
    right.set(title=f"time / time at {curves.label(start)}", ylabel="times as long")
    for one in axes:
        scale_x(one, curves)
        one.set_yscale("log")
        one.yaxis.set_major_formatter("{x:,g}")
        if one.lines:
            one.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)


def _grows(curves: Curves, exponent: float) -> str:
    return "" if math.isnan(exponent) else f" (~ {curves.varied}^{exponent:.2f})"


def _at(xs: list[float], ys: list[float], x: float) -> float:
    """The value at x, or at the nearest measured."""
    return ys[min(range(len(xs)), key=lambda i: abs(xs[i] - x))]
