"""How the command ends: outputs are never lost, signals and failing streams have one sentence."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import microagg_gpu.cli.protect
import microagg_gpu.files.atomic
from helpers.command import (
    command,
    process,
    read,
    refuse,
    run,
    write,
    write_companies,
)
from microagg_gpu.errors import InputError
from microagg_gpu.files.atomic import Outputs, Temporary, whole_file

CHOSEN = ["protect", "in.csv", "-k", "3", "--columns", "staff", "-o", "out.csv"]
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals, links or streams")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]


@pytest.fixture
def source():
    return write_companies()


def in_the_meantime(monkeypatch, act):
    """Do something after the data file was written under its temporary name."""
    verify = microagg_gpu.cli.protect.verify

    def later(*arguments):
        act()
        return verify(*arguments)

    monkeypatch.setattr(microagg_gpu.cli.protect, "verify", later)


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


KILLED = """
import os, signal
from microagg_gpu.__main__ import main
real = os.link
def link(*arguments):
    BEFORE
    real(*arguments)
    AFTER
os.link = link
main()
"""


def stopped_at_the_end(before="", after="", arguments=CHOSEN):
    """Run the command, with something done just before or after its output gets its name."""
    code = KILLED.replace("BEFORE", before or "pass").replace("AFTER", after or "pass")
    return command(code, *arguments)


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


# Signals


@posix
@pytest.mark.parametrize("name", SIGNALS)
def test_signals_while_the_output_gets_its_name(source, name):
    kill = f"os.kill(os.getpid(), signal.{name})"
    for arguments in ({"before": kill}, {"after": kill}):
        done = stopped_at_the_end(**arguments)
        assert done.returncode == 128 + getattr(signal, name), done.stderr
        assert (done.stdout, done.stderr) == ("", "stopped; out.csv was written\n")
        assert sorted(os.listdir()) == ["in.csv", "out.csv"]
        os.remove("out.csv")


@posix
@pytest.mark.parametrize(
    ("name", "moment"),
    [("SIGINT", "verify"), ("SIGTERM", "microaggregate"), ("SIGHUP", "read_file"),
     ("SIGTERM", "check_targets")],
)  # fmt: skip
def test_signals_during_the_work(source, name, moment):
    code = f"""
import os, signal
import microagg_gpu.cli.protect as cli
from microagg_gpu.cli.app import main
real = cli.{moment}
def stopped(*arguments, **given):
    result = real(*arguments, **given)
    os.kill(os.getpid(), signal.{name})
    return result
cli.{moment} = stopped
main()
"""
    done = command(code, *CHOSEN)
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert (done.stdout, done.stderr) == ("", "stopped; nothing was written\n")
    assert os.listdir() == ["in.csv"]


@posix
def test_a_signal_while_python_runs_a_text(source):
    """As libraries do when they compile: Python would end itself by SIGINT in the end."""
    code = """
import signal
import microagg_gpu.cli.protect as cli
from microagg_gpu.cli.app import main
def stopped(*arguments, **given):
    exec("signal.raise_signal(signal.SIGTERM)\\nwhile True: pass", {"signal": signal})
cli.microaggregate = stopped
main()
"""
    Path("run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "run", *CHOSEN], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (143, "stopped; nothing was written\n")


@posix
def test_a_signal_in_a_callback_of_a_library(source):
    """As while LLVM compiles: Python drops what is raised there."""
    code = """
import ctypes, signal
import microagg_gpu.cli.protect as cli
from microagg_gpu.__main__ import main
@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGTERM)
    while True: pass
real = cli.microaggregate
def stopped(*arguments, **given):
    callback()
    return real(*arguments, **given)
cli.microaggregate = stopped
main()
"""
    done = command(code, *CHOSEN)
    assert (done.returncode, done.stderr) == (143, "stopped; nothing was written\n")
    assert os.listdir() == ["in.csv"]


@posix
@pytest.mark.parametrize(
    ("name", "library"),
    [("SIGINT", "numpy"), ("SIGINT", "typer"), ("SIGTERM", "microagg_gpu.cli.app"),
     ("SIGHUP", "microagg_gpu.api")],
)  # fmt: skip
def test_signals_while_the_command_starts(source, name, library):
    code = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {library!r}:
            os.kill(os.getpid(), signal.{name})
sys.meta_path.insert(0, Finder())
from microagg_gpu.__main__ import main
main()
"""
    done = command(code, *CHOSEN)
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert (done.stdout, done.stderr) == ("", "stopped; nothing was written\n")
    assert os.listdir() == ["in.csv"]


@posix
def test_after_the_result_a_signal_changes_nothing(source):
    code = """
import os, signal
import microagg_gpu.cli.console as console
from microagg_gpu.__main__ import main
ignore = console.stopping.ignore
def ignored():
    ignore()
    for number in console.stopping.SIGNALS:
        os.kill(os.getpid(), number)
console.stopping.ignore = ignored
main()
"""
    done = command(code, *CHOSEN)
    assert (done.returncode, done.stderr) == (0, "")
    assert "loss" in done.stdout


@posix
def test_nohup_is_respected(source):
    code = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
import microagg_gpu.cli.protect as cli
from microagg_gpu.cli.app import main
real = cli.read_file
def hang_up(*arguments, **given):
    os.kill(os.getpid(), signal.SIGHUP)
    return real(*arguments, **given)
