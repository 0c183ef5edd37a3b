"""What the command ``microagg`` prints: results, comparisons, groups, methods, versions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from ..errors import listed
from ..files.verdict import Verdict
from ..kernels.compiling import spent
from ..measures.contributors import RuleCheck
from ..measures.sensitive import ClosenessCheck
from ..pipeline.comparison import Comparison
from ..pipeline.provenance import left_out, named
from ..pipeline.result import Result
from ..report.wording import labels
from ..settings import FORMAT
from ..tasks.protect import Outcome, certified


def stdout() -> Console:
    """The console for results."""
    # Names from a file are printed as they are, whatever brackets or colons they hold.
    return Console(markup=False, emoji=False, highlight=False)


def show_result(outcome: Outcome) -> None:
    """Print what was done to a file, the verdict first."""
    result = outcome.result
    sizes = result.sizes if result.labels.ndim == 1 else np.concatenate(result.sizes)
    smallest, largest = int(sizes.min()), int(sizes.max())
    each = f"{smallest} to {largest}" if smallest < largest else str(smallest)
    rows = {
        "verdict": str(result.verdict),
        "contributors": "" if result.dominance is None else str(result.dominance),
        "sensitive": "" if result.closeness is None else str(result.closeness),
        "warning": _warnings(outcome.identifying),
        "method": named(result.method, result.options),
        "records": _records(len(result.labels), result),
        "units": _units(result),
        "left out": result.provenance.left_out,
        "merged": _merged(result.merged),
        "groups": f"{len(sizes):,} groups of {each} records",
        "loss": f"{result.loss:.4f} %",
        "weighted": _weighted(result.weighted_loss),
        "refined": "" if result.refined is None else str(result.refined),
        "found by": result.provenance.finder,
        "lower bound": certified(outcome.bound),
        "time": f"{result.seconds:.2f} s on {result.device}" + _compiled(),
        "protected": listed(result.names),
        "scale": _scale(result),
        "order": "shuffled" if result.provenance.settings.shuffle else "",
        "rounded": _rounded(result),
        "unchanged": listed(outcome.others),
        "written": ", ".join(map(str, outcome.written)) or "nothing, because of --strict",
    }
    _show(rows)
    for what, call in (
        ("Repeat with", result.provenance.command() or ""),
        ("In Python", result.provenance.python()),
    ):
        stdout().print(f"{what}: {_call(call)}", soft_wrap=True)


SHOWN = 5  # columns of a group, methods of a k
STYLES = {"loss": "bold", "warning": "yellow"}


def _call(text: str) -> str:
    """A call that repeats the run, unless its many columns would fill the terminal."""
    return text if len(text) <= 800 else "(long: --report and --json keep it)"


def _show(rows: dict[str, str]) -> None:
    lines = Table(box=None, show_header=False)
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column()
    for name, text in rows.items():
        if text:
            judged = name == "verdict" or text.startswith(("PASS: ", "FAIL: "))
            style = verdict_style(text) if judged else STYLES.get(name, "")
            lines.add_row(name, text, style=style)
    stdout().print(lines)


def verdict_style(sentence: str) -> str:
    """The colour of a verdict, which its first word says too."""
    return {"PASS": "bold green", "FAIL": "bold red"}.get(sentence[:4], "bold yellow")


def _warnings(identifying: Mapping[str, str]) -> str:
    """Which columns should perhaps not be published, a line for each."""
    lines = [
        f"column {name} {what} and is published unchanged: leave it out with --drop {name}"
        for name, what in identifying.items()
    ]
    more = [f"and {len(lines) - 5} more such columns"] if len(lines) > 5 else []
    return "\n".join(lines[:5] + more)


def _compiled() -> str:
    """How long compiling took beside, in a phrase; empty if it did not."""
    return f"; compiling took {spent():.1f} s more, once" if spent() >= 0.1 else ""


def _merged(strata: Sequence[str]) -> str:
    """How many strata were made of several, and one of them."""
    if not strata:
        return ""
    first = strata[0] if len(strata[0]) <= 60 else f"{strata[0][:57]}..."
    return f"{len(strata):,} strata are several that were merged, such as {first}"


def _scale(result: Result) -> str:
    return (
        "" if result.provenance.settings.scale == "standard" else result.provenance.standardized()
    )


def _units(result: Result) -> str:
    if result.units is None:
        return ""
    count = len(np.unique(result.units))
    least = result.verdict.smallest_named
    return f"{count:,} units ({result.unit}), at least {least:,} in each group"


def _weighted(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.4f} % is lost with sampling weights"


def _rounded(result: Result) -> str:
    """What rounding did to the total that it changed most."""
    if not result.rounding:
        return ""
    parts = [(abs(r.change) / r.size if r.size else 0.0, r) for r in result.rounding]
    most, worst = max(parts, key=lambda part: part[0])
    files = result.provenance.files
    places = "the decimals of the input"
    if files is not None and files.decimals != FORMAT.published_decimals:
        places = "whole numbers" if worst.decimals == 0 else f"{worst.decimals} decimals"
    kind = "total" if result.weighted_loss is None else "weighted total"
    return f"to {places}; no {kind} changes by more than {100 * most:.2g} % ({worst.name})"


def show_parts(result: Any) -> None:
    """Print what was done to files on several workers, a `DistributedResult`."""
    each = f"{result.smallest} to {result.largest}"
    written = result.protected
    rows = {
        "verdict": str(result.verdict),
        "method": named(result.method, result.options),
        "records": _records(result.records, result),
        "left out": left_out(result.dropped, result.suppressed),
        "groups": f"{result.groups:,} groups of {each} records",
        "loss": f"{result.loss:.4f} %",
        "blocks": str(result.blocks)
        + (f"; {result.repaired:,} records refined where blocks touch" if result.repaired else ""),
        "time": f"{result.seconds:.2f} s",
        "protected": listed(result.names),
        "unchanged": listed(result.verdict.others),
        "written": f"{len(written)} files in {written[0].parent}",
    }
    _show(rows)


def _records(count: int, result: Any) -> str:
    variables = len(result.names)
    return f"{count:,} records, {variables} variable{'s' * (variables > 1)}, k = {result.k}"


def show_comparison(rows: Comparison, everything: bool = True) -> None:
    """Print a comparison, the best of each k in bold; the best few, or everything."""
    names = ("k", "method", "loss %", "risk %", "groups", "largest", "seconds")
    table = Table(*names, box=box.SIMPLE)
    for column in table.columns:
        column.justify = "left" if column.header == "method" else "right"
    before, shown = None, Counter[int]()
    for row in rows:
        shown[row["k"]] += 1
        if not everything and shown[row["k"]] > SHOWN:
            continue
        if before not in (None, row["k"]):
            table.add_section()
        table.add_row(
            str(row["k"]), row["method"], f"{row['loss']:.3f}", f"{row['risk']:.2f}",
            str(row["groups"]), str(row["largest"]), f"{row['seconds']:.2f}",
            style="bold green" if before != row["k"] else "",
        )  # fmt: skip
        before = row["k"]
    stdout().print(table)
    more = sum(max(0, count - SHOWN) for count in shown.values())
    if more and not everything:
        stdout().print(f"{more} more are shown with --all")
    stdout().print(
        "loss: 100 SSE / SST; risk: share of records that an intruder with all the original data "
        "would identify"
    )


def show_next(rows: Comparison, k: int, command: str) -> None:
    """Print what the comparison comes to, and the command that comes next."""
    for size in dict.fromkeys(row["k"] for row in rows):
        best, *others = (row for row in rows if row["k"] == size)
        least = f"{best['loss']:.3f} %"
        text = f"k = {size}: {best['method']} loses least, {least}"
        if others:
            second = f"{others[0]['loss']:.3f} %"
            same = f", as much as {others[0]['method']}"
            text += same if second == least else f", against {second} of {others[0]['method']}"
        stdout().print(text)
    stdout().print(f"Next: {command}", style="bold", soft_wrap=True)


def show_verdict(verdict: Verdict) -> None:
    """Print whether a file is k-anonymous."""
    stdout().print(f"{verdict}.", style=verdict_style(str(verdict)), soft_wrap=True)


def show_rule(found: RuleCheck) -> None:
    """Print whether groups obey a rule on their contributors, and each variable."""
    stdout().print(f"{found}.", style=verdict_style(str(found)), soft_wrap=True)
    table = Table("variable", box=box.SIMPLE)
    for head in ("groups that break it", "their records", "largest share %"):
        table.add_column(head, justify="right")
    for row in found.by_variable:
        table.add_row(
            row["name"], f"{row['groups']:,}", f"{row['records']:,}", f"{row['share']:.1f}"
        )
    stdout().print(table)


def show_closeness(found: ClosenessCheck) -> None:
    """Print what groups give away of a sensitive column."""
    sentence = str(found)
    style = verdict_style(sentence) if found.t is not None else ""
    stdout().print(f"{sentence[0].upper()}{sentence[1:]}.", style=style, soft_wrap=True)
    table = Table("in a group", "mean", "worst", box=box.SIMPLE)
    table.add_row("distance", f"{found.mean_distance:.4f}", f"{found.distance:.4f}")
    table.add_row("different values", "", f"{found.distinct:,}")
    table.add_row("most frequent value, %", "", f"{100 * found.share:.1f}")
    stdout().print(table)
    if found.single:
        stdout().print(
            f"{found.single:,} of the {found.groups:,} groups have one value only: it is known of "
            "all their records."
        )


def show_groups(groups: pa.Table, names: Sequence[str]) -> None:
    """Print the smallest groups of a file.

    Parameters
    ----------
    groups : pa.Table
        As `group_sizes` returns it: distinct values, smallest count first, in the last column.
    names : sequence of str
        The columns that were counted.
    """
    some = f", in the first {SHOWN} of {len(names)} columns" if len(names) > SHOWN else ""
    table = Table(box=box.SIMPLE, title=f"the smallest groups{some}", title_justify="left")
    table.add_column("records", justify="right")
    for label in labels(names)[:SHOWN]:
        table.add_column(label)
    for row in groups.slice(0, 10).to_pylist():
        *values, count = row.values()
        table.add_row(str(count), *map(_short, values[:SHOWN]))
    stdout().print(table)


def _short(value: Any) -> str:
    """A value in few characters."""
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 20 else f"{text[:17]}..."
