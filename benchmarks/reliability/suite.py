"""The whole test command, again and again; every fourth time beside two busy loops."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .outcome import Outcome

ASKED, BATCH = 20, 1
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def setup(folder: Path) -> Iterator[Path]:
    """Where the output of each run is kept while it lasts."""
    yield folder


def describe(number: int) -> str:
    """What a case is."""
    return "beside two busy loops" if number % 4 == 3 else "alone"


def run(number: int, folder: Path) -> Outcome:
    """Run all tests as the README's test command does."""
    loops = 2 if number % 4 == 3 else 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        for process in busy:
            process.kill()
            process.wait()
    (folder / f"{number}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    wrong = re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.MULTILINE)
    if done.returncode and not wrong:
        wrong = [f"exit code {done.returncode}: {(done.stdout + done.stderr)[-300:]}"]
    return Outcome(faults=wrong)
