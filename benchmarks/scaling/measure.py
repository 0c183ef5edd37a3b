"""One measurement in a process of its own, for `benchmarks.scaling`, so that its peak memory is
that of one method: ``python -m benchmarks.scaling.measure TASK`` takes and prints JSON.
"""

import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from microagg_gpu import METHODS, microaggregate
from microagg_gpu.data.table import read
from microagg_gpu.engines import gpu_available
from microagg_gpu.kernels import engine_for, engine_named
from microagg_gpu.pipeline.partition import Partition
from microagg_gpu.pipeline.problem import prepare
from microagg_gpu.settings import Settings

Task = dict[str, Any]
SHORT = 10.0  # seconds: a run below it is repeated
WARM_UP = 2_000  # records of the data that are grouped first, untimed, so that all is compiled
SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")  # of GPUs, by Numba
PACKAGES = ("quitefastmst", "fastcluster")  # peers to install by hand, never dependencies


def without_gpu(quick: bool) -> str:
    """Why the CUDA engine cannot be measured here; empty if it can."""
    if SIMULATED:
        return "" if quick else "Numba's simulator is too slow for anything but --quick"
    if gpu_available():
        return ""
    return "--engine cuda needs an NVIDIA GPU and CuPy (cupy-cuda13x), and none is usable here"


