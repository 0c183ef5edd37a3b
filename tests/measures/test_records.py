"""The risk of each record, against loops that follow the definition."""

import numpy as np
import pytest

from microagg_gpu import InputError, measures, microaggregate
from microagg_gpu.measures import linkage_chances, record_risk


def naive_chance(known, row, published, own, stratum, cells):
    """The chance of one outside record, by looking at every published one."""
    absent = np.isnan(known[row])

    def fits(j):
        return cells[j] == stratum[row] and np.array_equal(np.isnan(published[j]), absent)

    there = [j for j in range(len(published)) if fits(j)]
    if own[row] not in there:
        return 0.0
    squares = {j: float(np.nansum((known[row] - published[j]) ** 2)) for j in there}
    least = min(squares.values())
    if squares[own[row]] > least:
        return 0.0
    nearest = {tuple(np.nan_to_num(published[j])) for j in there if squares[j] == least}
    mine = tuple(np.nan_to_num(published[own[row]]))
    size = sum(tuple(np.nan_to_num(published[j])) == mine for j in there)
    return 1 / (len(nearest) * size)


@pytest.mark.parametrize("seed", range(4))
def test_chances_against_loops(seed):
    rng = np.random.default_rng(seed)
    n, m = 40, 30
    original = rng.integers(0, 6, (n, 2)).astype(float)  # many ties
    published = np.asarray(microaggregate(original, 3, standardize=False).protected)
    own = np.where(rng.random(m) < 0.2, -1, rng.integers(0, n, m))
    known = original[np.maximum(own, 0)] + rng.integers(-1, 2, (m, 2))
    cells = rng.integers(0, 2, n)
    stratum = np.where(own >= 0, cells[own], 5)
    stratum[:3] = 1
    known[4, 0] = published[own[4], 0] = np.nan
    found = linkage_chances(known, published, own, scale=[1, 1], outside_cells=stratum, cells=cells)
    expected = [naive_chance(known, i, published, own, stratum, cells) for i in range(m)]
    assert found == pytest.approx(expected)
    assert (found[own < 0] == 0).all()


def test_groups_of_k_bound_the_chance():
    data = np.random.default_rng(0).normal(size=(200, 3))
    result = microaggregate(data, 5)
    risk = record_risk(data, result.protected)
    assert risk.after.max() <= 1 / 5
    assert (risk.before == 1).all()
    assert risk.distance == pytest.approx(
        np.linalg.norm((data - result.protected) / data.std(axis=0), axis=1)
    )
    near = np.abs(data - result.protected) <= 0.05 * data.std(axis=0)
    assert risk.near.tolist() == near.sum(axis=1).tolist()
    # Fewer known variables: less risk before, and it cannot rise above one for each group of k.
    few = record_risk(np.round(data[:, :1]), result.protected[:, :1])
    assert few.before.mean() == len(np.unique(np.round(data[:, 0]))) / 200


def test_strata_and_nothing_else_known():
    strata = np.repeat([0, 1], [3, 7])
    chances = linkage_chances(
        np.empty((10, 0)), np.empty((10, 0)), outside_cells=strata, cells=strata
    )
    assert chances.tolist() == [1 / 3] * 3 + [1 / 7] * 7


def test_a_file_that_was_not_protected():
    data = np.random.default_rng(1).normal(size=(50, 2))
    risk = record_risk(data, data)
    assert (risk.before == 1).all()
    assert (risk.after == 1).all()
    assert measures.record_linkage(data, data).share == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"record": [0, 1]}, "record must be 3 whole numbers from -1 to 2"),
        ({"record": [0, 1, 3]}, "record must be 3 whole numbers from -1 to 2"),
        ({"record": [0, 1, 0.5]}, "record must be 3 whole numbers from -1 to 2"),
        ({"cells": [0, 0, 0]}, "outside_cells and cells belong together"),
        ({"cells": [0, 0], "outside_cells": [0, 0, 0]}, "give one for each of 3 outside and 3"),
        ({"protected": np.zeros((3, 1))}, "outside has 2 variables and protected 1"),
        ({"protected": np.zeros((4, 2))}, "3 outside and 4 published records; say which is which"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(InputError, match=message):
        linkage_chances(**{"outside": np.zeros((3, 2)), "protected": np.zeros((3, 2))} | given)
