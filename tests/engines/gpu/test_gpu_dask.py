"""Dask workers on GPUs: each on its own."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask")
import dask
from dask import dataframe as dd

from distributed import Client
from helpers.cluster import computed, start
from helpers.gpu import at_most
from helpers.strategies import make_table
from microagg_gpu.distributed import microaggregate
from microagg_gpu.distributed.phases import Job

pytestmark = [pytest.mark.gpu, pytest.mark.xdist_group("dask")]
DATA = pd.DataFrame(make_table("random", at_most(2000), 3, seed=1), columns=["a", "b", "c"])


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    """What Dask leaves in temporary folders is in one of pytest."""
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))  # for processes
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        yield


class Found:
    """What a cluster answers to `Client.run`."""

    def __init__(self, *workers):
        self.workers = workers

    def run(self, function):
        return {f"tcp://{i}": worker for i, worker in enumerate(self.workers)}


def places(*workers):
    job = Job.__new__(Job)
    job.client = Found(*workers)
    return job.cards()


def test_workers_of_a_machine_take_its_gpus_in_turn():
    found = places((0, "a", None), (1, "a", None), (2, "b", None), ("x", "b", None))
    assert found == {0: 0, 1: 1, 2: 0, "x": 1}


def test_a_worker_of_dask_cuda_is_shown_its_own_gpu_first():
    assert places((0, "a", "0,1"), (1, "a", "1,0")) == {0: 0, 1: 0}


def test_each_worker_has_its_own_gpu(cupy, monkeypatch, tmp_path):
    from microagg_gpu.kernels.cuda import launching

    launches = []
    monkeypatch.setattr(launching, "LAUNCHES", launches)
    parts = dd.from_pandas(DATA, npartitions=4)
    block = len(DATA) // 4
    with (
        start(n_workers=2, processes=False, local_directory=str(tmp_path)) as two,
        Client(two) as client,
    ):
        found = microaggregate(parts, 5, client=client, block=block, device="cuda", repair=1)
        expected = microaggregate(parts, 5, client=client, block=block, device="cpu", repair=1)
        labels, others = (computed(r.labels, client).sort_index() for r in (found, expected))
    assert np.array_equal(labels, others)
    assert found.loss == expected.loss
    arrays = (x for _, _, given in launches for x in launching.flat(given))
    used = {x.device.id for x in arrays if isinstance(x, cupy.ndarray)}
    assert used == set(range(min(2, cupy.cuda.runtime.getDeviceCount())))


def test_workers_that_are_processes(tmp_path):
    from helpers.command import run

    source = tmp_path / "in"
    source.mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(DATA)), 2)):
        DATA.iloc[part].to_parquet(source / f"{i}.parquet")
    given = ["protect", source, "-k", "5", "--workers", "2", "--block", str(len(DATA) // 2)]
    for device in ("cuda", "cpu"):
        done = run(*given, "--device", device, "-o", tmp_path / device)
        assert done.exit_code == 0, done.output
    for path in source.iterdir():
        assert pd.read_parquet(tmp_path / "cuda" / path.name).equals(
            pd.read_parquet(tmp_path / "cpu" / path.name)
        )
