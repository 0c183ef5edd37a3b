"""What `benchmarks.experiments` measured, as Markdown and plots, beside what the paper prints."""

from pathlib import Path
from statistics import median

from ..common import figure, table, write
from ..papers.cells import numbers, show
from ..papers.printed import TABLES
from .checks import Statement, checks, sentence
from .data import (
    EXPERIMENTS,
    KINDS,
    PHASES,
    UB,
    Curves,
    Row,
    printed_power,
    settings,
    shown,
)
from .plot import plot


def write_report(rows: list[Row], machines: dict[str, dict[str, str]], where: Path) -> list[Path]:
    """Write `experiments.md` and the plots it shows; return their paths."""
    pictures, summary, sections = [], [], []
    for name in EXPERIMENTS:
        number = 0
        for every_k in settings(rows, name):
            longest = max(len(curves.xs) for curves in every_k)
            # Of several k those with the whole curve; the others are in the table of k.
            for curves in (c for c in every_k if len(c.xs) == longest):
                number += 1
                picture = where / f"experiments-{name}{f'-{number}' if number > 1 else ''}.png"
                plot(curves, every_k, picture)
                pictures.append(picture)
                found = list(checks(curves, every_k))
                summary.append(f"- {sentence(curves, found)}")
                sections += section(curves, every_k, found, picture.name)
    text = "\n".join([*heading(rows, machines), *summary, *sections])
    write(where / "experiments.md", f"{text}\n")
    return [where / "experiments.md", *pictures]


def section(
    curves: Curves, every_k: list[Curves], found: list[Statement], picture: str
) -> list[str]:
    """Tables, plot and statements of one experiment in one setting."""
    seeds = len({row["seed"] for row in curves.rows})
    lines = ["", f"## {curves.name.capitalize()}, {curves.setting()}", ""]
    loads = [row["load"] for row in curves.rows]
    text = f"{min(loads):g} to {max(loads):g}, median {median(loads):g}"
    lines += [f"{curves.experiment.title}. Seeds: {seeds}. Load of the machine: {text}.", ""]
    lines += time_lines(curves) if curves.timed else loss_lines(curves)
    if curves.name == "separation" and len(every_k) > 1:
        lines += ["", *k_lines(every_k)]
    lines += ["", f"![{curves.experiment.title}]({picture})"]
    if found:
        lines += ["", *table(("section 4.3 of the paper says", "ours", ""), found)]
    return lines


def heading(rows: list[Row], machines: dict[str, dict[str, str]]) -> list[str]:
    """What was measured, when and where."""
    lines = []
    for name, about in machines.items():
        mine = [row for row in rows if row["machine"] == name]
        dates, commits = sorted({r["date"] for r in mine}), sorted({r["commit"] for r in mine})
        versions = ", ".join(f"{what} {value}" for what, value in about.items())
        lines.append(
            f"- {name}: {versions}; {len(mine)} measurements, {' to '.join(dates[:: len(dates)])}"
            f", commit {', '.join(commits)}"
        )
    return [
        "# The experiments of Laszlo and Mukherjee (2005), section 4",
        "",
        "Written by `python -m benchmarks.experiments`, which says how to repeat and vary them. "
        "D, C, M, M-d and M-c are the paper's names of `diameter`, `centroid` and `mst` without "
        "and with `split`; UB is the loss of the true clusters, each divided by D or C. Data are "
        "drawn at random, with another seed each time: ours are medians over the seeds, with the "
        "lowest and the highest in parentheses; `printed / ours` where the paper has a figure. "
        "Losses are in percent. Seconds are those of the method on standardized records after an "
        "untimed run on some of them; in the experiments on size and dimension the median of 3 "
        "runs if one takes less than 10 s. The paper's are of a 2.5 GHz Pentium 4 and Java, so "
        "growth is compared and not seconds. Where the load of the machine before a run "
        "is above the number of cores, other work disturbed the times.",
        "",
        *lines,
        *engine_lines(rows),
        "",
        "## Agreement with the paper",
        "",
    ]


def engine_lines(rows: list[Row]) -> list[str]:
    """Whether engines and machines that measured the same formed the same groups."""
    groups: dict[tuple[object, ...], set[str]] = {}
    who: dict[tuple[object, ...], set[str]] = {}
    for row in (row for row in rows if "labels" in row):
        same = tuple(row.get(name) for name in ("experiment", *KINDS, "method", "seed"))
        groups.setdefault(same, set()).add(row["labels"])
        who.setdefault(same, set()).add(f"{row['engine']} engine, {row['machine']}")
    several = [same for same in who if len(who[same]) > 1]
    if not several:
        return []
    other = sum(len(groups[same]) > 1 for same in several)
    text = f"in {other} they formed **other groups**" if other else "they formed the same groups"
    return [f"- {len(several)} measurements were made by several engines or machines: {text}"]


