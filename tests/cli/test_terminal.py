"""The command as a process of its own, and on a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from helpers.command import read, write_companies
from microagg_gpu.files.data_file import read_file

PATIENCE = 600  # seconds that a process may take on a busy machine


@pytest.mark.parametrize("module", [True, False])
def test_exit_codes_of_the_process(module):
    write_companies()
    start = [sys.executable, "-m", "microagg_gpu"]
    if not module:
        start = [sys.executable, "-c", "from microagg_gpu.cli.app import main; main()"]
    chosen = ["protect", "in.csv", "-k", "3", "--columns", "staff", "-o", "out.csv"]
    good = subprocess.run([*start, *chosen], capture_output=True, text=True)
    assert (good.returncode, good.stderr) == (0, "")
    assert "loss" in good.stdout
    bad = subprocess.run([*start, *chosen], capture_output=True, text=True)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("microagg: out.csv exists")
    usage = subprocess.run([*start, "protect", "in.csv"], capture_output=True, text=True)
    assert usage.returncode == 2


def test_bar_on_a_terminal_and_stop():
    """A method that takes long shows its progress; Ctrl-C ends it and leaves no file."""
    write_companies()
    code = """
import time
import microagg_gpu.tasks.protect as cli
from microagg_gpu.cli.app import main

def slow(table, k, method, *, progress, **given):
    while True:  # until it is stopped
        progress(0.1)
        time.sleep(0.1)

cli.microaggregate = slow
main()
"""
    chosen = ["protect", "in.csv", "-k", "3", "--columns", "staff", "-o", "out.csv"]
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *chosen], stderr=end, stdout=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(end)
    try:
        shown = read_until(terminal, b"mdav, k=3")
        process.send_signal(signal.SIGINT)
        shown += read_until(terminal, b"nothing was written")
        assert process.wait(PATIENCE) == 130
    finally:
        process.kill()
        os.close(terminal)
    assert b"mdav, k=3" in shown
    assert b"stopped; nothing was written" in shown
    assert os.listdir() == ["in.csv"]


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        ("protect in.csv -k 3 --columns staff -o out.csv --bound", b"verdict "),
        ("compare in.csv -k 3 --columns staff --methods mdav --plot map.png", b"loss: 100"),
        ("check in.csv -k 1", b"PASS: every"),
        ("report in.csv in.parquet --columns staff -o report.html", b"written: report.html"),
        ("protect in.parquet -k 3 --columns staff -o out --workers 1", b"verdict "),
    ],
    ids=["protect", "compare", "check", "report", "workers"],
)
def test_nothing_is_erased_after_the_result(arguments, last):
    """Bars are erased line by line; they must be gone before the result is printed."""
    write_companies()
    table = read_file(Path("in.csv")).with_numbers(["staff"])
    pq.write_table(table.set_column(3, "staff", pc.add(table["staff"], 1)), "in.parquet")
    ends = {"protect": b"In Python", "compare": b"written: map.png", "check": b"others.",
            "report": b"report.html"}  # fmt: skip
    arguments = arguments.split()
    end_of_it = b"written " if "--workers" in arguments else ends[arguments[0]]
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "microagg_gpu", *arguments], stderr=end, stdout=end,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(end)
    shown = b""
    with suppress(OSError):  # which is how Linux says that the other end is closed
        while data := os.read(terminal, 4096):
            shown += data
    os.close(terminal)
    assert process.wait(PATIENCE) == 0
    assert b"\x1b[2K" in shown[: shown.rindex(last)]
    assert b"\x1b[2K" not in shown[shown.rindex(last) :]
    assert end_of_it in shown[shown.rindex(last) :]


def test_loss_falls_on_a_terminal_and_ctrl_c_keeps_the_best():
    write_companies(n=300)
    code = """
from pathlib import Path
from microagg_gpu.cli.app import main
from microagg_gpu.methods.annealing import _Search

sweep = _Search.sweep

def noted(*given):  # what Ctrl-C ends earlier, a compilation say, has no best so far
    result = sweep(*given)
    Path("swept").touch()
    return result

_Search.sweep = noted
main()
"""
    chosen = ["protect", "in.csv", "-k", "3", "--columns", "turnover,staff", "-o", "out.csv"]
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *chosen, "--refine", "100000"], stderr=end,
        stdout=subprocess.PIPE, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}, text=True,
    )  # fmt: skip
    os.close(end)
    try:
        shown = read_until(terminal, b"refining, loss")
        shown += read_until(terminal, b"%")
        while not Path("swept").exists():  # it is drawn again and again
            shown += read_until(terminal, b"refining, loss")
        process.send_signal(signal.SIGINT)
        after = read_to_the_end(terminal)  # or the bar waits for somebody to read it
        printed, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        os.close(terminal)
    assert process.returncode == 0
    assert b"refining, loss" in shown
    assert b"refinement was stopped: it goes on with the best groups so far" in after
    assert re.search(
        r"refined +from a loss of [\d.]+ %, 100000 s, stopped after \d+ % of it", printed
    )
    counts = Counter((row[2], row[3]) for row in read("out.csv")[1:])
    assert min(counts.values()) >= 3


def read_to_the_end(terminal):
    shown = b""
    with suppress(OSError):  # Linux says so that nobody writes any more
        while select.select([terminal], [], [], PATIENCE)[0] and (data := os.read(terminal, 4096)):
            shown += data
    return shown


def read_until(terminal, words):
    shown = b""
    while words not in shown and select.select([terminal], [], [], PATIENCE)[0]:
        shown += os.read(terminal, 4096)
    return shown
