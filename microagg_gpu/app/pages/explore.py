"""Explore: k and the method, and what is lost and risked with them."""

from html import escape

from ...methods import METHODS
from ...report.wording import percent
from ..plan import STEPS
from ..session import Session
from . import tries
from .shell import button_bar, document, problem, progress_bar, warning

MOST = 30  # of the slider; larger k are typed
AGGREGATES = {
    "mean": "the mean of the group", "median": "the median", "trimmed": "a trimmed mean",
}  # fmt: skip
MISSING = {
    "pattern": "group records that miss the same values", "drop": "leave out those records",
}  # fmt: skip
SMALL = {
    "error": "are not possible: k is limited", "merge": "are merged with the nearest",
    "suppress": "are left out",
}  # fmt: skip
TABS = {
    "variables": "Before and after", "given": "What is still given away", "tries": "Tries so far",
}  # fmt: skip


def page(session: Session) -> str:
    """The whole page; a note that the columns are read, until they are."""
    if session.limits is None:
        said = problem(session.try_error, columns=True) if session.try_error else ""
        busy = "" if said else f'<div class="card busy"><p>Reading the columns…</p>{_BAR}</div>'
        back = button_bar("", '<a class="btn second" href="columns">Back</a>')
        return document(session, "explore", "How large should groups be?",
                        f'<div id="waiting">{said}{busy}</div>{back}')  # fmt: skip
    tabs = "".join(
        f'<button type="button" role="tab" id="tab-{key}" aria-controls="part-{key}" '
        f'aria-selected="{"true" if i == 0 else "false"}" tabindex="{0 if i == 0 else -1}">'
        f"{title}</button>"
        for i, (key, title) in enumerate(TABS.items())
    )
    parts = _parts(session)
    panes = "".join(
        f'<div role="tabpanel" id="part-{key}" aria-labelledby="tab-{key}" tabindex="0"'
        f"{'' if i == 0 else ' hidden'}>{parts[key]}</div>"
        for i, key in enumerate(TABS)
    )
    return document(
        session,
        "explore",
        "How large should groups be?",
        f'<p class="sub">Move k and watch what is lost and what an intruder could still find. '
        f"{_records(session)}</p>"
        f'<div id="part-status" role="status">{parts["status"]}</div>'
        f'<div class="two">{_form(session, parts)}<div id="part-live">{parts["live"]}</div></div>'
        f'<div class="tabs" role="tablist" aria-label="More about this try">{tabs}</div>{panes}'
        + button_bar(
            "Nothing is written yet.",
            '<a class="btn second" href="columns">Back</a>',
            '<button type="button" class="btn" id="protect">Protect with these settings</button>',
        ),
    )


_BAR = progress_bar("Reading the columns", None)


def _records(session: Session) -> str:
    limits = session.limits
    assert limits is not None
    if not limits["sampled"]:
        return f"All {limits['records']:,} records are used."
    return (
        f'<b class="chip">Sample</b> These figures are of a random sample of {limits["sample"]:,} '
        f"of the {limits['records']:,} records. Fewer records are less similar to each other, so "
        "the loss of the whole file will be lower. Protecting uses all records."
    )


def _form(session: Session, parts: dict[str, str]) -> str:
    assert session.plan is not None
    assert session.limits is not None
    choices, limits, plan = session.plan.choices, session.limits, session.plan
    most = max(3, min(limits["most"], max(MOST, choices.k)))
    methods = "".join(
        f'<option value="{name}"{" selected" if name == choices.method else ""}>{name}: '
        f"{escape(METHODS[name].good_for)}</option>"
        for name in sorted(limits["methods"], key=lambda name: not METHODS[name].recommended)
    )
    mixed = limits["mixed"]
    note = (
        "With categories the method is MDAV-generic, without refinement."
        if mixed
        else f"{STEPS} steps per record, the same result on every computer. Takes longer."
    )
    more = ""
    if limits["strata"] > 1 or choices.small_strata != "error":
        label = "Strata of fewer than k records"
        more = _select("small_strata", label, SMALL, choices.small_strata)
    if limits["missing"] or choices.missing != "error":
        more = _select("missing", "Missing values", MISSING, choices.missing) + more
    if plan.having("weight"):
        more += _check("average_weight", "Publish the mean weight of each group",
                       choices.average_weight, "Weights that differ tell records of a group apart. "
                       "Weighted totals stay the same.")  # fmt: skip
    if more:
        more = f"<details><summary>More settings</summary>{more}</details>"
    weighted = plan.having("weight")
    kept = f"Weighted by {escape(weighted[0])}, so that totals are kept." if weighted else (
        "In the decimals of the input; whole numbers stay whole."
    )  # fmt: skip
    return (
        '<form class="card" id="choices"><label class="f" for="k">k, the smallest group</label>'
        f'<div class="krow"><input id="k" type="range" min="2" max="{most}" value="{choices.k}" '
        'aria-describedby="part-limit"><input id="k-number" type="number" min="2" '
        f'value="{choices.k}" aria-label="k as a number"></div>'
        f'<p class="hint" id="part-limit">{parts["limit"]}</p>'
        '<label class="f" for="method">Method</label>'
        f'<select id="method" name="method" aria-describedby="part-advice">{methods}</select>'
        f'<p class="hint" id="part-advice">{parts["advice"]}</p>'
        + _check("refine", "Refine the groups", choices.refine, note, disabled=mixed)
        + _select("aggregate", "Publish", AGGREGATES, choices.aggregate)
        + f'<p class="hint">{kept}</p>{more}</form>'
    )


