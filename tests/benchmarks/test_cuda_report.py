"""What benchmarks.cuda_report compiles and counts; what benchmarks.scaling does for a GPU."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import cuda_report
from benchmarks.cuda import compile as cuda_compile
from benchmarks.cuda import kernels as cuda_kernels
from benchmarks.cuda.compile_tables import problems
from benchmarks.cuda.costs import COSTS
from benchmarks.scaling import __main__ as scaling
from helpers.methods import run as run_method
from helpers.strategies import make_table

ROOT = Path(__file__).resolve().parents[2]
PTXRUN = ROOT.parent / "shared" / "ptxrun"
needs_numba_cuda = pytest.mark.skipif(
    find_spec("numba_cuda") is None, reason="needs numba-cuda: pip install 'numba-cuda[cu13]'"
)
needs_ptxrun = pytest.mark.skipif(not PTXRUN.is_dir(), reason="there is no ../shared/ptxrun")


def run(*arguments, **environment):
    """Run Python at the root of the repository."""
    known = {name: value for name, value in os.environ.items() if name != "NUMBA_ENABLE_CUDASIM"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**known, **environment},
        capture_output=True,
        text=True,
    )


# Compiling --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cc", "registers", "shared", "blocks"),
    [
        ((8, 0), 32, 0, 8),  # the warps: 64 / 8
        ((8, 0), 33, 0, 6),  # 40 registers are dealt out: 12 warps in a quarter, 48 / 8
        ((8, 0), 64, 0, 4),
        ((8, 0), 225, 4096, 1),
        ((8, 0), 255, 0, 1),
        ((7, 5), 32, 0, 4),
        ((8, 6), 40, 0, 6),
        ((12, 0), 84, 0, 2),
        ((8, 0), 32, 48 * 1024, 3),  # 49 KiB each of 164
        ((7, 5), 32, 20 * 1024, 3),  # none for the system: 64 / 20
    ],
)
def test_resident_blocks_by_the_rules_of_the_occupancy_calculator(cc, registers, shared, blocks):
    assert cuda_compile.resident_blocks(cc, registers, shared) == blocks


def test_a_product_must_be_rounded_before_it_is_added():
    rounded = "mul.rn.f64 %fd3, %fd1, %fd2;\n add.f64 %fd4, %fd3, %fd1;"
    alone = "mul.f64 %fd3, %fd1, %fd2;\n setp.lt.f64 %p1, %fd3, %fd1;"
    fusible = "mul.f64 %fd3, %fd1, %fd2;\n sub.f64 %fd4, %fd1, %fd3;"
    fused = "fma.rn.f32 %f4, %f1, %f2, %f3;"
    assert [len(cuda_compile.fused(ptx)) for ptx in (rounded, alone, fusible, fused)] == [
        0,
        0,
        1,
        1,
    ]
    lines = f'.file 1 "/a/kernel.py"\n .loc 1 7 0\n {rounded}\n .loc 1 9 0\n {fused}'
    assert cuda_compile.places(lines) == ["kernel.py:9"]


def test_the_linker_counts_what_a_kernel_calls():
    log = (
        "ptxas info    : Compiling entry function '_ZN4mdav' for 'sm_80'\n"
        "ptxas info    : Function properties for _ZN4mdav\n"
        "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 224 registers, used 1 barriers, 1560 bytes cmem[0]\n"
        "info    : Function properties for '_ZN6memcpy':\n"
        "info    : used 300 registers, used 1 barriers, 99 stack, 2056 bytes smem\n"
        "info    : Function properties for '_ZN4mdav':\n"
        "info    : used 226 registers, used 1 barriers, 16 stack, 4096 bytes smem, 0 bytes lmem\n"
    )
    assert cuda_compile.read_log(log) == {"registers": 226, "spills": 16, "stack": 16}


@needs_numba_cuda
def test_every_kernel_is_launched_by_a_method_with_one_set_of_types():
    kernels, failed = cuda_kernels.found([])
    assert not failed
    assert [kernel.title for kernel in kernels if not kernel.types] == []
    names = [(kernel.title, kernel.real) for kernel in kernels]
    assert len(set(names)) == len(names)
    assert {kernel.real for kernel in kernels} == {"float64", "float32"}
    assert {(kernel.module, kernel.name) for kernel in kernels} == set(COSTS)


@needs_numba_cuda
def test_linked_code_is_looked_through():
    kernel = next(
        each
        for each in cuda_kernels.found(["optimal"])[0]
        if (each.name, each.real) == ("grow", "float32")
    )
    [row] = cuda_compile.compiled(kernel, [(8, 0)])
    assert (row["fused"], row["doubles"], row["stale"], row["spills"]) == (0, 0, 0, 0)
    assert cuda_compile.seconds([kernel]) > 0
    assert problems([kernel], [], {kernel: [row]}) == []
    for what in ("fused", "doubles", "stale", "spills"):
        assert len(problems([kernel], [], {kernel: [row | {what: 1}]})) == 1


def test_only_products_of_a_filter_may_be_fused():
    kernel = cuda_kernels.Kernel("mst_kernels", "", "search_together", "float64", None, ("int64",))
    row = {"cc": (8, 0), "fused": 2, "spills": 0, "doubles": 9, "stale": 0}
    assert problems([kernel], [], {kernel: [row | {"places": ["single.py:9"]}]}) == []
    for places in ([], ["single.py:9", "together.py:9"]):
        assert len(problems([kernel], [], {kernel: [row | {"places": places}]})) == 1


def test_what_may_not_be_there_is_found_in_ptx():
    ptx = "ld.global.nc.f64 %fd1, [%rd1];\n.shared .align 8 .b8 x[64];"
    assert cuda_compile.read_ptx(ptx) == {"doubles": 1, "fused": 0, "stale": 1, "shared": 64}


@needs_numba_cuda
def test_report_compiles_without_a_gpu(tmp_path):
    output = tmp_path / "cuda.md"
    done = run(
        *("-m", "benchmarks.cuda_report", "--cc", "8.0,12.0", "--methods", "optimal"),
        *("--searches", "0", "--kept", str(tmp_path / "kept"), "--output", str(output)),
    )
    assert done.returncode == 0, done.stderr
    text = output.read_text()
    for real in ("float64", "float32"):
        assert f"| `segments.grow` | {real} |" in text
    assert "Nothing of this was found wrong." in text
    assert "## The first call" in text
    assert "projection" in text


def test_report_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(cuda_compile, "missing", lambda: "numba-cuda")
    assert cuda_report.main(["--methods", "optimal"]) == 2
    assert "missing: numba-cuda" in capsys.readouterr().err


# Counting ---------------------------------------------------------------------------------------


def scans_of_mdav(n, k):
    """Records looked at by MDAV: all that are left, then all but the seed of the group."""
    looked = groups = 0
    while n >= 2 * k:
        for _ in range(2 if n >= 3 * k else 1):
            looked += n + n - 1
            groups += 1
            n -= k
    return looked, groups


@needs_numba_cuda
@pytest.mark.parametrize("method", cuda_report.METHODS)
@pytest.mark.parametrize("kind", ["random", "grid", "clustered"])
def test_dry_run_takes_the_same_decisions(method, kind):
    from benchmarks.cuda.budget import dry_run

    points = make_table(kind, 150, 3, 1)
    work, labels = dry_run(points, 3, method)
    np.testing.assert_array_equal(labels, run_method(method, points, 3, engine="cpu"))
    assert work.launches > 0
    assert work.flops > work.distances > 0


@needs_numba_cuda
def test_dry_run_of_mdav_counts_its_scans():
    from benchmarks.cuda.budget import dry_run

    n, d, k = 101, 4, 3
    work, _ = dry_run(make_table("random", n, d, 0), k, "mdav")
    looked, groups = scans_of_mdav(n, k)
    assert (work.distances, work.flops) == (looked, looked * (3 * d - 1))
    assert (work.grid_syncs, work.removals) == (2 * groups, groups * k)


def renewals(points, k):
    """How often the diameter method looks for the partner of a record whose partner has left."""
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, -1.0)
    bound, partner = squared.max(axis=1), squared.argmax(axis=1)
    left, renewed = np.ones(len(points), dtype=bool), 0
    while left.sum() >= 2 * k:
        while not left[partner[a := int(np.where(left, bound, -2.0).argmax())]]:
            row = np.where(left, squared[a], -2.0)
            bound[a], partner[a] = row.max(), row.argmax()
            renewed += 1
        for seed in (a, int(partner[a])):
            if not left[seed]:
                seed = int(np.where(left, squared[a], -2.0).argmax())
            group = [seed]
            left[seed] = False
            while len(group) < k:
                away = ((points - points[group].mean(axis=0)) ** 2).sum(axis=1)
                group.append(int(np.where(left, away, np.inf).argmin()))
                left[group[-1]] = False
    return renewed


@needs_numba_cuda
def test_dry_run_of_diameter_counts_renewed_partners():
    from benchmarks.cuda.budget import dry_run

    n, k = 160, 4
    points = make_table("random", n, 3, 2)
    work, _ = dry_run(points, k, "diameter")
    groups = n // k
    # Of a pair of groups: the search for the first bound, one before a record is taken, and k - 1
    # scans for each of both.
    assert work.grid_syncs == groups + groups * (k - 1) + 2 * renewals(points, k)


COMPARE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import ptxrun
ptxrun.install(cc=(8, 0), racecheck=False, uninit=False)
import numpy as np
from microagg_gpu import METHODS
from microagg_gpu.kernels import engine_named
from microagg_gpu.kernels.cuda import cut, launching
from benchmarks.cuda.budget import dry_run
launching.RECORDS_PER_BLOCK = 50
cut.FEWEST = 0
launching.Pace.SECONDS = float("inf")  # launches grow as on a fast device
found = {}
for method in sys.argv[2:]:
    points = np.random.default_rng(0).normal(size=(1500 if method == "mst" else 200, 10))
    ptxrun.reset()
    METHODS[method].function(points, 4, engine=engine_named("cuda"))
    launches = ptxrun.launches
    # Names of kernels that were kept on disk are mangled.
    own = [stats for name, stats in launches if "sum_up" not in name and "share_sum" not in name]
    work, _ = dry_run(points, 4, method)
    found[method] = {
        "launches": [len(launches), work.launches],
        "instructions": [
            sum(s.instructions for s in own) / 32 if work.instructions else 0,
            work.instructions,
        ],
        "grid_syncs": [sum(s.grid_syncs for s in own), work.grid_syncs],
        "flops": [sum(s.flops64 for s in own), work.flops + 4 * work.kept],
        "loads": [
            sum(s.global_load for s in own),
            # What the lanes read together: a seeker's values for a distance, or a sixteenth of
            # them and a number in single precision.
            work.bytes(8) + work.distances * (50 if method == "mst" else 80),
        ],
    }
print(json.dumps(found))
"""


