"""The documentation: every method has its section, paths and links exist, examples run."""

import contextlib
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from helpers.strategies import Case, cases
from microagg_gpu import METHODS, microaggregate
from microagg_gpu.kernels import generic
from microagg_gpu.methods import Method
from microagg_gpu.methods.extremes import centroid
from microagg_gpu.methods.mdav import mdav
from microagg_gpu.methods.vmdav import vmdav
from reference import naive

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def example(name: str):
    """A module of docs/example."""
    path = DOCS / "example" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"microagg_gpu.kernels.{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hop = example("hop").hop


def naive_hop(points, k):
    """Groups from one corner of the data to the opposite one."""
    rows = naive.as_rows(points)
    remaining, groups = set(range(len(rows))), []
    seed = naive.farthest(rows, remaining, naive.centroid_of(rows, remaining))
    while len(remaining) >= 2 * k:
        groups.append(naive.take(rows, remaining, seed, k, "seed"))
        seed = naive.farthest(rows, remaining, rows[seed])
    groups.append(sorted(remaining))
    return groups


@given(cases())
def test_the_method_of_the_example(case: Case):
    points = np.array(naive.standardize(case.data))
    expected = naive.labels_of(naive_hop(points, case.k))
    for engine in ("generic", "cpu"):
        with entered():
            result = microaggregate(case.data, case.k, "hop", engine=engine)
        assert result.labels.tolist() == expected


@contextlib.contextmanager
def entered():
    """The method of the example in the table of methods, for a while."""
    # The entry in METHODS
    METHODS["hop"] = Method(hop, "docs, Contributing", "n^2 d / k", "k..2k-1")
    # That is all
    try:
        yield
    finally:
        del METHODS["hop"]


@given(cases())
def test_the_engine_of_the_example(case: Case):
    quick = example("quick")
    assert set(generic.__all__) <= set(dir(quick))
    points = np.array(naive.standardize(case.data))
    for method in (mdav, vmdav, centroid):
        expected = method(points, case.k, engine=generic)
        assert np.array_equal(method(points, case.k, engine=quick), expected)


def test_every_method_has_its_section_options_and_picture():
    text = (DOCS / "methods.md").read_text(encoding="utf-8")
    named = re.findall(r"^\(method-(\w+)\)=$", text, re.MULTILINE)
    assert sorted(named) == sorted(METHODS)
    for name in METHODS:
        section = text.partition(f"(method-{name})=\n### `{name}`")[2].partition("\n(method-")[0]
        assert f"generated/{name}.svg" in section, name
        assert f"generated/options-{name}.md" in section, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_mention_exist(page):
    text = page.read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    shown = re.findall(r"^```{(?:image|include|literalinclude)} (\S+)", text, re.MULTILINE)
    for target in [*linked, *shown]:
        if not target.startswith(("https://", "generated/")):
            copied = target.startswith("results/")  # by docs/conf.py
            assert ((ROOT / "benchmarks" if copied else DOCS) / target).exists(), target
    for path in re.findall(r"`((?:tests|kernels|docs|benchmarks|microagg_gpu)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_parts_of_files_that_pages_include_are_there(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```{(?:literal)?include} (\S+)\n((?::.*\n)*)```", text, re.MULTILINE)
    for target, options in blocks:
        if target.startswith("generated/"):
            continue
        source = (DOCS / target).read_text(encoding="utf-8")
        for mark in re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.MULTILINE):
            assert mark in source, (target, mark)


@pytest.mark.parametrize("name", ["choose.md", "lowest.md"])
def test_python_of_pages_runs(name):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    columns = ["turnover", "staff", "wages"]
    known = {"frame": pandas.DataFrame(rng.lognormal(3, 1, size=(40, 3)), columns=columns)}
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for indent, block in blocks:
        exec(re.sub(f"^{indent}", "", block, flags=re.MULTILINE), known)
