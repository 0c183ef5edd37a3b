"""Ward's method in batches: pairs, boxes and sums against NumPy, labels against the generic engine.

Also the most distant pair of records, with which k-Ward begins.
"""

import math

import numpy as np
import pytest

from helpers.methods import kward
from helpers.simulators import PTXRUN, SIMULATOR, size
from helpers.strategies import KINDS, make_table, scattered
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.cuda import distant, fixed_size, rounds, ward, ward_rounds
from microagg_gpu.kernels.cuda.boxes import LANES, NONE
from microagg_gpu.kernels.cuda.ward_events import EVENTS, MOVES, OTHER, OWNER
from microagg_gpu.kernels.cuda.ward_round_kernels import (
    HELD,
    HIGHEST,
    LEAST,
    LOWEST,
    MANY,
    NAME,
    SMALL,
)

HARDEST = ("grid", "clustered", "duplicated", "equal")
N, K = size(24, 200), 4
LOOKS = ward._merge_by_looks  # a fixture replaces it


@pytest.fixture(autouse=True)
def batches_of_few_groups(monkeypatch):
    """Batches of any number of groups, and many of them; nothing is left to looks at all groups."""
    monkeypatch.setattr(ward_rounds, "FEW", 0)
    monkeypatch.setattr(ward_rounds, "ENOUGH", 0)
    monkeypatch.setattr(ward_rounds, "EVENTS_AT_ONCE", (2, size(6, 24)))
    monkeypatch.setattr(ward_rounds, "REFRESHED", 3)
    monkeypatch.setattr(ward, "_merge_by_looks", None)


def check(points: np.ndarray, k: int, labels=None, progress=None) -> None:
    """One problem; by default each record is a group."""
    n = len(points)
    labels, within = np.arange(n) if labels is None else labels, np.zeros(n, dtype=np.int64)
    expected = generic.merge_until_k(points, labels, within, k)
    found = ward.merge_until_k(points, labels, within, k, progress)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_labels(kind):
    for n, d, k in ((N, 3, K), (size(9, 70), 1, 2), (2, 1, 2), (5, size(3, 33), 2)):
        points = make_table(kind, n, d, seed=n)
        check(points, k)
        check(points, k, scattered(n, k, 1, seed=n)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_k_is_1_and_n_and_more_than_lanes(kind):
    n = size(10, 80)
    points = make_table(kind, n, 2, seed=1)
    for k in (1, 2, n // 2, n - 1, n):
        check(points, k)


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
@pytest.mark.parametrize("kind", ["clustered", "random", "grid"])
def test_labels_of_more_records(kind, monkeypatch):
    """Trees of several levels, and batches that are mostly foreseen rightly."""
    monkeypatch.setattr(ward_rounds, "EVENTS_AT_ONCE", (64, 256))
    check(make_table(kind, 1500, 4, seed=2), 3)


@pytest.mark.skipif(SIMULATOR, reason="too many variables for Numba's simulator")
def test_labels_of_many_variables():
    check(make_table("clustered", 120, 70, seed=2), K)


@pytest.mark.parametrize("schedule", range(3 if PTXRUN else 1))
def test_any_schedule(schedule):
    check(make_table("duplicated", N, 2, seed=3), K)


@pytest.mark.parametrize("kind", HARDEST)
@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("EVENTS_AT_ONCE", (1, 1)),
        ("EVENTS_AT_ONCE", (64, 64)),
        ("AHEAD", 0.0),
        ("AT_FIRST", 3),
        ("SHRUNK", 0.99),  # a new tree for each merger
        ("SHRUNK", 0.0),  # always the first one
        ("REFRESHED", 1),
        ("REFRESHED", 10**9),
    ],
)
def test_batches_and_trees_of_any_kind(what, value, kind, monkeypatch):
    monkeypatch.setattr(ward_rounds, what, value)
    check(make_table(kind, size(14, 70), 2, seed=4), K)


