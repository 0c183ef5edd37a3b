"""The documentation: every method has its section, paths and links exist, examples run."""

import contextlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from benchmarks import demo_data
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
COPIED = ("generated", "notebooks", "results")  # by docs/conf.py
PAGES = sorted(page for page in DOCS.rglob("*.md") if page.relative_to(DOCS).parts[0] not in COPIED)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_reference_names_exists(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"^\.\. auto(?:class|function):: ([\w.]+)", text, re.M):
        assert pkgutil.resolve_name(name) is not None


def test_the_changelog_links_nothing():
    """It is a page of the site too, where the links of this folder lead nowhere."""
    assert "](" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


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
    METHODS["hop"] = Method(
        hop, "docs, Contributing", "learning how to add a method", "n^2 d / k", "k..2k-1"
    )
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
    text = (DOCS / "reference" / "methods.md").read_text(encoding="utf-8")
    named = re.findall(r"^\(method-(\w+)\)=$", text, re.MULTILINE)
    assert sorted(named) == sorted(METHODS)
    for name in METHODS:
        section = text.partition(f"(method-{name})=\n### `{name}`")[2].partition("\n(method-")[0]
        assert f"generated/{name}.svg" in section, name
        assert f"generated/options-{name}.md" in section, name


def test_seconds_of_every_method_are_listed():
    text = (DOCS / "howto" / "million.md").read_text(encoding="utf-8")
    table = text.partition("\n## Seconds of each method\n")[2]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)[1:]) == sorted(METHODS)


def test_every_method_is_in_the_gallery():
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^```{figure} generated/(\w+)\.svg", text, re.MULTILINE)) == sorted(
        METHODS
    )


@pytest.mark.parametrize(
    "term",
    [
        "categorical variable", "disclosure risk", "household", "information loss", "k-anonymity",
        "key variable", "microaggregation", "quasi-identifier", "record linkage",
        "sampling weight", "stratum",
    ],
)  # fmt: skip
def test_the_glossary_explains(term):
    text = (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert re.search(rf"^{term}\n  \S", text, re.MULTILINE)


def home(page: Path, target: str) -> Path:
    """The file that a link of a page leads to; copies are looked up where they come from."""
    path = (page.parent / target).resolve()
    if path.is_relative_to(DOCS) and path.relative_to(DOCS).parts[0] in ("notebooks", "results"):
        source = ROOT if path.relative_to(DOCS).parts[0] == "notebooks" else ROOT / "benchmarks"
        return source / path.relative_to(DOCS)
    return path


def test_options_keep_their_two_hyphens():
    # Sphinx would show the -- of docstrings and help texts as a dash.
    assert "\nsmartquotes = False" in (DOCS / "conf.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_files_that_pages_mention_exist(page):
    text = page.read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    shown = re.findall(r"^```{(?:image|figure|include|literalinclude)} (\S+)", text, re.MULTILINE)
    shown += re.findall(r'<img src="([^"]+)"', text)
    for target in [*linked, *shown]:
        if not target.startswith("https://") and "generated/" not in target:
            assert home(page, target).exists(), target
    for path in re.findall(r"`((?:tests|kernels|docs|benchmarks|microagg_gpu)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_parts_of_files_that_pages_include_are_there(page):
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```{(?:literal)?include} (\S+)\n((?::.*\n)*)```", text, re.MULTILINE)
    for target, options in blocks:
        if "generated/" in target:
            continue
        source = (page.parent / target).read_text(encoding="utf-8")
        for mark in re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.MULTILINE):
            assert mark in source, (target, mark)


@pytest.mark.parametrize(
    "name", ["howto/businesses.md", "howto/blocks.md", "howto/order.md", "explanation/loss.md"]
)
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


def test_python_of_the_tutorial_runs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    demo_data.write(tmp_path / "demo" / "companies.csv")
    text = (DOCS / "tutorial" / "python.md").read_text(encoding="utf-8")
    quick = text.replace("refine=10", "refine=1").replace("seconds=5", "seconds=1")
    known = {}
    for block in re.findall(r"^```python\n(.*?)^```", quick, re.MULTILINE | re.DOTALL):
        exec(block, known)
    assert (tmp_path / "report.html").exists()
    assert known["result"].verdict.word != "PASS"  # as its comment says
