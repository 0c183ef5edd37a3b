"""Time against the number of records, on logarithmic axes."""

from pathlib import Path
from typing import Any

from .report import Row, Rows, is_curve

PEERS = {"full scan": ":", "quitefastmst": "--", "fastcluster": "-.", "cpu": ":"}
PEER_NAMES = {"quitefastmst": "quitefastmst, tree alone", "cpu": "cpu engine"}
MARKERS = "osD^vP*Xp<>h"


def plot(results: dict[str, Any], path: Path) -> None:
    """Draw all methods, several variables to the left and one variable to the right."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = Rows(results)
    figure = Figure(figsize=(15, 7), layout="constrained")
    FigureCanvasAgg(figure)
    machine = results["machine"]
    figure.suptitle(
        f"Time of each method, {results['engine']} engine "
        f"({machine.get('GPU', machine['processor'])}, {machine['cores']} cores)"
    )
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    curves = {name: _curve(rows, name, "ours") for name in rows.methods()}
    curves = {name: curve for name, curve in curves.items() if curve}
    for axes, ten, title in (
        (left, True, "10 variables"),
        (right, False, "1 variable; tsp: Census, 13 variables"),
    ):
        chosen = {name: c for name, c in curves.items() if (c[0]["d"] == 10) == ten}
        _draw(axes, rows, chosen)
        axes.set(xscale="log", yscale="log", title=title)
        axes.set(xlabel="number of records n", ylabel="seconds")
        axes.xaxis.set_major_formatter(
            lambda n, _: f"{n / 1e6:g} M" if n >= 1e6 else f"{n:,.0f}",
        )
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.grid(True, which="major", color="0.85")
        if chosen:
            axes.legend(fontsize=9, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    figure.savefig(path, dpi=110)


def _curve(rows: Rows, method: str, who: str) -> list[Row]:
    return [row for row in rows.of(method, who) if "seconds" in row and is_curve(row["family"])]


def _draw(axes: Any, rows: Rows, curves: dict[str, list[Row]]) -> None:
    """Methods as full lines, the slowest first in the legend, and their peers broken."""
    from matplotlib import colormaps

    colours = [colormaps["tab10"](i) for i in (0, 1, 2, 3, 4, 5, 6, 8, 9)] + ["black", "gold"]
    for i, (name, curve) in enumerate(sorted(curves.items(), key=lambda c: -c[1][-1]["seconds"])):
        style = {"color": colours[i % len(colours)], "markersize": 6}
        label = f"{name} (k={curve[0]['k']})"
        xs, ys = [row["n"] for row in curve], [row["seconds"] for row in curve]
        axes.plot(xs, ys, "-", marker=MARKERS[i % len(MARKERS)], label=label, **style)
        for who, line in PEERS.items():
            peer = _curve(rows, name, who)
            if peer and (who != "full scan" or name == "mdav"):
                xs, ys = [row["n"] for row in peer], [row["seconds"] for row in peer]
                axes.plot(
                    xs, ys, line, marker="x", label=f"{name}: {PEER_NAMES.get(who, who)}", **style
                )
    if curves:
        _slopes(axes, [row for curve in curves.values() for row in curve])


def _slopes(axes: Any, rows: list[Row]) -> None:
    """Grey lines that grow as n and as n squared, through the lower left of the picture."""
    low, high = min(row["n"] for row in rows), max(row["n"] for row in rows)
    start, top = min(row["seconds"] for row in rows), max(row["seconds"] for row in rows)
    for power, name in ((1, "n"), (2, "n²")):
        end = min(high, low * (top / start) ** (1 / power))
        height = start * (end / low) ** power
        axes.plot([low, end], [start, height], color="0.7", linewidth=1, zorder=1.5)
        axes.annotate(
            f"~ {name}", (end, height), (4, 0), textcoords="offset points", color="0.5", fontsize=9
        )
