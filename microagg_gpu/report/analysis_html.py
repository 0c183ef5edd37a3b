"""The sections of the page for analysts and about records at risk."""

from html import escape
from typing import Any

from .analysis import MATRICES
from .sections import label_names
from .tables import Column, folded, table
from .wording import DASH, FIVE_PERCENT, count, fixed, number, percent

_MEASURES = (
    ("interval_overlap", "Overlap of 95 % intervals of means", "1",
     "1: an analyst finds the same intervals. Groups make them narrower, so below 1 is usual."),
    ("coefficient_overlap", "Overlap of 95 % intervals of regression coefficients", "1",
     "Each variable explained by the others. Near 1 is good; below 0 the intervals do not meet."),
    ("eigenvalue_change", "Change of eigenvalues of the correlation matrix", "0",
     "Sum of relative changes. Lower is better; means little if variables are nearly dependent."),
    ("gamma", "Change of the inverse correlation matrix (gamma)", "0",
     "From 0 to 1: how differently the variables explain each other. Lower is better."),
    ("lambda", "Mean distance of values (lambda)", "0",
     "From 0 to 1, in the units of the data: amounts in the hundreds are near 1 anyway."),
    ("pmse", "Propensity score (pMSE)", "0",
     "0: a model cannot tell published from original records. 0.25: it always can."),
)  # fmt: skip


def analysis(content: dict[str, Any]) -> str:
    """Measures of what analysts would find, each with what is good and bad."""
    found = content.get("analysis")
    if not found:
        return "<p>These measures need records with all values of numeric variables.</p>"
    columns = [
        Column("measure", left=True), Column("here"), Column("best"), Column("", left=True),
    ]  # fmt: skip
    rows = [
        [title, fixed(found[key], 3), best, text]
        for key, title, best, text in _MEASURES
        if found[key] is not None
    ]
    text = table("Measures for analysts", columns, rows)
    if found["records"] < content["records"]:
        rest = content["records"] - found["records"]
        missing = f"{count(rest, 'record')} with missing values are not in measures of several "
        text += f"<p>{missing}variables.</p>"
    return text + _by_variable(content) + _matrices(found["matrices"])


def _by_variable(content: dict[str, Any]) -> str:
    columns = [
        Column("variable", left=True), Column("of its mean", "overlap of intervals"),
        Column("of its coefficients", "overlap of intervals"),
        *[Column(side, over) for over in ("Gini", "S80/S20") for side in ("before", "after")],
    ]  # fmt: skip
    rows = [
        [
            name, fixed(row["interval_overlap"], 3), fixed(row["coefficient_overlap"], 3),
            *unequal(row["inequality"]),
        ]
        for name, row in zip(label_names(content), content["analysis"]["by_variable"], strict=True)
    ]  # fmt: skip
    title = "Intervals and inequality"
    weighted = " with sampling weights" if content["weight"] is not None else ""
    note = (
        "<p>An overlap of 1 is best. Gini (0 equal, 1 unequal) and S80/S20, the highest fifth "
        f"divided by the lowest{weighted}, are of amounts of 0 or more; the smaller their change, "
        "the better. Averaging makes amounts more equal.</p>"
    )
    return folded(title, note + table(title, columns, rows), len(rows))


def of_stratum(rows: list[dict[str, Any]], names: list[Any]) -> str:
    """Overlap of intervals and inequality of the variables, of a stratum."""
    columns = [
        Column("variable", left=True), Column("overlap of intervals of the mean"),
        *[Column(side, over) for over in ("Gini", "S80/S20") for side in ("before", "after")],
    ]  # fmt: skip
    body = [
        [name, fixed(row.get("interval_overlap"), 3), *unequal(row.get("inequality"))]
        for name, row in zip(names, rows, strict=True)
    ]
    return table("Intervals and inequality of the stratum", columns, body)


def unequal(found: dict[str, Any] | None) -> list[str]:
    """Gini and S80/S20 before and after, as texts."""
    if found is None:
        return [DASH] * 4
    sides = found["before"], found["after"]
    gini = [fixed(side["gini"], 3) for side in sides]
    return gini + [number(side["quintile_ratio"], 3) for side in sides]


def _matrices(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    columns = [
        Column("change of", left=True), Column("mean squared error"),
        Column("mean absolute error"), Column("mean relative change"),
    ]  # fmt: skip
    rows = [
        [f"{name}, {MATRICES[name]}", *(number(row[key]) for key in ("mse", "mae", "variation"))]
        for name, row in found.items()
    ]
    title = "Changes of matrices"
    note = "<p>0 is best. A relative change is not defined if an original value is 0.</p>"
    return folded(title, note + table(title, columns, rows), len(rows))


def more_risk(content: dict[str, Any]) -> str:
    """Matching as a whole, values known together, few known variables, an outside file, records."""
    parts = []
    found = content.get("analysis") or {}
    rows = []
    if found.get("joint_intervals") is not None:
        near = f"Records with all values within {FIVE_PERCENT} of what is published"
        rows.append([near, percent(found["joint_intervals"]), "lower is safer"])
    if found.get("assignment") is not None:
        matched = "Records found by the best one-to-one matching of both files"
        text = "lower is safer; an intruder who knows that both have the same records"
        rows.append([matched, percent(found["assignment"]), text])
    columns = [Column("", left=True), Column("after"), Column("", left=True)]
    if rows:
        parts.append("<h3>Records as a whole</h3>" + table("Records as a whole", columns, rows))
    parts += [part(content[key]) for key, part in _PARTS if content.get(key)]
    return "".join(parts)


def _known(found: dict[str, Any]) -> str:
    names = escape(", ".join(found["columns"]))
    return (
        f"<h3>If only these columns are known: {names}</h3><p>Somebody who knows them of a record, "
        "and takes the nearest published one, picks the right one in "
        f"{percent(found['after'])} of cases; in the original file, in {percent(found['before'])}. "
        f"The highest chance of a record is {percent(found['highest'])}, for "
        f"{count(found['records'], 'record')}. Lower is safer.</p>"
    )


def _outside(found: dict[str, Any]) -> str:
    names = escape(", ".join(found["columns"]))
    return (
        f"<h3>With the outside file {escape(found['file'])}</h3><p>It has {names} of "
        f"{count(found['records'], 'record')}, {found['published']:,} of them published. Whoever "
        f"takes the nearest published record picks the right one for {percent(found['found'])} of "
        f"those that are published, and is right in {percent(found['right'])} of all cases. The "
        f"highest chance of a record is {percent(found['highest'])}. Lower is safer.</p>"
    )


def _at_risk(found: dict[str, Any]) -> str:
    columns = [
        Column("record", left=True), Column("equal records"), Column("before", "chance"),
        Column("after", "chance"), Column("values near"), Column("distance"),
    ]  # fmt: skip
    rows = [
        [
            f"{row['record']:,}", f"{row['equal']:,}", percent(row["before"]),
            percent(row["after"]), str(row["near"]), number(row["distance"], 2),
        ]
        for row in found["records"]
    ]  # fmt: skip
    title = "Records at highest risk"
    note = (
        "<p>The chance of a record to be identified by whoever knows all its original values and "
        f"takes the nearest published record: {percent(found['before'])} before and "
        f"{percent(found['after'])} after on average, {percent(found['highest'])} at most. Lower "
        "is safer. The number is that of the record in the original file, from 1; near are values "
        f"within {FIVE_PERCENT}, and the distance is in standard deviations.</p>"
    )
    return folded(title, note + table(title, columns, rows), len(rows))


_PARTS = (("known", _known), ("outside", _outside), ("at_risk", _at_risk))
