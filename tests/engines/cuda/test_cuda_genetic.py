"""The genetic algorithm on the device against the generic engine, to the bit of every draw."""

import numpy as np
import pytest
from numba import cuda

from helpers.simulators import SIMULATOR, size
from helpers.strategies import KINDS, make_table
from microagg_gpu.kernels import generic
from microagg_gpu.kernels.arguments import Evolution
from microagg_gpu.kernels.cuda import genetic, launching
from microagg_gpu.kernels.cuda.genetic_kernels import (
    cross_stretches,
    look_ahead,
    write_repaired,
)
from microagg_gpu.kernels.cuda.philox import draw, round_keys, whole_below
from microagg_gpu.kernels.generic import genetic as reference

EVOLUTION = Evolution(
    population=5, generations=4, convergence="average", pcross=0.6, pmut=0.05, seed=1
)


def check(values: np.ndarray, k: int, progress=None, **options) -> np.ndarray:
    """The best string by both engines, of ranked values or of records in any order."""
    n = len(values)
    centred = np.sort(values, axis=0).astype(float) - values.mean(axis=0)
    prefix = np.concatenate([0 * centred[:1], np.cumsum(centred, axis=0)]).astype(values.dtype)
    first = np.cumsum(np.full(n // k, k))
    evolution = EVOLUTION._replace(**options)
    expected = generic.evolve(prefix, first, k, evolution)
    found = genetic.evolve(prefix, first, k, evolution, progress)
    assert found.dtype == np.int64
    assert found.tolist() == [*expected[expected < n].tolist(), n]
    return found


@cuda.jit
def some_draws(keys, generation, m, draws, below):
    for p in range(cuda.grid(1), draws.shape[0], cuda.gridsize(1)):
        draws[p] = draw(keys, generation, p)
        below[p] = whole_below(draws[p], m)


@pytest.mark.parametrize(
    ("seed", "generation", "m"),
    [(0, 0, 1), (1, 3, 7), (2**64 - 1, 200, 10**7), (2**127 + 2**63, 10**6, 2**36 - 1)],
)
def test_draws_are_those_of_numpy(seed, generation, m):
    draws, below = np.empty((2, 41), dtype=np.int64)
    some_draws[2, 4](round_keys(seed), generation, m, draws, below)
    expected = reference.draws(seed, generation).random(len(draws))
    assert (draws / 2.0**53).tolist() == expected.tolist()
    assert below.tolist() == reference.whole_below(expected, m).tolist()
    assert below.tolist() == [bits * m >> 53 for bits in draws.tolist()]


@cuda.jit
def repair(bits, ahead, exits, n, k, stretch, repaired):
    look_ahead(bits, ahead)
    cuda.syncthreads()
    cross_stretches(bits, ahead, exits, n, k, stretch)
    cuda.syncthreads()
    write_repaired(bits, ahead, exits, n, k, stretch, repaired)


@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.3, 0.9, 1])
def test_repair(share):
    """Any string, in any number of stretches, as the generic engine has it place by place."""
    rng = np.random.default_rng(int(100 * share))
    for n in (1, 31, 32, 33, 64, size(100, 400)):
        for k in {k for k in (1, 2, 5, 16, n // 3, n // 2, n) if 1 <= k <= n}:
            for stretch in {32 * -(-2 * k // 32), 32 * (-(-2 * k // 32) + 1)}:
                strings = [np.flatnonzero(rng.random(n) < share) for _ in range(2)]
                bits = np.stack([genetic._bits(places, n) for places in strings])
                ahead = np.empty((2, bits.shape[1] + 1), dtype=np.int64)
                exits = np.empty((2, max(n // stretch - 1, 1), 2 * k - 1), dtype=np.int64)
                repaired = np.empty_like(bits)
                repair[1, size(2, 64)](bits, ahead, exits, n, k, stretch, repaired)
                for places, words in zip(strings, repaired, strict=True):
                    found = np.flatnonzero(genetic._unpacked(words)).tolist()
                    assert found == reference.repair(places.tolist(), n, k)


@pytest.mark.parametrize("convergence", ["average", "maximal"])
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_evolve(kind, real, convergence):
    for n, k in ((1, 1), (2, 1), (9, 2), (size(35, 200), 3)):
        values = make_table(kind, n, 1, seed=n)[:, 0].astype(real)
        check(values, k, convergence=convergence, seed=n)


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_several_variables(kind, real):
    for n, d, k in ((1, 2, 1), (9, 33, 2), (size(35, 200), 3, 3)):
        check(make_table(kind, n, d, seed=n).astype(real), k, seed=n)


def test_k_is_1_and_n_and_between():
    values = make_table("random", size(50, 140), 1, seed=1)[:, 0]
    for k in (1, 2, len(values) // 2, len(values) // 2 + 1, len(values) - 1, len(values)):
        check(values, k)


@pytest.mark.parametrize("pmut", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("pcross", [0.0, 1.0])
@pytest.mark.parametrize("population", [2, 7, size(8, 20)])
def test_probabilities_and_populations(population, pcross, pmut):
    values = make_table("clustered", size(36, 130), 1, seed=2)[:, 0]
    check(values, 3, population=population, pcross=pcross, pmut=pmut, generations=3)


def test_standstill_ends_the_search():
    """Where all values are equal, so is all fitness: the second generation is the last."""
    fractions: list[float] = []
    check(np.full(40, 0.3), 3, generations=50, progress=fractions.append)
    values = make_table("random", 12, 1, seed=3)[:, 0]
    for seed in range(3):  # few groupings of few records: the maximum soon stands still
        check(values, 3, generations=50, seed=seed, convergence="maximal")


def test_one_generation_a_launch(monkeypatch):
    """What a launch leaves is what the next one needs; the host hears of every one."""
    monkeypatch.setattr(genetic, "_BITS_PER_LAUNCH", 1)
    values = make_table("random", size(40, 90), 1, seed=4)[:, 0]
    fractions: list[float] = []
    check(values, 3)
    prefix = np.concatenate([[0.0], np.cumsum(np.sort(values))])
    genetic.evolve(prefix, np.array([3]), 3, EVOLUTION, fractions.append)
    assert fractions == [g / 4 for g in range(len(fractions))]
    assert len(fractions) > 1


@pytest.mark.skipif(SIMULATOR, reason="Numba's simulator cannot synchronise blocks")
@pytest.mark.parametrize("blocks", [1, 2, 3, 4])
def test_any_number_of_blocks(blocks, monkeypatch):
    monkeypatch.setattr(genetic, "team_blocks", lambda records: blocks)
    for population in (2, 5):
        values = make_table("random", 300, 1, seed=5)[:, 0]
        check(values, 4, population=population)


def test_launches(monkeypatch):
    """All generations of a small table are one launch."""
    monkeypatch.setattr(launching, "LAUNCHES", [])
    check(make_table("random", 30, 1, seed=6)[:, 0], 3)
    assert launching.LAUNCHES is not None
    assert len(launching.LAUNCHES) == 1
