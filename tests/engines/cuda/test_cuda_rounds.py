"""MDAV and V-MDAV in rounds: answers against NumPy, labels against the generic engine."""

import numpy as np
import pytest

from helpers.methods import mdav, vmdav
from helpers.simulators import PTXRUN, SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels.cuda import boxes, fixed_size, rounds
from microagg_gpu.kernels.cuda import round_kernels as kernels
from microagg_gpu.kernels.cuda.launching import launch
from microagg_gpu.kernels.cuda.replay_kernels import Listed
from microagg_gpu.kernels.cuda.team import THREADS

# What a step is made of differs from method to method; gamma 1.1 extends nearly every group.
METHODS = {"mdav": (), "vmdav 0.2": (0.2,), "vmdav 1.1": (1.1,)}
HARDEST = ("grid", "clustered", "duplicated")
FEW, K = size(22, 300), 3


@pytest.fixture(autouse=True)
def rounds_of_few_records(monkeypatch):
    """Rounds of any number of records, and several of them."""
    monkeypatch.setattr(rounds, "FEW", 0)
    monkeypatch.setattr(rounds, "BATCH", (size(3, 24), size(3, 24)))
    monkeypatch.setattr(rounds, "FOUND", size(8, 120))
    monkeypatch.setattr(rounds, "ENDS", (size(2, 8),) * 2)


def as_partition(labels: np.ndarray) -> list[int]:
    """Groups numbered in order of their first record."""
    names: dict[int, int] = {}
    return [names.setdefault(int(label), len(names)) for label in labels]


def check(name: str, points: np.ndarray, k: int, **options) -> None:
    gamma = METHODS[name]
    if gamma:
        found = fixed_size.vmdav_groups(points, k, *gamma, **options)
        expected = vmdav(points, k, gamma=gamma[0], engine="generic")
    else:
        found = fixed_size.mdav_groups(points, k, **options)
        expected = mdav(points, k, engine="generic")
    assert as_partition(found) == as_partition(expected)


@pytest.fixture
def only_rounds(monkeypatch):
    """No loop over all records may help."""
    monkeypatch.setattr(rounds, "SEARCHES_PER_STEP", np.inf)
    monkeypatch.setattr(fixed_size, "_Loop", None)


# Whole methods ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
def test_labels(name, kind):
    check(name, make_table(kind, FEW, 3, seed=1), K)


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
@pytest.mark.parametrize("kind", ["clustered", "random"])
@pytest.mark.parametrize("name", METHODS)
def test_labels_of_more_records(name, kind, only_rounds):
    check(name, make_table(kind, 1500, 10, seed=1), 5)


@pytest.mark.skipif(SIMULATOR, reason="too many variables for Numba's simulator")
@pytest.mark.parametrize("name", METHODS)
def test_labels_of_many_variables(name, only_rounds):
    check(name, make_table("clustered", 200, 70, seed=1), 4)


@pytest.mark.parametrize("name", METHODS)
def test_as_many_records_a_group_as_lanes(name):
    k = rounds.LANES
    check(name, make_table("grid", 5 * k + 1, 2, seed=2), k)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("name", METHODS)
def test_few_records(name, n):
    points = make_table("random", n, 2, seed=n)
    for k in (1, 2, n):
        if k <= n:
            check(name, points, k)


@pytest.mark.parametrize("schedule", range(3 if PTXRUN else 1))
@pytest.mark.parametrize("name", METHODS)
def test_any_schedule(name, schedule, only_rounds):
    check(name, make_table("duplicated", FEW, 2, seed=3), 4)


def test_values_that_are_too_large_or_too_small_for_squares_are_left_to_loops():
    points = make_table("random", FEW, 2, seed=3)
    assert rounds.possible(points, K)
    assert rounds.possible(points * 1e100, K)
    for scale in (1e-200, 1e160):
        assert not rounds.possible(points * scale, K)
    assert not rounds.possible(points.astype(np.float32), K)
    assert not rounds.possible(points, rounds.LANES + 1)