def _select(name: str, label: str, known: dict[str, str], chosen: str) -> str:
    options = "".join(
        f'<option value="{key}"{" selected" if key == chosen else ""}>{text}</option>'
        for key, text in known.items()
    )
    return (
        f'<label class="f" for="{name}">{label}</label>'
        f'<select id="{name}" name="{name}">{options}</select>'
    )


def _check(name: str, label: str, on: bool, hint: str, disabled: bool = False) -> str:
    return (
        f'<p class="check"><input type="checkbox" id="{name}" name="{name}"'
        f"{' checked' if on else ''}{' disabled' if disabled else ''} "
        f'aria-describedby="{name}-hint"><label for="{name}">{label}</label></p>'
        f'<p class="hint" id="{name}-hint">{hint}</p>'
    )


def state(session: Session) -> str:
    """The parts that changed, each in an element that says where it belongs."""
    if session.limits is None:
        if session.try_error:
            return f'<div data-part="status">{problem(session.try_error, columns=True)}</div>'
        return ""
    inner = "".join(
        f'<div data-part="{name}">{text}</div>' for name, text in _parts(session).items()
    )
    return f'{inner}<span data-most="{session.limits["most"]}"></span>'


def _parts(session: Session) -> dict[str, str]:
    figures = session.tries.get(session.shown)
    return {
        "status": _status(session),
        "limit": _limit(session),
        "advice": _advice(session),
        "live": tries.live(session, figures, stale=session.shown != session.key()),
        "variables": tries.variables(figures),
        "given": tries.given_away(session, figures),
        "tries": tries.all_tries(session),
    }


def _status(session: Session) -> str:
    """What is computed now, or what is wrong."""
    assert session.plan is not None
    notes = "".join(map(warning, session.warnings))
    if session.try_error:
        return problem(session.try_error, columns=True) + notes
    if session.cancelled:
        notes = f'<div class="notice calm"><p>{escape(session.cancelled)}</p></div>' + notes
    if session.busy is not None and session.busy.step == "explore":
        now = session.busy.now()
        name = now.name if now is not None else "computing"
        share = f" {100 * now.fraction:.0f} %" if now is not None and now.fraction else ""
        once = ": this takes up to half a minute" if session.busy.compiling else ""
        return f'<p class="now"><b class="chip">computing</b> {escape(name)}{once}…{share}</p>' + (
            notes
        )
    return f'<p class="now quiet">{_idle(session)}</p>{notes}'


def _idle(session: Session) -> str:
    if session.busy is not None and session.busy.step == "sketch":
        return "Filling in the curves…"
    return "Up to date."


def _limit(session: Session) -> str:
    """Why a larger k is impossible."""
    assert session.plan is not None
    assert session.limits is not None
    limits, most = session.limits, session.limits["most"]
    if session.plan.choices.small_strata != "error" or limits["strata"] == 1:
        return f"At most {most:,}, the number of records that can be grouped together."
    return (
        f"k = {most + 1:,} is not possible: {escape(limits['smallest'])} has only {most:,} "
        "records. "
        '<a href="columns">Use fewer strata</a>, or see More settings.'
    )


def _advice(session: Session) -> str:
    """Which of the methods that were tried loses least at this k."""
    assert session.plan is not None
    k = session.plan.choices.k
    known = [figures for figures in tries.comparable(session) if figures["k"] == k]
    if len(known) < 2:
        return ""
    best = min(known, key=lambda figures: figures["loss"])
    names = {figures["method"] for figures in known}
    return (
        f"{escape(best['method'])} loses least of the {len(names)} tried at k = {k}: "
        f"{percent(best['loss'])}."
    )
