"""Time and memory of every method against the number of records, beside named peers.

``python -m benchmarks.scaling --engine cpu`` writes a JSON file as it goes, and from it Markdown
and a plot. Each measurement has a process of its own (`benchmarks.scaling.measure`). With
``--engine cuda``, on a machine with a GPU, every table is measured with both engines, whose groups
must be the same. In Numba's simulator ``--quick`` does the same with a few records, as a test.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from microagg_gpu.datasets import clusters, fetch, simulated

from ..common import RESULTS, ROOT, commit, data_home, load, machine, write
from .measure import SIMULATED, gpu, without_gpu
from .plot import plot
from .report import as_markdown, disagreements

# The group sizes of the targets; the 2005 paper's simulations have k=4.
K = {"diameter": 4, "mst": 4, "kward": 4, "tsp": 3}
UNIVARIATE = ("fixed", "optimal", "genetic")
SPLITS: tuple[dict[str, Any], ...] = ({}, {"split": "diameter"}, {"split": "centroid"})
METHODS = (
    *("mdav", "vmdav", "centroid", "diameter", "mst", "kward"),
    *("projection", "individual", "fixed", "optimal", "genetic", "tsp"),
)
ENGINES = ("generic", "cpu")  # of ours, to compare with
SCANNED = METHODS[:6]  # those with a full scan in `peers`
IMPORT = "import time; t = time.perf_counter(); import microagg_gpu; print(time.perf_counter() - t)"


@dataclass(frozen=True)
class Data:
    """A table to measure on; tables of one family differ in n only."""

    name: str
    n: int
    d: int
    make: Callable[[], np.ndarray] = field(compare=False)
    family: str = "clusters"


@dataclass(frozen=True)
class Job:
    """A row of the results to come."""

    method: str
    data: Data
    who: str = "ours"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The method with its options."""
        return " ".join([self.method, *map(str, self.options.values())])

    @property
    def k(self) -> int:
        return K.get(self.method, 5)

    def as_row(self) -> dict[str, Any]:
        """What is known of the row before it is measured."""
        data = self.data
        return {
            **{"method": self.name, "who": self.who, "data": data.name, "family": data.family},
            **{"n": data.n, "d": data.d, "k": self.k},
        }


