"""Every option once: its type, its default, and the checks that need no data.

The functions, the command and the estimator take their defaults from `DEFAULT`, `ROLES`, `CLUSTER`
and `FORMAT`, and their choices from the `Literal` types here.
"""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from array_api_compat import is_cupy_array

from .checks import (
    LARGEST,
    as_list,
    is_whole,
    number,
    on_host,
    one_of,
    true_or_false,
    whole_number,
)
from .errors import InputError, option, repeated
from .kernels.protocol import EngineName

Missing = Literal["error", "pattern", "drop"]
SmallStrata = Literal["error", "merge", "suppress"]
Aggregate = Literal["mean", "median", "trimmed"]
Scale = Literal["standard", "strata", "robust", "log"]
Precision = Literal["double", "single"]
Unrepaired = Literal["keep", "suppress"]
TMethod = Literal["auto", "first", "merge"]

Columns = Any  # the name or position of a column, or an iterable of them; None for none
Ordinal = Columns | Mapping[Any, Sequence[Any] | None]
Blocks = Sequence[Any]  # of columns, each a list of them
Decimals = int | Mapping[Any, int]  # for all variables, or by name
Weights = Any  # a number for each variable: a sequence, an array, or a mapping from its name


def check_k(k: Any) -> int:
    """Return the least group size as an int, if it is one."""
    if not is_whole(k):
        raise InputError(option("k", k), " is not a whole number: give the least group size")
    if int(k) < 1:
        raise InputError(option("k", k), " is too small: a group has at least 1 record")
    return int(k)


def check_device(device: Any) -> str:
    """Return the name of a device if it can be one; None is "auto"."""
    if device is None:
        return "auto"
    if not isinstance(device, str) or not re.fullmatch(r"auto|cpu|cuda(:[0-9]{1,4})?", device):
        raise InputError(
            option("device", device), " is unknown: choose 'auto', 'cpu', 'cuda' or 'cuda:1'"
        )
    return device


def check_decimals(decimals: Any) -> Any:
    """Return numbers of decimals, one or by name, if they can be used."""
    if decimals is None:
        return None
    if isinstance(decimals, Mapping):
        return {str(name): whole_number("decimals", d, 0, 15) for name, d in decimals.items()}
    return whole_number("decimals", decimals, 0, 15)


def check_dominance(rule: Any, name: str = "dominance") -> tuple[int, float] | None:
    """Return (n, k): the n largest contributors may hold k percent; None is no rule."""
    if rule is None:
        return None
    pair = rule if isinstance(rule, (tuple, list)) else ()
    try:
        count, percent = pair
        return whole_number(name, count, 1), number(name, percent, 0, 100, above=True)
    except (ValueError, TypeError):
        raise InputError(
            option(name, rule),
            " is not a number of contributors and a percentage: give them as in 1,85",
        ) from None


def check_p_percent(percent: Any) -> float | None:
    """Return the percentage of the p % rule; None is no rule."""
    return None if percent is None else number("p_percent", percent, 0, 100, above=True)


def check_blocks(blocks: Any) -> list[list[Any]] | None:
    """Return blocks of columns, each a list of them, if they can be some; None is none."""
    if blocks is None:
        return None
    given = [] if isinstance(blocks, (str, Mapping)) else as_list(blocks)
    found = [[block] if is_name(block) else as_list(block) for block in given]
    names = [name for block in found for name in block]
    if not names or not all(found) or not all(map(is_name, names)):
        raise InputError(
            option("blocks", blocks), " must be lists of columns, such as [['a', 'b'], ['c']]"
        )
    twice = repeated(map(str, names))
    if twice:
        raise InputError(f"column {twice[0]!r} is in two blocks: choose one")
    return [[int(name) if is_whole(name) else str(name) for name in block] for block in found]


def is_name(value: Any) -> bool:
    """Whether a value can be the name or position of a column."""
    return isinstance(value, str) or (is_whole(value) and abs(int(value)) <= LARGEST)


def check_t(t: Any) -> float:
    """Return the largest distance of t-closeness."""
    return number("t", t, 0, 1, above=True)


@dataclass(frozen=True)
class Roles:
    """Which columns are protected, and what other columns are for; as in `microaggregate`."""

    columns: Columns = None
    by: Columns = None
    sampling_weight: Any = None
    ordinal: Ordinal = ()
    nominal: Columns = ()
    sensitive: Any = None
    unit: Columns = None


