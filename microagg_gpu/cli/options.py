"""The options that several commands take; defaults and choices are those of `settings`."""

from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from .. import settings


def _choices(kind: Any) -> str:
    return "|".join(get_args(kind))


FILES = "CSV (also .gz, .bz2, .zst, .lz4), Parquet, Arrow, Stata, SPSS, SAS or Excel"
Source = Annotated[Path, typer.Argument(metavar="FILE", help=f"Data file with a header: {FILES}.")]
Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help=f"Data file with a header: {FILES}. With --workers or --scheduler: Parquet files, or "
        "a directory of them.",
    ),
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="The protected file to write; with workers a directory."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Protect several Parquet files together, with this many Dask worker processes.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://...",
        help="Protect several Parquet files together on a running Dask cluster.",
    ),
]
Block = Annotated[
    int,
    typer.Option(metavar="N", help="With workers: the most records that a worker groups at once."),
]
Repair = Annotated[
    int,
    typer.Option(
        metavar="STEPS",
        help="With workers: refinement steps per record where two blocks touch.",
    ),
]
K = Annotated[int, typer.Option("-k", help="Minimum number of records in a group.")]
Method = Annotated[str, typer.Option(help="Method; `microagg methods` lists the names.")]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An option of the method. May be repeated."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...", help="Columns to protect.",
        show_default="all but those of --by, --weight and --drop",
    ),
]  # fmt: skip
Blocks = Annotated[
    str | None,
    typer.Option(
        metavar="A,B;C,D",
        help="Blocks of columns, each grouped by itself. k then holds within each block only.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns of strata. A group never crosses strata."),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Columns that name units of several records, such as households. k counts units, and "
        "all records of a unit get the same values.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Sampling weight. Groups are then published as weighted means."
    ),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=A<B<C",
        help="A column of ordered categories, lowest first. Numbers need no order. May be "
        "repeated.",
    ),
]
Nominal = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns of categories without order.")
]
VariableWeights = Annotated[
    str | None,
    typer.Option(
        "--variable-weights", metavar="A=2,B=0.5", help="Weights of columns in distances and loss.",
        show_default="all 1",
    ),
]  # fmt: skip
ColumnWeights = Annotated[str | None, typer.Option("--column-weights", hidden=True)]
Drop = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Columns to leave out, such as identifiers."),
]
Missing = Annotated[
    str,
    typer.Option(
        metavar=_choices(settings.Missing),
        help="Missing values: stop with an error; group only records with the same missing "
        "values; drop records with missing values.",
    ),
]
SmallStrata = Annotated[
    str,
    typer.Option(
        metavar=_choices(settings.SmallStrata),
        help="Strata of fewer than k records: stop with an error; merge each with the nearest "
        "stratum; suppress their records.",
    ),
]
Aggregate = Annotated[
    str,
    typer.Option(
        metavar=_choices(settings.Aggregate), help="What is published for a group of numbers."
    ),
]
KeepIntegers = Annotated[
    bool, typer.Option("--keep-integers", help="Round published values in columns of integers.")
]
PublishedDecimals = Annotated[
    str,
    typer.Option(
        "--decimals",
        metavar="input|exact|N",
        help="Decimals of published numbers: those of the input (whole numbers stay whole), all, "
        "or N.",
    ),
]
AverageWeight = Annotated[
    bool,
    typer.Option(
        "--average-weight",
        help="Publish the mean weight of each group instead of the weights, by which its "
        "records could be told apart.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Write nothing and end with exit code 1 unless k holds over all published columns "
        "and all groups obey the rules on contributors.",
    ),
]
KeepMetadata = Annotated[
    bool,
    typer.Option(
        "--keep-metadata",
        help="Copy the metadata of a Parquet or Arrow file. Check it before you publish.",
    ),
]
NoStandardize = Annotated[
    bool,
    typer.Option(
        "--no-standardize",
        help="Keep the units of the columns. By default each is scaled to standard deviation 1.",
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        metavar=_choices(settings.Scale),
        help="Scale of the columns in distances and loss: standard deviations of all records or "
        "of each stratum; median and MAD; logarithms.",
    ),
]
Trim = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="With --aggregate trimmed: the share of a group that is left out at each end.",
    ),
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1, ...")]
Seed = Annotated[int, typer.Option(help="Seed of methods that draw random numbers.")]
Refine = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Spend this many seconds reducing the loss. Ctrl-C ends it with the best result so "
        "far.",
    ),
]
RefineSteps = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Instead of seconds: steps per record. The result is the same on every machine.",
    ),
]
Shuffle = Annotated[
    bool,
    typer.Option(
        "--shuffle",
        help="Write the records in a random order and number the groups at random. --seed "
        "determines the order; by default a seed is drawn.",
    ),
]
Bound = Annotated[
    bool, typer.Option("--bound", help="Compute a lower bound on the loss of any grouping.")
]
BoundSeconds = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Like --bound, but spend this many seconds on a higher bound (needs the extra "
        "bound). Ctrl-C ends it with the best bound so far.",
    ),
]
GroupColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Add a column with the number of each record's group."),
]
Delimiter = Annotated[
    str | None, typer.Option(help="Column separator of CSV.", show_default="detected")
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of CSV, such as latin-1.", show_default="detected: utf-8 or utf-16"
    ),
]
Decimal = Annotated[str, typer.Option(help="Decimal mark of CSV.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html",
        help="Write a report. It contains information about the original records: do not publish "
        "it.",
    ),
]  # fmt: skip
ReportStrata = Annotated[
    bool, typer.Option("--report-strata", help="Add figures for each stratum to the report.")
]
ReportMore = Annotated[
    bool,
    typer.Option(
        "--report-more",
        help="Add measures that take long to the report: pMSE, the best one-to-one matching, and, "
        "in files of more than 50,000 records, the records at highest risk.",
    ),
]
Known = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Add the risk to the report if an intruder knows only these columns.",
    ),
]
Note = Annotated[
    Path | None,
    typer.Option(
        "--note", metavar="FILE.html",
        help="Write a note for the users of the file: what was done and what changed. It says "
        "nothing about single records.",
    ),
]  # fmt: skip
Json = Annotated[
    Path | None, typer.Option("--json", metavar="FILE.json", help="Write the report as JSON.")
]

Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.png",
        help="Draw the groups. The picture shows the original records: do not publish it.",
    ),
]
Dominance = Annotated[
    str | None,
    typer.Option(
        "--dominance", metavar="N,PERCENT",
        help="The N largest contributors of a group may hold at most PERCENT of its "
        "total, as in 1,85.",
    ),
]  # fmt: skip
PPercent = Annotated[
    float | None,
    typer.Option(
        "--p-percent", metavar="P",
        help="The second largest contributor of a group must not be able to estimate the "
        "largest to within P percent.",
    ),
]  # fmt: skip