def compare_with_ptxrun(*methods):
    done = run("-c", COMPARE, str(PTXRUN), *methods)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check_counts(found):
    for method, counts in found.items():
        for what in ("launches", "grid_syncs"):
            counted, expected = counts[what]
            assert counted == expected, (method, what)
        # Of lists whole warps are counted, ptxrun counts the lanes that take part.
        least_share = 0.55 if method == "mst" else 0.95
        counted, expected = counts["flops"]
        assert least_share < counted / expected < 1.05, (method, counted, expected)
        counted, expected = counts["instructions"]
        least_share = 0.6 if method == "mst" else 0.75
        assert counted == expected or least_share < counted / expected < 1.25, (
            method,
            counted,
            expected,
        )
        # Threads also read what their blocks keep for themselves, which with few records is much.
        counted, expected = counts["loads"]
        least_share = 0.75 if method == "mst" else 1.0
        assert least_share < counted / expected < 2.5, (method, counted, expected)


@needs_numba_cuda
@needs_ptxrun
def test_counts_are_those_of_the_compiled_kernels():
    check_counts(compare_with_ptxrun("mdav", "mst"))


@pytest.mark.slow
@needs_numba_cuda
@needs_ptxrun
def test_counts_of_the_other_methods_are_those_of_the_compiled_kernels():
    check_counts(compare_with_ptxrun("vmdav", "centroid", "diameter", "kward"))


