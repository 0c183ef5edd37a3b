"""Records on a GPU stay there: bytes between host and device are counted, by stage and method.

Only the emulated driver counts them.
"""

import numpy as np
import pytest

from helpers.strategies import make_table
from microagg_gpu import METHODS, microaggregate
from microagg_gpu.data.table import read
from microagg_gpu.pipeline.grouping import group
from microagg_gpu.pipeline.losses import loss_of
from microagg_gpu.pipeline.partition import prove
from microagg_gpu.pipeline.problem import prepare
from microagg_gpu.pipeline.publishing import publish
from microagg_gpu.pipeline.refinement import improve
from microagg_gpu.settings import Settings

cudaemu_counts = pytest.importorskip("cudaemu_counts")
pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("residency")]
N, D = 100, 16
RECORD = 8 * D
FEW = 64 * D  # means, spreads and other numbers of each variable, in all
PAIRS = 8 * D * D  # a number for each pair of variables: their correlation
# What a method copies to the host of each record, in bytes, and to the device.
LABELS, ORDER, FLAG = 8, 8, 1
RANKED = ORDER + 2 * FLAG  # an order, and where ranked values change
SLOTS = 2 * ORDER  # where each record is at first
COPIED = {
    "fixed": (RANKED, 0),
    "optimal": (RANKED + ORDER, 0),
    "individual": (D * RANKED, 0),
    "projection": (RANKED + ORDER, 0),
    "mdav": (LABELS, SLOTS),
    "vmdav": (LABELS, SLOTS),
    "centroid": (LABELS, SLOTS),
    "diameter": (LABELS, SLOTS + ORDER),
    "mst": (3 * ORDER, SLOTS),  # edges and lengths of few records, cut on the host
    "kward": (4 * ORDER, 20 * ORDER),  # in each of its recursions which records are in which group
}
# Refinement: the records and the neighbours of each with their distances go to the host once, the
# neighbours back once; and some numbers of each group, region and launch.
LISTS = 40 * ORDER
REFINED = (RECORD + 2 * LISTS + 40 * ORDER, LISTS + 16 * ORDER)
# Paths are built and cut on the host: these copy the records, each step that needs them once.
# `best` tries two paths and four other methods first, and refines; `tsp` has a path from each
# record.
PATH = 3 * RECORD + 6 * ORDER
ON_HOST = {
    "path": (PATH, 3 * ORDER),
    "genetic": (2 * RECORD + 6 * ORDER, RECORD + ORDER),
    "best": (2 * PATH + 3 * LABELS + 3 * ORDER + REFINED[0], 2 * RECORD + 4 * SLOTS + REFINED[1]),
    "tsp": (N * ORDER + ORDER, 0),
}


def counted(function, *given):
    with cudaemu_counts.counting() as bytes_:
        result = function(*given)
    return result, bytes_


def settings(method):
    return Settings(5, method, {"steps": 1} if method == "best" else {})


@pytest.fixture
def records(cupy):
    return cupy.asarray(make_table("random", N, D, seed=1))


def test_every_method_is_here():
    assert set(COPIED) | set(ON_HOST) == set(METHODS)


def test_preparing_copies_no_records(records):
    problem, bytes_ = counted(lambda: prepare(read(records), settings("mdav")))
    assert bytes_.to_host <= FEW
    assert bytes_.to_device <= FEW
    assert problem.points.device == records.device


@pytest.mark.parametrize("method", COPIED)
def test_grouping_copies_labels_only(records, method):
    data = records[:, :1].copy() if METHODS[method].univariate else records
    problem = prepare(read(data), settings(method))
    _, bytes_ = counted(group, problem, settings(method), None)
    to_host, to_device = COPIED[method]
    assert bytes_.to_host <= N * to_host + FEW + PAIRS
    assert bytes_.to_device <= N * to_device + FEW


