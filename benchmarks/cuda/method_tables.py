"""The tables of whole methods, and of searches old and new, in the CUDA report."""

import json
import math
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from ..common import RESULTS, figure, table
from .projection import (
    ARGUMENT,
    ASSUMED,
    CARDS,
    CYCLES,
    EXPRESSION,
    FIRST,
    ISSUED,
    LAUNCH,
    REACHED,
    SINGLE,
    USABLE,
    WAIT,
    deciding,
    projection,
    starting,
    terms,
)
from .searches import NEIGHBOURS, SIZES, Searches, estimated
from .work import Work

METHODS = {"mdav": 5, "vmdav": 5, "centroid": 5, "diameter": 4, "mst": 4, "kward": 4}
DATA = {"SIM_9": 20_000, "SIM_13": 100_000}
DECIDED, QUERIES = 5, 4  # where tallies of `rounds` have steps and searches
Works = dict[tuple[str, str], tuple[Work, float]]  # with the seconds of the dry run


def work_lines(works: Works) -> Iterator[list[str]]:
    """What whole methods ask of a device."""
    for (method, data), (work, _) in works.items():
        yield [
            *(f"`{method}`", data, f"{DATA[data]:,}", str(METHODS[method])),
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
        "that warps execute for searches and for cutting a spanning tree. CuPy's own copies when a "
        "method starts are not counted.",
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
        f"{LAUNCH * 1e6:g} µs a launch and {ARGUMENT * 1e6:g} µs each argument of it, "
        f"{EXPRESSION * 1e6:g} µs an expression, {WAIT * 1e6:g} µs a wait;",
        *(f"- {share};" for share in shares),
        f"- of the instructions of searches {issued[0]} for the first, {issued[1]} for the second, "
        "if that takes longer than flops and bytes;",
        *(f"- {card}." for card in cards),
        "",
        f"Records that fit into {USABLE:.0%} of the L2 cache come from there; of more records that "
        "share, squared. Not in it: compiling (see the first call), and memory that CuPy has to "
        "ask for.",
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


# Searches, old and new ---------------------------------------------------------------------------


LONE = 4  # cycles of a long warp for an instruction, assumed
AT_ONCE, AFTER = ("instructions", "flops", "bytes"), ("launches", "expressions", "waits")


class Measured(NamedTuple):
    """Seconds of the CPU engine on two cores, and whether they were measured."""

    seconds: float
    measured: bool = True

    def __str__(self) -> str:
        return figure(self.seconds, 3) if self.measured else f"about {figure(self.seconds, 2)}"


def cpu_seconds(searches: dict[int, Searches]) -> dict[tuple[str, int], Measured]:
    """Seconds of the CPU engine by operation and records.

    For the most records they follow from the growth between the two sizes before.
    """
    known: dict[tuple[str, int], Measured] = {}
    for n, each in searches.items():
        known |= {(name, n): Measured(seconds) for name, seconds in each.cpu.items()}
    small, large, largest = SIZES
    for name in dict.fromkeys(name for name, _ in known):
        if (name, small) in known and (name, large) in known:
            before, after = known[name, small].seconds, known[name, large].seconds
            power = math.log(after / before) / math.log(large / small)
            known[name, largest] = Measured(after * (largest / large) ** power, False)
    return known


def search_lines(searches: dict[int, Searches]) -> Iterator[list[str]]:
    """Spanning trees, lists and linkage as they were done and as they are, beside the CPU."""
    seconds = cpu_seconds(searches)
    for name in ("mst", "spanning tree", "neighbours", "nearest_records"):
        for n, each in searches.items():
            measured = seconds.get((name, n))
            new = each.new.get(name) or estimated(each, searches[n // 10], name)
            old = each.old.get("mst" if name == "spanning tree" else name)
            for which, work in {"old": old, "new": new}.items():
                on_host = name == "mst" and which == "old"
                host = seconds["cutting", n].seconds if on_host else 0.0
                beside = [f"`{name}`", f"{n:,}", which, *search_cells(work, host, measured)]
                yield [*beside, str(measured or "-")]


def search_cells(work: Work | None, host: float, measured: Measured | None) -> list[str]:
    """What was counted, projected seconds with the host's, and how many times faster that is."""
    if work is None:
        return ["on the CPU", *["-"] * (4 + 2 * len(CARDS))]
    cells = [
        *(scientific(work.distances), scientific(work.bytes(8))),
        *(f"{work.launches:,}", f"{work.expressions:,}", f"{work.waits + work.grid_syncs:,}"),
    ]
    for card in CARDS:
        fast, slow = (host + projection(work, card, "float64", a) for a in ("fast", "slow"))
        cells.append(f"{figure(fast, 2)} to {figure(slow, 2)}")
        times = [measured.seconds / x for x in (slow, fast)] if measured else []
        cells.append(" to ".join(figure(x, 2) for x in times) or "-")
    return cells


def term_lines(searches: dict[int, Searches]) -> Iterator[list[str]]:
    """What the projected seconds of `mst` are made of."""
    for (n, each), card in product(searches.items(), CARDS):
        if "mst" in each.new:
            both = [terms(each.new["mst"], card, "float64", a) for a in ("fast", "slow")]
            (fast, after), (slow, _) = both
            times = [f"{figure(fast[x], 2)} to {figure(slow[x], 2)}" for x in AT_ONCE]
            yield [f"{n:,}", card.name, *times, *(figure(after[x], 2) for x in AFTER)]


def scaling_seconds() -> str:
    """What `benchmarks.scaling` measured of the spanning tree, on another day."""
    rows = json.loads((RESULTS / "scaling-cpu.json").read_text())["rows"].values()
    known = {
        row["n"]: row["seconds"]
        for row in rows
        if row["method"] == "mst" and row["who"] == "ours" and row["d"] == 10 and "seconds" in row
    }
    told = " and ".join(f"{figure(known[n])} s for {n:,}" for n in SIZES if n in known)
    return f"`benchmarks.scaling` measured a whole `mst` on an earlier day: {told} records."


def about_searches(searches: dict[int, Searches]) -> list[str]:
    """Spanning trees, lists of neighbours and linkage, old and new."""
    if not searches:
        return []
    seconds = cpu_seconds(searches)
    cuts = ", ".join(f"{seconds['cutting', n]} s for {n:,}" for n in searches)
    answered = ", ".join(f"one of {every} for {n:,}" for n, every in SIZES.items() if every > 1)
    return [
        "## Searches, old and new",
        "",
        "Records of 10 variables (SIM_13 and `benchmarks.scaling`'s), float64. `mst` with k=4, "
        f"and its spanning tree alone; `neighbours`, the {NEIGHBOURS} nearest of each record; "
        "`nearest_records`, record linkage with a release of groups of three. *Old* is what the "
        "engine did before it had a search tree: Prim's method with cutting on the host, lists on "
        "the CPU, and linkage by array expressions over all pairs. "
        "Of the distances of *new* most are in single precision, of a filter. "
        "*Synchronisations* are those of the grid and numbers that the host waits for. Of many "
        f"queries a part was answered, {answered}, and counted for all. The spanning trees of "
        "100,000 and 1,000,000 records were made to the end; of 10,000,000 the lists were counted, "
        "and the rounds estimated from those of 1,000,000.",
        "",
        "Seconds are projections as above. Those of `mst` include the cutting of the tree: of the "
        f"old one on the host, by the CPU engine ({cuts}), of the new one on the device. "
        "The CPU engine is measured here, in seconds of processors: half of those that both cores "
        "work together, and those of one core for the rest; *about* is the growth from 100,000 to "
        f"1,000,000 records carried on. {scaling_seconds()}",
        "",
        *table(
            ("operation", "n", "", "distances", "bytes", "launches", "expressions",
             "synchronisations",
             *(x for card in CARDS for x in (f"{card.name}, s", "times the CPU")),
             "CPU engine, s"),
            search_lines(searches),
        ),
        "",
        "What the seconds of the new `mst` are made of. Of bytes, flops and instructions the "
        "longest counts, the rest is added. Flops are those in double precision: of boxes, and of "
        "distances that the filter in single precision lets through. The cutting is in it.",
        "",
        *table(("n", "card", *AT_ONCE, *AFTER), term_lines(searches)),
        "",
        "Not in the seconds: a launch lasts as long as its longest warp. The instructions of the "
        "longest warp of each launch, added up, follow one another. This is what they take if each "
        f"takes {LONE} cycles, assumed for warps that add up 16 sums side by side. Where it is "
        "more than the instructions of all, multiprocessors are idle for a part of the time.",
        "",
        *table(("n", "instructions", *(f"{card.name}, s" for card in CARDS)), longest(searches)),
    ]  # fmt: skip


def longest(searches: dict[int, Searches]) -> Iterator[list[str]]:
    """The longest warps of the launches of `mst`."""
    for n, each in searches.items():
        if "mst" in each.new:
            count = each.new["mst"].longest
            times = [figure(LONE * count / card.clock, 2) for card in CARDS]
            yield [f"{n:,}", f"{count:,}", *times]


# Rounds, old and new ------------------------------------------------------------------------------


def round_lines(compared: dict[int, Any]) -> Iterator[list[str]]:
    """MDAV and V-MDAV by loops over all that remain and in rounds, beside the CPU engine."""
    for n, each in compared.items():
        for name, seconds in each.cpu.items():
            for which, work in (("old", each.old[name]), ("new", each.new[name])):
                cells = search_cells(work, 0.0, Measured(seconds))
                yield [f"`{name}`", f"{n:,}", which, *cells, figure(seconds, 3)]


def part_lines(compared: dict[int, Any]) -> Iterator[list[str]]:
    """What the projections of rounds are made of."""
    for n, each in compared.items():
        for name, work in each.new.items():
            counts = each.counts[name]
            cells = [f"{counts.rounds:,}", f"{counts.replays[DECIDED]:,}"]
            cells.append(f"{work.chain / counts.replays[DECIDED]:,.0f}")
            cells.append(f"{counts.rows[QUERIES]:,}")
            cells.append(figure(starting(work), 2))
            for card in CARDS:
                fast, slow = (deciding(work, card, a) for a in ("fast", "slow"))
                cells.append(f"{figure(fast, 2)} to {figure(slow, 2)}")
                fast, slow = (
                    projection(work, card, "float64", a) - deciding(work, card, a) - starting(work)
                    for a in ("fast", "slow")
                )
                cells.append(f"{figure(fast, 2)} to {figure(slow, 2)}")
            yield [f"`{name}`", f"{n:,}", *cells]


def about_rounds(compared: dict[int, Any]) -> list[str]:
    """MDAV and V-MDAV, old and new."""
    if not compared:
        return []
    cycles = " to ".join(str(CYCLES[each]) for each in ("fast", "slow"))
    shares = " to ".join(f"{SINGLE[each]:.0%}" for each in ("slow", "fast"))
    return [
        "## MDAV and V-MDAV, old and new",
        "",
        "Records of 10 variables (SIM_13 and `benchmarks.scaling`'s), float64, k=5, gamma 0.2. "
        "*Old* are the loops that look at all remaining records at every step, *new* the rounds "
        "(`kernels/cuda/rounds.py`), run whole in a dry run (`benchmarks/cuda/rounds.py`), which "
        "checked that the groups are the CPU engine's. The CPU engine was measured here, in the "
        "same run: processor seconds of the thread that decides, which other work on the machine "
        "disturbs least. Seconds are projections as above; and the warp that decides is assumed "
        f"to take {cycles} cycles for each of its instructions, tiles in single precision to "
        f"reach {shares} of all lanes.",
        "",
        *table(
            ("method", "n", "", "distances", "bytes", "launches", "expressions",
             "synchronisations",
             *(x for card in CARDS for x in (f"{card.name}, s", "times the CPU")),
             "CPU engine, s"),
            round_lines(compared),
        ),
        "",
        "What the new projections are made of: the host (launches, array expressions, waiting), "
        "the one warp that decides, and the answers of all multiprocessors. *Instructions* are "
        "those of that warp for a step, searches on the spot included; a step of MDAV is a pair "
        "of groups.",
        "",
        *table(
            ("method", "n", "rounds", "steps", "instructions", "rows of nearest", "host, s",
             *(x for card in CARDS for x in (f"{card.name}: deciding, s", "answers, s"))),
            part_lines(compared),
        ),
    ]  # fmt: skip
