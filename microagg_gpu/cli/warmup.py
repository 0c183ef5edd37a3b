"""``microagg warmup``: compile all kernels now, so that no later call has to."""

import signal
from collections.abc import Iterator
from importlib.util import find_spec
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer

from .. import microaggregate, stopping
from ..kernels import cache
from ..kernels.compiling import spent
from .console import clear_errors
from .info import cores
from .output import stdout
from .progress import phases

# Runs that call every kernel: records, variables, method, options. What compiles longest comes
# first, and what shares kernels with another comes later: those are there by then.
RUNS: dict[str, tuple[int, int, str, dict[str, Any]]] = {
    "mdav": (1500, 8, "mdav", {}),
    "mst": (1500, 8, "mst", {}),
    "kward": (1500, 8, "kward", {}),
    "refinement": (1500, 8, "projection", {"refine_steps": 1}),
    "lower bound": (1500, 8, "projection", {}),
    "path": (1500, 8, "path", {}),
    "mdav of many records": (410_000, 8, "mdav", {"k": 100}),
    "risk": (20_000, 8, "projection", {}),
    "trees of few records": (1500, 8, "mst", {"split": "centroid"}),
    "categories": (1500, 8, "mdav", {"nominal": 0, "ordinal": 1}),
    "vmdav": (1500, 8, "vmdav", {}),
    "centroid": (1500, 8, "centroid", {}),
    "diameter": (1500, 8, "diameter", {}),
    "large groups": (1500, 8, "mdav", {"k": 300}),
    "genetic": (1500, 8, "genetic", {"order": "curve", "generations": 2}),
    "genetic of many records": (20_000, 8, "genetic", {"order": "curve", "generations": 2}),
    "tsp": (60, 8, "tsp", {}),
}


def compile_for(name: str) -> tuple[str, float]:
    """Make one of the runs: its name, and the seconds that compiling took."""
    before = spent()
    n, d, method, options = RUNS[name]
    records = np.random.default_rng(0).normal(size=(n, d)).round(2)
    result = microaggregate(records, method=method, engine="cpu", **options)
    if name == "lower bound":
        result.bound()
        if find_spec("highspy"):
            result.bound(seconds=1.0)
    if name == "risk":
        result.linkage()
    return name, spent() - before


def warmup() -> None:
    """Compile everything now, on all cores: a method's first use then starts at once.

    Otherwise a method is compiled when it is first used on more than a few thousand records. What
    is compiled is kept for later calls, until another version is installed.
    """
    with clear_errors(), phases() as phase:
        before, begun = _kernels(), perf_counter()
        done: list[str] = []
        try:
            with phase("compiling") as progress:
                for name, seconds in _in_parallel():
                    done.append(name)
                    if progress is not None:
                        progress(len(done) / len(RUNS))
                    elif seconds >= 0.05:
                        stdout().print(f"{name}: compiled in {seconds:.1f} s")
        except KeyboardInterrupt:
            phase.close()
            new = _kernels() - before
            typer.echo(f"stopped; {_kept(new) if new else 'no kernel was compiled'}", err=True)
            raise typer.Exit(stopping.exit_code()) from None
        phase.close()
        cache.set_ready(cache.EVERYTHING)
        after = _kernels()
        if not after:
            places = " and ".join(map(str, cache.folders())) or "without its sources"
            typer.echo(f"microagg: nothing can be kept: {places} cannot be written", err=True)
            raise typer.Exit(1)
        took = f", in {perf_counter() - begun:.0f} s" if after != before else ""
        stdout().print(f"{_kept(after - before)}{took}")


def _in_parallel() -> Iterator[tuple[str, float]]:
    """Results in the order in which they are there; if this is left early, processes end."""
    processes = min(cores(), len(RUNS))
    # Ctrl-C reaches every process of a terminal, and is for this one.
    ignore = signal.signal, (signal.SIGINT, signal.SIG_IGN)
    with get_context("spawn").Pool(processes, *ignore) as pool:
        results = pool.imap_unordered(compile_for, RUNS)
        for _ in RUNS:
            while True:
                try:
                    yield results.next(timeout=0.5)
                    break
                except TimeoutError:
                    continue


def _kernels() -> set[Path]:
    """The kernels that are kept."""
    return {path for folder in cache.folders() for path in folder.glob("*.kernel")}


def _kept(new: set[Path]) -> str:
    if not new:
        places = [str(folder) for folder in cache.folders() if folder.is_dir()]
        return f"all kernels were compiled before; they are in {', '.join(places)}"
    size = sum(path.stat().st_size for path in _kernels()) / 2**20
    return f"{len(new)} kernels compiled and kept in {min(new).parent} ({size:.1f} MB)"
