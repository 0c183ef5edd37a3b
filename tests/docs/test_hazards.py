"""The page on what could go wrong on a card names tests that exist, or gives a reason."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "explanation" / "cuda.md").read_text("utf-8")
TESTS = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))


def lines(title: str) -> list[list[str]]:
    """The lines of the table under a title, in cells."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def test_every_hazard_has_a_test_or_a_reason():
    hazards = lines("Hazards")
    assert len(hazards) > 10
    for hazard, done, shown in hazards:
        names = re.findall(r"`(test_\w+)`", shown)
        assert names or done.startswith("Reason: "), hazard
        for name in names:
            assert f"def {name}(" in TESTS, (hazard, name)


def test_every_file_of_tests_for_a_gpu_is_described():
    described = {row[0].strip("`") for row in lines("What the tests on the emulated driver cover")}
    folder = ROOT / "tests" / "engines" / "gpu"
    assert described == {path.name for path in folder.glob("test_*.py")}
