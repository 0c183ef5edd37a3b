"""Plots with Matplotlib (the extra ``report``), which is imported only when it is needed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .checks import (
    as_floats,
    as_list,
    comparison_rows,
    file_path,
    known_keywords,
    number,
    plain_text,
)
from .data.labels import numbered
from .errors import InputError
from .files.atomic import whole_file
from .measures.checks import as_labels, as_matrix

PALETTE = ("#4269d0", "#ef6f3c", "#3ca951", "#a463f2", "#d9a300", "#e3479b", "#2aa5b8", "#9c6b4e")
FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp")


@known_keywords
def check_plot(path: str | Path, method: str = "") -> None:
    """Reject a plot that cannot be drawn, before any work is done."""
    path = file_path("path", path)
    if find_spec("matplotlib") is None:
        raise InputError("a plot needs Matplotlib: pip install 'microagg-gpu[report]'")
    if path.suffix.casefold() not in FORMATS:
        raise InputError(
            f"{path} cannot be written as a picture: its name must end in {', '.join(FORMATS)}"
        )
    if plain_text("method", method) == "individual":
        raise InputError("individual ranking has no groups of whole records to draw")


@contextmanager
def picture(path: str | Path, method: str = "") -> Iterator[Path]:
    """Check the path of a plot; yield the file to draw in, which appears whole at the end."""
    path = file_path("path", path)
    check_plot(path, method)
    with whole_file(path, force=True) as temporary:
        yield temporary


@known_keywords
def plot_groups(
    points: np.ndarray,
    labels: np.ndarray,
    path: Path,
    *,
    names: Sequence[str] | None = None,
    title: str = "",
) -> None:
    """Draw the groups in two dimensions, with a line from each record to its centroid.

    Parameters
    ----------
    points : array of shape (n, p)
        The records. Two variables are drawn as they are, a single variable against its rank,
        and more variables by their first two principal components.
    labels : int array of shape (n,)
        Group of each record.
    path : Path
        The file to write; its ending determines the format.
    names : sequence of str, optional
        Names of the variables.
    title : str
    """
    check_plot(path)
    points, groups = as_matrix(points), as_labels(labels)
    if groups.shape != (len(points),):
        raise InputError(f"labels have shape {groups.shape} for {len(points)} records.")
    if np.abs(points).max() > 1e150:
        raise InputError("the data contain values above 1e150, too large to draw: rescale them")
    title, labels = plain_text("title", title), numbered(groups)[0]
    names = _checked_names(names, points.shape[1])
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    places, (x_name, y_name) = _plane(points, names)
    counts = np.bincount(labels)[:, np.newaxis]
    centroids = np.stack([np.bincount(labels, column) for column in places.T], axis=1) / counts
    colours = np.array(PALETTE)[np.arange(len(centroids)) % len(PALETTE)]
    crowd = np.sqrt(1000 / len(places))  # the more records, the smaller the marks

    figure = Figure(figsize=(9, 7), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    rays = LineCollection(
        list(np.stack([centroids[labels], places], axis=1)),
        colors=colours[labels], linewidths=np.clip(0.8 * crowd, 0.25, 1.2), alpha=0.65, zorder=1,
    )  # fmt: skip
    axes.add_collection(rays)
    axes.scatter(
        places[:, 0], places[:, 1], s=np.clip(14 * crowd, 1, 30),
        c=colours[labels], alpha=0.4, linewidths=0, zorder=2,
    )  # fmt: skip
    axes.scatter(
        centroids[:, 0], centroids[:, 1], s=np.clip(18 * crowd, 3, 40),
        c=colours, edgecolors="#222222", linewidths=np.clip(0.6 * crowd, 0.2, 0.8), zorder=3,
    )  # fmt: skip
    axes.margins(0.03)
    axes.set(xlabel=x_name, ylabel=y_name)
    axes.set_title(title.replace("$", r"\$"), loc="left", fontsize=13, pad=22)
    shown = f"; {points.shape[1]} variables, shown in two dimensions" if points.shape[1] > 2 else ""
    axes.text(
        0, 1.015, f"a line connects each record to the centroid published for it{shown}",
        transform=axes.transAxes, fontsize=9, color="#666666",
    )  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e8e8e8", linewidth=0.6)
    axes.set_axisbelow(True)
    _save(figure, path)


def _checked_names(names: Any, p: int) -> list[str]:
    if names is None:
        return [f"variable {j + 1}" for j in range(p)]
    texts = [plain_text("names", name) for name in as_list(names)]
    if len(texts) != p:
        raise InputError(f"{len(texts)} names for {p} variables; give one for each.")
    return texts


def _save(figure: Any, path: str | Path) -> None:
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def _plane(points: np.ndarray, names: list[str]) -> tuple[np.ndarray, tuple[str, str]]:
    """Two coordinates of each record, and the labels of the axes."""
    n, p = points.shape
    names = [name.replace("$", r"\$") for name in names]  # Matplotlib reads $ as a formula
    if p == 1:
        rank = np.empty(n)
        rank[np.argsort(points[:, 0], kind="stable")] = np.arange(1, n + 1)
        return np.column_stack([points[:, 0], rank]), (names[0], "rank")
    if p == 2:
        return points, (names[0], names[1])
    scaled = points - points.mean(axis=0)
    variances, components = np.linalg.eigh(scaled.T @ scaled)
    total = variances.sum() or 1.0
    ends = [
        f"{which} principal component ({100 * variances[-j] / total:.0f} % of the variance)"
        for j, which in ((1, "first"), (2, "second"))
    ]
    return scaled @ components[:, [-1, -2]], (ends[0], ends[1])


@known_keywords
def plot_tree(
    merges: np.ndarray, path: Path, *, names: Sequence[str], cut: float = 0.5, title: str = ""
) -> None:
    """Draw how variables were put together by their correlations, as a tree.

    Parameters
    ----------
    merges : array of shape (p - 1, 4)
        As in `SuggestedBlocks.merges`.
    path : Path
        The file to write; its ending determines the format.
    names : sequence of str
        Names of the p variables.
    cut : float
        Branches that join at more than this are different blocks, in different colours.
    title : str
    """
    check_plot(path)
    title, cut = plain_text("title", title), number("cut", cut)
    rows, wrong = as_floats(merges, "merges must be rows of four numbers."), "merges are no tree."
    if rows.ndim != 2 or rows.shape[1] != 4 or not np.isfinite(rows).all():
        raise InputError("merges must be rows of four numbers.")
    p = len(rows) + 1
    names = _checked_names(names, p)
    pairs = rows[:, :2]
    if (pairs != np.round(pairs)).any() or sorted(pairs.ravel()) != list(range(2 * p - 2)):
        raise InputError(wrong)  # each cluster is joined once
    if (pairs >= p + np.arange(p - 1)[:, np.newaxis]).any():
        raise InputError(wrong)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    leaves: dict[int, list[int]] = {j: [j] for j in range(p)}
    for i, row in enumerate(rows):
        leaves[p + i] = leaves[int(row[0])] + leaves[int(row[1])]
    order = leaves[p + len(rows) - 1]
    place = {j: float(order.index(j)) for j in range(p)}
    height = dict.fromkeys(range(p), 0.0)
    figure = Figure(figsize=(8, 1.2 + 0.32 * p), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colour: dict[int, str] = {}
    for i in reversed(range(len(rows))):  # a block has the colour of its highest branch
        if rows[i, 2] <= cut and p + i not in colour:
            shade = PALETTE[len(set(colour.values())) % len(PALETTE)]
            inside = set(leaves[p + i])
            colour |= {p + j: shade for j in range(i + 1) if set(leaves[p + j]) <= inside}
    for i, (first, second, apart, _) in enumerate(rows):
        a, b = int(first), int(second)
        axes.plot(
            [height[a], apart, apart, height[b]], [place[a], place[a], place[b], place[b]],
            color=colour.get(p + i, "#999999"), linewidth=1.6,
        )  # fmt: skip
        place[p + i], height[p + i] = (place[a] + place[b]) / 2, apart
    axes.axvline(cut, color="#444444", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_yticks(range(p), [names[j].replace("$", r"\$") for j in order])
    axes.invert_yaxis()
    axes.set_xlim(left=0, right=max(1.0, float(rows[:, 2].max(initial=0.0)) * 1.02))
    axes.set(xlabel="1 - mean |correlation|; left of the dashed line: one block")
    axes.set_title(title.replace("$", r"\$"), loc="left", fontsize=13)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    _save(figure, path)


MARKS = "osD^vPX*<>"


@known_keywords
def plot_map(rows: Sequence[dict[str, Any]], path: Path, title: str = "") -> None:
    """Draw the loss of methods against their risk; lower left is better.

    Parameters
    ----------
    rows : sequence of dict
        The rows that `compare` returns.
    path : Path
        The file to write; its ending determines the format.
    title : str
    """
    check_plot(path)
    title = plain_text("title", title)
    rows = [row for row in comparison_rows("rows", rows) if None not in (row["loss"], row["risk"])]
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), dpi=160, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    sizes = sorted({row["k"] for row in rows})
    methods = sorted({row["method"] for row in rows})
    for i, method in enumerate(methods):
        own = sorted((row for row in rows if row["method"] == method), key=lambda row: row["k"])
        axes.plot(
            [row["loss"] for row in own], [row["risk"] for row in own], MARKS[i % len(MARKS)] + "-",
            color=PALETTE[i % len(PALETTE)], linewidth=1, markersize=7, alpha=0.85,
            label=method.replace("$", r"\$"),
        )  # fmt: skip
    for size in sizes:
        best = min((row for row in rows if row["k"] == size), key=lambda row: row["loss"])
        axes.annotate(
            f"k = {size}", (best["loss"], best["risk"]), xytext=(-8, 8), ha="right",
            textcoords="offset points", fontsize=10, color="#444444",
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.margins(0.08)
    axes.set(xlabel="information loss, 100 SSE / SST (%)", ylabel="linkage risk (%)")
    axes.set_title(title.replace("$", r"\$"), loc="left", fontsize=13)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e8e8e8", linewidth=0.6)
    axes.set_axisbelow(True)
    if rows:
        figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    _save(figure, path)
