"""The real command on a busy machine: the exit code is as it should be, errors are one line."""

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .outcome import Outcome
from .tables import COLUMNS, names, start, table, write_table

ASKED, BATCH = 500, 50
FORMS = ("parquet", "arrow", "stream.arrow", "csv", "csv.gz", "csv.zst")
# Requests that end in an error sentence: what replaces which argument of a right one.
WRONG: dict[str, dict[str, str]] = {
    "an unknown column": {"--columns": "turnover,nobody"},
    "a column of text": {"--columns": "region,staff"},
    "k above the number of records": {"-k": "100000"},
    "an unknown method": {"--method": "median"},
    "a method for one variable": {"--method": "optimal"},
    "an unknown option": {"--option": "gamma=2"},
    "no such file": {"source": "nobody"},
    "a broken file": {"source": "broken"},
    "an output that exists": {"-o": "there.csv"},
    "an output in no folder": {"-o": "nowhere/out.csv"},
    "an unknown ending": {"-o": "out.xyz"},
    "small strata": {"--by": "id"},
}
PATIENCE = 300


@dataclass
class State:
    """Where the files are, and what right requests have written before."""

    folder: Path
    written: dict[str, bytes] = field(default_factory=dict)


@contextmanager
def setup(folder: Path) -> Iterator[State]:
    """The files, and two busy loops beside the command for as long as it lasts."""
    for form in FORMS:
        path = folder / f"in.{form}"
        write_table(table(120), path)
        content = path.read_bytes()
        (folder / f"broken.{form}").write_bytes(content[: len(content) * 2 // 3])
    content = (folder / "in.csv").read_bytes()  # half of a CSV file is a CSV file: another fault
    (folder / "broken.csv").write_bytes(content + b'"never closed')
    (folder / "there.csv").write_text("a,b\n")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield State(folder)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def draw(number: int) -> tuple[str, str, dict[str, str]]:
    """The form of the file, what is wrong ('' for nothing), and the arguments."""
    dice = random.Random(f"command {number}")
    form = FORMS[number % len(FORMS)]
    what = dice.choice(["", *WRONG]) if number % 3 else ""
    given = {"source": "in", "-k": "5", "--columns": COLUMNS, "-o": f"out-{number}.{form}"}
    return form, what, given | WRONG.get(what, {})


def describe(number: int) -> str:
    """What a case is."""
    form, what, _ = draw(number)
    return f"{form}, {what or 'a right request'}"


def run(number: int, state: State) -> Outcome:
    """Run the command and look at all that it leaves."""
    form, what, given = draw(number)
    source = f"{given.pop('source')}.{form}"
    before = names(state.folder)
    process = start(["protect", source, *(x for pair in given.items() for x in pair)],
                    state.folder)  # fmt: skip
    try:
        shown, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Outcome(faults=[f"{what}: did not end within {PATIENCE} s"])
    new = names(state.folder) - before
    faults = []
    if process.returncode != (2 if what else 0):
        faults.append(f"{form}, {what or 'right'}: exit code {process.returncode}: {errors!r}")
    elif what and not (errors.startswith(b"microagg: ") and errors.count(b"\n") == 1):
        faults.append(f"{form}, {what}: the error is not one line: {errors[:300]!r}")
    elif what and shown:
        faults.append(f"{form}, {what}: printed {shown[:100]!r}")
    elif not what and errors:
        faults.append(f"{form}: errors of a right request: {errors[:300]!r}")
    if new != (set() if what else {given["-o"]}):
        faults.append(f"{form}, {what or 'right'}: these files are new: {sorted(new)}")
    if not what and not faults:
        content = (state.folder / given["-o"]).read_bytes()
        if state.written.setdefault(form, content) != content:
            faults.append(f"{form}: the same request wrote something else")
    for name in new:
        path = state.folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return Outcome(refused=bool(what), faults=faults)
