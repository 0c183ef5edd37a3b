"""Open: drop a file, choose one, name one below the folder, or take the sample."""

import os
from html import escape

from ...files.formats import kind_of
from ..security import UPLOAD_LIMIT
from ..session import Session
from .shell import document, problem, progress_bar

SHOWN = 200  # names of files in the folder
ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".bz2", ".zst", ".lz4")


def page(session: Session) -> str:
    """The whole page."""
    names = "".join(f'<option value="{escape(name)}">' for name in _files(session))
    folder = escape(str(session.start))
    return document(
        session,
        "open",
        "Open a file",
        '<p class="sub">A table with a header: CSV (any delimiter, also compressed), Parquet, '
        "Arrow, Excel, Stata, SPSS or SAS. Your file is never changed.</p>"
        f'<div id="state">{state(session)}</div>'
        '<div class="drop" id="drop"><p class="large">Drop a file here</p>'
        '<p><button type="button" class="btn" id="choose">Choose a file…</button></p>'
        f'<p class="hint">up to {UPLOAD_LIMIT // 2**20} MB; open larger files by their path</p>'
        '<input type="file" id="file" hidden></div>'
        '<div class="halves below"><form class="card" id="by-path"><h2>Open by path</h2>'
        '<label class="f" for="path">File below the folder in which the app was started</label>'
        f'<input id="path" name="path" list="files" autocomplete="off" required '
        'aria-describedby="folder" placeholder="survey.csv">'
        f'<datalist id="files">{names}</datalist><p class="hint wrap-anywhere" id="folder">'
        f'{folder}</p><button class="btn second">Open</button></form>'
        '<div class="card"><h2>No file at hand?</h2><p>Try a simulated survey of 2,500 companies, '
        "with regions, size classes, weights and eight amounts.</p>"
        '<button type="button" class="btn second" id="sample">Try the simulated survey</button>'
        "</div></div>",
    )


def state(session: Session) -> str:
    """What is being read, or why it cannot be; `data-next` if the file is open."""
    if session.busy is not None and session.busy.step == "open":
        now = session.busy.now()
        what = now.name if now is not None else f"reading {session.name}"
        what = what[:1].upper() + what[1:]
        bar = progress_bar(what, now.fraction if now is not None and now.fraction != 1 else None)
        return f'<div class="card busy"><p>{escape(what)}…</p>{bar}</div>'
    if session.open_error:
        return problem(session.open_error)
    return '<span data-next="columns"></span>' if session.described is not None else ""


def _files(session: Session) -> list[str]:
    """Data files in the folder itself."""
    try:
        with os.scandir(session.start) as entries:
            names = [e.name for e in entries if not e.name.startswith(".") and e.is_file()]
    except OSError:
        return []
    from pathlib import Path

    known = [
        n for n in names if n.lower().endswith(ENDINGS) or kind_of(Path(n))[0] != "CSV"
    ]  # fmt: skip
    return sorted(known)[:SHOWN]
