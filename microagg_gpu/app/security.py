"""Who may speak to the server: one browser of its user, and pages of this server only.

Every request passes `Guard`, which refuses

- another Host than ours: a foreign name that was made to point at this machine (DNS rebinding);
- requests that a page of another site, or of another port, makes the browser send;
- requests without the cookie, which only the one-time token of the terminal gives;
- other methods than GET and POST, and bodies above a limit.

Cookies know no ports. So that no other server of this machine is sent ours, it is for a path that
only this session knows.
"""

import secrets
from typing import Any

from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOAD_LIMIT = 200 * 2**20
OTHER_LIMIT = 4 * 2**20
COOKIE = "microagg"
OUR_PAGES = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'"
)
USED = (
    "Open the address that microagg app printed in the terminal. It works once; start microagg app "
    "again for a new one."
)
REPORTS = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""For the report and the note, which have their style in them, and nothing else."""
HEADERS = {
    "content-security-policy": OUR_PAGES,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class TooLarge(Exception):
    """A body is above its limit, which the application answers with `too_large`."""


class Guard:
    """ASGI middleware; `path` is where the session lives, `/` is where a token is taken.

    Parameters
    ----------
    app : ASGIApp
    port : int
    secret : str
        The value of the cookie.
    path : str
        Begins and ends with a slash.
    limit : int
        Bytes of an upload.
    """

    def __init__(
        self, app: ASGIApp, port: int, secret: str, path: str, limit: int = UPLOAD_LIMIT
    ) -> None:
        self._app, self._secret, self._path, self._limit = app, secret, path, limit
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket, of which we have none
            await send({"type": "websocket.close", "code": 1008})
            return

        async def safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.encode() not in given
                    ),
                ]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, safely)
            return
        await self._app(scope, self._counted(scope, receive), safely)

    def _refusal(self, scope: Scope) -> Response | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = headers.get("host", [])
        if len(host) != 1 or host[0] not in self._hosts:
            return refuse(403, "This address is not the one that microagg app printed.")
        if scope["method"] not in ("GET", "POST"):
            return refuse(405, "Only GET and POST are answered here.")
        entrance = scope["path"] == "/" and scope["method"] == "GET"
        if not entrance and not set(headers.get("sec-fetch-site", [])) <= {"same-origin", "none"}:
            return refuse(403, "Another page sent this request.")
        if scope["method"] == "POST" and headers.get("origin") != [f"http://{host[0]}"]:
            return refuse(403, "Another page sent this request.")
        if entrance:
            return None
        if not scope["path"].startswith(self._path):
            return refuse(404, "There is nothing here.")
        if not self._known(headers.get("cookie", [])):
            return refuse(403, USED)
        length = headers.get("content-length", ["0"])[0]
        if not length.isdigit() or int(length) > self._limit_of(scope):
            return too_large(self._limit)
        return None

    def _known(self, cookies: list[str]) -> bool:
        pairs = [pair.strip().partition("=") for text in cookies for pair in text.split(";")]
        given = [value for name, _, value in pairs if name == COOKIE]
        return any(secrets.compare_digest(g.encode(), self._secret.encode()) for g in given)

    def _limit_of(self, scope: Scope) -> int:
        return self._limit if scope["path"] == f"{self._path}upload" else OTHER_LIMIT

    def _counted(self, scope: Scope, receive: Receive) -> Receive:
        """Count the bytes of a body that does not say its length, or says a wrong one."""
        left = self._limit_of(scope)

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge(self._limit)
            return message

        return counted


def refuse(status: int, sentence: str) -> Response:
    """A page of one sentence, or the sentence itself for a script."""
    return HTMLResponse(
        "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>microagg</title>"
        f"<h1>microagg</h1><p>{sentence}</p>",
        status_code=status,
        headers={"connection": "close"} if status == 413 else None,
    )


def too_large(limit: int) -> Response:
    """The answer to a file that is too large."""
    return refuse(413, f"Files above {limit // 2**20} MB are opened by their path.")


def cookie(secret: str, path: str) -> dict[str, Any]:
    """Arguments of `Response.set_cookie`."""
    return {
        "key": COOKIE, "value": secret, "path": path, "httponly": True, "samesite": "strict",
    }  # fmt: skip
