"""Pictures of the site and the README: results of the library on small examples.

``python docs/figures.py FOLDER`` draws those of the methods, and ``docs/groups.png`` again.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from microagg_gpu import METHODS, datasets, measures, microaggregate
from microagg_gpu.kernels import cpu, engine_for
from microagg_gpu.methods.axes import first_component_weights
from microagg_gpu.methods.path import path_order
from microagg_gpu.methods.tsp import path_counts

# Okabe and Ito's colours, safe for colour-blind readers; the outlines show the groups as well.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#7a6a00")
DARK, PALE = "#222222", "#9a9a9a"
K = 4
NOTE: dict[str, Any] = {
    "fontsize": 9,
    "color": DARK,
    "zorder": 6,
    "bbox": {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
}


def draw(folder: Path) -> None:
    """Draw a picture for each method."""
    matplotlib.rcParams |= {"svg.hashsalt": "microagg", "font.size": 9}
    for name in METHODS:
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        PICTURES[name](figure)
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def standardized() -> np.ndarray:
    """Records with two variables: clusters of several sizes, and some records in between."""
    data = datasets.clusters(7, 2, 0.13, 4, 9, seed=8)
    return (data - data.mean(axis=0)) / data.std(axis=0)


def front(figure: Figure) -> None:
    """The picture of the README: 60 records of two variables in groups of at least five."""
    data = datasets.clusters(12, 2, 0.16, 5, 5, seed=4)
    points = (data - data.mean(axis=0)) / data.std(axis=0)
    labels, line = run(points, "best", 5, steps=2000)
    show(plane(figure, f"{len(points)} records in {line}, k = 5"), points, labels)


def hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull, in order (Andrew's monotone chain)."""

    def turns_left(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
        return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])

    ranked = points[np.lexsort(points.T[::-1])]
    chains = []
    for some in (ranked, ranked[::-1]):
        chain: list[np.ndarray] = []
        for p in some:
            while len(chain) > 1 and not turns_left(*chain[-2:], p):
                chain.pop()
            chain.append(p)
        chains += chain[:-1]
    return np.array(chains)


