"""mypy finds a misspelt operation, a missing argument and an engine without an operation.

`kernels` is checked here as a package of its own, which takes seconds; `make lint` checks all.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
METHOD = """
from typing import Any
from kernels.protocol import Engine

def method(points: Any, k: int, *, engine: Engine) -> Any:
    edges, lengths = engine.minimum_spanning_tree(points)
    return engine.cut_edges(edges, lengths, len(points), k)
"""
FAULTS = {
    "misspelt.py": METHOD.replace("minimum_spanning_tree", "minimal_spanning_tree"),
    "incomplete.py": METHOD.replace("len(points), k)", "k)"),
    "engine_check.py": (
        "import engine_that_lacks_one\n"
        "from kernels.protocol import Engine\n"
        "engine: Engine = engine_that_lacks_one\n"
    ),
}


@pytest.mark.slow  # half a minute: `make lint` runs it
def test_mypy_finds_what_an_engine_does_not_have(tmp_path):
    engine = (ROOT / "kernels" / "cuda" / "__init__.py").read_text(encoding="utf-8")
    assert "\n    hilbert_path,\n" in engine
    engine = engine.replace("\n    hilbert_path,\n", "\n").replace('    "hilbert_path",\n', "")
    engine = engine.replace("from ..", "from kernels.").replace("from .", "from kernels.cuda.")
    for name, text in {**FAULTS, "right.py": METHOD, "engine_that_lacks_one.py": engine}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / name) for name in (*FAULTS, "right.py")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--no-error-summary",
         "kernels", *files],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.findall(r"(\w+\.py):\d+: error: (.*)", done.stdout)
    assert sorted(name for name, _ in found) == sorted(FAULTS), done.stdout + done.stderr
    errors = dict(found)
    assert '"Engine" has no attribute "minimal_spanning_tree"' in errors["misspelt.py"]
    assert 'Missing positional argument "k" in call to "cut_edges"' in errors["incomplete.py"]
    assert 'variable has type "Engine"' in errors["engine_check.py"]
    assert re.search(r'missing following "Engine" protocol member:\n.*hilbert_path', done.stdout)
