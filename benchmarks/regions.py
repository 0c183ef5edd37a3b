"""What the size of regions costs refinement: losses after equal steps.

``python -m benchmarks.regions`` prints a table; it takes about ten minutes of two cores.
"""

import sys
from unittest.mock import patch

import numpy as np

from microagg_gpu import datasets
from microagg_gpu.kernels import cpu
from microagg_gpu.methods import annealing
from microagg_gpu.methods.mdav import mdav

from .common import data_home

SIZES = 2500, 1000, 400, 300, 200, 100
SEEDS = 5
RUNS = (  # data, k, steps a record
    ("SIM_13", 5, 100),
    ("SIM_13", 5, 1000),
    ("SIM_13", 15, 100),
    ("eia", 3, 1000),
    ("eia", 3, 10_000),
)


def table(name: str) -> np.ndarray:
    """10,000 records of simulated clusters, or a reference file, standardized."""
    if name.startswith("SIM"):
        points = datasets.simulated(name, seed=0)
        points = points[np.random.default_rng(0).permutation(len(points))[:10_000]]
    else:
        points = datasets.fetch(name, data_home=data_home()).data
    return (points - points.mean(axis=0)) / points.std(axis=0)


def lines() -> list[str]:
    """The table, a row for each data set and number of steps."""
    made = [
        "| data | k | steps a record | " + " | ".join(map(str, SIZES)) + " |",
        "| --- | --- | --- |" + " --- |" * len(SIZES),
    ]
    for name, k, steps in RUNS:
        points = table(name)
        start = mdav(points, k, engine=cpu)
        total = float(np.square(points - points.mean(axis=0)).sum())
        row = [f"{name}, {len(points)} x {points.shape[1]}", str(k), str(steps)]
        for size in SIZES:
            with patch.object(annealing, "_REGION", size):
                losses = [_loss(points, start, k, steps, seed) / total for seed in range(SEEDS)]
            error = np.std(losses, ddof=1) / SEEDS**0.5
            row.append(f"{100 * np.mean(losses):.4f} ± {100 * error:.4f}")
            print(*row, file=sys.stderr, flush=True)
        made.append(f"| {' | '.join(row)} |")
    return made


def _loss(points: np.ndarray, start: np.ndarray, k: int, steps: int, seed: int) -> float:
    refined = annealing.refine(points, start, k, steps=steps, seed=seed, engine=cpu)
    return annealing.sum_of_squares(points, refined.labels)


if __name__ == "__main__":
    print("\n".join(lines()))
