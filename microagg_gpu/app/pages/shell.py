"""What all pages share: the frame, the steps, and how a problem is shown. Texts are escaped."""

import json
from html import escape
from typing import Any

from ...errors import shown
from ..session import Session

STEPS = {
    "open": "Open", "columns": "Columns", "explore": "Explore", "protect": "Protect",
    "result": "Result",
}  # fmt: skip
REPAIRS = {
    ("missing", "pattern"): "Group records that miss the same values",
    ("missing", "drop"): "Leave out records with missing values",
    ("small_strata", "merge"): "Merge each with the nearest stratum",
    ("small_strata", "suppress"): "Leave out their records",
}
TIMES = " \N{MULTIPLICATION SIGN} "
MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ".": "point"}


def document(session: Session, step: str, title: str, body: str) -> str:
    """A complete page."""
    size = ""
    if session.described is not None:
        columns = len(session.described["columns"])
        size = f" · {session.described['records']:,} records · {columns} columns"
    name = f'<span class="file">{escape(session.name)}{size}</span>' if session.name else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} - microagg</title>"
        '<link rel="icon" href="static/icon.svg"><link rel="stylesheet" href="static/app.css">'
        '<script type="module" src="static/app.js"></script>'
        f'<script type="module" src="static/{step}.js"></script></head>'
        f'<body data-version="{session.version}" inert>'  # until its scripts are there: app.js
        "<noscript>The app needs JavaScript: allow it for this address.</noscript>"
        '<a class="skip" href="#title">Skip to the content</a>'
        f'<header class="top"><span class="brand">microagg</span>{name}'
        '<span class="local"><span aria-hidden="true">●</span> '
        '<span class="long">Runs on this computer, </span>nothing is sent</span>'
        '<button type="button" class="quit" id="quit">Quit</button></header>'
        f'<div class="wrap">{_steps(session, step)}<main>'
        '<div id="gone" class="notice" role="alert" hidden><b>microagg app is not running any '
        "more.</b> Start it again in the terminal with <code>microagg app</code>.</div>"
        f'<h1 id="title" tabindex="-1">{escape(title)}</h1>{body}</main></div>'
        f"{_QUIT}</body></html>\n"
    )


_QUIT = (
    '<dialog id="quit-dialog" aria-labelledby="quit-title"><h2 id="quit-title">End the app?</h2>'
    "<p>The work ends, and the files of this session are removed: the copy of your file and "
    "the results that you did not download. Your own files stay as they are.</p>"
    '<div class="buttons"><button type="button" class="btn second" id="quit-no">Go on working'
    '</button><button type="button" class="btn danger" id="quit-yes">End</button></div></dialog>'
)


def _steps(session: Session, current: str) -> str:
    ready = session.described is not None
    busy = session.busy is not None and session.busy.step == "protect"
    reachable = {
        "open": True, "columns": ready, "explore": ready, "protect": busy,
        "result": session.result is not None,
    }  # fmt: skip
    order = list(STEPS)
    items = []
    for i, (key, title) in enumerate(STEPS.items()):
        done = i < order.index(current)
        mark = '<b aria-hidden="true">✓</b>' if done else f'<b aria-hidden="true">{i + 1}</b>'
        inner = f"{mark}<span>{title}</span>"
        if key == current:
            items.append(f'<li><a href="{key}" aria-current="step">{inner}</a></li>')
        elif reachable[key]:
            items.append(f'<li><a href="{key}" class="{"done" if done else ""}">{inner}</a></li>')
        else:
            kind = "done" if done else "later"
            items.append(f'<li><span class="{kind}">{inner}</span></li>')
    return f'<nav class="steps" aria-label="Steps"><ol>{"".join(items)}</ol></nav>'


def problem(parts: list[Any], columns: bool = False) -> str:
    """An error as a sentence, with what would mend it as buttons.

    Parameters
    ----------
    parts : list
        Texts, and options as {"option": ..., "value": ...}.
    columns : bool
        Whether to offer a link to the columns.
    """
    texts, buttons = [], []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        name, value = part["option"], part["value"]
        label, kind = _repair(name, value)
        if label:
            texts.append(f"“{label}”")
            given = escape(json.dumps({name: value}))
            buttons.append(
                f'<button type="button" class="link" data-{kind}="{given}">{escape(label)}</button>'
            )
        else:
            texts.append(name if value is None else f"{name} = {shown(value)}")
    sentence = "".join(texts)
    if not set(".=<'") & set(sentence.partition(" ")[0]):  # not the name of a file
        sentence = sentence[:1].upper() + sentence[1:]
    sentence += "." * (not sentence.endswith("."))
    if columns:
        buttons.append('<a href="columns">Change the columns</a>')
    repairs = f'<p class="repairs">{" ".join(buttons)}</p>' if buttons else ""
    return f'<div class="notice" role="alert"><p>{escape(sentence)}</p>{repairs}</div>'


def _repair(name: str, value: Any) -> tuple[str, str]:
    """The text of the button that sets an option, and what it sends; nothing if there is none."""
    if (name, value) in REPAIRS:
        return REPAIRS[name, value], "try"
    if value is None or name not in ("delimiter", "encoding", "decimal"):
        return "", ""
    if name == "encoding":
        return f"Read it as {value}", "format"
    kind = "delimiter" if name == "delimiter" else "decimal mark"
    return f"Read it with a {MARKS.get(value, value)} as {kind}", "format"


def warning(text: str) -> str:
    """A notice about something that is not an error."""
    return f'<div class="notice"><p>{escape(text)}</p></div>'


def progress_bar(label: str, fraction: float | None) -> str:
    """A bar; one without an end if it is not known how far the work is."""
    value = "" if fraction is None else f' value="{fraction:.3f}"'
    return f'<progress max="1"{value} aria-label="{escape(label)}"></progress>'


def button_bar(sentence: str, *buttons: str) -> str:
    """The end of a page: where things stand, and where to go."""
    return f'<div class="bar"><span class="grow">{sentence}</span>{"".join(buttons)}</div>'