BATCHES = """
import sys
sys.path.insert(0, sys.argv[1])
import ptxrun
ptxrun.install(cc=(8, 0), racecheck=False, uninit=False)
import numpy as np
from microagg_gpu.kernels.cuda import ward, ward_rounds
from benchmarks.cuda import wards
from benchmarks.cuda.work import Work
ward_rounds.FEW = 0
points = np.random.default_rng(0).normal(size=(600, 10))
given = points, np.arange(600), np.zeros(600, dtype=np.int64), 4
ward.merge_until_k(*given)
found = {
    kernel: sum(stats.instructions / 32 for name, stats in ptxrun.launches if kernel in name)
    for kernel in ("find_pairs", "unite")
}
with wards.counted(Work()) as counts:
    ward.merge_until_k(*given)
print(found["find_pairs"] / wards.instructions(counts.tally, 10))
print(found["unite"] / counts.united / wards.UNITE)
"""


@needs_numba_cuda
@needs_ptxrun
def test_searches_of_batches_take_the_instructions_that_are_counted():
    done = run("-c", BATCHES, str(PTXRUN))
    assert done.returncode == 0, done.stderr
    ratios = [float(line) for line in done.stdout.splitlines()[-2:]]
    assert all(0.75 < ratio < 1.25 for ratio in ratios), ratios


