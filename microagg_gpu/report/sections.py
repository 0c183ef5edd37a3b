"""The sections of the page, as HTML made from the content."""

from collections.abc import Sequence
from html import escape
from typing import Any

from . import svg
from .tables import Column, breakable, facts, folded, long_text, table
from .wording import (
    DASH,
    TERMS,
    Label,
    fixed,
    labels,
    number,
    percent,
    shared_beginning,
)

DRAWN = 30  # rows of a chart
_PAIR = ' class="pair"'


def done(content: dict[str, Any]) -> str:
    """Counts, and the provenance: what was done, with which settings."""
    given = dict(content["provenance"])
    calls = [(name, given.pop(name)) for name in ("Command", "Python") if name in given]
    rows = [
        ("Records", f"{content['records']:,}"),
        ("Variables", f"{content['variables'] + len(content['categories']):,}"),
        ("Number of missing values", f"{content['missing']:,}"),
        *((name, long_text(text)) for name, text in given.items()),
        ("Date", content["date"]),
    ]
    half = -(-len(rows) // 2)
    parts = [rows] if half < 4 else [rows[:half], rows[half:]]
    tables = "".join(facts("What was done", part) for part in parts)
    calling = "".join(_call(*call) for call in calls)
    return f'<div class="pair tight">{tables}</div>{calling}'


def _call(name: str, text: str) -> str:
    title = {"Command": "The command that repeats it", "Python": "The same in Python"}[name]
    body = f"<pre><code>{escape(text)}</code></pre>"
    if len(text) <= 600:
        return f"<h3>{title}</h3>{body}"
    size = f"{len(text):,} characters"
    return f"<details><summary><h3>{title}</h3> <span>{size}</span></summary>{body}</details>"


def utility(content: dict[str, Any]) -> str:
    """The loss in total and by variable."""
    changes, explained = content["correlation_discrepancies"], content["percent_explained"] or {}
    weighted = content.get("weighted_loss")
    numeric = " (numeric variables)" if content["categories"] else ""
    change = [
        abs(row["protected"] - row["original"]) for row in (content["weights"] or {}).values()
    ]
    rows = [
        ("Information loss", percent(content["loss"])),
        *[("Information loss, with sampling weights", percent(weighted))] * (weighted is not None),
        (f"SSE, within groups{numeric}", number(content["sse"])),
        (f"SSA, between groups{numeric}", number(content["ssa"])),
        (f"SST, total{numeric}", number(content["sst"])),
        ("IL1s", number(content["il1s"], 3)),
        ("Mean correlation discrepancy", fixed(changes["mean"], 3)),
        (
            "Mean change of the weights on the first component",
            fixed(sum(change) / len(change) if change else None, 3),
        ),
        ("Variance explained by the first component, before", percent(explained.get("original"))),
        ("Variance explained by the first component, after", percent(explained.get("protected"))),
    ]
    if not content["variables"]:
        rows = rows[: 1 + (weighted is not None)]
    lost = [
        (label, row["loss"])
        for label, row in zip(label_names(content), content["by_variable"], strict=True)
        if row["loss"] is not None
    ]
    lost.sort(key=lambda pair: -pair[1])
    if not lost:
        return facts("Loss", rows, numbers=True)
    selection = _selection(len(lost), DRAWN)
    picture = svg.bars("Information loss by variable", "information loss in percent", lost[:DRAWN])
    return (
        f'{_beginning(content)}<div class="pair"><div>{facts("Loss", rows, numbers=True)}</div>'
        f"{figure('Loss by variable', selection, picture, 'wide')}</div>"
    )


def variables(content: dict[str, Any]) -> str:
    """Densities and tables of the variables before and after."""
    rows = content["by_variable"]
    parts = []
    if content["densities"]:
        selection = _selection(
            sum(row["loss"] is not None for row in rows), len(content["densities"])
        )
        short = {name.full: name for name in label_names(content)}
        pictures = "".join(
            figure(short[row["name"]], _zeros(row["zeros"]), svg.densities(row))
            for row in content["densities"]
        )
        parts.append(
            f"<h3>Densities before and after{', ' * bool(selection)}{selection}</h3>"
            '<div class="legend"><span><i class="old"></i>original</span>'
            f'<span><i class="new"></i>protected</span></div><div class="grid">{pictures}</div>'
        )
    names, weighted = label_names(content), has_weights(content)
    if rows and weighted:
        title = "Mean and standard deviation, with sampling weights"
        parts.append(folded(title, means(title, rows, names, "weighted_"), len(rows)))
    if rows:
        title = "Loss, mean and standard deviation" + ", without weights" * weighted
        parts.append(folded(title, _moments(title, rows, names), len(rows)))
        title = "Quantiles" + ", without weights" * weighted
        parts.append(folded(title, _quantiles(title, rows, names), 2 * len(rows)))
    if content.get("rounding"):
        parts.append(_rounding(content["rounding"]))
    parts += [_category(category) for category in content["categories"]]
    return "".join(parts)


def has_weights(content: dict[str, Any]) -> bool:
    rows = content["by_variable"]
    return bool(rows) and "weighted_mean" in rows[0]["before"]


def _zeros(shares: dict[str, float] | None) -> str:
    if shares is None:
        return ""
    return f"zeros: {percent(shares['before'])} before, {percent(shares['after'])} after"


def label_names(content: dict[str, Any]) -> list[Label]:
    return labels([row["name"] for row in content["by_variable"]])


def _beginning(content: dict[str, Any]) -> str:
    start = shared_beginning([row["name"] for row in content["by_variable"]])
    if not start:
        return ""
    return (
        "<p>In charts and tables \N{HORIZONTAL ELLIPSIS} at the beginning of a name stands for "
        f"<code>{escape(start)}</code>.</p>"
    )


def _moments(title: str, rows: Sequence[dict[str, Any]], names: Sequence[Label]) -> str:
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
    for name, row in zip(names, rows, strict=True):
        old, new = row["before"], row["after"]
        ratio = new["std"] / old["std"] if old["std"] else None
        entries.append(
            [
                name,
                f"{row['observed']:,}",
                percent(row["loss"]),
                percent(row["share_of_loss"]),
                fixed(row["il1s"], 3),
                *_decimals(row, [old["mean"], new["mean"], old["std"], new["std"]]),
                fixed(ratio, 3),
            ]
        )
    return table(title, columns, entries)


def _decimals(row: dict[str, Any], values: Sequence[float | None]) -> list[str]:
    """Values of a variable, with as many decimals as its standard deviation needs."""
    return [number(x, 4, like=row["before"]["std"]) for x in values]


def _quantiles(title: str, rows: Sequence[dict[str, Any]], names: Sequence[Label]) -> str:
    percents = list(rows[0]["before"]["quantiles"])
    columns = [Column("variable", left=True), Column("", left=True)]
    columns += [Column(f"{q}\N{NO-BREAK SPACE}%") for q in percents]
    entries, classes = [], []
    for name, row in zip(names, rows, strict=True):
        for side, kind in (("before", "first"), ("after", "second")):
            values = row[side]["quantiles"]
            entries.append([name, side, *_decimals(row, [values[q] for q in percents])])
            classes.append(kind)
    return table(title, columns, entries, classes)


def means(
    title: str, rows: Sequence[dict[str, Any]], names: Sequence[Label], kind: str = ""
) -> str:
    """Means and standard deviations; of kind "weighted_" with sampling weights."""
    measures = [("mean", "mean"), ("std", "standard deviation")]
    columns = [Column("variable", left=True), Column("values")]
    columns += [Column(side, over) for _, over in measures for side in ("before", "after")]
    columns.append(Column("ratio", "standard deviation"))
    entries = []
    for name, row in zip(names, rows, strict=True):
        old, new = row["before"], row["after"]
        spread = old[f"{kind}std"]
        figures = [side[f"{kind}{key}"] for key, _ in measures for side in (old, new)]
        entries.append(
            [
                name,
                f"{row['observed']:,}",
                *_decimals(row, figures),
                fixed(new[f"{kind}std"] / spread if spread else None, 3),
            ]
        )
    return table(title, columns, entries)


def _rounding(rounded: Sequence[dict[str, Any]]) -> str:
    columns = [Column("variable", left=True), Column("decimals")]
    columns += [Column("total before rounding"), Column("change by rounding")]
    names = labels([row["name"] for row in rounded])
    entries = [
        [
            name,
            str(row["decimals"]),
            number(row["total"], 6),
            number(round(row["change"], row["decimals"] + 1), 2),  # not what float64 adds
        ]
        for name, row in zip(names, rounded, strict=True)
    ]
    title = "What rounding did to totals"
    return folded(title, table(title, columns, entries), len(entries))


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
    short = labels(names)
    shown = [short[j] for j in order]
    maps = [
        ("Before", "", "Correlations before protection", before, 1.0),
        ("After", "", "Correlations after protection", after, 1.0),
        ("Change", "on its own scale", "Change of the correlations", change, max(top, 0.01)),
    ]
    pictures = "".join(
        figure(name, note, svg.heat_map(title, shown, values, most))
        for name, note, title, values, most in maps
    )
    mean = content["correlation_discrepancies"]
    selection = _selection(len(names), DRAWN)
    shown_part = f" The charts show {selection}." if selection else ""
    text = (
        f"<p>A correlation changes by {fixed(mean['mean'], 3)} on average (standard deviation "
        f"{fixed(mean['std'], 3)}).{shown_part}</p>"
    )
    label = {name.full: name for name in short}
    pairs = [
        [
            f"{label[row['first']]} \N{MULTIPLICATION SIGN} {label[row['second']]}",
            fixed(row["before"], 3),
            fixed(row["after"], 3),
            _signed(row["before"], row["after"]),
        ]
        for row in content["largest_correlation_changes"]
    ]
    columns = [Column("pair", left=True), Column("before"), Column("after"), Column("change")]
    largest = table("Largest changes of correlations", columns, pairs)
    large = svg.is_large(len(shown))
    return (
        f'{text}<div class="grid{" big" * large}">{pictures}</div><div{_PAIR * (not large)}>'
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
            _signed(row["original"], row["protected"]),
        ]
        for name, row in zip(label_names(content), content["weights"].values(), strict=True)
    ]
    columns = [Column("variable", left=True), Column("before"), Column("after"), Column("change")]
    weights = table("Weights on the first principal component", columns, entries)
    return f"<div>{folded('Weights on the first component', weights, len(entries))}</div>"


def groups(content: dict[str, Any]) -> str:
    """The sizes of the groups."""
    unit = "values" if content["individual"] and not content.get("blocks") else "records"
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
        f'<div class="pair"><div>{facts("Groups", rows, numbers=True)}</div>'
        f"{figure('Group sizes', '', picture, 'wide')}</div>"
    )


def reading() -> str:
    """Explanations of the measures."""
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in TERMS)
    return f'<dl class="terms">{terms}</dl>'


def figure(title: str, note: str, picture: str, kind: str = "", legend: str = "") -> str:
    extra = f" <span>{escape(note)}</span>" if note else ""
    wrapped = f'<div class="scroll {kind}" tabindex="0">{picture}</div>' if kind else picture
    caption = f"<figcaption>{breakable(title)}{extra}</figcaption>"
    return f"<figure>{caption}{wrapped}{legend}</figure>"


def _selection(variables: int, shown: int) -> str:
    return (
        f"the {shown} of {variables} variables with the largest loss" if variables > shown else ""
    )


def _signed(before: float | None, after: float | None) -> str:
    if before is None or after is None:
        return DASH
    return ("+" if after > before else "") + fixed(after - before, 3)
