"""Annealing on a device: instructions a step, counted, and from these a projection of its speed.

The compiled kernels are executed by ptxrun (PTXRUN_HOME, else ``../shared/ptxrun``), which counts.
``python -m benchmarks.cuda.annealing`` prints what the report says of it, in some minutes.
"""

import os
import sys
from datetime import date
from importlib import import_module
from math import ceil, log2
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from microagg_gpu.datasets import simulated
from microagg_gpu.kernels import cpu
from microagg_gpu.kernels.arguments import Sweep
from microagg_gpu.methods import annealing
from microagg_gpu.methods.mdav import mdav

from ..common import ROOT, machine_line, table
from ..scaling.measure import standardized
from .compile import LIMITS, Capability, resident_blocks
from .projection import ARGUMENT, ASSUMED, CARDS, CYCLES, EXPRESSION, LAUNCH, WAIT, Card

K, NEIGHBOURS = 5, 16
HEATS = tuple(annealing.HOT * (annealing.COLD / annealing.HOT) ** (t / 4) for t in range(5))
CAPABILITY: dict[str, Capability] = {"RTX 4090": (8, 9), "A100": (8, 0), "H100": (9, 0)}
REGISTERS = 255  # of a thread, at most
# Reads of a step that wait for each other where a region is not in shared memory, and cycles for
# each in the cache of a multiprocessor or in the device's: assumed.
READS, ANSWER = 10, {"fast": 40, "slow": 300}
CORES = 2
SIZES = (100_000, 1_000_000)


class Step(NamedTuple):
    """What a step takes, on average over temperatures that fall from the first to the last."""

    instructions: float  # of PTX, of the warp
    hot: float  # the same at the first temperature
    cold: float  # and at the last
    flops: float  # double precision instructions of the warp
    shared: int  # bytes of shared memory that a region takes; 0 where it is in memory


def data() -> np.ndarray:
    """100,000 records of 10 variables in clusters."""
    return standardized(simulated("SIM_13"))


def step(records: int, shared: bool, steps: int = 3) -> Step:
    """Count the steps of a region of some records by ptxrun, which must be installed.

    A run of so many steps for each record and one of twice as many: what regions are copied for
    is in both. The labels must be those of the CPU engine.
    """
    ptxrun: Any = import_module("ptxrun")
    device: Any = import_module("microagg_gpu.kernels.cuda.annealing")
    kernels: Any = import_module("microagg_gpu.kernels.cuda.annealing_kernels")
    points, heat, near, labels = problem(records)
    usual = device.SHARED, device.FIRST
    device.SHARED, device.FIRST = device.SHARED if shared else 0, 2**30  # a single launch
    counted = []
    try:
        for hot in HEATS:
            labels = annealed(cpu, points, near, labels, hot * heat, 20.0)
            seen = []
            for rate in (steps, 2 * steps):
                ptxrun.reset()
                found = annealed(device, points, near, labels, hot * heat, float(rate))
                if found.tolist() != annealed(cpu, points, near, labels, hot * heat, rate).tolist():
                    raise AssertionError("the CUDA engine made other changes")
                stats = [each for name, each in ptxrun.launches if "anneal_in" in name]
                seen.append((_sum(stats, "instructions"), _sum(stats, "flops64")))
            lanes = 32 * steps * records
            counted.append([(b - a) / lanes for a, b in zip(*seen, strict=True)])
    finally:
        device.SHARED, device.FIRST = usual
    instructions, flops = zip(*counted, strict=True)
    taken = kernels.shared_bytes(records, points.shape[1], K) if shared else 0
    return Step(
        float(np.mean(instructions)),
        instructions[0],
        instructions[-1],
        float(np.mean(flops)),
        taken,
    )


def _sum(stats: list[Any], name: str) -> int:
    return sum(getattr(each, name) for each in stats)


def problem(records: int) -> tuple[np.ndarray, ...]:
    """Records near to each other, their temperatures, neighbours and groups."""
    every = data()
    nearest = np.argsort(np.square(every - every[0]).sum(axis=1), kind="stable")[:records]
    points = np.ascontiguousarray(every[np.sort(nearest)])
    near, heat = annealing.neighbour_lists(points, K, None, cpu)
    labels = np.unique(mdav(points, K, engine=cpu), return_inverse=True)[1]
    return points, heat, near[:, :NEIGHBOURS].copy(), labels


