"""``python -m benchmarks.versions``: the library as it is against an earlier version of itself.

The earlier commit (`--against`) is checked out beside this one. Each case runs in turns with both,
each run in a process of its own that compiles before: nothing is compiled in what is timed. The
ratio is that of the medians of processor seconds, which other work on the machine disturbs less
than seconds. ``--only vmdav`` runs the cases with that word in their names and keeps what is known
of the others.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .common import RESULTS, ROOT, commit, figure, load, machine_line, table, write

FIRST = "effcceb"  # version 0.1.0
JSON, REPORT = RESULTS / "versions.json", RESULTS / "versions.md"
DATA = {
    "SIM_13": "datasets.simulated('SIM_13')",
    "normal 100,000 x 3": "rng.normal(size=(100_000, 3))",
    "normal 100,000 x 10": "rng.normal(size=(100_000, 10))",
    "noise 50,000 x 20": "rng.normal(size=(50_000, 20))",
    "noise 50,000 x 50": "rng.normal(size=(50_000, 50))",
    "SIM_10": "datasets.simulated('SIM_10')",
    "clusters 1,000,000 x 10": "(rng.random((2000, 10))[rng.permutation(1_000_000) % 2000]"
    " + rng.normal(0, 0.02, (1_000_000, 10)))",
    "normal 1,000,000 x 10": "rng.normal(size=(1_000_000, 10))",
}
CASES = (
    ("mdav", "SIM_13", 5),
    ("mdav", "normal 100,000 x 3", 5),
    ("mdav", "normal 100,000 x 10", 5),
    ("mdav", "noise 50,000 x 20", 5),
    ("mdav", "noise 50,000 x 50", 5),
    ("vmdav", "SIM_13", 5),
    ("vmdav", "normal 100,000 x 10", 5),
    ("centroid", "SIM_13", 5),
    ("centroid", "normal 100,000 x 10", 5),
    ("diameter", "SIM_10", 4),
    ("mst diameter", "SIM_13", 4),
    ("mst centroid", "SIM_13", 4),
    ("linkage", "normal 100,000 x 10", 5),
    ("refine", "SIM_10", 4),
    ("refine", "SIM_13", 5),
)
LARGE = (("mdav", "clusters 1,000,000 x 10", 5), ("mdav", "normal 1,000,000 x 10", 5))
RUN = """
import hashlib, json, sys, time
import numpy as np
from microagg_gpu import datasets, measures, microaggregate
rng = np.random.default_rng(1)
name, data, k = sys.argv[1], {data}, int(sys.argv[2])
if name == "linkage":
    published = data.round(1)
    def run(some):
        return measures.record_linkage(data[:some], published[:some])
elif name == "refine":
    def run(some):
        return microaggregate(data[:some], k, refine_steps=2000, engine="cpu")
else:
    method, _, then = name.partition(" ")
    options = {{"split": then}} if then else {{}}
    def run(some):
        return microaggregate(data[:some], k, method, engine="cpu", **options)
# Of few records linkage and refinement would compile nothing.
run({{"linkage": len(data), "refine": 20_000}}.get(name, 3000))
seconds, cpu = time.perf_counter(), time.process_time()
result = run(len(data))
seconds, cpu = time.perf_counter() - seconds, time.process_time() - cpu
if name == "refine":
    result = f"{{result.loss:.4f}}"
elif name == "linkage":
    result = hashlib.sha256(repr(result).encode()).hexdigest()
else:
    result = hashlib.sha256(np.asarray(result.labels).tobytes()).hexdigest()
