"""The addresses of the server: pages by GET, decisions by POST, progress as events."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import fields, replace
from pathlib import Path, PurePosixPath

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route

from ..errors import InputError
from ..pipeline.grouping import check_method
from ..report.style import STYLE
from .folder import use_token
from .inputs import below, body_of, file_name, mapping_of, plain_name, text_of
from .pages import columns, explore, opening, protecting, results
from .pages.shell import problem
from .plan import ROLES, Choices
from .security import REPORTS, USED, TooLarge, cookie, refuse, too_large
from .session import Session
from .worker import refused

STATIC = Path(__file__).parent / "static"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGES = {
    "open": opening.page, "columns": columns.page, "explore": explore.page,
    "protect": protecting.page, "result": results.page,
}  # fmt: skip


class Routes:
    """What is answered, for one session."""

    def __init__(self, session: Session, secret: str, path: str) -> None:
        self.session, self._secret, self._path = session, secret, path

    def app(self) -> Starlette:
        """The application; `Guard` stands before it."""
        pages = [Route(f"/{name}", self.page, methods=["GET"], name=name) for name in PAGES]
        posts = ("upload", "path", "sample", "format", "roles", "try", "back", "protect", "cancel",
                 "quit")  # fmt: skip
        decisions = [
            Route(f"/{name}", getattr(self, f"post_{name}"), methods=["POST"]) for name in posts
        ]
        inside = [
            Route("/", self.first, methods=["GET"]),
            *pages,
            *decisions,
            Route("/events", self.events, methods=["GET"]),
            Route("/parts/{name}", self.part, methods=["GET"]),
            Route("/files/{name}", self.file, methods=["GET"]),
            Route("/static/{name}", self.static, methods=["GET"]),
        ]
        return Starlette(
            routes=[Route("/", self.enter, methods=["GET"]), Mount(self._path[:-1], routes=inside)],
            exception_handlers={InputError: _refused, TooLarge: _too_large},
        )

    # Pages

    async def enter(self, request: Request) -> Response:
        """Take the token of the terminal, once, and give the cookie for it."""
        if use_token(self.session.folder, request.query_params.get("token", "")):
            response = Response(_WELCOME.format(page=self._path), media_type="text/html")
            response.set_cookie(**cookie(self._secret, self._path))
            return response
        # Not the way to the session: only its own browser may know the path.
        return refuse(403, USED)

    async def first(self, request: Request) -> Response:
        """The page of the step that was reached."""
        return RedirectResponse(f"{self._path}{self._step()}", status_code=303)

    def _step(self) -> str:
        session = self.session
        if session.described is None:
            return "open"
        if session.busy is not None and session.busy.step == "protect":
            return "protect"
        return "result" if session.result else "explore" if session.tries else "columns"

    async def page(self, request: Request) -> Response:
        """A step, or the last one that can be taken."""
        name = request.url.path.rpartition("/")[2]
        session = self.session
        ready = session.described is not None
        busy = session.busy is not None and session.busy.step == "protect"
        if (name in ("columns", "explore") and not ready) or (
            name == "protect" and not (ready and (busy or session.tries))
        ):
            return RedirectResponse("open" if not ready else "explore", status_code=303)
        if name == "result" and session.result is None:
            return RedirectResponse("open" if not ready else "explore", status_code=303)
        idle = session.busy is None and not session.try_error
        if name == "explore" and idle and session.shown != session.key():
            session.explore()
        return Response(PAGES[name](session), media_type="text/html")

    async def part(self, request: Request) -> Response:
        """A part of a page that has changed."""
        name = request.path_params["name"]
        known = {
            "opening": opening.state, "columns": columns.state, "explore": explore.state,
            "protect": protecting.state,
        }  # fmt: skip
        if name not in known:
            raise HTTPException(404)
        return Response(known[name](self.session), media_type="text/html")

    async def static(self, request: Request) -> Response:
        """A script or the style, which goes on from that of the report."""
        path = STATIC / PurePosixPath(request.path_params["name"]).name
        if path.suffix not in KINDS or not path.is_file():
            raise HTTPException(404)
        text = path.read_text(encoding="utf-8")
        if path.name == "app.css":
            text = STYLE + text
        return Response(text, media_type=KINDS[path.suffix])

    async def file(self, request: Request) -> Response:
        """A result: the protected file as a download, the report and the note as pages."""
        session, name = self.session, request.path_params["name"]
        if session.result is None or session.result_folder is None:
            raise HTTPException(404)
        if name == "script":
            stem = Path(session.result["files"]["data"]).stem.partition(".")[0]
            return Response(
                session.result["script"], media_type="text/x-python",
                headers={"content-disposition": f'attachment; filename="{plain_name(stem)}.py"'},
            )  # fmt: skip
        if name not in session.result["files"]:
            raise HTTPException(404)
        path = session.result_folder / session.result["files"][name]
        if name == "data" or "download" in request.query_params:
            return FileResponse(path, filename=path.name, media_type="application/octet-stream")
        return FileResponse(
            path, media_type="text/html", headers={"content-security-policy": REPORTS}
        )

    # Events

    async def events(self, request: Request) -> Response:
        """Notify a page, by server-sent events, whenever something is new."""
        return StreamingResponse(self._events(), media_type="text/event-stream")

    async def _events(self) -> AsyncIterator[str]:
        session = self.session
        watcher = session.watch()
        try:
            while not session.ended.is_set():
                watcher.clear()
                busy = session.busy
                news = {"version": session.version, "busy": busy.step if busy else None}
                yield f"data: {json.dumps(news)}\n\n"
                try:
                    await asyncio.wait_for(watcher.wait(), 15)
                except TimeoutError:
                    yield ": still here\n\n"
                await asyncio.sleep(0.1)
        finally:
            session.unwatch(watcher)

    # Decisions

    async def post_upload(self, request: Request) -> Response:
        """Take a file that was dropped or chosen, as the raw body."""
        name = file_name(request.query_params.get("name", ""))
        path = self.session.new_folder("upload") / name
        try:
            with os.fdopen(
                os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
            ) as file:
                async for chunk in request.stream():
                    file.write(chunk)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise InputError(f"{name} cannot be kept: {error.strerror or error}") from None
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self.session.open(path, "dropped")
        return JSONResponse({})

    async def post_path(self, request: Request) -> Response:
        """Open a file below the folder that the app was started in."""
        given = text_of(await body_of(request), "path")
        path = below(self.session.start, given)
        self.session.open(path, "here")
        return JSONResponse({})

    async def post_sample(self, request: Request) -> Response:
        """Open the simulated survey."""
        self.session.open_sample()
        return JSONResponse({})

    async def post_format(self, request: Request) -> Response:
        """Read the file again, with a repair."""
        body = await body_of(request)
        self.session.reopen({name: str(value)[:40] for name, value in body.items()})
        return JSONResponse({})

    async def post_roles(self, request: Request) -> Response:
        """Set the role of each column."""
        body, plan = await body_of(request), self.session.plan
        if plan is None or self.session.described is None:
            raise InputError("no file is open")
        roles = {
            name: role
            for name, role in mapping_of(body, "roles").items()
            if name in plan.roles and isinstance(role, str) and role in ROLES
        }
        orders = {
            name: [part.strip() for part in str(text).split("<") if part.strip()]
            for name, text in mapping_of(body, "orders").items()
            if name in plan.roles
        }
        self.session.set_roles({**plan.roles, **roles}, {**plan.orders, **orders})
        return JSONResponse({})

    async def post_try(self, request: Request) -> Response:
        """Try settings; `next` of the page comes by an event."""
        body, plan = await body_of(request), self.session.plan
        if plan is None or self.session.described is None:
            raise InputError("no file is open")
        given = {field.name: body[field.name] for field in fields(Choices) if field.name in body}
        if any(type(value) is not type(getattr(plan.choices, n)) for n, value in given.items()):
            raise InputError("the request is not understood")
        choices = replace(plan.choices, **given)
        choices.settings()  # refuses what cannot be
        check_method(choices.method)
        self.session.choose(choices)
        return JSONResponse({})

    async def post_back(self, request: Request) -> Response:
        """Go back to an earlier try."""
        number = (await body_of(request)).get("try")
        keys = list(self.session.tries)
        if isinstance(number, int) and 0 <= number < len(keys):
            self.session.go_back(keys[number])
        return JSONResponse({})

    async def post_protect(self, request: Request) -> Response:
        """Begin to protect."""
        if self.session.plan is None or not self.session.tries:
            raise InputError("no file is open")
        self.session.protect()
        return JSONResponse({})

    async def post_cancel(self, request: Request) -> Response:
        """Stop what runs."""
        await self.session.cancel()
        return JSONResponse({})

    async def post_quit(self, request: Request) -> Response:
        """End the server, after this answer."""
        asyncio.get_running_loop().call_later(0.2, self.session.ended.set)
        return JSONResponse({})


# Not a redirection: a browser that came by a link elsewhere would not send the cookie along it.
_WELCOME = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>microagg</title>'
    '<meta http-equiv="refresh" content="0; url={page}"></head><body>'
    '<p><a href="{page}">Go on to microagg app</a></p></body></html>\n'
)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, InputError)
    return JSONResponse({"problem": problem(refused(error)["error"])}, status_code=422)


async def _too_large(request: Request, error: Exception) -> Response:
    return too_large(error.args[0])