def annealed(
    engine: Any,
    points: np.ndarray,
    near: np.ndarray,
    labels: np.ndarray,
    heat: np.ndarray,
    rate: float,
) -> np.ndarray:
    """New labels, without gaps, after a sweep over one region."""
    groups = np.arange(labels.max() + 1)
    new = labels.copy()
    sweep = Sweep(groups, np.array([0, len(groups)]), heat, rate, np.uint64(1))
    engine.anneal(points, near, new, K, sweep)
    return np.unique(new, return_inverse=True)[1]


def cpu_speed(rate: float = 10.0) -> float:
    """Steps of the CPU engine for each second of a core, measured here over all temperatures."""
    points = data()
    near, heat = annealing.neighbour_lists(points, K, None, cpu)
    labels = np.unique(mdav(points, K, engine=cpu), return_inverse=True)[1]
    seconds = 0.0
    for turn, hot in enumerate(HEATS):
        groups = int(labels.max()) + 1
        regions = annealing.regions_of(len(points), K, groups)
        divided = cpu.divide(points, labels, regions, np.uint64(turn))
        sweep = Sweep(*divided, hot * heat, rate, np.uint64(turn))
        if turn == 0:
            cpu.anneal(points, near, labels.copy(), K, sweep._replace(rate=1.0))  # compiled
        begun = process_time()
        cpu.anneal(points, near, labels, K, sweep)
        seconds += process_time() - begun
        labels = np.unique(labels, return_inverse=True)[1]
    return len(HEATS) * rate * len(points) / seconds


def held(card: Card, each: Step) -> int:
    """Regions that a multiprocessor has at once: its blocks of one warp."""
    return resident_blocks(CAPABILITY[card.name], REGISTERS, each.shared, 32)


def speed(card: Card, each: Step, regions: int, assumed: str) -> float:
    """Steps a second of a card: a projection.

    A warp takes CYCLES for an instruction, and ANSWER for each of READS where its region is in
    memory. All lanes of a warp take their turn at double precision. Where regions are more than
    the card has at once, the last of them may leave it partly idle.
    """
    cycles = each.instructions * CYCLES[assumed] + (0 if each.shared else READS * ANSWER[assumed])
    at_once = card.processors * held(card, each)
    rounds = ceil(regions / at_once)
    of_warps = regions / rounds * card.clock / cycles
    double = card.float64 / 2 * {"fast": 1.0, "slow": 0.6}[assumed] / (32 * each.flops)
    return min(of_warps, double)


def division(groups: int, regions: int, assumed: str) -> float:
    """Seconds of the host for a division and for what a sweep does besides its steps.

    The kernels and sorts of some thousand groups take less than to start them.
    """
    levels = ceil(log2(max(2, regions)))
    launches, arguments, expressions, waits = 3 + levels, 60 + 6 * levels, 25 + 6 * levels, 6
    started = launches * LAUNCH + arguments * ARGUMENT + expressions * EXPRESSION + waits * WAIT
    return started + launches * ASSUMED[assumed][1]