@pytest.mark.parametrize("name", METHODS)
def test_an_outlier(name):
    """All others are the same in single precision, in units of its distance."""
    points = make_table("random", FEW, 2, seed=4)
    points[FEW // 2] = 1e12
    check(name, points, K)


@pytest.mark.parametrize("name", METHODS)
def test_progress(name):
    told: list[float] = []
    check(name, make_table("random", FEW, 2, seed=5), K, progress=told.append)
    assert len(told) > 1
    assert told == sorted(told)
    assert 0 < told[-1] <= 1


@pytest.mark.parametrize("name", METHODS)
def test_the_rest_is_left_to_a_loop(name, monkeypatch):
    """Where lists say nothing, as of equal records; here always."""
    monkeypatch.setattr(rounds, "WINDOW", 1)
    monkeypatch.setattr(rounds, "SEARCHES_PER_STEP", 0)
    told: list[float] = []
    for kind in ("grid", "clustered"):
        told.clear()
        check(name, make_table(kind, FEW, 2, seed=6), K, progress=told.append)
        assert told == sorted(told)


@pytest.mark.skipif(SIMULATOR, reason="too many records for Numba's simulator")
def test_equal_records_are_left_to_a_loop():
    points = np.full((700, 2), 0.3)
    points[350] = 1.0
    outcome = rounds.mdav(points, 3)
    assert not outcome.done
    assert outcome.groups < 700 // 4
    check("mdav", points, 3)


# Answers that are of little use -----------------------------------------------------------------


@pytest.mark.parametrize("kind", HARDEST)
@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("LISTED", 1),
        ("FARTHEST", 1),
        ("FOUND", 1),  # no rows of farthest records
        ("ENDS", (0, 0)),
        ("MEMBERS", 1),
        ("NEAR", (0, 0)),  # k - 1 nearest, of which one may leave
        ("BATCH", (1, 1)),
        ("STEPS_PER_LAUNCH", 1),
        ("QUERIES_PER_LAUNCH", 2),
    ],
)
def test_answers_that_are_of_little_use(what, value, kind, monkeypatch, only_rounds):
    monkeypatch.setattr(rounds, what, value)
    points = make_table(kind, size(14, 60), 2, seed=7)
    for name in METHODS:
        check(name, points, K)


@pytest.mark.parametrize("kind", HARDEST)
def test_records_that_are_not_asked_about(kind, monkeypatch, only_rounds):
    """The innermost ones are foreseen, besides the first, which is sure."""

    def foreseen(self, order):
        return np.concatenate([order[:1], order[1:][::-1][:4]])

    monkeypatch.setattr(rounds._Mdav, "_foreseen", foreseen)
    check("mdav", make_table(kind, size(14, 60), 2, seed=8), K)


@pytest.mark.parametrize("kind", HARDEST)
def test_answers_of_records_that_have_left(kind, monkeypatch, only_rounds):
    """Rows are found once, and kept until half of the records have left."""
    usual = rounds._Mdav._farthest
    kept = {}

    def farthest(self, batch, listed):
        if kept.get("n") != self.n:
            kept.update(n=self.n, far=usual(self, batch, listed), batch=batch)
        far = np.full((len(batch), kept["far"].shape[1]), -1)
        for q, r in enumerate(batch):
            if r in kept["batch"]:
                far[q] = kept["far"][list(kept["batch"]).index(r)]
        return far

    monkeypatch.setattr(rounds._Mdav, "_farthest", farthest)
    check("mdav", make_table(kind, size(14, 70), 2, seed=9), K)


@pytest.mark.parametrize("kind", HARDEST)
@pytest.mark.parametrize("towards", [-np.inf, np.inf])
def test_limits_that_are_off_by_a_unit(towards, kind, monkeypatch, only_rounds):
    def launched(kernel, blocks, *arguments):
        launch(kernel, blocks, *arguments)
        if kernel is kernels.find_limits:
            arguments[-1][:] = np.nextafter(arguments[-1], np.float32(towards))

    monkeypatch.setattr(rounds, "launch", launched)
    check("mdav", make_table(kind, size(14, 70), 2, seed=10), K)


# Answers ----------------------------------------------------------------------------------------


def some_left(kind: str, n: int, d: int) -> tuple[rounds._Mdav, np.ndarray]:
    """Records of which a third have left, and their squared distances in order of variables."""
    points = make_table(kind, n, d, seed=11)
    state = rounds._Mdav(points, K, 3 * K, None)
    state._records.label[np.random.default_rng(0).random(n) < 0.3] = 0
    squares = np.zeros((n, n))
    for v in range(d):
        squares += (points[:, None, v] - points[None, :, v]) ** 2
    squares[:, state._records.label >= 0] = np.nan
    return state, squares