@dataclass(frozen=True)
class Settings:
    """How records are protected; as in `microaggregate`. Values that cannot be used are refused."""

    k: int = 3
    method: str = "mdav"
    options: Mapping[str, Any] = field(default_factory=dict)
    standardize: bool = True
    variable_weights: Weights | None = None
    device: str | None = "auto"
    engine: EngineName | None = None
    precision: Precision = "double"
    seed: int = 0
    missing: Missing = "error"
    small_strata: SmallStrata = "error"
    aggregate: Aggregate = "mean"
    keep_integers: bool = False
    decimals: Decimals | None = None
    average_weight: bool = False
    refine: float | None = None
    refine_steps: int | None = None
    shuffle: bool = False
    dominance: tuple[int, float] | None = None
    p_percent: float | None = None
    unrepaired: Unrepaired = "keep"
    scale: Scale = "standard"
    trim: float = 0.2
    blocks: Blocks | None = None
    t: float | None = None
    t_method: TMethod = "auto"

    def __post_init__(self) -> None:
        for name, kind in (
            ("missing", Missing), ("small_strata", SmallStrata), ("aggregate", Aggregate),
            ("precision", Precision), ("unrepaired", Unrepaired), ("scale", Scale),
            ("t_method", TMethod),
        ):  # fmt: skip
            one_of(name, getattr(self, name), get_args(kind))
        if self.engine is not None:
            one_of("engine", self.engine, get_args(EngineName))
        self._set("k", check_k(self.k))
        self._set("seed", whole_number("seed", self.seed, 0, LARGEST))
        for name in ("standardize", "keep_integers", "average_weight", "shuffle"):
            self._set(name, true_or_false(name, getattr(self, name)))
        if self.shuffle and not self.seed:  # whoever knows the seed can undo the shuffle
            self._set("seed", 1 + secrets.randbelow(LARGEST))
        if not self.standardize and self.scale != "standard":
            raise InputError(
                option("standardize", False), " cannot be combined with ",
                option("scale", self.scale), ": choose one",
            )  # fmt: skip
        self._set("blocks", check_blocks(self.blocks))
        self._set("trim", number("trim", self.trim, 0, 0.49))
        if self.trim != type(self).trim and self.aggregate != "trimmed":
            raise InputError(
                option("trim", self.trim), " is for trimmed means: add ",
                option("aggregate", "trimmed"),
            )  # fmt: skip
        self._set("device", check_device(self.device))
        self._set("decimals", check_decimals(self.decimals))
        if is_cupy_array(self.variable_weights):
            self._set("variable_weights", on_host(self.variable_weights))
        if self.refine is not None:
            self._set("refine", number("refine", self.refine, 0))
        if self.refine_steps is not None:
            self._set("refine_steps", whole_number("refine_steps", self.refine_steps, 0, 10**9))

        self._set("dominance", check_dominance(self.dominance))
        self._set("p_percent", check_p_percent(self.p_percent))
        if self.unrepaired != "keep" and self.dominance is None and self.p_percent is None:
            raise InputError(
                option("unrepaired", self.unrepaired),
                " is for groups that break a rule on their contributors: add ",
                option("dominance"),
                " or ",
                option("p_percent"),
            )

        if self.t is not None:
            self._set("t", check_t(self.t))
            self._check_closeness()

    def _check_closeness(self) -> None:
        """Refuse what does not go together with t-closeness."""
        if self.dominance is not None or self.p_percent is not None:
            raise InputError(
                option("t", self.t),
                " and rules on contributors would undo each other's groups: choose one",
            )
        others = [name for name in ("refine", "refine_steps") if getattr(self, name) is not None]
        others += ["method"] if self.method != "mdav" else list(self.options)
        if self.t_method == "first" and others:
            raise InputError(
                option("t_method", "first"),
                " makes groups of its own: leave out ",
                option(others[0]),
                ", or use ",
                option("t_method", "merge"),
            )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class ClusterSettings:
    """How records are divided on a Dask cluster; as in `distributed.microaggregate`."""

    block: int = 100_000
    repair: int = 10

    def __post_init__(self) -> None:
        whole_number("block", self.block, 1)
        whole_number("repair", self.repair, 0)


@dataclass(frozen=True)
class Format:
    """How numbers and texts of a file are written; None is detected.

    `published_decimals` are those of the published numbers: "input", "exact", or how many.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str = "."
    published_decimals: str = "input"


DEFAULT, ROLES, CLUSTER, FORMAT = Settings(), Roles(), ClusterSettings(), Format()
COMPARED_SIZES = 3, 5
"""The k that `compare` tries."""
COMPARED_STEPS = 200
"""Steps per record by which the command `compare` refines the best groups of each k."""
REFINE_SECONDS = 30.0
"""How long `refine` works."""


def changed(given: Any) -> dict[str, Any]:
    """The fields of a settings object that differ from their defaults."""
    default = type(given)()
    return {
        f.name: value
        for f in fields(given)
        if not _equal(value := getattr(given, f.name), getattr(default, f.name))
    }


def _equal(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))