print(json.dumps([seconds, cpu, result]))
"""


def check_out(revision: str, folder: Path) -> Path:
    """An earlier commit in a folder of its own."""
    there = folder / "earlier"
    archive = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, capture_output=True, check=True
    ).stdout
    there.mkdir()
    subprocess.run(["tar", "-x"], cwd=there, input=archive, check=True)
    kernels = there / "microagg_gpu" / "kernels"
    if not kernels.exists():  # then an installation mapped it
        kernels.unlink(missing_ok=True)
        kernels.symlink_to(there / "kernels")
    return there


def run(tree: Path, case: tuple[str, str, int]) -> tuple[float, float, str]:
    """Seconds, processor seconds and what came out, of one run."""
    name, data, k = case
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(data=DATA[data]), name, str(k)],
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=tree, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{name} on {data} in {tree.name}: {done.stderr.strip()[-500:]}")
    seconds, cpu, result = json.loads(done.stdout)
    return seconds, cpu, result


def compare(case: tuple[str, str, int], earlier: Path, repeats: int) -> dict[str, Any]:
    """Both versions in turns."""
    rows: dict[str, list[tuple[float, float, str]]] = {"earlier": [], "now": []}
    for _ in range(repeats):
        rows["earlier"].append(run(earlier, case))
        rows["now"].append(run(ROOT, case))
    return {
        "seconds": {which: statistics.median(row[0] for row in rows[which]) for which in rows},
        "processor": {which: statistics.median(row[1] for row in rows[which]) for which in rows},
        "same": len({row[2] for which in rows.values() for row in which}) == 1,
        **({"losses": [rows[which][0][2] for which in rows]} if case[0] == "refine" else {}),
        "load": load(), "repeats": repeats, "commit": commit(),
    }  # fmt: skip


def report(known: dict[str, Any], against: str) -> str:
    """The page."""
    rows = [
        [
            name, data, str(k),
            figure(row["processor"]["earlier"]), figure(row["processor"]["now"]),
            figure(row["processor"]["earlier"] / row["processor"]["now"]),
            figure(row["seconds"]["earlier"] / row["seconds"]["now"]),
            f"loss {' -> '.join(row['losses'])}" if "losses" in row
            else "yes" if row["same"] else "**no**",
            str(row["repeats"]), f"{row['load']:.1f}", row["commit"],
        ]
        for name, data, k in (*CASES, *LARGE)
        if (row := known.get(f"{name}, {data}"))
    ]  # fmt: skip
    head = ["method", "data", "k", "processor s, earlier", "now", "ratio", "ratio of seconds",
            "same result", "runs", "load", "commit"]  # fmt: skip
    return "\n\n".join((
        "# Against an earlier version",
        f"`python -m benchmarks.versions`: whole calls of `microaggregate` (linkage: "
        f"`measures.record_linkage`; refine: MDAV and 2,000 steps of refinement for each record, "
        f"which may end elsewhere) with commit {against} (*earlier*) and now, in turns, each in "
        "a process of its own, nothing compiled in what is timed; medians of so many *runs*. The "
        "ratio is that of processor seconds of all cores; that of "
        "seconds is beside it. The load is how many processes wanted the machine's cores.",
        machine_line() + ".",
        "\n".join(table(head, rows)),
    )) + "\n"  # fmt: skip


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.versions", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--against", default=FIRST, help="an earlier commit")
    parser.add_argument("--only", default="", help="a word of the cases to run")
    parser.add_argument("--large", action="store_true", help="also 1,000,000 records")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each, of small cases")
    given = parser.parse_args()
    kept = json.loads(JSON.read_text()) if JSON.is_file() else {}
    known = kept.get("rows", {}) if kept.get("against") == given.against else {}
    with tempfile.TemporaryDirectory() as folder:
        earlier = check_out(given.against, Path(folder))
        for case in (*CASES, *(LARGE if given.large else ())):
            name = f"{case[0]}, {case[1]}"
            if given.only not in name:
                continue
            known[name] = compare(case, earlier, 1 if case in LARGE else given.repeats)
            row = known[name]["processor"]
            print(f"{name}: {row['earlier']:.2f} -> {row['now']:.2f}", flush=True)
            write(JSON, json.dumps({"against": given.against, "rows": known}, indent=1) + "\n")
            write(REPORT, report(known, given.against))


if __name__ == "__main__":
    main()
