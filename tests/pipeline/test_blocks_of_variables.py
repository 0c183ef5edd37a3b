"""Blocks of variables: each grouped by itself; k within each, and whole records as they are."""

import json
import shlex
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.command import refuse, run
from microagg_gpu import InputError, microaggregate, suggest_blocks
from microagg_gpu.report import note, page

pytestmark = pytest.mark.usefixtures("empty_directory")
RNG = np.random.default_rng(23)
TWO = [["turnover", "staff", "wages"], ["exports", "energy"]]


def companies(n=200):
    """Three variables that go together, two others that do, and nothing between them."""
    one, other = RNG.normal(size=n), RNG.normal(size=n)
    noise = RNG.normal(scale=0.3, size=(n, 5))
    columns = {
        "turnover": one + noise[:, 0], "exports": other + noise[:, 1], "staff": one + noise[:, 2],
        "energy": -other + noise[:, 3], "wages": one + noise[:, 4],
    }  # fmt: skip
    frame = pd.DataFrame(columns).round(3)
    return frame.assign(region=np.where(np.arange(n) % 2, "N", "S"), w=RNG.integers(1, 9, n))


FRAME = companies()


@pytest.mark.parametrize("given", [{}, {"by": "region"}, {"scale": "log"}, {"aggregate": "median"}])
def test_each_block_is_grouped_by_itself(given):
    """As if each were the only thing that is protected."""
    result = microaggregate(FRAME, 5, blocks=TWO, **given)
    assert result.labels.shape == (200, 5)
    assert result.names == [name for block in TWO for name in block]
    assert result.blocks == TWO
    for i, block in enumerate(TWO):
        alone = microaggregate(FRAME, 5, columns=block, **given)
        for name in block:
            assert result.labels[:, result.names.index(name)].tolist() == alone.labels.tolist()
            assert result.protected[name].equals(alone.protected[name])
        assert result.sizes[i].tolist() == alone.sizes.tolist()
    if given == {}:
        parts = [microaggregate(FRAME, 5, columns=block) for block in TWO]
        expected = 100 * sum(part.sse for part in parts) / sum(part.sst for part in parts)
        assert result.loss == pytest.approx(expected)
        assert result.loss < microaggregate(FRAME, 5, columns=result.names).loss


def test_the_verdict_counts_within_blocks_and_whole_records():
    result = microaggregate(FRAME.drop(columns=["region", "w"]), 5, blocks=TWO)
    verdict = result.verdict
    for block in TWO:
        assert min(Counter(map(tuple, result.protected[block].to_numpy())).values()) >= 5
    whole = Counter(map(tuple, result.protected.to_numpy()))
    below = sum(count for count in whole.values() if count < 5)
    unique = sum(count == 1 for count in whole.values())
    assert unique > 100
    assert (verdict.word, verdict.below, verdict.unique) == ("PARTLY", below, unique)
    assert str(verdict) == (
        "k = 5 holds within each of these blocks of columns only: turnover, staff, wages; exports, "
        f"energy. {below} of the 200 records share their values in all 5 columns with fewer than 4 "
        f"others; {unique} of them are unique"
    )
    assert verdict.blocks == TWO


def test_the_report_measures_whole_records():
    data = FRAME.drop(columns=["region", "w"])
    result = microaggregate(data, 5, blocks=TWO)
    content = json.loads(json.dumps(result.report()))
    assert content["blocks"] == TWO
    assert content["groups"] == sum(len(sizes) for sizes in result.sizes)
    unique = 100 * result.verdict.unique / 200
    assert content["risk"]["after"]["unique"] == pytest.approx(unique)
    # By brute force: the nearest original of each published record, over all columns.
    before = data[result.names].to_numpy() / data[result.names].to_numpy().std(axis=0)
    after = result.protected[result.names].to_numpy() / data[result.names].to_numpy().std(axis=0)
    far = np.square(after[:, None, :] - before[None]).sum(axis=2)
    own = far.diagonal()
    share = np.mean([(own[i] <= row.min()) / (row == row.min()).sum() for i, row in enumerate(far)])
    assert content["risk"]["linkage"] == pytest.approx(100 * share, abs=0.6)
    text = " ".join(content["summary"])
    assert "each of 2 blocks of variables was grouped on its own" in text
    assert "k holds within each block. Whole records are not k-anonymous" in text
    assert "within each block" in page(content)
    assert "The blocks: turnover, staff, wages; exports, energy." in note(content)


