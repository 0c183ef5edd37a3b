"""Signals: the command ends with one sentence, and what was written stays or goes as a whole."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.command import (
    CHOSEN,
    command,
    posix,
    stopped_at_the_end,
)

SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]


@pytest.fixture(autouse=True)
def _heeded():
    """What nohup, or a shell in the background, ignores would be ignored by the command too."""
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    ignored = [number for number in numbers if signal.getsignal(number) == signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def check_stopped(code: str, name: str) -> None:
    """A command that runs this code ends by the signal; nothing is written."""
    done = command(code, *CHOSEN)
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert (done.stdout, done.stderr) == ("", "stopped; nothing was written\n")
    assert os.listdir() == ["in.csv"]


@posix
@pytest.mark.parametrize("name", SIGNALS)
def test_signals_while_the_output_gets_its_name(source, name):
    kill = f"os.kill(os.getpid(), signal.{name})"
    for arguments in ({"before": kill}, {"after": kill}):
        done = stopped_at_the_end(**arguments)
        assert done.returncode == 128 + getattr(signal, name), done.stderr
        assert (done.stdout, done.stderr) == ("", "stopped; out.csv was written\n")
        assert sorted(os.listdir()) == ["in.csv", "out.csv"]
        os.remove("out.csv")


@posix
@pytest.mark.parametrize(
    ("name", "moment"),
    [("SIGINT", "verify"), ("SIGTERM", "microaggregate"), ("SIGHUP", "read_file"),
     ("SIGTERM", "check_targets")],
)  # fmt: skip
def test_signals_during_the_work(source, name, moment):
    code = f"""
import os, signal
import microagg_gpu.tasks.protect as cli
from microagg_gpu.cli.app import main
real = cli.{moment}
def stopped(*arguments, **given):
    result = real(*arguments, **given)
    os.kill(os.getpid(), signal.{name})
    return result
cli.{moment} = stopped
main()
"""
    check_stopped(code, name)


@posix
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_that_a_library_drops_while_it_is_imported(source, name):
    """The command has said that it stops: it must not go on."""
    code = f"""
import os, signal
from microagg_gpu import stopping
stopping.listen()
try:
    os.kill(os.getpid(), signal.{name})
except BaseException:
    pass
from microagg_gpu.cli.app import main
main()
"""
    check_stopped(code, name)


@posix
def test_a_signal_while_python_runs_a_text(source):
    """As libraries do when they compile: Python would end itself by SIGINT in the end."""
    code = """
import signal
import microagg_gpu.tasks.protect as cli
from microagg_gpu.cli.app import main
def stopped(*arguments, **given):
    exec("signal.raise_signal(signal.SIGTERM)\\nwhile True: pass", {"signal": signal})
cli.microaggregate = stopped
main()
"""
    Path("run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "run", *CHOSEN], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (143, "stopped; nothing was written\n")


@posix
def test_a_signal_in_a_callback_of_a_library(source):
    """As while LLVM compiles: Python drops what is raised there."""
    code = """
import ctypes, signal
import microagg_gpu.tasks.protect as cli
from microagg_gpu.__main__ import main
@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGTERM)
    while True: pass
real = cli.microaggregate
def stopped(*arguments, **given):
    callback()
    return real(*arguments, **given)
cli.microaggregate = stopped
main()
"""
    check_stopped(code, "SIGTERM")


@posix
@pytest.mark.parametrize(
    ("name", "library"),
    [("SIGINT", "numpy"), ("SIGINT", "typer"), ("SIGTERM", "microagg_gpu.cli.app"),
     ("SIGHUP", "microagg_gpu.api")],
)  # fmt: skip
def test_signals_while_the_command_starts(source, name, library):
    code = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {library!r}:
            os.kill(os.getpid(), signal.{name})
sys.meta_path.insert(0, Finder())
from microagg_gpu.__main__ import main
main()
"""
    check_stopped(code, name)


@posix
def test_after_the_result_a_signal_changes_nothing(source):
    code = """
import os, signal
import microagg_gpu.cli.console as console
from microagg_gpu.__main__ import main
ignore = console.stopping.ignore
def ignored():
    ignore()
    for number in console.stopping.SIGNALS:
        os.kill(os.getpid(), number)
console.stopping.ignore = ignored
main()
"""
    done = command(code, *CHOSEN)
    assert (done.returncode, done.stderr) == (0, "")
    assert "loss" in done.stdout


@posix
def test_nohup_is_respected(source):
    code = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
import microagg_gpu.tasks.protect as cli
from microagg_gpu.cli.app import main
real = cli.read_file
def hang_up(*arguments, **given):
    os.kill(os.getpid(), signal.SIGHUP)
    return real(*arguments, **given)
cli.read_file = hang_up
main()
"""
    done = command(code, *CHOSEN)
    assert (done.returncode, done.stderr) == (0, "")
