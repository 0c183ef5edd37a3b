"""Refinement, the method `best`, and the operations of engines that they use."""

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.libraries import ARRAY_LIBRARIES
from helpers.methods import best, refine_points, state_of
from helpers.strategies import KINDS, cases, make_table
from microagg_gpu import InputError, measures, microaggregate, refine
from microagg_gpu.data.labels import by_first_record
from microagg_gpu.kernels import cpu, generic
from microagg_gpu.methods import annealing
from microagg_gpu.methods.annealing import neighbour_lists
from microagg_gpu.methods.mdav import mdav
from microagg_gpu.methods.vmdav import vmdav
from reference.brute import optimum

TINY = 1e-9
portfolio = import_module("microagg_gpu.methods.best")  # in its package the name is the function's


def random_groups(n, k, seed):
    """Labels of n records in random groups of k to 2k - 1."""
    rng = np.random.default_rng(seed)
    labels = np.empty(n, dtype=np.int64)
    labels[rng.permutation(n)] = np.minimum(np.arange(n) // k, n // k - 1)
    return labels


@given(cases(most=400), st.integers(0, 99))
def test_best_moves_of_every_engine_agree_and_rise_as_measured(case, seed):
    points, k = case.data, min(case.k, max(1, len(case.data) // 2))
    labels = random_groups(len(points), k, seed)
    near, _ = neighbour_lists(points, k, None, generic)
    records = np.arange(len(points))[::-1].copy()
    least = TINY * (1 + measures.sst(points))
    given_state = (state_of(points, labels, k), near, records, k, least)
    slow, fast = generic.best_moves(points, *given_state), cpu.best_moves(points, *given_state)
    for a, b in zip(slow, fast, strict=True):
        assert a.tolist() == b.tolist()
    before = measures.sse(points, labels)
    for i, rise, group, other in zip(records, *fast, strict=True):
        if group < 0:
            assert rise == np.inf
            continue
        after = labels.copy()
        after[i] = group
        if other >= 0:
            assert labels[other] == group
            after[other] = labels[i]
        assert np.bincount(after).min() >= k
        assert measures.sse(points, after) - before == pytest.approx(
            rise, rel=1e-6, abs=1e-9 * (1 + measures.sst(points))
        )


@pytest.mark.parametrize("library", ARRAY_LIBRARIES)
def test_best_moves_on_other_arrays(library):
    xp = pytest.importorskip(library)
    points, k = make_table("random", 40, 3, 1), 3
    labels = random_groups(40, k, 0)
    near, _ = neighbour_lists(points, k, None, cpu)
    state, rest = state_of(points, labels, k), (np.arange(40), k, TINY)
    ours = generic.best_moves(xp.asarray(points), state, xp.asarray(near), *rest)
    for a, b in zip(ours, cpu.best_moves(points, state, near, *rest), strict=True):
        assert a.tolist() == b.tolist()


@given(cases(most=600), st.integers(0, 99))
def test_refinement_never_loses_and_ends_in_a_local_optimum(case, seed):
    points, k = case.data, case.k
    start = random_groups(len(points), k, seed)
    if seed % 2:  # groups of any size from k
        start = start // 3
    found = refine_points(points, start, k, steps=20, seed=seed)
    labels = found.labels
    sizes = np.bincount(labels)
    assert found.stopped is None
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    slack = 1e-9 * (1 + measures.sst(points))
    assert measures.sse(points, labels) <= measures.sse(points, start) + slack
    if k > 1:
        near, _ = neighbour_lists(points, k, None, cpu)
        _, group, _ = cpu.best_moves(
            points, state_of(points, labels, k), near, np.arange(len(points)), k, slack
        )
        assert (group < 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_and_steps_same_groups(kind):
    points = make_table(kind, 300, 3, 0)
    start = random_groups(300, 4, 0)
    one, two = (refine_points(points, start, 4, steps=50, seed=3).labels for _ in range(2))
    assert one.tolist() == two.tolist()


def test_number_of_threads_does_not_matter():
    numba = pytest.importorskip("numba")
    points, start = make_table("random", 1500, 3, 0), random_groups(1500, 4, 0)
    many = refine_points(points, start, 4, steps=20).labels
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        one = refine_points(points, start, 4, steps=20).labels
    finally:
        numba.set_num_threads(threads)
    assert one.tolist() == many.tolist()


def test_processor_does_not_matter():
    """The same groups without the instructions that NumPy and BLAS choose by the processor."""
    code = (
        "from methods.test_refine import make_table, random_groups, refine_points\n"
        "points, start = make_table('grid', 600, 3, 0), random_groups(600, 4, 0)\n"
        "print(refine_points(points, start, 4, steps=5).labels.tolist())"
    )
    plain = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(np._core._multiarray_umath.__cpu_dispatch__),
        "OPENBLAS_CORETYPE": "Prescott",
    }
    one, two = (
        subprocess.run(
            [sys.executable, "-c", code], cwd=Path(__file__).parents[1], env=os.environ | given,
            capture_output=True, text=True, check=True,
        ).stdout
        for given in ({}, plain)
    )  # fmt: skip
    assert one == two


@pytest.mark.parametrize("kind", KINDS)
def test_engines_refine_alike(kind):
    points, start = make_table(kind, 50, 3, 0), random_groups(50, 3, 0)
    fast, slow = (
        refine_points(points, start, 3, steps=10, engine=engine).labels
        for engine in ("cpu", "generic")
    )
    assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize("library", ARRAY_LIBRARIES)
def test_other_arrays_are_refined_alike(library):
    xp = pytest.importorskip(library)
    points, start = make_table("random", 50, 3, 0), random_groups(50, 3, 0)
    ours = refine_points(xp.asarray(points), start, 3, steps=10).labels
    assert ours.tolist() == refine_points(points, start, 3, steps=10).labels.tolist()


def test_cells_are_never_crossed():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 2))
    cells = rng.integers(0, 3, size=400)
    start = np.empty(400, dtype=np.int64)
    for c in range(3):
        inside = np.flatnonzero(cells == c)
        start[inside] = 1000 * c + random_groups(len(inside), 4, c)
    labels = refine_points(points, start, 4, steps=100, cells=cells).labels
    for g in range(labels.max() + 1):
        assert len(set(cells[labels == g])) == 1


def test_optimum_of_few_records_is_found():
    """200 random sets of at most 12 records, against all partitions."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, d, k = rng.integers(4, 13), rng.integers(2, 5), rng.integers(2, 5)
        k = min(k, n)
        points = make_table(KINDS[seed % len(KINDS)], int(n), int(d), seed)
        labels = best(points, int(k), steps=2000)
        least, _ = optimum(points, int(k))
        scale = 1e-9 * (1 + measures.sst(points))
        assert measures.sse(points, labels) <= least * (1 + 1e-9) + scale, (seed, n, d, k)


@settings(max_examples=30)
@given(st.integers(3, 11), st.integers(2, 4), st.integers(2, 4), st.integers(0, 10**6))
def test_bound_of_a_result_is_below_its_loss_and_the_optimum(n, d, k, seed):
    points = make_table("random", n, d, seed)
    k = min(k, n)
    result = microaggregate(points, k, refine_steps=50, standardize=False)
    bound = result.bound()
    least = 100 * optimum(points, k)[0] / measures.sst(points)
    assert 0 <= bound.loss <= least * (1 + 1e-12)
    assert least <= result.loss * (1 + 1e-9)
    assert 0 <= bound.gap <= 100


def test_one_variable_is_solved_exactly():
    values = make_table("random", 80, 1, 0)
    found_by = []
    result = microaggregate(values, 4, "optimal", standardize=False)
    found = best(values, 4, found_by=found_by)
    assert measures.sse(values, found) == pytest.approx(result.sse, rel=1e-12)
    assert found_by == ["optimal"]


def test_microaggregate_with_refinement_tells_what_it_did():
    data = make_table("clustered", 200, 3, 0)
    plain = microaggregate(data, 4)
    seen = []
    result = microaggregate(data, 4, refine_steps=200, watch=lambda f, x: seen.append((f, x)))
    assert result.loss < plain.loss
    assert result.refined.before == pytest.approx(plain.loss)
    assert str(result.refined).startswith("from a loss of")
    fractions, losses = zip(*seen, strict=True)
    assert list(fractions) == sorted(fractions)
    assert list(losses) == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(plain.loss)
    assert result.loss <= losses[-1] * (1 + 1e-9)


def test_refine_by_strata_and_missing_values():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 3))
    data[:60, 1] = np.nan
    stratum = np.repeat([0.0, 1.0, 2.0], 100)
    table = np.column_stack([data, stratum])
    plain = microaggregate(table, 3, by=[3], missing="pattern")
    result = microaggregate(table, 3, by=[3], missing="pattern", refine_steps=300)
    assert result.loss < plain.loss
    assert result.bound().loss < result.loss
    for g in range(result.labels.max() + 1):
        rows = result.labels == g
        assert len(set(stratum[rows])) == 1
        assert len(set(np.isnan(data[rows, 1]))) == 1


def test_refine_takes_groups_of_another_tool():
    data = make_table("random", 100, 2, 0)
    labels = 7 * random_groups(100, 5, 0) + 3
    result = refine(data, labels, 5, steps=100)
    assert result.loss < measures.information_loss(
        (data - data.mean(axis=0)) / data.std(axis=0), labels
    )
    assert result.sizes.min() >= 5
    assert result.method == "given"


def test_best_tells_what_won():
    result = microaggregate(make_table("random", 120, 3, 0), 4, "best", steps=100)
    assert result.found_by.endswith("refined")
    assert result.loss < microaggregate(make_table("random", 120, 3, 0), 4).loss


def test_ctrl_c_returns_the_best_so_far():
    data = make_table("random", 400, 3, 0)
    plain = microaggregate(data, 4)
    seen = []

    def watch(fraction, _):
        seen.append(fraction)
        if len(seen) == 5:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of a shell ignore it
    try:
        result = microaggregate(data, 4, refine=100_000, watch=watch)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(seen) == 5
    assert 0 < result.refined.stopped < 0.5
    assert result.loss < plain.loss
    assert "stopped" in str(result.refined)


@given(cases(most=200), st.integers(0, 99))
def test_combined_groups_are_those_of_the_better_wherever_both_agree_on_a_part(case, seed):
    points, k = case.data, case.k
    parts = np.maximum(random_groups(len(points), 3 * k, seed), 0)  # each divided twice by itself
    one, other = np.empty_like(parts), np.empty_like(parts)
    for part in range(parts.max() + 1):
        inside = np.flatnonzero(parts == part)
        for labels, number in ((one, seed), (other, seed + 1)):
            labels[inside] = 1000 * part + random_groups(len(inside), k, number)
    one, other = (np.unique(labels, return_inverse=True)[1] for labels in (one, other))
    both = portfolio.combined(points, one, other)
    groups = {frozenset(np.flatnonzero(labels == g)) for labels in (one, other) for g in labels}
    assert all(frozenset(np.flatnonzero(both == g)) in groups for g in both)
    within = sum(
        min(measures.sse(points[parts == part], labels[parts == part]) for labels in (one, other))
        for part in range(parts.max() + 1)
    )
    assert measures.sse(points, both) <= within * (1 + 1e-9) + 1e-9 * (1 + measures.sst(points))


def interrupted(*_args, **_kwargs):
    """Stand for an operation in which Ctrl-C is pressed."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["neighbour_lists", "_descent"])
def test_ctrl_c_before_and_after_annealing_returns_the_best_so_far(monkeypatch, where):
    points, start = make_table("random", 300, 3, 0), random_groups(300, 4, 0)
    monkeypatch.setattr(annealing, where, interrupted)
    found = refine_points(points, start, 4, steps=20)
    assert found.stopped is not None
    assert np.bincount(found.labels).min() >= 4
    improved = measures.sse(points, found.labels) < measures.sse(points, start)
    assert improved == (where == "_descent")


def test_ctrl_c_in_a_starting_method_returns_the_best_of_those_before(monkeypatch):
    points, found_by = make_table("random", 100, 3, 0), []
    starts = {"mdav": (mdav, np.inf), "other": (interrupted, np.inf)}
    monkeypatch.setattr(portfolio, "_STARTS", starts)
    assert best(points, 4, found_by=found_by).tolist() == mdav(points, 4, engine=cpu).tolist()
    assert found_by == ["mdav of mdav"]
    monkeypatch.setattr(portfolio, "_STARTS", {"other": (interrupted, np.inf)})
    with pytest.raises(KeyboardInterrupt):
        best(points, 4)


class Clock:
    """Seconds that pass only when somebody says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_best_breaks_off_a_method_that_would_take_too_long(monkeypatch):
    clock = Clock()

    def slow(points, k, *, engine, progress):
        for part in range(1, 101):
            clock.now += 0.3
            progress(part / 100)
        return np.zeros(len(points), dtype=np.int64)

    monkeypatch.setattr(portfolio, "clock", clock)
    starts = {"mdav": (mdav, np.inf), "slow": (slow, 0.5), "fast": (vmdav, 0.1)}
    monkeypatch.setattr(portfolio, "_STARTS", starts)
    monkeypatch.setattr(portfolio, "_ROUNDS", 0)
    found_by = []
    best(make_table("random", 100, 3, 0), 4, seconds=40.0, found_by=found_by)
    assert found_by[0].endswith("of mdav, fast")
    assert clock.now < 3
    best(make_table("random", 100, 3, 0), 4, seconds=100.0, found_by=found_by)
    assert found_by[1].endswith("of mdav, slow")  # then there is no time for the other


@pytest.mark.parametrize("seconds", [1.0, 30.0, 600.0])
@pytest.mark.parametrize("overhead", [1e-4, 0.05, 0.5])
@pytest.mark.parametrize("step", [1e-4, 1e-2, 0.1])
def test_a_budget_of_seconds_is_kept(monkeypatch, seconds, overhead, step):
    """Sweeps of known cost: where 15 fit in, there are enough, and the last ends in time."""
    clock = Clock()
    monkeypatch.setattr(annealing, "clock", clock)
    budget, sweeps = annealing._Budget(seconds, None), 0
    while budget.gone() < 1:
        took = overhead + step * budget.sweep
        clock.now += took
        budget.spend(took, overhead)
        sweeps += 1
    assert sweeps <= 250
    if 100 * (overhead + 3 * step) < seconds:
        assert sweeps >= 10
        assert clock.now < seconds
        assert clock.now + overhead + step * budget.quench() < seconds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "individual", "refine": 1}, "individual ranking has no groups"),
        ({"refine": -1}, "refine=-1 must be a finite number of 0 or more"),
        ({"refine": "long"}, "refine='long' must be a finite number"),
        ({"refine_steps": 1.5}, "refine_steps=1.5 must be a whole number"),
        ({"refine": 1, "seed": -1}, "seed=-1"),
        ({"method": "best", "seconds": -1.0}, "seconds=-1.0"),
        ({"method": "best", "hours": 1}, "has no option 'hours': it takes seconds, steps"),
    ],
)
def test_bad_requests(given, message):
    with pytest.raises(InputError, match=message):
        microaggregate(make_table("random", 20, 2, 0), 3, **given)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0] * 19, "labels must be 20 whole numbers"),
        ([0.5] * 20, "labels must be 20 whole numbers"),
        ([0] * 18 + [1] * 2, "1 of the 2 given groups have fewer than k=3"),
    ],
)
def test_bad_labels(labels, message):
    with pytest.raises(InputError, match=message):
        refine(make_table("random", 20, 2, 0), labels, 3)


def test_bound_needs_groups_of_whole_records():
    result = microaggregate(make_table("random", 20, 2, 0), 3, "individual")
    with pytest.raises(InputError, match="individual ranking"):
        result.bound()


def test_given_groups_must_not_cross_strata():
    data = make_table("random", 12, 3, seed=0)
    data[:, 2] = [0, 1] * 6
    with pytest.raises(InputError, match="a given group has records of several strata"):
        refine(data, np.arange(12) // 4, 3, columns=[0, 1], by=2, steps=1)
    alone = np.arange(12) % 2
    assert refine(data, alone, 3, columns=[0, 1], by=2, steps=1).loss <= 100


def test_numbers_of_groups_do_not_matter():
    """Equal partitions end in equal ones, whatever their groups are called."""
    points = np.random.default_rng(3).normal(size=(120, 3))
    labels = np.random.default_rng(4).permutation(120) % 30
    other = np.random.default_rng(5).permutation(30)[labels]
    refined = [
        annealing.refine(points, names, 3, steps=20, engine=cpu).labels for names in (labels, other)
    ]
    assert (by_first_record(refined[0])[0] == by_first_record(refined[1])[0]).all()
