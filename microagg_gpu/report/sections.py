"""The sections of the page, as HTML made from the content."""

from collections.abc import Sequence
from html import escape
from typing import Any

from . import svg
from .tables import Column, breakable, facts, folded, long_text, table
from .wording import (
    DASH,
    FIVE_PERCENT,
    TERMS,
    Label,
    count,
    fixed,
    labels,
    number,
    percent,
    shared_beginning,
)

DRAWN = 30  # rows of a chart
SHOWN_STRATA = 50
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
    numeric = " (numeric variables)" if content["categories"] else ""
    change = [
        abs(row["protected"] - row["original"]) for row in (content["weights"] or {}).values()
    ]
    rows = [
        ("Information loss", percent(content["loss"])),
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
        rows = rows[:1]
    lost = [
        (label, row["loss"])
        for label, row in zip(_labels(content), content["by_variable"], strict=True)
        if row["loss"] is not None
    ]
    lost.sort(key=lambda pair: -pair[1])
    if not lost:
        return facts("Loss", rows, numbers=True)
    selection = _selection(len(lost), DRAWN)
    picture = svg.bars("Information loss by variable", "information loss in percent", lost[:DRAWN])
    return (
        f'{_beginning(content)}<div class="pair"><div>{facts("Loss", rows, numbers=True)}</div>'
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
        short = {name.full: name for name in _labels(content)}
        pictures = "".join(
            _figure(short[row["name"]], _zeros(row["zeros"]), svg.densities(row))
            for row in content["densities"]
        )
        parts.append(
            f"<h3>Densities before and after{', ' * bool(selection)}{selection}</h3>"
            '<div class="legend"><span><i class="old"></i>original</span>'
            f'<span><i class="new"></i>protected</span></div><div class="grid">{pictures}</div>'
        )
    names, weighted = _labels(content), _weighted(content)
    if rows and weighted:
        title = "Mean and standard deviation, with sampling weights"
        parts.append(folded(title, _means(title, rows, names, "weighted_"), len(rows)))
    if rows:
        title = "Loss, mean and standard deviation" + ", without weights" * weighted
        parts.append(folded(title, _moments(title, rows, names), len(rows)))
        title = "Quantiles" + ", without weights" * weighted
        parts.append(folded(title, _quantiles(title, rows, names), 2 * len(rows)))
    if content.get("rounding"):
        parts.append(_rounding(content["rounding"]))
    parts += [_category(category) for category in content["categories"]]
    return "".join(parts)


def _weighted(content: dict[str, Any]) -> bool:
    rows = content["by_variable"]
    return bool(rows) and "weighted_mean" in rows[0]["before"]


def _zeros(shares: dict[str, float] | None) -> str:
    if shares is None:
        return ""
    return f"zeros: {percent(shares['before'])} before, {percent(shares['after'])} after"


def _labels(content: dict[str, Any]) -> list[Label]:
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


def _means(
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
        for name, row in zip(_labels(content), content["weights"].values(), strict=True)
    ]
    columns = [Column("variable", left=True), Column("before"), Column("after"), Column("change")]
    weights = table("Weights on the first principal component", columns, entries)
    return f"<div>{folded('Weights on the first component', weights, len(entries))}</div>"


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
        f'<div class="pair"><div>{facts("Groups", rows, numbers=True)}</div>'
        f"{_figure('Group sizes', '', picture, 'wide')}</div>"
    )


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
        for name, row in zip(_labels(content), rows, strict=True)
    ]
    return text + folded(
        "Values, by variable", table("Risk of each variable", columns, body), len(body)
    )


def by_stratum(content: dict[str, Any]) -> str:
    """A table of the strata, and one for each with its variables."""
    strata, names = content["by_stratum"], _labels(content)
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
    weighted = _weighted(content)
    title = "Mean and standard deviation" + ", with sampling weights" * weighted
    parts = [
        f"<details><summary>{escape(row['name'])} <span>{count(row['records'], 'record')}</span>"
        f"</summary>{_means(title, row['by_variable'], names, 'weighted_' * weighted)}</details>"
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
    sizes = sorted({row["k"] for row in rows if None not in (row["loss"], row["risk"])})
    marks = "".join(
        f"<span>{svg.mark_sample(i)}k\N{THIN SPACE}=\N{THIN SPACE}{k}</span>"
        for i, k in enumerate(sizes)
    )
    picture = ""
    if sizes and all(row["risk"] is not None for row in this):
        legend = f'<div class="legend">{marks}</div>'
        drawn = svg.risk_map(rows, this)
        picture = _figure("Risk and loss", "lower left is better", drawn, "map", legend)
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


def reading() -> str:
    """Explanations of the measures."""
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in TERMS)
    return f'<dl class="terms">{terms}</dl>'


def _figure(title: str, note: str, picture: str, kind: str = "", legend: str = "") -> str:
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
