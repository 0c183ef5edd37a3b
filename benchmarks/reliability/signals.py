"""Signals at random moments of the real command: no partial file, no lost output, no leftover."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .outcome import Outcome
from .tables import COLUMNS, LARGE, names, start, table, write_table

ASKED, BATCH = 500, 50
ASKED_OF = {"terminate": 200}
SMALL = 300
OLD = b"old content that a run with --force may replace, but only as a whole\n"
PATIENCE = 300


@dataclass
class State:
    """Input files, and what undisturbed runs wrote and how long they took."""

    inputs: Path
    folder: Path
    expected: dict[str, tuple[bytes, float]] = field(default_factory=dict)


@dataclass
class Case:
    """When which signal comes to which command."""

    kind: int
    source: str
    output: str
    reports: bool
    force: bool
    share: float  # of the usual time of the command
    writing: float | None  # or: seconds after the first new file

    @property
    def arguments(self) -> list[str]:
        """Of the command, in the folder of the case."""
        given = ["protect", self.source, "-k", "5", "--columns", COLUMNS, "-o", self.output]
        if self.reports:
            given += ["--report", "report.html", "--json", "report.json"]
        return given + ["--force"] * self.force

    @property
    def outputs(self) -> list[str]:
        """Names of the files that it writes."""
        return [self.output, *(["report.html", "report.json"] if self.reports else [])]


@contextmanager
def setup(folder: Path) -> Iterator[State]:
    """A folder for the input files of all batches; each is made when it is first needed."""
    inputs = folder.parent / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    yield State(inputs, folder)


def draw(number: int, part: str) -> Case:
    """Case number i of a part."""
    dice = random.Random(f"{part} {number}")
    kind = {"kill": "SIGKILL", "interrupt": "SIGINT", "terminate": "SIGTERM"}[part]
    if part == "terminate" and number % 4 == 3:
        kind = "SIGHUP"
    ending = dice.choice(["csv", "parquet"])
    size = "large" if number % 10 == 9 else "small"
    return Case(
        getattr(signal, kind, signal.SIGTERM), f"{size}.{ending}", f"out.{ending}",
        reports=size == "small" and dice.random() < 0.3, force=dice.random() < 0.5,
        share=dice.uniform(0, 1.1) if dice.random() < 0.6 else dice.uniform(0.6, 1.0),
        writing=dice.uniform(0, 0.03) if dice.random() < 0.3 else None,
    )  # fmt: skip


def run(number: int, state: State, part: str) -> Outcome:
    """Case number i of a part."""
    return run_case(draw(number, part), state)


def describe(number: int, part: str = "kill") -> str:
    """What a case is."""
    return str(draw(number, part))


def run_case(case: Case, state: State) -> Outcome:
    """Start the command, send the signal, look at what is left; perhaps run it undisturbed."""
    content, seconds = _expected(case, state)
    folder = state.folder / "case"
    shutil.rmtree(folder, ignore_errors=True)  # of a case that could not be finished
    _fill(folder, case, state)
    if case.force:
        for name in case.outputs:
            (folder / name).write_bytes(OLD)
    before = names(folder)
    process = start(case.arguments, folder)
    _wait(case, process, folder, before, seconds)
    started = _started(process)
    sent = _send(process, case.kind)
    faults: list[str] = []
    try:
        _, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        _send(process, signal.SIGKILL)
        errors = process.communicate()[1]
        faults.append(f"did not end within {PATIENCE} s")
    files, new = _file_faults(case, folder, content)
    if b"nothing was written" in errors and new:
        files.append(f"it says that nothing was written, and {', '.join(new)} was")
    working = started and new != case.outputs
    text = errors.decode(errors="replace")
    faults += files + _exit_faults(case, process.returncode, text, sent, working)
    faults += _leftover_faults(case, folder, process.returncode)
    if _group_alive(process):
        faults.append("a process is left behind")
    shutil.rmtree(folder)
    return Outcome(faults=faults)


def _fill(folder: Path, case: Case, state: State) -> None:
    source = state.inputs / case.source
    if not source.exists():
        made = state.folder / case.source
        write_table(table(LARGE if case.source.startswith("large") else SMALL), made)
        made.replace(source)
    folder.mkdir(parents=True)
    try:
        os.link(source, folder / case.source)
    except OSError:
        shutil.copy(source, folder / case.source)


def _expected(case: Case, state: State) -> tuple[bytes, float]:
    """What an undisturbed run writes, and its usual time; kept for other batches."""
    key = f"{case.source} {case.reports}"
    kept = state.inputs / f"expected {key}"
    if key not in state.expected and kept.exists():
        seconds, _, content = kept.read_bytes().partition(b"\n")
        state.expected[key] = content, float(seconds)
    if key not in state.expected:
        folder = state.folder / "undisturbed"
        shutil.rmtree(folder, ignore_errors=True)
        _fill(folder, case, state)
        for turn in range(2):  # the first may compile
            begun = time.perf_counter()
            process = start(case.arguments + ["--force"] * (turn and not case.force), folder)
            _, errors = process.communicate(timeout=PATIENCE)
            took = time.perf_counter() - begun
            if process.returncode:
                raise RuntimeError(f"an undisturbed run fails: {errors.decode()}")
        content = (folder / case.output).read_bytes()
        state.expected[key] = content, took
        temporary = folder / "kept"
        temporary.write_bytes(f"{took}\n".encode() + content)
        temporary.replace(kept)
    return state.expected[key]


def _wait(
    case: Case, process: "subprocess.Popen[bytes]", folder: Path, before: set[str], seconds: float
) -> None:
    """Wait for the moment of the signal, or until the command ends."""
    until = time.monotonic() + case.share * seconds
    if case.writing is not None:
        while process.poll() is None and names(folder) <= before:
            time.sleep(0.001)
        until = time.monotonic() + case.writing
    while process.poll() is None and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.01))


def _send(process: "subprocess.Popen[bytes]", kind: int) -> bool:
    """Send a signal to the command and all it started, as a terminal does."""
    if process.poll() is not None:
        return False
    try:
        os.killpg(process.pid, kind)
    except ProcessLookupError:
        return False
    return True


def _group_alive(process: "subprocess.Popen[bytes]") -> bool:
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _started(process: "subprocess.Popen[bytes]") -> bool:
    """Whether the command has come as far as loading Arrow, where Linux shows it."""
    try:
        return b"libarrow" in Path(f"/proc/{process.pid}/maps").read_bytes()
    except OSError:
        return False


def _exit_faults(case: Case, code: int, errors: str, sent: bool, working: bool) -> list[str]:
    """The exit code says what happened, in one line at most.

    While Python starts, or when all is written and it ends, the signal may end it by itself.
    """
    allowed = {0} if not sent else {0, -case.kind}
    if sent and case.kind != signal.SIGKILL:
        allowed.add(128 + case.kind)
    if code not in allowed:
        return [f"exit code {code} after signal {int(case.kind)}: {errors[-200:]!r}"]
    if case.kind == signal.SIGKILL:
        return []
    if code == -case.kind and working:
        return [f"the signal was not handled: {errors[-300:]!r}"]
    if code == -case.kind and "microagg_gpu" not in errors:
        return []
    if "Traceback" in errors:
        return [f"a traceback with exit code {code}: {errors[-300:]!r}"]
    lines = errors.count("\n")
    return [f"{lines} lines of errors: {errors[:300]!r}"] if lines > 1 else []


def _file_faults(case: Case, folder: Path, content: bytes) -> tuple[list[str], list[str]]:
    """Each output is absent, or the old one with --force, or whole and new: faults, new ones."""
    faults, new = [], []
    for name in case.outputs:
        path = folder / name
        if not path.exists():
            if case.force:
                faults.append(f"{name} was there and is lost")
            continue
        found = path.read_bytes()
        if case.force and found == OLD:
            continue
        new.append(name)
        if name == case.output and found != content:
            faults.append(f"{name} has {len(found)} bytes which are not the right ones")
        if name.endswith(".html") and not found.rstrip().endswith(b"</html>"):
            faults.append(f"{name} is not whole")
        if name.endswith(".json") and not _is_json(found):
            faults.append(f"{name} is not whole")
    return faults, new


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _leftover_faults(case: Case, folder: Path, code: int) -> list[str]:
    """A run that hears the signal tidies up; else the next undisturbed run does."""
    known = {case.source, *case.outputs}
    left = names(folder) - known
    if not left:
        return []
    if code in (0, 128 + case.kind):
        return [f"{', '.join(sorted(left))} was left over by exit code {code}"]
    faults = [
        f"{name} is no name of a temporary file"
        for name in left if not (name.startswith(".") and "microagg" in name)
    ]  # fmt: skip
    process = start([*case.arguments, *["--force"] * (not case.force)], folder)
    _, errors = process.communicate(timeout=PATIENCE)
    if process.returncode:
        faults.append(f"the next run ends with {process.returncode}: {errors.decode()[:200]}")
    left = names(folder) - known
    if left:
        faults.append(f"{', '.join(sorted(left))} is left over after the next run")
    return faults