def test_strata_missing_values_categories_and_refinement():
    frame = FRAME.assign(size=RNG.choice(["s", "m"], 200))
    frame.loc[::3, "energy"] = np.nan
    result = microaggregate(frame, 4, blocks=TWO, by="region", missing="pattern", shuffle=True)
    assert result.verdict.below_named == 0
    assert result.protected["energy"].isna().sum() == frame["energy"].isna().sum()
    mixed = microaggregate(
        FRAME.assign(size=frame["size"]), 4, columns=TWO[0], nominal="size",
        blocks=[TWO[0], ["size"]],
    )  # fmt: skip
    assert mixed.verdict.below_named == 0
    plain = microaggregate(FRAME, 4, blocks=TWO)
    better = microaggregate(FRAME, 4, blocks=TWO, refine_steps=20)
    assert better.refined.before == plain.loss
    assert better.loss < plain.loss
    assert better.verdict.below_named == 0


def test_ctrl_c_ends_the_refinement_of_blocks_with_what_there_is():
    def watch(fraction, loss):
        seen.append(fraction)
        if fraction > 0:
            raise KeyboardInterrupt

    plain, seen = microaggregate(FRAME, 4, blocks=TWO), []
    result = microaggregate(FRAME, 4, blocks=TWO, refine_steps=2000, watch=watch)
    assert 0 <= result.refined.stopped < 1 / 2  # the second block was not begun
    assert max(seen) <= 1 / 2
    assert result.loss <= plain.loss
    assert np.array_equal(result.labels[:, -1], plain.labels[:, -1])