Unrepaired = Annotated[
    str,
    typer.Option(
        metavar=_choices(settings.Unrepaired),
        help="Groups that break --dominance or --p-percent and cannot be repaired: keep and list "
        "them; suppress their records.",
    ),
]

Sensitive = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column that is published unchanged and must not be inferred from the others.",
    ),
]
T = Annotated[
    float | None,
    typer.Option(
        "--t", metavar="T",
        help="The distribution of the sensitive column in each group may differ from that of all "
        "records by at most T (t-closeness, 0 to 1).",
    ),
]  # fmt: skip
TMethod = Annotated[
    str,
    typer.Option(
        "--t-method", metavar=_choices(settings.TMethod),
        help="How groups come within T: the better of both ways; formed so from the start; merged "
        "until they are.",
    ),
]  # fmt: skip

PANELS: dict[str, tuple[Any, ...]] = {
    "What to protect": (
        K, Columns, Blocks, By, Unit, Weight, AverageWeight, Ordinal, Nominal, Drop, Missing,
        SmallStrata,
    ),
    "How": (
        Method, MethodOption, Aggregate, Trim, PublishedDecimals, KeepIntegers, VariableWeights,
        Scale, NoStandardize, Refine, RefineSteps, Bound,
        BoundSeconds, Seed, Shuffle,
    ),
    "Rules for groups, besides k": (
        Dominance, PPercent, Unrepaired, Sensitive, T, TMethod, Strict,
    ),
    "Files": (
        Report, ReportStrata, ReportMore, Known, Json, Note, Plot, GroupColumn, Delimiter, Encoding,
        Decimal, KeepMetadata, Force,
    ),
    "Machines": (Device, Workers, Scheduler, Block, Repair),
}  # fmt: skip
"""The options in the order of the help, by what they are about."""
for _panel, _options in PANELS.items():
    for _option in _options:
        _option.__metadata__[0].rich_help_panel = _panel
