"""Blocks of variables: each is grouped by itself, and k holds within each.

References
----------
2012  Hundepool et al., "Statistical Disclosure Control": many variables at once lose much, so
      they are divided into blocks of a few.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import known_keywords, number, whole_number
from ..data.table import read
from ..errors import InputError, option, suggestion
from ..measures.utility import correlations
from ..progress import LossProgress, Progress, share
from ..settings import ROLES, Blocks, Columns, Roles
from .problem import Problem


def block_places(blocks: Blocks, names: list[str]) -> list[list[int]]:
    """The places of the variables of each block, which together are all of them, once."""
    found = [[str(name) for name in block] for block in blocks]
    chosen = [name for block in found for name in block]
    for name in (name for name in chosen if name not in names):
        raise InputError(
            f"column {name!r} is in a block and not protected: choose among {', '.join(names)}"
            f"{suggestion(name, names)}"
        )
    for name in (name for name in names if name not in chosen):
        raise InputError(
            f"column {name!r} is protected and in no block: add it to one of ", option("blocks")
        )
    return [[names.index(name) for name in block] for block in found]


class Part(NamedTuple):
    """The variables of a block as a problem of their own.

    Attributes
    ----------
    places : list of int
        Of its variables among all.
    problem : Problem
    progress, watch : callable, optional
        Called while this block is worked on.
    """

    places: list[int]
    problem: Problem
    progress: Progress | None
    watch: LossProgress | None


def parts_of(
    problem: Problem, blocks: Blocks, progress: Progress | None, watch: LossProgress | None = None
) -> Iterator[Part]:
    """The blocks of a problem, one after the other."""
    places = block_places(blocks, problem.table.names)
    for i, own in enumerate(places):

        def see(fraction: float, loss: float, i: int = i) -> None:
            if watch is not None:
                watch((i + fraction) / len(places), loss)

        yield Part(own, problem.block(own), share(progress, i, 1, len(places)), see)


class SuggestedBlocks(list[list[str]]):
    """Blocks of variables as `suggest_blocks` proposes them: a list of lists of names.

    Attributes
    ----------
    names : list of str
        The variables.
    merges : float array of shape (p - 1, 4)
        How they were put together, as SciPy writes it: two numbers, of a variable or of p + an
        earlier row, the mean of ``1 - |r|`` between the two, and how many variables they have.
    cut : float
        What is farther apart than this is in different blocks.
    """

    def __init__(
        self, blocks: list[list[str]], names: list[str], merges: np.ndarray, cut: float
    ) -> None:
        super().__init__(blocks)
        self.names, self.merges, self.cut = names, merges, cut

    @known_keywords
    def plot(self, path: str | Path) -> None:
        """Draw how the variables were put together, as a tree.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there; its ending gives the format.
        """
        from ..plots import picture, plot_tree

        with picture(path) as temporary:
            plot_tree(self.merges, temporary, names=self.names, cut=self.cut)


@known_keywords
def suggest_blocks(
    data: Any,
    columns: Columns = ROLES.columns,
    *,
    correlation: float = 0.5,
    count: int | None = None,
) -> SuggestedBlocks:
    """Propose blocks of variables that are correlated, for ``blocks`` of `microaggregate`.

    Hierarchical clustering by average linkage, with the distance ``1 - |r|`` between two variables:
    the two clusters whose variables have the least mean distance are put together, until it
    exceeds 1 - ``correlation``. Of equal distances the first pair is taken.

    Parameters
    ----------
    data : array or DataFrame
        As in `microaggregate`; a correlation uses the records that have both values.
    columns : name, position, or several, optional
        The variables, which must be numbers; by default all.
    correlation : float
        Clusters are put together if their mean absolute correlation is at least this.
    count : int, optional
        Instead: how many blocks to make.

    Returns
    -------
    SuggestedBlocks
        Lists of names, in the order of the columns; `SuggestedBlocks.plot` draws the tree.
    """
    correlation = number("correlation", correlation, 0, 1)
    table = read(data, Roles(columns))
    values, names = table.on_host, table.names
    if count is not None:
        count = whole_number("count", count, 1, len(names))
    merges = average_linkage(1 - np.abs(np.nan_to_num(correlations(values))))
    if count is None:
        count = len(names) - int(np.searchsorted(merges[:, 2], 1 - correlation, side="right"))
    members = {j: [j] for j in range(len(names))}
    for i, (first, second, _, _) in enumerate(merges[: len(names) - count]):
        members[len(names) + i] = members.pop(int(first)) + members.pop(int(second))
    found = sorted(sorted(places) for places in members.values())
    heights = [0.0, *merges[:, 2].tolist(), 1.0]
    cut = sum(heights[len(names) - count :][:2]) / 2  # between the last merge and the next
    return SuggestedBlocks([[names[j] for j in block] for block in found], names, merges, cut)


def average_linkage(distances: np.ndarray) -> np.ndarray:
    """Put the two nearest clusters together until there is one, by their mean distance.

    Parameters
    ----------
    distances : array of shape (p, p)

    Returns
    -------
    array of shape (p - 1, 4)
        As `SuggestedBlocks.merges`; the distances never decrease.
    """
    p = len(distances)
    apart, number_of, sizes = distances.astype(np.float64), np.arange(p), np.ones(p)
    np.fill_diagonal(apart, np.inf)
    merges = np.empty((p - 1, 4))
    for step in range(p - 1):
        i, j = sorted(np.unravel_index(np.argmin(apart), apart.shape))
        merges[step] = *sorted((number_of[i], number_of[j])), apart[i, j], sizes[i] + sizes[j]
        mean = (sizes[i] * apart[i] + sizes[j] * apart[j]) / (sizes[i] + sizes[j])
        apart[i], apart[:, i] = mean, mean
        apart[j], apart[:, j] = np.inf, np.inf
        apart[i, i] = np.inf
        sizes[i] += sizes[j]
        number_of[i] = p + step
    merges[:, 2] = np.maximum.accumulate(merges[:, 2])  # but for rounding they never decrease
    return merges