def test_arrays_take_positions():
    data = FRAME.iloc[:, :5].to_numpy()
    result = microaggregate(data, 5, blocks=[[0, 2, 4], [1, 3]])
    frame = microaggregate(FRAME, 5, blocks=TWO)
    assert np.array_equal(result.protected[:, [0, 2, 4, 1, 3]], frame.protected[frame.names])
    assert eval(result.provenance.python(), {"microaggregate": microaggregate, "data": data}).loss


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"blocks": "a,b;c"}, "must be lists of columns"),
        ({"blocks": []}, "must be lists of columns"),
        ({"blocks": [["turnover"], []]}, "must be lists of columns"),
        ({"blocks": [["turnover"], [1.5]]}, "must be lists of columns"),
        ({"blocks": [["turnover"], ["staff", "turnover"]]}, "'turnover' is in two blocks"),
        ({"blocks": [["turnover"]], "columns": ["turnover", "staff"]}, "'staff' .* in no block"),
        ({"blocks": [["turnover", "staf"]], "columns": ["turnover", "staff"]}, "Did you mean"),
        ({"blocks": TWO, "method": "individual"}, "individual ranking groups each variable"),
        ({"blocks": TWO, "dominance": (1, 85)}, "for groups of whole records: leave out blocks"),
        ({"blocks": TWO, "sampling_weight": "w", "average_weight": True}, "leave out average_w"),
        ({"blocks": [["turnover", "nothing"]]}, "nothing"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        microaggregate(FRAME, 5, **given)


def test_what_whole_groups_are_needed_for():
    result = microaggregate(FRAME, 5, blocks=TWO)
    with pytest.raises(InputError, match="blocks group no whole records: the bound is not for"):
        result.bound()
    with pytest.raises(InputError, match="blocks of variables have no groups of whole records"):
        result.plot("groups.png")
    FRAME.to_csv("in.csv", index=False)
    for extra in (["--group-column", "g"], ["--bound"], ["--plot", "g.png"]):
        refuse(f"no groups of whole records: leave out {extra[0]}", "protect", "in.csv", "-k", 5,
               "--blocks", "turnover;staff", *extra, "-o", "out.csv")  # fmt: skip
    refuse("--blocks cannot be used with --workers", "protect", "in.csv", "-k", 5, "--blocks",
           "turnover;staff", "--workers", 2, "-o", "out")  # fmt: skip


def test_the_command_writes_and_repeats_it():
    frame = FRAME.rename(columns={"wages": "wages; all, of them"})
    frame.to_csv("in.csv", index=False)
    done = run(
        "protect", "in.csv", "-k", 5, "--blocks",
        'turnover,staff,"wages; all, of them";exports,energy', "--by", "region", "--drop", "w",
        "-o", "out.csv", "--json", "out.json", "--report", "out.html", "--note", "note.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "within each of these blocks" in " ".join(done.output.split())
    out = pd.read_csv("out.csv")
    for block in (["turnover", "staff", "wages; all, of them"], ["exports", "energy"]):
        assert out.groupby(["region", *block]).size().min() >= 5
    content = json.loads(Path("out.json").read_text())
    assert content["verdict"]["unique"] == (out.groupby(out.columns.tolist()).size() == 1).sum()
    written = Path("out.csv").read_bytes()
    for name in ("out.csv", "out.json", "out.html", "note.html"):
        Path(name).unlink()
    again = run(*shlex.split(content["provenance"]["Command"])[1:])
    assert again.exit_code == 0, again.output
    assert Path("out.csv").read_bytes() == written


def test_suggested_blocks_are_those_that_go_together():
    found = suggest_blocks(FRAME, columns=FRAME.columns[:5])
    assert sorted(map(sorted, found)) == [["energy", "exports"], ["staff", "turnover", "wages"]]
    assert microaggregate(FRAME, 5, blocks=found).blocks == found
    assert len(suggest_blocks(FRAME.iloc[:, :5], count=1)) == 1
    assert suggest_blocks(FRAME.iloc[:, :5], count=5) == [[name] for name in FRAME.columns[:5]]
    assert suggest_blocks(FRAME[["staff"]]) == [["staff"]]
    with pytest.raises(InputError, match="count=6"):
        suggest_blocks(FRAME.iloc[:, :5], count=6)


@pytest.mark.parametrize("p", [2, 5, 17])
def test_the_tree_is_that_of_scipy(p):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    distance = pytest.importorskip("scipy.spatial.distance")
    data = RNG.normal(size=(40, p)) @ RNG.normal(size=(p, p))
    far = 1 - np.abs(np.corrcoef(data.T))
    np.fill_diagonal(far, 0)
    expected = hierarchy.linkage(distance.squareform(far, checks=False), "average")
    found = suggest_blocks(data)
    assert np.allclose(found.merges, expected)
    groups = hierarchy.fcluster(expected, 0.5, "distance")
    assert len(found) == len(set(groups))
    for block in found:
        assert len({groups[int(name)] for name in block}) == 1


def test_gaps_and_constants_have_no_correlation():
    frame = FRAME.iloc[:, :5].assign(constant=1.0)
    frame.loc[::2, "staff"] = np.nan
    found = suggest_blocks(frame)
    assert ["constant"] in found
    assert any({"staff", "turnover"} <= set(block) for block in found)


def test_the_tree_is_drawn():
    pytest.importorskip("matplotlib")
    suggest_blocks(FRAME.iloc[:, :5]).plot("tree.png")
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")
    suggest_blocks(FRAME[["staff"]]).plot("one.svg")
    with pytest.raises(InputError, match="cannot be written as a picture"):
        suggest_blocks(FRAME.iloc[:, :5]).plot("tree.txt")
