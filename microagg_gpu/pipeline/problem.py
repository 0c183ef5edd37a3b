"""From a table to proven groups: scale, divide into cells, group each, prove, measure the loss."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from array_api_compat import device as device_of
from array_api_compat import is_cupy_array

from ..checks import as_floats
from ..data.columns import NOMINAL, NUMBER, ORDINAL, Table
from ..data.scaling import (
    Scaling,
    WithinStrata,
    log_scaling,
    members,
    refuse_large,
    robust_scaling,
    standard_scaling,
    unscaled,
)
from ..data.strata import Cells, divide, merge
from ..data.units import Units, divide_units
from ..engines import Work, check_engine, choose, on_device, set_compiled
from ..errors import InputError, option, shown, too_few_records
from ..kernels import Engine, array_namespace, engine_name, engine_named, to_numpy
from ..methods.common import take_records
from ..methods.registry import METHODS, work_of
from ..settings import Scale, Settings, Weights


@dataclass(frozen=True)
class Problem:
    """Records that are ready to be grouped.

    Attributes
    ----------
    table : Table
    k : int
    cells : Cells
        Which records are published, and which of them may be in a group together.
    points : array of shape (m, p)
        The records that are published, on the device: standardized and weighted.
    scaling : Scaling
        How the points were made of the values.
    scale : array of shape (p,)
        What differences of each variable are multiplied by in distances and loss.
    engine_name : {"generic", "cpu", "cuda"}
        The engine chosen for the points. (A module cannot be copied or pickled; its name can.)
    within : WithinStrata, optional
        A scaling for each stratum, which comes before `scaling`.
    units : Units, optional
        Of several records each, which k counts.
    """

    table: Table
    k: int
    cells: Cells
    points: Any
    scaling: Scaling
    scale: np.ndarray
    engine_name: str
    within: WithinStrata | None = None
    units: Units | None = None

    @property
    def engine(self) -> Engine:
        """The engine chosen for the points."""
        return engine_named(self.engine_name)

    def chosen_for(self, settings: Settings, runs: int) -> "Problem":
        """The problem with the engine for other settings, one of some runs of these records."""
        work = _work(self.table, self.cells, settings)._replace(runs=runs)
        engine = _placed(self.points, "auto", settings, work)[1]
        return replace(self, engine_name=engine_name(engine))

    def for_refinement(self, settings: Settings) -> "Problem":
        """The problem where refinement is fastest; it is always worth compiling for."""
        budget = "steps" if settings.refine is None else "seconds"
        work = Work(f"refinement by {budget}", inf, self.points.shape[0])
        points, engine = _placed(self.points, "auto", settings, work)
        return replace(self, points=points, engine_name=engine_name(engine))

    def done(self, settings: Settings) -> None:
        """Note that a method has run: its kernels are compiled."""
        set_compiled(self.engine, _work(self.table, self.cells, settings))

    def only(self, stays: np.ndarray) -> "Problem":
        """The problem of some of its records, with the same scaling."""
        points = take_records(self.points, np.flatnonzero(stays))
        return replace(self, cells=self.cells.only(stays), points=points)

    def by_unit(self) -> "Problem":
        """The problem whose records are the units: the means over the points of their records."""
        if self.units is None:
            return self
        xp = array_namespace(self.points)
        means = self.units.means(to_numpy(self.points))
        return replace(
            self,
            table=self.units.table(self.table, self.cells.kept),
            cells=self.units.cells(self.cells),
            points=xp.asarray(means, device=device_of(self.points)),
            units=None,
        )

    def block(self, places: list[int]) -> "Problem":
        """The problem of some of its variables, with the same records and scaling."""
        table, xp = self.table, array_namespace(self.points)
        observed = [np.flatnonzero(np.isin(places, known)) for known in self.cells.observed]
        where = xp.asarray(places, device=device_of(self.points))
        within = self.within
        if within is not None:
            within = WithinStrata({s: scaling.of(places) for s, scaling in within.scalings.items()})
        return replace(
            self,
            table=table.only(places),
            cells=replace(self.cells, observed=observed),
            points=xp.take(self.points, where, axis=1),
            scaling=self.scaling.of(places),
            scale=self.scale[places],
            within=within,
        )

    @property
    def sampling(self) -> np.ndarray | None:
        """Sampling weights of the records that are published."""
        given = self.table.sampling
        return None if given is None else given[self.cells.kept]

    @property
    def missing(self) -> bool:
        """Whether a value is missing in a record that is published."""
        return any(len(known) < len(self.table.names) for known in self.cells.observed)

    @cached_property
    def values(self) -> np.ndarray:
        """The records that are published, in the units of the data, on the host."""
        every = len(self.cells.kept) == self.table.values.shape[0]
        return self.table.on_host if every else self.table.on_host[self.cells.kept]

    def measured(self, values: np.ndarray) -> np.ndarray:
        """Values of the records of which differences times `scale` are distances.

        Those given, their logarithms, or in standard deviations of their stratum.
        """
        return self.scaling.measured(self._of_stratum(values))

    def _of_stratum(self, values: np.ndarray) -> np.ndarray:
        if self.within is None or self.table.strata is None:
            return values
        return self.within.apply(values, self.table.strata[self.cells.kept])

    @cached_property
    def filled(self) -> np.ndarray:
        """The points on the host, with the mean where a value is missing.

        What is missing is so in the whole group, and counts for nothing there. Those on a GPU are
        made again of the values, which are on the host once: the bits are the same.
        """
        if is_cupy_array(self.points):
            points = self.scaling.apply(self._of_stratum(self.values))
            points = points.astype(self.points.dtype)
        else:
            points = to_numpy(self.points)
        points = points.astype(np.float64, copy=False)
        absent = np.isnan(points)
        if not absent.any():
            return points
        count = np.maximum((~absent).sum(axis=0), 1)
        means = np.where(absent, 0.0, points / count).sum(axis=0)
        # The mean of equal values is that value: a rounded one would be variation.
        low, high = (np.where(absent, end, points) for end in (np.inf, -np.inf))
        means = np.minimum(np.maximum(means, low.min(axis=0)), high.max(axis=0))
        return np.where(absent, np.where(absent.all(axis=0), 0.0, means), points)


def prepare(table: Table, settings: Settings) -> Problem:
    """Choose the records, bring them to the device, standardize and weight them."""
    check_engine(settings.engine)
    k = fitting_k(settings.k, table.values.shape[0])
    units = None
    if table.units is None:
        cells = divide(table, k, settings.missing, settings.small_strata)
    else:
        _check_units(table, settings)
        cells, units = divide_units(table, k, settings.missing, settings.small_strata)
    every = len(cells.kept) == table.values.shape[0]
    records = table.values if every else take_records(table.values, cells.kept)
    work = _work(table, cells, settings)
    within = None
    if settings.scale == "strata":
        strata = _strata(table, settings)[cells.kept]
        within = _within_strata(table, cells, strata)
        xp = array_namespace(records)
        new = within.apply(to_numpy(records), strata)
        records = xp.asarray(new, device=device_of(records))
    placed, engine = _placed(records, settings.device or "auto", settings, work)
    if settings.precision == "single" and engine_name(engine) == "cpu":
        raise InputError(
            option("precision", "single"),
            " is for the GPU and the CPU engine computes in double: leave it out",
        )
    with on_device(placed):
        weights = check_weights(settings.variable_weights, table.names)
        scaling = table_scaling(placed, table, settings, weights, engine)
        points = scaling.apply(placed)
        xp = array_namespace(points)
        if settings.precision == "single":
            points = xp.astype(points, xp.float32)
    if settings.small_strata == "merge":
        cells = _merged(cells, units, points, table.kinds, k)
    scale = np.where(table.kinds == NOMINAL, np.sqrt(weights), scaling.scale)
    return Problem(table, k, cells, points, scaling, scale, engine_name(engine), within, units)


def _merged(cells: Cells, units: Units | None, points: Any, kinds: np.ndarray, k: int) -> Cells:
    """The cells after those of fewer than k records, or units, were merged with others."""
    if units is None:
        return cells if cells.sizes.min() >= k else merge(cells, to_numpy(points), kinds, k)
    own = units.cells(cells)
    if own.sizes.min() >= k:
        return cells
    new = merge(own, units.means(to_numpy(points)), kinds, k)
    return replace(new, kept=cells.kept, cell=new.cell[units.of], seen=cells.seen)


def numbers_only(table: Table, what: str, *options: str) -> None:
    """Refuse a table with categories for what takes numbers only; name options to leave out."""
    if table.mixed:
        named = [part for name in options for part in (" and ", option(name))][1:]
        advice = [": leave out ", *named] if named else []
        raise InputError(f"{what} numbers only, not ordinal or nominal columns", *advice)


def _check_units(table: Table, settings: Settings) -> None:
    """Refuse what is for records and not for units of several."""
    numbers_only(table, "units take", "unit")
    if settings.dominance is not None or settings.p_percent is not None:
        raise InputError(
            "rules on contributors count records and not units: leave out ", option("unit")
        )
    if settings.t is not None:
        raise InputError("t-closeness is for records and not for units: leave out ", option("unit"))


def _placed(points: Any, device: str, settings: Settings, work: Work) -> tuple[Any, Engine]:
    """The points on their device, and the engine; single precision is the CUDA engine's alone."""
    return choose(points, device, settings.engine, None if settings.precision == "single" else work)


def _work(table: Table, cells: Cells, settings: Settings) -> Work:
    """What the engine is for: grouping. Refinement has its own (`Problem.for_refinement`)."""
    known = isinstance(settings.method, str) and settings.method in METHODS
    name = settings.method if known else "mdav"  # an unknown one is refused later
    work = work_of(name, settings.options, cells.sizes, len(table.names))
    return work._replace(name=" ".join([work.name, *["of categories"] * table.mixed]))


def fitting_k(k: int, n: int) -> int:
    """Return k if n records can be grouped by it."""
    if k > n:
        raise too_few_records(k, n)
    return k


def table_scaling(
    values: Any, table: Table, settings: Settings, weights: np.ndarray, engine: Engine
) -> Scaling:
    """The scaling of a table's variables.

    Numbers are standardized, unless they were within strata; an ordinal variable's ranks are
    divided by the number of its categories (Domingo-Ferrer and Torra 2005), so that differences
    are below 1; of nominal ones only equality counts, so their numbers are left as they are.
    """
    scaling = unscaled(len(table.names))
    if settings.standardize and settings.scale != "strata":
        scaling = _of_numbers(values, table, settings.scale, engine)
    else:
        refuse_large(values)
    scaling.factor[:] = np.sqrt(weights)
    for j, known in table.categories.items():
        scaling.factor[j] /= max(1, len(known)) if table.kinds[j] == ORDINAL else 1
    scaling.factor[table.kinds == NOMINAL] = 1.0
    return scaling


