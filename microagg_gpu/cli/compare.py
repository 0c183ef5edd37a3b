"""``microagg compare``: what each method loses and risks on a file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .. import InputError, compare
from ..files.atomic import Outputs
from ..files.data_file import read_file
from ..plots import check_plot, plot_map
from .columns import find_roles
from .console import clear_errors
from .options import (
    Aggregate,
    AsTheyAre,
    By,
    Columns,
    ColumnWeights,
    Decimal,
    Delimiter,
    Device,
    Drop,
    Encoding,
    Force,
    Missing,
    Nominal,
    Ordinal,
    Refine,
    Seed,
    SmallStrata,
    Source,
    Weight,
)
from .output import show_comparison, stdout
from .parsing import column_weights, parse, split
from .progress import phases
from .writing import check_targets, readable, write_text

EXAMPLES = """Examples:

    `microagg compare companies.csv -k 5 --columns turnover,staff`

    `microagg compare companies.csv -k 3,5,10 --methods mdav,vmdav,mst --columns a,b --by region
    --plot map.png`"""


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
