"""A Dask cluster whose workers are killed at random: the right files, or one sentence and none."""

import faulthandler
import logging
import os
import random
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from .outcome import Outcome
from .tables import names, table

ASKED, BATCH, MINUTES = 10**6, 20, 10.0
FILES, RECORDS, BLOCK = 3, 1500, 600
WORKERS = 2
PATIENCE = 300
# Settings of the jobs, in turn.
JOBS: tuple[dict[str, Any], ...] = (
    {"k": 5},
    {"k": 3, "by": ["region"], "keep_integers": True},
    {"k": 4, "method": "vmdav", "repair": 3, "drop": ["id"]},
    {"k": 10, "sampling_weight": "staff", "columns": ["turnover"]},
)


@dataclass
class State:
    """The cluster, its client, and where the files are."""

    folder: Path
    cluster: Any = None
    client: Any = None

    def ready(self) -> None:
        """Wait for two workers; if they do not come, begin with a new cluster."""
        if self.client is not None:
            try:
                self.client.wait_for_workers(WORKERS, timeout=PATIENCE / 10)
                return
            except TimeoutError:  # a nanny gave up, as it does when its worker dies too early
                self.close()
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", silence_logs=50,
            local_directory=self.folder / "scratch", env={"NUMBA_NUM_THREADS": "1"},
        )  # fmt: skip
        self.client = Client(self.cluster)

    def close(self) -> None:
        """End the cluster and all its processes."""
        if self.client is not None:
            self.client.close(timeout=10)
            self.cluster.close(timeout=10)


@contextmanager
def setup(folder: Path) -> Iterator[State]:
    """The files and two workers, each a process that its nanny starts again when it dies."""
    source = folder / "in"
    source.mkdir()
    for i in range(FILES):
        part = table(RECORDS // FILES, seed=i)
        pq.write_table(part, source / f"part-{i}.parquet")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    state = State(folder)
    try:
        yield state
    finally:
        state.close()


def run(number: int, state: State) -> Outcome:
    """One job while workers die, compared with the same job undisturbed."""
    from microagg_gpu import InputError

    settings = JOBS[number % len(JOBS)]
    expected = state.folder / f"expected-{number % len(JOBS)}"
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        state.ready()
        if not expected.exists():
            _job(state, expected, settings)
        output = state.folder / "out"
        with _killing(state.cluster, random.Random(f"dask {number}")) as deaths:
            try:
                _job(state, output, settings)
                faults, refused = _differences(expected, output), False
            except InputError as error:
                refused = True
                faults = ["output is there after an error"] if output.exists() else []
                if "\n" in str(error):
                    faults.append(f"the error is not one line: {str(error)[:300]!r}")
                if not deaths:
                    faults.append(f"no worker died and it was refused: {error}")
    finally:
        faulthandler.cancel_dump_traceback_later()
    shutil.rmtree(output, ignore_errors=True)
    known = {"in", "scratch", *(f"expected-{i}" for i in range(len(JOBS)))}
    if left := names(state.folder) - known:
        faults.append(f"{sorted(left)} was left over")
    return Outcome(refused, faults)


def _job(state: State, output: Path, settings: dict[str, Any]) -> None:
    from microagg_gpu.distributed import microaggregate

    given = {"columns": ["turnover", "staff"], "block": BLOCK, **settings}
    microaggregate(state.folder / "in", output=output, client=state.client, **given)


@contextmanager
def _killing(cluster: Any, dice: random.Random) -> Iterator[list[int]]:
    """Kill workers at random moments, up to six of them; yields who died.

    Not without end: a job whose workers never live long enough to do anything cannot end.
    """
    done = threading.Event()
    deaths: list[int] = []

    def kill() -> None:
        pause = dice.choice([0.3, 1.0, 3.0])
        for _ in range(dice.randint(1, 6)):
            if done.wait(dice.uniform(0, 2 * pause)):
                return
            # Only workers that are at work: a nanny whose worker dies while it starts gives up.
            ready = set(cluster.scheduler_info["workers"])
            nannies = list(cluster.workers.values())
            workers = [n.pid for n in nannies if n.pid and n.worker_address in ready]
            if workers:
                deaths.append(dice.choice(workers))
                try:
                    os.kill(deaths[-1], getattr(signal, "SIGKILL", signal.SIGTERM))
                except ProcessLookupError:
                    deaths.pop()

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield deaths
    finally:
        done.set()
        thread.join()


def _differences(expected: Path, output: Path) -> list[str]:
    """Files that are not what an undisturbed job writes."""
    if names(expected) != names(output):
        return [f"the files are {sorted(names(output))}"]
    return [
        f"{name} is another than that of an undisturbed job"
        for name in sorted(names(expected))
        if not pq.read_table(output / name).equals(pq.read_table(expected / name))
    ]
