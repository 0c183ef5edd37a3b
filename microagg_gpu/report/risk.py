"""The sections about risk: before and after, by stratum, and of other methods."""

from html import escape
from typing import Any

from . import svg
from .analysis_html import of_stratum
from .sections import figure, has_weights, label_names, means
from .tables import Column, facts, folded, table
from .wording import (
    DASH,
    FIVE_PERCENT,
    count,
    fixed,
    number,
    percent,
)

SHOWN_STRATA = 50


def risk(content: dict[str, Any]) -> str:
    """What an intruder could find out before and after, in total and by variable."""
    risk, rows, k = content["risk"], content["by_variable"], content["k"]
    patterns = " and patterns of missing values" if content["missing"] else ""
    strata = "" if content["cells"] == 1 else f", within {content['cells']:,} strata{patterns}"
    old, new = risk["before"], risk["after"]
    columns = [Column("", left=True), Column("before"), Column("after")]
    body = [["Unique records", percent(old["unique"]), percent(new["unique"])]]
    if k:
        few = f"Records equal to fewer than {k - 1} others"
        body.append([few, percent(old["below_k"]), percent(new["below_k"])])
    body.append(["Fewest equal records", f"{old['smallest']:,}", f"{new['smallest']:,}"])
    if new["linkage"] is not None:
        linked = f"Records that an intruder would identify{strata}"
        body.append([linked, percent(old["linkage"]), percent(new["linkage"])])
    text = (
        "<p>Records are equal if they agree in the protected variables, the strata, and which "
        "values are missing. Other published columns are not counted here.</p>"
        + table("Risk before and after", columns, body)
    )
    if not rows:
        return text
    text += "<h3>Values, on average</h3>" + facts(
        "Risk of values",
        [
            ("Values within 1 to 10\N{NO-BREAK SPACE}% of the ranks", percent(risk["ranks"])),
            (f"Values within {FIVE_PERCENT}", percent(risk["near"])),
            ("Values enclosed by the neighbouring published values", percent(risk["inside"])),
            ("Values revealed by a narrow range", percent(risk["narrow"])),
        ],
        numbers=True,
    )
    columns = [
        Column("variable", left=True),
        Column("by ranks", "interval disclosure"),
        Column(f"within {FIVE_PERCENT}", "interval disclosure"),
        Column("enclosed", "range inference"),
        Column("median width in standard deviations", "range inference"),
        Column("revealed", "range inference"),
    ]
    body = [
        [
            name,
            percent(row["risk"]["ranks"]),
            percent(row["risk"]["near"]),
            percent(row["risk"]["inside"]),
            number(row["risk"]["width"], 3),
            percent(row["risk"]["narrow"]),
        ]
        for name, row in zip(label_names(content), rows, strict=True)
    ]
    return text + folded(
        "Values, by variable", table("Risk of each variable", columns, body), len(body)
    )


def by_stratum(content: dict[str, Any]) -> str:
    """A table of the strata, and one for each with its variables."""
    strata, names = content["by_stratum"], label_names(content)
    columns = [
        Column("stratum", left=True),
        Column("records"),
        Column("groups"),
        Column("smallest"),
        Column("loss"),
        Column("share of total loss"),
        Column("linkage risk"),
    ]
    body = [
        [
            row["name"],
            f"{row['records']:,}",
            DASH if row["groups"] is None else f"{row['groups']:,}",
            DASH if row["smallest"] is None else f"{row['smallest']:,}",
            percent(row["loss"]),
            percent(row["share_of_loss"]),
            percent(row["linkage"]),
        ]
        for row in strata
    ]
    overview = folded("All strata", table("Loss and risk by stratum", columns, body), len(body))
    weighted = has_weights(content)
    title = "Mean and standard deviation" + ", with sampling weights" * weighted
    parts = [
        f"<details><summary>{escape(row['name'])} <span>{count(row['records'], 'record')}</span>"
        f"</summary>{means(title, row['by_variable'], names, 'weighted_' * weighted)}"
        f"{of_stratum(row['by_variable'], names)}</details>"
        for row in strata[:SHOWN_STRATA]
    ]
    rest = len(strata) - SHOWN_STRATA
    more = f"<p>The JSON file has {rest:,} more strata.</p>" if rest > 0 else ""
    return f"{overview}<h3>{title}</h3>{''.join(parts)}{more}" if names else overview


def alternatives(content: dict[str, Any]) -> str:
    """The risk-utility map and the table behind it."""
    rows = content["alternatives"]
    if not rows:
        return "<p>No other methods were run.</p>"
    name, k = content["method"] or "", content["k"]
    sampled = next((row["records"] for row in rows if row.get("records")), None)
    own = f"this run: {name}" if name else "this file"
    chosen = {"method": own, "k": k, "loss": content["loss"], "risk": content["risk"]["linkage"]}
    note, this = "", [chosen]
    if sampled:
        base = name.removesuffix(", refined")
        same = [row for row in rows if (row["method"], row["k"]) == (base, k)]
        absent = " The method of this run is not among them: it is too slow."
        absent = absent if name and not same else ""
        note = (
            f"<p>These runs use a random sample of {sampled:,} of the {content['records']:,} "
            "records. Fewer records are less similar to each other, so the losses are higher than "
            "those of the whole file: compare them with each other only."
            f"{absent}</p>"
        )
        plain = " before refinement" if base != name else ""
        this = [{**row, "method": f"{base}, the method of this run{plain}"} for row in same]
        rows = [row for row in rows if row not in same]
    else:
        figures = [percent(chosen[key]) for key in ("loss", "risk")]
        rows = [
            row
            for row in rows
            if [row["method"], row["k"], percent(row["loss"]), percent(row["risk"])]
            != [name, k, *figures]
        ]
    if content.get("dominance") or (content.get("closeness") or {}).get("t"):
        note += "<p>The other runs do without the rule that this one obeys.</p>"
    sizes = sorted({row["k"] for row in rows if None not in (row["loss"], row["risk"])})
    marks = "".join(
        f"<span>{svg.mark_sample(i)}k\N{THIN SPACE}=\N{THIN SPACE}{k}</span>"
        for i, k in enumerate(sizes)
    )
    picture = ""
    if sizes and all(row["risk"] is not None for row in this):
        legend = f'<div class="legend">{marks}</div>'
        drawn = svg.risk_map(rows, this)
        picture = figure("Risk and loss", "lower left is better", drawn, "map", legend)
    columns = [
        Column("method", left=True),
        Column("k"),
        Column("loss"),
        Column("linkage risk"),
        Column("seconds"),
    ]
    entries = [
        [
            row["method"],
            str(row["k"] or DASH),
            percent(row["loss"]),
            percent(row["risk"]),
            fixed(row.get("seconds"), 3),
        ]
        for row in [*this, *sorted(rows, key=lambda row: (row["k"], row["loss"]))]
    ]
    classes = ["this"] * len(this) + [""] * len(rows)
    return note + picture + table("Loss, risk and time of each run", columns, entries, classes)
