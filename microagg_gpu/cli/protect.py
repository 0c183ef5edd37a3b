"""``microagg protect``: a protected file, and what the protection cost."""

from typing import Any

import typer

from .. import InputError
from ..checks import number
from ..pipeline.grouping import check_method
from ..settings import CLUSTER, DEFAULT, FORMAT, ClusterSettings, Format, Settings, changed
from ..tasks.columns import rounding
from ..tasks.protect import Job, NothingWritten, protect_file
from . import options
from .console import clear_errors
from .dask import one_file, protect_parts, refuse_given
from .output import show_result
from .parsing import (
    blocks_of,
    dominance,
    least_size,
    method_options,
    roles_of,
    split,
    variable_weights,
)
from .progress import phases

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
        "Search for two minutes for the lowest loss, and compute a lower bound on it:",
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
    output: options.Output,
    method: options.Method = DEFAULT.method,
    columns: options.Columns = None,
    blocks: options.Blocks = None,
    by: options.By = None,
    unit: options.Unit = None,
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
    trim: options.Trim = DEFAULT.trim,
    option: options.MethodOption = None,
    scale: options.Scale = DEFAULT.scale,
    no_standardize: options.NoStandardize = not DEFAULT.standardize,
    seed: options.Seed = DEFAULT.seed,
    refine: options.Refine = DEFAULT.refine,
    refine_steps: options.RefineSteps = DEFAULT.refine_steps,
    shuffle: options.Shuffle = DEFAULT.shuffle,
    bound: options.Bound = False,
    bound_seconds: options.BoundSeconds = None,
    rule: options.Dominance = None,
    p_percent: options.PPercent = DEFAULT.p_percent,
    unrepaired: options.Unrepaired = DEFAULT.unrepaired,
    sensitive: options.Sensitive = None,
    t: options.T = DEFAULT.t,
    t_method: options.TMethod = DEFAULT.t_method,
    strict: options.Strict = False,
    group_column: options.GroupColumn = None,
    report: options.Report = None,
    report_strata: options.ReportStrata = False,
    report_more: options.ReportMore = False,
    known: options.Known = None,
    json_file: options.Json = None,
    note: options.Note = None,
    plot: options.Plot = None,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
    decimal: options.Decimal = FORMAT.decimal,
    device: options.Device = DEFAULT.device or "auto",
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    block: options.Block = CLUSTER.block,
    repair: options.Repair = CLUSTER.repair,
    keep_metadata: options.KeepMetadata = False,
    force: options.Force = False,
) -> None:
    """Replace each record by the mean of a group of at least k similar records.

    The file keeps its header, its delimiter, every column that is not protected and, without
    --shuffle, the order of its records. It appears only when it is complete and k was counted
    in it.
    """
    with clear_errors(), phases() as phase:
        check_method(method)
        choices: dict[str, Any] = {
            "missing": missing, "small_strata": small_strata, "aggregate": aggregate,
            "unrepaired": unrepaired,
            "scale": scale,
            "t_method": t_method,
        }  # fmt: skip
        settings = Settings(
            least_size(k), method, method_options(method, option or []), not no_standardize,
            variable_weights(weights, column_weights), device, seed=seed,
            average_weight=average_weight, refine=refine, refine_steps=refine_steps,
            dominance=dominance(rule), p_percent=p_percent, t=t,
            shuffle=shuffle, trim=trim, blocks=blocks_of(blocks), **choices,
            **rounding(published_decimals, keep_integers, {}),
        )  # fmt: skip
        cluster = ClusterSettings(block, repair)
        if group_column is not None and not group_column.strip():
            raise InputError("--group-column is empty: give the column a name, or leave it out")
        if workers is not None or scheduler is not None:
            refuse_given(
                {
                    "--ordinal": ordinal, "--nominal": nominal, "--refine": refine,
                    "--refine-steps": refine_steps, "--bound": bound,
                    "--bound-seconds": bound_seconds, "--report": report,
                    "--json": json_file, "--plot": plot, "--delimiter": delimiter,
                    "--encoding": encoding, "--report-strata": report_strata or None,
                    "--note": note, "--shuffle": shuffle, "--blocks": blocks,
                    "--unit": unit,
                    "--dominance": rule, "--p-percent": p_percent,
                    **{f"--{n}": n in changed(settings) for n in ("scale", "trim")},
                    "--report-more": report_more or None, "--known": known,
                    "--sensitive": sensitive, "--t": t,
                }
            )  # fmt: skip
            given = {"decimals": "input"} if published_decimals == "input" else {}
            protect_parts(
                sources, output, workers, scheduler, phase, settings, cluster,
                columns=split(columns) or None, by=split(by), sampling_weight=weight,
                drop=split(drop), group_column=group_column, force=force,
                keep_metadata=keep_metadata, strict=strict, **given,
            )  # fmt: skip
            return
        form = Format(delimiter, encoding, decimal, published_decimals)
        if bound_seconds is not None:
            bound_seconds = number("bound_seconds", bound_seconds, 0, above=True)
        job = Job(
            one_file(sources), output,
            roles_of(columns, by, weight, ordinal, nominal, sensitive, unit), settings,
            split(drop), form, report, json_file, note, plot, bound, report_strata, group_column,
            keep_metadata, strict, force, report_more, split(known), bound_seconds,
        )  # fmt: skip
        try:
            outcome = protect_file(job, phase)
        except NothingWritten as refusal:
            phase.close()
            show_result(refusal.outcome)
            raise typer.Exit(1) from None
        phase.close()
        show_result(outcome)
