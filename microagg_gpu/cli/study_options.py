"""The options of the commands that look at files: `check`, `compare` and `report`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import FILES

# compare
Sizes = Annotated[str, typer.Option("-k", help="Minimum group sizes to try.")]
Methods = Annotated[str, typer.Option(metavar="A,B,...", help="Methods to try.")]
Everything = Annotated[
    bool, typer.Option("--all", help="Print every method, not only the best five of each k.")
]
Map = Annotated[
    Path | None, typer.Option(metavar="FILE.png", help="Draw the map of loss and risk.")
]
TableJson = Annotated[
    Path | None, typer.Option("--json", metavar="FILE.json", help="Write the table as JSON.")
]

# check
CountedColumns = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns that an intruder may know.", show_default="all"),
]
Show = Annotated[bool, typer.Option("--show", help="Show the smallest groups, also if k holds.")]
SensitiveColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A sensitive column, unknown to an intruder: check what the groups of the other "
        "columns reveal about it.",
    ),
]
Before = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The file before protection, for --dominance and --p-percent."
    ),
]
ContributorWeight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Sampling weight in the original file: a record counts as that many contributors.",
    ),
]

# check and report
Key = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Match the records of both files by this column.",
        show_default="by their order",
    ),
]

# report
Original = Annotated[Path, typer.Argument(help=f"The file before: {FILES}.")]
Protected = Annotated[Path, typer.Argument(help="The file after protection, by any tool.")]
ReportFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE.html", help="The report to write.")
]
ProtectedColumns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Columns that were protected.",
        show_default="columns of numbers that differ",
    ),
]
StrataColumns = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns of strata, known to an intruder.")
]
FigureWeight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column of sampling weights, for weighted figures."),
]
OutsideFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Add the risk if an intruder has this file, with columns of the protected one.",
    ),
]
OutsideKey = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of the original and the outside file that says who is who.",
        show_default="that of --key",
    ),
]
