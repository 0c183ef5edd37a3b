"""``microagg check``: whether a file is k-anonymous."""

from typing import Annotated

import typer

from .. import InputError
from ..files.data_file import group_sizes, read_file
from ..settings import FORMAT, check_k
from . import options
from .console import clear_errors
from .output import show_groups
from .parsing import split
from .progress import phases

EXAMPLES = """Example:

    `microagg check protected.csv -k 5 --columns region,turnover,staff`"""


def check(
    source: options.Source,
    k: options.K,
    columns: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Columns that an intruder may know: the protected ones, and those of strata.",
        ),
    ],
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
) -> None:
    """Is a file k-anonymous? Count the records that are alike in some columns.

    Works on any file. Exit code 0: every record is one of at least k; 1: some are not, and the
    smallest groups are shown.
    """
    with clear_errors(), phases() as phase:
        check_k(k)
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
