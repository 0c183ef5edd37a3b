"""The tables of k-Ward, old and new, in the CUDA report."""

from collections.abc import Iterator
from typing import Any

from ..common import figure, table
from .method_tables import Measured, search_cells
from .projection import CARDS, COPIED, CYCLES, deciding, projection, starting
from .work import Work


def host(each: Any) -> float:
    """Seconds of the host besides starting what the device does."""
    return float(each.counts.decided + each.counts.other)


def ward_lines(compared: dict[int, Any]) -> Iterator[list[str]]:
    """By looks at all groups and in batches, beside the CPU engine."""
    for n, each in compared.items():
        for which, work, seconds in (
            ("old", each.old, each.counts.other),
            ("new", each.new, host(each)),
        ):
            cells = search_cells(work, seconds, Measured(each.cpu))
            yield [f"{n:,}", which, *cells, figure(each.cpu, 3)]


def term_lines(compared: dict[int, Any]) -> Iterator[list[str]]:
    """What the projected seconds of the new ones are made of."""
    for n, each in compared.items():
        for card in CARDS:
            ends = [_terms(each.new, card, assumed) for assumed in ("fast", "slow")]
            cells = [
                f"{figure(fast, 2)} to {figure(slow, 2)}" for fast, slow in zip(*ends, strict=True)
            ]
            own = [figure(x, 2) for x in (each.counts.decided, each.counts.other)]
            own.append(figure(starting(each.new), 2))
            yield [f"{n:,}", card.name, *own, *cells]


def _terms(work: Work, card: Any, assumed: str) -> tuple[float, float, float]:
    """Copies, waiting for the longest search of each round, and all searches together."""
    copies = work.copied / COPIED[assumed]
    longest = deciding(work, card, assumed)
    whole = projection(work, card, "float64", assumed)
    return copies, longest, whole - copies - longest - starting(work)


def about_wards(compared: dict[int, Any]) -> list[str]:
    """k-Ward, old and new."""
    if not compared:
        return []
    cycles = " to ".join(str(CYCLES[each]) for each in ("fast", "slow"))
    rates = " to ".join(f"{COPIED[each] / 1e9:g}" for each in ("fast", "slow"))
    return [
        "## k-Ward, old and new",
        "",
        "Records of 10 variables (SIM_13 and `benchmarks.scaling`'s), float64, k=4, the whole "
        "method. *Old* looks at all groups in each step (`kernels/cuda/ward.py`) and at all pairs "
        "of records for the most distant two; *new* goes in batches (`kernels/cuda/ward_rounds.py`)"
        " and finds that pair by distances to the centre (`distant.py`). It was run whole in a dry "
        "run (`benchmarks/cuda/wards.py`), which checked that the groups are the CPU engine's. The "
        "CPU engine was measured here, in the same run, in processor seconds of its thread. What "
        "the host does itself is measured too and in the seconds of both ends: its decisions "
        "alone, once more after the run, and the rest of the method's Python. The longest search "
        f"of each round is waited for, {cycles} cycles for each of its instructions; pairs are "
        f"copied with {rates} GB/s.",
        "",
        *table(
            ("n", "", "distances", "bytes", "launches", "expressions", "synchronisations",
             *(x for card in CARDS for x in (f"{card.name}, s", "times the CPU")),
             "CPU engine, s"),
            ward_lines(compared),
        ),
        "",
        "What the new projections are made of, in seconds. A merger takes some three searches: of "
        "the new group, and of each that kept one of the two.",
        "",
        *table(
            ("n", "rounds", "searches", "of these of no use", "trees", "leaves a search",
             "copied, MB"),
            (
                [
                    *(f"{n:,}", f"{each.counts.rounds:,}", f"{each.counts.searches:,}"),
                    f"{1 - each.counts.taken / each.counts.searches:.0%}",
                    *(f"{each.counts.trees}",),
                    figure(each.counts.tally[0] / each.counts.searches, 2),
                    figure(each.new.copied / 1e6, 3),
                ]
                for n, each in compared.items()
            ),
        ),
        "",
        *table(
            ("n", "card", "decisions of the host", "its other Python", "launches, expressions, "
             "waits", "copies", "longest searches", "all searches and the rest"),
            term_lines(compared),
        ),
    ]  # fmt: skip
