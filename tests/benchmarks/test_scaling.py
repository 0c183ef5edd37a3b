"""The yardsticks of benchmarks.scaling are right, and it writes what it measures."""

import json

import numpy as np
import pytest

from benchmarks.scaling.__main__ import main
from benchmarks.scaling.peers import FULL_SCANS
from helpers.methods import run
from helpers.strategies import KINDS, make_table
from microagg_gpu.pipeline.partition import Partition

# To compile them takes a minute; they are the benchmark's, so one of them is tested every time.
SCANS = [pytest.param(m, marks=[] if m == "mdav" else pytest.mark.slow) for m in FULL_SCANS]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", SCANS)
def test_full_scans_give_the_groups_of_the_library(method, kind):
    for n, d, k, seed in [(1, 2, 1, 0), (7, 2, 3, 1), (60, 2, 3, 2), (150, 4, 4, 3), (90, 3, 1, 4)]:
        points = make_table(kind, n, d, seed)
        expected = run(method, points, k, engine="generic")
        found = FULL_SCANS[method](points, k)
        np.testing.assert_array_equal(
            Partition(found, k).labels, Partition(expected, k).labels, err_msg=f"{n} {d} {k}"
        )


@pytest.mark.slow
def test_measures_and_keeps_what_was_measured_before(tmp_path, capsys):
    quick = ["--quick", "--most", "2000", "--repeat", "1", "--output", str(tmp_path)]
    assert main([*quick, "--methods", "mdav"]) == 0
    assert main([*quick, "--methods", "genetic"]) == 0
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"scaling-cpu.json", "scaling-cpu.md", "scaling-cpu.png"}
    rows = json.loads((tmp_path / "scaling-cpu.json").read_text())["rows"]
    assert {row["method"] for row in rows.values()} == {"mdav", "genetic"}
    for row in rows.values():
        assert row["seconds"] > 0
        assert row["peak_mib"] >= row["before_mib"] > row["imported_mib"]
    ours, scan = (rows[f"mdav | 2,000 x 10 | {who}"] for who in ("ours", "full scan"))
    assert ours["labels"] == scan["labels"]
    text = (tmp_path / "scaling-cpu.md").read_text()
    assert text in capsys.readouterr().out
    assert str(tmp_path) not in text
    assert "## Targets" in text