@pytest.mark.parametrize("kind", HARDEST)
def test_the_rest_is_left_to_looks_at_all_groups(kind, monkeypatch):
    monkeypatch.setattr(ward, "_merge_by_looks", LOOKS)
    monkeypatch.setattr(ward_rounds, "WINDOW", 2)
    monkeypatch.setattr(ward_rounds, "ENOUGH", 10**9)
    told: list[float] = []
    check(make_table(kind, size(16, 70), 2, seed=5), K, progress=told.append)
    assert told == sorted(told)


def test_equal_records_are_left_to_looks_at_all_groups(monkeypatch):
    monkeypatch.setattr(ward_rounds, "ENOUGH", 2)
    monkeypatch.setattr(ward_rounds, "WINDOW", 4)
    n = size(16, 100)
    begin = np.arange(n + 1)
    _, done = ward_rounds.merge(np.full((n, 2), 0.3), begin[:-1], begin, K, lambda fraction: None)
    assert not done


def test_progress():
    told: list[float] = []
    check(make_table("random", N, 2, seed=6), K, progress=told.append)
    assert len(told) > 2
    assert told == sorted(told)
    assert 0 < told[-1] <= 1


def test_what_is_left_to_looks_at_all_groups(monkeypatch):
    points = make_table("random", N, 2, seed=7)
    assert ward_rounds.possible(points, N)
    assert not ward_rounds.possible(points * 1e160, N)
    assert not ward_rounds.possible(points.astype(np.float32), N)
    monkeypatch.setattr(ward_rounds, "FEW", N + 1)
    assert not ward_rounds.possible(points, N)


# What the device finds ---------------------------------------------------------------------------


def described(rows: np.ndarray) -> tuple[int, np.ndarray]:
    """How many records a group has, and its centroid."""
    return len(rows), np.array([math.fsum(column) for column in rows.T]) / len(rows)


def first_pair(groups: dict[int, tuple[int, np.ndarray]], i: int, k: int) -> tuple[float, int]:
    """The rise and the other group of the first pair that a group could make, by trying all."""
    n, target = groups[i]
    offers = []
    for j, (m, centroid) in groups.items():
        if j != i and (n < k or m < k):
            square = float(np.cumsum((centroid - target) ** 2)[-1])
            above = n > 1 or j > i  # a single record takes the lowest group above it
            offers.append((n * m / (n + m) * square, not above, j))
    rise, _, other = min(offers, default=(np.inf, False, NONE))
    return rise, other


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_found_is_the_first_after_its_event(kind, monkeypatch):
    """Pairs, sums and boxes, in every round of a run."""
    points = make_table(kind, size(12, 60), 2, seed=8)
    members = {i: [i] for i in range(len(points))}
    usual = ward_rounds._Rounds._search
    events_seen = 0

    def search(self, work, events, moves, mergers, shrink=False):
        nonlocal events_seen
        live = set(np.flatnonzero(self.pairs.group["size"]).tolist())
        for j in sorted(set(members) - live):
            target = int(self.pairs.into[j])
            members[target] = members[target] + members.pop(j)
        assert {i: len(m) for i, m in members.items()} == {
            i: int(self.pairs.group["size"][i]) for i in live
        }
        plan = work[:events].copy()
        found = usual(self, work, events, moves, mergers, shrink)
        groups = {i: described(points[m]) for i, m in members.items()}
        after = dict(members)
        for e in range(events):
            i, j = int(plan[e, OWNER]), int(plan[e, OTHER])
            if j >= 0:
                after[i] = after[i] + after.pop(j)
                groups.pop(j)
                groups[i] = described(points[after[i]])
            rise, other = first_pair(groups, i, K)
            assert found[0, e] == rise
            assert rise == np.inf or found[1, e] == other
            events_seen += 1
        return found

    monkeypatch.setattr(ward_rounds._Rounds, "_search", search)
    check(points, K)
    assert events_seen > len(points)


