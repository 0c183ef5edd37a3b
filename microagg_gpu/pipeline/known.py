"""The columns that an intruder knows: variables to compare, and what is published unchanged."""

from typing import Any

import numpy as np

from ..checks import column_list
from ..data.columns import NOMINAL
from ..data.table import as_columns
from ..errors import InputError, as_text, option, unknown_column
from ..files.counting import group_codes
from ..settings import Columns
from .problem import Problem


def known_columns(
    known: Columns, problem: Problem, published: Any, replaced: list[str], order: np.ndarray
) -> tuple[list[str], list[int], np.ndarray]:
    """Find the columns that an intruder knows.

    Parameters
    ----------
    known : names or positions
    problem : Problem
    published : table
        What is published.
    replaced : list of str
        Columns with new values.
    order : int array
        Which record of the data each published one is.

    Returns
    -------
    names : list of str
    variables : list of int
        Those of the problem's variables that are known.
    cells : int array
        Numbers of the other known values, of the records in the order of the problem.
    """
    table = as_columns(published)
    names = [as_text(name) for name in column_list("known", known, table.column_names)]
    if not names:
        raise InputError(option("known"), " names no column: name at least one")
    variables, others = [], []
    for name in names:
        if name not in table.column_names:
            raise unknown_column(name, "what is published", table.column_names)
        if name in problem.table.names:
            variables.append(problem.table.names.index(name))
        elif name in replaced:
            raise InputError(
                f"column {name!r} is published as means of groups and has no distance: leave it "
                "out of ",
                option("known"),
            )
        else:
            others.append(name)
    for j in variables:
        if problem.table.kinds[j] == NOMINAL:
            raise InputError(
                f"column {problem.table.names[j]!r} has categories without order, which have no "
                "distance: leave it out of ",
                option("known"),
            )
    cells = np.zeros(len(order), dtype=np.int64)
    if others:
        cells = group_codes(table, others)[np.argsort(order)]
    return names, variables, cells