def memory(field: str) -> float:
    """MiB now ("VmRSS") or at the most so far ("VmHWM")."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def timed(
    run: Callable[[], Any], repeat: int, settle: Callable[[], None] = lambda: None
) -> tuple[list[float], Any]:
    """Seconds of each run, and what the last returned.

    ``settle`` waits for what was started and not awaited, on a GPU.
    """
    seconds: list[float] = []
    while not seconds or (len(seconds) < repeat and seconds[0] < SHORT):
        settle()
        start = time.perf_counter()
        result = run()
        settle()
        seconds.append(time.perf_counter() - start)
    return seconds, result


def watched_compiler() -> Any:
    """A clock that runs while Numba compiles, from now on."""
    event = import_module("numba.core.event")
    listener = event.TimingListener()
    event.register("numba:compile", listener)
    return listener


def standardized(data: np.ndarray) -> np.ndarray:
    """The matrix that methods work on."""
    return prepare(read(data), Settings(1)).points


def digest(labels: np.ndarray, k: int) -> str:
    """Short name of a partition: equal for equal groups. Proves also that all have k records."""
    parts = [Partition(column, k).labels for column in np.atleast_2d(labels.T)]
    return hashlib.sha256(np.stack(parts).tobytes()).hexdigest()[:16]


def sample(data: np.ndarray) -> np.ndarray:
    """Some records of the data, for warming up."""
    chosen = np.random.default_rng(0).permutation(len(data))[:WARM_UP]
    return data[np.sort(chosen)]


def ours(task: Task, data: np.ndarray) -> dict[str, Any]:
    """A method of the library, from the table to the protected table."""
    if task["engine"] == "cuda":
        return on_gpu(task, data)
    steps: list[float] = []
    given = {"progress": steps.append} if task["method"] == "genetic" else {}
    method: list[float] = []

    def run(records: np.ndarray, **more: Any) -> Any:
        return microaggregate(
            records, task["k"], task["method"], engine=task["engine"], **task["options"], **more
        )

    def whole() -> Any:
        steps.clear()
        result = run(data, **given)
        method.append(result.seconds)
        return result

    run(sample(data))
    compiler = watched_compiler()
    before = memory("VmRSS")
    calls, result = timed(whole, task["repeat"])
    row = {
        "seconds": median(method),
        "call_seconds": median(calls),
        "all_seconds": method,
        "before_mib": before,
        "peak_mib": memory("VmHWM"),
        "labels": digest(result.labels, task["k"]),
        "loss": result.loss,
    }
    if compiler.done:
        row["compiled_in_runs"] = compiler.duration
    if task["method"] == "mst" and not task["options"]:
        row |= tree_and_cut(data, task)
    if steps:
        row["generations"] = len(steps)
    return row


def settle_gpu() -> None:
    """Wait until the GPU has done all it was asked for."""
    if not SIMULATED:
        import_module("cupy").cuda.Device().synchronize()


def gpu() -> dict[str, str]:
    """The GPU and what drives it."""
    if SIMULATED:
        return {"GPU": "none: Numba's simulator, whose times mean nothing"}
    cupy = import_module("cupy")
    device = cupy.cuda.Device()
    properties = cupy.cuda.runtime.getDeviceProperties(device.id)
    runtime = cupy.cuda.runtime
    return {
        "GPU": properties["name"].decode(),
        "GPU memory": f"{properties['totalGlobalMem'] / 2**30:.1f} GiB",
        "compute capability": capability(device.compute_capability),
        "CUDA driver": _release(runtime.driverGetVersion()),
        "CUDA runtime": _release(runtime.runtimeGetVersion()),
        "CuPy": cupy.__version__,
        "numba-cuda": version("numba-cuda"),
    }


def capability(digits: str) -> str:
    """A compute capability as CuPy has it, with its point: "120" is 12.0."""
    return f"{digits[:-1]}.{digits[-1]}"


def _release(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def on_gpu(task: Task, data: np.ndarray) -> dict[str, Any]:
    """A method by the CUDA engine, the records already on the device; then the whole call."""
    device = "auto" if SIMULATED else "cuda"
    run = partial(METHODS[task["method"]].function, engine=engine_named("cuda"), **task["options"])

    def points_of(records: np.ndarray) -> Any:
        return prepare(read(records), Settings(1, device=device, engine="cuda")).points

    warm_up, _ = timed(lambda: run(points_of(sample(data)), task["k"]), 1, settle_gpu)
    before = memory("VmRSS")
    points = points_of(data)
    seconds, labels = timed(lambda: run(points, task["k"]), task["repeat"], settle_gpu)
    calls, result = timed(
        lambda: microaggregate(
            data, task["k"], task["method"], device=device, engine="cuda", **task["options"]
        ),
        1,
        settle_gpu,
    )
    row = {
        "seconds": median(seconds),
        "all_seconds": seconds,
        "call_seconds": median(calls),
        "warm_up_seconds": warm_up[0],
        "before_mib": before,
        "peak_mib": memory("VmHWM"),
        "labels": digest(labels, task["k"]),
        "loss": result.loss,
    }
    if not SIMULATED:
        taken = import_module("cupy").get_default_memory_pool().total_bytes()
        row["gpu_mib"] = taken / 2**20
    return row


def tree_and_cut(data: np.ndarray, task: Task) -> dict[str, float]:
    """The two operations of the minimum spanning tree method, timed by themselves."""
    points = standardized(data)
    engine = engine_for(points, task["engine"])
    tree, found = timed(lambda: engine.minimum_spanning_tree(points), task["repeat"])
    edges, lengths = found
    cut, _ = timed(lambda: engine.cut_edges(edges, lengths, len(points), task["k"]), task["repeat"])
    return {"tree_seconds": median(tree), "cut_seconds": median(cut)}


def scan(task: Task, data: np.ndarray) -> dict[str, Any]:
    """A full scan of `peers`."""
    run = import_module("benchmarks.scaling.peers").FULL_SCANS[task["method"]]
    run(standardized(sample(data)), task["k"])
    points = standardized(data)
    before = memory("VmRSS")
    seconds, labels = timed(lambda: run(points, task["k"]), task["repeat"])
    return {
        "seconds": median(seconds),
        "all_seconds": seconds,
        "before_mib": before,
        "peak_mib": memory("VmHWM"),
        "labels": digest(labels, task["k"]),
    }


def settings(n: int, d: int) -> Iterator[tuple[str, int, int]]:
    """Algorithms, leaf sizes (0: the library's choice) and threads of quitefastmst to try."""
    for threads in sorted({1, os.cpu_count() or 1}):
        if d <= 20:  # its trees take no more variables
            for algorithm in ("dual_kd_tree", "sesqui_kd_tree", "single_kd_tree"):
                for leaf in (0, 4, 16, 64):
                    yield algorithm, leaf, threads
        if d > 20 or n < 20_000:  # at 20,000 x 10 it takes four times as long as a tree
            yield "brute", 0, threads


def quitefastmst(task: Task, data: np.ndarray) -> dict[str, Any]:
    """The tree by quitefastmst, each setting once and the fastest three again."""
    library = import_module("quitefastmst")
    points = standardized(data)
    before = memory("VmRSS")

    def run(algorithm: str, leaf: int, threads: int) -> Any:
        library.omp_set_num_threads(threads)
        return library.mst_euclid(points, algorithm=algorithm, max_leaf_size=leaf)

    tried = {}
    for setting in settings(*points.shape):
        tried[setting] = timed(lambda: run(*setting), 1)[0][0]  # noqa: B023
    peak = memory("VmHWM")
    again = {}
    for setting in sorted(tried, key=lambda setting: tried[setting])[:3]:
        again[setting] = timed(lambda: run(*setting), task["repeat"])[0]  # noqa: B023
    best = min(again, key=lambda setting: median(again[setting]))
    seconds = again[best]
    algorithm, leaf, threads = best
    return {
        "seconds": median(seconds),
        "all_seconds": seconds,
        "before_mib": before,
        "peak_mib": peak,
        "threads": threads,
        "note": f"{algorithm}, leaf size {leaf or 'default'}, {threads} thread(s), the fastest "
        f"of {len(tried)} settings ({max(tried.values()):.3g} s the slowest)",
    }


def fastcluster(task: Task, data: np.ndarray) -> dict[str, Any]:
    """Ward's method without k by fastcluster, with memory linear in n."""
    library = import_module("fastcluster")
    points = standardized(data)
    before = memory("VmRSS")
    seconds, _ = timed(
        lambda: library.linkage_vector(points, method="ward"),
        task["repeat"],
    )
    return {
        "seconds": median(seconds),
        "all_seconds": seconds,
        "before_mib": before,
        "peak_mib": memory("VmHWM"),
        "threads": 1,
        "note": 'linkage_vector(method="ward")',
    }


def first_call(task: Task, data: np.ndarray) -> dict[str, Any]:
    """The first call of a method in this process, on few records."""
    device = "cuda" if task["engine"] == "cuda" and not SIMULATED else "auto"
    given = {"engine": task["engine"], "device": device, **task["options"]}
    start = time.perf_counter()
    microaggregate(data, task["k"], task["method"], **given)
    return {"first_seconds": time.perf_counter() - start}


KINDS: dict[str, Callable[[Task, np.ndarray], dict[str, Any]]] = {
    "ours": ours,
    "full scan": scan,
    "quitefastmst": quitefastmst,
    "fastcluster": fastcluster,
    "first": first_call,
}


def main() -> int:
    """Measure what the first argument asks for."""
    imported = memory("VmRSS")
    if SIMULATED:
        sys.setswitchinterval(1e-6)  # the simulator's threads are Python's: at 5 ms it would crawl
    task = json.loads(sys.argv[1])
    kind = task["kind"]
    if kind in PACKAGES and find_spec(kind) is None:
        row: dict[str, Any] = {"note": "not installed: pip install quitefastmst fastcluster"}
    else:
        threads = 1
        if kind == "ours" and task["engine"] == "cpu":
            threads = import_module("numba").get_num_threads()
        data = np.load(task["data"])
        row = {"threads": threads, "imported_mib": imported, **KINDS[kind](task, data)}
    print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
