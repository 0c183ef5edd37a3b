"""The report as a single HTML file without scripts, fonts or anything from the network."""

from html import escape
from typing import Any

from ..errors import InputError, shown
from . import sections
from .style import STYLE
from .wording import WARNING, count, percent

_KEYS = (
    "summary", "records", "variables", "k", "groups", "smallest", "individual", "cells", "missing",
    "loss", "sse", "ssa", "sst", "il1s", "risk", "oversized", "by_variable", "densities",
    "group_sizes", "categories", "made", "alternatives", "correlations",
)  # fmt: skip


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
    if not isinstance(content, dict) or not set(_KEYS) <= set(content):
        raise InputError(f"content={shown(content)} is not a result of describe()")
    parts = [
        ("done", "What was done", sections.done(content)),
        ("utility", "Utility", sections.utility(content)),
        ("variables", "Variables", sections.variables(content)),
        ("correlations", "Correlations", sections.correlations(content)),
        ("groups", "Groups", sections.groups(content)),
        ("risk", "Risk", sections.risk(content)),
        ("alternatives", "Alternatives", sections.alternatives(content)),
        ("reading", "How to read this", sections.reading()),
    ]
    links = "".join(f'<a href="#{key}">{title}</a>' for key, title, _ in parts)
    body = "".join(
        f'<section id="{key}"><h2>{title}</h2>{text}</section>' for key, title, text in parts
    )
    sentences = "".join(f"<li>{escape(text)}</li>" for text in content["summary"])
    variables = content["variables"] + len(content["categories"])
    size = f"{count(content['records'], 'record')}, {count(variables, 'variable')}"
    if content["k"]:
        size += f", k\N{THIN SPACE}=\N{THIN SPACE}{content['k']}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="robots" content="noindex"><title>Microaggregation report</title>'
        f"<style>{STYLE}</style></head><body>"
        f'<header><div><h1>Microaggregation report</h1><p class="lead">{size}</p>'
        f'<p class="warn">{WARNING}</p>'
        f'<nav aria-label="Sections">{links}</nav></div></header>'
        f'<main>{_keys(content)}<ul class="summary">{sentences}</ul>{body}</main>'
        f"<footer><div><p>{WARNING}</p><p>Created by microagg_gpu.</p></div></footer>"
        "</body></html>\n"
    )


def _keys(content: dict[str, Any]) -> str:
    risk, k = content["risk"], content["k"]
    unit = "values" if content["individual"] else "records"
    size = f"the smallest has {content['smallest']:,} {unit}"
    keys = [
        (
            "Information loss",
            percent(content["loss"]),
            "of the variation (100\N{MIDDLE DOT}SSE/SST); lower is better",
        ),
        (
            "Groups",
            f"{content['groups']:,}",
            size + (f" (k\N{THIN SPACE}=\N{THIN SPACE}{k})" if k else ""),
        ),
        (
            "Linkage risk",
            percent(risk["linkage"]),
            f"of records would be identified; the maximum is {percent(risk['linkage_at_most'])}",
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
