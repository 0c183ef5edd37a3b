"""The figures of a try, and the list of all tries."""

import json
from html import escape
from typing import Any

from ...report.curves import by_k
from ...report.svg import densities
from ...report.tables import Column, facts, table
from ...report.wording import DASH, number, percent
from ..session import Figures, Session
from .shell import TIMES


def comparable(session: Session) -> list[Figures]:
    """Tries and sketches that differ from the plan in k and method only."""
    assert session.plan is not None
    own = _same(session.plan.as_json())
    every = {**session.sketches, **session.tries}
    return [figures for key, figures in every.items() if _same(json.loads(key)) == own]


def _same(plan: dict[str, Any]) -> dict[str, Any]:
    left = ("k", "method", "refine")
    choices = {name: value for name, value in plan["choices"].items() if name not in left}
    return {**plan, "choices": choices}


def live(session: Session, figures: Figures | None, stale: bool) -> str:
    """The three figures, and loss and risk by k."""
    if figures is None:
        return '<p class="hint">The figures appear here.</p>'
    bound = session.bounds.get(session.bound_key()) if not stale else None
    k = figures["k"]
    lost = "of the variation"
    if bound is not None:
        lost += f"; no grouping with k = {k} can lose less than {percent(bound)}"
    sizes = f"of {figures['smallest']:,} to {figures['largest']:,} records"
    if figures["smallest"] == figures["largest"]:
        sizes = f"of {figures['smallest']:,} records"
    risk = figures["risk"]
    found = (
        "not measured: there are only categories without order"
        if risk is None
        else "of records found by an intruder who has every original; no more than "
        f"{percent(100 / k)} is possible"
    )
    keys = "".join(
        f'<div><dt>{name}</dt><dd><div class="figure">{figure}</div>'
        f'<div class="note">{note}</div></dd></div>'
        for name, figure, note in (
            ("Information loss", percent(figures["loss"]), lost),
            ("Groups", f"{figures['groups']:,}", sizes),
            ("Linkage risk", percent(risk), found),
        )
    )
    kind, said = "", ""
    if stale:
        kind = ' class="stale"'
        said = f'<p class="hint">Figures of the last try: {escape(figures["method"])}, k = {k}.</p>'
    return f'<div{kind}>{said}<dl class="keys">{keys}</dl>{_charts(session, figures)}</div>'


def _charts(session: Session, figures: Figures) -> str:
    known = sorted(
        (f for f in comparable(session) if f["risk"] is not None), key=lambda f: (f["k"], f["loss"])
    )
    if figures not in known:
        return ""
    charts = []
    for title, key, ceiling in (
        ("Information loss", "loss", False),
        ("Linkage risk", "risk", True),
    ):
        lines: dict[str, list[tuple[int, float]]] = {}
        for run in known:
            points = lines.setdefault(run["method"], [])
            if run["k"] not in dict(points):
                points.append((run["k"], run[key]))
        drawn = by_k(title, lines, (figures["method"], figures["k"]), ceiling=ceiling)
        charts.append(f"<figure><figcaption>{title}, %</figcaption>{drawn}</figure>")
    others = sorted({run["method"] for run in known} - {figures["method"]})
    thin = f" Thin lines: {escape(', '.join(others))}." if others else ""
    heads = [Column("method", left=True), Column("k"), Column("loss"), Column("risk")]
    rows = [[f["method"], str(f["k"]), percent(f["loss"]), percent(f["risk"])] for f in known]
    return (
        f'<div class="halves">{"".join(charts)}</div><p class="hint">Thick line: '
        f"{escape(figures['method'])}.{thin}</p><details><summary>Both charts as a table</summary>"
        f"{table('Loss and risk by method and k', heads, rows)}</details>"
    )


def variables(figures: Figures | None) -> str:
    """Each variable before and after; one is shown."""
    if figures is None:
        return '<p class="hint">No figures yet.</p>'
    rows, drawn = figures["variables"], {d["name"]: d for d in figures["densities"]}
    dominated = {row["name"]: row for row in figures["given"]["variables"]}
    names = [row["name"] for row in rows]
    options = "".join(f"<option>{escape(name)}</option>" for name in names)
    panes = []
    for i, row in enumerate(rows):
        chart = drawn.get(row["name"])
        panes.append(
            f'<div class="halves variable" data-variable="{i}"{" hidden" if i else ""}>'
            f"<div>{_density(row['name'], chart)}</div>"
            f"{_moments(row, dominated.get(row['name']), figures['groups'])}</div>"
        )
    choice = (
        f'<label class="f" for="variable">Variable</label><select id="variable">{options}</select>'
        if names
        else ""
    )
    return choice + "".join(panes) + _categories(figures)


def _density(name: str, chart: dict[str, Any] | None) -> str:
    if chart is None:
        return f'<p class="hint">{escape(name)} is not drawn: it is constant, or one of many.</p>'
    grid = chart["grid"]
    rows = [
        [number(grid[i]), number(chart["before"][i], 3), number(chart["after"][i], 3)]
        for i in range(0, len(grid), 8)
    ]
    heads = [Column("value", left=True), Column("density before"), Column("density after")]
    return (
        f'<figure class="density">{densities(chart)}</figure><div class="legend"><span><i '
        'class="old"></i>original</span><span><i class="new"></i>protected</span></div>'
        f"<details><summary>Chart as a table</summary>{table(f'Densities of {name}', heads, rows)}"
        "</details>"
    )


