"""The columns of a table: their values as numbers, and what each is for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import device

from ..checks import as_floats
from ..errors import InputError, option, repeated, shown
from ..kernels import array_namespace, to_numpy
from ..settings import ROLES, Roles
from .labels import numbered

NUMBER, ORDINAL, NOMINAL = 0, 1, 2


Exact = Mapping[int, np.ndarray] | None  # integers of some variables, to the last digit


@dataclass(frozen=True)
class Sensitive:
    """A column that is published as it is and that nobody may infer from the others.

    Attributes
    ----------
    name : str
    codes : int array of shape (n,)
        The rank of each value among all different ones.
    ordered : bool
        Whether they are numbers.
    """

    name: str
    codes: np.ndarray
    ordered: bool


@dataclass(frozen=True)
class Table:
    """The variables to protect, and the columns that say how.

    Attributes
    ----------
    values : array of shape (n, p)
        float64, in the array library and on the device of the data; NaN where missing. Ordinal
        and nominal variables hold the number of their category.
    names : list of str
        Names of the p variables.
    rebuild : callable
        ``rebuild(protected, kept, keep_integers, exact, weights)``: from a protected NumPy matrix
        of the records at the positions ``kept`` to the same kind of object as the data; ``exact``
        holds the protected integers of some variables, to the last digit, and ``weights`` new
        sampling weights, if any.
    kinds : int array of shape (p,)
        NUMBER, ORDINAL or NOMINAL.
    categories : dict
        Of an ordinal or nominal variable's position: its categories in the order of their numbers.
    whole : bool array of shape (p,)
        Whether the data hold a variable as integers.
    exact : dict
        Of the position of a variable of integers above 2^53, which float64 cannot hold: the
        integers themselves, as an int64 or uint64 array of shape (n,); 0 where missing.
    least : dict
        Of the position of a variable of signed integers: the least that its type can hold.
    strata : int array of shape (n,), or None
        Number of each record's stratum.
    strata_names : list of str
        What to call each stratum.
    roles : Roles
        The columns that were found for each role, by the keys of the data: names, or positions.
    sampling : float array of shape (n,), or None
        Sampling weight of each record.
    sensitive : Sensitive, optional
        The sensitive attribute.
    units : int array of shape (n,), or None
        Number of the unit, such as a household, that each record belongs to.
    """

    values: Any
    names: list[str]
    rebuild: Callable[..., Any]
    kinds: np.ndarray
    whole: np.ndarray
    categories: dict[int, list[Any]] = field(default_factory=dict)
    strata: np.ndarray | None = None
    strata_names: list[str] = field(default_factory=list)
    sampling: np.ndarray | None = None
    roles: Roles = ROLES
    exact: dict[int, np.ndarray] = field(default_factory=dict)
    least: dict[int, int] = field(default_factory=dict)
    sensitive: Sensitive | None = None
    units: np.ndarray | None = None

    @cached_property
    def on_host(self) -> np.ndarray:
        """The values as a NumPy array; from a GPU they are copied when they are first asked for."""
        return to_numpy(self.values)

    @cached_property
    def absent(self) -> np.ndarray:
        """Where values are missing, a bool array of shape (n, p) on the host."""
        xp = array_namespace(self.values)
        missing = xp.isnan(self.values)
        some = bool(xp.any(missing))
        return to_numpy(missing) if some else np.zeros(self.values.shape, dtype=bool)

    def only(self, places: Sequence[int]) -> "Table":
        """The table of some of the variables, which cannot be rebuilt."""
        xp = array_namespace(self.values)
        where = xp.asarray(places, device=device(self.values))

        def moved(of: dict[int, Any]) -> dict[int, Any]:
            return {i: of[j] for i, j in enumerate(places) if j in of}

        return replace(
            self,
            values=xp.take(self.values, where, axis=1),
            names=[self.names[j] for j in places],
            kinds=self.kinds[places],
            whole=self.whole[places],
            categories=moved(self.categories),
            exact=moved(self.exact),
            least=moved(self.least),
        )

    @property
    def mixed(self) -> bool:
        """Whether a variable is ordinal or nominal."""
        return bool((self.kinds != NUMBER).any())


def too_large(integers: Any) -> bool:
    """Whether float64 cannot hold some of these integers."""
    limit = 2**53
    return len(integers) > 0 and (int(integers.max()) > limit or int(integers.min()) < -limit)


def is_every(kept: np.ndarray, n: int) -> bool:
    """Whether all n records are kept, in their order."""
    return len(kept) == n and bool((kept == np.arange(n)).all())


def first_with(codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each wanted code, NaN included, the first record that has it."""
    known, first = np.unique(codes, return_index=True)
    return first[np.searchsorted(known, wanted)]


def choose(
    columns: list[Any] | None,
    by: list[Any],
    sampling_weight: Any,
    ordinal: Mapping[Any, Any] | list[Any],
    nominal: list[Any],
    existing: list[Any],
    sensitive: list[Any],
    unit: Sequence[Any] = (),
) -> tuple[list[Any], dict[int, Sequence[Any] | None]]:
    """The columns to protect, and of the ordinal and nominal ones: position and given order."""
    if columns is not None and not columns:
        raise InputError("no columns are chosen: name at least one")
    for given in (by, list(ordinal), nominal):
        check_unique(given)
    chosen = list(columns) if columns is not None else [
        c for c in existing
        if c not in by and c not in sensitive and c not in unit
        and (sampling_weight is None or c != sampling_weight)
    ]  # fmt: skip
    check_unique(chosen)
    both = [c for c in ordinal if c in nominal]
    if both:
        raise InputError(f"column {both[0]!r} is named ordinal and nominal: choose one")
    chosen += [c for c in [*ordinal, *nominal] if c not in chosen]
    for name, taken in (
        ("by", by), ("sampling_weight", [sampling_weight]), ("sensitive", sensitive),
        ("unit", unit),
    ):  # fmt: skip
        twice = [c for c in chosen if c in taken and c is not None]
        if twice:
            raise InputError(
                f"column {twice[0]!r} is named in ",
                option(name),
                " and cannot be protected as well",
            )
    orders: dict[int, Sequence[Any] | None] = {
        chosen.index(c): _order(c, ordinal[c]) if isinstance(ordinal, Mapping) else None
        for c in ordinal
    }
    orders |= {chosen.index(c): None for c in nominal}
    return chosen, orders


