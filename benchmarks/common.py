"""What several benchmarks share: where results go, on what they were measured, how they print."""

import json
import math
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
CHANGED = " with uncommitted changes"
# What a measurement depends on. Results are written while a benchmark runs, so they do not count.
CODE = ("microagg_gpu", "kernels", "benchmarks", ":!benchmarks/results")


def data_home() -> Path:
    """Directory of the reference files: MICROAGG_DATA, else shared/data beside the repository."""
    named = os.environ.get("MICROAGG_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data"


# What was measured, and on what -----------------------------------------------------------------


def commit() -> str:
    """The commit of the code, and in words whether the code was changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + (
            CHANGED if git("status", "--porcelain", "--", *CODE) else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def load() -> float:
    """How many processes wanted to run, on average over the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def processor() -> str:
    """The name of the processor."""
    if (info := Path("/proc/cpuinfo")).is_file():
        for line in info.read_text().splitlines():
            if "model name" in line:
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, str]:
    """The machine and the versions that figures were measured with."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    packages = ("numpy", "numba", "llvmlite", "quitefastmst", "fastcluster")
    return {
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.1f} GiB",
        "system": platform.system(),
        "Python": platform.python_version(),
        **{name: version(name) for name in packages if find_spec(name)},
    }


def machine_line() -> str:
    """Processor and versions in a line."""
    return (
        f"{processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"NumPy {version('numpy')}"
    )


# Results ----------------------------------------------------------------------------------------


def write(path: Path, text: str) -> None:
    """Replace a file in one step, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


class SavedRuns:
    """Results by name, saved in a JSON file after each run; what is there is not run again."""

    def __init__(self, fresh: bool, path: Path) -> None:
        self._path = path
        self.done: dict[str, dict[str, Any]] = {}
        if path.exists() and not fresh:
            self.done = json.loads(path.read_text(encoding="utf-8"))

    def __call__(self, name: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name not in self.done:
            start = time.perf_counter()
            self.done[name] = run() | {"took": round(time.perf_counter() - start, 2)}
            print(name, self.done[name], flush=True)
            write(self._path, json.dumps(self.done, indent=1) + "\n")
        return self.done[name]


# Markdown ---------------------------------------------------------------------------------------


def table(head: Iterable[str], lines: Iterable[Iterable[str]], numbers: bool = False) -> list[str]:
    """A Markdown table; with `numbers` all columns but the first are aligned to the right."""
    head = list(head)
    rest = " ---: |" if numbers else " --- |"
    return [
        f"| {' | '.join(head)} |",
        "| --- |" + rest * (len(head) - 1),
        *(f"| {' | '.join(line)} |" for line in lines),
    ]


def figure(x: float | None, digits: int = 3) -> str:
    """A number with so many digits; a dash if there is none."""
    if x is None or math.isnan(x):
        return "-"
    return f"{x:,.0f}" if abs(x) >= 10**digits else f"{x:#.{digits}g}".rstrip(".")
