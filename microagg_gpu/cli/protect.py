"""``microagg protect``: a protected file, and what the protection cost."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import InputError, microaggregate
from ..files.atomic import Outputs
from ..files.data_file import DataFile, read_file, verify, write_file
from ..files.formats import check_ending
from ..files.identifiers import telling_columns
from ..files.verdict import Verdict
from ..pipeline.comparison import risk_map
from ..pipeline.grouping import check_method
from ..pipeline.provenance import FilesUsed
from ..pipeline.result import Result
from ..plots import check_plot
from ..settings import CLUSTER, DEFAULT, FORMAT, ClusterSettings, Settings
from . import options
from .columns import decimals_of, find_roles, published
from .console import clear_errors
from .dask import one_file, protect_parts, refuse_given
from .output import certified, show_result
from .parsing import method_options, rounding, split, variable_weights
from .progress import Phases, phases
from .writing import check_targets, readable, write_report

EXAMPLES = (
    (
        "Protect two columns; the others are copied as they are:",
        "microagg protect companies.csv -k 5 --columns turnover,staff -o protected.csv",
    ),
    (
        "Group within strata, publish weighted means and mean weights, leave out the "
        "identifier, report:",
        "microagg protect companies.parquet -k 5 --columns turnover,staff --by region,size "
        "--weight w --average-weight --drop id -o protected.parquet --report report.html",
    ),
    (
        "Protect numbers and categories together:",
        "microagg protect people.csv -k 3 --columns income --ordinal "
        "'education=none<school<university' --nominal branch --missing pattern -o "
        "protected.csv",
    ),
    (
        "Search for two minutes for the least loss, and compute a lower bound on it:",
        "microagg protect companies.csv -k 5 --columns turnover,staff --method best --option "
        "seconds=120 --bound -o protected.csv",
    ),
    (
        "Use another method with an option, refine its groups for 30 seconds, draw them:",
        "microagg protect companies.csv -k 3 --columns turnover,staff --method vmdav --option"
        " gamma=0.5 --refine 30 -o protected.csv --plot groups.png",
    ),
    (
        "Protect the records of many files together, on four processes (`--scheduler "
        "tcp://...`: on many machines):",
        "microagg protect survey/*.parquet -k 5 --columns turnover,staff -o protected/ --workers 4",
    ),
)


def protect(
    sources: options.Sources,
    k: options.K,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The protected file to write; with workers a directory."
        ),
    ],
    method: options.Method = DEFAULT.method,
    columns: options.Columns = None,
    by: options.By = None,
    weight: options.Weight = None,
    drop: options.Drop = None,
    ordinal: options.Ordinal = None,
    nominal: options.Nominal = None,
    weights: options.VariableWeights = None,
    column_weights: options.ColumnWeights = None,
    average_weight: options.AverageWeight = DEFAULT.average_weight,
    published_decimals: options.PublishedDecimals = FORMAT.published_decimals,
    keep_integers: options.KeepIntegers = DEFAULT.keep_integers,
    missing: options.Missing = DEFAULT.missing,
    small_strata: options.SmallStrata = DEFAULT.small_strata,
    aggregate: options.Aggregate = DEFAULT.aggregate,
    option: options.MethodOption = None,
    no_standardize: options.NoStandardize = not DEFAULT.standardize,
    device: options.Device = DEFAULT.device or "auto",
    seed: options.Seed = DEFAULT.seed,
    refine: options.Refine = DEFAULT.refine,
    refine_steps: options.RefineSteps = DEFAULT.refine_steps,
    bound: options.Bound = False,
    group_column: options.GroupColumn = None,
    report: options.Report = None,
    report_strata: options.ReportStrata = False,
    json_file: options.Json = None,
    note: options.Note = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw the groups. The picture shows the original records: do not publish it.",
            rich_help_panel="Files",
        ),
    ] = None,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
    decimal: options.Decimal = FORMAT.decimal,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    block: options.Block = CLUSTER.block,
    repair: options.Repair = CLUSTER.repair,
    keep_metadata: options.KeepMetadata = False,
    strict: options.Strict = False,
    force: options.Force = False,
) -> None:
    """Replace each record by the mean of a group of at least k similar records.

    The file keeps its header, its delimiter, the order of its records and every column that is
    not protected. It is written whole, after k was counted in it, or not at all.
    """
    with clear_errors(), phases() as phase:
        check_method(method)
        choices: dict[str, Any] = {
            "missing": missing, "small_strata": small_strata, "aggregate": aggregate,
        }  # fmt: skip
        settings = Settings(
            k, method, method_options(method, option or []), not no_standardize,
            variable_weights(weights, column_weights), device, seed=seed,
            average_weight=average_weight, refine=refine, refine_steps=refine_steps, **choices,
            **rounding(published_decimals, keep_integers, {}),
        )  # fmt: skip
        cluster = ClusterSettings(block, repair)
        if group_column is not None and not group_column.strip():
            raise InputError("--group-column is empty: give the column a name, or leave it out")
        if workers is not None or scheduler is not None:
            refuse_given(
                {
                    "--ordinal": ordinal, "--nominal": nominal, "--refine": refine,
                    "--refine-steps": refine_steps, "--bound": bound, "--report": report,
                    "--json": json_file, "--plot": plot, "--delimiter": delimiter,
                    "--encoding": encoding, "--average-weight": average_weight or None,
                    "--strict": strict or None, "--report-strata": report_strata or None,
                    "--note": note,
                }
            )  # fmt: skip
            if published_decimals == FORMAT.published_decimals:  # not known before all is read
                settings = replace(settings, keep_integers=keep_integers)
            protect_parts(
                sources, output, workers, scheduler, phase, settings, cluster,
                columns=split(columns) or None, by=split(by), sampling_weight=weight,
                drop=split(drop), group_column=group_column, force=force,
                keep_metadata=keep_metadata,
            )  # fmt: skip
            return
        source = one_file(sources)
        targets = check_targets([source], [output, report, json_file, plot, note], force)
        check_ending(output)
        if plot is not None:
            check_plot(plot, method)
        if group_column is not None and method == "individual":
            raise InputError("individual ranking has no groups of whole records to number")
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
            dropped = file.resolve(split(drop))
            table, roles = find_roles(file, columns, by, weight, ordinal, nominal, dropped, missing)
            if published_decimals == FORMAT.published_decimals:
                found = decimals_of(file, table, roles)
                settings = replace(settings, **rounding(published_decimals, keep_integers, found))
        result = _protected(table, roles, settings, phase)
        if result.refined is not None and result.refined.stopped is not None:
            phase.say("refinement was stopped: it goes on with the best groups so far")
        least_loss = None
        if bound:
            with phase("computing the lower bound") as progress:
                least_loss = result.bound(progress)
        new = published(file, result, dropped, group_column, roles["by"] or [], keep_metadata)
        others = [
            name for name in file.table.column_names if name not in {*result.replaced, *dropped}
        ]
        telling = telling_columns(file.table, [c for c in others if c not in (roles["by"] or [])])
        with Outputs(force) as files:
            verdict = _write(files, new, output, result.views(dropped), k, phase)
            used = FilesUsed(
                _name(source), _name(output), _name(report), _name(json_file), _name(plot), dropped,
                group_column, certified(least_loss), delimiter, encoding, decimal, keep_metadata,
                published_decimals, strict, verdict, _name(note), report_strata,
            )  # fmt: skip
            result = replace(result, provenance=replace(result.provenance, files=used))
            if strict and verdict.word != "PASS":
                phase.close()
                show_result(result, others, telling, [], least_loss)
                raise typer.Exit(1)
            if plot is not None:
                with phase(f"drawing {plot.name}"):
                    result.plot(files.add(plot))
            if any(path is not None for path in (report, json_file, note)):
                alternatives = []
                if report is not None or json_file is not None:
                    with phase("trying other methods") as progress:
                        alternatives = risk_map(table, result.provenance.roles, settings, progress)
                with phase("measuring utility and risk") as progress:
                    content = result.report(
                        alternatives=alternatives, by_stratum=report_strata, progress=progress
                    )
                write_report(files, content, report, json_file, note)
        phase.close()
        show_result(result, others, telling, targets, least_loss)


def _protected(table: Any, roles: dict[str, Any], settings: Settings, phase: Phases) -> Result:
    """Run the method, with a bar for it and one for its refinement."""
    given = {name: value for name, value in vars(settings).items() if name != "options"}
    with ExitStack() as bars:
        progress = bars.enter_context(phase(f"{settings.method}, k={settings.k}"))
        watch = None
        if settings.refine is not None or settings.refine_steps is not None:
            watch = bars.enter_context(phase("refining"))
        return microaggregate(
            table, progress=progress, watch=watch, **roles, **given, **settings.options
        )


def _write(
    files: Outputs, new: DataFile, output: Path, views: list[list[str]], k: int, phase: Phases
) -> Verdict:
    """Write the protected file and count k in it."""
    with phase(f"writing {output.name}"):
        temporary = files.add(output)
        write_file(new, temporary, output)
    with phase(f"counting k in {output.name}"):
        return verify(temporary, output, new, views, k)


def _name(path: Path | None) -> str:
    return "" if path is None else readable(str(path))