def region_sizes(n: int) -> dict[str, tuple[int, int, bool]]:
    """Regions of a sweep over n records, records of each, and whether they fit in shared memory."""
    kernels: Any = import_module("microagg_gpu.kernels.cuda.annealing_kernels")
    device: Any = import_module("microagg_gpu.kernels.cuda.annealing")
    found = {}
    for name, many in (("seconds", True), ("steps", False)):
        regions = annealing.regions_of(n, K, n // K, many)
        each = n // regions
        found[name] = regions, each, kernels.shared_bytes(each, 10, K) <= device.SHARED
    return found


def between(low: float, high: float, unit: float = 1.0) -> str:
    """A range in a table."""
    return f"{low / unit:.3g} to {high / unit:.3g}"


def lines() -> list[str]:
    """The section of the report."""
    steps = {
        (each, shared): step(each, shared)
        for n in SIZES
        for _, each, shared in region_sizes(n).values()
    }
    core = cpu_speed()
    two = CORES * core
    counted = [
        [
            *(f"{each:,}", "shared" if shared else "the device's"),
            *(f"{s.instructions:.0f}", f"{s.hot:.0f} to {s.cold:.0f}", f"{s.flops:.0f}"),
            f"{s.shared:,}" if shared else "-",
            *(str(held(card, s)) for card in CARDS),
        ]
        for (each, shared), s in steps.items()
    ]
    projected = []
    for n in SIZES:
        for budget, (regions, each, shared) in region_sizes(n).items():
            s = steps[each, shared]
            row = [f"{n:,}", budget, f"{regions:,} of {each:,}"]
            for card in CARDS:
                slow, fast = (speed(card, s, regions, a) for a in ("slow", "fast"))
                row += [between(slow, fast, 1e6), between(slow, fast, two)]
            row.append(between(*(1e3 * division(n // K, regions, a) for a in ("fast", "slow"))))
            projected.append(row)
    limits = ", ".join(f"{card.name} {LIMITS[CAPABILITY[card.name]][2]} KiB" for card in CARDS)
    return [
        "## Refinement",
        "",
        f"SIM_13 (10 variables), k={K}, {NEIGHBOURS} neighbours. A warp takes a region, whose "
        "steps depend on each other. Its instructions were counted by `ptxrun`, at five "
        "temperatures from the first to the last of a refinement, in a region of records near to "
        "each other after the CPU engine had annealed it; the labels were the CPU engine's. "
        "*Hot to cold* are the first and the last of the five. *Double* are instructions in double "
        "precision. The last columns are the regions that a multiprocessor has at once, by its "
        f"shared memory ({limits}) and at most {REGISTERS} registers a thread.",
        "",
        *table(
            (
                *("records", "memory", "instructions a step", "hot to cold", "double"),
                *("bytes of shared memory", *(card.name for card in CARDS)),
            ),
            counted,
        ),
        "",
        "Projected millions of steps a second, and how many times that is the CPU engine's on "
        f"{CORES} cores, {two / 1e6:.2g} million: measured here in the same run by processor "
        f"seconds, with regions of 2,000 ({machine_line()}). A warp is assumed to take "
        f"{CYCLES['fast']} to {CYCLES['slow']} cycles for each instruction, and where a region is "
        f"in the device's memory to wait {READS} times for {ANSWER['fast']} to {ANSWER['slow']} "
        "cycles besides. *Seconds*: three of four sweeps of a refinement that is given seconds "
        "have regions of this size, the fourth has those of *steps*; a refinement that is given "
        "steps has these only, as in all engines (`regions.md` says why). *Division* is what the "
        "host takes to start a division and a sweep, in milliseconds.",
        "",
        *table(
            (
                *("n", "budget", "regions"),
                *(f"{card.name}{what}" for card in CARDS for what in ("", ", times the CPU")),
                "division",
            ),
            projected,
        ),
        "",
        *goal(steps, core),
        "",
        f"Written on {date.today().isoformat()} by `python -m benchmarks.cuda.annealing`.",
    ]


def goal(steps: dict[tuple[int, bool], Step], core: float) -> list[str]:
    """Why a card is not 30 times as fast at the slow end, with the terms."""
    card, each = CARDS[0], next(s for (_, shared), s in steps.items() if shared)
    one = [card.clock / (each.instructions * CYCLES[a]) / 1e6 for a in ("slow", "fast")]
    return [
        "The goal was 30 times at the slow end. It is missed there, for two reasons: the CPU "
        f"engine does {core / 1e6:.1f} million steps a second on a core, where the design counted "
        f"with 1.8 to 2.7; and {each.instructions:.0f} instructions, each of which waits for the "
        f"one before, are {between(*one)} million steps a second for a warp of an {card.name}, of "
        "which there are as many as regions. Double precision is not what limits that: an "
        f"{card.name} could do {card.float64 / 2 / (32 * each.flops) / 1e6:.0f} million steps."
    ]


def install() -> None:
    """Let ptxrun execute the kernels."""
    home = os.environ.get("PTXRUN_HOME") or str(ROOT.parent / "shared" / "ptxrun")
    sys.path.insert(0, home)
    ptxrun: Any = import_module("ptxrun")
    ptxrun.install(cc=(8, 9), racecheck=False, uninit=False)


if __name__ == "__main__":
    install()
    print("\n".join(lines()))
