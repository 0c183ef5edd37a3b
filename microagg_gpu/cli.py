"""The command ``microagg``: files in, protected files and reports out; no logic of its own."""

import inspect
import json
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from . import InputError, compare, microaggregate, stopping
from .api import risk_map
from .checks import whole_number
from .cluster import one_file, protect_parts, refuse_given
from .console import (
    Command,
    clear_errors,
    column_weights,
    method_options,
    parse,
    phases,
    safe_streams,
    split,
)
from .files.atomic import Outputs
from .files.data_file import group_sizes, read_file, verify, write_file
from .files.formats import check_ending
from .files.pairs import match
from .options import (
    FILES,
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
    Source,
    Sources,
    Weight,
    Workers,
)
from .plots import check_plot, plot_map
from .printed import (
    certified,
    show_comparison,
    show_groups,
    show_info,
    show_methods,
    show_result,
    stdout,
)
from .report import describe
from .roles import find_roles, published, views
from .targets import check_targets, readable, write_report, write_text

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="""Protect records about people and companies by microaggregation.

    Records are put in groups of at least k that are alike, and each is published as the mean of
    its group: nobody stands out among fewer than k. What is lost is measured: 0 % is nothing,
    100 % is everything but the means.""",
    epilog="""Start with the method that loses least on your data, protect, look at the report:

    `microagg compare companies.csv -k 5 --columns turnover,staff`

    `microagg protect companies.csv -k 5 --columns turnover,staff --by region --drop id
    -o protected.csv --report report.html`

    `microagg check protected.csv -k 5 --columns region,turnover,staff`""",
)  # fmt: skip


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"microagg {version('microagg-gpu')}")
        raise typer.Exit


@app.callback()
def _microagg(
    show: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command(
    cls=Command,
    epilog="""Examples:

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
    protects the records of many files together; with `--scheduler tcp://...` on many machines.""",
)
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
        taken = list(inspect.signature(microaggregate).parameters)
        options = method_options(method, option or [], taken)
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


@app.command(
    "compare",
    cls=Command,
    epilog="""Examples:

    `microagg compare companies.csv -k 5 --columns turnover,staff`

    `microagg compare companies.csv -k 3,5,10 --methods mdav,vmdav,mst --columns a,b --by region
    --plot map.png`""",
)
def compare_methods(
    source: Source,
    k: Annotated[str, typer.Option("-k", help="Least group sizes to try.")] = "3,5",
    methods: Annotated[str, typer.Option(metavar="A,B,...", help="Methods to try.")] = "all",
    columns: Columns = None,
    by: By = None,
    weight: Weight = None,
    drop: Drop = None,
    ordinal: Ordinal = None,
    nominal: Nominal = None,
    column_weight: ColumnWeights = None,
    missing: Missing = "error",
    small_strata: SmallStrata = "error",
    aggregate: Aggregate = "mean",
    no_standardize: AsTheyAre = False,
    device: Device = "auto",
    seed: Seed = 0,
    refine: Refine = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the map of loss and risk.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE.json", help="Write the table as JSON.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    force: Force = False,
) -> None:
    """Try methods on a file: what each loses, what risk it leaves and how long it takes.

    The risk is that of record linkage: the share of published records whose nearest original
    record is their own.
    """
    with clear_errors(), phases() as phase:
        sizes = [parse("k", int, one) for one in split(k)]
        if not sizes or not split(methods):
            raise InputError("nothing to compare: give one k and one method, or more")
        targets = check_targets([source], [plot, json_file], force)
        if plot is not None:
            check_plot(plot)
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
            dropped = file.resolve(split(drop))
            table, roles = find_roles(file, columns, by, weight, ordinal, nominal, dropped, missing)
        with phase("comparing") as tell:
            rows = compare(
                table, sizes, "all" if methods == "all" else split(methods),
                standardize=not no_standardize, weights=column_weights(column_weight),
                device=device, seed=seed, progress=tell, refine=refine, missing=missing,
                small_strata=small_strata, aggregate=aggregate, **roles,
            )  # fmt: skip
        with Outputs(force) as files:
            if plot is not None:
                plot_map(rows, files.add(plot), title=readable(source.name))
            if json_file is not None:
                write_text(files, json.dumps(list(rows), indent=2), json_file)
        phase.close()
        show_comparison(rows)
        if targets:
            stdout().print(f"written: {', '.join(map(str, targets))}")


@app.command(
    cls=Command,
    epilog="""Example:

    `microagg check protected.csv -k 5 --columns region,turnover,staff`""",
)
def check(
    source: Source,
    k: K,
    columns: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Columns that an intruder may know: the protected ones, and those of strata.",
        ),
    ],
    delimiter: Delimiter = None,
    encoding: Encoding = None,
) -> None:
    """Is a file k-anonymous? Count the records that are alike in some columns.

    Works on any file. Exit code 0: every record is one of at least k; 1: some are not, and the
    smallest groups are shown.
    """
    with clear_errors(), phases() as phase:
        if k < 1:
            raise InputError(f"k={k} is too small: a group has at least 1 record")
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding)
        with phase("counting"):
            names = file.resolve(split(columns))
            if not names:
                raise InputError("no columns are chosen: name at least one with --columns")
            groups = group_sizes(file.table, names)
        phase.close()
        if not show_groups(groups, names, k):
            raise typer.Exit(1)


@app.command(
    cls=Command,
    epilog="""Examples:

    `microagg report companies.csv protected.csv -o report.html`

    `microagg report companies.csv protected.csv --columns turnover,staff --by region --key id
    -o report.html --json report.json` matches the records of the files by their id.""",
)
def report(
    original: Annotated[Path, typer.Argument(help=f"The file before: {FILES}.")],
    protected: Annotated[Path, typer.Argument(help="The file after protection, by any tool.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="The report to write.")
    ] = Path("report.html"),
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Columns that were protected.",
            show_default="columns of numbers that differ",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Columns of strata, known to an intruder.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Match records by this column.", show_default="by their order"
        ),
    ] = None,
    json_file: Json = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = ".",
    force: Force = False,
) -> None:
    """Report what a protected file lost and what risk is left, whatever tool made it.

    The report tells of the original records: do not publish it.
    """
    with clear_errors(), phases() as phase:
        targets = check_targets([original, protected], [output, json_file], force)
        how = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
        with phase(f"reading {original.name}"):
            before = read_file(original, **how)  # type: ignore[arg-type]
        with phase(f"reading {protected.name}"):
            after = read_file(protected, **how)  # type: ignore[arg-type]
        with phase("matching"):
            pair = match(before, after, split(columns) or None, split(by), key)
        with phase("trying methods") as tell:
            alternatives = risk_map(
                pair.table, pair.k, progress=tell, columns=pair.names, by=pair.strata or None,
                missing="pattern", small_strata="suppress",
            )  # fmt: skip
        with phase("measuring utility and risk") as tell:
            content = describe(
                pair.original, pair.protected, names=pair.names, k=pair.k, cells=pair.cells,
                made={name: readable(text) for name, text in pair.made.items() if text},
                alternatives=alternatives, progress=tell,
            )  # fmt: skip
        with Outputs(force) as files:
            write_report(files, content, output, json_file)
        phase.close()
        for sentence in content["summary"]:
            stdout().print(sentence)
        stdout().print(f"written: {', '.join(map(str, targets))}")


@app.command("methods")
def list_methods() -> None:
    """List the methods, where they were published, what they cost and their options."""
    show_methods()


@app.command()
def info() -> None:
    """Print versions, engines, devices and threads."""
    show_info()


def main() -> None:
    """Run the command."""
    stopping.listen()
    with safe_streams():
        app(prog_name="microagg")
