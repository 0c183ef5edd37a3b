"""Time and memory of the command on a large file, from disk to disk.

``python -m benchmarks.files`` writes a simulated CSV file of 1,000,000 rows and 15 columns in a
temporary directory, protects it in two ways with ``microagg protect``, each in a process of its
own, and saves `results/files.md`. Beside it: pandas, which only reads the file and writes it
again. ``--rows`` takes another size.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .common import RESULTS, machine_line, table, write

AMOUNTS = [*(f"amount{j}" for j in range(8)), *(f"number{j}" for j in range(3))]
CHOSEN = ["--columns", ",".join(AMOUNTS), "--drop", "id", "--keep-integers", "-k", "5"]
RUNS = {
    "protect, all records together": ["protect", "in.csv", *CHOSEN, "-o", "a.csv"],
    "protect by 12 strata, weighted means, report": [
        "protect", "in.csv", *CHOSEN, "--by", "region,size", "--weight", "weight", "-o", "b.csv",
        "--report", "b.html",
    ],
}  # fmt: skip
PANDAS = "import pandas; pandas.read_csv('in.csv', dtype={'id': str}).to_csv('c.csv', index=False)"


def write_file(path: Path, n: int) -> None:
    """Companies whose amounts go with their size, without clusters: hard for search trees."""
    rng = np.random.default_rng(2)
    base = rng.lognormal(5, 1, n)
    amounts = [base * rng.lognormal(0, 0.5, n) for _ in AMOUNTS]
    columns = {
        "id": [f"{i:08d}" for i in range(n)],
        "region": np.array(["North", "East", "South", "West"])[rng.integers(4, size=n)],
        "size": np.array(["small", "medium", "large"])[np.digitize(base, [100, 300])],
        "weight": np.round(rng.uniform(1, 10, n), 3),
        **{
            name: np.round(x, 2) if name.startswith("amount") else np.ceil(x / 5).astype(np.int64)
            for name, x in zip(AMOUNTS, amounts, strict=True)
        },
    }
    pa.csv.write_csv(pa.table(columns), path)


def measured(command: list[str], folder: str) -> tuple[float, float]:
    """Seconds, and the peak memory of the largest process so far in GiB."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit


def main(n: int) -> None:
    """Measure, print and save."""
    lines = [
        "# From disk to disk",
        "",
        f"`python -m benchmarks.files`: a CSV file of {n:,} rows and 15 columns, 11 of them "
        f"protected with MDAV, k=5; on {machine_line()}. Peak memory is that of the process, or "
        "of one before it that took more. Everything is compiled beforehand.",
        "",
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_file(Path(folder, "in.csv"), 60_000)
        for arguments in RUNS.values():  # compiles
            measured(["-m", "microagg_gpu", *arguments, "--force"], folder)
        write_file(Path(folder, "in.csv"), n)
        runs = {"pandas reads and writes the file": ["-c", PANDAS]}
        runs |= {name: ["-m", "microagg_gpu", *a, "--force"] for name, a in RUNS.items()}
        for name, command in runs.items():
            seconds, peak = measured(command, folder)
            rows.append([name, f"{seconds:.0f}", f"{peak:.1f}"])
            print(*rows[-1], sep="  ", flush=True)
    lines += table(("", "seconds", "peak GiB"), rows, numbers=True)
    if n == 1_000_000:
        write(RESULTS / "files.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    main(parser.parse_args().rows)
