"""From a table to proven groups: scale, divide into cells, group each, prove, measure the loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from ..checks import LARGEST, as_floats, is_whole, one_of, shown, true_or_false, whole_number
from ..data.columns import NOMINAL, NUMBER, ORDINAL, Table
from ..data.scaling import standardized
from ..data.strata import Cells, divide, merge
from ..engines import check_device, check_engine, engine_name, move, on_device
from ..errors import InputError, too_few_records
from ..kernels import engine_for
from ..methods.common import take_records

Weights = Sequence[float] | np.ndarray | Mapping[Any, float]


@dataclass(frozen=True)
class Problem:
    """Records that are ready to be grouped.

    Attributes
    ----------
    table : Table
    k : int
    cells : Cells
        Which records are published, and which of them may be in a group together.
    values : NumPy array of shape (m, p)
        The records that are published, in the units of the data.
    points : array of shape (m, p)
        The same on the device: standardized and weighted.
    scale : array of shape (p,)
        What differences of each variable are multiplied by in distances and loss.
    """

    table: Table
    k: int
    cells: Cells
    values: np.ndarray
    points: Any
    scale: np.ndarray

    @property
    def sampling(self) -> np.ndarray | None:
        """Sampling weights of the records that are published."""
        given = self.table.sampling
        return None if given is None else given[self.cells.kept]

    @cached_property
    def filled(self) -> np.ndarray:
        """The points on the host, with the mean where a value is missing.

        What is missing is so in the whole group, and counts for nothing there.
        """
        points = engine_for(self.points).to_numpy(self.points).astype(np.float64, copy=False)
        absent = np.isnan(points)
        if not absent.any():
            return points
        count = np.maximum((~absent).sum(axis=0), 1)
        return np.where(absent, np.where(absent, 0.0, points).sum(axis=0) / count, points)


def prepare(
    table: Table,
    k: Any,
    *,
    standardize: bool = True,
    weights: Weights | None = None,
    missing: str = "error",
    small_strata: str = "error",
    device: str | None = "auto",
    engine: str | None = None,
    precision: str = "double",
) -> Problem:
    """Choose the records, bring them to the device, standardize and weight them."""
    check_engine(engine)
    device = check_device(device)
    one_of("precision", precision, ("double", "single"))
    standardize = true_or_false("standardize", standardize)
    k = check_k(k, table.values.shape[0])
    values = engine_for(table.values).to_numpy(table.values)
    cells = divide(table, values, k, missing, small_strata)
    every = len(cells.kept) == len(values)
    moved = move(table.values if every else take_records(table.values, cells.kept), device, engine)
    if precision == "single" and engine_name(moved, engine) == "cpu":
        raise InputError(
            "precision='single' is for the GPU and the CPU engine computes in double: leave it out"
        )
    with on_device(moved):
        points, scale = _scaled(moved, table, standardize, check_weights(weights, table.names))
        xp = array_namespace(points)
        if precision == "single":
            points = xp.astype(points, xp.float32)
    if small_strata == "merge":
        cells = merge(cells, engine_for(points).to_numpy(points), table.kinds, k)
    return Problem(table, k, cells, values if every else values[cells.kept], points, scale)


def check_k(k: Any, n: int) -> int:
    """Return k as an int if n records can be grouped by it."""
    if not is_whole(k):
        raise InputError(f"k={shown(k)} is not a whole number: give the least group size")
    number = int(k)
    if number < 1:
        raise InputError(f"k={shown(number)} is too small: a group has at least 1 record")
    if number > n:
        raise too_few_records(shown(number), n)
    return number


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
    w = as_floats(weights, f"weights={shown(weights)} are not numbers: give one for each")
    if w.shape != (len(names),):
        raise InputError(f"{w.size} weights for {len(names)} variables: give one for each")
    if not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
        raise InputError("a weight is negative, not finite, or all are 0: give numbers above 0")
    if w.max() > 1e100 or w[w > 0].min() < 1e-100:  # their squares must not overflow
        raise InputError("a weight is above 1e100 or below 1e-100: give numbers near 1")
    return w


def _scaled(
    values: Any, table: Table, standardize: bool, weights: np.ndarray
) -> tuple[Any, np.ndarray]:
    """Points for the methods and what differences were multiplied by.

    Numbers are standardized; an ordinal variable's ranks are divided by the number of its
    categories (Domingo-Ferrer and Torra 2005), so that differences are below 1; of nominal ones
    only equality counts.
    """
    xp = array_namespace(values)
    p = len(table.names)
    numbers = np.flatnonzero(table.kinds == NUMBER)
    if standardize and len(numbers) == p:
        points, scale = standardized(values, table.names)
    elif standardize and len(numbers):
        where = xp.asarray(numbers, device=device_of(values))
        some, factors = standardized(
            xp.take(values, where, axis=1), [table.names[j] for j in numbers]
        )
        points, scale = xp.astype(values, xp.float64, copy=True), np.ones(p)
        scale[numbers] = factors
        for place, j in enumerate(numbers.tolist()):
            points[:, j] = some[:, place]
    else:
        points, scale = values, np.ones(p)
        finite = xp.where(xp.isnan(values), 0.0, values)
        if float(xp.max(xp.abs(finite))) > 1e150:
            raise InputError("the data hold values above 1e150, too large to square: rescale them")
    factors = np.sqrt(weights)
    for j, known in table.categories.items():
        factors[j] /= max(1, len(known)) if table.kinds[j] == ORDINAL else 1
    scale = scale * factors
    factors[table.kinds == NOMINAL] = 1.0  # their numbers are only compared
    if (factors == 1.0).all():
        return points, scale
    return points * xp.asarray(factors, device=device_of(points)), scale


def check_seed(seed: Any) -> int:
    """Return a seed as an int, if it is one."""
    return whole_number("seed", seed, 0, LARGEST)
