"""The sections of the page, as HTML made from the content."""

from collections.abc import Sequence
from html import escape
from typing import Any

from . import svg
from .tables import Column, facts, table
from .wording import DASH, FIVE_PERCENT, TERMS, fixed, number, percent

DRAWN = 30  # rows of a chart


def done(content: dict[str, Any]) -> str:
    """Counts, and the provenance: what was done, with which settings."""
    rows = [
        ("Records", f"{content['records']:,}"),
        ("Variables", f"{content['variables'] + len(content['categories']):,}"),
        ("Number of missing values", f"{content['missing']:,}"),
        *content["made"].items(),
    ]
    half = -(-len(rows) // 2)
    if half < 4:
        return facts(rows)
    return f'<div class="pair tight">{facts(rows[:half])}{facts(rows[half:])}</div>'


def utility(content: dict[str, Any]) -> str:
    """The loss in total and by variable."""
    changes, explained = content["correlation_discrepancies"], content["percent_explained"] or {}
    numeric = " (numeric variables)" if content["categories"] else ""
    rows = [
        ("Information loss", percent(content["loss"])),
        (f"SSE, within groups{numeric}", number(content["sse"])),
        (f"SSA, between groups{numeric}", number(content["ssa"])),
        (f"SST, total{numeric}", number(content["sst"])),
        ("IL1s", number(content["il1s"], 3)),
        ("Mean correlation discrepancy", fixed(changes["mean"], 3)),
        (
            "Mean change of the weights on the first component",
            percent(content["mean_weight_change"]),
        ),
        ("Variance explained by the first component, before", percent(explained.get("original"))),
        ("Variance explained by the first component, after", percent(explained.get("protected"))),
    ]
    if not content["variables"]:
        rows = rows[:1]
    lost = [(row["name"], row["loss"]) for row in content["by_variable"] if row["loss"] is not None]
    lost.sort(key=lambda pair: -pair[1])
    if not lost:
        return facts(rows, numbers=True)
    selection = _selection(len(lost), DRAWN)
    picture = svg.bars("Information loss by variable", "information loss in percent", lost[:DRAWN])
    return (
        f'<div class="pair"><div>{facts(rows, numbers=True)}</div>'
        f"{_figure('Loss by variable', selection, picture, 'wide')}</div>"
    )


def variables(content: dict[str, Any]) -> str:
    """Densities and tables of the variables before and after."""
    rows = content["by_variable"]
    parts = []
    if content["densities"]:
        selection = _selection(
            sum(row["loss"] is not None for row in rows), len(content["densities"])
        )
        pictures = "".join(
            _figure(row["name"], "", svg.densities(row)) for row in content["densities"]
        )
        parts.append(
            f"<h3>Densities before and after{', ' * bool(selection)}{selection}</h3>"
            '<div class="legend"><span><i class="old"></i>original</span>'
            f'<span><i class="new"></i>protected</span></div><div class="grid">{pictures}</div>'
        )
    if rows:
        parts.append("<h3>Loss, mean and standard deviation</h3>" + _moments(rows))
        parts.append("<h3>Quantiles</h3>" + _quantiles(rows))
    if rows and "weighted_mean" in rows[0]["before"]:
        parts.append("<h3>With sampling weights</h3>" + _weighted(rows))
    parts += [_category(category) for category in content["categories"]]
    return "".join(parts)


def _moments(rows: Sequence[dict[str, Any]]) -> str:
    columns = [
        Column("variable", left=True),
        Column("values"),
        Column("loss"),
        Column("share of total loss"),
        Column("IL1s"),
        Column("before", "mean"),
        Column("after", "mean"),
        Column("before", "standard deviation"),
        Column("after", "standard deviation"),
        Column("ratio", "standard deviation"),
    ]
    entries = []
    for row in rows:
        old, new = row["before"], row["after"]
        ratio = new["std"] / old["std"] if old["std"] else None
        entries.append(
            [
                row["name"],
                f"{row['observed']:,}",
                percent(row["loss"]),
                percent(row["share_of_loss"]),
                fixed(row["il1s"], 3),
                *_decimals(row, [old["mean"], new["mean"], old["std"], new["std"]]),
                fixed(ratio, 3),
            ]
        )
    return table("Loss, mean and standard deviation of each variable", columns, entries)


def _decimals(row: dict[str, Any], values: Sequence[float | None]) -> list[str]:
    """Values of a variable, with as many decimals as its standard deviation needs."""
    return [number(x, 4, like=row["before"]["std"]) for x in values]


def _quantiles(rows: Sequence[dict[str, Any]]) -> str:
    percents = list(rows[0]["before"]["quantiles"])
    columns = [Column("variable", left=True), Column("", left=True)]
    columns += [Column(f"{q}\N{NO-BREAK SPACE}%") for q in percents]
    entries, classes = [], []
    for row in rows:
        for side, kind in (("before", "first"), ("after", "second")):
            values = row[side]["quantiles"]
            entries.append([row["name"], side, *_decimals(row, [values[q] for q in percents])])
            classes.append(kind)
    return table("Quantiles of each variable before and after", columns, entries, classes)


def _weighted(rows: Sequence[dict[str, Any]]) -> str:
    names = [("weighted_mean", "weighted mean"), ("weighted_std", "weighted standard deviation")]
    columns = [Column("variable", left=True)]
    columns += [Column(side, over) for _, over in names for side in ("before", "after")]
    entries = [
        [
            row["name"],
            *_decimals(row, [row[s][key] for key, _ in names for s in ("before", "after")]),
        ]
        for row in rows
    ]
    return table("Weighted mean and standard deviation of each variable", columns, entries)


def _category(category: dict[str, Any]) -> str:
    columns = [Column(category["kind"], left=True), Column("before"), Column("after")]
    entries = [
        [row["name"], percent(row["before"]), percent(row["after"])]
        for row in category["categories"]
    ]
    name = escape(category["name"])
    return (
        f"<h3>{name}</h3><p>{percent(category['changed'])} of the values were changed.</p>"
        f"{table('Categories of ' + category['name'], columns, entries)}"
    )


def correlations(content: dict[str, Any]) -> str:
    """Heat maps, the largest changes and the first component."""
    names = content["correlations"]["names"]
    if len(names) < 2:
        return "<p>Correlations need at least two numeric variables.</p>"
    order = list(range(len(names)))
    if len(names) > DRAWN:
        lost = [row["share_of_loss"] for row in content["by_variable"]]
        order = sorted(sorted(order, key=lambda j: -lost[j])[:DRAWN])
    before, after = (
        [[content["correlations"][side][i][j] for j in order] for i in order]
        for side in ("before", "after")
    )
    change = [
        [None if x is None or y is None else y - x for x, y in zip(*pair, strict=True)]
        for pair in zip(before, after, strict=True)
    ]
    top = max((abs(x) for row in change for x in row if x is not None), default=0.0)
    shown = [names[j] for j in order]
    maps = [
        ("Before", "", "Correlations before protection", before, 1.0),
        ("After", "", "Correlations after protection", after, 1.0),
        ("Change", "on its own scale", "Change of the correlations", change, max(top, 0.01)),
    ]
    pictures = "".join(
        _figure(name, note, svg.heat_map(title, shown, values, most))
        for name, note, title, values, most in maps
    )
    mean = content["correlation_discrepancies"]
    selection = _selection(len(names), DRAWN)
    shown_part = f" The charts show {selection}." if selection else ""
    text = (
        f"<p>A correlation changes by {fixed(mean['mean'], 3)} on average (standard deviation "
        f"{fixed(mean['std'], 3)}).{shown_part}</p>"
    )
    pairs = [
        [
            f"{row['first']} \N{MULTIPLICATION SIGN} {row['second']}",
            fixed(row["before"], 3),
            fixed(row["after"], 3),
            _signed(row["before"], row["after"]),
        ]
        for row in content["largest_correlation_changes"]
    ]
    columns = [Column("pair", left=True), Column("before"), Column("after"), Column("change")]
    largest = table("Largest changes of correlations", columns, pairs)
    return (
        f'{text}<div class="grid">{pictures}</div><div class="pair">'
        f"<div><h3>Largest changes</h3>{largest}</div>{_component(content)}</div>"
    )


def _component(content: dict[str, Any]) -> str:
    if not content["weights"]:
        return ""
    entries = [
        [
            name,
            fixed(row["original"], 3),
            fixed(row["protected"], 3),
            percent(row["change"]),
        ]
        for name, row in content["weights"].items()
    ]
    columns = [Column("variable", left=True), Column("before"), Column("after"), Column("change")]
    weights = table("Weights on the first principal component", columns, entries)
    return f"<div><h3>Weights on the first component</h3>{weights}</div>"


def groups(content: dict[str, Any]) -> str:
    """The sizes of the groups."""
    unit = "values" if content["individual"] else "records"
    rows = [
        ("Groups", f"{content['groups']:,}"),
        ("Smallest", f"{content['smallest']:,} {unit}"),
        ("Largest", f"{content['largest']:,} {unit}"),
    ]
    if content["oversized"]:
        large = content["oversized"]
        rows.append(("Groups of 2k or more", percent(large["share"])))
        if large["share"]:
            rows.append(("Mean size of these", fixed(large["mean_size"], 1)))
    picture = svg.histogram(
        "Number of groups by size", content["group_sizes"], (f"{unit} in the group", "groups")
    )
    return (
        f'<div class="pair"><div>{facts(rows, numbers=True)}</div>'
        f"{_figure('Group sizes', '', picture, 'wide')}</div>"
    )


def risk(content: dict[str, Any]) -> str:
    """What an intruder could find out, in total and by variable."""
    risk, rows = content["risk"], content["by_variable"]
    if not rows:
        return "<p>These measures need at least one numeric variable.</p>"
    patterns = " and patterns of missing values" if content["missing"] else ""
    strata = "" if content["cells"] == 1 else f", within {content['cells']:,} strata{patterns}"
    text = facts(
        [
            (f"Records that an intruder would identify{strata}", percent(risk["linkage"])),
            ("Maximum: distinct published records", percent(risk["linkage_at_most"])),
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
            row["name"],
            percent(row["risk"]["ranks"]),
            percent(row["risk"]["near"]),
            percent(row["risk"]["inside"]),
            number(row["risk"]["width"], 3),
            percent(row["risk"]["narrow"]),
        ]
        for row in rows
    ]
    return f"{text}<h3>By variable</h3>{table('Risk of each variable', columns, body)}"


def alternatives(content: dict[str, Any]) -> str:
    """The risk-utility map and the table behind it."""
    rows = content["alternatives"]
    if not rows:
        return "<p>No other methods were run.</p>"
    chosen = {"loss": content["loss"], "risk": content["risk"]["linkage"]}
    sizes = sorted({row["k"] for row in rows if None not in (row["loss"], row["risk"])})
    marks = "".join(
        f"<span>{svg.mark_sample(i)}k\N{THIN SPACE}=\N{THIN SPACE}{k}</span>"
        for i, k in enumerate(sizes)
    )
    picture = ""
    if chosen["risk"] is not None and sizes:
        drawn = _figure("Risk and loss", "lower left is better", svg.risk_map(rows, chosen), "map")
        picture = f'{drawn}<div class="legend">{marks}</div>'
    columns = [
        Column("method", left=True),
        Column("k"),
        Column("loss"),
        Column("linkage risk"),
        Column("seconds"),
    ]
    this = [
        "this run",
        str(content["k"] or DASH),
        percent(chosen["loss"]),
        percent(chosen["risk"]),
        DASH,
    ]
    entries = [
        [
            row["method"],
            str(row["k"]),
            percent(row["loss"]),
            percent(row["risk"]),
            fixed(row.get("seconds"), 3),
        ]
        for row in sorted(rows, key=lambda row: (row["k"], row["loss"]))
    ]
    classes = ["this"] + [""] * len(entries)
    return picture + table("Loss, risk and time of each run", columns, [this, *entries], classes)


def reading() -> str:
    """Explanations of the measures."""
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in TERMS)
    return f'<dl class="terms">{terms}</dl>'


def _figure(title: str, note: str, picture: str, kind: str = "") -> str:
    extra = f" <span>{escape(note)}</span>" if note else ""
    wrapped = f'<div class="scroll {kind}">{picture}</div>' if kind else picture
    return f"<figure><figcaption>{escape(title)}{extra}</figcaption>{wrapped}</figure>"


def _selection(variables: int, shown: int) -> str:
    return (
        f"the {shown} of {variables} variables with the largest loss" if variables > shown else ""
    )


def _signed(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return DASH
    return ("+" if after > before else "") + fixed(after - before, 3)
