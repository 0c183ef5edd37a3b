"""The loops of the fixed-size methods on the device against the other engines, to the label."""

import numpy as np
import pytest

from helpers.methods import centroid, diameter, mdav, vmdav
from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import engine_named, generic
from microagg_gpu.kernels.cuda import fixed_size, launching
from microagg_gpu.methods import extremes
from microagg_gpu.methods.annealing import split_large
from microagg_gpu.methods.mdav import mdav_of_each

LOOPS = {
    "mdav_groups": (),
    "vmdav_groups 0": (0.0,),
    "vmdav_groups 0.2": (0.2,),
    "vmdav_groups 1.1": (1.1,),
    "centroid_groups centroid": ("centroid",),
    "centroid_groups seed": ("seed",),
    "diameter_groups centroid": ("centroid",),
    "diameter_groups seed": ("seed",),
}
SHAPES = [(1, 1, 1), (2, 2, 1), (5, 1, 5), (size(13, 37), 1, 3), (size(23, 70), 2, 4), (11, 33, 3)]
# Compiled code is executed some hundred times slower than by a GPU: fewer kinds there.
HARDEST = KINDS if SIMULATOR else ("grid", "clustered", "equal")


BLOCKS_THAT_FIT = launching.blocks_that_fit  # the fixture replaces it


def as_partition(labels: np.ndarray) -> list[int]:
    """Groups numbered in order of their first record."""
    names: dict[int, int] = {}
    return [names.setdefault(int(label), len(names)) for label in labels]


def check(loop: str, points: np.ndarray, k: int, **options) -> None:
    name = loop.split()[0]
    found = getattr(fixed_size, name)(points, k, *LOOPS[loop], **options)
    if name == "mdav_groups":
        expected = mdav(points, k, engine="generic")
    elif name == "vmdav_groups":
        expected = vmdav(points, k, gamma=LOOPS[loop][0], engine="generic")
    else:
        expected = getattr(extremes, name)(points, k, *LOOPS[loop], generic, **options)
    assert as_partition(found) == as_partition(expected)


@pytest.mark.parametrize("kind", HARDEST)
@pytest.mark.parametrize("loop", LOOPS)
def test_loops(loop, kind):
    for n, d, k in SHAPES:
        check(loop, make_table(kind, n, d, seed=n), k)


@pytest.mark.parametrize("loop", LOOPS)
def test_k_is_1_and_n_and_between(loop):
    points = make_table("grid", size(10, 34), 2, seed=1)
    for k in (1, 2, len(points) // 2, len(points) - 1, len(points)):
        check(loop, points, k)


@pytest.mark.parametrize("kind", ["random", "grid", "clustered"])
@pytest.mark.parametrize("loop", LOOPS)
def test_single_precision(loop, kind):
    points = make_table(kind, size(17, 50), 3, seed=5).astype(np.float32)
    check(loop, points, 3)


@pytest.mark.parametrize("loop", [loop for loop in LOOPS if loop[0] in "cd"])
def test_many_problems_at_once(loop):
    points = make_table("grid", size(30, 60), 2, seed=2)
    within = np.random.default_rng(0).integers(0, 4, size=len(points)) * 7
    check(loop, points, 3, within=within)


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_mdav_of_many_problems_at_once(real, monkeypatch):
    """The groups of each by itself, numbered as there, whatever its size."""
    monkeypatch.setattr(fixed_size, "_MANY", 12)
    points = make_table("grid", size(30, 80), 2, seed=2).astype(real)
    rng = np.random.default_rng(0)
    problems = np.split(rng.permutation(len(points)), [3, 9, 25])
    found = mdav_of_each(points, problems, 3, engine_named("cuda"))
    for labels, records in zip(found, problems, strict=True):
        assert labels.tolist() == mdav(points[records], 3, engine="generic").tolist()
    assert mdav_of_each(points, [], 3, engine_named("cuda")) == []


def test_large_groups_are_split_in_one_call(monkeypatch):
    """Not a launch for each: of 12 groups as many as of 2."""
    points = make_table("random", size(72, 144), 2, seed=3)
    counts = {}
    for groups in (2, 12):
        labels = np.arange(len(points)) % groups
        launches = []
        monkeypatch.setattr(launching, "LAUNCHES", launches)
        found = split_large(points, labels, 3, engine_named("cuda"))
        monkeypatch.setattr(launching, "LAUNCHES", None)
        assert found.tolist() == split_large(points, labels, 3, generic).tolist()
        counts[groups] = len({id(kernel) for kernel, _, _ in launches}), launches[-1][1]
    assert counts == {2: (2, 2), 12: (2, 12)}  # two kernels, a block to a group


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", HARDEST)
def test_extreme_groups(kind, descending):
    points = make_table(kind, size(24, 60), 2, seed=4)
    for problems in (1, 3):
        within = np.arange(len(points)) % problems
        expected = generic.extreme_groups(points, within, 3, descending)
        found = fixed_size.extreme_groups(points, within, 3, descending)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("loop", LOOPS)
def test_one_step_a_launch(loop, monkeypatch):
    """What a launch leaves is what the next one needs."""
    monkeypatch.setattr(fixed_size, "_BYTES_PER_LAUNCH", 1 << 5)
    fractions: list[float] = []
    check(loop, make_table("grid", size(14, 36), 2, seed=3), 2)
    name = loop.split()[0]
    points = make_table("random", size(14, 36), 2, seed=3)
    getattr(fixed_size, name)(points, 2, *LOOPS[loop], progress=fractions.append)
    assert len(fractions) > 2
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] <= 1


@pytest.mark.skipif(SIMULATOR, reason="Numba's simulator cannot synchronise blocks")
@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("loop", LOOPS)
def test_any_number_of_blocks(loop, blocks, monkeypatch):
    monkeypatch.setattr(launching, "team_blocks", lambda records, fit=None: blocks)
    monkeypatch.setattr(fixed_size, "team_blocks", lambda records, fit=None: blocks)
    check(loop, make_table("grid", 61, 3, seed=blocks), 4)


def test_methods_take_the_engine():
    points = make_table("clustered", size(15, 60), 2, seed=6)
    for method in (mdav, vmdav, diameter, centroid):
        expected = method(points, 3, engine="cpu")
        assert as_partition(method(points, 3, engine="cuda")) == as_partition(expected)


@pytest.mark.skipif(SIMULATOR, reason="blocks cannot meet in Numba's simulator")
@pytest.mark.parametrize("loop", ["mdav_groups", "diameter_groups centroid"])
def test_as_many_blocks_as_fit(loop, monkeypatch):
    """The simulated device has room for several blocks on each of its 4 multiprocessors."""
    launches = []
    monkeypatch.setattr(launching, "LAUNCHES", launches)
    monkeypatch.setattr(launching, "blocks_that_fit", BLOCKS_THAT_FIT)
    check(loop, make_table("grid", 100, 2, seed=1), 4)
    assert launches[-1][1] == 100 // 16