def generated(n: int, d: int) -> Data:
    """A file from the generator of the 2005 paper's SIM_9 ... SIM_14, with n records."""
    return Data(f"{n:,} x {d}", n, d, lambda: clusters(200, d, 0.1, n // 200, n // 200, seed=0))


def noise(n: int, d: int, family: str = "noise") -> Data:
    """Records without any structure, uniform over the unit cube."""
    make = lambda: np.random.default_rng(0).uniform(size=(n, d))  # noqa: E731
    return Data(f"noise {n:,} x {d}", n, d, make, family)


def sim(number: int, n: int, d: int, family: str = "clusters") -> Data:
    """A simulated data set of the 2005 paper."""
    return Data(f"SIM_{number}", n, d, lambda: simulated(f"SIM_{number}"), family)


def census(n: int) -> Data:
    """The first n records of Census."""
    name = "Census" if n == 1080 else f"Census, first {n}"
    return Data(name, n, 13, lambda: fetch("census", data_home()).data[:n], "census")


def sizes(method: str, quick: bool) -> list[Data]:
    """The tables a method is measured on, family after family, each from small to large."""
    if SIMULATED:
        return [noise(n, 1 if method in UNIVARIATE else 2, "clusters") for n in (20, 30)]
    if method == "tsp":
        return [census(n) for n in ((60, 120) if quick else (270, 540, 1080))]
    if method == "genetic":
        return [generated(n, 1) for n in ((2_000, 10_000) if quick else (10**4, 10**5, 10**6))]
    if method in UNIVARIATE:
        return [generated(n, 1) for n in ((10**4, 10**5) if quick else (10**5, 10**6, 10**7))]
    if quick:
        tables = [generated(n, 10) for n in (2_000, 4_000)]
        wide = [noise(1_000, 200, "wide")]
    else:
        tables = [sim(8 + i, 20_000 * i, 10) for i in range(1, 7)]
        tables += [generated(n, 10) for n in (250_000, 500_000, 1_000_000)]
        wide = [sim(20, 10_000, 200, "wide"), noise(10_000, 200, "noise, wide")]
    tables += wide if method == "mst" else []
    return tables + ([noise(2_000 if quick else 20_000, 50)] if method in SCANNED else [])


def peers(method: str, data: Data, quick: bool, engine: str) -> Iterator[str]:
    """What a method is compared with on a table, besides our own `mdav`."""
    if engine == "cuda":
        yield "cpu"
        return
    first = data.n == (2_000 if quick else 20_000)
    if method in SCANNED and (first or (method == "mdav" and data.n <= 120_000)):
        yield "full scan"
    targets = data.family == "clusters" and (first or data.n in (100_000, 120_000))
    if method == "mst" and (targets or "wide" in data.family):
        yield "quitefastmst"
    if method == "kward" and first and data.family == "clusters":
        yield "fastcluster"
    largest = {"fixed": 10**6, "optimal": 10**6, "genetic": 10**5, "tsp": 1080}
    small = {"fixed": 10**5, "optimal": 10**5, "genetic": 10**4, "tsp": 120}
    generic = small.get(method, 4_000) if quick else largest.get(method, 100_000)
    if method not in SCANNED and data.n == generic:
        yield "generic"


def jobs(methods: list[str], quick: bool, most: float, engine: str) -> Iterator[list[Job]]:
    """Rows to measure, in lists of which each has one method on one family of tables."""
    for method in methods:
        tables = [data for data in sizes(method, quick) if data.n <= most]
        for options in SPLITS if method == "mst" else ({},):
            for family in dict.fromkeys(data.family for data in tables):
                if options and family != "clusters":
                    continue
                rows = []
                for data in (data for data in tables if data.family == family):
                    rows.append(Job(method, data, "ours", options))
                    for who in peers(method, data, quick, engine):
                        if who == "cpu" or not options:
                            rows.append(Job(method, data, who, options))
                yield rows


class Bench:
    """Runs measurements and keeps their results in a JSON file."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self._options = options
        self._scratch = scratch
        self.stem = options.output / f"scaling-{options.engine}"
        self._json = self.stem.with_suffix(".json")
        self.results: dict[str, Any] = {"rows": {}, "first": {}}
        if self._json.is_file():
            self.results = json.loads(self._json.read_text(encoding="utf-8"))
        if not options.report:
            self.results["machine"] = machine() | (gpu() if options.engine == "cuda" else {})
        self.results["engine"] = options.engine
        self._stamp = {"date": date.today().isoformat(), "commit": commit()}

    def _save(self) -> None:
        write(self._json, json.dumps(self.results, indent=1) + "\n")

    def _child(self, arguments: list[str], **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
        return done.stdout.splitlines()[-1]

    def _measure(self, job: Job, kind: str, table: Path, **environment: str) -> dict[str, Any]:
        task = {
            "kind": kind,
            "method": job.method,
            "options": job.options,
            "k": job.k,
            "engine": job.who if job.who in ENGINES else self._options.engine,
            "data": str(table),
            "repeat": self._options.repeat,
        }
        answer = self._child(["-m", "benchmarks.scaling.measure", json.dumps(task)], **environment)
        return json.loads(answer)

    def _table(self, data: Data) -> Path:
        """The table as a file, so that making it takes no memory in the measured process."""
        path = self._scratch / f"{data.family}-{data.n}-{data.d}.npy"
        if not path.is_file():
            np.save(path, data.make())
        return path

    def run(self, job: Job) -> dict[str, Any]:
        """Measure a row and save it."""
        row = job.as_row() | {"load": load()}
        kind = "ours" if job.who in ENGINES else job.who
        try:
            row |= self._measure(job, kind, self._table(job.data))
        except (RuntimeError, OSError, ValueError) as error:
            row["note"] = f"failed: {_without_paths(str(error))}"
        return self.keep(job, row)

    def keep(self, job: Job, row: dict[str, Any]) -> dict[str, Any]:
        """Save a row in the place of an earlier one."""
        self.results["rows"][f"{job.name} | {job.data.name} | {job.who}"] = row | self._stamp
        self._save()
        seconds = f"{row['seconds']:.3f} s" if "seconds" in row else row["note"]
        where = f"{job.data.name} ({job.data.n:,})"
        print(f"{time.strftime('%X')}  {job.name}  {where}  {job.who}: {seconds}", file=sys.stderr)
        return row

    def run_family(self, rows: list[Job]) -> None:
        """Measure one method from small tables to large, unless one would take too long."""
        ours: list[tuple[int, float]] = []
        for job in rows:
            if job.who == "ours" and ours:
                expected = ours[-1][1] * (job.data.n / ours[-1][0]) ** _exponent(ours)
                if expected > self._options.longest:
                    note = f"not run: about {expected:.0f} s expected"
                    self.keep(job, job.as_row() | {"note": note})
                    break
            row = self.run(job)
            if job.who == "ours" and "seconds" in row:
                ours.append((job.data.n, row["seconds"]))

    def run_first(self, method: str) -> None:
        """First call of a method with an empty compile cache, then in a process that has it."""
        small = generated(2_000, 1 if method in UNIVARIATE else 10)
        job = Job(method, generated(200, 10) if method == "tsp" else small)
        table = self._table(job.data)
        with tempfile.TemporaryDirectory(dir=self._scratch) as cache:
            found = [
                self._measure(job, "first", table, NUMBA_CACHE_DIR=cache)["first_seconds"]
                for _ in range(2)
            ]
        row = {"data": job.data.name, "compiled": found[0], "cached": found[1]}
        self.results["first"][method] = row | self._stamp
        self._save()
        print(f"{method}: first call {found[0]:.2f} s, cached {found[1]:.2f} s", file=sys.stderr)

    def run_import(self) -> None:
        """Seconds that ``import microagg_gpu`` takes in five processes."""
        seconds = [float(self._child(["-c", IMPORT])) for _ in range(5)]
        row = {"seconds": median(seconds), "all_seconds": seconds}
        self.results["import"] = row | self._stamp
        self._save()


def _exponent(times: list[tuple[int, float]]) -> float:
    """How time grew at last, at least linearly; quadratically if that is not known."""
    if len(times) < 2:
        return 2.0
    (n, s), (m, t) = times[-2:]
    return max(1.0, math.log(t / s) / math.log(m / n))


def _without_paths(text: str) -> str:
    return text.replace(str(ROOT), ".").replace(str(Path.home()), "~")


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    add("--engine", default="cpu", help="engine to measure: cpu or cuda (cpu)")
    add("--methods", default=",".join(METHODS), help="some of them, with commas between (all)")
    add("--most", type=float, default=math.inf, help="largest number of records")
    add("--repeat", type=int, default=3, help="runs, where one takes less than 10 s (3)")
    add("--longest", type=float, default=900.0, help="leave out runs expected to last longer (s)")
    add("--quick", action="store_true", help="small tables, no compile times: a minute or two")
    add("--report", action="store_true", help="measure nothing: write Markdown and plot again")
    add("--output", type=Path, help="directory (quick: a temporary one; else results/)")
    options = parser.parse_args(arguments)
    options.methods = options.methods.split(",")
    if unknown := set(options.methods) - set(METHODS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(METHODS)}")
    if options.output is None:
        quick = options.quick
        options.output = Path(tempfile.mkdtemp(prefix="scaling-")) if quick else RESULTS
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark from the command line."""
    options = parsed(arguments)
    if options.report and not (options.output / f"scaling-{options.engine}.json").is_file():
        print(f"nothing measured yet in {options.output}: leave out --report", file=sys.stderr)
        return 2
    if options.engine == "cuda" and not options.report and (problem := without_gpu(options.quick)):
        print(problem, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(options, Path(scratch))
        try:
            if not options.report:
                bench.run_import()
                for rows in jobs(options.methods, options.quick, options.most, options.engine):
                    bench.run_family(rows)
                for method in options.methods if not options.quick else ():
                    bench.run_first(method)
        except KeyboardInterrupt:
            print("stopped; what was measured is kept", file=sys.stderr)
    text = as_markdown(bench.results)
    write(bench.stem.with_suffix(".md"), text)
    plot(bench.results, bench.stem.with_suffix(".png"))
    print(text)
    print(f"written: {bench.stem}.json, .md and .png", file=sys.stderr)
    if options.engine == "cuda" and (wrong := disagreements(bench.results)):
        print("\n".join(wrong), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
