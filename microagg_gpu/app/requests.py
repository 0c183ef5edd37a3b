"""What the worker can be asked. Each request has the whole plan: a new worker needs no memory."""

import os
from pathlib import Path
from typing import Any

from ..files.data_file import DataFile, read_file
from ..pipeline.provenance import Provenance
from ..progress import Phases
from ..tasks.protect import protect_file
from . import columns, preview
from .plan import Plan, output_name


class _Memory:
    """The last file and the last columns that were read."""

    file: tuple[Any, DataFile] | None = None
    prepared: tuple[Any, preview.Prepared] | None = None


def answer(request: dict[str, Any], phase: Phases) -> Any:
    """Do what a request asks for."""
    plan = Plan.from_json(request["plan"])
    return _KNOWN[request["do"]](request, plan, phase)


def _file(plan: Plan, phase: Phases) -> DataFile:
    path = Path(plan.source)
    key = (plan.source, plan.form, os.stat(path).st_mtime_ns if path.exists() else 0)
    if _Memory.file is None or _Memory.file[0] != key:
        _Memory.file = _Memory.prepared = None
        with phase(f"reading {path.name}"):
            os.chdir(path.parent)  # so that messages name the file as its user does
            form = plan.form
            file = read_file(
                Path(path.name), delimiter=form.delimiter, encoding=form.encoding,
                decimal=form.decimal,
            )  # fmt: skip
        _Memory.file = key, file
    return _Memory.file[1]


def _prepared(plan: Plan, phase: Phases) -> preview.Prepared:
    file = _file(plan, phase)
    key = (id(file), plan.roles, plan.orders, plan.choices.missing)
    if _Memory.prepared is None or _Memory.prepared[0] != key:
        _Memory.prepared = None
        with phase("reading the columns"):
            _Memory.prepared = key, preview.Prepared(file, plan)
    return _Memory.prepared[1]


def _open(request: dict[str, Any], plan: Plan, phase: Phases) -> Any:
    file = _file(plan, phase)
    with phase("looking at the columns"):
        return columns.describe(file)


def _check(request: dict[str, Any], plan: Plan, phase: Phases) -> Any:
    return columns.check(_file(plan, phase), plan)


def _limits(request: dict[str, Any], plan: Plan, phase: Phases) -> Any:
    return _prepared(plan, phase).limits(plan)


def _try(request: dict[str, Any], plan: Plan, phase: Phases) -> Any:
    return preview.figures(_prepared(plan, phase), plan, phase, request["full"])


def _bound(request: dict[str, Any], plan: Plan, phase: Phases) -> Any:
    return preview.bound(_prepared(plan, phase), plan, phase)


def _protect(request: dict[str, Any], plan: Plan, phase: Phases) -> Any:
    """Run the job in a folder of its own, where the names of the command are true."""
    folder, source = Path(request["folder"]), Path(plan.source)
    os.chdir(folder)
    _Memory.file = _Memory.prepared = None  # the job reads for itself
    name = source.name if not source.name.startswith("-") else f"./{source.name}"
    if not Path(name).exists():
        Path(name).symlink_to(source)
    job = Plan(**{**vars(plan), "source": name}).job(output_name(source.name, plan.choices.k))
    outcome = protect_file(job, phase)
    provenance: Provenance = outcome.result.provenance
    content = outcome.content or {}
    return {
        "files": {
            "data": str(job.output), "report": str(job.report), "note": str(job.note),
        },
        "verdict": content["verdict"], "summary": content["summary"], "loss": content["loss"],
        "groups": content["groups"], "smallest": content["smallest"],
        "largest": content["largest"], "records": content["records"],
        "variables": content["by_variable"], "rounding": content["rounding"],
        "correlations": content["largest_correlation_changes"][:1],
        "discrepancy": content["correlation_discrepancies"]["mean"],
        "identifying": outcome.identifying, "others": outcome.others,
        "left_out": content["provenance"].get("Left out", ""),
        "merged": outcome.result.merged,
        "command": provenance.command(), "script": provenance.script(),
    }  # fmt: skip


_KNOWN = {
    "open": _open, "check": _check, "limits": _limits, "try": _try, "bound": _bound,
    "protect": _protect,
}  # fmt: skip