# Measuring --------------------------------------------------------------------------------------


@needs_numba_cuda
def test_both_engines_are_measured_in_the_simulator(tmp_path):
    done = run(
        *("-m", "benchmarks.scaling", "--engine", "cuda", "--quick", "--methods", "mdav,optimal"),
        *("--most", "20", "--repeat", "1", "--output", str(tmp_path)),
        NUMBA_ENABLE_CUDASIM="1",
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "scaling-cuda.json").read_text())
    assert "simulator" in results["machine"]["GPU"]
    rows = results["rows"].values()
    assert sorted((row["method"], row["who"]) for row in rows) == [
        *(("mdav", "cpu"), ("mdav", "ours")),
        *(("optimal", "cpu"), ("optimal", "ours")),
    ]
    for method in ("mdav", "optimal"):
        assert len({row["labels"] for row in rows if row["method"] == method}) == 1
    text = (tmp_path / "scaling-cuda.md").read_text()
    assert text.count("| our cpu engine |") == 2
    assert "**no**" not in text


def test_scaling_without_a_gpu_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("benchmarks.scaling.measure.gpu_available", lambda: False)
    monkeypatch.setattr(scaling, "SIMULATED", False)
    assert scaling.main(["--engine", "cuda", "--quick", "--output", str(tmp_path)]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "GPU" in said[0]


def test_scaling_notices_different_groups_and_failures():
    row = {"method": "mdav", "family": "clusters", "n": 20, "data": "20 x 2"}
    ours, cpu = row | {"who": "ours", "labels": "a"}, row | {"who": "cpu", "labels": "a"}
    assert scaling.disagreements({"rows": {"1": ours, "2": cpu}}) == []
    found = scaling.disagreements({"rows": {"1": ours | {"labels": "b"}, "2": cpu}})
    assert found == ["mdav on 20 x 2: the engines formed different groups"]
    broken = row | {"who": "ours", "note": "failed: out of memory"}
    found = scaling.disagreements({"rows": {"1": broken, "2": cpu}})
    assert found == ["mdav on 20 x 2, ours: failed: out of memory"]