def _of_numbers(values: Any, table: Table, scale: Scale, engine: Engine) -> Scaling:
    """The scaling of a table's numbers; other variables stay as they are."""
    scaling = unscaled(len(table.names))
    numbers = np.flatnonzero(table.kinds == NUMBER)
    if not len(numbers):
        refuse_large(values)
        return scaling
    find = {"robust": robust_scaling, "log": log_scaling}.get(scale, standard_scaling)
    xp = array_namespace(values)
    where = xp.asarray(numbers, device=device_of(values))
    found = find(
        values if len(numbers) == len(table.names) else xp.take(values, where, axis=1),
        [table.names[j] for j in numbers],
        engine,
    )
    for all_of, some_of in zip(scaling, found, strict=True):
        all_of[numbers] = some_of
    return scaling


def _strata(table: Table, settings: Settings) -> np.ndarray:
    """The stratum of each record, if each can have a scale of its own."""
    if table.strata is None:
        raise InputError(
            option("scale", "strata"), " needs strata: name their columns with ", option("by")
        )
    if settings.small_strata == "merge":
        raise InputError(
            option("scale", "strata"), " cannot be combined with ",
            option("small_strata", "merge"), ": records of two strata have no common scale",
        )  # fmt: skip
    return table.strata


def _within_strata(table: Table, cells: Cells, strata: np.ndarray) -> WithinStrata:
    """The scaling of each stratum, by the moments of its own records."""
    values, engine = table.on_host[cells.kept], engine_named("generic")
    return WithinStrata(
        {
            stratum: _of_numbers(values[rows], table, "standard", engine)
            for stratum, rows in members(strata)
        }
    )


def check_weights(weights: Weights | None, names: list[str]) -> np.ndarray:
    """The weight of each variable, if they can be used."""
    if weights is None:
        return np.ones(len(names))
    if hasattr(weights, "to_dict") and list(getattr(weights, "index", [])) != [*range(len(names))]:
        weights = weights.to_dict()  # a Series of pandas with names of its own
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if str(name) not in names]
        if unknown:
            raise InputError(
                f"a weight is given for {shown(unknown[0])}, which is not protected: "
                f"choose among {', '.join(names)}"
            )
        known = {str(name): weight for name, weight in weights.items()}
        weights = [known.get(name, 1.0) for name in names]
    w = as_floats(weights, f"variable_weights={shown(weights)} are not numbers: give one for each")
    if w.shape != (len(names),):
        raise InputError(f"{w.size} weights for {len(names)} variables: give one for each")
    if not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
        raise InputError("a weight is negative, not finite, or all are 0: give numbers above 0")
    if w.max() > 1e100 or w[w > 0].min() < 1e-100:  # their squares must not overflow
        raise InputError("a weight is above 1e100 or below 1e-100: give numbers near 1")
    return w
