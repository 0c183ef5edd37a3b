"""Who is not let in, and what is not let out."""

import re
import socket
import time
from http.client import HTTPConnection

import httpx
import pytest

from helpers.command import linux
from microagg_gpu.app.security import HEADERS, UPLOAD_LIMIT, Guard

pytestmark = pytest.mark.app

COLUMNS = "x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(30))


def raw(app, method, path, headers, body=None):
    """A request with exactly these headers: its status and its headers."""
    connection = HTTPConnection("127.0.0.1", int(app.host.rpartition(":")[2]), timeout=30)
    connection.putrequest(method, path, skip_host=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


@pytest.fixture
def entered(app):
    """A client that has entered, its cookie and its path."""
    with app.client() as client:
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        yield client, cookie, client.base_url.path


def test_other_hosts_are_refused(app, entered):
    _, cookie, path = entered
    port = app.host.rpartition(":")[2]
    wrong = (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"[::1]:{port}",
        "",
    )
    for host in wrong:
        for where in (path + "open", path + "static/app.css", "/", path):
            given = [("Host", host), ("Cookie", cookie)]
            assert raw(app, "GET", where, given)[0] in (400, 403), host
    twice = [("Host", app.host), ("Host", "evil.example"), ("Cookie", cookie)]
    assert raw(app, "GET", path + "open", twice)[0] in (400, 403)
    assert raw(app, "GET", path + "open", [("Cookie", cookie)])[0] in (400, 403)
    assert raw(app, "GET", path + "open", [("Host", app.host), ("Cookie", cookie)])[0] == 200
    local = [("Host", f"localhost:{port}"), ("Cookie", cookie)]
    assert raw(app, "GET", path + "open", local)[0] == 200


def test_other_pages_cannot_send_anything(app, entered):
    _, cookie, path = entered
    own = [("Host", app.host), ("Cookie", cookie), ("Content-Length", "2")]
    wrong = (
        "http://evil.example",
        "null",
        f"https://{app.host}",
        app.origin + "/",
        "http://127.0.0.1:1",
    )
    for origin in wrong:
        given = [*own, ("Origin", origin)]
        assert raw(app, "POST", path + "sample", given, b"{}")[0] == 403, origin
    assert raw(app, "POST", path + "sample", own, b"{}")[0] == 403  # without an origin
    for site in ("cross-site", "same-site"):  # same-site: another port of this machine
        given = [*own, ("Origin", app.origin), ("Sec-Fetch-Site", site)]
        assert raw(app, "POST", path + "sample", given, b"{}")[0] == 403
        assert raw(app, "GET", path + "open", [*own[:2], ("Sec-Fetch-Site", site)])[0] == 403
    given = [*own, ("Origin", app.origin), ("Sec-Fetch-Site", "same-origin")]
    assert raw(app, "POST", path + "sample", given, b"{}")[0] == 200


def test_nobody_enters_without_the_token(app):
    with httpx.Client(base_url=app.origin) as client:
        for wrong in ("/", "/?token=", "/?token=wrong", "/?token=%00", "/?other=1"):
            answer = client.get(wrong)
            assert answer.status_code == 403
            assert not {"set-cookie", "location"} & set(answer.headers)
        first = client.get(app.entrance)
        assert first.status_code == 200
        given = first.headers["set-cookie"].lower()
        assert "httponly" in given
        assert "samesite=strict" in given
        path = re.search(r'url=(/[^"/]+)/"', first.text)[1]
        assert f"path={path.lower()}/" in given  # so no server of another port is sent it
    with httpx.Client(base_url=app.origin) as other:
        again = other.get(app.entrance)
        assert "set-cookie" not in again.headers
        assert other.get(path + "/open").status_code == 403
        assert other.get(path + "/open", headers={"cookie": "microagg=wrong"}).status_code == 403
        assert other.get("/elsewhere/open").status_code == 404
        assert other.get("/", follow_redirects=True).status_code == 403


def test_other_methods_are_refused(app, entered):
    _, cookie, path = entered
    given = [("Host", app.host), ("Cookie", cookie), ("Origin", app.origin)]
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"):
        assert raw(app, method, path + "open", given)[0] == 405, method
    assert raw(app, "POST", path + "open", [*given, ("Content-Length", "0")])[0] == 405
    assert raw(app, "GET", path + "quit", given)[0] == 405
    upgrade = [*given, ("Connection", "Upgrade"), ("Upgrade", "websocket"),
               ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
               ("Sec-WebSocket-Version", "13")]  # fmt: skip
    assert raw(app, "GET", path + "events2", upgrade)[0] in (400, 403, 404)


def test_headers_of_every_answer(app, entered):
    client, _, _ = entered
    for where in (
        "open",
        "static/app.css",
        "static/app.js",
        "nothing",
        "files/data",
        app.origin + "/x",
    ):
        answer = client.get(where)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, (where, name)
    assert HEADERS["content-security-policy"].startswith("default-src 'self'")
    page = client.get("open").text
    assert "<style" not in page
    assert "style=" not in page
    assert page.count("<script") == page.count('<script type="module" src="static/')


def test_too_large_uploads(app, entered):
    _, cookie, path = entered
    given = [("Host", app.host), ("Cookie", cookie), ("Origin", app.origin)]
    for length in (str(UPLOAD_LIMIT + 1), "-1", "x"):
        status = raw(app, "POST", path + "upload?name=a.csv", [*given, ("Content-Length", length)])[
            0
        ]
        assert status in (400, 413), length
    # Who sends all of it may find the connection closed before the answer is read.
    status = raw(app, "POST", path + "roles", [*given, ("Content-Length", str(5 * 2**20))])[0]
    assert status == 413
    assert not list(app.session_folder().glob("upload-*/*"))


@pytest.mark.parametrize("size", [1000, 1001])
def test_uploads_that_do_not_say_how_large_they_are(size):
    """Counted while they come, whatever length they claim."""
    import asyncio

    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    from microagg_gpu.app.security import TooLarge, too_large

    async def upload(request):
        return PlainTextResponse(str(len(await request.body())))

    async def refuse(request, error):
        return too_large(error.args[0])

    inner = Starlette(
        routes=[Route("/s/upload", upload, methods=["POST"])], exception_handlers={TooLarge: refuse}
    )
    guard = Guard(inner, 80, "secret", "/s/", limit=1000)

    async def send():
        async def chunks():
            for _ in range(size):
                yield b"x"

        transport = httpx.ASGITransport(guard)
        headers = {"host": "127.0.0.1:80", "origin": "http://127.0.0.1:80",
                   "cookie": "microagg=secret"}  # fmt: skip
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.post("/s/upload", content=chunks(), headers=headers)

    assert asyncio.run(send()).status_code == (200 if size == 1000 else 413)


def test_only_files_below_the_folder_are_opened(app, entered):
    client, _, _ = entered
    outside = app.start.parent / "secret.csv"
    outside.write_text(COLUMNS)
    (app.start / "inside.csv").write_text(COLUMNS)
    (app.start / "folder").mkdir()
    (app.start / "link.csv").symlink_to(outside)
    (app.start / "up").symlink_to(app.start.parent)
    wrong = (
        "../secret.csv", str(outside), "/etc/passwd", "link.csv", "up/secret.csv", "folder",
        "folder/../../secret.csv", "..", ".", "", " ", "inside.csv\0", "~/x", "nothing.csv",
        "....//secret.csv", "..\\secret.csv", "file:///etc/passwd",
    )  # fmt: skip
    for path in wrong:
        answer = client.post("path", json={"path": path})
        assert answer.status_code == 422, path
        assert "Content" not in answer.json()
    for body in (b"[]", b"1", b"{", b'{"path": 1}', b"\xff"):
        assert client.post("path", content=body).status_code in (400, 422)
    for path in ("inside.csv", "folder/../inside.csv", "./inside.csv"):
        assert client.post("path", json={"path": path}).status_code == 200


def test_decisions_that_make_no_sense(app, entered):
    client, _, _ = entered
    for page in ("roles", "try", "protect"):
        assert client.post(page, json={}).status_code == 422  # no file is open
    client.post("sample")
    while client.get("columns").status_code != 200:
        time.sleep(0.1)
    for page, body in (
        ("roles", {"roles": 3}), ("roles", {"orders": [1]}), ("try", {"k": 0}), ("try", {"k": "5"}),
        ("try", {"k": 2.5}), ("try", {"missing": "x"}), ("try", {"aggregate": ["mean"]}),
        ("try", {"average_weight": "yes"}), ("protect", {}),
    ):  # fmt: skip
        answer = client.post(page, json=body)
        assert answer.status_code == 422, (page, body)
        assert answer.json()["problem"].startswith('<div class="notice" role="alert">')
    for page, body in (
        ("roles", {"roles": {"id": "boss", "nobody": "drop", "size": {}}}), ("back", {"try": 9}),
        ("back", {"try": "x"}), ("cancel", {}),
    ):  # fmt: skip
        assert client.post(page, json=body).status_code == 200, (page, body)
    unknown = client.post("try", json={"method": "<b>"})
    assert unknown.status_code == 422
    assert "&lt;b&gt;" in unknown.json()["problem"]


def test_names_of_uploads_stay_in_the_folder(app, entered):
    client, _, _ = entered
    for name in (
        "../../evil.csv",
        "..\\..\\evil.csv",
        "/etc/evil.csv",
        "C:\\evil.csv",
        "e\nvil.csv",
    ):
        assert client.post("upload", params={"name": name}, content=COLUMNS).status_code == 200
        (kept,) = app.session_folder().glob("upload-*/*")
        assert kept.name.replace("_", "") == "evil.csv"
        assert kept.stat().st_mode & 0o777 == 0o600
    for name in ("", ".", "..", "/", "\0"):
        assert client.post("upload", params={"name": name}, content=COLUMNS).status_code == 422
    assert not list(app.start.iterdir())


def test_no_other_file_is_served(app, entered):
    client, cookie, path = entered
    given = [("Host", app.host), ("Cookie", cookie)]
    for name in ("../routes.py", "..%2froutes.py", "%2e%2e/routes.py", "..%5croutes.py", "token",
                 "%2fetc%2fpasswd", "app.css%00", "."):  # fmt: skip
        assert raw(app, "GET", f"{path}static/{name}", given)[0] in (303, 404), name
        assert raw(app, "GET", f"{path}files/{name}", given)[0] in (303, 404), name
    assert client.get("parts/secret").status_code == 404


@linux
def test_it_listens_on_one_address_of_this_machine_only(app):
    port = int(app.host.rpartition(":")[2])
    for kind, other in ((socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1")):
        with socket.socket(kind) as tried, pytest.raises(OSError, match=r"refused|assign|reach"):
            tried.connect((other, port))


def test_nobody_else_can_look_at_the_files(app):
    folder = app.session_folder()
    for path in (folder, folder.parent):
        assert path.stat().st_mode & 0o777 == 0o700
    for path in folder.rglob("*"):
        assert not path.stat().st_mode & 0o077, path