def ranged(values: list[float], like: str = "0.000") -> str:
    """Median and range over seeds, with a digit more than the printed figure."""
    if not values:
        return "-"
    digits = numbers(like)[0]
    text = show(median(values), digits)
    if len(values) > 1:
        text += f" ({show(min(values), digits)} to {show(max(values), digits)})"
    return text


def both(printed: str | None, values: list[float]) -> str:
    """A cell: printed / ours."""
    return f"{printed} / {ranged(values, printed)}" if printed else ranged(values)


def loss_lines(curves: Curves) -> list[str]:
    """Losses as in Tables 7 and 8."""
    head = ["loss in percent", *map(curves.label, curves.xs)]
    lines = []
    for method in curves.methods:
        printed = curves.printed(method)
        cells = [both(printed.get(x), curves.values(method, x)) for x in curves.xs]
        lines.append([method, *cells])
    return [*table(head, lines), *difference(curves)]


def difference(curves: Curves) -> list[str]:
    """A sentence on how far our losses are from the printed ones."""
    found, inside = [], 0
    for method in curves.methods:
        for x, text in curves.printed(method).items():
            if values := curves.values(method, x):
                ours, rounding = median(values), 0.0005
                found.append((abs(ours / float(text) - 1), f"{method}, {curves.label(x)}"))
                inside += min(values) - rounding <= float(text) <= max(values) + rounding
    if not found:
        return []
    middle, (most, where) = median(share for share, _ in found), max(found)
    return [
        "",
        f"Our medians differ from the printed losses by {100 * middle:.1f} % at the median of "
        f"{len(found)} cells and by {100 * most:.0f} % at the most ({where}); {inside} printed "
        "losses are within the range of our seeds.",
    ]


def k_lines(every_k: list[Curves]) -> list[str]:
    """Tables 5 and 6: the best separated clusters with every k."""
    x = min(every_k[0].xs)
    name = TABLES[every_k[0].experiment.names].columns[0]
    usual = x == every_k[0].experiment.full["sigma"][0]
    methods = list(dict.fromkeys(m for curves in every_k for m in curves.methods))
    head = [f"{every_k[0].label(x)}", *methods, "share of oversized groups, %", "their size"]
    lines = []
    for curves in every_k:

        def printed(number: int, row: str, k: int = curves.k) -> str | None:
            page = TABLES[f"2005 Table {number}"]
            row = f"k={k} {row}"
            # UB is printed in Table 7 alone, where it stands above.
            return page.cell(row, name).rstrip("%") if usual and row in page.rows else None

        cells = [both(printed(5, m), curves.values(m, x)) for m in methods]
        cells.append(both(printed(6, "share"), curves.values("M", x, "oversized")))
        cells.append(both(printed(6, "size"), curves.values("M", x, "oversized_size")))
        lines.append([f"k = {curves.k}", *cells])
    return table(head, lines)


def time_lines(curves: Curves) -> list[str]:
    """Seconds as in Tables 9 and 10, with what they grow by; then losses, which are not printed."""
    phases = PHASES[curves.name]
    columns = {f"printed: {row}": curves.printed(row) for row in phases.values()}
    columns = {head: printed for head, printed in columns.items() if printed}
    parts = [("M", "tree_seconds", "M: tree"), ("M", "cut_seconds", "M: cutting")]
    ours = [(method, "seconds", method) for method in curves.methods if method != UB]
    ours += [part for part in parts if any(curves.values("M", x, part[1]) for x in curves.xs)]
    head = [curves.varied, *columns, *(f"ours: {text}" for _, _, text in ours)]
    lines = []
    for x in sorted({*curves.xs, *(x for printed in columns.values() for x in printed)}):
        times = [curves.values(method, x, what) for method, what, _ in ours]
        cells = [figure(median(one)) if one else "-" for one in times]
        lines.append([shown(x), *(p.get(x, "-") for p in columns.values()), *cells])
    fits = [printed_power(printed) for printed in columns.values()]
    fits += [curves.growth(method, what) for method, what, _ in ours]
    lines.append([f"grows as {curves.varied} to the power", *(figure(fit, 2) for fit in fits)])
    losses = [
        [method, *(ranged(curves.values(method, x)) for x in curves.xs)]
        for method in curves.methods
    ]
    return [
        "Seconds:", "", *table(head, lines), "",
        *table(["loss in percent", *map(curves.label, curves.xs)], losses),
    ]  # fmt: skip
