"""Outputs of the command: none is lost or half written, and killed runs leave nothing for long."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import microagg_gpu.files.atomic
import microagg_gpu.tasks.protect
import microagg_gpu.tasks.writing
from helpers.command import (
    CHOSEN,
    posix,
    read,
    refuse,
    run,
    stopped_at_the_end,
    write,
)
from microagg_gpu.errors import InputError
from microagg_gpu.files.atomic import Outputs, Temporary, whole_file


def in_the_meantime(monkeypatch, act):
    """Do something after the data file was written under its temporary name."""
    verify = microagg_gpu.tasks.protect.verify

    def later(*arguments):
        act()
        return verify(*arguments)

    monkeypatch.setattr(microagg_gpu.tasks.protect, "verify", later)


# An output is never replaced without --force


def test_a_file_that_appears_is_kept(source, monkeypatch):
    in_the_meantime(monkeypatch, lambda: write("precious", "out.csv"))
    result = run(*CHOSEN, "--json", "r.json")
    assert result.exit_code == 2
    assert result.output.startswith("microagg: out.csv was made by another program")
    assert result.output.count("\n") == 1
    assert Path("out.csv").read_text() == "precious"
    assert sorted(os.listdir()) == ["in.csv", "out.csv"]
    assert run(*CHOSEN, "--force").exit_code == 0
    assert Path("out.csv").read_text() != "precious"


def test_all_outputs_or_none(source, monkeypatch):
    in_the_meantime(monkeypatch, lambda: write("precious", "r.json"))
    result = run(*CHOSEN, "--report", "r.html", "--json", "r.json")
    assert result.exit_code == 2
    assert "r.json was made by another program" in result.output
    assert sorted(os.listdir()) == ["in.csv", "r.json"]
    assert Path("r.json").read_text() == "precious"


def test_no_output_without_the_note(source, monkeypatch):
    def fails(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(microagg_gpu.tasks.writing, "note", fails)
        assert run(*CHOSEN, "--report", "r.html", "--note", "n.html").exit_code == 2
    assert os.listdir() == ["in.csv"]
    refuse(
        "n.html is also an input or another output",
        *CHOSEN,
        "--report",
        "n.html",
        "--note",
        "n.html",
    )
    assert run(*CHOSEN, "--note", "n.html").exit_code == 0
    assert sorted(os.listdir()) == ["in.csv", "n.html", "out.csv"]


def test_what_was_replaced_comes_back_if_another_fails():
    write("old", "a")
    files = Outputs(force=True)
    for name in "ab":
        files.add(Path(name)).write_text("new")
    os.mkdir("b")
    with pytest.raises(InputError, match="b cannot be written"), files:
        pass
    assert Path("a").read_text() == "old"
    assert sorted(os.listdir()) == ["a", "b"]


@pytest.mark.parametrize("links", [True, False])
def test_without_hard_links(links, monkeypatch):
    def none(*_):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", none)
    with whole_file(Path("a")) as temporary:
        temporary.write_text("first")
    with pytest.raises(InputError, match="a was made by another"), whole_file(Path("a")) as late:
        late.write_text("second")
    assert Path("a").read_text() == "first"
    assert os.listdir() == ["a"]


@posix
def test_symbolic_links(source):
    os.symlink("loop.csv", "loop.csv")
    for force in ([], ["--force"]):
        refuse("loop.csv is a symbolic link that leads back", *CHOSEN[:-1], "loop.csv", *force)
    os.symlink("absent.csv", "link.csv")
    assert run(*CHOSEN[:-1], "link.csv").exit_code == 0
    assert os.readlink("link.csv") == "absent.csv"
    assert len(read("absent.csv")) == 41
    refuse("link.csv exists", *CHOSEN[:-1], "link.csv")


# What killed runs leave


@posix
@pytest.mark.parametrize("written", [False, True])
def test_the_next_run_removes_what_a_killed_one_left(source, written):
    moment = "after" if written else "before"
    done = stopped_at_the_end(**{moment: "os.kill(os.getpid(), signal.SIGKILL)"})
    assert done.returncode == -signal.SIGKILL
    left = set(os.listdir()) - {"in.csv", "out.csv"}
    assert len(left) == 1
    assert Path("out.csv").exists() == written
    strange = [".0123456789abcdef.microagg-tmp.csv.bak", ".in.1234.csv", "a.microagg-tmp"]
    for name in strange:
        write("not ours", name)
    alive = Temporary.make(Path())
    assert not left & set(os.listdir())
    assert run(*CHOSEN, "--force").exit_code == 0
    assert sorted(os.listdir()) == sorted(["in.csv", "out.csv", alive.path.name, *strange])
    alive.remove()


@posix
def test_folders_of_killed_runs_are_removed(tmp_path):
    left = Temporary.make(tmp_path, directory=True)
    (left.path / "records").write_text("secret")
    other = Temporary.make(tmp_path, directory=True)
    assert left.path.is_dir()
    left.unlock()  # as the end of its process does
    third = Temporary.make(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([other.path, third.path])
    other.remove()
    third.remove()
    assert not list(tmp_path.iterdir())


@posix
def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    left = Temporary.make(tmp_path)
    left.unlock()

    def none(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(microagg_gpu.files.atomic.fcntl, "flock", none)
    with whole_file(tmp_path / "a") as temporary:
        temporary.write_text("x")
    assert sorted(tmp_path.iterdir()) == sorted([left.path, tmp_path / "a"])


WITHOUT_A_BLOCK = """
import os
from pathlib import Path
from microagg_gpu.files.atomic import Outputs
files = Outputs()
made = files.add(Path("out.csv"))
made.write_text("of somebody")
if hasattr(os, "fork") and os.fork() == 0:
    raise SystemExit(0)
if hasattr(os, "fork"):
    os.wait()
assert made.exists()  # what another process does at its end is not for it
raise KeyboardInterrupt
"""


def test_a_signal_on_the_way_into_the_block_that_tidies_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_BLOCK], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.stderr.rstrip().endswith(b"KeyboardInterrupt")
    assert not list(tmp_path.iterdir())
