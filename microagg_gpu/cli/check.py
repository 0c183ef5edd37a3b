"""``microagg check``: whether a file is k-anonymous, and what its groups still give away."""

from pathlib import Path

import typer

from .. import InputError
from ..files.counting import group_codes
from ..files.data_file import DataFile, group_sizes, read_file
from ..files.pairs import match
from ..files.verdict import count_k
from ..measures.contributors import Rule, RuleCheck, check_rule
from ..measures.sensitive import ClosenessCheck, check_closeness, coded
from ..settings import FORMAT, check_k, check_p_percent, check_t
from . import options
from . import study_options as study
from .console import clear_errors
from .output import show_closeness, show_groups, show_rule, show_verdict
from .parsing import dominance, split
from .progress import phases

EXAMPLES = (
    (
        "Count the records that share their values in all columns:",
        "microagg check protected.csv -k 5",
    ),
    (
        "Count over some columns only, and show the smallest groups:",
        "microagg check protected.csv -k 5 --columns region,turnover,staff --show",
    ),
    (
        "Does a company dominate its group? Groups are in the protected file, amounts in the "
        "original one:",
        "microagg check protected.csv -k 5 --columns turnover --dominance 1,85 --p-percent 10 "
        "--original companies.csv",
    ),
    (
        "What do the groups of the other columns give away of the profit?",
        "microagg check protected.csv -k 5 --sensitive profit --t 0.15",
    ),
)


def check(
    source: options.Source,
    k: options.K,
    columns: study.CountedColumns = None,
    show: study.Show = False,
    sensitive: study.SensitiveColumn = None,
    t: options.T = None,
    rule: options.Dominance = None,
    p_percent: options.PPercent = None,
    original: study.Before = None,
    key: study.Key = None,
    weight: study.ContributorWeight = None,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
    decimal: options.Decimal = FORMAT.decimal,
) -> None:
    """Is a file k-anonymous? Count the records that share their values.

    Works on any file. Exit code 0: every record shares its values with at least k - 1 others; 1:
    some do not, and the smallest groups are shown. With --columns only these columns decide,
    and the output also says whether k holds over all columns.

    With --dominance or --p-percent it also says which groups break the rule: groups of records
    with the same published values in --columns (by default the columns of numbers that differ),
    and amounts of the original file. Then exit code 1 says that k or the rule does not hold.

    With --sensitive k is counted without that column, and its distribution in each group is
    compared with that of all records: distance (t-closeness), different values (l-diversity), and
    the share of the most frequent one. With --t exit code 1 says that k or t does not hold.
    """
    with clear_errors(), phases() as phase:
        check_k(k)
        given = Rule(dominance(rule), check_p_percent(p_percent))
        ruled = given != Rule(None, None)
        _check_original(original, ruled, [key, weight])
        if t is not None and sensitive is None:
            raise InputError("--t is for a sensitive column: name it with --sensitive")
        limit = None if t is None else check_t(t)
        with phase(f"reading {source.name}"):
            file = read_file(source, delimiter=delimiter, encoding=encoding, decimal=decimal)
        with phase("counting"):
            secret = file.resolve([] if sensitive is None else [sensitive])
            names = file.resolve(None if columns is None else split(columns))
            names = [name for name in names if columns is not None or name not in secret]
            if not names:
                raise InputError("no columns are chosen: name at least one with --columns")
            for name in (name for name in secret if name in names):
                raise InputError(f"column {name!r} is in --columns and sensitive: choose one")
            verdict = count_k(file.table, k, [names], secret[0] if secret else None)
            close = _closeness(file, names, secret[0], limit) if secret else None
            failed = verdict.word == "FAIL"
            groups = group_sizes(file.table, names) if failed or show else None
        obeyed = None
        if original is not None:
            with phase(f"reading {original.name}"):
                before = read_file(
                    original, delimiter=delimiter, encoding=encoding, decimal=decimal
                )
            with phase("looking at contributors"):
                chosen = None if columns is None else names
                obeyed = _contributors(before, file, chosen, given, key, weight)
        phase.close()
        show_verdict(verdict)
        if groups is not None:
            show_groups(groups, names)
        if close is not None:
            show_closeness(close)
        if obeyed is not None:
            show_rule(obeyed)
        beyond = close is not None and close.beyond
        if failed or beyond or (obeyed is not None and obeyed.broken):
            raise typer.Exit(1)


def _check_original(original: Path | None, ruled: bool, others: list[str | None]) -> None:
    if ruled and original is None:
        raise InputError(
            "a protected file holds means only, and the rules need the amount of each contributor: "
            "give the file before protection with --original"
        )
    if not ruled and (original is not None or any(others)):
        raise InputError(
            "--original, --key and --weight are for the rules on contributors: add --dominance "
            "1,85 or --p-percent 10, or leave them out"
        )


def _closeness(file: DataFile, names: list[str], secret: str, t: float | None) -> ClosenessCheck:
    """What groups of equal values in some columns give away of a sensitive one."""
    numeric = secret in file.numeric_columns()
    column = file.with_numbers([secret])[secret] if numeric else file.table[secret]
    values = column.to_numpy(zero_copy_only=False)
    if not numeric and file.text is not None:
        values = [None if not text.strip() else text for text in values.tolist()]
    codes, ordered = coded(values, f"column {secret}")
    return check_closeness(codes, group_codes(file.table, names), ordered, secret, t)


def _contributors(
    before: DataFile,
    after: DataFile,
    columns: list[str] | None,
    rule: Rule,
    key: str | None,
    weight: str | None,
) -> RuleCheck:
    """Whether the groups of a protected file obey a rule, by the amounts of the original."""
    numeric = set(before.numeric_columns())
    variables = None if columns is None else [name for name in columns if name in numeric]
    if variables == []:
        raise InputError(
            f"none of the columns {', '.join(columns or [])} of {before.path} holds numbers: name "
            "amounts with --columns"
        )
    pair = match(before, after, variables, [], key, weight)
    labels = group_codes(after.table, columns or after.resolve(pair.names))
    return check_rule(pair.original, labels, rule, pair.names, pair.weights)
