"""The app as users start it, in a process of its own; and a browser, where there is one."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

try:
    import httpx
    import starlette  # noqa: F401
except ImportError:  # the extra app is not installed
    collect_ignore_glob = ["test_*.py"]

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]


def session_path(page: str) -> str:
    """Where the session lives, as the page says that a token opens."""
    return re.search(r'url=(/[^"/]+/)"', page)[1]


class App:
    """A running app, with a folder for its own files and one in which it is started."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.start, self.temporary = home / "start", home / "temporary"
        for folder in (self.start, self.temporary):
            folder.mkdir(exist_ok=True)
        self.process = self.launch(*arguments)
        self.entrance = self._address()
        self.origin = self.entrance.partition("/?")[0]
        self.host = self.origin.removeprefix("http://")

    def launch(self, *arguments: str) -> subprocess.Popen:
        """Start the command."""
        own = {"TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        return subprocess.Popen(
            [sys.executable, "-m", "microagg_gpu", "app", "--no-browser", *arguments],
            cwd=self.start, env={**os.environ, **own}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def _address(self) -> str:
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line + self.process.stderr.read()
        return found[0]

    @contextmanager
    def client(self) -> "Iterator[httpx.Client]":
        """A client that has entered; its addresses begin with those of the session."""
        origin = {"origin": self.origin}
        with httpx.Client(base_url=self.origin, headers=origin, timeout=60) as client:
            answer = client.get(self.entrance)
            assert answer.status_code == 200
            client.base_url = self.origin + session_path(answer.text)
            yield client

    def session_folder(self) -> Path:
        """The folder of the session."""
        (folder,) = self.temporary.glob("microagg-app-*/.*.microagg-tmp")
        return folder

    def end(self, number: int = signal.SIGINT) -> int:
        """End it by a signal: its exit code. Nothing is left behind."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        return code


@pytest.fixture
def start_app(tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Start the app; at the end it is ended, and nothing of it may be left."""
    started: list[App] = []

    def start(*arguments: str) -> App:
        started.append(App(tmp_path, *arguments))
        return started[-1]

    yield start
    for app in started:
        app.end()
    for app in started:
        assert not list(app.temporary.iterdir())


@pytest.fixture
def app(start_app: Callable[..., App]) -> App:
    """A running app."""
    return start_app()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory):
    """Debian's Chromium, by Playwright; what it leaves among temporary files is its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        own = {**os.environ, "TMPDIR": str(tmp_path_factory.mktemp("chromium"))}
        opened = running.chromium.launch(executable_path=chromium, args=FLAGS, env=own)
        yield opened
        opened.close()
