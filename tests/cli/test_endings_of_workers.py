"""How the command ends on several workers: its folders, and what signals leave behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("dask")

from microagg_gpu.distributed.sources import whole_folder
from microagg_gpu.errors import InputError


def write_folder(target, force=False, meantime=lambda: None):
    with whole_folder(Path(target), [], force) as folder:
        (folder / "new.parquet").write_text("new")
        meantime()


def test_a_folder_that_appears_is_kept():
    def other():
        os.mkdir("out")
        Path("out/precious").write_text("x")

    with pytest.raises(InputError, match="out was made by another program in the meantime"):
        write_folder("out", meantime=other)
    assert os.listdir() == ["out"]
    assert os.listdir("out") == ["precious"]


def test_an_empty_folder_is_filled():
    os.mkdir("out")
    write_folder("out")
    assert os.listdir("out") == ["new.parquet"]
    with pytest.raises(InputError, match="out is not empty"):
        write_folder("out")
    with pytest.raises(InputError, match="out holds more than Parquet files"):
        write_folder("out", force=True, meantime=lambda: Path("out/precious").write_text("x"))
    assert sorted(os.listdir("out")) == ["new.parquet", "precious"]


def test_a_folder_is_replaced_with_force():
    os.mkdir("out")
    Path("out/old.parquet").write_text("old")
    write_folder("out", force=True)
    assert os.listdir() == ["out"]
    assert os.listdir("out") == ["new.parquet"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
def test_no_worker_outlives_a_stopped_command():
    os.mkdir("in")
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0, 4.0]}), "in/a.parquet")
    Path("stopped.py").write_text("""
import os, signal
import microagg_gpu.distributed
from microagg_gpu.__main__ import main

def stopped(*_, client, **__):
    print(*client.run(os.getpid).values(), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

microagg_gpu.distributed.microaggregate = stopped
if __name__ == "__main__":
    main()
""")
    arguments = ["protect", "in", "-k", "2", "--columns", "a", "-o", "out", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "stopped.py", *arguments], capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert done.stderr == "stopped; nothing was written\n"
    for worker in map(int, done.stdout.split()):
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)
    assert sorted(os.listdir()) == ["in", "stopped.py"]
