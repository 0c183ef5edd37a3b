"""The file for R, in a real R: through reticulate and through the command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
R = shutil.which("Rscript")
pytestmark = pytest.mark.skipif(R is None, reason="needs R: apt-get install r-base-core")


def rscript(*arguments, **environment):
    own = {name: text for name, text in os.environ.items() if name != "PYTHONWARNINGS"}
    own |= {"PYTHONPATH": str(ROOT), "RETICULATE_PYTHON": sys.executable, **environment}
    return subprocess.run(
        [R, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", env=own,
        cwd=environment.get("TMPDIR"), timeout=600, check=False,
    )  # fmt: skip


def has(package):
    return rscript("-e", f"stopifnot(requireNamespace('{package}'))").returncode == 0


def command(folder):
    """The command of these sources, as a program."""
    path = folder / "microagg"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m microagg_gpu "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.skipif(os.name == "nt", reason="the command is a shell script here")
def test_both_ways_keep_what_they_promise(tmp_path):
    ways = ["command"]
    if has("reticulate"):
        ways.append("reticulate")
    for way in ways:
        given = (ROOT / "r" / "microagg.R", way, command(tmp_path), tmp_path / f"{way}.rds")
        done = rscript(FOLDER / "check.R", *given, TMPDIR=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("all is as promised\n"), done.stderr
    if len(ways) == 1:
        pytest.skip("reticulate is not installed: only the command was tried")
    same = f"stopifnot(identical(readRDS('{tmp_path}/command.rds'), " + (
        f"readRDS('{tmp_path}/reticulate.rds')))"
    )
    assert rscript("-e", same).returncode == 0
