"""How the command ends: failing streams, little memory, odd names and pipes."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from helpers.command import (
    CHOSEN,
    command,
    linux,
    posix,
    process,
    read,
    refuse_for_real,
    run,
    write,
)

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
        refuse_for_real(f"{target} is not a regular file", *CHOSEN, option, target, "--force")


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
