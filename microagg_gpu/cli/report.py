"""``microagg report``: what a protected file lost and what risk is left."""

from pathlib import Path

from .. import InputError
from ..files.atomic import Outputs
from ..files.counting import group_codes
from ..files.data_file import DataFile, read_file
from ..files.outside import Outside, check_known, match_outside
from ..files.pairs import Pair, match
from ..files.verdict import count_k
from ..measures import RecordRisk, linkage_chances, record_risk
from ..pipeline.comparison import risk_map
from ..report import describe
from ..report.analysis import OutsideRisk, known_risk, outside_risk
from ..settings import FORMAT, Roles, Settings
from ..tasks.writing import check_targets, readable, write_report
from . import options
from . import study_options as study
from .console import clear_errors
from .output import stdout
from .parsing import split
from .progress import phases

EXAMPLES = (
    (
        "Compare the columns of numbers that differ:",
        "microagg report companies.csv protected.csv -o report.html",
    ),
    (
        "Name the columns and the strata, and match the records by their id:",
        "microagg report companies.csv protected.csv --columns turnover,staff --by region "
        "--key id -o report.html --json report.json",
    ),
    (
        "What would somebody find who has a register of the companies?",
        "microagg report companies.csv protected.csv --by region --outside register.csv "
        "--outside-key id -o report.html",
    ),
)


def report(
    original: study.Original,
    protected: study.Protected,
    output: study.ReportFile = Path("report.html"),
    columns: study.ProtectedColumns = None,
    by: study.StrataColumns = None,
    weight: study.FigureWeight = None,
    key: study.Key = None,
    known: options.Known = None,
    outside: study.OutsideFile = None,
    outside_key: study.OutsideKey = None,
    report_more: options.ReportMore = False,
    json_file: options.Json = None,
    note: options.Note = None,
    delimiter: options.Delimiter = FORMAT.delimiter,
    encoding: options.Encoding = FORMAT.encoding,
    decimal: options.Decimal = FORMAT.decimal,
    force: options.Force = False,
) -> None:
    """Report what a protected file lost and what risk is left, whatever tool made it.

    The report contains information about the original records: do not publish it.
    """
    with clear_errors(), phases() as phase:
        sources = [original, protected] + ([] if outside is None else [outside])
        targets = check_targets(sources, [output, json_file, note], force)
        with phase(f"reading {original.name}"):
            before = read_file(original, delimiter=delimiter, encoding=encoding, decimal=decimal)
        with phase(f"reading {protected.name}"):
            after = read_file(protected, delimiter=delimiter, encoding=encoding, decimal=decimal)
        with phase("matching"):
            pair = match(before, after, split(columns) or None, split(by), key, weight)
        few = None if known is None else check_known(pair, split(known))
        linked = None
        if outside is not None:
            with phase(f"reading {outside.name}"):
                theirs = read_file(outside, delimiter=delimiter, encoding=encoding, decimal=decimal)
                linked = match_outside(pair, before, theirs, few, _key(outside_key, key))
        with phase("trying methods") as progress:
            settings = Settings(pair.k, missing="pattern", small_strata="suppress")
            roles = Roles(pair.names, pair.strata or None, weight)
            alternatives = risk_map(pair.table, roles, settings, progress)
        with phase("measuring utility and risk") as progress:
            content = describe(
                pair.original, pair.protected, names=pair.names, k=pair.k, cells=pair.cells,
                sampling_weight=pair.weights,
                provenance={
                    name: readable(text) for name, text in pair.provenance.items() if text
                },
                alternatives=alternatives, progress=progress,
                verdict=count_k(after.table, pair.k, [[*pair.strata, *pair.names]]).as_dict(
                    pair.names
                ),
                more=report_more, positions=pair.rows,
                known=None if few is None else known_risk(few, _risk(pair, before, few)),
                outside=None if linked is None or outside is None
                else _outside(readable(outside.name), linked),
            )  # fmt: skip
        with Outputs(force) as files:
            write_report(files, content, output, json_file, note)
        phase.close()
        for sentence in content["summary"]:
            stdout().print(sentence)
        stdout().print(f"written: {', '.join(map(str, targets))}")


def _key(outside_key: str | None, key: str | None) -> str:
    if outside_key is None and key is None:
        raise InputError(
            "--outside needs --outside-key COLUMN: the column of the original and the outside file "
            "that says who is who"
        )
    return outside_key or key or ""


def _risk(pair: Pair, before: DataFile, known: list[str]) -> RecordRisk:
    """The risk if only some columns are known."""
    chosen = [j for j, name in enumerate(pair.names) if name in known]
    strata = [name for name in pair.strata if name in known]
    cells = group_codes(before.table, strata)[pair.rows] if strata else None
    return record_risk(pair.original[:, chosen], pair.protected[:, chosen], cells)


def _outside(name: str, linked: Outside) -> OutsideRisk:
    chances = linkage_chances(
        linked.known, linked.published, linked.record, outside_cells=linked.known_cells,
        cells=linked.cells,
    )  # fmt: skip
    return outside_risk(name, linked.columns, chances, linked.record >= 0)
