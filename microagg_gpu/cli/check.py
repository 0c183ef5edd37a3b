"""``microagg check``: whether a file is k-anonymous."""

from typing import Annotated

import typer

from .. import InputError
from ..files.data_file import group_sizes, read_file
from ..files.verdict import count_k
from ..settings import FORMAT, check_k
from . import options
from .console import clear_errors
from .output import show_groups, show_verdict
from .parsing import split
from .progress import phases

EXAMPLES = (
    (
        "Count the records that share their values in all columns:",
        "microagg check protected.csv -k 5",
    ),
    (
        "Count over some columns only, and show the smallest groups:",
        "microagg check protected.csv -k 5 --columns region,turnover,staff --show",
    ),
)


def check(
    source: options.Source,
    k: options.K,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Columns that an intruder may know.",
            show_default="all",
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the smallest groups, also if k holds.")
    ] = False,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
) -> None:
    """Is a file k-anonymous? Count the records that share their values.

    Works on any file. Exit code 0: every record shares its values with at least k - 1 others; 1:
    some do not, and the smallest groups are shown. With --columns only these columns decide;
    whether k holds over all columns is said too.
    """
    with clear_errors(), phases() as phase:
        check_k(k)
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding)
        with phase("counting"):
            names = file.resolve(None if columns is None else split(columns))
            if not names:
                raise InputError("no columns are chosen: name at least one with --columns")
            verdict = count_k(file.table, k, [names])
            failed = verdict.word == "FAIL"
            groups = group_sizes(file.table, names) if failed or show else None
        phase.close()
        show_verdict(verdict)
        if groups is not None:
            show_groups(groups, names)
        if failed:
            raise typer.Exit(1)
