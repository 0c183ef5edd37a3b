"""The note: a page for the users of the published data, with nothing about single records.

It has no names of files, no extreme or rare values, no counts of fewer than 10 records or values,
and no figures of variables with fewer than 10 values.
"""

import re
from html import escape
from typing import Any

from ..checks import known_keywords
from ..errors import listed
from .html import check_content, document, lead
from .tables import Column, facts, folded, long_text, table
from .wording import DASH, fixed, labels, percent, shared_beginning, unchanged

FEWEST = 10
"""Smaller numbers of records or values are not shown."""
TITLE = "How this file was protected"
_SHOWN = {  # what was done, as far as it says nothing about records and files
    "Method": "Method",
    "Strata": "Groups lie within",
    "Units": "Units of several records",
    "Sampling weight": "Sampling weight",
    "Variable weights": "Weights of variables in distances",
    "Published": "Published for a group",
    "Order of records": "Order of the records",
}


@known_keywords
def note(content: dict[str, Any]) -> str:
    """Return a note for the users of published data, as HTML.

    Parameters
    ----------
    content : dict
        As for `page`.

    Returns
    -------
    str
        A complete document, as `page` returns one.
    """
    check_content(content)
    parts = [
        ("What was done", _done(content)),
        ("What changed", _changed(content)),
        ("Using the file", _advice(content)),
    ]
    body = "".join(f"<section><h2>{title}</h2>{text}</section>" for title, text in parts)
    header = f'<h1>{TITLE}</h1><p class="lead">{lead(content)}</p>'
    return document(TITLE, header, body, "<p>Created by microagg-gpu.</p>", public=True)


def _done(content: dict[str, Any]) -> str:
    given, verdict = content["provenance"], content.get("verdict") or {}
    names = [row["name"] for row in [*content["by_variable"], *content["categories"]]]
    each = "k holds for each of" if verdict.get("each") else "k holds for"
    lists = {
        "Protected variables": names,
        each: verdict.get("columns") if verdict.get("word") == "PARTLY" else None,
        "Published unchanged": unchanged(content),
    }
    rows = [(title, given[name]) for name, title in _SHOWN.items() if given.get(name)]
    rows += [(title, ", ".join(columns)) for title, columns in lists.items() if columns]
    rows.append(("Missing values", _missing(content)))
    if content.get("rounding"):
        rows.append(("Rounding", _rounding(content)))
    if given.get("Left out"):
        rows.append(("Left out", re.sub(r"\b\d\b", f"fewer than {FEWEST}", given["Left out"])))
    table = facts("What was done", [(title, long_text(text)) for title, text in rows])
    return f"<p>{escape(_protection(content))}</p>{table}"


def _protection(content: dict[str, Any]) -> str:
    """What was done and what k means, in a few sentences."""
    k, verdict = content["k"], content.get("verdict")
    text = (
        "Similar records were put in groups, and each protected value was replaced by one value "
        "for its whole group (microaggregation)."
    )
    if content.get("blocks"):
        least = f" of at least {k} records" if k else ""
        return (
            f"{text} Each block of variables has groups{least} of its own, so whole records may be "
            f"unique. The blocks: {'; '.join(map(listed, content['blocks']))}."
        )
    if content["individual"]:
        least = f" of at least {k} values" if k else ""
        return f"{text} Each variable has groups{least} of its own, so records may be unique."
    if k is None:
        return text
    size = f"k\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{k}"
    others = f"with at least {k - 1} others"
    if (verdict or {}).get("unit"):
        others = f"with records of at least {k - 1} other units"
    if verdict is None and content["smallest"] >= k:
        return f"{text} {size}: every record shares its protected values {others}."
    secret = (verdict or {}).get("sensitive")
    if verdict is not None and verdict["word"] == "PASS" and secret:
        return f"{text} {size}: every record shares all its values but {secret} {others}."
    if verdict is not None and verdict["word"] == "PASS":
        return f"{text} {size}: every record shares all its values in this file {others}."
    if verdict is not None and verdict["word"] == "PARTLY":
        return (
            f"{text} {size} holds for some columns: every record shares its values in them "
            f"{others}, but not together with {listed(verdict['others'])}."
        )
    return f"{text} {size} does not hold for every record."


def _missing(content: dict[str, Any]) -> str:
    missing = content["missing"]
    if not missing:
        return "none"
    number = f"fewer than {FEWEST}" if missing < FEWEST else f"{missing:,}"
    return f"{number}; they are missing in the original too"


def _rounding(content: dict[str, Any]) -> str:
    """The decimals, and by how much rounding changed a mean at most."""
    places = sorted({row["decimals"] for row in content["rounding"]})
    known = {row["name"]: row for row in content["by_variable"] if row["observed"] >= FEWEST}
    mean_weight = 1 if content["weight"] is None else content["weight"] / content["records"]
    changes = []
    for row in content["rounding"]:
        of = known.get(row["name"])
        if of is not None and of["before"]["std"]:
            mean = row["change"] / (mean_weight * of["observed"])
            changes.append(abs(mean) / of["before"]["std"])
    text = f"to {' or '.join(map(str, places))} decimals"
    if not changes:
        return text
    most = f"{max(changes):.1g}" if max(changes) >= 5e-4 else "0.001"
    return f"{text}; this changes no mean by more than {most} standard deviations"


