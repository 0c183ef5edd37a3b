"""The server: bound to this machine only, ended by any signal, by Quit, and with the terminal."""

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from .folder import ADDRESS, entrance, session_folder, write_private
from .routes import Routes
from .security import UPLOAD_LIMIT, Guard
from .session import Session

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
           if hasattr(signal, name)]  # fmt: skip


# What a browser is started with can be seen by all users of the machine; this file cannot.
_START = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>microagg</title>'
    '<meta http-equiv="refresh" content="0; url={address}"></head><body>'
    '<p><a href="{address}">Go on to microagg app</a></p></body></html>\n'
)


class _Server(uvicorn.Server):
    """Signals are ours: SIGHUP, which comes when the terminal is closed, ends it too."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    start: Path,
    source: Path | None,
    welcome: Callable[[str, Path], None],
    *,
    port: int = 0,
    limit: int = UPLOAD_LIMIT,
) -> None:
    """Serve one session, until it ends.

    Parameters
    ----------
    start : Path
        The folder below which files may be opened by their path.
    source : Path, optional
        A file to open at once.
    welcome : callable
        Called with the address that lets one browser in, and with a file that leads to it.
    port, limit : int
        A port, any free one by default; and the largest upload in bytes.
    """
    os.umask(0o077)
    with session_folder() as folder, socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # who comes before the server is ready waits, and is not refused
        write_private(folder / ADDRESS, f"http://127.0.0.1:{listener.getsockname()[1]}")
        asyncio.run(_serve(folder, listener, start, source, welcome, limit))


async def _serve(
    folder: Path,
    listener: socket.socket,
    start: Path,
    source: Path | None,
    welcome: Callable[[str, Path], None],
    limit: int,
) -> None:
    session = Session(folder, start)
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        with suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, session.ended.set)
    secret, path = secrets.token_urlsafe(32), f"/{secrets.token_urlsafe(9)}/"
    app = Guard(Routes(session, secret, path).app(), listener.getsockname()[1], secret, path, limit)
    server = _Server(
        uvicorn.Config(
            app, log_level="critical", access_log=False, server_header=False, date_header=False,
            timeout_graceful_shutdown=1, lifespan="off", ws="none",
        )
    )  # fmt: skip
    working = asyncio.create_task(session.work())
    await session.child.warm()
    if source is not None:
        session.open(source, "here")
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        address = entrance(folder)
        write_private(folder / "start.html", _START.format(address=address))
        welcome(address, folder / "start.html")
        ended = asyncio.create_task(session.ended.wait())
        await asyncio.wait({serving, working, ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        session.ended.set()
        session.changed()
        server.should_exit = True
        await session.child.kill()
        await serving
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
