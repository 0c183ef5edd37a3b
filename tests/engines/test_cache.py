"""Compiled kernels: never stale, never an error, not without end; and what they are worth."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from microagg_gpu import microaggregate
from microagg_gpu.engines import Work, host_engine
from microagg_gpu.kernels import cache, compiling
from microagg_gpu.kernels.cache import is_ready  # the real one, which conftest.py replaces
from microagg_gpu.kernels.cpu.compiled import KernelCache, entry, inner
from microagg_gpu.methods.annealing import _END, _Budget
from microagg_gpu.methods.registry import METHODS, work_of

KERNELS = Path(cache.__file__).parent
DATA = np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture
def sources(tmp_path):
    """A copy of the kernels, importable by itself."""
    return shutil.copytree(
        KERNELS, tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__", "cuda")
    )


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders for kernels, of which the first is the one to use."""
    places = tmp_path / "a" / "key", tmp_path / "b" / "key"
    monkeypatch.setattr(cache, "folders", lambda: places)
    monkeypatch.setattr(cache, "_ready", set())
    return places


def key_of(sources: Path) -> str:
    spec = importlib.util.spec_from_file_location("cache_of_a_copy", sources / "cache.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.key()


@pytest.mark.parametrize(
    "name", ["cpu/sums.py", "cpu/compiled.py", "generic/annealing.py", "protocol.py"]
)
def test_the_key_changes_with_every_source_that_can_take_part(sources, name):
    before = key_of(sources)
    assert before == key_of(sources)
    with open(sources / name, "a") as file:
        file.write("\n")
    assert key_of(sources) != before


def test_a_kernel_is_not_stale_after_a_change_of_what_it_calls_in_another_file(sources):
    code = (
        "import numpy as np; from kernels.cpu.genetic import population_fitness\n"
        "print(population_fitness(np.array([[0.0], [3.0]]), np.array([[0, 1]]))[0])"
    )
    environment = {
        **os.environ, "PYTHONPATH": str(sources.parent),
        "NUMBA_CACHE_DIR": str(sources.parent / "cache"),
    }  # fmt: skip

    def run() -> str:
        command = [sys.executable, "-P", "-c", code]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert run() == "9.0"
    called = sources / "cpu" / "sums.py"
    called.write_text(called.read_text().replace("    s = a + b\n", "    s = a + b + 1.0\n"))
    assert run() != "9.0"


def test_what_cannot_be_written_goes_to_the_next_folder(folders, tmp_path):
    (tmp_path / "a").write_text("a file, in which no folder can be")
    cache.save("x", b"1")
    assert list(cache.load("x")) == [b"1"]
    assert [path.name for path in folders[1].iterdir()] == ["x"]


def test_without_any_folder_nothing_is_kept_and_nothing_fails(folders, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("")
    cache.save("x", b"1")
    assert list(cache.load("x")) == []
    kernel = entry()(doubled)
    assert kernel(2.0) == 4.0
    (signature,) = kernel.overloads
    assert KernelCache(doubled).load_overload(signature, kernel.targetctx) is None


def doubled(x):
    return 2.0 * x


def test_a_broken_file_is_compiled_again(folders):
    kernel = entry()(doubled)
    assert kernel(2.0) == 4.0
    (signature,) = kernel.overloads
    kept, context = KernelCache(doubled), kernel.targetctx
    assert kept.load_overload(signature, context) is not None
    (file,) = folders[0].iterdir()
    file.write_bytes(b"no kernel")
    assert kept.load_overload(signature, context) is None
    assert entry()(doubled)(2.0) == 4.0
    assert kept.load_overload(signature, context) is not None


def callers():
    """A kernel that only others call, and two that Python calls, compiled when they are called."""

    @inner()
    def root(x):
        if x < 0.0:
            raise ValueError("a negative number has no root")
        return np.sqrt(x), "found"

    @entry()
    def fourth_root(x):
        return root(root(x)[0])[0]

    @entry()
    def roots(x):
        return [root(y)[0] for y in x], root(x[0])[1]

    return fourth_root, roots


def test_a_kernel_that_others_call_is_kept_for_other_callers(folders):
    fourth_root, _ = callers()
    assert fourth_root(16.0) == 2.0
    before = {path: path.stat().st_mtime_ns for path in folders[0].iterdir()}
    assert len(before) == 2
    _, roots = callers()  # as in another process
    assert roots(np.array([4.0, 9.0])) == ([2.0, 3.0], "found")
    with pytest.raises(ValueError, match="no root"):
        roots(np.array([-1.0]))
    after = {path: path.stat().st_mtime_ns for path in folders[0].iterdir()}
    assert len(after) == 3
    assert before.items() <= after.items()  # the kernel that both call was not made again


def test_a_broken_file_of_a_kernel_that_others_call_is_compiled_again(folders):
    fourth_root, _ = callers()
    assert fourth_root(16.0) == 2.0
    for file in folders[0].iterdir():
        file.write_bytes(b"no kernel")
    fourth_root, roots = callers()
    assert fourth_root(81.0) == 3.0
    assert roots(np.array([4.0])) == ([2.0], "found")


def test_folders_of_other_keys_do_not_pile_up(folders):
    for i in range(20):
        old = folders[0].parent / f"old{i:02d}"
        old.mkdir(parents=True)
        os.utime(old, (i, i))
    cache.save("x", b"")
    left = sorted(path.name for path in folders[0].parent.iterdir())
    assert left == ["key", *(f"old{i}" for i in range(20 - cache._KEPT, 20))]


def test_work_is_ready_if_it_was_done_or_if_everything_was(folders, monkeypatch):
    monkeypatch.setattr(cache, "is_ready", is_ready)
    assert not is_ready("mdav")
    cache.set_ready("mdav")
    cache._ready.clear()  # as in another process
    assert is_ready("mdav")
    assert not is_ready("vmdav")
    cache.set_ready(cache.EVERYTHING)
    assert is_ready("vmdav")


@pytest.fixture
def ready(monkeypatch):
    """Work whose kernels are compiled: none at first."""
    done = set()
    monkeypatch.setattr(cache, "is_ready", done.__contains__)
    monkeypatch.setattr(cache, "set_ready", done.add)
    return done


def test_small_work_runs_on_the_generic_engine_until_its_kernels_are_compiled(ready):
    before = microaggregate(DATA, 3, "mst", split="centroid")
    assert before.engine == before.provenance.engine == "generic"
    assert ready == set()
    named = microaggregate(DATA, 3, "mst", split="centroid", engine="cpu")
    assert named.engine == "cpu"
    assert ready == {"mst split=centroid"}
    after = microaggregate(DATA, 3, "mst", split="centroid")
    assert after.engine == "cpu"
    assert before.labels.tolist() == named.labels.tolist() == after.labels.tolist()
    assert microaggregate(DATA, 3, "mst").engine == "generic"


def test_linkage_runs_on_the_generic_engine_until_its_kernels_are_compiled(ready):
    result = microaggregate(DATA, 3, engine="cpu")
    ready.clear()
    first = result.linkage()
    assert ready == set()
    ready.add("nearest records")
    assert result.linkage() == first


def test_of_refinement_only_the_annealing_is_compiled_for(ready):
    """The groups that it starts from and lists of neighbours are found by the generic engine."""
    first = microaggregate(DATA, 3, refine_steps=1)
    assert first.engine == "cpu"
    assert ready == set()
    ready.update(["mdav", "neighbours"])
    assert np.array_equal(microaggregate(DATA, 3, refine_steps=1).labels, first.labels)
    assert microaggregate(DATA, 3, refine_steps=1, engine="generic").engine == "generic"


def test_what_the_generic_engine_needs_depends_on_records_strata_variables_and_options():
    def seconds(method, sizes, d=8, **options):
        return work_of(method, options, sizes, d).seconds

    most = METHODS["mdav"].quick
    assert seconds("mdav", [most]) == seconds("mdav", [most], 1) == 2.0
    assert seconds("mdav", [most], 16) == pytest.approx(4.0)
    assert seconds("mdav", [most // 2] * 4) == pytest.approx(2.0)
    assert seconds("mdav", [100] * 1000) == pytest.approx(10.0)  # the steps by themselves
    assert seconds("best", [10]) == seconds("genetic", [100], generations=10**6) == np.inf
    assert seconds("projection", [METHODS["kward"].quick], inner="kward") == 2.0
    assert work_of("path", {"order": "x/\0y", "a": []}, [10], 1).name == "path of one variable"


def test_a_process_loads_compiled_kernels_only_for_work_that_is_worth_it(ready, monkeypatch):
    ready.add("some")
    assert host_engine(Work("some", 0.1, 10)) == "cpu"  # Numba is loaded
    monkeypatch.delitem(sys.modules, "numba")
    assert host_engine(Work("some", 0.1, 10)) == "generic"
    assert (
        host_engine(Work("some", 1.0, 10)) == host_engine(Work("some", 0.1, 10, runs=20)) == "cpu"
    )
    assert host_engine(Work("other", 1.0, 10)) == "generic"
    assert host_engine(Work("other", 4.0, 10)) == "cpu"


def test_the_clock_stands_still_while_kernels_are_compiled(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(compiling, "perf_counter", lambda: now[0])
    budget = _Budget(10.0, None)
    begun = compiling.clock()
    calls = []
    with compiling.watched(calls.append):
        compiling.begin()
        now[0] += 5.0
        compiling.begin()  # for the one before
        now[0] += 30.0
        compiling.end()
        assert compiling.clock() == begun
        now[0] += 1.0
        compiling.end()
    assert compiling.clock() == pytest.approx(begun)
    assert calls == [True, False]
    now[0] += 0.25 * 10 * (1 - _END)
    assert budget.gone() == pytest.approx(0.25)


def test_a_kernel_that_is_compiled_stops_the_clock(folders):
    calls = []

    @entry()
    def successor(x):
        return x + 1

    with compiling.watched(calls.append):
        assert successor(1) == 2
    assert calls == [True, False]
    assert len(list(folders[0].iterdir())) == 1
