"""The report as a single HTML file without scripts, fonts or anything from the network."""

from html import escape
from typing import Any

from ..checks import known_keywords
from ..errors import InputError, shown
from . import analysis_html, risk, rules, sections
from .style import STYLE
from .tables import Html, long_text
from .wording import WARNING, count, percent, unchanged

_KEYS = (
    "summary", "date", "version", "method", "by_stratum", "records", "variables", "k",
    "groups", "smallest", "individual", "cells", "missing",
    "loss", "sse", "ssa", "sst", "il1s", "risk", "oversized", "by_variable", "densities",
    "group_sizes", "categories", "provenance", "alternatives", "correlations",
)  # fmt: skip


@known_keywords
def page(content: dict[str, Any]) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    content : dict
        What `describe` returned, also after a round trip through JSON.

    Returns
    -------
    str
        A complete document. All texts of the content are escaped.
    """
    check_content(content)
    parts = [
        ("done", "What was done", sections.done(content)),
        (
            "risk",
            "Risk before and after",
            risk.risk(content) + analysis_html.more_risk(content),
        ),
        ("utility", "Utility", sections.utility(content)),
        ("variables", "Variables", sections.variables(content)),
        ("correlations", "Correlations", sections.correlations(content)),
        ("analysis", "For analysts", analysis_html.analysis(content)),
        ("groups", "Groups", sections.groups(content)),
        ("alternatives", "Alternatives", risk.alternatives(content)),
        ("reading", "How to read this", sections.reading()),
    ]
    if content["by_stratum"]:
        parts.insert(-2, ("strata", "Strata", risk.by_stratum(content)))
    if content.get("dominance"):
        parts.insert(2, ("contributors", "Contributors", rules.contributors(content)))
    if content.get("closeness"):
        parts.insert(2, ("sensitive", "Sensitive attribute", rules.sensitive(content)))
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in parts)
    body = "".join(
        f'<section id="{key}"><h2>{title}</h2>{text}</section>' for key, title, text in parts
    )
    sentences = "".join(f"<li>{escape(text)}</li>" for text in content["summary"])
    header = (
        f'<h1>Microaggregation report</h1><p class="lead">{lead(content)}</p>'
        f'{_verdict(content)}<p class="warn">{WARNING}</p>'
        f'<nav aria-label="Sections">{links}</nav>'
    )
    return document(
        "Microaggregation report",
        header,
        f'{_keys(content)}<ul class="summary">{sentences}</ul>{body}',
        f"<p>{WARNING}</p><p>Created by microagg-gpu {escape(content['version'])}.</p>",
    )


def check_content(content: Any) -> None:
    """Refuse what `describe` did not return."""
    if not isinstance(content, dict) or not set(_KEYS) <= set(content):
        raise InputError(f"content={shown(content)} is not a result of describe()")


def document(title: str, header: str, main: str, footer: str, *, public: bool = False) -> str:
    """A complete page; on paper its title stands below each page, with the page number."""
    robots = "" if public else '<meta name="robots" content="noindex">'
    below = title if public else f"{title}. Do not publish it."
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{robots}<title>{title}</title>"
        f'<style>{STYLE}@page {{ @bottom-left {{ content: "{below}"; }} }}</style></head><body>'
        f"<header><div>{header}</div></header><main>{main}</main>"
        f"<footer><div>{footer}</div></footer></body></html>\n"
    )


def lead(content: dict[str, Any]) -> str:
    """Size, k, method and date of a run, in a line below the title."""
    variables = content["variables"] + len(content["categories"])
    parts = [count(content["records"], "record"), count(variables, "variable")]
    if content["k"]:
        parts.append(f"k\N{THIN SPACE}=\N{THIN SPACE}{content['k']}")
    if content["method"]:
        parts.append(f"method {escape(content['method'])}")
    return f"{', '.join(parts)}. {content['date']}, microagg-gpu {content['version']}"


_KINDS = {"PASS": "pass", "PARTLY": "partly", "FAIL": "fail"}


def _verdict(content: dict[str, Any]) -> str:
    """Whether k holds in what is published: a word, a sentence, and what was counted."""
    verdict = content.get("verdict")
    if verdict is None:
        word = "NOT COUNTED"
        sentence = (
            "This report covers the protected variables only. Count k over all columns of the "
            "published file with microagg check."
        )
        lists: dict[str, list[str]] = {}
    else:
        word = verdict["word"]
        sentence = verdict["sentence"].removeprefix(f"{word}: ").rstrip(".") + "."
        if not sentence.startswith("k "):
            sentence = sentence[0].upper() + sentence[1:]
        counted, others = verdict["columns"], unchanged(content)
        each = "k holds for each of" if verdict.get("each") else "k holds for"
        if content.get("blocks"):
            each = "k holds within each block of"
        lists = {each: counted} if word == "PARTLY" else {}
        if word == "PASS":
            lists["Counted"] = [*counted, *(name for name in others if name not in counted)]
        lists["Published unchanged"] = others
    more, kind = rules.sentences(content), _KINDS.get(word, "uncounted")
    if kind == "pass" and any(rule.startswith("FAIL") for rule in more):
        kind = "partly"
    columns = "".join(
        f"<div><dt>{title}</dt><dd>{_listed(names)}</dd></div>"
        for title, names in lists.items()
        if names
    )
    return (
        f'<div class="verdict {kind}" role="note" aria-label="Verdict">'
        f"<strong>{escape(word)}</strong><div><p>{escape(sentence)}</p>"
        f"{''.join(f'<p>{escape(rule)}</p>' for rule in more)}"
        f"{columns and f'<dl>{columns}</dl>'}</div></div>"
    )


def _listed(names: list[str]) -> str:
    text = long_text(", ".join(names))
    return text if isinstance(text, Html) else escape(text)


def _keys(content: dict[str, Any]) -> str:
    risk, k = content["risk"], content["k"]
    unit = "values" if content["individual"] and not content.get("blocks") else "records"
    size = f"the smallest has {content['smallest']:,} {unit}"
    before, weighted = risk["before"]["linkage"], content.get("weighted_loss")
    keys = [
        (
            "Information loss",
            percent(content["loss"]),
            "of the variation (100\N{MIDDLE DOT}SSE/SST)"
            + (f"; {percent(weighted)} with sampling weights" if weighted is not None else "")
            + "; lower is better",
        ),
        (
            "Groups",
            f"{content['groups']:,}",
            size + (f" (k\N{THIN SPACE}=\N{THIN SPACE}{k})" if k else ""),
        ),
        (
            "Linkage risk",
            percent(risk["linkage"]),
            f"of records would be identified; before, {percent(before)}; lower is safer",
        ),
        (
            "Interval disclosure",
            percent(risk["ranks"]),
            "of values lie within 1 to 10\N{NO-BREAK SPACE}% of the ranks; lower is safer",
        ),
    ]
    entries = "".join(
        f'<div><dt>{name}</dt><dd><div class="figure">{figure}</div>'
        f'<div class="note">{note}</div></dd></div>'
        for name, figure, note in keys
    )
    return f'<dl class="keys">{entries}</dl>'
