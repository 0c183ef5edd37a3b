"""What is known of the CUDA engine without a GPU: ``python -m benchmarks.cuda_report``.

Every kernel is compiled and assembled (`cuda.compile`), whole methods are counted in a dry run
(`cuda.budget`) and their times on some cards projected (`cuda.projection`). Needs
``numba-cuda[cu13]``, no GPU.
"""

import argparse
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from microagg_gpu.datasets import clusters, simulated

from .common import RESULTS, figure, table, write
from .cuda import compile as compiling
from .cuda import kernels as launching
from .cuda.budget import OPERATIONS, dry_run
from .cuda.compile import CAPABILITIES, LINKED, THREADS, Capability, occupancy
from .cuda.costs import COSTS
from .cuda.kernels import Kernel
from .cuda.projection import (
    ASSUMED,
    CARDS,
    FIRST,
    ISSUED,
    LAUNCH,
    REACHED,
    USABLE,
    WAIT,
    projection,
)
from .cuda.work import Work
from .scaling.measure import standardized

PACKAGES = (
    *("numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink", "cuda-bindings"),
    *("numba", "llvmlite", "numpy"),
)
METHODS = {"mdav": 5, "vmdav": 5, "centroid": 5, "diameter": 4, "mst": 4, "kward": 4}
DATA = {f"SIM_{8 + i}": 20_000 * i for i in range(1, 7)} | {"generated": 1_000_000}
LARGE = ("mst", *OPERATIONS)  # counted with --most 1000000: others would take days
Row = dict[str, Any]
Rows = dict[Kernel, list[Row]]
Works = dict[tuple[str, str], tuple[Work, float]]  # with the seconds of the dry run


def tell(text: str) -> None:
    """Progress goes to the error stream."""
    print(text, file=sys.stderr, flush=True)


def side_by_side(jobs: dict[Any, tuple[Callable[..., Any], ...]], processes: int) -> dict[Any, Any]:
    """Do jobs, each a function and its arguments, in processes of their own; tell how it goes."""
    results: dict[Any, Any] = {}
    start = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        running = {pool.submit(*job): name for name, job in jobs.items()}
        for done, future in enumerate(as_completed(running), 1):
            name = running[future]
            results[name] = future.result()
            seconds = time.perf_counter() - start
            left = seconds / done * (len(jobs) - done)
            title = f"{name.title}, {name.real}" if isinstance(name, Kernel) else " ".join(name)
            tell(f"[{done}/{len(jobs)}] {seconds:.0f} s, about {left:.0f} s to go: {title}")
    return {name: results[name] for name in jobs}


