"""``microagg app``: the same in a browser, on this machine."""

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from .. import InputError
from .console import clear_errors
from .output import stdout

EXAMPLES = (
    ("Protect a file without typing more:", "microagg app companies.csv"),
    ("On another machine, by an SSH tunnel to a port that is known:",
     "microagg app --port 8765 --no-browser"),
)  # fmt: skip


def browse(
    source: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A file to open at once.", show_default=False),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port.", show_default="any that is free")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open no browser.")
    ] = False,
) -> None:
    """Open a page in the browser: from a file to a protected file, a report and a script.

    The page is served by this machine to itself. Nothing is sent anywhere. Files are opened by
    dropping them, or by their path below the current folder. Ctrl-C ends it.
    """
    with clear_errors():
        try:
            from ..app import folder, server
        except ImportError as error:
            raise InputError(
                f"the page needs {error.name}: install it with pip install 'microagg-gpu[app]'"
            ) from None
        if source is not None and not source.is_file():
            raise InputError(f"{source} does not exist, or is not a file")
        first = folder.running()
        if first is not None:
            address = folder.entrance(first)
            raise InputError(f"the app runs already: open {address}, or end it with Quit there")

        def welcome(address: str, page: Path) -> None:
            stdout().print(f"microagg app: {address}", soft_wrap=True)
            stdout().print("The address works once. Ctrl-C ends the app and removes its files.")
            if not no_browser and _has_display():
                # In a thread: some browsers do not return before they are closed.
                threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()

        try:
            server.serve(Path.cwd(), source and source.resolve(), welcome, port=port)
        except OSError as error:
            raise InputError(f"port {port} cannot be used: {error.strerror}") from None
        stdout().print("The app has ended; its files are removed.")


def _has_display() -> bool:
    """Whether a browser would have a window; those of the terminal cannot show the page."""
    there = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return sys.platform in ("darwin", "win32") or there
