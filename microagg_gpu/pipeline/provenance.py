"""What was done: one object, from which the terminal, the report and the JSON file print."""

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..errors import as_text, shown
from ..files.verdict import Verdict
from ..measures.sensitive import ClosenessCheck
from ..methods import METHODS
from ..settings import FORMAT, Roles, Settings, changed
from .contributors import Repair


class Refinement(NamedTuple):
    """What was asked of a refinement, and where it began.

    Attributes
    ----------
    before : float
        The loss of the groups that it started from, about their plain means.
    seconds, steps
        The budget.
    stopped : float, optional
        The share of the budget that was used when Ctrl-C ended it.
    """

    before: float
    seconds: float | None
    steps: int | None
    stopped: float | None

    def __str__(self) -> str:
        budget = f"{self.seconds:g} s" if self.steps is None else f"{self.steps} steps per record"
        early = "" if self.stopped is None else f", stopped after {100 * self.stopped:.0f} % of it"
        return f"from a loss of {self.before:.4f} %, {budget}{early}"


@dataclass(frozen=True)
class FilesUsed:
    """The files of a run of the command, and what was done to their columns.

    Attributes
    ----------
    source, output : str
        Paths as they were given.
    report, json, plot : str
        Other files that were written; empty if they were not.
    drop : list of str
        Columns left out of the output.
    group_column : str, optional
    bound : str
        What a lower bound says, if one was computed.
    delimiter, encoding, decimal, keep_metadata, decimals, strict, note, report_strata,
    report_more, known, bound_seconds
        As in the command.
    verdict : Verdict, optional
        As counted in the output.
    all_columns : bool
        Whether no column was named, so that all that have no other use are protected.
    """

    source: str
    output: str
    report: str = ""
    json: str = ""
    plot: str = ""
    drop: list[str] = field(default_factory=list)
    group_column: str | None = None
    bound: str = ""
    delimiter: str | None = FORMAT.delimiter
    encoding: str | None = FORMAT.encoding
    decimal: str = FORMAT.decimal
    keep_metadata: bool = False
    decimals: str = FORMAT.published_decimals
    strict: bool = False
    verdict: Verdict | None = None
    note: str = ""
    report_strata: bool = False
    report_more: bool = False
    known: list[str] = field(default_factory=list)
    bound_seconds: float | None = None
    all_columns: bool = False