def counted(method: str, data: str) -> tuple[Work, float]:
    """What a method asks of a device on simulated data; how long the dry run took."""
    start = time.perf_counter()
    records = (
        simulated(data)
        if data.startswith("SIM")
        else clusters(200, 10, 0.1, DATA[data] // 200, DATA[data] // 200, seed=0)
    )
    points = standardized(records)
    if method in OPERATIONS:
        work = Work()
        OPERATIONS[method](work, points)
    else:
        work, _ = dry_run(points, METHODS[method], method)
    return work, time.perf_counter() - start


# Findings ---------------------------------------------------------------------------------------


def spilled(row: Row) -> int:
    """Bytes spilled, in the code from PTX or in the code that is linked."""
    return max(row["spills"], row.get("launched", row)["spills"])


def registers(row: Row) -> int:
    """Registers of a thread, in the code from PTX or in the code that is linked."""
    return max(row["registers"], row.get("launched", row)["registers"])


def occupied(row: Row) -> float:
    """Theoretical occupancy."""
    return occupancy(row["cc"], registers(row), row["shared"])


def problems(kernels: list[Kernel], failed: list[str], rows: Rows) -> list[str]:
    """What must not be, each in a sentence."""
    found = [f"A method failed in the simulator: {one}." for one in failed]
    titles = dict.fromkeys(kernel.title for kernel in kernels if not kernel.types)
    found += [f"No method launches `{title}`, so it was not compiled." for title in titles]
    signatures: dict[tuple[str, str], int] = {}
    for kernel in kernels:
        key = kernel.title, kernel.real
        signatures[key] = signatures.get(key, 0) + 1
    found += [
        f"`{title}` is launched with {count} different types of arguments for {real}."
        for (title, real), count in signatures.items()
        if count > 1
    ]
    for kernel, results in rows.items():
        name = f"`{kernel.title}`, {kernel.real}"
        if places := [f"{shown(r['cc'])} ({spilled(r)} bytes)" for r in results if spilled(r)]:
            found.append(f"{name} spills registers for {', '.join(places)}.")
        lines = dict.fromkeys(line for row in results for line in row.get("places", ()))
        if any(row["fused"] for row in results):
            found.append(f"{name} adds products that are not rounded: {', '.join(lines)}.")
        if kernel.real == "float32" and any(row["doubles"] for row in results):
            found.append(f"{name} has double precision instructions.")
        if (kernel.module, kernel.name) not in COSTS:
            found.append(f"`{kernel.title}` has no line in benchmarks/cuda/costs.py.")
    return found


def shown(cc: Capability) -> str:
    """A compute capability in figures."""
    return ".".join(map(str, cc))


# Tables -----------------------------------------------------------------------------------------


def compile_lines(rows: Rows) -> Iterator[list[str]]:
    """Each kernel at its worst over the compute capabilities."""
    for kernel, results in rows.items():
        linked = [row["launched"]["registers"] for row in results if "launched" in row]
        least, most = min(map(occupied, results)), max(map(occupied, results))
        yield [
            f"`{kernel.title}`",
            kernel.real,
            _range(row["registers"] for row in results),
            _range(linked),
            str(max(map(spilled, results))),
            str(max(row["stack"] for row in results)),
            str(max(row["shared"] for row in results)),
            f"{least:.0%}" if least == most else f"{least:.0%} to {most:.0%}",
            str(max(row["fused"] for row in results)),
            str(max(row["doubles"] for row in results)) if kernel.real == "float32" else "",
        ]


def _range(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    if not found:
        return "-"
    return str(found[0]) if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


def full_lines(rows: Rows) -> Iterator[list[str]]:
    """Registers and occupancy of each kernel for each compute capability."""
    for kernel, results in rows.items():
        cells = []
        for row in results:
            spills = f", **{spilled(row)} spilled**" if spilled(row) else ""
            cells.append(f"{registers(row)}, {occupied(row):.0%}{spills}")
        yield [f"`{kernel.title}`", kernel.real, *cells]


def cost_lines(rows: Rows) -> Iterator[list[str]]:
    """What kernels cost for each thing they look at."""
    names = dict.fromkeys((kernel.module, kernel.name) for kernel in rows)
    for module, name in names:
        if cost := COSTS.get((module, name)):
            yield [f"`{module}.{name}`", *cost.cells()]


def work_lines(works: Works) -> Iterator[list[str]]:
    """What whole methods ask of a device."""
    for (method, data), (work, _) in works.items():
        yield [
            *(f"`{method}`", data, f"{DATA[data]:,}", str(METHODS.get(method, "-"))),
            *(f"{work.launches:,}", f"{work.expressions:,}", f"{work.waits:,}"),
            *(f"{work.grid_syncs:,}", f"{work.reductions:,}", f"{work.removals:,}"),
            *(scientific(work.distances), scientific(work.flops), scientific(work.instructions)),
            *(scientific(work.bytes(8)), scientific(work.bytes(4))),
        ]


def scientific(x: float) -> str:
    """A large number with three digits."""
    return f"{x:.2e}".replace("e+", "e")


def projection_lines(works: Works) -> Iterator[list[str]]:
    """Projected seconds on each card for both types of numbers."""
    for (method, data), (work, _) in works.items():
        cells = []
        for card in CARDS:
            for real in ("float64", "float32"):
                fast, slow = (projection(work, card, real, a) for a in ("fast", "slow"))
                cells.append(f"{figure(fast, 2)} to {figure(slow, 2)}")
        yield [f"`{method}`", data, f"{DATA[data]:,}", *cells]


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


def about_compiling(rows: Rows, found: list[str], capabilities: list[Capability]) -> list[str]:
    """The compiled kernels."""
    names = ", ".join(map(shown, capabilities))
    linked = " and ".join(shown(cc) for cc in capabilities if cc in LINKED) or "none"
    lines = [
        "## Kernels, compiled and assembled",
        "",
        f"{len(rows)} kernels (float64 and float32 counted apart) were compiled to PTX by "
        f"`numba.cuda.compile_ptx` and assembled by nvJitLink for compute capability {names}. "
        "Numba links with optimisation (LTO) when it launches a kernel, which gives other machine "
        f"code; so for {linked} the linked code was assembled too. A kernel of a team exists "
        'twice: "grid", where all blocks work on one problem and meet by grid synchronisation, and '
        '"block", where each has a problem of its own.',
        "",
        "- *registers* of a thread, from the least to the most over the compute capabilities; "
        "*linked*, those of the linked code. *spills* are bytes that did not fit in registers and "
        "must be 0. *stack* is that of the functions called: a grid synchronisation has 16 bytes.",
        f"- *occupancy* is theoretical, at {THREADS} threads a block: the share of a "
        "multiprocessor's warps that can be resident, by the rules of NVIDIA's `cuda_occupancy.h` "
        "and the limits of the CUDA C++ Programming Guide. A team has one block on each "
        "multiprocessor whatever its occupancy.",
        "- *fused* counts products that are added before they are rounded, which could change a "
        "decision, in PTX; *.f64* counts double precision instructions in single precision "
        "kernels. Both must be 0. (Divisions and square roots are one instruction in PTX.)",
        "",
    ]
    lines += [f"- **{one}**" for one in found] or ["Nothing of this was found wrong."]
    lines += ["", *table(
        ("kernel", "numbers", "registers", "linked", "spills", "stack", "shared memory",
         "occupancy", "fused", ".f64"),
        compile_lines(rows),
    )]  # fmt: skip
    lines += ["", "Registers (the more of both codes) and occupancy for each:", ""]
    return lines + table(("kernel", "numbers", *map(shown, capabilities)), full_lines(rows))


def about_methods(works: Works) -> list[str]:
    """Whole methods counted, and projections."""
    cards = [
        f"{card.name}: {card.bandwidth / 1e9:,.0f} GB/s, {card.float64 / 1e12:.3g} TFLOPS in "
        f"float64 and {card.float32 / 1e12:.3g} in float32, {card.processors} multiprocessors, "
        f"{card.clock / 1e9:g} GHz, {card.cache} MB of L2 cache ({card.source}), from which "
        f"{card.from_cache / 1e12:g} TB/s are assumed"
        for card in CARDS
    ]
    assumptions = [
        f"{meeting * 1e6:g} µs a meeting, {step * 1e6:g} µs a reduction or removal"
        for meeting, step in ASSUMED.values()
    ]
    shares = [
        f"{name}: {l2:.0%} of the L2 cache's bandwidth, {memory:.0%} of the memory's and "
        f"{peak:.0%} of half the peak are reached; {FIRST[name] * 1e6:g} µs until the first bytes "
        "of a scan"
        for name, (l2, memory, peak) in REACHED.items()
    ]
    issued = [
        f"{rate:g} a cycle and multiprocessor, {each:g} of the machine for one of PTX"
        for rate, each in ISSUED.values()
    ]
    seconds = max((seconds for _, seconds in works.values()), default=0.0)
    return [
        "## Whole methods, counted in a dry run",
        "",
        "Each method ran on the simulated data sets of the 2005 paper (10 variables) with an "
        "engine that takes the decisions of the CPU engine, which are the same, and counts what "
        "the CUDA engine would do for them (`benchmarks/cuda/budget.py`; a test compares the "
        "counts with those of the compiled kernels executed by `ptxrun`). The dry runs took up to "
        f"{figure(seconds, 2)} s. *Meetings* are grid synchronisations; *reductions* and "
        "*removals* are what a block does one after the other besides looking at records; bytes "
        "are those of records and of what is kept of each, as if nothing stayed in a cache. "
        "*Expressions* are CuPy's kernels for building a search tree and for the rounds of a "
        "spanning tree; *waits* are numbers that the host reads; *instructions* are those of PTX "
        "that warps execute for searches. CuPy's own copies when a method starts, and what is done "
        "on the host (cutting the spanning tree), are not counted. `mst by Prim` and "
        "`nearest_records by arrays` are what the engine did before it had a tree; `neighbours` "
        "(16 of each) it left to the CPU.",
        "",
        *table(
            ("method", "data", "n", "k", "launches", "expressions", "waits", "grid syncs",
             "reductions", "removals", "distances", "flops", "instructions", "bytes, float64",
             "bytes, float32"),
            work_lines(works),
        ),
        "",
        "## Projection of times",
        "",
        "A projection, not a measurement: the larger of bytes / bandwidth and flops / half the "
        "peak (products are rounded before they are added, so never fused), for comparing all "
        "pairs in tiles (`diameter`, `kward`) and for the rest apart, or the time until the first "
        "bytes of every scan are there; then for each meeting, reduction and removal, and each "
        "launch what it is assumed to take:",
        "",
        f"- {assumptions[0]} for the first number, {assumptions[1]} for the second; "
        f"{LAUNCH * 1e6:g} µs a launch or expression, {WAIT * 1e6:g} µs a wait;",
        *(f"- {share};" for share in shares),
        f"- of the instructions of searches {issued[0]} for the first, {issued[1]} for the second, "
        "if that takes longer than flops and bytes;",
        *(f"- {card}." for card in cards),
        "",
        f"Records that fit into {USABLE:.0%} of the L2 cache come from there; of more records that "
        "share, squared. Not in it: compiling, the host's part (cutting the spanning tree takes "
        "about 0.09 s of a core for 100,000 records), and memory that CuPy has to ask for.",
        "",
        "Projected seconds:",
        "",
        *table(
            ("method", "data", "n", *(
                f"{card.name}, {real}: projection"
                for card in CARDS for real in ("float64", "float32")
            )),
            projection_lines(works),
        ),
    ]  # fmt: skip


def as_markdown(
    rows: Rows,
    works: Works,
    found: list[str],
    capabilities: list[Capability],
) -> str:
    """The whole report."""
    lines = [*heading(), "", *about_compiling(rows, found, capabilities), ""]
    lines += [
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
        "",
    ]  # fmt: skip
    lines += about_methods(works)
    return "\n".join(lines) + "\n"


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cuda_report", description=__doc__.splitlines()[0]
    )
    add = parser.add_argument
    names = ",".join(map(shown, CAPABILITIES))
    add("--cc", default=names, help=f"compute capabilities, with commas between ({names})")
    add("--methods", help="compile what these launch, and count these (all)")
    add("--most", type=int, default=120_000, help="most records of a dry run (120,000)")
    add("--processes", type=int, default=2, help="how many at a time (2)")
    add("--output", type=Path, default=RESULTS / "cuda.md", help="Markdown file (results/cuda.md)")
    options = parser.parse_args(arguments)
    by_name = {shown(cc): cc for cc in CAPABILITIES}
    chosen = options.cc.split(",")
    if unknown := set(chosen) - set(by_name):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {names}")
    options.cc = [by_name[name] for name in chosen]
    options.methods = options.methods.split(",") if options.methods else []
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
    kernels, failed = launching.found(options.methods)
    launched = [kernel for kernel in kernels if kernel.types]
    methods = [method for method in METHODS if method in (options.methods or METHODS)]
    if not options.methods or "mst" in methods:
        methods += OPERATIONS
    names = [
        (m, data)
        for m in methods
        for data, n in DATA.items()
        if n <= options.most and (n < 10**6 or m in LARGE)
    ]
    jobs: dict[Any, Any] = {k: (compiling.compiled, k, options.cc) for k in launched}
    jobs |= {name: (counted, *name) for name in names}
    done = side_by_side(jobs, options.processes)
    rows = {kernel: done[kernel] for kernel in launched}
    works = {name: done[name] for name in names}
    if options.methods:  # others were not asked for
        kernels = launched
    found = problems(kernels, failed, rows)
    write(options.output, as_markdown(rows, works, found, options.cc))
    for one in found:
        tell(one)
    tell(f"written in {time.perf_counter() - start:.0f} s: {options.output}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
