"""Files that a command writes beside the data: checked before any work, then written whole."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .files import check_target, whole_file
from .report import page


def check_targets(sources: list[Path], targets: list[Path | None], force: bool) -> list[Path]:
    """The files that will be written, each checked before any work is done."""
    given = [target for target in targets if target is not None]
    for i, target in enumerate(given):
        check_target(target, [*sources, *given[:i]], force)
    return given


def write_report(
    files: ExitStack, content: dict[str, Any], html: Path | None, json_file: Path | None
) -> None:
    """Write a report as a page and as JSON, as far as they are asked for."""
    if html is not None:
        write_text(files, page(content), html)
    if json_file is not None:
        write_text(files, json.dumps(content, indent=2, allow_nan=False), json_file)


def write_text(files: ExitStack, text: str, target: Path) -> None:
    """Write a text file, which appears with the others when all goes well."""
    files.enter_context(whole_file(target)).write_text(text, encoding="utf-8")
