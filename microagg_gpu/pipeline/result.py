"""What microaggregate() and compare() return."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import measures
from ..checks import (
    as_list,
    callable_or_none,
    file_path,
    known_keywords,
    mapping,
    number,
    true_or_false,
)
from ..data.columns import NOMINAL, NUMBER, ORDINAL
from ..data.table import as_columns
from ..errors import InputError
from ..files.verdict import Verdict, count_k
from ..kernels.protocol import Progress
from ..settings import Columns
from .described import Described
from .known import known_columns
from .problem import Problem
from .provenance import Provenance, named
from .publishing import Published, Rounding
from .refinement import least_loss


class Bound(NamedTuple):
    """A certified lower bound on the loss of any grouping with the same k, and the gap to it.

    Attributes
    ----------
    loss : float
        No grouping loses less, in percent of SST.
    gap : float
        By how much this one could at most be improved, in percent of its loss.
    """

    loss: float
    gap: float

    @property
    def optimal(self) -> bool:
        """Whether this grouping is certified optimal: no other loses less, but for rounding."""
        return self.gap <= 1e-6


@dataclass(frozen=True, repr=False)
class Result(Described):
    """A protected table and what the protection cost.

    Attributes
    ----------
    labels : int64 array of shape (n,)
        Group of each record of the data, 0, 1, ... in order of first published record; (n, p)
        for individual ranking and blocks; -1 for a record that was left out.
    protected : same kind as the data
        Each record replaced by the centroid of its group, in the original units; without the
        records that were left out; in the order of the data, unless it was shuffled.
    order : int64 array of shape (m,)
        Which record of the data each published one is: ``labels[order]`` are their groups.
    loss : float
        Information loss 100 * SSE / SST on the standardized (and weighted) variables.
    weighted_loss : float or None
        The same with squares weighted by the sampling weights, if there are any. Centroids are
        weighted means then: this loss is at most 100, the other can be more.
    sse, sst : float
        Within-groups and total sum of squares.
    sizes : int64 array
        Number of records of each group; for individual ranking a list, one array per variable,
        and for blocks one per block.
    provenance : Provenance
        What was done, enough to repeat it. Its parts are attributes of the result too: `k`,
        `method`, `options`, `device`, `engine`, `seconds` (how long the method took), `names`
        (the variables that were protected), `dropped`, `suppressed`, `merged`, `refined`,
        `found_by`, `dominance`, `closeness`.
    """

    labels: np.ndarray
    protected: Any
    order: np.ndarray
    loss: float
    weighted_loss: float | None
    sse: float
    sst: float
    sizes: Any
    provenance: Provenance
    _problem: Problem
    _published: Published

    @cached_property
    def verdict(self) -> Verdict:
        """Whether k holds over all columns that are published, as counted in them."""
        if self.provenance.files is not None and self.provenance.files.verdict is not None:
            return self.provenance.files.verdict
        return count_k(
            as_columns(self.protected), self.k, self.views(), self.sensitive, self.units, self.unit
        )

    @property
    def units(self) -> np.ndarray | None:
        """The number of each published record's unit, if k counts units."""
        units = self._problem.table.units
        return None if units is None else units[self.order]

    @property
    def rounding(self) -> list[Rounding]:
        """What rounding did to the total of each variable that was rounded."""
        return self._published.rounding

    @property
    def replaced(self) -> list[str]:
        """The columns with new values: the variables, and weights that were averaged."""
        averaged = self._published.weights is not None
        return self.names + [str(self.provenance.roles.sampling_weight)] * averaged

    def views(self, dropped: Sequence[str] = ()) -> list[list[str]]:
        """Columns whose values, taken together, each record shares with k - 1 others.

        Parameters
        ----------
        dropped : sequence of str, optional
            Columns of strata that are not published.

        Returns
        -------
        list of list of str
            One list, or one for each variable of individual ranking and for each block.
        """
        roles = self.provenance.roles
        by = [] if self.merged else [str(column) for column in roles.by or ()]
        strata = [column for column in by if column not in dropped]
        if self.labels.ndim > 1:
            blocks = [[name] for name in self.names] if self.blocks is None else self.blocks
            return [[*strata, *block] for block in blocks]
        return [[*strata, *self.replaced]]

    def __repr__(self) -> str:
        return (
            f"Result(verdict={self.verdict.word!r}, method={named(self.method, self.options)!r}, "
            f"k={self.k}, loss={self.loss:.4g}, records={len(self.labels)}, "
            f"seconds={self.seconds:.3g})"
        )

    @known_keywords
    def linkage(self, progress: Progress | None = None) -> measures.Linkage:
        """Share of the published records whose nearest original is their own, ties shared.

        Distances are over numbers and ordinal variables, as in the grouping; an intruder sees
        the stratum too, and compares only within it.

        Parameters
        ----------
        progress : callable, optional
            Called with the fraction done.

        Returns
        -------
        measures.Linkage
            As `measures.record_linkage` returns it.
        """
        problem = self._problem
        used = problem.table.kinds != NOMINAL
        before, after = (problem.measured(v) for v in (problem.values, self._published.values))
        return measures.record_linkage(
            before[:, used], after[:, used], problem.cells.seen,
            scale=problem.scale[used], progress=progress,
        )  # fmt: skip

    @known_keywords
    def record_risk(
        self, known: Columns = None, progress: Progress | None = None
    ) -> measures.RecordRisk:
        """The risk of each published record, for an intruder who knows its original values.

        Parameters
        ----------
        known : column names or positions, optional
            What the intruder knows: variables that were protected, compared by their distance,
            and columns that are published unchanged. By default all variables and the strata.
        progress : callable, optional
            Called with the fraction done.

        Returns
        -------
        measures.RecordRisk
            Of the records that are published, in the order of the data; the mean of `after` is
            the share that the intruder would identify.
        """
        problem = self._problem
        chosen = np.flatnonzero(problem.table.kinds != NOMINAL).tolist()
        cells = problem.cells.seen
        if known is not None:
            _, chosen, cells = known_columns(
                known, problem, self.protected, self.replaced, self.order
            )
        before, after = (problem.measured(v) for v in (problem.values, self._published.values))
        return measures.record_risk(
            before[:, chosen], after[:, chosen], cells, scale=problem.scale[chosen],
            progress=progress,
        )  # fmt: skip

    @known_keywords
    def bound(self, progress: Progress | None = None, *, seconds: float | None = None) -> Bound:
        """How far this grouping can be from the best there is: see `measures.lower_bound`.

        It takes seconds for thousands of records, a minute for 100,000. For groups of whole
        records in numbers only. With `seconds` the bound is often much higher.

        Parameters
        ----------
        progress : callable, optional
            Called with the fraction done.
        seconds : float, optional
            The time to spend; it needs the extra ``bound`` (up to 20,000 records). Ctrl-C ends
            it earlier, with the best bound so far.

        Returns
        -------
        Bound
            The lower bound on the loss, and the gap to it.
        """
        callable_or_none("progress", progress)
        if self.labels.ndim > 1:
            raise InputError(
                "individual ranking and blocks group no whole records: the bound is not for them"
            )
        if seconds is not None:
            seconds = number("seconds", seconds, 0, above=True)
        labels = self.labels[self._problem.cells.kept]
        settings = self.provenance.settings
        least = least_loss(self._problem, progress, seconds, labels, settings.engine)
        return Bound(least, 100 * (1 - least / self.loss) if self.loss > 0 else 0.0)

    @known_keywords
    def report(
        self,
        *,
        notes: dict[str, str] | None = None,
        alternatives: Sequence[dict[str, Any]] = (),
        by_stratum: bool = False,
        more: bool = False,
        known: Columns = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """What the protection cost and what risk is left, as plain Python values for JSON.

        Parameters
        ----------
        notes : dict of texts, optional
            More about what was done, such as the source of the data.
        alternatives : sequence of dict, optional
            Rows of `compare`, for the map of loss and risk.
        by_stratum : bool
            Add figures for each stratum.
        more : bool
            Add measures that take long: pMSE (with scikit-learn), the best one-to-one matching
            (with SciPy), and the risk of each record if there are more than 50,000.
        known : column names or positions, optional
            Add the risk if an intruder knows only these columns, as for `record_risk`.
        progress : callable, optional
            Called with the fraction done.

        Returns
        -------
        dict
            Nested dicts and lists of numbers and texts.
        """
        from ..report import describe
        from ..report.analysis import RECORDS, known_risk

        more = true_or_false("more", more)
        callable_or_none("progress", progress)
        by_stratum = true_or_false("by_stratum", by_stratum)
        notes = mapping("notes", notes)
        problem, table = self._problem, self._problem.table
        numbers = table.kinds == NUMBER
        kept = problem.cells.kept
        labels = self.labels[kept]
        few_enough = more or len(kept) <= RECORDS
        names = None
        if known is not None:
            names = known_columns(known, problem, self.protected, self.replaced, self.order)[0]
        return describe(
            problem.values[:, numbers],
            self._published.values[:, numbers],
            names=[name for name, number in zip(table.names, numbers, strict=True) if number],
            k=self.k,
            labels=labels if labels.ndim == 1 else labels[:, numbers],
            blocks=self.blocks,
            cells=problem.cells.seen,
            scale=problem.scale[numbers],
            sampling_weight=problem.sampling,
            categories=self._categories(),
            provenance={**self.provenance.rows(), **notes},
            method=named(self.method, self.options) + (", refined" if self.refined else ""),
            strata=np.array(table.strata_names)[table.strata[kept]]
            if by_stratum and table.strata is not None
            else None,
            verdict=self.verdict.as_dict(self.replaced),
            rounding=[change._asdict() for change in self.rounding],
            dominance=None if self.dominance is None else self.dominance.as_dict(),
            closeness=None if self.closeness is None else self.closeness.as_dict(),
            alternatives=as_list(() if alternatives is None else alternatives),
            loss=self.loss,
            weighted_loss=self.weighted_loss,
            measured=[
                problem.measured(v)[:, numbers] for v in (problem.values, self._published.values)
            ],
            link=self.linkage() if (table.kinds == ORDINAL).any() else None,
            more=more,
            risks=self.record_risk() if few_enough and (table.kinds == ORDINAL).any() else None,
            positions=kept,
            known=None if names is None else known_risk(names, self.record_risk(names)),
            progress=progress,
        )

    def _categories(self) -> list[dict[str, Any]]:
        """The ordinal and nominal variables, as the report takes them."""
        problem, table = self._problem, self._problem.table
        return [
            {
                "name": table.names[j],
                "kind": "nominal" if table.kinds[j] == NOMINAL else "ordinal",
                "before": _texts(problem.values[:, j], known),
                "after": _texts(self._published.values[:, j], known),
            }
            for j, known in table.categories.items()
        ]

    @known_keywords
    def save_report(
        self,
        path: str | Path,
        *,
        notes: dict[str, str] | None = None,
        alternatives: Sequence[dict[str, Any]] = (),
        by_stratum: bool = False,
        more: bool = False,
        known: Columns = None,
        progress: Progress | None = None,
    ) -> None:
        """Write the report as one HTML file.

        It contains information about the original records: do not publish it.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there.
        notes, alternatives, by_stratum, more, known, progress
            As for `report`.
        """
        from ..files.atomic import whole_file
        from ..report import page

        with whole_file(file_path("path", path), force=True) as temporary:
            content = self.report(
                notes=notes, alternatives=alternatives, by_stratum=by_stratum, more=more,
                known=known, progress=progress,
            )  # fmt: skip
            temporary.write_text(page(content), encoding="utf-8", errors="replace")

    @known_keywords
    def save_note(self, path: str | Path) -> None:
        """Write a note for the users of the published data, as one HTML file.

        It says what was done and how much means, spread and correlations changed. It says nothing
        about single records, and can be published with the data.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there.
        """
        from ..files.atomic import whole_file
        from ..report import note

        with whole_file(file_path("path", path), force=True) as temporary:
            temporary.write_text(note(self.report()), encoding="utf-8", errors="replace")

    @known_keywords
    def plot(self, path: str | Path) -> None:
        """Draw the groups. The picture shows the original records: do not publish it.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there; its ending gives the format.
        """
        from ..plots import picture, plot_groups

        if self.blocks is not None:
            raise InputError("blocks of variables have no groups of whole records to draw")
        problem = self._problem
        numbers = problem.table.kinds == NUMBER
        values = problem.values[:, numbers]
        absent = np.isnan(values)
        if absent.any():  # drawn at the mean
            means = np.where(absent, 0.0, values).sum(axis=0) / np.maximum(1, (~absent).sum(axis=0))
            values = np.where(absent, means, values)
        title = f"{self.method}, k = {self.k}: {len(self.sizes)} groups, loss {self.loss:.2f} %"
        with picture(path, self.method) as temporary:
            plot_groups(
                values * np.where(problem.scale > 0, problem.scale, 1)[numbers]
                if values.shape[1] > 2 else values,
                self.labels[problem.cells.kept],
                temporary,
                names=[name for name, number in zip(self.names, numbers, strict=True) if number],
                title=title,
            )  # fmt: skip


def _texts(codes: np.ndarray, known: list[Any]) -> np.ndarray:
    texts = np.array([*map(str, known), "(missing)"], dtype=object)
    return texts[np.where(np.isnan(codes), len(known), codes).astype(np.int64)]
