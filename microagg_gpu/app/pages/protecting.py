"""Protect: what runs, how long it takes, and a way to stop it."""

import time
from html import escape

from ..progress import Phase
from ..session import Session
from .shell import TIMES, button_bar, document, problem, progress_bar


def page(session: Session) -> str:
    """The whole page."""
    assert session.plan is not None
    choices, strata = session.plan.choices, session.plan.having("stratum")
    within = f", within {TIMES.join(strata)}" if strata else ""
    return document(
        session,
        "protect",
        f"Protecting {session.name}",
        f'<p class="sub">{escape(choices.label)}, k = {choices.k}{escape(within)}. Closing this '
        "page does not stop the work; Cancel does.</p>"
        f'<div id="state">{state(session)}</div><p id="said" class="visually-hidden" '
        'role="status"></p>',
    )


def state(session: Session) -> str:
    """The phases; `data-next` when all is done."""
    if session.result is not None:
        return '<span data-next="result"></span>'
    if session.busy is None or session.busy.step != "protect":
        said = problem(session.protect_error, columns=True) if session.protect_error else (
            f'<div class="notice calm" role="alert"><p>{escape(session.cancelled)}</p></div>'
            if session.cancelled else ""
        )  # fmt: skip
        bar = button_bar("", '<a class="btn" href="explore">Back to the settings</a>')
        return f'<span data-idle="true"></span>{said}{bar}'
    busy, now = session.busy, time.monotonic()
    current = busy.now()
    fraction = current.fraction if current is not None else None
    name = current.name if current is not None else "beginning"
    items = "".join(_item(phase, current, now) for phase in busy.phases)
    items += "".join(f"<li>{_mark('')}{escape(_title(name))}<span></span></li>"
                     for name in _expected(session))  # fmt: skip
    share = f"<b>{100 * fraction:.0f} %</b> of this step" if fraction else "<b>working</b>"
    left = None if current is None else current.left(now)
    about = "" if left is None else f" · about {_seconds(left)} left"
    loss = "" if current is None or current.loss is None else f" · loss so far {current.loss:.2f} %"
    return (
        f'<div class="card busy" data-phase="{escape(_title(name))}">'
        f"{progress_bar(_title(name), fraction)}<p>{share}{about}{loss}</p>"
        f'<ol class="phase">{items}</ol><p class="hint">The first run of a method on this computer '
        "compiles it once. That takes up to half a minute and is a step of its own.</p>"
        '<button type="button" class="btn danger" id="cancel">Cancel</button> '
        '<span class="hint">Nothing is left behind.</span></div>'
    )


def _item(phase: Phase, current: Phase | None, now: float) -> str:
    title = escape(_title(phase.name))
    if phase.seconds is not None:
        return f"<li>{_mark('✓')}{title}<span>{phase.seconds:.1f} s</span></li>"
    if phase is current:
        return f'<li class="now">{_mark("→")}{title}<span>{now - phase.begun:.0f} s</span></li>'
    return f"<li>{_mark('')}{title}<span></span></li>"


def _mark(mark: str) -> str:
    return f'<i aria-hidden="true">{mark}</i>'


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def _expected(session: Session) -> list[str]:
    """The phases that are still to come."""
    assert session.plan is not None
    assert session.busy is not None
    known = [phase.name for phase in session.busy.phases]
    choices = session.plan.choices
    every = {
        "reading": f"reading {session.name}", choices.method: f"{choices.method}, k={choices.k}",
        **({"refining": "refining"} if choices.refine else {}),
        "writing": "writing the file", "counting": "counting k in the file",
        "trying": "trying other methods", "measuring": "measuring utility and risk",
    }  # fmt: skip
    return [name for key, name in every.items() if not any(p.startswith(key) for p in known)]


def _seconds(left: float) -> str:
    if left < 90:
        return f"{max(1, round(left))} s"
    return f"{round(left / 60)} minutes"
