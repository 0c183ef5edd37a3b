"""Files larger than memory, on several workers: what blocks cost, and how time falls.

``python -m benchmarks.distributed`` writes clusters of the 2005 paper to Parquet files, protects
them with Dask on this machine, and saves `results/dask.json` after every run and `results/dask.md`.
Runs that the JSON file has are not repeated; ``--fresh`` begins anew. Parts (``--parts``):

price  1,000,000 x 10 in blocks of 100,000, beside the same method on the whole
large  10,000,000 x 10, with one and with two workers

Memory is that of all processes, scheduler and client included, looked at ten times a second.
"""

import argparse
import logging
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from microagg_gpu import microaggregate
from microagg_gpu.datasets import clusters

from .common import RESULTS, SavedRuns, machine_line, table, write

SAVED = RESULTS / "dask.json"
K, D, FILE = 5, 10, 100_000  # records of a file, and of a block
PARTS = {"price": 1_000_000, "large": 10_000_000}
COLUMNS = [f"v{j}" for j in range(D)]


def draw(n: int) -> np.ndarray:
    """Clusters of 500 records, in random order."""
    data = clusters(n // 500, D, 0.05, 500, 500, seed=1)
    np.random.default_rng(2).shuffle(data)
    return data


def write_files(n: int, folder: Path) -> None:
    """The records in Parquet files, with a number for each."""
    data = draw(n)
    folder.mkdir(parents=True)
    for i, start in enumerate(range(0, n, FILE)):
        part = data[start : start + FILE]
        columns = {
            "id": np.arange(start, start + len(part)),
            **dict(zip(COLUMNS, part.T, strict=True)),
        }
        pq.write_table(pa.table(columns), folder / f"part-{i:04d}.parquet")


class Memory:
    """The most memory that this process and those that it started have held, in GiB."""

    def __enter__(self) -> "Memory":
        self.most, self._done = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        me = psutil.Process()
        while not self._done.wait(0.1):
            total = 0
            for process in [me, *me.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            self.most = max(self.most, total / 2**30)


def on_workers(folder: Path, workers: int, **given: Any) -> dict[str, Any]:
    """Protect files on so many workers of this machine."""
    from distributed import Client, LocalCluster
    from microagg_gpu.distributed import microaggregate as in_blocks

    home = folder.parent
    phases: dict[str, float] = {}
    with (
        Memory() as memory,
        LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit="5GiB", dashboard_address=":0",
            local_directory=home / "scratch", silence_logs=logging.ERROR,
            env={"NUMBA_NUM_THREADS": "1"},
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        result = in_blocks(
            folder, K, columns=COLUMNS, output=home / "out", force=True, client=client,
            progress=partial(_note, phases), **given,
        )  # fmt: skip
    return {
        "loss": result.loss, "seconds": result.seconds, "blocks": result.blocks,
        "repaired": result.repaired, "groups": result.groups,
        "memory": memory.most, "phases": _lengths(phases, result.seconds),
    }  # fmt: skip


def _note(phases: dict[str, float], name: str, fraction: float) -> None:
    phases.setdefault(name, time.perf_counter())


def _lengths(phases: dict[str, float], total: float) -> dict[str, float]:
    """How long each phase took, up to the start of the next."""
    names, starts = list(phases), list(phases.values())
    ends = [*starts[1:], starts[0] + total]
    return {
        name: round(end - start, 1) for name, start, end in zip(names, starts, ends, strict=True)
    }


def alone(n: int, **given: Any) -> dict[str, Any]:
    """The same on one machine, in memory."""
    data = draw(n)
    with Memory() as memory:
        result = microaggregate(data, K, **given)
    return {"loss": result.loss, "seconds": result.seconds, "memory": memory.most}


def price(runs: SavedRuns, home: Path, n: int) -> None:
    """What blocks cost."""
    folder = _files(home, n)
    runs(f"{n} whole", partial(alone, n))
    runs(f"{n} whole refined", partial(alone, n, refine_steps=10))
    runs(f"{n} blocks", partial(on_workers, folder, 2, repair=0))
    runs(f"{n} blocks repaired", partial(on_workers, folder, 2))


def large(runs: SavedRuns, home: Path, n: int) -> None:
    """How time falls from one worker to two."""
    folder = _files(home, n)
    for workers in (2, 1):
        run = partial(on_workers, folder, workers, repair=0)
        runs(f"{n} blocks, workers: {workers}", run)
    runs(f"{n} blocks repaired, workers: 2", partial(on_workers, folder, 2))


def _files(home: Path, n: int) -> Path:
    """Files of so many records, written by a process of its own, whose memory is not counted."""
    folder = home / f"records-{n}"
    if not folder.exists():
        subprocess.run(
            [sys.executable, "-m", "benchmarks.distributed", "--write", str(n), str(folder)],
            check=True,
        )
    return folder


def report(done: dict[str, dict[str, Any]]) -> str:
    """Markdown of all results."""
    lines = [
        "# Several workers",
        "",
        "`python -m benchmarks.distributed`: MDAV, k = 5, clusters of 500 records with 10 "
        "variables in Parquet files of 100,000, from disk to disk, with k counted again in what "
        "was written. Blocks of 100,000; `repaired` with 10 steps of refinement for each record, "
        "in its block and once more at the borders. Workers have one thread and 5 GiB each. The "
        "rows `whole` are one process with the records in memory already, on all cores.",
        "",
        f"Machine: {machine_line()}.",
        "",
    ]
    for n in PARTS.values():
        rows = {name: run for name, run in done.items() if name.startswith(f"{n} ")}
        if not rows:
            continue
        whole = done.get(f"{n} whole")
        head = ["", "loss %", "against whole", "seconds", "GiB in all", "records repaired"]
        cells = []
        for name, run in rows.items():
            against = f"{100 * (run['loss'] / whole['loss'] - 1):+.1f} %" if whole else ""
            cells.append([
                name.removeprefix(f"{n} "), f"{run['loss']:.4f}", against, f"{run['seconds']:.0f}",
                f"{run['memory']:.1f}", f"{run.get('repaired', 0):,}",
            ])  # fmt: skip
        lines += [f"## {n:,} records", "", *table(head, cells), ""]
        for name, run in rows.items():
            if "phases" in run:
                text = ", ".join(f"{phase} {seconds:g}" for phase, seconds in run["phases"].items())
                lines += [f"Seconds of {name.removeprefix(f'{n} ')}: {text}.", ""]
        for note in dict.fromkeys(run["note"] for run in rows.values() if "note" in run):
            of = [
                name.removeprefix(f"{n} ") for name, run in rows.items() if run.get("note") == note
            ]
            lines += [f"{', '.join(of).capitalize()}: {note}.", ""]
        lines += _ratios(rows, n)
    return "\n".join(lines).rstrip() + "\n"


def _ratios(rows: dict[str, dict[str, Any]], n: int) -> list[str]:
    one, two = (rows.get(f"{n} blocks, workers: {workers}") for workers in (1, 2))
    if not (one and two):
        return []
    return [f"Two workers are {one['seconds'] / two['seconds']:.2f} times as fast as one.", ""]


def main() -> None:
    """Run the parts asked for, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default="price,large")
    parser.add_argument("--home", type=Path, help="where files are written; 4 GB for 10,000,000")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        write_files(int(given.write[0]), Path(given.write[1]))
        return
    runs = SavedRuns(given.fresh, SAVED)
    home = given.home or Path(tempfile.mkdtemp(prefix="microagg-"))
    try:
        for part in given.parts.split(","):
            {"price": price, "large": large}[part](runs, home, PARTS[part])
    finally:
        if given.home is None:
            shutil.rmtree(home, ignore_errors=True)
    text = report(runs.done)
    write(SAVED.with_suffix(".md"), text)
    print(text)


if __name__ == "__main__":
    main()
