"""What is kept of the notebooks, and what runs them; ``make notebooks`` runs themselves."""

import json
import re
from pathlib import Path

import pytest

from notebooks.run import HERE, execute, stripped

NOTEBOOKS = sorted(HERE.glob("*.ipynb"))
MACHINE_PATH = re.compile(
    r"/(home|root|Users|work|tmp|mnt|opt|var)/|[A-Z]:\\\\|localhost|127\.0\.0"
)


def notebook(*sources: str) -> dict:
    """A notebook as Jupyter would save it after a run."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": 7,
            "id": f"cell-{i}",
            "metadata": {"tags": ["hide-input"], "collapsed": True},
            "outputs": [{"name": "stdout", "output_type": "stream", "text": ["1\n"]}],
            "source": [source],
        }
        for i, source in enumerate(sources)
    ]
    mine = {"display_name": "My kernel", "language": "python", "name": "mine"}
    return {"cells": cells, "metadata": {"kernelspec": mine}, "nbformat": 4, "nbformat_minor": 5}


def test_there_are_four():
    assert [path.name[0] for path in NOTEBOOKS] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kept_without_outputs_and_machine(path: Path):
    text = path.read_text("utf-8")
    content = json.loads(text)
    assert text == stripped(content), "strip it: python -m notebooks.run --strip"
    assert not MACHINE_PATH.search(text)
    assert len(text) < 100_000
    first, second, *_ = content["cells"]
    assert first["cell_type"] == "markdown"
    assert first["source"][0].startswith("# ")
    assert second["cell_type"] == "code"
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_valid(path: Path):
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_lead_to_notebooks(path: Path):
    links = re.findall(r"\]\(([^)]+)\)", path.read_text("utf-8"))
    assert [link for link in links if not (HERE / link).is_file()] == []


def test_stripped():
    kept = json.loads(stripped(notebook("print(1)")))
    (cell,) = kept["cells"]
    assert cell == {
        "cell_type": "code",
        "execution_count": None,
        "id": "cell-0",
        "metadata": {"tags": ["hide-input"]},
        "outputs": [],
        "source": ["print(1)"],
    }
    assert kept["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("print(2)", ""),
        ("1 / 0", "ZeroDivisionError"),
        ("import warnings; warnings.warn('old way', stacklevel=1)", "UserWarning: old way"),
    ],
)
def test_errors_and_warnings_fail(tmp_path: Path, monkeypatch, source: str, wrong: str):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):  # else they are in the home directory
        monkeypatch.setenv(name, str(tmp_path / name))
    path = tmp_path / "one.ipynb"
    path.write_text(stripped(notebook(source)), "utf-8")
    executed, said = execute(path)
    assert wrong in said
    assert bool(wrong) == bool(said)
    assert executed.cells[0].execution_count == 1
