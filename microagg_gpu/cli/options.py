"""The options of the command ``microagg`` that several of its commands take."""

from pathlib import Path
from typing import Annotated

import typer

FILES = "CSV (also .gz, .bz2, .zst, .lz4), Parquet or Arrow"
Source = Annotated[Path, typer.Argument(metavar="FILE", help=f"Data file with a header: {FILES}.")]
Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help=f"Data file with a header: {FILES}. With --workers or --scheduler Parquet files, or a "
        "directory of them.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Protect several Parquet files as one, by so many processes (Dask)."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="tcp://...", help="The same on a Dask cluster that runs already."),
]
Block = Annotated[
    int,
    typer.Option(metavar="N", help="With these: the most records that a worker groups at once."),
]
Repair = Annotated[
    int,
    typer.Option(
        metavar="STEPS",
        help="With these: how long groups are refined where blocks meet, for each record.",
    ),
]
K = Annotated[int, typer.Option("-k", help="The least number of records in a group.")]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...", help="Columns to protect.",
        show_default="all but those of --by, --weight and --drop",
    ),
]  # fmt: skip
By = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns of strata: groups never cross them."),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Sampling weight: centroids become weighted means."),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=A<B<C",
        help="A column of ordered categories, lowest first (the order of numbers may be left "
        "out); may be repeated.",
    ),
]
Nominal = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns of categories without order.")
]
ColumnWeights = Annotated[
    str | None,
    typer.Option(
        "--column-weights", metavar="A=2,B=0.5", help="Weight of columns in distances and loss.",
        show_default="all 1",
    ),
]  # fmt: skip
Drop = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns to leave out, such as identifiers."),
]
Missing = Annotated[
    str,
    typer.Option(
        help="Missing values: `error`; `pattern` groups only records with the same ones missing; "
        "`drop` leaves out records with any."
    ),
]
SmallStrata = Annotated[
    str,
    typer.Option(
        help="Strata of fewer than k records: `error`; `merge` with the nearest one; `suppress` "
        "their records."
    ),
]
Aggregate = Annotated[
    str, typer.Option(help="What is published for a group: `mean`, `median` or `trimmed` mean.")
]
KeepIntegers = Annotated[
    bool, typer.Option("--keep-integers", help="Round in columns of whole numbers.")
]
KeepMetadata = Annotated[
    bool,
    typer.Option(
        "--keep-metadata",
        help="Copy the metadata of a Parquet or Arrow file too: look at them before you publish.",
    ),
]
AsTheyAre = Annotated[
    bool,
    typer.Option(
        "--no-standardize",
        help="Take the columns in their own units; else each is brought to standard deviation 1.",
    ),
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1, ...")]
Seed = Annotated[int, typer.Option(help="For methods that draw random numbers.")]
Refine = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Then lower the loss for so long; Ctrl-C ends it earlier, with the best so far.",
    ),
]
RefineSteps = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Instead of seconds: steps for each record, the same result everywhere."
    ),
]
Bound = Annotated[
    bool, typer.Option("--bound", help="Tell what loss no method can be below, and the gap.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="What parts the cells of CSV.", show_default="found out")
]
Encoding = Annotated[
    str | None, typer.Option(help="Of CSV, such as latin-1.", show_default="utf-8, utf-16")
]
Decimal = Annotated[str, typer.Option(help="Decimal mark of CSV.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Page = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html",
        help="Write a report. It tells of the original records: do not publish it.",
    ),
]  # fmt: skip
Json = Annotated[
    Path | None, typer.Option("--json", metavar="FILE.json", help="Write the report as JSON.")
]
