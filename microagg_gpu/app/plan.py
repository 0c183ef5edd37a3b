"""What the user decided, as plain values: the page keeps it, the worker makes a job of it."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ..errors import InputError
from ..files.formats import check_ending
from ..settings import (
    DEFAULT,
    FORMAT,
    Aggregate,
    Format,
    Missing,
    Roles,
    Settings,
    SmallStrata,
)
from ..tasks.protect import Job

Role = Literal["protect", "stratum", "weight", "ordinal", "nominal", "keep", "drop"]
ROLES: tuple[Role, ...] = get_args(Role)
STEPS = 100
"""Refinement steps per record. Steps, not seconds, give the same groups on every machine."""


@dataclass(frozen=True)
class Choices:
    """How to protect."""

    k: int = 5
    method: str = DEFAULT.method
    refine: bool = False
    aggregate: Aggregate = DEFAULT.aggregate
    missing: Missing = DEFAULT.missing
    small_strata: SmallStrata = DEFAULT.small_strata
    average_weight: bool = False

    def settings(self) -> Settings:
        """The same as the library's settings; what cannot be used is refused."""
        return Settings(
            self.k, self.method, refine_steps=STEPS if self.refine else None,
            aggregate=self.aggregate, missing=self.missing, small_strata=self.small_strata,
            average_weight=self.average_weight, keep_integers=True,
        )  # fmt: skip

    @property
    def label(self) -> str:
        """The method, and whether its groups are refined."""
        return f"{self.method} + refine" if self.refine else self.method


@dataclass(frozen=True)
class Plan:
    """A file, what its columns are, and how to protect it.

    Attributes
    ----------
    source : str
        Where the file is.
    delimiter, encoding, decimal
        As in the command; None is detected.
    roles : dict
        The role of each column.
    orders : dict
        Categories of ordinal columns, lowest first; none for numbers.
    """

    source: str
    delimiter: str | None = FORMAT.delimiter
    encoding: str | None = FORMAT.encoding
    decimal: str = FORMAT.decimal
    roles: dict[str, Role] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "Plan":
        """A plan from `as_json`."""
        return cls(**{**given, "choices": Choices(**given["choices"])})

    def as_json(self) -> dict[str, Any]:
        """The plan as dicts and lists."""
        return asdict(self)

    @property
    def form(self) -> Format:
        """How the file is written."""
        return Format(self.delimiter, self.encoding, self.decimal)

    def having(self, *roles: Role) -> list[str]:
        """The columns that have one of some roles, in the order of the file."""
        return [name for name, role in self.roles.items() if role in roles]

    def library_roles(self) -> Roles:
        """The roles as the library names them."""
        weights = self.having("weight")
        if len(weights) > 1:
            raise InputError(f"{' and '.join(weights)} are sampling weights: choose one of them")
        ordinal = {name: self.orders.get(name) or None for name in self.having("ordinal")}
        numbers, nominal = self.having("protect"), self.having("nominal")
        if not (numbers or ordinal or nominal):
            raise InputError("no column is protected: choose at least one")
        return Roles(numbers, self.having("stratum"), next(iter(weights), None), ordinal, nominal)

    def settings(self) -> Settings:
        """The settings; weights are averaged only if there are any."""
        averaged = self.choices.average_weight and bool(self.having("weight"))
        return replace(self.choices, average_weight=averaged).settings()

    def job(self, output: str = "protected.csv") -> Job:
        """The job of the command, in the folder of the file; `output` names what is written."""
        source = Path(self.source)
        target = Path(output)
        stem = target.name.removesuffix("".join(target.suffixes)) or target.stem
        return Job(
            source, target, self.library_roles(), self.settings(), self.having("drop"), self.form,
            report=Path(f"{stem}-report.html"), json_file=None, note=Path(f"{stem}-note.html"),
        )  # fmt: skip


def output_name(source: str, k: int) -> str:
    """What the protected file is called: companies.csv becomes companies-k5.csv.

    What can be read and not written becomes a file that the same program reads, or CSV.
    """
    path = Path(source)
    ending = "".join(path.suffixes[-2:] if path.suffix in (".gz", ".bz2", ".zst", ".lz4")
                     else path.suffixes[-1:])  # fmt: skip
    stem = path.name.removesuffix(ending) or "protected"
    try:
        check_ending(path)
    except InputError:
        ending = ".xpt" if ending.lower() == ".sas7bdat" else ".csv"
    return f"{stem}-k{k}{ending}"
