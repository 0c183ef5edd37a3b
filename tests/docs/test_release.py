"""One version everywhere, and the lowest versions of the dependencies in one list."""

import re
import tomllib
from pathlib import Path

import microagg_gpu

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Tools of developers, whose lowest version nobody needs to know.
TOOLS = {"mypy", "numpydoc", "pytest-cov", "ruff"}


def test_one_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = microagg_gpu.__version__  # which pyproject.toml takes
    assert re.search(r"^version: (.+)$", citation, re.M)[1] == version
    assert re.search(r"^## (\S+)", changes, re.M)[1] == version


def test_minimum_versions_are_those_of_the_project():
    extras = PROJECT["optional-dependencies"]
    chosen = (
        *("app", "bound", "datasets", "dask", "excel", "notebooks", "pandas", "polars", "report"),
        *("sklearn", "stat"),
        "test",
    )
    lines = [*PROJECT["dependencies"], *(line for name in chosen for line in extras[name])]
    wanted = {}
    for line in lines:
        if not line.startswith("microagg-gpu"):
            name, least = re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line).groups()
            if name not in TOOLS:
                wanted[name] = least
    pinned = {}
    for line in (ROOT / ".ci" / "minimum.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            pinned[name] = version
    assert pinned.pop("distributed") == pinned["dask"]
    del pinned["click"]  # one that typer of that time knows
    del pinned["pyparsing"]  # one that does not warn of matplotlib of that time
    del pinned["scipy"]  # one that scikit-learn of that time knows
    assert wanted.keys() == pinned.keys()
    for name, least in wanted.items():
        assert f"{pinned[name]}.".startswith(f"{least}."), name
