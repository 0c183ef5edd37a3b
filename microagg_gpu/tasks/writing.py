"""Files that a command writes beside the data: checked before any work, then written whole."""

import json
import os
from pathlib import Path
from typing import Any

from ..files.atomic import Outputs
from ..files.formats import check_target
from ..report import note, page


def check_targets(sources: list[Path], targets: list[Path | None], force: bool) -> list[Path]:
    """The files that will be written, each checked before any work is done."""
    given = [target for target in targets if target is not None]
    for i, target in enumerate(given):
        check_target(target, [*sources, *given[:i]], force)
    return given


def readable(name: str) -> str:
    """The name of a file as text, even if it is not UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def write_report(
    files: Outputs,
    content: dict[str, Any],
    html: Path | None,
    json_file: Path | None,
    public: Path | None = None,
) -> None:
    """Write a report as a page and as JSON, and the note for the public, as far as asked for."""
    if public is not None:
        write_text(files, note(content), public)
    if html is not None:
        write_text(files, page(content), html)
    if json_file is not None:
        write_text(files, json.dumps(content, indent=2, allow_nan=False), json_file)


def write_text(files: Outputs, text: str, target: Path) -> None:
    """Write a text file, which appears with the others when all goes well."""
    # Names that are not UTF-8 cannot be written as they are.
    files.add(target).write_text(text, encoding="utf-8", errors="replace")
