"""How long the first calls after an installation take, and later ones.

``python -m benchmarks.first_call`` runs each command in a process of its own, with an empty folder
for compiled kernels, and then with one that ``microagg warmup`` filled, and saves
`results/first-call.md`. ``--only demo`` measures the lines that have the word in their names and
keeps the others. Where one run takes more than 10 seconds, it is the only one; else the median of
three counts. Processor time is that of all cores.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from .common import RESULTS, ROOT, commit, figure, load, machine_line, table, write

JSON, REPORT = RESULTS / "first-call.json", RESULTS / "first-call.md"
SMALL, LARGE = 2500, 200_000
COLUMNS = [f"amount{j}" for j in range(8)]
METHODS = ("mdav", "vmdav", "centroid", "mst", "kward", "path", "projection", "individual")
ONLY_SMALL = ("diameter", "genetic")  # which take minutes for so many records
AIMS = (
    "Aims: `make demo` under 25 s on two cores, no first call of a small file above 3 s, a later "
    "one about 1 s, and no large one that compiles for more than 12 s."
)


def commands() -> Iterator[tuple[str, str]]:
    """Names of what is measured, and the commands, for the shell."""
    python = sys.executable
    microagg = f"{python} -m microagg_gpu"
    yield "`import microagg_gpu`", f"{python} -c 'import microagg_gpu'"
    yield "`microagg --help`", f"{microagg} --help"
    columns = ",".join(COLUMNS)
    for n in (SMALL, LARGE):
        for method in (*METHODS, *(ONLY_SMALL if n == SMALL else ())):
            yield (
                f"`protect --method {method}`, {n:,} records",
                f"{microagg} protect {n}.csv -k 5 --columns {columns} --method {method} "
                "-o out.csv --force",
            )
    small = f"{microagg} protect {SMALL}.csv -k 5 --columns {columns} -o out.csv --force"
    yield f"`protect --report`, {SMALL:,} records", f"{small} --report report.html"
    yield f"`protect --refine 5`, {SMALL:,} records", f"{small} --refine 5"
    yield f"`protect --bound`, {SMALL:,} records", f"{small} --bound"
    lines = subprocess.run(
        ["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.replace("\\\n", " ")
    demo = [line for line in lines.splitlines() if "/microagg " in line or "-m benchmarks" in line]
    for line in demo:
        again = " --force" if "-o " in line or "--plot " in line else ""
        yield f"`make demo`: {_name(line)}", f"cd {ROOT} && mkdir -p demo && {line}{again}"
    yield "`make demo`, all of it", f"make -C {ROOT} demo"


def _name(line: str) -> str:
    command = line.partition("/microagg ")[2].split()
    return f"`{command[0]}`" if command else "its data"


def write_files(folder: Path) -> None:
    """Simulated companies, in files of two sizes."""
    rng = np.random.default_rng(2)
    for n in (SMALL, LARGE):
        base = rng.lognormal(5, 1, n)
        columns = {name: np.round(base * rng.lognormal(0, 0.5, n), 2) for name in COLUMNS}
        pa.csv.write_csv(pa.table(columns), folder / f"{n}.csv")


def measured(command: str, folder: Path, kernels: Path | None) -> dict[str, float]:
    """Seconds and processor seconds of a command; without a folder of kernels in an empty one."""
    times: list[tuple[float, float]] = []
    while len(times) < 3 and not (times and times[0][0] > 10):
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels or empty)}
            before, begun = _processor_time(), time.perf_counter()
            subprocess.run(
                command, shell=True, cwd=folder, env=environment, check=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            times.append((time.perf_counter() - begun, _processor_time() - before))
    seconds, processor = (statistics.median(column) for column in zip(*times, strict=True))
    return {"seconds": seconds, "processor": processor, "load": load()}


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(rows: dict[str, dict[str, Any]]) -> str:
    """The page of results."""
    loads = [row[when]["load"] for row in rows.values() for when in ("empty", "filled")]
    commits = dict.fromkeys(row["commit"] for row in rows.values())
    lines = [
        "# First calls",
        "",
        "`python -m benchmarks.first_call`: each command in a process of its own, from its start "
        "to its end; nothing compiled (*first*), and after `microagg warmup` (*later*). Seconds, "
        f"and in brackets processor seconds of all cores. {min(loads):.1f} to {max(loads):.1f} "
        f"processes wanted the {os.cpu_count()} cores, the command itself included; seconds are "
        "longer where there were more processes than cores. The median of three runs, or one run "
        "where it takes more than 10 s. Small work runs on the generic engine until its kernels "
        "are compiled, and does not cause that itself: the last column is the difference of the "
        "processor seconds, for compiling or by the generic engine.",
        "",
        f"{machine_line()}; commit {', '.join(commits)}.",
        "",
        AIMS,
        "",
        *table(
            ("", "first", "later", "difference"),
            (
                (
                    name,
                    *(
                        f"{figure(row[when]['seconds'])} ({figure(row[when]['processor'])})"
                        for when in ("empty", "filled")
                    ),
                    figure(max(0.0, row["empty"]["processor"] - row["filled"]["processor"]), 2),
                )
                for name, row in rows.items()
            ),
            numbers=True,
        ),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the results after each line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="measure what has this in its name")
    parser.add_argument("--kernels", type=Path, help="a folder that warmup has filled")
    given = parser.parse_args()
    known = json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() and given.only else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        kernels = given.kernels or folder / "kernels"
        if given.kernels is None:
            warm = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
            subprocess.run([sys.executable, "-m", "microagg_gpu", "warmup"], env=warm, check=True)
        rows: dict[str, dict[str, Any]] = {}
        for what, command in commands():
            if given.only in what:
                try:
                    known[what] = {
                        "empty": measured(command, folder, None),
                        "filled": measured(command, folder, kernels),
                        "commit": commit(),
                    }
                except subprocess.CalledProcessError as error:
                    print(f"{what} failed: {error}", flush=True)
                    continue
                print(what, known[what], flush=True)
            if what not in known:
                continue
            rows[what] = known[what]
            write(JSON, json.dumps(rows, indent=1) + "\n")
            write(REPORT, report(rows))


if __name__ == "__main__":
    main()
