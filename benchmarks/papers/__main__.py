"""Every table of the five papers beside ours, cell by cell: ``python -m benchmarks.papers``."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from functools import partial
from pathlib import Path

from .. import common
from ..common import RESULTS, data_home, machine_line, write
from . import mf_tsp, ours, readings, simulations
from .cells import MARKS, MEANINGS, Cell, Check, Status
from .known import reason
from .printed import TABLES

Findings = list[Cell | Check]


def papers_1999_2002() -> Findings:
    """The tables of 1999 and 2002, which share most runs."""
    runs = ours.Runs()
    return [
        *ours.loss_table(runs, "1999 Table 1"),
        *ours.deviations_1999(runs),
        *ours.components_1999(runs),
        *ours.correlations_1999(runs),
        *ours.univariate_2002(runs),
        *ours.structure_2002(runs, "2002 Table 2"),
        *ours.loss_table(runs, "2002 Table 3"),
        *ours.structure_2002(runs, "2002 Table 4"),
    ]


def paper_2005(data: str) -> Findings:
    """2005 Tables 5 and 6 on a reference file."""
    return list(ours.reference_2005(ours.Runs(), data))


def simulation(name: str, k: int, quick: bool) -> Findings:
    """2005 Tables 5 to 8 on a simulated data set."""
    return list(simulations.losses(name, k, quick))


def paper_2006() -> Findings:
    """2006 Table 1."""
    return list(ours.vmdav_2006(ours.Runs()))


def paper_mf_tsp() -> Findings:
    """The tables of MF-TSP."""
    return [*mf_tsp.example(), *mf_tsp.losses(ours.Runs())]


def what_needs_no_data() -> Findings:
    """Parameters, numbers of partitions, and what cannot be computed."""
    return [*simulations.parameters(), *ours.counts_2005(), *ours.without_ours()]


def jobs(quick: bool) -> dict[str, Callable[[], Findings]]:
    """What can be computed independently, in the order of the papers."""
    work: dict[str, Callable[[], Findings]] = {
        "1999 and 2002": papers_1999_2002,
        "parameters": what_needs_no_data,
        "2005, Tarragona": partial(paper_2005, "Tarragona"),
        "2005, Census": partial(paper_2005, "Census"),
        "2006": paper_2006,
        "MF-TSP": paper_mf_tsp,
    }
    names = [*TABLES["2005 Table 7"].columns, *TABLES["2005 Table 8"].columns]
    for name, k in [*((name, 4) for name in names), *(("SIM_1", k) for k in (3, 5, 10))]:
        work[f"2005, {name} k={k}"] = partial(simulation, name, k, quick)
    return work


def run(quick: bool, processes: int, show: Callable[[str], None]) -> Findings:
    """Do all jobs, and show each table as soon as it and those before it are complete."""
    findings: Findings = []
    waiting = list(TABLES)
    start = time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        work = jobs(quick)
        running = {pool.submit(job): name for name, job in work.items()}
        for done, future in enumerate(as_completed(running), 1):
            findings += future.result()
            seconds = time.perf_counter() - start
            print(f"[{done}/{len(work)}] {seconds:5.0f} s  {running[future]}", file=sys.stderr)
            while waiting and is_complete(waiting[0], findings):
                name = waiting.pop(0)
                show("\n".join(as_text(name, findings)) + "\n")
    return findings + list(simulations.checks(cells_of(findings)))


def cells_of(findings: Iterable[Cell | Check], table: str | None = None) -> list[Cell]:
    """The cells, or those of one table."""
    cells = (f for f in findings if isinstance(f, Cell))
    return [cell for cell in cells if table is None or cell.table == table]


def is_complete(name: str, findings: Findings) -> bool:
    """Whether every printed cell of a table has its comparison."""
    table = TABLES[name]
    return len(cells_of(findings, name)) == len(table.rows) * len(table.columns)


def grid(name: str, findings: Findings) -> list[list[str]]:
    """The table as the paper has it, with printed figure, ours and the mark in each cell."""
    table = TABLES[name]
    cells = {(cell.row, cell.column): cell for cell in cells_of(findings, name)}
    lines = [["", *table.columns]]
    for row in table.rows:
        line = [row]
        for column in table.columns:
            cell = cells[row, column]
            line.append(f"{cell.printed} / {cell.ours or 'none'} {MARKS[cell.status]}")
        lines.append(line)
    return lines


def notes(name: str, findings: Findings) -> list[str]:
    """Why cells differ or are open: each reason once, with the cells it is for."""
    places: dict[str, list[str]] = {}
    for cell in cells_of(findings, name):
        note = cell.note or (reason(cell) if cell.status == "differs" else "")
        if note:
            places.setdefault(f"{MARKS[cell.status]} {note}", []).append(
                f"{cell.row} {cell.column}"
            )
    total = len(cells_of(findings, name))
    return [
        f"{note} ({'all cells' if len(where) == total else _shortened(where)})"
        for note, where in places.items()
    ]


def _shortened(where: list[str], most: int = 12) -> str:
    if len(where) <= most:
        return "; ".join(where)
    return "; ".join(where[:most]) + f"; and {len(where) - most} more"


def tally(cells: list[Cell]) -> str:
    """Counts by status in words."""
    counts = Counter(cell.status for cell in cells)
    return ", ".join(f"{counts[status]} {status}" for status in MARKS if counts[status])


def as_text(name: str, findings: Findings) -> list[str]:
    """A table for the console."""
    lines = grid(name, findings)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        f"{name}: {TABLES[name].caption}  (printed / ours)",
        *(
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ),
        *(f"  {note}" for note in notes(name, findings)),
        f"  {tally(cells_of(findings, name))}",
    ]


def as_markdown(findings: Findings, heading: list[str]) -> str:
    """All tables, the statements checked, and the counts."""
    lines = ["# The tables of the five papers, printed and ours", "", *heading, ""]
    lines += [f"- `{MARKS[status]}` {status}: {MEANINGS[status]}" for status in MARKS]
    lines += ["", *readings.as_markdown()]
    for name, table in TABLES.items():
        head, *rows = grid(name, findings)
        lines += ["", f"## {name}", "", f"{table.caption}. Each cell: printed / ours, status.", ""]
        lines += common.table(head, rows)
        lines += ["", *(f"- {note}" for note in notes(name, findings))]
        checks = [f for f in findings if isinstance(f, Check) and f.table == name]
        if checks:
            held = ([c.statement, _yes(c.holds), c.detail] for c in checks)
            lines += ["", *common.table(("statement", "holds for ours", ""), held)]
    lines += ["", "## Counts", "", *counts_table(findings)]
    return "\n".join(lines) + "\n"


def counts_table(findings: Findings) -> list[str]:
    """Cells by table and status, as Markdown."""
    statuses: list[Status] = list(MARKS)
    lines = []
    for name in [*TABLES, None]:
        counts = Counter(cell.status for cell in cells_of(findings, name))
        lines.append([name or "all", *(str(counts[status]) for status in statuses)])
    return common.table(("table", *statuses), lines, numbers=True)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def main() -> int:
    """Run the comparison from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="simulated data with 40 clusters")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--output", type=Path, help="Markdown file (quick: none; else results/)")
    options = parser.parse_args()
    home = data_home()
    if missing := ours.missing_files(home):
        print(
            f"{', '.join(missing)} not found in {home}: set MICROAGG_DATA to the directory that "
            "has tarragona.csv, census.csv and eia.csv",
            file=sys.stderr,
        )
        return 2
    start = time.perf_counter()
    findings = run(options.quick, options.processes, partial(print, flush=True))
    for check in (f for f in findings if isinstance(f, Check)):
        print(f"{check.table}, {check.statement}: {_yes(check.holds)} ({check.detail})")
    seconds = f"{time.perf_counter() - start:.0f} s in {options.processes} processes"
    print(f"\n{tally(cells_of(findings))}; {seconds}")
    output = options.output or (None if options.quick else RESULTS / "papers.md")
    if output is not None:
        size = f"{simulations.QUICK_CLUSTERS} clusters (--quick)" if options.quick else "full size"
        heading = [
            f"Written by `python -m benchmarks.papers` on {date.today().isoformat()}, {seconds}; "
            f"simulated data of {size}.",
            "",
            f"Machine: {machine_line()}.",
            "",
        ]
        write(output, as_markdown(findings, heading))
        print(f"written: {output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
