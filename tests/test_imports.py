"""Who may import whom, and what importing the package must not do."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def imported(path: Path) -> set[str]:
    """Names that a file imports, relative ones with their dots."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


def test_kernels_import_nothing_from_the_rest():
    for path in (ROOT / "kernels").rglob("*.py"):
        depth = len(path.relative_to(ROOT / "kernels").parts)
        for name in imported(path):
            assert not name.startswith("microagg_gpu"), path
            assert not name.startswith("." * (depth + 1)), path


def test_methods_see_kernels_only_by_their_protocol():
    for path in (ROOT / "microagg_gpu" / "methods").glob("*.py"):
        seen = {name for name in imported(path) if "kernels" in name}
        assert seen <= {"..kernels", "..kernels.protocol"}, path


def test_the_engine_is_chosen_in_three_places_at_most():
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "microagg_gpu").rglob("*.py")]
    calls = [call for source in sources for call in re.findall(r"(?<!def )\bengine_for\(", source)]
    assert len(calls) <= 3


def test_only_api_and_cli_see_everything():
    for path in (ROOT / "microagg_gpu").rglob("*.py"):
        if path.name in ("__init__.py", "api.py", "cli.py", "__main__.py"):
            continue
        assert not {".api", ".cli", "..api", "..cli"} & imported(path), path


def test_a_gpu_is_looked_for_without_numba_and_without_a_context():
    code = (
        "import sys; from microagg_gpu.engines import gpu_available, usable_engines\n"
        "gpu_available(), usable_engines()\n"
        "print([m for m in ('numba', 'numba.cuda', 'numba_cuda') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_is_light():
    heavy = [
        "cupy",
        "numba",
        "numba.cuda",
        "numba_cuda",
        "torch",
        "pandas",
        "polars",
        "matplotlib",
        "typer",
        "rich",
        "pooch",
        "rdata",
        "scipy",
    ]
    code = f"import sys, microagg_gpu; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