def _changed(content: dict[str, Any]) -> str:
    lost = content.get("weighted_loss")
    parts = [
        f"<p>{percent(content['loss'] if lost is None else lost)} of the variation of the "
        f"protected variables is lost (100\N{MIDDLE DOT}SSE/SST, with the variables scaled as for "
        f"grouping{'' if lost is None else ', and records by their sampling weights'}).</p>"
    ]
    rows, weighted = _rows(content), _is_weighted(content)
    if rows:
        names = labels([row["name"] for row in rows])
        start = shared_beginning([row["name"] for row in rows])
        if start:
            parts.append(
                "<p>\N{HORIZONTAL ELLIPSIS} at the beginning of a name stands for "
                f"<code>{escape(start)}</code>.</p>"
            )
        columns = [
            Column("variable", left=True),
            Column("change of the mean, in standard deviations"),
            Column("standard deviation, after / before"),
            Column("variation lost"),
        ]
        entries = [
            [name, _signed(row["mean"]), fixed(row["ratio"], 3), percent(row["loss"])]
            for name, row in zip(names, rows, strict=True)
        ]
        title = "Means and spread" + ", with sampling weights" * weighted
        parts.append(folded(title, table(title, columns, entries), len(entries)))
    if content["variables"] > 1:
        parts.append(_correlations(content))
    if content["categories"]:
        columns = [Column("variable", left=True), Column("values changed")]
        entries = [[row["name"], _share(row["changed"], content)] for row in content["categories"]]
        title = "Categories"
        parts.append(folded(title, table(title, columns, entries), len(entries)))
    return "".join(parts)


def _is_weighted(content: dict[str, Any]) -> bool:
    rows = content["by_variable"]
    return bool(rows) and "weighted_mean" in rows[0]["before"]


def _rows(content: dict[str, Any]) -> list[dict[str, Any]]:
    """What changed in each variable: nothing for one with few values, or that is constant."""
    kind = "weighted_" * _is_weighted(content)
    rows = []
    for row in content["by_variable"]:
        old, new, spread = row["before"], row["after"], row["before"][f"{kind}std"]
        known = row["observed"] >= FEWEST and bool(spread)
        rows.append(
            {
                "name": row["name"],
                "mean": (new[f"{kind}mean"] - old[f"{kind}mean"]) / spread if known else None,
                "ratio": new[f"{kind}std"] / spread if known else None,
                "loss": row.get(f"{kind}loss", row["loss"]) if known else None,
            }
        )
    return rows


def _share(share: float, content: dict[str, Any]) -> str:
    values = round(share * content["records"] / 100)
    return f"fewer than {FEWEST}" if 0 < values < FEWEST else percent(share)


def _signed(value: float | None) -> str:
    return DASH if value is None else ("+" if value > 0.0005 else "") + fixed(value, 3)


def _correlations(content: dict[str, Any]) -> str:
    few = {row["name"] for row in content["by_variable"] if row["observed"] < FEWEST}
    short = {label.full: label for label in labels([r["name"] for r in content["by_variable"]])}
    entries = [
        [
            f"{short[row['first']]} \N{MULTIPLICATION SIGN} {short[row['second']]}",
            _signed(row["after"] - row["before"]),
        ]
        for row in content["largest_correlation_changes"]
        if not {row["first"], row["second"]} & few and row["after"] is not None
    ]
    columns = [Column("pair", left=True), Column("change")]
    mean = fixed(content["correlation_discrepancies"]["mean"], 3)
    return (
        f"<h3>Correlations</h3><p>A correlation changes by {mean} on average. The largest "
        f"changes:</p>{table('Largest changes of correlations', columns, entries[:5])}"
    )


def _advice(content: dict[str, Any]) -> str:
    """What users can rely on, from what changed."""
    rows = _rows(content)
    means = [abs(row["mean"]) for row in rows if row["mean"] is not None]
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    points = []
    if means and max(means) < 0.001:
        points.append("Means and totals of the whole file are practically unchanged.")
    elif means:
        points.append(
            f"Means of the whole file changed by up to {fixed(max(means), 3)} standard deviations."
        )
    if ratios:
        points.append(
            f"Standard deviations are {percent(100 * min(ratios))} to {percent(100 * max(ratios))} "
            "of the original ones. Standard errors and tests that use them are off accordingly."
        )
    if content["variables"] > 1:
        points.append(
            "Correlations and regressions are those of groups, and usually stronger than those "
            "of the original records."
        )
    points.append(
        "Extreme values were averaged with others. Do not interpret single records, extreme "
        "quantiles, or small subsets that were not used to form the groups."
    )
    return "<ul>" + "".join(f"<li>{escape(point)}</li>" for point in points) + "</ul>"