@dataclass(frozen=True)
class Provenance:
    """What was done to the records, enough to repeat it.

    Attributes
    ----------
    roles : Roles
        The columns as they were found in the data.
    settings : Settings
    names : list of str
        The variables that were protected.
    device, engine : str
        Where the method ran.
    seconds : float
        How long the method took.
    found_by : str
        What won, for method "best".
    refined : Refinement, optional
    dropped, suppressed : int
        Records left out for missing values, or because their stratum has fewer than k.
    merged : list of str
        Strata that were merged, as 'a + b'.
    dominance : Repair, optional
        What a rule on contributors found and changed.
    no_mad : list of str
        Variables with a MAD of 0, which were scaled by their standard deviation.
    closeness : ClosenessCheck, optional
        What groups give away of a sensitive attribute.
    files : FilesUsed, optional
        Of a run of the command.
    """

    roles: Roles
    settings: Settings
    names: list[str]
    device: str
    engine: str
    seconds: float
    found_by: str = ""
    refined: Refinement | None = None
    dropped: int = 0
    suppressed: int = 0
    merged: list[str] = field(default_factory=list)
    dominance: Repair | None = None
    no_mad: list[str] = field(default_factory=list)
    closeness: ClosenessCheck | None = None
    files: FilesUsed | None = None

    @property
    def left_out(self) -> str:
        """Which records are not published, in a phrase; empty if all are."""
        repair = self.dominance
        return left_out(self.dropped, self.suppressed, 0 if repair is None else repair.suppressed)

    @property
    def finder(self) -> str:
        """What found the groups, in words."""
        return _T_METHODS.get(self.found_by, self.found_by)

    def python(self) -> str:
        """The Python call that repeats the run, for `data` of pandas where columns are dropped."""
        drop = [] if self.files is None else self.files.drop
        return self._call(f"data.drop(columns={_literal(drop)})" if drop else "data")

    def _call(self, data: str) -> str:
        given = {"k": self.settings.k, **changed(self.settings)}
        options = given.pop("options", {})
        method = given.pop("method", self.settings.method)
        roles = {name: _listed(value) for name, value in changed(self.roles).items()}
        if isinstance(self.roles.sampling_weight, np.ndarray):  # not a column: as it was given
            roles["sampling_weight"] = _Name("sampling_weight")
        if method == "given":
            budget = {"seconds": given.pop("refine"), "steps": given.pop("refine_steps", None)}
            return f"refine({', '.join([data, 'labels', *_keywords(given | budget | roles)])})"
        given = {"k": given.pop("k"), "method": method, **roles, **given, **options}
        return f"microaggregate({', '.join([data, *_keywords(given)])})"

    def command(self) -> str | None:
        """The command line that repeats the run, if files were protected by the command."""
        return None if self.files is None else command_line(self.settings, self.roles, self.files)

    def script(self) -> str | None:
        """A Python program that writes the same file, if files were protected by the command."""
        if self.files is None:
            return None
        files, roles = self.files, changed(self.roles)
        given = {
            name: value
            for name in ("delimiter", "encoding", "decimal")
            if (value := getattr(files, name)) != getattr(FORMAT, name)
        }
        reading = ", ".join([f"Path({files.source!r})", *_keywords(given)])
        return _SCRIPT.format(
            reading=reading, roles=", ".join(_keywords(roles)), drop=_literal(files.drop),
            missing=self.settings.missing, call=self._call("data"), output=files.output,
            column=files.group_column, strata=_literal(roles.get("by", [])),
            metadata=files.keep_metadata,
        )  # fmt: skip

    def rows(self) -> dict[str, str]:
        """What was done, as texts with names, in the order of a report; empty ones left out."""
        settings, roles, files = self.settings, self.roles, self.files
        rows = {
            "From": "" if files is None else files.source,
            "To": "" if files is None else files.output,
            "Method": "given groups"
            if settings.method == "given"
            else f"{named(settings.method, settings.options)} ({METHODS[settings.method].paper})",
            "Found by": self.finder,
            "Refined": "" if self.refined is None else str(self.refined),
            "Contributors": "" if self.dominance is None else str(self.dominance),
            "Sensitive": "" if self.closeness is None else str(self.closeness),
            "Lower bound": "" if files is None else files.bound,
            "Columns": ", ".join(self.names),
            "Blocks": "; ".join(", ".join(map(str, block)) for block in settings.blocks or ()),
            "Strata": ", ".join(map(str, roles.by or ())),
            "Units": ", ".join(map(str, roles.unit or ())) + " (k counts units)" * bool(roles.unit),
            "Sampling weight": roles.sampling_weight
            if isinstance(roles.sampling_weight, str)
            else "",
            "Missing values": "" if settings.missing == "error" else settings.missing,
            "Variable weights": ""
            if settings.variable_weights is None
            else _weights(settings.variable_weights),
            "Published": ", ".join(
                [
                    settings.aggregate
                    + f" ({settings.trim:g} at each end)" * ("trim" in changed(settings))
                ]
                + ["whole numbers kept"] * settings.keep_integers
                + ["rounded"] * (settings.decimals is not None)
                + ["weights averaged in each group"] * settings.average_weight
            ),
            "Standardized": self.standardized(),
            "Order of records": "shuffled" if settings.shuffle else "as in the data",
            "Columns left out": "" if files is None else ", ".join(files.drop),
            "Left out": self.left_out,
            "Merged": "; ".join(self.merged)
            + (": k does NOT hold once the strata columns are known" if self.merged else ""),
            "Computed": f"{self.seconds:.2f} s on {self.device}, engine {self.engine}",
            "With": ", ".join(f"{name} {number}" for name, number in versions().items()),
            "Command": self.command() or "",
            "Python": self.python(),
        }
        return {name: text for name, text in rows.items() if text}

    def standardized(self) -> str:
        """How variables were brought to one scale, in a phrase."""
        if not self.settings.standardize:
            return "no"
        fallback = f"; {', '.join(self.no_mad)} by the standard deviation, since the MAD is 0"
        return {
            "standard": "yes",
            "strata": "within each stratum",
            "robust": "by median and MAD" + fallback * bool(self.no_mad),
            "log": "logarithms, sign(x) log(1 + |x| / median of |x|)",
        }[self.settings.scale]


_SCRIPT = """\
from pathlib import Path

from microagg_gpu import microaggregate
from microagg_gpu.files.data_file import read_file, write_file
from microagg_gpu.settings import Roles
from microagg_gpu.tasks.columns import find_roles, published

file = read_file({reading})
drop = {drop}
data, _ = find_roles(file, Roles({roles}), drop, {missing!r})
result = {call}
output = Path({output!r})
write_file(published(file, result, drop, {column!r}, {strata}, {metadata}), output, output)
"""
"""Reads, protects and writes as `tasks.protect` does, without its report."""


_T_METHODS = {
    "first": "t-closeness first, with one record of each part of the ranking in a group "
    "(Soria-Comas et al. 2015)",
    "merge": "merging groups of the method until they are within t (Soria-Comas et al. 2015)",
}
"""How groups became t-close."""


