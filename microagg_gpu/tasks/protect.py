"""A data file in; a protected file out, with a report, a note and what else was asked for."""

import signal
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import floor
from pathlib import Path
from typing import Any, NamedTuple

from .. import stopping
from ..api import microaggregate
from ..errors import InputError
from ..files.atomic import Outputs
from ..files.data_file import DataFile, read_file, write_file
from ..files.formats import check_ending
from ..files.identifiers import identifying_columns
from ..files.verdict import NotAnonymous, Verdict
from ..files.verifying import verify
from ..pipeline.comparison import risk_map
from ..pipeline.provenance import FilesUsed
from ..pipeline.result import Bound, Result
from ..plots import check_plot
from ..progress import Bar, Phases
from ..settings import FORMAT, Format, Roles, Settings
from .columns import decimals_of, find_roles, published, rounding
from .writing import check_targets, readable, write_report


@dataclass(frozen=True)
class Job:
    """What is to be done to a file; as in the command ``microagg protect``."""

    source: Path
    output: Path
    roles: Roles
    settings: Settings
    drop: list[str]
    form: Format = FORMAT
    report: Path | None = None
    json_file: Path | None = None
    note: Path | None = None
    plot: Path | None = None
    bound: bool = False
    report_strata: bool = False
    group_column: str | None = None
    keep_metadata: bool = False
    strict: bool = False
    force: bool = False
    report_more: bool = False
    known: list[str] = field(default_factory=list)
    bound_seconds: float | None = None


class Outcome(NamedTuple):
    """What was done to a file.

    Attributes
    ----------
    result : Result
    others : list of str
        Columns that are published unchanged.
    identifying : dict
        What identifies people in some of them.
    written : list of Path
    bound : Bound, optional
    content : dict, optional
        The content of the report, if any was asked for.
    """

    result: Result
    others: list[str]
    identifying: dict[str, str]
    written: list[Path]
    bound: Bound | None
    content: dict[str, Any] | None = None


