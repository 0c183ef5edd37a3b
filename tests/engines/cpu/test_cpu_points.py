"""The CPU engine's point set and trees against the generic engine, word by word."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from helpers.methods import centroid, mdav, run
from helpers.strategies import KINDS, cases, make_table
from microagg_gpu.kernels import cpu, generic
from microagg_gpu.kernels.cpu import arranging, boxes, far
from microagg_gpu.kernels.cpu.compiled import entry
from microagg_gpu.methods.extremes import centroid_groups, diameter_groups


@njit
def take_out(tree, record):
    boxes.take_out(tree, record)


@njit
def farthest(tree, seen, target):
    return far.farthest(tree, boxes.begin_walk(tree), seen, target, boxes.NONE, -1.0)


def hard_tables() -> dict[str, np.ndarray]:
    """Tables that are several blocks of boxes deep, with ties in abundance."""
    rng = np.random.default_rng(3)
    line = np.arange(3000.0)[:, np.newaxis]
    spiral = np.exp2(np.arange(900) % 60 / 3)[:, np.newaxis] * rng.choice([-1.0, 1.0], (900, 2))
    return {
        "random": rng.normal(size=(3000, 4)),
        "clusters": make_table("clustered", 3000, 10, seed=1),
        "grid": rng.integers(0, 9, size=(3000, 3)).astype(float),
        "duplicated": rng.normal(size=(3, 2))[rng.integers(0, 3, size=3000)],
        "outlier": np.vstack([rng.normal(size=(2000, 3)), [[1e6, -1e6, 1e6]]]),
        "equal": np.full((2500, 2), 0.3),
        "one variable": rng.lognormal(0, 2, size=(3000, 1)),
        "line": np.hstack([line, line]),
        "powers": spiral,
        "wide": rng.uniform(size=(700, 200)),
        "single precision": rng.normal(size=(2500, 3)).astype(np.float32).astype(np.float64),
        "heavy tails": rng.lognormal(0, 3, size=(2500, 5)),
    }


HARD = hard_tables()


@pytest.mark.parametrize("k", [3, 40])
@pytest.mark.parametrize("method", ["mdav", "vmdav", "centroid", "diameter"])
@pytest.mark.parametrize("name", HARD)
def test_methods_on_deep_trees(name, method, k):
    points = HARD[name] if method != "diameter" else HARD[name][::3].copy()
    expected = run(method, points, k, engine="generic")
    assert np.array_equal(run(method, points, k, engine="cpu"), expected)


@given(cases(), st.integers(1, 5), st.integers(0, 99), st.booleans(), st.booleans())
def test_problems_of_few_records(case, problems, seed, by_diameter, gathered):
    """Each is grouped as by itself, the large ones too."""
    points = np.concatenate([case.data] * problems)
    within = np.random.default_rng(seed).permutation(np.arange(len(points)) % problems) * 7
    k = min(case.k, len(points) // problems)
    method = diameter_groups if by_diameter else centroid_groups
    gather = "centroid" if gathered else "seed"
    expected = method(points, k, gather, generic, within)
    assert np.array_equal(method(points, k, gather, cpu, within), expected)
    with pytest.MonkeyPatch.context() as patched:  # some by scans, the others by search trees
        patched.setattr("microagg_gpu.kernels.cpu.few.FEW", len(points) // problems)
        within = np.sort(within) if seed % 2 else np.where(within, within, within[-1])
        expected = method(points, k, gather, generic, within)
        assert np.array_equal(method(points, k, gather, cpu, within), expected)


def test_more_neighbours_than_a_search_keeps():
    points = np.random.default_rng(0).integers(0, 9, size=(1500, 2)).astype(float)
    for method in (mdav, centroid):
        expected = method(points, 400, engine="generic")
        assert np.array_equal(method(points, 400, engine="cpu"), expected)


@pytest.mark.parametrize("scale", [1e-60, 1e-25, 1e25, 1e140])
@pytest.mark.parametrize("method", ["mdav", "centroid", "diameter", "mst", "kward"])
def test_units_do_not_matter(method, scale):
    """Values whose squares single precision cannot hold."""
    rng = np.random.default_rng(8)
    points = scale * (100.0 * np.eye(4)[np.arange(2100) % 4] + rng.normal(size=(2100, 4)))
    expected = run(method, points, 30, engine="generic")
    assert np.array_equal(run(method, points, 30, engine="cpu"), expected)


@given(cases(), st.integers(0, 10**6))
def test_every_word(case, seed):
    rng = np.random.default_rng(seed)
    ours, plain = cpu.PointSet(case.data), generic.PointSet(case.data)
    while len(plain):
        assert len(ours) == len(plain)
        assert ours.centroid().tolist() == plain.centroid().tolist()
        record = int(rng.integers(len(case.data)))
        assert (record in ours) == (record in plain)
        for target in (ours.centroid(), ours[record], rng.normal(size=case.data.shape[1])):
            assert ours.farthest_from(target) == plain.farthest_from(target)
        assert ours.nearest_to_group([record, 0]) == plain.nearest_to_group([record, 0])
        if len(plain) > 1:
            assert ours.most_distant_pair() == plain.most_distant_pair()
        seed_record = plain.farthest_from(case.data[record])
        assert ours.distance_to_nearest(seed_record) == plain.distance_to_nearest(seed_record)
        k = int(rng.integers(1, min(len(plain), 9) + 1))
        word = ("take_nearest", "take_gathered")[int(rng.integers(2))]
        assert getattr(ours, word)(seed_record, k) == getattr(plain, word)(seed_record, k)


@given(st.sampled_from(KINDS), st.integers(1, 2500), st.integers(1, 4), st.integers(0, 99))
def test_boxes_hold_their_records(kind, n, d, seed):
    points = make_table(kind, n, d, seed)
    records = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.7)
    if not len(records):
        return
    tree = boxes.build(points, records)
    for taken in records[::2]:
        take_out(tree, taken)
    left = records[1::2]
    assert np.array_equal(np.flatnonzero(tree.place >= 0), left)
    inside = boxes.WIDTH
    for level, first in enumerate(tree.start[:-1]):
        at = tree.place[left] // inside
        for box in np.unique(at):
            block, lane = first + box // boxes.WIDTH, box % boxes.WIDTH
            members = points[left[at == box]]
            assert tree.held[block, lane] == len(members)
            members = (members - tree.middle[block]) * tree.scale
            low, high = tree.low[block, :, lane], tree.high[block, :, lane]
            assert np.all(low <= members.min(axis=0))
            assert np.all(high >= members.max(axis=0))
            near = 1e-5 * np.abs(members).max() + 1e-5  # rounded to single precision
            assert np.all(low >= members.min(axis=0) - near)
            assert np.all(high <= members.max(axis=0) + near)
            gaps = np.linalg.norm(members - tree.centre[block, :, lane], axis=1)
            assert gaps.max() <= tree.radius[block, lane] * (1 + 1e-12)
            assert tree.lowest[block, lane] <= left[at == box].min()
        inside *= boxes.WIDTH
        assert level < arranging.LEVELS


@entry()
def candidates_of(tree, target, limit, near, distant):
    walk = boxes.begin_walk(tree)
    for leaf in range(len(tree.record)):
        boxes.relate(tree, leaf // boxes.WIDTH, target, walk)
        near[leaf] = boxes.candidates(tree, leaf, walk, limit)
        distant[leaf] = far.candidates(tree, leaf, walk, limit)


@given(
    st.sampled_from(KINDS),
    st.integers(1, 300),
    st.integers(1, 60),
    st.integers(0, 99),
    st.sampled_from([1.0, 2.0**-300, 2.0**200, 1e-3]),
    st.sampled_from([0.0, 1e6, -4e15]),
)
def test_single_precision_misses_no_record(kind, n, d, seed, unit, middle):
    """What is as near, or as far, as a limit is among the candidates"""
    points = make_table(kind, n, d, seed) * unit + middle * unit
    rng = np.random.default_rng(seed)
    tree = boxes.build(points, np.arange(n))
    for taken in rng.permutation(n)[: n // 3]:
        take_out(tree, taken)
    there = tree.record >= 0
    near, distant = np.empty((2, len(tree.record)), dtype=np.int64)
    for outside in (0.0, 1.0, 1e3, 1e25):  # the farthest are looked for from inside only
        target = points[rng.integers(n)] + unit * outside * rng.normal(size=d)
        distances = np.zeros(n)
        for v in range(d):
            distances += (points[:, v] - target[v]) ** 2
        for limit in (distances.min(), np.median(distances), distances.max()):
            candidates_of(tree, target, limit, near, distant)
            for bits, exact in ((near, distances <= limit), (distant, distances >= limit)):
                lanes = (bits[:, np.newaxis] >> np.arange(boxes.WIDTH)) & 1 == 1
                assert not np.any(lanes & ~there)
                if bits is near or not outside:
                    assert np.all(lanes[there] >= exact[tree.record[there]])


@pytest.mark.parametrize("spread", [1e-3, 1e-7, 1e-11])
def test_a_dense_cluster_far_from_the_middle(spread):
    """Once only the cluster is left, the middle is far outside it, in the unit of its tree."""
    rng = np.random.default_rng(7)
    dense = 1.0 + spread * rng.normal(size=(1500, 3))
    points = np.concatenate([rng.normal(size=(1700, 3)) - 3.0, dense])
    middle = points.mean(axis=0)
    ours, plain = cpu.PointSet(points), generic.PointSet(points)
    for records in (ours, plain):
        records.take(list(range(1700)))
    for _ in range(250):
        record = plain.farthest_from(middle)
        assert ours.farthest_from(middle) == record
        assert ours.take_nearest(record, 4) == plain.take_nearest(record, 4)


def test_what_was_seen_earlier_does_not_mislead():
    """Searches near a few references, while records leave, find what a scan finds."""
    rng = np.random.default_rng(5)
    points = 100.0 * np.eye(4, 6)[rng.permutation(4096) % 4]
    points = points + rng.normal(size=(4096, 6)).round(1)
    tree = boxes.build(points, np.arange(4096))
    seen = far.unseen(tree)
    assert len(seen.reference) > 1
    here = np.ones(4096, dtype=bool)
    for target in rng.permutation(4096)[:1500]:
        distances = np.zeros(4096)
        for v in range(6):
            distances += (points[:, v] - points[target, v]) ** 2
        expected = int(np.argmax(np.where(here, distances, -1.0)))
        record, distance = farthest(tree, seen, points[target])
        assert (record, distance) == (expected, distances[expected])
        take_out(tree, record)
        here[record] = False
    assert np.isfinite(seen.excess).any()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_labels_do_not_depend_on_threads(threads):
    code = (
        "import sys, numpy as np, numba\n"
        f"assert numba.get_num_threads() == {threads}\n"
        "from microagg_gpu import microaggregate\n"
        "x = np.random.default_rng(0).normal(size=(2000, 3))\n"
        "for method in ('mdav', 'mst', 'kward'):\n"
        "    r = microaggregate(x, 3, method, engine='cpu')\n"
        "    g = microaggregate(x, 3, method, engine='generic')\n"
        "    assert r.engine == 'cpu' and (r.labels == g.labels).all(), method\n"
        "r = microaggregate(x[:, 0], 3, 'genetic', generations=5)\n"
        "g = microaggregate(x[:, 0], 3, 'genetic', generations=5, engine='generic')\n"
        "assert (r.labels == g.labels).all()\n"
    )
    environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize("name", [*hard_tables()])
def test_a_tree_arranged_on_all_cores_is_the_same(name, monkeypatch):
    table = np.ascontiguousarray(hard_tables()[name])
    alone = boxes.build(table, np.arange(len(table)))
    monkeypatch.setattr(arranging, "_MANY", 64)
    for one, other in zip(alone, boxes.build(table, np.arange(len(table))), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", [*hard_tables(), "tiny", "huge"])
@pytest.mark.parametrize("k", [2, 5])
def test_looking_ahead_changes_nothing(name, k, monkeypatch):
    """MDAV with the searches of many steps done at once, and one by one."""
    scale = {"tiny": 1e-12, "huge": 1e16}  # beyond what single precision is trusted with
    table = hard_tables()["random" if name in scale else name] * scale.get(name, 1.0)
    table = np.vstack([table, table + 0.01])
    one_by_one = mdav(table, k, engine="cpu")
    monkeypatch.setattr("microagg_gpu.kernels.cpu.ahead._LARGE", boxes.WIDTH**2)
    monkeypatch.setattr("microagg_gpu.kernels.cpu.ahead._BROAD", 1)
    monkeypatch.setattr("microagg_gpu.kernels.cpu.ahead._BEGUN", 0)
    monkeypatch.setattr("microagg_gpu.kernels.cpu.ahead._TRIAL", 2)  # after four steps
    monkeypatch.setattr("microagg_gpu.kernels.cpu.ahead._PERIOD", 20)  # both ways in turns
    assert np.array_equal(mdav(table, k, engine="cpu"), one_by_one)


@pytest.mark.parametrize("name", [*hard_tables()])
@pytest.mark.parametrize("k", [257, 300])
def test_large_groups(name, k):
    """From all distances: equals go by their index, in all three loops."""
    table = hard_tables()[name][:1300]
    for method, more in (("mdav", {}), ("vmdav", {}), ("centroid", {"gather": "seed"})):
        expected = run(method, table, k, engine="generic", **more)
        assert np.array_equal(run(method, table, k, engine="cpu", **more), expected)