def test_a_spanning_tree_of_many_records_is_cut_where_it_is(records, monkeypatch):
    monkeypatch.setattr("microagg_gpu.kernels.cuda.cut.FEWEST", N)
    problem = prepare(read(records), settings("mst"))
    _, bytes_ = counted(group, problem, settings("mst"), None)
    assert bytes_.to_host <= N * LABELS + FEW
    assert bytes_.to_device <= N * SLOTS + FEW


def test_kward_in_batches_copies_pairs_and_places(records, monkeypatch):
    """Each group looks some four times: 16 bytes to the host, 96 from there, as often again undone.

    What is done to thousands of records is done to few here: trees anew, and the last recursions.
    """
    monkeypatch.setattr("microagg_gpu.kernels.cuda.rounds.FEW", N)
    monkeypatch.setattr("microagg_gpu.kernels.cuda.ward_rounds.FEW", N // 2)
    monkeypatch.setattr("microagg_gpu.kernels.cuda.ward_rounds.ENOUGH", 0)
    monkeypatch.setattr("microagg_gpu.kernels.cuda.ward_rounds.EVENTS_AT_ONCE", (4, 8))
    problem = prepare(read(records), settings("kward"))
    _, bytes_ = counted(group, problem, settings("kward"), None)
    looks = 8
    to_host, to_device = COPIED["kward"]
    assert bytes_.to_host <= N * (to_host + 16 * looks + 6 * ORDER) + FEW + PAIRS
    assert bytes_.to_device <= N * (to_device + 96 * looks + 3 * ORDER) + FEW


@pytest.mark.parametrize("method", ON_HOST)
def test_what_is_done_on_the_host_copies_records_a_few_times(records, method):
    problem = prepare(read(records), settings(method))
    _, bytes_ = counted(group, problem, settings(method), None)
    to_host, to_device = ON_HOST[method]
    assert bytes_.to_host <= N * to_host + FEW + PAIRS
    assert bytes_.to_device <= N * to_device + FEW


def test_refinement_copies_records_and_lists(records):
    given = Settings(5, refine_steps=2)
    problem = prepare(read(records), given)
    _, bytes_ = counted(improve, problem, np.arange(N) // 5, given)
    assert bytes_.to_host <= N * REFINED[0] + FEW
    assert bytes_.to_device <= N * REFINED[1] + FEW


def test_publishing_copies_the_records_once_each_way(records):
    """Means are taken on the host, in NumPy's order of sums."""
    problem = prepare(read(records), settings("mdav"))
    labels = np.arange(N) // 5

    def published():
        found = publish(problem, prove(problem, labels), settings("mdav"))
        loss_of(problem, labels, found, settings("mdav"))
        return problem.table.rebuild(found.values, problem.cells.kept, False, {}, None)

    _, bytes_ = counted(published)
    assert bytes_.to_host <= N * RECORD
    assert bytes_.to_device <= N * RECORD
    assert (bytes_.copies_to_host, bytes_.copies_to_device) == (1, 1)


def test_a_whole_call(records):
    result, bytes_ = counted(microaggregate, records, 5)
    assert bytes_.to_host <= N * (RECORD + LABELS) + FEW
    assert bytes_.to_device <= N * (RECORD + SLOTS) + FEW
    _, bytes_ = counted(lambda: (result.linkage(), result.report()))
    assert bytes_.to_host <= N * RECORD  # what is published is counted again


def test_whole_numbers_and_missing_values_copy_no_records(cupy):
    data = make_table("grid", N, D, seed=1)
    _, bytes_ = counted(lambda: prepare(read(cupy.asarray(data.astype(np.int64))), Settings(5)))
    assert bytes_.to_host <= 2 * FEW
    data[: N // 2, 1] = np.nan
    missing = Settings(5, missing="pattern")
    _, bytes_ = counted(lambda: prepare(read(cupy.asarray(data)), missing))
    assert bytes_.to_host <= FEW + N * D * FLAG  # which are missing