class NothingWritten(NotAnonymous):
    """k does not hold over all columns, as a strict job demands."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome.result.verdict))
        self.outcome = outcome


def protect_file(job: Job, phase: Phases) -> Outcome:
    """Protect a file. All files that are written appear together at the end, or none."""
    source, output = job.source, job.output
    targets = check_targets(
        [source], [output, job.report, job.json_file, job.plot, job.note], job.force
    )
    check_ending(output)
    if (job.known or job.report_more) and job.report is None and job.json_file is None:
        what = "--known" if job.known else "--report-more"
        raise InputError(f"{what} is for the report: give --report or --json as well")
    if job.plot is not None:
        check_plot(job.plot, job.settings.method)
    if job.group_column is not None and job.settings.method == "individual":
        raise InputError("individual ranking has no groups of whole records to number")
    if job.settings.blocks is not None:
        for name in ("group_column", "plot", "bound", "bound_seconds"):
            if getattr(job, name):
                raise InputError(
                    "blocks of columns have no groups of whole records: leave out "
                    f"--{name.replace('_', '-')}"
                )
    with phase(f"reading {source.name}"):
        file, table, roles, settings = read_job(job)
    dropped, known = file.resolve(job.drop), file.resolve(job.known)
    absent = [name for name in known if name in dropped]
    if absent:
        raise InputError(f"column {absent[0]!r} of --known is not published: leave it out")
    result = _protected(table, roles, settings, phase)
    if result.refined is not None and result.refined.stopped is not None:
        phase.say("refinement was stopped: it goes on with the best groups so far")
    least_loss = None
    if job.bound or job.bound_seconds is not None:
        with phase("computing the lower bound") as progress:
            try:
                least_loss = result.bound(progress, seconds=job.bound_seconds)
            except KeyboardInterrupt:
                if stopping.stopped not in (0, signal.SIGINT):
                    raise
                phase.say("the lower bound was stopped: the file is written without it")
    strata = roles["by"] or []
    new = published(file, result, dropped, job.group_column, strata, job.keep_metadata)
    others = [name for name in file.table.column_names if name not in {*result.replaced, *dropped}]
    unexpected = [name for name in others if name not in {*strata, result.sensitive}]
    identifying = identifying_columns(file.table, unexpected)
    with Outputs(job.force) as files:
        verdict = _write(files, new, output, result, dropped, phase)
        used = _files_used(job, dropped, least_loss, verdict)
        result = replace(result, provenance=replace(result.provenance, files=used))
        broken = result.dominance is not None and result.dominance.after.broken > 0
        # t holds in all groups, or there is no result.
        if job.strict and (verdict.word != "PASS" or broken):
            raise NothingWritten(Outcome(result, others, identifying, [], least_loss))
        if job.plot is not None:
            with phase(f"drawing {job.plot.name}"):
                result.plot(files.add(job.plot))
        content = None
        if any(path is not None for path in (job.report, job.json_file, job.note)):
            alternatives = []
            if job.report is not None or job.json_file is not None:
                with phase("trying other methods") as progress:
                    alternatives = risk_map(table, result.provenance.roles, settings, progress)
            with phase("measuring utility and risk") as progress:
                content = result.report(
                    alternatives=alternatives, by_stratum=job.report_strata,
                    more=job.report_more, known=known or None, progress=progress,
                )  # fmt: skip
            with phase("writing the report"):
                write_report(files, content, job.report, job.json_file, job.note)
    return Outcome(result, others, identifying, targets, least_loss, content)


def read_job(job: Job) -> tuple[DataFile, Any, dict[str, Any], Settings]:
    """Read the file of a job: as it is, as a table, its roles, and the settings with decimals."""
    form, settings = job.form, job.settings
    file = read_file(
        job.source, delimiter=form.delimiter, encoding=form.encoding, decimal=form.decimal
    )
    given = job.roles
    if settings.blocks is not None:
        blocks = [file.resolve(block) for block in settings.blocks]
        settings = replace(settings, blocks=blocks)
        if given.columns is None:
            given = replace(given, columns=[name for block in blocks for name in block])
    table, roles = find_roles(file, given, file.resolve(job.drop), settings.missing)
    if form.published_decimals == FORMAT.published_decimals:
        found = decimals_of(file, table, roles)
        settings = replace(settings, **rounding(form.published_decimals, True, found))
    return file, table, roles, settings


def _protected(table: Any, roles: dict[str, Any], settings: Settings, phase: Phases) -> Result:
    """Run the method, with a bar for it and one for its refinement."""
    given = {name: value for name, value in vars(settings).items() if name != "options"}
    grouping, refining = ExitStack(), ExitStack()
    with grouping, refining:
        progress = grouping.enter_context(phase(f"{settings.method}, k={settings.k}"))
        bar: list[Bar | None] = []

        def watch(fraction: float, loss: float) -> None:
            if not bar:
                grouping.close()
                # Refinement is about plain means.
                what = "refining" + ", before weighting" * (roles["sampling_weight"] is not None)
                bar.append(refining.enter_context(phase(what)))
            if bar[0] is not None:
                bar[0](fraction, loss)

        refined = settings.refine is not None or settings.refine_steps is not None
        return microaggregate(
            table, progress=progress, watch=watch if refined else None, **roles, **given,
            **settings.options,
        )  # fmt: skip


def _write(
    files: Outputs, new: DataFile, output: Path, result: Result, dropped: list[str], phase: Phases
) -> Verdict:
    """Write the protected file and count k in it."""
    with phase(f"writing {output.name}"):
        temporary = files.add(output)
        write_file(new, temporary, output)
    with phase(f"counting k in {output.name}"):
        views = result.views(dropped)
        return verify(
            temporary, output, new, views, result.k, result.sensitive, result.units, result.unit
        )


def _files_used(job: Job, dropped: list[str], bound: Bound | None, verdict: Verdict) -> FilesUsed:
    form = job.form
    return FilesUsed(
        _name(job.source), _name(job.output), _name(job.report), _name(job.json_file),
        _name(job.plot), dropped, job.group_column, certified(bound), form.delimiter,
        form.encoding, form.decimal, job.keep_metadata, form.published_decimals, job.strict,
        verdict, _name(job.note), job.report_strata, job.report_more, job.known,
        job.bound_seconds, job.roles.columns is None and job.settings.blocks is None,
    )  # fmt: skip


def _name(path: Path | None) -> str:
    return "" if path is None else readable(str(path))


def certified(bound: Bound | None) -> str:
    """What a lower bound says, in a sentence."""
    if bound is None:
        return ""
    if bound.optimal:
        return f"certified optimal: no grouping loses less than {bound.loss:.4f} %"
    least = floor(bound.loss * 1e4) / 1e4
    return f"no grouping loses less than {least:.4f} %, which is {bound.gap:.1f} % below this loss"
