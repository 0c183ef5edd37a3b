"""What the command ``microagg`` prints: results, comparisons, groups, methods, versions."""

from collections.abc import Sequence
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich import box
from rich.console import Console
from rich.table import Table

from ..pipeline.comparison import Comparison
from ..pipeline.provenance import left_out, named
from ..pipeline.result import Bound, Result


def stdout() -> Console:
    """The console for results."""
    # Names from a file are printed as they are, whatever brackets or colons they hold.
    return Console(markup=False, emoji=False, highlight=False)


def show_result(
    result: Result,
    strata: Sequence[str],
    least: int,
    others: Sequence[str],
    written: Sequence[Path],
    bound: Bound | None = None,
) -> None:
    """Print what was done to a file.

    Parameters
    ----------
    strata : sequence of str
        Columns within which records were counted.
    least : int
        The smallest number of records in the file that share their published values.
    others : sequence of str
        Columns that were not protected.
    written : sequence of Path
    bound : Bound, optional
    """
    sizes = result.sizes if result.labels.ndim == 1 else np.concatenate(result.sizes)
    smallest, largest = int(sizes.min()), int(sizes.max())
    each = f"{smallest} to {largest}" if smallest < largest else str(smallest)
    rows = {
        "method": named(result.method, result.options),
        "records": _records(len(result.labels), result),
        "left out": left_out(result.dropped, result.suppressed),
        "merged": "; ".join(result.merged),
        "groups": f"{len(sizes):,} groups of {each} records",
        "loss": f"{result.loss:.4f} %",
        "refined": "" if result.refined is None else str(result.refined),
        "found by": result.found_by,
        "lower bound": certified(bound),
        "time": f"{result.seconds:.2f} s on {result.device}",
        "protected": _few(result.names),
        "checked": f"in the file, {_counted(result, strata, least)}",
        "not protected": _few(others),
        "written": ", ".join(map(str, written)),
        "repeat with": _call(result.provenance.command() or ""),
        "in Python": _call(result.provenance.python()),
    }
    _show(rows)


def _few(names: Sequence[str]) -> str:
    """The first of many names, and the number of the others."""
    if len(names) <= 12:
        return ", ".join(names)
    return f"{', '.join(names[:5])} and {len(names) - 5} more"


def _call(text: str) -> str:
    return text if len(text) <= 800 else "(long: --report and --json keep it)"


def _show(rows: dict[str, str]) -> None:
    lines = Table(box=None, show_header=False)
    lines.add_column(style="dim", no_wrap=True)
    lines.add_column()
    for name, text in rows.items():
        if text:
            lines.add_row(name, text, style="bold" if name == "loss" else "")
    stdout().print(lines)


def show_parts(result: Any) -> None:
    """Print what was done to files on several workers, a `DistributedResult`."""
    each = f"{result.smallest} to {result.largest}"
    written = result.protected
    rows = {
        "method": named(result.method, result.options),
        "records": _records(result.records, result),
        "left out": left_out(result.dropped, result.suppressed),
        "groups": f"{result.groups:,} groups of {each} records",
        "loss": f"{result.loss:.4f} %",
        "blocks": str(result.blocks)
        + (f"; {result.repaired:,} records refined where blocks touch" if result.repaired else ""),
        "time": f"{result.seconds:.2f} s",
        "protected": _few(result.names),
        "checked": "in the files, every record shares its protected values with at least "
        f"{result.alike - 1} others",
        "written": f"{len(written)} files in {written[0].parent}",
    }
    _show(rows)


def _records(count: int, result: Any) -> str:
    variables = len(result.names)
    return f"{count:,} records, {variables} variable{'s' * (variables > 1)}, k = {result.k}"


def certified(bound: Bound | None) -> str:
    """What a lower bound says, in a sentence."""
    if bound is None:
        return ""
    least = floor(bound.loss * 1e4) / 1e4
    return f"no grouping loses less than {least:.4f} %, which is {bound.gap:.1f} % below this loss"


def _counted(result: Result, strata: Sequence[str], least: int) -> str:
    if result.labels.ndim > 1:
        return f"every value appears at least {least} times; records as a whole are not k-anonymous"
    text = f"every record shares its protected values with at least {least - 1} others"
    if strata:
        text += f" in its {' x '.join(strata)}"
    return text + ("; k does NOT hold once the strata columns are known" if result.merged else "")


def show_comparison(rows: Comparison) -> None:
    """Print a comparison, the best of each k in bold."""
    names = ("k", "method", "loss %", "risk %", "groups", "largest", "seconds")
    table = Table(*names, box=box.SIMPLE)
    for column in table.columns:
        column.justify = "left" if column.header == "method" else "right"
    before = None
    for row in rows:
        if before not in (None, row["k"]):
            table.add_section()
        table.add_row(
            str(row["k"]), row["method"], f"{row['loss']:.3f}", f"{row['risk']:.2f}",
            str(row["groups"]), str(row["largest"]), f"{row['seconds']:.2f}",
            style="bold green" if before != row["k"] else "",
        )  # fmt: skip
        before = row["k"]
    stdout().print(table)
    stdout().print(
        "loss: 100 SSE / SST; risk: share of records that an intruder with all the original data "
        "would identify"
    )


def show_groups(groups: pa.Table, names: Sequence[str], k: int) -> bool:
    """Print whether a file is k-anonymous and its smallest groups; return whether it is.

    Parameters
    ----------
    groups : pa.Table
        As `group_sizes` returns it: distinct values, smallest count first, in the last column.
    names : sequence of str
        The columns that were looked at.
    """
    counts = groups.column(groups.num_columns - 1).to_numpy()
    few = counts < k
    listed = ", ".join(names)
    if few.any():
        verdict = (
            f"FAIL: {counts[few].sum():,} of {counts.sum():,} records share {listed} with fewer "
            f"than {k - 1} others, in {few.sum():,} of {len(counts):,} groups."
        )
    else:
        verdict = (
            f"PASS: every one of the {counts.sum():,} records shares {listed} with at least "
            f"{counts.min() - 1} others ({len(counts):,} groups)."
        )
    table = Table(box=box.SIMPLE)
    table.add_column("records", justify="right")
    table.add_column("that share")
    for row in groups.slice(0, 10).to_pylist():
        *values, count = row.values()
        shared = ("" if value is None else str(value) for value in values)
        table.add_row(str(count), ", ".join(map("=".join, zip(names, shared, strict=True))))
    stdout().print(f"{verdict} The smallest groups:")
    stdout().print(table)
    return not few.any()
