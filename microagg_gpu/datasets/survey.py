"""A simulated survey of companies, as an office might hold it."""

import csv
from pathlib import Path

import numpy as np

REGIONS = ("North", "East", "South", "West")
SIZES = ("small", "medium", "large")
AMOUNTS = ("turnover", "staff", "wages", "investment", "exports", "energy", "assets", "profit")
SPREAD = (0.0, 0.45, 0.25, 0.9, 0.8, 0.6, 0.5, 0.0)


def companies(n: int = 2500, seed: int = 2) -> list[list[str]]:
    """Rows of an identifier, region, size class, sampling weight and eight amounts."""
    rng = np.random.default_rng(seed)
    turnover = rng.lognormal(7, 1.1, n)
    share = {
        name: rng.lognormal(0, spread, n) for name, spread in zip(AMOUNTS, SPREAD, strict=True)
    }
    size = np.digitize(turnover, [600, 2500])
    amounts = {
        "turnover": turnover,
        "staff": np.ceil(turnover / 90 * share["staff"]),
        "wages": 0.24 * turnover * share["wages"],
        "investment": 0.08 * turnover * share["investment"],
        "exports": 0.3 * turnover * share["exports"] * (rng.random(n) < 0.15 + 0.25 * size),
        "energy": 0.04 * turnover * share["energy"],
        "assets": 1.4 * turnover * share["assets"],
        "profit": 0.07 * turnover * rng.normal(1, 1.2, n),
    }
    unknown = rng.random(n) < 0.06  # of the small ones, which are not asked for their energy
    weight = np.round(np.array([24.0, 8.0, 1.5])[size] * rng.uniform(0.7, 1.3, n), 2)
    rows = []
    for i in range(n):
        values = [
            str(int(amounts[name][i])) if name == "staff" else f"{amounts[name][i]:.1f}"
            for name in AMOUNTS
        ]
        if unknown[i] and size[i] == 0:
            values[AMOUNTS.index("energy")] = ""
        rows.append(
            [f"{i:05d}", REGIONS[rng.integers(4)], SIZES[size[i]], f"{weight[i]:.2f}", *values]
        )
    return rows


def write(path: Path) -> int:
    """Write 2,500 companies as CSV, the same ones each time; return how many."""
    rows = companies()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([["id", "region", "size", "weight", *AMOUNTS], *rows])
    return len(rows)
