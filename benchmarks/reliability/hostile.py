"""Broken files and odd names: the command ends with 0, 1 or 2 and one line, never otherwise."""

import faulthandler
import os
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from microagg_gpu.cli.app import app

from .hostile_files import LINES, MAKERS
from .outcome import Outcome
from .tables import start

ASKED, BATCH = 2000, 100
PATIENCE = 60


@contextmanager
def setup(folder: Path) -> Iterator[Path]:
    """A folder for the cases; this process works in it."""
    here = os.getcwd()
    os.environ["COLUMNS"] = "200"
    try:
        yield folder
    finally:
        os.chdir(here)


def run(number: int, folder: Path) -> Outcome:
    """Write the file, run the command, look at how it ended and what is left."""
    dice = random.Random(f"hostile {number}")
    place = folder / f"case-{number}"
    place.mkdir(parents=True)
    os.chdir(place)
    try:
        if number % 50 == 17 and hasattr(os, "mkfifo"):
            arguments, ended = _pipe(place, number)
        else:
            maker = MAKERS[number % len(MAKERS)]
            arguments = maker(dice, place)
            before = _everything(place)
            odd = any(not text.isprintable() or "\udc80" <= max(text, default=" ") <= "\udcff"
                      for text in map(str, arguments))  # fmt: skip
            real = odd or number % 10 == 0
            ended = _really(arguments, place) if real else _here(arguments)
            if left := _left_faults(place, before, ended[0]):
                return Outcome(refused=ended[0] == 2, faults=[f"{_shown(arguments)}: {left}"])
        faults = _ending_faults(arguments, *ended)
        return Outcome(ended[0] == 2, [f"{_shown(arguments)}: {fault}" for fault in faults])
    finally:
        os.chdir(folder)
        shutil.rmtree(place, ignore_errors=True)


def _shown(arguments: list[Any]) -> str:
    return " ".join(ascii(str(text))[1:-1][:60] for text in arguments)


def _everything(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


def _here(arguments: list[Any]) -> tuple[int, str]:
    """In this process, which ends if the command does not."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        result = CliRunner().invoke(app, [str(one) for one in arguments])
    finally:
        faulthandler.cancel_dump_traceback_later()
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        return result.exit_code, f"Traceback: {type(error).__name__}: {str(error)[:300]}"
    return result.exit_code, result.stderr


def _really(arguments: list[Any], place: Path) -> tuple[int, str]:
    """The real command."""
    process = start(arguments, place)
    try:
        errors = process.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return -1, f"did not end within {PATIENCE} s"
    return process.returncode, errors.decode("utf-8", "replace")


def _pipe(place: Path, number: int) -> tuple[list[Any], tuple[int, str]]:
    """Records that come through a pipe with a name, or are to go to one."""
    os.mkfifo("pipe.csv")
    Path("in.csv").write_text(LINES)
    incoming = number % 100 == 17
    source, output = ("pipe.csv", "out.csv") if incoming else ("in.csv", "pipe.csv")
    arguments = ["protect", source, "-k", "3", "--columns", "a,b", "-o", output, "--force"]
    if incoming:
        threading.Thread(target=Path("pipe.csv").write_text, args=[LINES], daemon=True).start()
    ended = _really(arguments, place)
    os.close(os.open("pipe.csv", os.O_RDONLY | os.O_NONBLOCK))  # if nobody opened it to read
    return arguments, ended


def _ending_faults(arguments: list[Any], code: int, errors: str) -> list[str]:
    faults = []
    if code not in ((0, 1, 2) if arguments[0] == "check" else (0, 2)):
        faults.append(f"exit code {code}: {errors[-300:]!r}")
    if "Traceback" in errors or "did not end" in errors:
        faults.append(errors[-300:])
    lines = errors.count("\n")
    if code == 2 and (lines != 1 or not errors.startswith("microagg: ")):
        faults.append(f"{lines} lines of errors: {errors[:300]!r}")
    if code == 0 and errors:
        faults.append(f"errors with exit code 0: {errors[:300]!r}")
    return faults


def _left_faults(place: Path, before: set[str], code: int) -> str:
    """Only outputs are new, and only of a run that went well; nothing is gone."""
    after = _everything(place)
    gone, new = before - after, after - before
    if gone:
        return f"{sorted(gone)[:3]} disappeared"
    if code != 0 and new:
        return f"{sorted(new)[:3]} was written with exit code {code}"
    hidden = [name for name in new if Path(name).name.startswith(".")]
    return f"{sorted(hidden)[:3]} was left over" if hidden else ""