def _order(column: Any, given: Any) -> list[Any] | None:
    """The categories of an ordinal column, lowest first, as they were given."""
    if given is None:
        return None
    given = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise InputError(
            f"the order of the categories of column {column!r} is {shown(given)}: give a list, "
            "lowest first"
        )
    order = list(given)
    texts = [shown(category) for category in order]
    if len(set(texts)) < len(texts):
        raise InputError(f"a category of column {column!r} is twice in the order that was given")
    return order


def roles_of(
    chosen: list[Any],
    by: list[Any],
    sampling_weight: Any,
    ordinal: Any,
    nominal: list[Any],
    sensitive: list[Any],
    unit: list[Any],
) -> Roles:
    """The roles of the columns that were found."""
    return Roles(
        chosen, by or None, sampling_weight, ordinal or (), nominal or (),
        sensitive[0] if sensitive else None, unit or None,
    )  # fmt: skip


def kinds_of(p: int, orders: Mapping[int, Any], nominal: Sequence[int]) -> np.ndarray:
    """What each of p variables is."""
    kinds = np.full(p, NUMBER)
    kinds[list(orders)] = ORDINAL
    kinds[list(nominal)] = NOMINAL
    return kinds


def combine(
    codes: list[np.ndarray], texts: list[list[str]], columns: list[str]
) -> tuple[np.ndarray, list[str]]:
    """One number for each combination of values, and its name: 'region=North, size=3'."""
    found, combined = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    names = [
        ", ".join(
            f"{column}={text[code]}" for column, text, code in zip(columns, texts, row, strict=True)
        )
        for row in found
    ]
    return combined.reshape(-1), names


def unit_numbers(columns: Sequence[np.ndarray], names: Sequence[str]) -> np.ndarray:
    """The number of each record's unit, by the values of one or several columns.

    Parameters
    ----------
    columns : sequence of int array
        The number of each record's value, -1 if it is missing.
    names : sequence of str
        Of the columns.
    """
    for column, name in zip(columns, names, strict=True):
        missing = int((column < 0).sum())
        if missing:
            raise InputError(
                f"column {name!r} names the unit of each record and is missing in {missing}: "
                "fill it in, or leave out those records"
            )
    together = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        together = numbered(together * (int(column.max(initial=0)) + 1) + column)[0]
    return together


def ranks(known: Sequence[Any], order: Sequence[Any], name: str) -> list[int]:
    """The rank of each known category in the order that was given."""
    unknown = [value for value in known if value not in order]
    if unknown:
        raise InputError(
            f"category {unknown[0]!r} of column {name!r} is not in the order that was given "
            f"({' < '.join(map(str, order))}): name all of them, lowest first"
        )
    return [list(order).index(value) for value in known]


def sensitive_column(
    name: Any, values: Any, ordered: bool, by: list[Any], weight: Any
) -> Sensitive:
    """The sensitive attribute of a table, from numbers, NaN if missing, or codes, -1 if missing."""
    for role, taken in (("by", by), ("sampling_weight", [weight])):
        if name in taken:
            raise InputError(
                f"column {name!r} is sensitive and named in ", option(role), " too: choose one"
            )
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    else:
        missing = np.zeros(len(values), dtype=bool) if ordered else values < 0
    if missing.any():
        raise InputError(
            f"{int(missing.sum())} values of the sensitive column {str(name)!r} are missing, the "
            f"first that of record {int(missing.argmax()) + 1}, counted from 1: leave out those "
            "records"
        )
    codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    return Sensitive(str(name), codes, ordered)


def one_column(name: str, columns: list[Any]) -> list[Any]:
    """Columns that are given for a role that only one can have."""
    if len(columns) > 1:
        raise InputError(option(name, columns), " must be one column")
    return columns


def numbers_given(values: Any) -> np.ndarray:
    """Sampling weights that are not a column."""
    return as_floats(values, "the sampling weights are not numbers: give one for each")


def check_unique(chosen: list[Any]) -> None:
    twice = repeated(chosen)
    if twice:
        raise InputError(f"column {shown(twice[0])} is chosen twice: name each column once")


def places_of(table: Table, test: str) -> tuple[int, str]:
    """How many values are NaN or infinite ("isnan", "isinf"), and in which columns."""
    xp = array_namespace(table.values)
    if bool(xp.all(xp.isfinite(table.values))):
        return 0, ""
    bad = xp.astype(getattr(xp, test)(table.values), xp.int64)
    found = to_numpy(xp.sum(bad, axis=0))
    where = [f"{name} ({count})" for name, count in zip(table.names, found, strict=True) if count]
    more = f" and {len(where) - 5} more" if len(where) > 5 else ""
    return int(found.sum()), f"{', '.join(where[:5])}{more}"
