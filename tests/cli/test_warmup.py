"""``microagg warmup``, and what a terminal shows while kernels are compiled."""

import io
import os
import signal
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest
from numba.core.dispatcher import Dispatcher
from rich.console import Console
from rich.progress import Progress

from helpers.command import linux, run
from microagg_gpu.cli import warmup
from microagg_gpu.cli.progress import TerminalPhases
from microagg_gpu.kernels import cache, cpu


def test_compiling_is_a_phase_of_its_own():
    bar = Progress(console=Console(file=io.StringIO()))
    phase = TerminalPhases(bar)
    phase.compiling(False)  # that of a kernel which was begun before the bars were there

    def shown():
        return [task.description for task in bar.tasks if task.visible]

    with phase("mdav, k=3"):
        assert shown() == ["mdav, k=3"]
        phase.compiling(True)
        assert shown() == ["compiling, once"]
        phase.compiling(False)
        assert shown() == ["mdav, k=3"]


# Of sets of records, step by step: only `diameter` by seed and tests call them.
RARE = {"farthest", "_take_nearest", "_distances", "nearest_to_group", "distance_to_nearest"}


def test_its_runs_call_every_kernel():
    entries = {}
    for module in iter_modules(cpu.__path__):
        for name, kernel in vars(import_module(f"{cpu.__name__}.{module.name}")).items():
            wrapped = isinstance(kernel, Dispatcher)
            if name not in RARE and wrapped and not kernel.targetoptions.get("no_cpython_wrapper"):
                entries[f"{kernel.__module__}.{name}"] = kernel
    assert len(entries) > 50
    for name in warmup.RUNS:
        warmup.compile_for(name)
    assert [name for name, kernel in entries.items() if not kernel.signatures] == []


@pytest.fixture
def few_runs(monkeypatch, tmp_path):
    """Two runs instead of all; the processes that make them keep kernels where tests do."""
    monkeypatch.setattr(warmup, "RUNS", {name: warmup.RUNS[name] for name in ("tsp", "risk")})
    monkeypatch.setattr(cache, "set_ready", lambda work: None)


def test_it_says_what_it_did_and_where_the_kernels_are(few_runs):
    result = run("warmup")
    assert result.exit_code == 0
    assert str(cache.folders()[0].name) in result.stdout.replace("\n", "")
    again = run("warmup")
    assert "all kernels were compiled before; they are in" in again.stdout.replace("\n", " ")


def test_it_says_if_nothing_can_be_kept(few_runs, monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folders", lambda: (tmp_path / "nowhere",))
    result = run("warmup")
    assert result.exit_code == 1
    assert result.stderr == f"microagg: nothing can be kept: {tmp_path}/nowhere cannot be written\n"


@linux
def test_ctrl_c_ends_it_and_its_processes(tmp_path):
    command = subprocess.Popen(
        [sys.executable, "-m", "microagg_gpu", "warmup"], stderr=subprocess.PIPE, text=True,
        stdout=subprocess.PIPE, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        start_new_session=True,
    )  # fmt: skip
    while not list(tmp_path.rglob("*.kernel")):
        assert command.poll() is None
    os.killpg(command.pid, signal.SIGINT)  # as a terminal does
    _, errors = command.communicate()
    assert command.returncode == 130
    assert errors.startswith("stopped; "), errors
    assert "Traceback" not in errors
