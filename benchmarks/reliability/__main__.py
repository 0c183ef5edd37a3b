"""``python -m benchmarks.reliability [PART ...]``: many cases, and how many of them are wrong.

calls      random calls of every method, option, array and frame, checked by independent code
kill       kill -9 at random moments of the real command
interrupt  Ctrl-C at random moments
terminate  SIGTERM and SIGHUP at random moments
command    the real command on a busy machine: exit code and one line of errors
hostile    broken files and odd names
dask       a cluster whose workers die at random
suite      the whole test command, some of the runs beside busy loops
report     only write the Markdown file from the JSON file

Each part goes on where it was when it was stopped (Ctrl-C, --minutes); the results of another
commit are kept. Case number i is always the same: --only i runs it alone and prints what is wrong.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from ..common import RESULTS, commit, write
from .records import Records
from .report import report
from .worker import PARTS, attempt, module_of

PATIENCE = 3600  # seconds for a batch: a case that hangs is a wrong one


class Batches:
    """Runs batches of cases in processes of their own, which end with this one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self.stopped = False

    def run(self, part: str, first: int, last: int) -> list[dict[str, Any]]:
        """The rows of cases from `first` to `last` - 1; one for a process that dies or hangs."""
        rows: list[dict[str, Any]] = []
        while first < last:
            found, begun, how = self._process(part, first, last)
            rows += found
            if self.stopped:
                break
            if begun is None:
                if how is not None and not found:
                    rows.append(_row(first, f"no case was begun: {how}"))
                break
            rows.append(_row(begun, f"the process that ran it {how}"))
            first = begun + 1
        return rows

    def _process(
        self, part: str, first: int, last: int
    ) -> tuple[list[dict[str, Any]], int | None, str | None]:
        arguments = [part, str(first), str(last), str(self._folder / f"{part}-{first}")]
        with self._lock:
            if self.stopped:
                return [], None, None
            process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.worker", *arguments],
                stdout=subprocess.PIPE, text=True, encoding="utf-8", start_new_session=True,
            )  # fmt: skip
            self._running.add(process)
        late = threading.Timer(PATIENCE, _end, [process])
        late.start()
        rows, begun = [], None
        for line in process.stdout or []:
            row = json.loads(line)
            begun = row.get("begins")
            if begun is None:
                rows.append(row)
        code = process.wait()
        late.cancel()
        self._running.discard(process)
        how = None if code == 0 else f"ended with {code}"
        return rows, begun, how

    def stop(self) -> None:
        """End all processes that were started, and theirs."""
        with self._lock:
            self.stopped = True
            for process in list(self._running):
                _end(process)


def _row(number: int, fault: str) -> dict[str, Any]:
    return {"case": number, "refused": False, "faults": [fault]}


def _end(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None and hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()


def run_part(part: str, records: Records, given: argparse.Namespace, folder: Path) -> None:
    """Run batches of a part until enough is done or the time is over."""
    module = module_of(part)
    asked = given.count or getattr(module, "ASKED_OF", {}).get(part) or module.ASKED
    left = 60 * given.minutes if given.minutes else None
    if left is None and hasattr(module, "MINUTES"):
        left = max(0.0, 60 * module.MINUTES - records.part(part)["seconds"])
    batches = Batches(folder)
    clock = threading.Timer(left or 0.0, batches.stop)
    clock.daemon = True
    if left is not None:
        clock.start()
    waiting: list[Batch] = []
    first, begun = records.part(part)["done"], time.monotonic()
    with ThreadPoolExecutor(given.jobs) as pool:
        try:
            while waiting or (first < asked and not batches.stopped):
                while len(waiting) < given.jobs and first < asked and not batches.stopped:
                    last = min(first + module.BATCH, asked)
                    waiting.append(Batch(first, last, pool.submit(batches.run, part, first, last)))
                    first = last
                begun = _note(part, records, waiting, batches, begun)
        except KeyboardInterrupt:
            for kind in (signal.SIGINT, signal.SIGTERM):  # a second one must not lose what is done
                signal.signal(kind, signal.SIG_IGN)
            batches.stop()
            if waiting:
                _note(part, records, waiting, batches, begun)
            raise
        finally:
            clock.cancel()


class Batch(NamedTuple):
    """Cases that are being run."""

    first: int
    last: int
    rows: Future[list[dict[str, Any]]]


def _note(
    part: str, records: Records, waiting: list[Batch], batches: Batches, begun: float
) -> float:
    """Note the oldest batch when it is done, or what is done of it when all is stopped."""
    batch = waiting[0]
    rows = batch.rows.result()
    last = batch.last
    if batches.stopped and len(rows) < batch.last - batch.first:
        last = batch.first + len(rows)
        waiting.clear()  # what is done of later ones would leave a gap: it is done again
    else:
        waiting.pop(0)
    now = time.monotonic()
    records.add(part, rows, now - begun, last)
    row = records.part(part)
    print(f"{part}: {row['done']:,} done, {row['refused']:,} refused, {row['wrong']} wrong, "
          f"{row['seconds'] / 60:.1f} minutes", flush=True)  # fmt: skip
    for one in rows:
        if one["faults"]:
            print(f"  case {one['case']}: {'; '.join(one['faults'])[:300]}", flush=True)
    return now


def run_alone(part: str, number: int, folder: Path) -> int:
    """Run one case here and print it."""
    module = module_of(part)
    if hasattr(module, "describe"):
        print(module.describe(number, *([part] if PARTS[part] == "signals" else [])))
    with module.setup(folder) as state:
        outcome = attempt(part, number, state)
    print("refused" if outcome.refused else "done", *(outcome.faults or ["nothing is wrong"]),
          sep="\n")  # fmt: skip
    return 1 if outcome.faults else 0


def main() -> int:
    """Run the parts that are asked for, then write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reliability", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("parts", nargs="*", metavar="PART", help="all by default")
    parser.add_argument("--minutes", type=float, help="at most, for each part")
    parser.add_argument("--count", type=int, help="cases of each part in all, those done included")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--only", type=int, metavar="I", help="run case I of one part, print it")
    given = parser.parse_args()
    parts = given.parts or list(PARTS)
    unknown = [part for part in parts if part not in (*PARTS, "report")]
    if unknown or (given.only is not None and len(parts) != 1):
        parser.error(f"give some of {', '.join([*PARTS, 'report'])}; with --only one of them")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    with tempfile.TemporaryDirectory(prefix="reliability-", ignore_cleanup_errors=True) as folder:
        if given.only is not None:
            return run_alone(parts[0], given.only, Path(folder))
        records = Records(given.output / "reliability.json", commit())
        try:
            for part in parts:
                if part != "report":
                    run_part(part, records, given, Path(folder))
        except KeyboardInterrupt:
            print("stopped; the same command goes on from here", file=sys.stderr)
        write(given.output / "reliability.md", report(records.all))
    return 0


if __name__ == "__main__":
    sys.exit(main())