cli.read_file = hang_up
main()
"""
    done = command(code, *CHOSEN)
    assert (done.returncode, done.stderr) == (0, "")


# Standard streams


@posix
@pytest.mark.parametrize(("k", "code"), [(2, 0), (3, 1)])
def test_a_reader_that_has_left(k, code):
    write("a\n1\n1\n")
    end, begin = os.pipe()
    os.close(end)
    done = subprocess.run(
        [sys.executable, "-m", "microagg_gpu", "check", "in.csv", "-k", str(k), "--columns", "a"],
        stdout=begin, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(begin)
    assert (done.returncode, done.stderr) == (code, "")


def in_shell(line, **given):
    return subprocess.run(
        ["sh", "-c", line.replace("microagg", f"'{sys.executable}' -m microagg_gpu")],
        capture_output=True, text=True, **given,
    )  # fmt: skip


@linux
@pytest.mark.parametrize(
    ("where", "why"), [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_a_result_that_cannot_be_printed(source, where, why):
    sentence = f"microagg: the result cannot be printed: {why}"
    done = in_shell(f"microagg check in.csv -k 1 --columns staff {where}")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{sentence}\n")
    done = in_shell(f"microagg {' '.join(CHOSEN)} {where}")
    assert (done.returncode, done.stderr) == (2, f"{sentence}; out.csv was written\n")
    assert len(read("out.csv")) == 41


@linux
@pytest.mark.parametrize("where", ["2> /dev/full", "2>&-"])
def test_an_error_that_cannot_be_printed(where):
    done = in_shell(f"microagg check absent.csv -k 1 --columns staff {where}")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


# Limits


@linux
@pytest.mark.parametrize("megabytes", [100, 500, 600, 900, 2000])
@pytest.mark.parametrize("name", ["protect", "check"])
def test_limited_memory(source, megabytes, name):
    arguments = CHOSEN if name == "protect" else ["check", "in.csv", "-k", "1", "--columns", "id"]
    done = in_shell(f"ulimit -v {megabytes * 1024} && microagg {' '.join(arguments)}")
    if done.returncode == 0:
        assert done.stderr == ""
        return
    assert megabytes < 2000
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("microagg: ")
    assert done.stderr.count("\n") == 1
    assert "memory" in done.stderr
    assert os.listdir() == ["in.csv"]


@pytest.mark.parametrize(
    "error",
    [
        "MemoryError()",
        "ImportError('x.so: failed to map segment from shared object')",
        "OSError(12, 'Cannot allocate memory')",
    ],
)
def test_no_memory_to_start(error):
    code = f"""
import sys
class Finder:
    def find_spec(self, name, *_):
        if name == "numpy":
            raise {error}
sys.meta_path.insert(0, Finder())
from microagg_gpu.__main__ import main
main()
"""
    done = command(code, "info")
    sentence = "microagg: there is not enough memory to start; nothing was written\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the superuser")
def test_another_user_without_write_access(source):
    os.mkdir("theirs")
    os.chmod(".", 0o755)
    code = """
import os
from pathlib import Path
from microagg_gpu.files.formats import check_target
os.setuid(65534)  # who may not be able to import anything from here on
try:
    check_target(Path("theirs/out.csv"), [], force=False)
except ValueError as error:
    print(error)
"""
    done = command(code)
    assert done.stdout == "theirs/out.csv cannot be written: Permission denied\n", done.stderr
    assert os.listdir("theirs") == []


@linux
def test_devices_and_pipes_are_no_targets(source):
    os.mkfifo("pipe.html")
    for option, target in (("--report", "/dev/stdout"), ("--json", "pipe.html")):
        refuse(f"{target} is not a regular file", *CHOSEN, option, target, "--force")


# Names and pipes


@linux
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet", "arrow"])
def test_names_that_are_not_utf8(source, ending):
    strange = os.fsdecode(b"\xff\xfe.")
    chosen = ["protect", "in.csv", "-k", "3", "--columns", "staff"]
    first, again = strange + ending, "again" + strange + ending
    done = process(*chosen, "-o", first)
    assert (done.returncode, done.stderr) == (0, "")
    more = ["--report", strange + "html", "--json", strange + "json", "--plot", strange + "png"]
    more = more if ending == "csv" else []
    done = process("protect", first, *chosen[2:], "-o", again, *more)
    assert (done.returncode, done.stderr) == (0, "")
    if not more:
        return
    page = Path(strange + "html").read_text(encoding="utf-8")
    assert f"again\ufffd\ufffd.{ending}" in page
    assert "\\udcff" not in Path(strange + "json").read_text(encoding="utf-8")
    done = process("report", first, again, "--columns", "staff", "-o", strange + "2.html")
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr


@posix
@pytest.mark.parametrize("bad", [False, True])
def test_a_named_pipe_is_read_once(bad):
    os.mkfifo("in.csv")
    text = "a,b\n1,2\n3,x\n" if bad else "a,b\n1,2\n3,4\n"
    writer = threading.Thread(target=lambda: Path("in.csv").write_text(text), daemon=True)
    writer.start()
    done = process("protect", "in.csv", "-k", "2", "-o", "out.csv", timeout=300)
    writer.join(60)
    assert done.returncode == (2 if bad else 0), done.stderr
    if bad:
        assert "the first 'x' on record 2" in done.stderr


@posix
def test_parquet_from_a_pipe(source):
    assert run(*CHOSEN[:-1], "in.parquet").exit_code == 0
    data = Path("in.parquet").read_bytes()
    os.mkfifo("pipe.parquet")
    writer = threading.Thread(target=lambda: Path("pipe.parquet").write_bytes(data), daemon=True)
    writer.start()
    done = process("check", "pipe.parquet", "-k", "3", "--columns", "staff", timeout=300)
    writer.join(60)
    assert (done.returncode, done.stderr) == (0, "")
