"""Tests of a cluster work in a directory of their own, with a patient Dask."""

import pytest

# A busy machine may take long to start a process, or to answer.
PATIENT = {
    "distributed.comm.timeouts.connect": "600s",
    "distributed.comm.timeouts.tcp": "600s",
    "distributed.scheduler.worker-ttl": None,
}


@pytest.fixture(autouse=True)
def _in_empty_directory(empty_directory):
    pass


@pytest.fixture(scope="module", autouse=True)
def _dask(tmp_path_factory):
    """Dask is patient, and what it leaves in temporary folders is in one of pytest."""
    dask = pytest.importorskip("dask")
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set(PATIENT | {"temporary-directory": folder}),
    ):
        patch.setenv("DASK_TEMPORARY_DIRECTORY", folder)  # for processes
        yield


@pytest.fixture(scope="module")
def client(_dask):
    """Two workers in this process."""
    from distributed import Client
    from helpers.cluster import start

    with start(n_workers=2, processes=False) as two, Client(two) as client:
        yield client