def command_line(settings: Settings, roles: Roles, files: FilesUsed) -> str:
    """The command `microagg protect` for some settings, columns and files."""
    given = changed(settings)
    parts = ["microagg", "protect", files.source, "-k", str(settings.k)]
    parts += ["--method", settings.method]
    ordinal = roles.ordinal if isinstance(roles.ordinal, Mapping) else {}
    numbers = [c for c in roles.columns or [] if c not in ordinal and c not in roles.nominal]
    numbers = [] if files.all_columns else numbers
    for flag, columns in (
        ("--columns", numbers), ("--by", roles.by), ("--nominal", roles.nominal),
        ("--unit", roles.unit), ("--drop", files.drop),
    ):  # fmt: skip
        parts += [flag, ",".join(map(_quoted, columns))] if columns else []
    if settings.blocks is not None:
        blocks = (",".join(map(_quoted, block)) for block in settings.blocks)
        parts += ["--blocks", ";".join(blocks)]
    for name, order in ordinal.items():
        parts += ["--ordinal", name if order is None else f"{name}={'<'.join(map(str, order))}"]
    if isinstance(roles.sampling_weight, str):
        parts += ["--weight", roles.sampling_weight]
    parts += [] if roles.sensitive is None else ["--sensitive", str(roles.sensitive)]
    for name, value in settings.options.items():
        parts += ["--option", f"{name}={value}"]
    if "variable_weights" in given:
        parts += ["--variable-weights", _weights(given["variable_weights"])]
    if files.decimals == FORMAT.published_decimals:  # which keeps integers
        given.pop("keep_integers", None)
    for name in ("keep_integers", "average_weight", "shuffle"):
        parts += [f"--{name.replace('_', '-')}"] if name in given else []
    parts += ["--no-standardize"] if "standardize" in given else []
    if "dominance" in given:
        parts += ["--dominance", "{},{:g}".format(*given["dominance"])]
    for name in (
        "missing", "small_strata", "aggregate", "trim", "scale", "device", "seed", "refine",
        "refine_steps", "p_percent", "unrepaired", "t", "t_method",
    ):  # fmt: skip
        if name in given:
            value = given[name]
            text = f"{value:g}" if isinstance(value, float) else str(value)
            parts += [f"--{name.replace('_', '-')}", text]
    if files.bound_seconds is not None:
        parts += ["--bound-seconds", f"{files.bound_seconds:g}"]
    elif files.bound:
        parts += ["--bound"]
    for name in ("group_column", "delimiter", "encoding"):
        if getattr(files, name) is not None:
            parts += [f"--{name.replace('_', '-')}", getattr(files, name)]
    parts += ["--decimal", files.decimal] if files.decimal != FORMAT.decimal else []
    parts += ["--decimals", files.decimals] if files.decimals != FORMAT.published_decimals else []
    parts += ["--keep-metadata"] if files.keep_metadata else []
    parts += ["--strict"] if files.strict else []
    parts += ["-o", files.output]
    parts += ["--report-strata"] if files.report_strata else []
    parts += ["--report-more"] if files.report_more else []
    parts += ["--known", ",".join(map(_quoted, files.known))] if files.known else []
    for name in ("report", "json", "plot", "note"):
        parts += [f"--{name}", getattr(files, name)] if getattr(files, name) else []
    return shlex.join(parts)


def named(method: str, options: Mapping[str, Any]) -> str:
    """A method with its options, as 'vmdav gamma=0.5'."""
    return " ".join([method, *(f"{name}={as_text(value)}" for name, value in options.items())])


def left_out(dropped: int, suppressed: int, dominated: int = 0) -> str:
    """Which records are not published, in a phrase; empty if all are."""
    parts = [f"{dropped} records with missing values"] if dropped else []
    parts += [f"{suppressed} records of too small strata or patterns"] if suppressed else []
    parts += [f"{dominated} records of groups that break the rule"] if dominated else []
    return ", ".join(parts)


def versions() -> dict[str, str]:
    """Versions of what computed the result."""
    return {
        "microagg-gpu": __version__, "Python": platform.python_version(), "NumPy": np.__version__,
    }  # fmt: skip


class _Name(str):
    """The name of something that is not written out."""

    def __repr__(self) -> str:
        return str(self)


def _keywords(given: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in given.items() if value is not None]


def _literal(value: Any) -> str:
    """A value as it is written in Python."""
    if hasattr(value, "to_dict"):  # a Series of pandas
        value = value.to_dict()
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if value is None or isinstance(value, (bool, int, float, str, list, tuple, dict)):
        return repr(value)
    return shown(value)


def _listed(columns: Any) -> Any:
    return columns[0] if isinstance(columns, list) and len(columns) == 1 else columns


def _weights(weights: Any) -> str:
    if isinstance(weights, Mapping):
        return ",".join(f"{_quoted(name)}={weight:g}" for name, weight in weights.items())
    return ",".join(f"{weight:g}" for weight in np.asarray(weights, dtype=np.float64).ravel())


def _quoted(name: Any) -> str:
    """The name of a column in a list with commas."""
    text = str(name)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',;"') else text
