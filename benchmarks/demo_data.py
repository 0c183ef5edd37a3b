"""Write the simulated file of ``make demo``: companies in clusters, with an identifier."""

import csv
import sys
from pathlib import Path

import numpy as np

from microagg_gpu.datasets import clusters


def main(path: Path) -> None:
    """Write some 2,500 companies; the same ones each time."""
    places, region = clusters(50, 2, 0.08, 20, 80, seed=2, labels=True)
    turnover = np.round(5000 + 3000 * places[:, 0], 1)
    staff = np.round(400 + 200 * places[:, 1]).astype(int)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "region", "turnover", "staff"])
        for i, row in enumerate(zip(region, turnover, staff, strict=True)):
            writer.writerow([f"{i:05d}", f"R{row[0]:02d}", *row[1:]])
    print(f"{path}: {len(places)} simulated companies")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
