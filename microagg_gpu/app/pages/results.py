"""Result: the verdict, the files, and how to get the same without clicking."""

import shlex
from html import escape
from typing import Any

from ...report.tables import facts
from ...report.wording import percent
from ..session import Session
from .shell import TIMES, button_bar, document

WORDS = {"PASS": "pass", "PARTLY": "partly", "FAIL": "fail"}
TITLES = {
    "PASS": "Protected and counted", "PARTLY": "Protected, but not in all columns",
    "FAIL": "k does not hold",
}  # fmt: skip


def page(session: Session) -> str:
    """The whole page."""
    result = session.result
    assert result is not None
    verdict = result["verdict"]
    sentence = verdict["sentence"].removeprefix(f"{verdict['word']}: ").rstrip(".") + "."
    sentence = sentence[0].upper() + sentence[1:] if not sentence.startswith("k ") else sentence
    sizes = f"{result['smallest']:,} to {result['largest']:,} records"
    if result["smallest"] == result["largest"]:
        sizes = f"{result['smallest']:,} records"
    return document(
        session,
        "result",
        TITLES[verdict["word"]],
        f'<div class="verdict {WORDS[verdict["word"]]}" role="note" aria-label="Verdict">'
        f"<strong>{escape(verdict['word'])}</strong><div><p>{escape(sentence)}</p>"
        f'<p class="more">Counted in the written file: {result["records"]:,} records, '
        f"{result['groups']:,} groups of {sizes}.</p></div></div>"
        f'{_warnings(result)}<div class="halves">{_files(result)}{_noticed(result)}</div>'
        f"{_again(result)}"
        + button_bar(
            f"{escape(session.name)} was not changed.",
            '<a class="btn second" href="explore">Try other settings</a>',
            '<a class="btn" href="open">Next file</a>',
        ),
    )


def _warnings(result: dict[str, Any]) -> str:
    texts = [
        f"Column {name} {text} and is published unchanged: leave it out."
        for name, text in result["identifying"].items()
        if name in result["others"]
    ]
    if result["merged"]:
        texts.append(f"Strata were merged: {'; '.join(result['merged'])}. k does not hold once the "
                     "strata columns are known.")  # fmt: skip
    if result["left_out"]:
        texts.append(f"Left out: {result['left_out']}.")
    return "".join(f'<div class="notice"><p>{escape(text)}</p></div>' for text in texts)


def _files(result: dict[str, Any]) -> str:
    files = result["files"]
    passed = result["verdict"]["word"] == "PASS"
    said = "to publish" if passed else "k does not hold over all its columns: do not publish it yet"
    rows = (
        (files["data"], said, _link("data", "Download", files["data"], first=True)),
        (
            files["report"],
            "report for your office; it contains information about the original records, do not "
            "publish it",
            _link("report", "Open", files["report"]) + _link("report", "Download", files["report"]),
        ),
        (
            files["note"],
            "note for the users of the file: method, k, what changed and by how much; nothing "
            "about single records",
            _link("note", "Open", files["note"]) + _link("note", "Download", files["note"]),
        ),
    )
    entries = "".join(
        f'<li class="dl"><div><b>{escape(name)}</b><small>{text}</small></div>'
        f'<div class="buttons">{links}</div></li>'
        for name, text, links in rows
    )
    return f'<div class="card"><h2>Take with you</h2><ul class="plain">{entries}</ul></div>'


def _link(name: str, word: str, file: str, first: bool = False) -> str:
    kind = "btn" if first else "btn second"
    hidden = f'<span class="visually-hidden"> {escape(file)}</span>'
    if word == "Open":
        return (f'<a class="{kind}" href="files/{name}" target="_blank" rel="noopener">Open{hidden}'
                "</a>")  # fmt: skip
    query = "" if name == "data" else "?download"
    return f'<a class="{kind}" href="files/{name}{query}" data-download download>{word}{hidden}</a>'


def _noticed(result: dict[str, Any]) -> str:
    """What changes for the users of the file."""
    rows = [("Loss", _loss(result))]
    variables = result["variables"]
    if variables:
        kind = "weighted_" if "weighted_std" in variables[0]["before"] else ""
        ratios = [
            v["after"][f"{kind}std"] / v["before"][f"{kind}std"]
            for v in variables
            if v["before"][f"{kind}std"]
        ]
        if ratios:
            ends = sorted(100 * (1 - ratio) for ratio in ratios)
            text = f"{percent(ends[0])} to {percent(ends[-1])} lower"
            if ends[0] < 0:
                text = f"up to {percent(-ends[0])} higher and {percent(ends[-1])} lower"
            rows.append(("Standard deviations", text + " (weighted)" * bool(kind)))
    for change in result["correlations"]:
        if change["after"] is not None:
            rows.append((
                "Correlations",
                f"change by {result['discrepancy']:.2f} on average; {change['first']}{TIMES}"
                f"{change['second']} most, {change['before']:.2f} → {change['after']:.2f}",
            ))  # fmt: skip
    rounded = [(abs(r["change"]) / r["size"], r["name"]) for r in result["rounding"] if r["size"]]
    if rounded:
        most, name = max(rounded)
        rows.append(("Totals", f"kept but for rounding, {100 * most:.2g} % at most ({name})"))
    table = facts("What users will notice", rows)
    return f'<div class="card"><h2>What users will notice</h2>{table}</div>'


def _loss(result: dict[str, Any]) -> str:
    by = sorted((v["loss"], v["name"]) for v in result["variables"] if v["loss"] is not None)
    if len(by) < 2:
        return percent(result["loss"])
    (low, first), (high, last) = by[0], by[-1]
    return f"{percent(result['loss'])}, from {percent(low)} ({first}) to {percent(high)} ({last})"


def _again(result: dict[str, Any]) -> str:
    """The command and the script, in tabs."""
    panes = (
        ("command", "Command line", _broken(result["command"])),
        ("python", "Python", result["script"]),
    )
    tabs = "".join(
        f'<button type="button" role="tab" id="tab-{key}" aria-controls="part-{key}" '
        f'aria-selected="{"false" if i else "true"}" tabindex="{-1 if i else 0}">{title}</button>'
        for i, (key, title, _) in enumerate(panes)
    )
    bodies = "".join(
        f'<div role="tabpanel" id="part-{key}" aria-labelledby="tab-{key}" tabindex="0"'
        f'{" hidden" if i else ""}><pre id="text-{key}">{escape(text)}</pre>'
        f'<p class="buttons"><button type="button" class="btn second" data-copy="text-{key}">Copy'
        f"</button>{_SCRIPT if i else ''}</p></div>"
        for i, (key, _, text) in enumerate(panes)
    )
    return (
        '<h2 class="later">The same without clicking</h2><p class="hint">Run in the folder of your '
        "file, both write the same file, byte for byte.</p>"
        f'<div class="tabs" role="tablist" aria-label="The same without clicking">{tabs}</div>'
        f'{bodies}<p id="copied" role="status" class="hint"></p>'
    )


_SCRIPT = '<a class="btn second" href="files/script" download>Download the script</a>'


def _broken(command: str) -> str:
    """A command in several lines, each beginning with an option."""
    lines, words = [], shlex.split(command)
    line: list[str] = []
    for word in words:
        if word.startswith("-") and line and len(shlex.join([*line, word])) > 60:
            lines.append(line)
            line = []
        line.append(word)
    lines.append(line)
    return " \\\n    ".join(shlex.join(part) for part in lines)
