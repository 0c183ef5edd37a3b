"""Fixtures that several test files share, and what tests must leave as they found it."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from helpers.libraries import ARRAY_LIBRARIES

try:
    import psutil  # comes with Dask
except ImportError:
    psutil = None

ROOT = Path(__file__).resolve().parents[1]
# Folders of the checkout that git ignores, beside caches: what make writes.
WRITTEN = {"build", "demo", "dist", "experiments"} | {
    os.path.join("docs", name) for name in ("generated", "notebooks", "results")
}

# The same examples in every run, so that CI is steady; HYPOTHESIS_PROFILE=wide draws new ones. How
# long an example takes to draw says something about the machine, not about the test.
settings.register_profile(
    "steady", deadline=None, derandomize=True, max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.register_profile(
    "wide", deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Directory of the reference files: MICROAGG_DATA, else shared/data beside the repository."""
    named = os.environ.get("MICROAGG_DATA")
    home = Path(named) if named else ROOT.parent / "shared" / "data"
    if not home.is_dir():
        pytest.skip("reference data not found: set MICROAGG_DATA")
    return home


@pytest.fixture
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the current one, beside a terminal of 200 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels() -> Iterator[None]:
    """Let the CPU engine run small work too, whatever is compiled: tests are to test it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("microagg_gpu.kernels.cache.is_ready", lambda work: True)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_files_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail if tests left files in the checkout, or where temporary files go."""
    before = _files_of_the_checkout()
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TMPDIR", "TEMP", "TMP"):
            patch.setenv(name, str(folder))
        patch.setattr(tempfile, "tempdir", str(folder))
        yield
    # Those of scikit-learn's estimator checks go when the process ends.
    left = [str(path) for path in folder.iterdir() if "sklearn_testing_" not in path.name]
    left += sorted(_files_of_the_checkout() - before)
    assert not left, f"tests left files behind: {left}"


def _files_of_the_checkout() -> set[str]:
    found = set()
    for folder, folders, files in os.walk(ROOT):
        here = os.path.relpath(folder, ROOT)
        folders[:] = [
            name
            for name in folders
            if not (name.startswith(".") or name.endswith((".egg-info", "__pycache__")))
            and os.path.normpath(os.path.join(here, name)) not in WRITTEN
        ]
        found.update(os.path.join(folder, name) for name in files)
    return found


@pytest.fixture(scope="session", autouse=True)
def _no_processes_left(_no_files_left: None) -> Iterator[None]:
    """Fail if processes that tests started, or those started by them, outlive the tests."""
    mark = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MICROAGG_TESTS", mark)  # which every process inherits
        yield
    if psutil is not None:
        _, left = psutil.wait_procs(_marked(mark), timeout=120)
        assert not left, f"tests left processes behind: {left}"


def _marked(mark: str) -> list:
    """Processes that inherited a mark; not those of Python that end with the process they serve."""
    found = []
    for process in psutil.process_iter():
        try:
            mine = process.environ().get("MICROAGG_TESTS") == mark
            helper = "multiprocessing.resource_tracker" in " ".join(process.cmdline())
            if mine and not helper and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue  # of somebody else, or gone
    return found


def pytest_report_header() -> str:
    """Say which array libraries the methods are tested on."""
    return f"array libraries: {', '.join(ARRAY_LIBRARIES)}"