def plane(figure: Figure, title: str, place: int = 111) -> Axes:
    """Axes without numbers: only distances matter."""
    axes = figure.add_subplot(place, aspect="equal", xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[:].set_color("#dddddd")
    return axes


def outline(axes: Axes, group: np.ndarray, colour: str) -> None:
    """The hull of a group, pale inside."""
    axes.add_patch(Polygon(hull(group), facecolor=f"{colour}40", edgecolor=colour, zorder=1))


def show(axes: Axes, points: np.ndarray, labels: np.ndarray, centroids: bool = True) -> None:
    """Records, the outlines of their groups, and the published centroids."""
    for g in range(labels.max() + 1):
        own, colour = points[labels == g], COLOURS[g % len(COLOURS)]
        outline(axes, own, colour)
        axes.scatter(*own.T, s=16, color=colour, zorder=3)
        if centroids:
            axes.scatter(*own.mean(axis=0), s=34, marker="x", color=DARK, linewidths=1.3, zorder=4)
    axes.margins(0.07)


def ring(axes: Axes, point: np.ndarray, text: str) -> None:
    """Mark a record with a ring and a label."""
    axes.scatter(*point, s=90, facecolors="none", edgecolors=DARK, linewidths=1.3, zorder=5)
    axes.annotate(text, point, xytext=(7, 5), textcoords="offset points", **NOTE)


def centre(axes: Axes, points: np.ndarray) -> None:
    """The centroid of all records."""
    middle = points.mean(axis=0)
    axes.scatter(*middle, s=80, marker="+", color=DARK, linewidths=1.8, zorder=5)
    axes.annotate("centroid of all", middle, xytext=(6, -12), textcoords="offset points", **NOTE)


def run(points: np.ndarray, method: str, k: int = K, **options: Any) -> tuple[np.ndarray, str]:
    """The groups, and a line with their number and loss."""
    result = microaggregate(points, k, method, standardize=False, **options)
    return result.labels, f"{len(result.sizes)} groups, loss {result.loss:.1f} %"


def of_one_variable(figure: Figure, *runs: tuple[str, str, dict[str, Any]]) -> None:
    """Values on a line and how each method cuts them, one strip for each method."""
    values = datasets.clusters(5, 1, 0.08, 3, 8, seed=5)
    values = np.sort((values - values.mean()) / values.std(), axis=0)
    figure.set_size_inches(7.2, 1.25 * len(runs))
    for i, (title, method, options) in enumerate(runs):
        labels, line = run(values, method, **options)
        axes = figure.add_subplot(len(runs), 1, i + 1, xticks=[], yticks=[], ylim=(-1, 1))
        axes.set_title(f"{title}: {line}", loc="left", fontsize=10)
        axes.spines[:].set_visible(False)
        for g in range(labels.max() + 1):
            own, colour = values[labels == g, 0], COLOURS[g % len(COLOURS)]
            axes.plot([own.min(), own.max()], [0, 0], color=colour, linewidth=13, alpha=0.3,
                      solid_capstyle="round")  # fmt: skip
            axes.scatter(own, np.zeros(len(own)), s=18, color=colour, zorder=3)
            axes.scatter(own.mean(), 0, s=120, marker="|", color=DARK, linewidths=1.6, zorder=4)


def fixed(figure: Figure) -> None:
    """Groups of k by rank, regardless of gaps."""
    of_one_variable(figure, (f"fixed, k = {K}", "fixed", {}))


def optimal(figure: Figure) -> None:
    """Fixed groups and optimal groups."""
    of_one_variable(figure, ("fixed", "fixed", {}), ("optimal", "optimal", {}))


def genetic(figure: Figure) -> None:
    """A search that approaches the optimum."""
    short = {"generations": 3, "seed": 1}
    of_one_variable(
        figure, ("after 3 generations", "genetic", short), ("at the end", "genetic", {})
    )


def projection(figure: Figure) -> None:
    """Records, their projections on the first principal component, and groups in that order."""
    points = standardized()
    labels, line = run(points, "projection")
    axes = plane(figure, f"projection: {line}")
    weights = first_component_weights(points, engine_for(points))
    feet = np.outer(points @ weights, weights)
    ends = np.array([feet[np.argmin(points @ weights)], feet[np.argmax(points @ weights)]])
    axes.plot(*(1.1 * ends).T, color=DARK, linewidth=1.2, zorder=1)
    for g in range(labels.max() + 1):
        colour = COLOURS[g % len(COLOURS)]
        for x, foot in zip(points[labels == g], feet[labels == g], strict=True):
            axes.plot(*np.array([x, foot]).T, color=colour, linewidth=0.7, zorder=2)
        axes.scatter(*points[labels == g].T, s=16, color=colour, zorder=3)
    axes.margins(0.07)


def individual(figure: Figure) -> None:
    """Each variable on its own: the published records are corners of a grid."""
    points = standardized()
    result = microaggregate(points, K, "individual", standardize=False)
    published = result.protected
    different, counts = np.unique(published, axis=0, return_counts=True)
    alone = different[counts == 1]
    axes = plane(
        figure, f"individual: loss {result.loss:.1f} %; {len(alone)} published records are unique"
    )
    for j, line in enumerate((axes.axvline, axes.axhline)):
        for value in np.unique(published[:, j]):
            line(value, color="#d5d5d5", linewidth=0.9, zorder=1)
    for x, p in zip(points, published, strict=True):
        axes.plot(*np.array([x, p]).T, color=COLOURS[0], linewidth=0.7, zorder=2)
    axes.scatter(*points.T, s=12, color=COLOURS[0], zorder=3)
    axes.scatter(*different.T, s=30, marker="x", color=DARK, linewidths=1.2, zorder=4)
    axes.scatter(*alone.T, s=90, facecolors="none", edgecolors=COLOURS[3], linewidths=1.4, zorder=5)
    axes.margins(0.07)


def kward(figure: Figure) -> None:
    """The two extreme groups at the start, and the final groups."""
    points = standardized()
    labels, line = run(points, "kward")
    first = cpu.extreme_groups(points, np.zeros(len(points), dtype=np.int64), K, False)
    axes = plane(figure, "start: two extreme groups, all other records alone", 121)
    axes.scatter(*points.T, s=16, color=PALE, zorder=3)
    for g in np.flatnonzero(np.bincount(first) == K):
        show(axes, points[first == g], np.zeros(K, dtype=np.int64), centroids=False)
    axes.margins(0.07)
    show(plane(figure, f"kward: {line}", 122), points, labels)


def diameter(figure: Figure) -> None:
    """The most distant pair."""
    points = standardized()
    labels, line = run(points, "diameter")
    axes = plane(figure, f"diameter: {line}")
    show(axes, points, labels)
    pair = points[list(cpu.PointSet(points).most_distant_pair())]
    axes.plot(*pair.T, color=DARK, linewidth=0.9, linestyle="--", zorder=2)
    for x, text in zip(pair, "rs", strict=True):
        ring(axes, x, text)


def centroid(figure: Figure) -> None:
    """The record farthest from the centroid."""
    points = standardized()
    labels, line = run(points, "centroid")
    axes = plane(figure, f"centroid: {line}")
    show(axes, points, labels)
    centre(axes, points)
    ring(axes, points[cpu.PointSet(points).farthest_from(points.mean(axis=0))], "first")


def mst(figure: Figure) -> None:
    """The tree with its cut edges dotted, and the groups if those of 2k or more are split."""
    points = standardized()
    edges, _ = cpu.minimum_spanning_tree(points)
    for place, split in ((121, None), (122, "centroid")):
        labels, line = run(points, "mst", split=split)
        axes = plane(figure, f"mst{f' split={split}' if split else ''}: {line}", place)
        show(axes, points, labels, centroids=False)
        whole, _ = run(points, "mst")
        for a, b in edges if split is None else ():
            cut = whole[a] != whole[b]
            axes.plot(*points[[a, b]].T, color=COLOURS[3] if cut else DARK, zorder=2,
                      linewidth=1.3 if cut else 0.9, linestyle=":" if cut else "-")  # fmt: skip


def mdav(figure: Figure) -> None:
    """The first two groups: around the record farthest from the centroid, and opposite to it."""
    points = standardized()
    labels, line = run(points, "mdav")
    axes = plane(figure, "the first step", 121)
    records = cpu.PointSet(points)
    r = records.farthest_from(records.centroid())
    groups = [records.take_nearest(r, K)]
    s = records.farthest_from(points[r])
    groups.append(records.take_nearest(s, K))
    axes.scatter(*points.T, s=16, color=PALE, zorder=3)
    for i, group in enumerate(groups):
        axes.scatter(*points[group].T, s=16, color=COLOURS[i], zorder=4)
        outline(axes, points[group], COLOURS[i])
    centre(axes, points)
    ring(axes, points[r], "r")
    ring(axes, points[s], "s")
    axes.margins(0.09)
    show(plane(figure, f"mdav: {line}", 122), points, labels)


def vmdav(figure: Figure) -> None:
    """The paper's example with two gain factors: 13 records in clusters of 4, 3, 3 and 3."""
    points = datasets.toy("vmdav")
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    for place, gamma in ((121, 0.0), (122, 1.1)):
        labels, line = run(points, "vmdav", 3, gamma=gamma)
        show(plane(figure, f"gamma = {gamma}: {line}", place), points, labels)


def path(figure: Figure) -> None:
    """A tour, with the edges that the optimal cuts remove."""
    points = standardized()
    labels, line = run(points, "path", order="tour")
    axes = plane(figure, f"path order=tour: {line}")
    show(axes, points, labels, centroids=False)
    order = path_order(points, K, "tour", engine_for(points))
    for a, b in zip(order, np.roll(order, -1), strict=True):
        same = labels[a] == labels[b]
        axes.plot(*points[[a, b]].T, color=DARK if same else COLOURS[3], zorder=2,
                  linewidth=0.9, linestyle="-" if same else ":")  # fmt: skip


def best(figure: Figure) -> None:
    """The groups of MDAV, and those of the search."""
    points = standardized()
    bound = 100 * measures.lower_bound(points, K) / measures.sst(points)
    for place, method, options in ((121, "mdav", {}), (122, "best", {"steps": 2000})):
        labels, line = run(points, method, **options)
        show(plane(figure, f"{method}: {line}", place), points, labels)
    figure.supxlabel(f"lower bound on the loss of any grouping: {bound:.1f} %", fontsize=9)


def tsp(figure: Figure) -> None:
    """The companies of the paper: how often two are close on the tours, and the groups."""
    points = datasets.toy("companies")
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    axes = plane(figure, "lines: how often two are close on the tours", 121)
    counts = path_counts(cpu.hamiltonian_paths(points, "insertion", 50), 3)
    for a, b in np.argwhere(np.tril(counts)):
        axes.plot(*points[[a, b]].T, color=COLOURS[0], zorder=1,
                  linewidth=3 * (counts[a, b] / counts.max()) ** 2)  # fmt: skip
    axes.scatter(*points.T, s=22, color=DARK, zorder=3)
    axes.margins(0.07)
    labels, line = run(points, "tsp", 3)
    show(plane(figure, f"tsp, k = 3: {line}", 122), points, labels)


PICTURES = {
    "fixed": fixed, "optimal": optimal, "genetic": genetic, "projection": projection,
    "individual": individual, "kward": kward, "diameter": diameter, "centroid": centroid,
    "mst": mst, "mdav": mdav, "vmdav": vmdav, "path": path, "best": best, "tsp": tsp,
}  # fmt: skip

if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    draw(Path(sys.argv[1]))
    picture = Figure(figsize=(4.4, 4.6), layout="constrained")
    front(picture)
    picture.savefig(Path(__file__).parent / "groups.png", dpi=160, metadata={"Software": None})
