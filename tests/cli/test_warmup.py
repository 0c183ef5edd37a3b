"""``microagg warmup``, and what a terminal shows while kernels are compiled."""

import io
import os
import signal
import subprocess
import sys

import pytest
from rich.console import Console
from rich.progress import Progress

from helpers.command import linux, run
from microagg_gpu.cli import warmup
from microagg_gpu.cli.progress import TerminalPhases
from microagg_gpu.kernels import cache


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


# In a process of its own: what other tests have called counts for nothing. The rare ones are those
# of sets of records, step by step: only `diameter` by seed and tests call them.
CALLED = """
from importlib import import_module
from pkgutil import iter_modules
from numba.core.dispatcher import Dispatcher
from microagg_gpu.cli import warmup
from microagg_gpu.kernels import cpu

rare = {
    "farthest", "_take_nearest", "_take_gathered", "_distances", "_nearest_to_group",
    "_distance_to_nearest",
}
entries = {}
for module in iter_modules(cpu.__path__):
    for name, kernel in vars(import_module(f"{cpu.__name__}.{module.name}")).items():
        wrapped = isinstance(kernel, Dispatcher)
        if name not in rare and wrapped and not kernel.targetoptions.get("no_cpython_wrapper"):
            entries[f"{kernel.__module__}.{name}"] = kernel
for name in warmup.RUNS:
    warmup.compile_for(name)
print(len(entries) > 50, [name for name, kernel in entries.items() if not kernel.signatures])
"""


def test_its_runs_call_every_kernel():
    done = subprocess.run([sys.executable, "-c", CALLED], capture_output=True, text=True)
    assert done.stdout == "True []\n", done.stderr[-2000:]


@pytest.fixture
def few_runs(monkeypatch, tmp_path):
    """Two runs instead of all, with kernels in a folder where no other test keeps any."""
    monkeypatch.setattr(warmup, "RUNS", {name: warmup.RUNS[name] for name in ("tsp", "risk")})
    monkeypatch.setattr(cache, "set_ready", lambda work: None)
    kept = {path.name: path.read_bytes() for path in warmup._kernels()}  # to compile takes long
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    cache.folders.cache_clear()
    for folder in cache.folders():
        folder.mkdir(parents=True)
        for name, content in kept.items():
            (folder / name).write_bytes(content)
    yield
    monkeypatch.undo()
    cache.folders.cache_clear()


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
