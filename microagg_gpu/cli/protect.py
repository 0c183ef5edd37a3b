"""``microagg protect``: a protected file, and what the protection cost."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import InputError, microaggregate
from ..api import risk_map
from ..checks import whole_number
from ..files.atomic import Outputs
from ..files.data_file import read_file, verify, write_file
from ..files.formats import check_ending
from ..plots import check_plot
from .columns import find_roles, published, views
from .console import clear_errors
from .dask import one_file, protect_parts, refuse_given
from .options import (
    Aggregate,
    AsTheyAre,
    Block,
    Bound,
    By,
    Columns,
    ColumnWeights,
    Decimal,
    Delimiter,
    Device,
    Drop,
    Encoding,
    Force,
    Json,
    K,
    KeepIntegers,
    KeepMetadata,
    Missing,
    Nominal,
    Ordinal,
    Page,
    Refine,
    RefineSteps,
    Repair,
    Scheduler,
    Seed,
    SmallStrata,
    Sources,
    Weight,
    Workers,
)
from .output import (
    certified,
    show_result,
)
from .parsing import column_weights, method_options, split
from .progress import phases
from .writing import check_targets, readable, write_report

EXAMPLES = """Examples:

    `microagg protect companies.csv -k 5 --columns turnover,staff -o protected.csv`
    protects two columns; the others, such as identifiers, are copied as they are.

    `microagg protect companies.parquet -k 5 --columns turnover,staff --by region,size --weight w
    --drop id --keep-integers -o out.parquet --report report.html` groups within strata, publishes
    weighted means, leaves out the identifier and reports.

    `microagg protect people.csv -k 3 --columns income --ordinal 'education=none<school<university'
    --nominal branch --missing pattern -o out.csv` protects numbers and categories together.

    `microagg protect companies.csv -k 5 --method best --option seconds=120 --bound -o out.csv`
    looks for the least loss for two minutes and tells how far from the best there is it can be;
    `--refine 30` does so from the groups of any method.

    `microagg protect companies.csv -k 3 --method vmdav --option gamma=0.5 -o out.csv
    --plot groups.png` takes another method, with an option, and draws the groups.

    `microagg protect survey/*.parquet -k 5 --columns turnover,staff -o protected/ --workers 4`
    protects the records of many files together; with `--scheduler tcp://...` on many machines."""


def protect(
    sources: Sources,
    k: K,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The protected file to write; with workers a directory."
        ),
    ],
    method: Annotated[str, typer.Option(help="See `microagg methods` for the names.")] = "mdav",
    columns: Columns = None,
    by: By = None,
    weight: Weight = None,
    drop: Drop = None,
    ordinal: Ordinal = None,
    nominal: Nominal = None,
    column_weight: ColumnWeights = None,
    keep_integers: KeepIntegers = False,
    missing: Missing = "error",
    small_strata: SmallStrata = "error",
    aggregate: Aggregate = "mean",
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the method; may be repeated."),
    ] = None,
    no_standardize: AsTheyAre = False,
    device: Device = "auto",
    seed: Seed = 0,
    refine: Refine = None,
    refine_steps: RefineSteps = None,
    bound: Bound = False,
    group_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Add a column with the number of each record's group."),
    ] = None,
    report: Page = None,
    json_file: Json = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png",
            help="Draw the groups. The picture shows the original records: do not publish it.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    workers: Workers = None,
    scheduler: Scheduler = None,
    block: Block = 100_000,
    repair: Repair = 10,
    keep_metadata: KeepMetadata = False,
    force: Force = False,
) -> None:
    """Replace each record by the mean of a group of at least k that are alike.

    The file keeps its header, its delimiter, the order of its records and every column that is
    not protected. It is written whole, after k was counted in it, or not at all.
    """
    with clear_errors(), phases() as phase:
        options = method_options(method, option or [])
        settings: dict[str, Any] = {
            "standardize": not no_standardize, "weights": column_weights(column_weight),
            "device": device, "seed": seed, "missing": missing, "small_strata": small_strata,
            "aggregate": aggregate, "keep_integers": keep_integers,
        }  # fmt: skip
        whole_number("block", block, 1)
        whole_number("repair", repair, 0)
        if group_column is not None and not group_column.strip():
            raise InputError("--group-column is empty: give the column a name, or leave it out")
        if workers is not None or scheduler is not None:
            alone = {
                "--ordinal": ordinal, "--nominal": nominal, "--refine": refine,
                "--refine-steps": refine_steps, "--bound": bound, "--report": report,
                "--json": json_file, "--plot": plot, "--delimiter": delimiter,
                "--encoding": encoding,
            }  # fmt: skip
            refuse_given(alone)
            protect_parts(
                sources, output, workers, scheduler, phase, k=k, method=method,
                columns=split(columns) or None, by=split(by), sampling_weight=weight,
                drop=split(drop), group_column=group_column, force=force, block=block,
                repair=repair, keep_metadata=keep_metadata, **settings, **options,
            )  # fmt: skip
            return
        source = one_file(sources)
        targets = check_targets([source], [output, report, json_file, plot], force)
        check_ending(output)
        if plot is not None:
            check_plot(plot, method)
        if group_column is not None and method == "individual":
            raise InputError("individual ranking has no groups of whole records to number")
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
            dropped = file.resolve(split(drop))
            table, roles = find_roles(file, columns, by, weight, ordinal, nominal, dropped, missing)
        with ExitStack() as bars:
            tell = bars.enter_context(phase(f"{method}, k={k}"))
            watch = None
            if refine is not None or refine_steps is not None:
                watch = bars.enter_context(phase("refining"))
            result = microaggregate(
                table, k, method, progress=tell, refine=refine, refine_steps=refine_steps,
                watch=watch, **roles, **settings, **options,
            )  # fmt: skip
        least_loss = None
        if bound:
            with phase("looking for the bound") as tell:
                least_loss = result.bound(tell)
        strata = [] if result.merged else [c for c in roles["by"] or [] if c not in dropped]
        new = published(file, result, dropped, group_column, roles["by"] or [], keep_metadata)
        with Outputs(force) as files:
            with phase(f"writing {output.name}"):
                temporary = files.add(output)
                write_file(new, temporary, output)
            with phase(f"counting k in {output.name}"):
                least = verify(temporary, output, new, views(result, strata), k)
            if plot is not None:
                with phase(f"drawing {plot.name}"):
                    result.plot(files.add(plot))
            if report is not None or json_file is not None:
                with phase("trying other methods") as tell:
                    alternatives = risk_map(table, k, progress=tell, **roles, **settings)
                with phase("measuring utility and risk") as tell:
                    made = {"From": readable(source.name), "To": readable(output.name)}
                    made["Columns left out"] = ", ".join(dropped)
                    made["Lower bound"] = certified(least_loss)
                    content = result.report(made=made, alternatives=alternatives, progress=tell)
                write_report(files, content, report, json_file)
        touched = {*result.names, *dropped}
        others = [name for name in file.table.column_names if name not in touched]
        phase.close()
        show_result(result, strata, least, others, targets, least_loss)