@pytest.mark.parametrize("kind", KINDS)
def test_boxes_hold_their_groups(kind, monkeypatch):
    """After a refresh exactly, before it at least."""
    usual = ward_rounds._Rounds._search
    levels_seen = set()

    def search(self, work, events, moves, mergers, shrink=False):
        found = usual(self, work, events, moves, mergers, shrink)
        state = self.pairs.state
        assert events == state[EVENTS] or moves == state[MOVES] == 0
        inspect(self._tree, shrink)
        levels_seen.add(len(self._starts) - 1)
        return found

    def inspect(tree, exactly):
        width = 1
        for level in range(len(tree.start) - 1):
            for b in range(tree.start[level], tree.start[level + 1]):
                for lane in range(LANES):
                    first = ((b - tree.start[level]) * LANES + lane) * width
                    names = tree.group[first : first + width, NAME]
                    there = names >= 0
                    sizes = tree.group[first : first + width, HELD][there]
                    rows = tree.value[first : first + width].transpose(0, 2, 1)[there]
                    kind = tree.kind[b, :, lane]
                    names = names[there]
                    few = names[sizes < K]
                    bounds = [
                        (kind[LOWEST], names.min(initial=NONE), 1),
                        (kind[SMALL], few.min(initial=NONE), 1),
                        (kind[HIGHEST], names.max(initial=-1), -1),
                        (kind[LEAST], sizes.min(initial=MANY), 1),
                    ]
                    for v in range(tree.low.shape[1]):
                        bounds.append((tree.low[b, v, lane], rows[:, v].min(initial=np.inf), 1))
                        bounds.append((tree.high[b, v, lane], rows[:, v].max(initial=-np.inf), -1))
                    for bound, value, sign in bounds:
                        assert bound == value if exactly else sign * bound <= sign * value
            width *= LANES

    monkeypatch.setattr(ward_rounds._Rounds, "_search", search)
    monkeypatch.setattr(ward_rounds, "EVENTS_AT_ONCE", (2, size(6, 200)))
    check(make_table(kind, size(20, 1100), 2, seed=9), K)
    assert max(levels_seen) > 1


# The most distant pair ---------------------------------------------------------------------------


@pytest.fixture
def pairs_of_few_records(monkeypatch):
    monkeypatch.setattr(rounds, "FEW", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_most_distant_pair(kind):
    for n, d in ((2, 1), (size(17, 300), 2), (size(12, 150), size(5, 40))):
        points = make_table(kind, n, d, seed=n)
        squares = np.cumsum((points[:, None] - points[None]) ** 2, axis=2)[:, :, -1]
        low, high = np.triu_indices(n, 1)
        first = np.argmax(squares[low, high])
        expected = squares[low[first], high[first]], low[first], high[first]
        assert distant.most_distant_pair(points) == expected


def test_few_pairs_are_looked_at(monkeypatch):
    points = make_table("random", size(40, 400), 3, seed=10)
    launches = []
    monkeypatch.setattr(distant, "launch", lambda kernel, blocks, *given: launches.append(given))
    distant.most_distant_pair(points)
    until = launches[0][2]
    assert np.maximum(until - np.arange(len(until)) - 1, 0).sum() < len(points) ** 2 / 20


@pytest.mark.parametrize("most", [0, distant.PAIRS])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_extreme_groups(kind, descending, most, monkeypatch, pairs_of_few_records):
    monkeypatch.setattr(distant, "PAIRS", most)
    for n in (2 * K, size(17, 150)):
        points, within = make_table(kind, n, 2, seed=11), np.zeros(n, dtype=np.int64)
        expected = generic.extreme_groups(points, within, K, descending)
        found = fixed_size.extreme_groups(points, within, K, descending)
        assert found.tolist() == expected.tolist()


# The method --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_kward(kind, monkeypatch, pairs_of_few_records):
    monkeypatch.setattr(ward, "_merge_by_looks", LOOKS)
    for module in (rounds, ward_rounds):
        monkeypatch.setattr(module, "FEW", size(12, 60))
    monkeypatch.setattr(ward_rounds, "EVENTS_AT_ONCE", (4, size(8, 64)))
    points = make_table(kind, size(26, 250), 2, seed=12)
    expected = kward(points, K, engine="generic")
    assert kward(points, K, engine="cuda").tolist() == expected.tolist()
