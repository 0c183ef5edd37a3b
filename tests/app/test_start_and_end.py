"""How the app starts and ends, and what is left of it: nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.command import posix

pytestmark = pytest.mark.app

ROOT = Path(__file__).resolve().parents[2]


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it(start_app, number):
    app = start_app()
    assert app.end(number) == 0
    assert not list(app.temporary.iterdir())


def test_quit_ends_it(start_app):
    app = start_app()
    with app.client() as client:
        assert client.post("quit").status_code == 200
    assert app.process.wait(60) == 0
    assert not list(app.temporary.iterdir())


def test_a_second_start_says_where_the_first_runs(app):
    with app.client():
        second = app.launch()
        output, errors = second.communicate(timeout=60)
        assert (second.returncode, output) == (2, "")
        assert errors.startswith(f"microagg: the app runs already: open {app.origin}/?token=")
        app.entrance = errors.split("open ")[1].split(",")[0]
        with app.client() as other:  # a new token, for a browser that has lost its cookie
            assert other.get("open").status_code == 200


@posix
def test_what_a_killed_one_leaves_goes_with_the_next_start(start_app):
    psutil = pytest.importorskip("psutil")
    first = start_app()
    with first.client() as client:
        client.post("sample")
        (worker,) = psutil.Process(first.process.pid).children()
        left = first.session_folder()
        first.end(signal.SIGKILL)
    worker.wait(60)  # it ends by itself
    assert left.exists()
    second = start_app()
    assert not left.exists()
    assert second.session_folder() != left


@posix
def test_a_folder_of_somebody_else_is_refused(start_app, tmp_path):
    app = start_app()
    app.end()
    place = app.temporary / f"microagg-app-{os.getuid()}"
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    refused = app.launch()
    _, errors = refused.communicate(timeout=60)
    assert refused.returncode == 2
    assert "others may enter it" in errors
    place.rmdir()
    place.symlink_to(tmp_path)
    refused = app.launch()
    assert refused.communicate(timeout=60)[1].startswith("microagg: ")
    assert refused.returncode == 2
    place.unlink()


def test_wrong_arguments(start_app):
    app = start_app()
    app.end()
    for arguments in (["nothing.csv"], ["."], ["--port", "70000"]):
        refused = app.launch(*arguments)
        _, errors = refused.communicate(timeout=60)
        assert refused.returncode == 2
        assert errors.startswith("microagg: ")
        assert errors.count("\n") == 1


@posix
def test_the_token_is_not_among_the_arguments_of_a_browser(start_app, tmp_path):
    """All users of a machine can see the arguments of a process."""
    app = start_app()
    app.end()
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}.new\nmv {seen}.new {seen}\n')
    browser.chmod(0o755)
    own = {"BROWSER": f"{browser} %s", "DISPLAY": ":0", "TMPDIR": str(app.temporary)}
    started = subprocess.Popen(
        [sys.executable, "-m", "microagg_gpu", "app"], cwd=ROOT, text=True,
        env={**os.environ, **own}, stdout=subprocess.PIPE,
    )  # fmt: skip
    address = started.stdout.readline().split()[-1]
    for _ in range(600):
        if seen.exists():
            break
        time.sleep(0.1)
    given = seen.read_text().strip()
    assert given.startswith("file://")
    page = Path(given.removeprefix("file://"))
    assert page.stat().st_mode & 0o777 == 0o600
    assert f"url={address}" in page.read_text()
    started.send_signal(signal.SIGINT)
    assert started.wait(60) == 0
    started.stdout.close()
    assert not page.exists()
