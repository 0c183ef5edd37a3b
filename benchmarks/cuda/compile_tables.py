"""The tables of compiled kernels in the CUDA report, and what is wrong with any of them."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..common import figure, table
from .compile import THREADS, Capability, occupancy
from .costs import COSTS
from .first import First
from .kernels import Kernel

# Kernels that only propose records, with a margin for rounding: there products may be fused.
FILTERS = ("find_maxima", "find_limits", "look_again")
FILTER = "single.py"  # so may those of this file in any kernel
Row = dict[str, Any]
Rows = dict[Kernel, list[Row]]


def occupied(row: Row) -> float:
    """Theoretical occupancy."""
    return occupancy(row["cc"], row["registers"], row["shared"])


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
        spills = {shown(row["cc"]): row["spills"] for row in results}
        if places := [f"{cc} ({count} bytes)" for cc, count in spills.items() if count]:
            found.append(f"{name} spills registers for {', '.join(places)}.")
        lines = dict.fromkeys(line for row in results for line in row.get("places", ()))
        wrong = [line for line in lines if not line.startswith(f"{FILTER}:")]
        unknown = not lines and any(row["fused"] for row in results)
        if kernel.name not in FILTERS and (wrong or unknown):
            found.append(f"{name} adds products that are not rounded: {', '.join(wrong)}.")
        if kernel.real == "float32" and any(row["doubles"] for row in results):
            found.append(f"{name} has double precision instructions.")
        if any(row["stale"] for row in results):
            found.append(f"{name} reads by ld.global.nc, which may miss what others wrote.")
        if (kernel.module, kernel.name) not in COSTS:
            found.append(f"`{kernel.title}` has no line in benchmarks/cuda/costs.py.")
    return found


def shown(cc: Capability) -> str:
    """A compute capability in figures."""
    return ".".join(map(str, cc))


def compile_lines(rows: Rows) -> Iterator[list[str]]:
    """Each kernel at its worst over the compute capabilities."""
    for kernel, results in rows.items():
        least, most = min(map(occupied, results)), max(map(occupied, results))
        yield [
            f"`{kernel.title}`",
            kernel.real,
            _range(row["registers"] for row in results),
            str(max(row["spills"] for row in results)),
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
            spills = row["spills"]
            spilled = f", **{spills} spilled**" if spills else ""
            cells.append(f"{row['registers']}, {occupied(row):.0%}{spilled}")
        yield [f"`{kernel.title}`", kernel.real, *cells]


def cost_lines(rows: Rows) -> Iterator[list[str]]:
    """What kernels cost for each thing they look at."""
    names = dict.fromkeys((kernel.module, kernel.name) for kernel in rows)
    for module, name in names:
        if cost := COSTS.get((module, name)):
            yield [f"`{module}.{name}`", *cost.cells()]


def about_compiling(rows: Rows, found: list[str], capabilities: list[Capability]) -> list[str]:
    """The compiled kernels."""
    names = ", ".join(map(shown, capabilities))
    lines = [
        "## Kernels, compiled and assembled",
        "",
        f"{len(rows)} kernels (float64 and float32 counted apart) were compiled by "
        "`numba.cuda.compile`, and linked and assembled by nvJitLink with optimisation at link "
        f"time (LTO), as Numba does when it launches them, for compute capability {names}. A "
        'kernel of a team exists twice: "grid", where all blocks work on one problem and meet by '
        'grid synchronisation, and "block", where each has a problem of its own.',
        "",
        "- *registers* of a thread, from the least to the most over the compute capabilities. "
        "*spills* are bytes that did not fit in registers and "
        "must be 0. *stack* is that of the functions called: a grid synchronisation has 16 bytes.",
        f"- *occupancy* is theoretical, at {THREADS} threads a block: the share of a "
        "multiprocessor's warps that can be resident, by the rules of NVIDIA's `cuda_occupancy.h` "
        "and the limits of the CUDA C++ Programming Guide. A team has at most "
        f"{THREADS} blocks in all, whatever its occupancy.",
        "- *fused* counts products that are added before they are rounded, which could change a "
        "decision; *.f64* counts double precision instructions in single precision kernels. Both "
        "must be 0 in the PTX that link-time optimisation leaves, but for products of filters, "
        f"which only propose records: those of {', '.join(f'`{name}`' for name in FILTERS)}, and "
        f"in any kernel those of the lines of `{FILTER}`. Nor may there be a "
        "load that need not see what others wrote (`ld.global.nc`).",
        "",
    ]
    lines += [f"- **{one}**" for one in found] or ["Nothing of this was found wrong."]
    lines += ["", *table(
        ("kernel", "numbers", "registers", "spills", "stack", "shared memory",
         "occupancy", "fused", ".f64"),
        compile_lines(rows),
    )]  # fmt: skip
    lines += ["", "Registers and occupancy for each:", ""]
    return lines + table(("kernel", "numbers", *map(shown, capabilities)), full_lines(rows))


def about_first(first: dict[str, First]) -> list[str]:
    """Seconds until the kernels of a first call are there."""
    lines = (
        [f"`{name}`", str(each.kernels), figure(each.compiled, 2), figure(each.loaded, 2)]
        for name, each in first.items()
    )
    return [
        "## The first call",
        "",
        "Seconds of one core for the kernels that a process needs at its first call, for many "
        "records in double precision. *Compiled* is the very first time on a machine: Numba, NVVM "
        "and nvJitLink, for compute capability 8.0. The result is kept in the user's cache folder "
        "(`kernels/cuda/compiled.py`); *loaded* is the first call of a later process, which reads "
        "it, on the emulated driver (a dash where there is none). To import Numba and CuPy is not "
        "in it.",
        "",
        *table(("method", "kernels", "compiled", "loaded"), lines),
    ]
