"""Run the command ``microagg`` and write files for it: what both test files of it share."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from microagg_gpu.cli.app import app

HEADER = ["id", "name", "turnover", "staff", "note"]
CHOSEN = ["protect", "in.csv", "-k", "3", "--columns", "staff", "-o", "out.csv"]
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals, links or streams")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def run(*arguments):
    """Run the command in this process; anything but a clean exit is an error of the test."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def write(text, name="in.csv", encoding="utf-8"):
    Path(name).write_bytes(text.encode(encoding))
    return name


def companies(n=40):
    rng = np.random.default_rng(5)
    return [
        [f"{i:05d}", f'Smith, "{i}" & Sons', str(rng.integers(1000)), repr(rng.normal()), ""]
        for i in range(n)
    ]


def write_companies(delimiter=",", newline="\n", encoding="utf-8", n=40):
    rows = companies(n)
    with open("in.csv", "w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator=newline).writerows([HEADER, *rows])
    return rows


def read(name, delimiter=","):
    with open(name, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def ok(*arguments):
    """Run the command, which must succeed; what it prints."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def refuse(message, *arguments):
    """Run the command in this process; expect one sentence, exit code 2 and no file left behind."""
    before = sorted(os.listdir())
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    sentence(message, result.stderr)
    assert sorted(os.listdir()) == before


def refuse_for_real(message, *arguments):
    """The same by the real command, in a process of its own, which takes about a second."""
    before = sorted(os.listdir())
    done = process(*arguments)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
    sentence(message, done.stderr)
    assert sorted(os.listdir()) == before


def sentence(message, output):
    assert output.startswith("microagg: ")
    assert output.count("\n") == 1
    assert re.search(message, output), output


def process(*arguments, **given):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "microagg_gpu", *map(str, arguments)],
        capture_output=True, text=True, encoding="utf-8", **given,
    )  # fmt: skip


def command(code, *arguments, **given):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, **given
    )


KILLED = """
import os, signal
from microagg_gpu.__main__ import main
real = os.link
def link(*arguments):
    BEFORE
    real(*arguments)
    AFTER
os.link = link
main()
"""


def stopped_at_the_end(before="", after="", arguments=CHOSEN):
    """Run the command, with something done just before or after its output gets its name."""
    code = KILLED.replace("BEFORE", before or "pass").replace("AFTER", after or "pass")
    return command(code, *arguments)
