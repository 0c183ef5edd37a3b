"""What the size of regions costs refinement: losses after equal steps.

``python -m benchmarks.regions`` writes `results/regions.md`; it takes about ten minutes of two
cores.
"""

import sys
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np

from microagg_gpu import datasets
from microagg_gpu.kernels import cpu
from microagg_gpu.methods import annealing
from microagg_gpu.methods.mdav import mdav

from .common import RESULTS, commit, machine_line, write
from .scaling.measure import standardized

N, SEEDS = 10_000, 5
WHOLE, DRAWN = "SIM_13, 20 whole clusters of 500", "SIM_13, 50 records of each of 200 clusters"
RUNS = (  # data, k, steps a record
    (WHOLE, 5, 100),
    (WHOLE, 5, 1000),
    (DRAWN, 5, 100),
    (DRAWN, 5, 1000),
    (DRAWN, 15, 100),
    (DRAWN, 15, 1000),
)
Sizes = Callable[[int, int], int]  # records of a region in a sweep, by its number and k


def _always(size: int, turn: int, k: int) -> int:
    return size


def _mostly_small(turn: int, k: int) -> int:
    few, groups = annealing._SMALL
    return max(few, groups * k) if turn % 4 else annealing._REGION[1]


COLUMNS: dict[str, Sizes] = {
    **{str(size): partial(_always, size) for size in (2000, 1000, 400, 300, 200)},
    "3 of 4 sweeps small": _mostly_small,
}


def tables() -> dict[str, np.ndarray]:
    """Parts of SIM_13."""
    points = datasets.simulated("SIM_13", seed=0)
    drawn = np.arange(len(points)).reshape(200, -1)[:, :50].reshape(-1)
    return {WHOLE: standardized(points[:N]), DRAWN: standardized(points[drawn])}


def loss(points: np.ndarray, start: np.ndarray, k: int, steps: int, seed: int, of: Sizes) -> float:
    """The loss in percent after a refinement with regions of given sizes."""
    turns = iter(range(10**6))

    def regions_of(n: int, k: int, groups: int, many: bool = False) -> int:
        return max(1, round(n / of(next(turns), k)))

    with patch.object(annealing, "regions_of", regions_of):
        refined = annealing.refine(points, start, k, steps=steps, seed=seed, engine=cpu)
    total = annealing.sum_of_squares(points, np.zeros(len(points), dtype=np.int64))
    return 100 * annealing.sum_of_squares(points, refined.labels) / total


def rows() -> list[str]:
    """The table, a row for each data set, k and number of steps."""
    made = [
        f"| data | k | steps a record | MDAV | {' | '.join(COLUMNS)} |",
        "| --- | --- | --- | --- |" + " --- |" * len(COLUMNS),
    ]
    data = tables()
    for name, k, steps in RUNS:
        points = data[name]
        start = mdav(points, k, engine=cpu)
        row = [name, str(k), str(steps), f"{loss(points, start, k, 0, 0, _mostly_small):.3f}"]
        for of in COLUMNS.values():
            losses = [loss(points, start, k, steps, seed, of) for seed in range(SEEDS)]
            row.append(f"{np.mean(losses):.4f} ± {np.std(losses, ddof=1) / SEEDS**0.5:.4f}")
            print(*row, file=sys.stderr, flush=True)
        made.append(f"| {' | '.join(row)} |")
    return made


def text() -> str:
    """The whole result."""
    few, groups = annealing._SMALL
    return "\n".join(
        [
            "# Regions of annealing",
            "",
            f"Written by `python -m benchmarks.regions` at {commit()} on {machine_line()}.",
            "",
            f"Loss in percent of {N:,} records of 10 variables, refined from MDAV's groups with "
            f"equal steps: the mean of {SEEDS} seeds and its standard error. Lower is better. "
            '"MDAV" is after the last descent alone. The columns are records of a region; in the '
            f"last one each fourth sweep has regions of {annealing._REGION[1]} and the others of "
            f"{few} records or {groups} groups, whichever is more.",
            "",
            *rows(),
            "",
        ]
    )


if __name__ == "__main__":
    write(RESULTS / "regions.md", text())