def in_order(distances: np.ndarray, sign: float, own: int = -1) -> np.ndarray:
    """Records by distance and then by index, without those at NaN and one's own."""
    order = np.argsort(sign * distances, kind="stable")
    return order[~np.isnan(distances[order]) & (order != own)]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_farthest_records(kind, monkeypatch):
    monkeypatch.setattr(rounds, "FOUND", size(8, 400))
    for n, d in [(size(9, 70), 2), (size(70, 1300), 3), (size(40, 600), size(3, 40))]:
        state, squares = some_left(kind, n, d)
        keys = state._find_keys(state._sums.centroid, 0)
        order = np.argsort(-keys, kind="stable")
        listed = Listed(order, keys[order], state._sums.centroid)
        batch = order[: size(5, 11)]
        far = state._farthest(batch, listed)
        assert far.shape[1] >= 2 or n > 8
        for row, r in zip(far, batch, strict=True):
            expected = in_order(squares[r], -1.0)[: len(row)]
            if state._records.label[r] < 0 and row[0] >= 0:
                assert row.tolist() == expected.tolist() + [-1] * (len(row) - len(expected))
        if kind in ("random", "clustered") and not SIMULATOR:  # else there is too little room
            assert (far[: np.count_nonzero(keys[batch] >= 0), 0] >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_nearest_records(kind):
    for n, d in [(size(9, 70), 2), (size(20, 1300), 3)]:
        state, squares = some_left(kind, n, d)
        state._shrink()
        entries = np.array([0, 1, 0, -1, n - 1, n // 2, 1])
        rows = state._no_rows(len(entries), np.empty((0, 0), dtype=np.int64))
        state._answer(entries, rows, 0)
        for q, r in enumerate(entries):
            if r < 0 or state._records.label[r] >= 0 or rows.row[r] != q:
                assert (rows.near[q] == -1).all()
                continue
            expected = in_order(squares[r], 1.0, own=int(r))[: rows.near.shape[1]]
            missing = [-1] * (rows.near.shape[1] - len(expected))
            assert rows.near[q].tolist() == expected.tolist() + missing
        assert rows.row[0] == 0
        assert rows.row[1] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_boxes_shrink_to_what_remains(kind):
    n = size(90, 1300)
    state, _ = some_left(kind, n, 2)
    state._shrink()
    tree, label = state._tree, state._records.label
    width = 1
    for level in range(len(tree.start) - 1):
        for b in range(tree.start[level], tree.start[level + 1]):
            for lane in range(boxes.LANES):
                first = ((b - tree.start[level]) * boxes.LANES + lane) * width
                inside = tree.record[first : first + width].reshape(-1)
                inside = inside[inside >= 0]
                inside = inside[label[inside] < 0]
                if len(inside) == 0:
                    assert tree.low[b, 0, lane] == np.inf
                    assert tree.lowest[b, lane] == boxes.NONE
                    continue
                assert tree.lowest[b, lane] == inside.min()
                rows = state._points[inside]
                assert tree.low[b, :, lane].tolist() == rows.min(axis=0).tolist()
                assert tree.high[b, :, lane].tolist() == rows.max(axis=0).tolist()
        width *= boxes.LANES


def test_keys_are_distances_to_a_row():
    state, _ = some_left("random", FEW, 3)
    keys = np.empty(FEW)
    blocks = -(-FEW // THREADS)
    launch(kernels.find_keys, blocks, state._records, state._points, 2, keys)
    squares = np.cumsum((state._points - state._points[2]) ** 2, axis=1)[:, -1]
    assert keys.tolist() == np.where(state._records.label < 0, squares, -1.0).tolist()


@pytest.mark.skipif(not PTXRUN, reason="only compiled code has instructions")
@pytest.mark.parametrize("name", ["mdav", "vmdav 0.2"])
def test_a_step_takes_as_many_instructions_of_few_records_as_of_many(name, monkeypatch):
    """What is in the way of a card's speed is the one block that decides."""
    import ptxrun

    monkeypatch.setattr(rounds, "BATCH", (64, 64))
    monkeypatch.setattr(rounds, "FOUND", 2048)
    each = {}
    for n in (400, 1600):
        points = make_table("random", n, 3, seed=12)
        state = (
            rounds._Vmdav(points, 4, *METHODS[name], None)
            if METHODS[name]
            else rounds._Mdav(points, 4, 12, None)
        )
        ptxrun.reset()
        state.run()
        steps, searches = (int(state.known[i]) for i in (rounds.STEPS, rounds.SEARCHES))
        assert searches < steps / 4
        replays = [stats for kernel, stats in ptxrun.launches if "replay" in kernel]
        each[n] = sum(stats.instructions for stats in replays) / steps
        assert sum(stats.grid_syncs for stats in replays) == 0
    assert each[1600] < 1.25 * each[400]
