"""The results in Markdown."""

from typing import Any

from ..common import table
from .worker import PARTS, module_of

TEXTS = {
    "calls": "Each case draws data (random, duplicated, constant, collinear, clustered, integers "
    "of every width up to their limits, tiny and huge scales, far from zero, missing values), a "
    "container (NumPy, lists, PyTorch, array-api-strict, pandas with NumPy, nullable and Arrow "
    "types, polars, PyArrow), one of all methods with options, strata, sampling weights, "
    "categories and the other settings. Code that shares nothing with the library then checks: "
    "every group has k records, stays in its stratum and pattern of missing values, and exactly "
    "the right records are left out; each published value is the mean, weighted mean, median, "
    "trimmed mean or mode of its group, recomputed with exact fractions; totals are kept; the "
    "loss is recomputed; what is not protected, types, order and index survive; k records are "
    "equal in what is published, and the verdict counts them right over all columns; no column "
    "holds unused categories; the input is untouched. Each "
    "case calls the library twice, so 100,000 cases are 200,000 calls: the second gives the same, "
    "in up to a fifth of the cases by the generic engine. *Refused* are calls that end in an "
    "`InputError`; independent rules decide whether that was due.",
    "kill": "The real command is ended with SIGKILL at a random moment, on small and on "
    "200,000-row CSV and Parquet files, with and without reports and `--force`. Afterwards the "
    "output is absent, the old file byte for byte, or the whole new file byte for byte; after the "
    "next undisturbed run in the same folder (made where something is left) no other file is left.",
    "interrupt": "The same with Ctrl-C (SIGINT). The exit code is 130, or 0 if the command had "
    "finished; a message that nothing was written is true; there is no traceback. While Python "
    "starts, or once all is written, the signal itself may end the process.",
    "terminate": "The same with SIGTERM (exit code 143) and in every fourth case SIGHUP (129).",
    "command": "The real command runs beside two busy loops on Parquet, Arrow file, Arrow stream, "
    "CSV, CSV.gz and CSV.zst, with requests that are right and requests that are wrong. The exit "
    "code is exactly 0 or 2, the errors are exactly one line, and nothing is left over.",
    "hostile": "Truncated, altered and wrongly named files, huge cells, NUL bytes, byte order "
    "marks, mixed line ends, thousands of columns, odd names of columns and files, links in "
    "circles, directories, pipes, full devices. The command ends with 0, 1 or 2 and at most one "
    "line of errors, never with a traceback, an abort or without end; nothing is left over. Every "
    "tenth case is the real command, the others run in one process.",
    "dask": "Jobs on Parquet files by a Dask cluster of two processes. During each job one to six "
    "workers that are ready are killed at random moments; workers that are still starting are "
    "spared, and a cluster that lost workers for good is replaced before the next job. Each job "
    "ends with the same files as on an undisturbed cluster, or with one sentence and nothing "
    "written; nothing is left over.",
    "suite": "All tests, as the README's test command runs them; every fourth time beside two busy "
    "loops. *Wrong* is a run in which any test fails.",
}


def report(results: dict[str, Any]) -> str:
    """All commits, the last one first."""
    lines = [
        "# Reliability",
        "",
        "How often something goes wrong: `python -m benchmarks.reliability` runs these cases "
        "again (`--only I` one of them), goes on where it was stopped, and writes this file.",
        "",
    ]
    for commit, found in reversed(results["commits"].items()):
        lines += [f"## Commit {commit}", "", f"Machine: {found['machine']}.", ""]
        lines += _table(found["parts"])
    lines += ["## What is checked", ""]
    for part, text in TEXTS.items():
        lines += [f"**{part}**: {text}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(parts: dict[str, Any]) -> list[str]:
    head = ["part", "asked for", "done", "refused as due", "wrong", "minutes", "load"]
    cells = []
    for part in PARTS:
        if part in parts:
            row = parts[part]
            cells.append([
                part, _asked(part), f"{row['done']:,}", f"{row['refused']:,}", f"{row['wrong']:,}",
                f"{row['seconds'] / 60:.1f}", f"{row['load']:.1f}",
            ])  # fmt: skip
    lines = [*table(head, cells, numbers=True), "", "Wrong cases:", ""]
    wrong = [
        f"- {part} {case['case']}: {case['what']}"
        for part, row in parts.items() for case in row["wrong_cases"]
    ]  # fmt: skip
    return [*lines, *(wrong or ["none"]), ""]


def _asked(part: str) -> str:
    module = module_of(part)
    if hasattr(module, "MINUTES"):
        return f"{module.MINUTES:g} minutes"
    return f"{getattr(module, 'ASKED_OF', {}).get(part) or module.ASKED:,}"