def _moments(row: dict[str, Any], held: dict[str, Any] | None, groups: int) -> str:
    old, new = row["before"], row["after"]
    weighted = "weighted_" if "weighted_mean" in old else ""
    word = "weighted " * bool(weighted)
    body = [
        [f"{word}mean", number(old[f"{weighted}mean"]), number(new[f"{weighted}mean"])],
        [f"{word}standard deviation", number(old[f"{weighted}std"]),
         number(new[f"{weighted}std"])],
        ["median", number(old["quantiles"]["50"]), number(new["quantiles"]["50"])],
        ["99th percentile", number(old["quantiles"]["99"]), number(new["quantiles"]["99"])],
        ["loss of this variable", "", percent(row["loss"])],
    ]  # fmt: skip
    if held is not None:
        body.append(
            ["groups in which one record holds more than half", "",
             f"{held['dominated']:,} of {groups:,}"]
        )  # fmt: skip
    heads = [Column("measure", left=True), Column("before"), Column("after")]
    return table(f"{row['name']} before and after", heads, body)


def _categories(figures: Figures) -> str:
    parts = []
    for category in figures["categories"]:
        heads = [Column("category", left=True), Column("before"), Column("after")]
        rows = [[c["name"], percent(c["before"]), percent(c["after"])]
                for c in category["categories"]]  # fmt: skip
        parts.append(
            f"<h2>{escape(category['name'])}</h2><p class='hint'>{percent(category['changed'])} of "
            f"the values change.</p>{table('Categories of ' + category['name'], heads, rows)}"
        )
    return "".join(parts)


def given_away(session: Session, figures: Figures | None) -> str:
    """What is known of single records although each is in a group of k."""
    if figures is None:
        return '<p class="hint">No figures yet.</p>'
    given, groups = figures["given"], figures["groups"]
    parts = [
        f'<p class="sub">Groups of {figures["k"]} hide who a record is, not always what it is. '
        "Look at this before you publish.</p>"
    ]
    verdict = given["verdict"]
    if verdict is not None:
        kind = "ok" if verdict["word"] == "PASS" else ""
        parts.append(f'<div class="notice {kind}"><p>{escape(verdict["sentence"])}.</p></div>')
    facts_ = [(name, f"{text} and is published unchanged") for name, text in
              given["identifying"].items()]  # fmt: skip
    if given["merged"]:
        facts_.append(("Merged strata", "; ".join(given["merged"]) + ": k does not hold once the "
                       "strata columns are known"))  # fmt: skip
    if given["left_out"]:
        facts_.append(("Left out", given["left_out"]))
    if facts_:
        parts.append(facts("Columns and records", facts_))
    rows, classes = [], []
    for row in given["variables"]:
        most = f"{percent(row['share'])}" + (f", {row['where']}" if row["where"] else "")
        look = row["dominated"] or row["equal"]
        counts = [f"{row[key]:,} of {groups:,}" for key in ("dominated", "equal")]
        rows.append([row["name"], counts[0], most, counts[1], "look at it" if look else "fine"])
        classes.append("look" if look else "")
    if rows:
        heads = [
            Column("variable", left=True), Column("groups that a record dominates"),
            Column("largest share"), Column("groups of equal values"),
            Column("verdict"),
        ]  # fmt: skip
        parts.append(table("Dominance by variable", heads, rows, classes))
        parts.append('<p class="hint">A record dominates a group in a variable of which it holds '
                     "more than half: the published sum is nearly its own value. In a group of "
                     "equal values everybody's value is published. Lines are those of the "
                     "original file, shown on this screen only.</p>")  # fmt: skip
    return "".join(parts)


def all_tries(session: Session) -> str:
    """Every try, with a way back to it."""
    rows = []
    for i, (key, figures) in enumerate(session.tries.items()):
        plan = json.loads(key)
        strata = [name for name, role in plan["roles"].items() if role == "stratum"]
        within = f", {TIMES.join(strata)}" if strata else ""
        kind = plan["choices"]["aggregate"]
        extra = "" if kind == "mean" else f", {kind}"
        chosen = key == session.shown
        state = (
            '<span class="chip good">chosen</span>'
            if chosen
            else f'<button type="button" class="link" data-back="{i}">Go back<span '
            f'class="visually-hidden"> to {escape(figures["method"])}, k = {figures["k"]}</span>'
            "</button>"
        )
        risk = percent(figures["risk"]) if figures["risk"] is not None else DASH
        rows.append(
            f'<tr><th scope="row">{escape(figures["method"] + within + extra)}</th>'
            f"<td>{figures['k']}</td><td>{percent(figures['loss'])}</td><td>{risk}</td>"
            f'<td class="groups">{figures["groups"]:,}</td><td class="left">{state}</td></tr>'
        )
    if not rows:
        return '<p class="hint">No tries yet.</p>'
    return (
        '<p class="hint">Every try is kept. Go back to one to undo what you changed since.</p>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Tries"><table class="tries">'
        '<caption>Tries</caption><thead><tr><th scope="col" class="left">try</th>'
        '<th scope="col">k</th><th scope="col">loss</th><th scope="col">risk</th>'
        '<th scope="col" class="groups">groups</th><th scope="col" class="left">state</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )
