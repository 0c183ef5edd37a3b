"""``microagg report``: what a protected file lost and what risk is left."""

from pathlib import Path
from typing import Annotated

import typer

from ..files.atomic import Outputs
from ..files.data_file import read_file
from ..files.pairs import match
from ..files.verdict import count_k
from ..pipeline.comparison import risk_map
from ..report import describe
from ..settings import FORMAT, Roles, Settings
from ..tasks.writing import check_targets, readable, write_report
from . import options
from .console import clear_errors
from .output import stdout
from .parsing import split
from .progress import phases

EXAMPLES = (
    (
        "Compare the columns of numbers that differ:",
        "microagg report companies.csv protected.csv -o report.html",
    ),
    (
        "Name the columns and the strata, and match the records by their id:",
        "microagg report companies.csv protected.csv --columns turnover,staff --by region "
        "--key id -o report.html --json report.json",
    ),
)


def report(
    original: Annotated[Path, typer.Argument(help=f"The file before: {options.FILES}.")],
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
    weight: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of sampling weights, for weighted figures."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Match records by this column.", show_default="by their order"
        ),
    ] = None,
    json_file: options.Json = None,
    note: options.Note = None,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
    decimal: options.Decimal = FORMAT.decimal,
    force: options.Force = False,
) -> None:
    """Report what a protected file lost and what risk is left, whatever tool made it.

    The report contains information about the original records: do not publish it.
    """
    with clear_errors(), phases() as phase:
        targets = check_targets([original, protected], [output, json_file, note], force)
        with phase(f"reading {original.name}"):
            before = read_file(original, delimiter=delimiter, encoding=encoding, decimal=decimal)
        with phase(f"reading {protected.name}"):
            after = read_file(protected, delimiter=delimiter, encoding=encoding, decimal=decimal)
        with phase("matching"):
            pair = match(before, after, split(columns) or None, split(by), key, weight)
        with phase("trying methods") as progress:
            settings = Settings(pair.k, missing="pattern", small_strata="suppress")
            roles = Roles(pair.names, pair.strata or None, weight)
            alternatives = risk_map(pair.table, roles, settings, progress)
        with phase("measuring utility and risk") as progress:
            content = describe(
                pair.original, pair.protected, names=pair.names, k=pair.k, cells=pair.cells,
                sampling_weight=pair.weights,
                provenance={
                    name: readable(text) for name, text in pair.provenance.items() if text
                },
                alternatives=alternatives, progress=progress,
                verdict=count_k(after.table, pair.k, [[*pair.strata, *pair.names]]).as_dict(
                    pair.names
                ),
            )  # fmt: skip
        with Outputs(force) as files:
            write_report(files, content, output, json_file, note)
        phase.close()
        for sentence in content["summary"]:
            stdout().print(sentence)
        stdout().print(f"written: {', '.join(map(str, targets))}")
