"""What is known of the CUDA engine without a GPU: ``python -m benchmarks.cuda_report``.

Every kernel is compiled and assembled (`cuda.compile`), whole methods are counted in a dry run
(`cuda.budget`) and their times on some cards projected (`cuda.projection`). Needs
``numba-cuda[cu13]``, no GPU.
"""

import argparse
import hashlib
import multiprocessing
import os
import pickle
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from microagg_gpu.datasets import simulated

from .common import RESULTS, table, write
from .cuda import compile as compiling
from .cuda import first, searches
from .cuda import kernels as launching
from .cuda.budget import dry_run
from .cuda.compile import CAPABILITIES
from .cuda.compile_tables import Rows, about_compiling, about_first, cost_lines, problems, shown
from .cuda.kernels import Kernel
from .cuda.method_tables import DATA, METHODS, about_methods, about_rounds, about_searches
from .cuda.ward_tables import about_wards
from .cuda.work import Work
from .scaling.measure import standardized

PACKAGES = (
    *("numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "cuda-bindings"),
    *("numba", "llvmlite", "numpy"),
)


def tell(text: str) -> None:
    """Progress goes to the error stream."""
    print(text, file=sys.stderr, flush=True)


def side_by_side(
    jobs: dict[Any, tuple[Callable[..., Any], ...]], processes: int, kept: Path | None
) -> dict[Any, Any]:
    """Do jobs, each a function and its arguments, in processes of their own; tell how it goes.

    Results that a folder keeps are taken from there, and new ones are put there.
    """
    files = {name: kept / f"{digest(job)}.pickle" for name, job in jobs.items()} if kept else {}
    results = {n: pickle.loads(f.read_bytes()) for n, f in files.items() if f.exists()}
    start = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        running = {pool.submit(*job): name for name, job in jobs.items() if name not in results}
        for done, future in enumerate(as_completed(running), 1):
            name = running[future]
            results[name] = future.result()
            if kept:
                kept.mkdir(parents=True, exist_ok=True)
                files[name].write_bytes(pickle.dumps(results[name]))
            seconds = time.perf_counter() - start
            left = seconds / done * (len(running) - done)
            title = f"{name.title}, {name.real}" if isinstance(name, Kernel) else name
            tell(f"[{done}/{len(running)}] {seconds:.0f} s, about {left:.0f} s to go: {title}")
    return {name: results[name] for name in jobs}


def digest(job: tuple[Callable[..., Any], ...]) -> str:
    """A name for the result of a job."""
    function, *arguments = job
    return hashlib.sha256(repr((function.__name__, arguments)).encode()).hexdigest()[:20]


def counted(method: str, data: str) -> tuple[Work, float]:
    """What a method asks of a device on simulated data; how long the dry run took."""
    start = time.perf_counter()
    work, _ = dry_run(standardized(simulated(data)), METHODS[method], method)
    return work, time.perf_counter() - start


def rounds_counted(n: int) -> Any:
    """MDAV and V-MDAV of so many records, old and new."""
    return import_module("benchmarks.cuda.rounds").compared(n)


def wards_counted(n: int) -> Any:
    """k-Ward of so many records, old and new."""
    return import_module("benchmarks.cuda.wards").compared(n)


# The whole report -------------------------------------------------------------------------------


def heading() -> list[str]:
    """When, and with what."""
    return [
        "# The CUDA engine, as far as it can be known without a GPU",
        "",
        f"Written by `python -m benchmarks.cuda_report` on {date.today().isoformat()}.",
        "",
        f"- Python: {platform.python_version()}",
        *(f"- {name}: {_version(name)}" for name in PACKAGES),
        "",
        "No GPU had a part in this. What can be read from the compiler and counted is here; times "
        "are *projections* and no one has measured them. `python -m benchmarks.scaling --engine "
        "cuda` measures, on a machine with a card.",
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def about_costs(rows: Rows) -> list[str]:
    """What kernels do, by their text."""
    return [
        "## What kernels do for each record or pair",
        "",
        "By their text, with d variables; figures for d = 10. Bytes are of memory, without what a "
        "block brings to shared memory once for many pairs.",
        "",
        *table(
            ("kernel", "for each", "flops", "numbers", "indices", "flops, d = 10",
             "bytes, float64", "bytes, float32"),
            cost_lines(rows),
        ),
    ]  # fmt: skip


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cuda_report", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    names = ",".join(map(shown, CAPABILITIES))
    add("--cc", default=names, help=f"compute capabilities, with commas between ({names})")
    add("--numbers", default="float64,float32", help="types of numbers (float64,float32)")
    add("--methods", help="compile what these launch, and count these (all)")
    add("--most", type=int, default=100_000, help="most records of a dry run (100,000)")
    add("--searches", type=int, default=10**7, help="most records of searches (10,000,000)")
    add("--processes", type=int, default=2, help="how many at a time (2)")
    add("--kept", type=Path, help="folder for results: what is there already is not done again")
    add("--output", type=Path, default=RESULTS / "cuda.md", help="Markdown file (results/cuda.md)")
    options = parser.parse_args(arguments)
    by_name = {shown(cc): cc for cc in CAPABILITIES}
    chosen = options.cc.split(",")
    if unknown := set(chosen) - set(by_name):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {names}")
    options.cc = [by_name[name] for name in chosen]
    options.methods = options.methods.split(",") if options.methods else []
    options.numbers = options.numbers.split(",")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Write the report from the command line."""
    options = parsed(arguments)
    os.environ.pop("NUMBA_ENABLE_CUDASIM", None)  # kernels are compiled here; `found` simulates
    if needed := compiling.missing():
        tell(f"missing: {needed}")
        return 2
    start = time.perf_counter()
    tell("looking for kernels in Numba's simulator")
    search: dict[Any, Any] = {"kernels": (launching.found, options.methods)}
    kernels, failed = side_by_side(search, 1, options.kept)["kernels"]
    kernels = [kernel for kernel in kernels if kernel.real in options.numbers]
    launched = [kernel for kernel in kernels if kernel.types]
    methods = [method for method in METHODS if method in (options.methods or METHODS)]
    runs = [(m, data) for m in methods for data, n in DATA.items() if n <= options.most]
    sizes = [n for n in searches.SIZES if n <= options.searches]
    calls = [name for name in first.CALLS if not options.methods or name in options.methods]
    jobs: dict[Any, Any] = {k: (compiling.compiled, k, options.cc) for k in launched}
    jobs |= {run: (counted, *run) for run in runs}
    jobs |= {n: (searches.counted, n) for n in sizes}
    whole = [n for n in sizes if n <= searches.WHOLE]
    jobs |= {f"rounds of {n}": (rounds_counted, n) for n in whole}
    jobs |= {f"kward of {n}": (wards_counted, n) for n in whole}
    jobs |= {name: (first.measured, name, first.needed(name, launched)) for name in calls}
    done = side_by_side(jobs, options.processes, options.kept)
    rows = {kernel: done[kernel] for kernel in launched}
    if options.methods:  # others were not asked for
        kernels = launched
    found = problems(kernels, failed, rows)
    sections = (
        heading(),
        about_compiling(rows, found, options.cc),
        about_first({name: done[name] for name in calls}),
        about_costs(rows),
        about_methods({run: done[run] for run in runs}),
        about_rounds({n: done[f"rounds of {n}"] for n in whole}),
        about_wards({n: done[f"kward of {n}"] for n in whole}),
        about_searches({n: done[n] for n in sizes}),
    )
    text = "\n\n".join("\n".join(section) for section in sections if section)
    write(options.output, text + "\n")
    for one in found:
        tell(one)
    tell(f"written in {time.perf_counter() - start:.0f} s: {options.output}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
