"""The constants of the projections, measured on a card: ``python -m benchmarks.cuda_probe``.

What the first person with an NVIDIA GPU runs, in about a minute. It needs ``numba-cuda`` and no
CuPy, writes ``benchmarks/results/cuda-probe.md`` and names what `benchmarks.cuda.projection`
assumes beside what it measured. ``--small`` makes little work of it, to try the program itself on
an emulated card.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, float64

from .common import RESULTS, figure, table, write

THREADS = 256


class Line(NamedTuple):
    """Something measured: what it is, the figure with its unit, and what was assumed."""

    what: str
    measured: float
    unit: str
    assumed: str


# Kernels ----------------------------------------------------------------------------------------


@cuda.jit
def nothing(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u):
    """Take twenty arrays and do nothing."""


@cuda.jit
def nothing_much(a):
    """Take one array and do nothing."""


@cuda.jit
def meet(rounds, out):
    """Let all blocks wait for each other, again and again."""
    grid = cuda.cg.this_grid()
    for _ in range(rounds):
        grid.sync()
    if cuda.grid(1) == 0:
        out[0] = rounds


@cuda.jit
def wait_in_block(rounds, out):
    """Let the threads of a block wait for each other, again and again."""
    for _ in range(rounds):
        cuda.syncthreads()
    if cuda.grid(1) == 0:
        out[0] = rounds


@cuda.jit(device=True)
def last_place(steps, following):
    """Read where to read next, again and again: each read waits for the one before."""
    place = 0
    for _ in range(steps):
        place = following[place]
    return place


@cuda.jit
def follow(steps, following, out):
    """Reads that wait for each other, from global memory."""
    out[0] = last_place(steps, following)


@cuda.jit
def follow_shared(steps, following, out):
    """Reads that wait for each other, from shared memory."""
    near = cuda.shared.array(1024, np.int32)
    for i in range(cuda.threadIdx.x, 1024, cuda.blockDim.x):
        near[i] = following[i]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[0] = last_place(steps, near)


@cuda.jit
def read(times, values, out):
    """Add up all values, some times over."""
    total = float64(0.0)
    for _ in range(times):
        for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
            total += values[i]
    if total == 0.5:  # never, but the compiler does not know
        out[0] = total


@cuda.jit(device=True)
def four_sums(rounds, step):
    """Four sums of each thread at the same time, in the precision of the step."""
    a, b, c, d = step, step + step, step * step, step
    for _ in range(rounds):
        a += step
        b += step
        c += step
        d += step
    return a + b + c + d


@cuda.jit
def add_doubles(rounds, out):
    """Sums in double precision."""
    total = four_sums(rounds, out[1])
    if total == 0.5:  # never, but the compiler does not know
        out[0] = total


@cuda.jit
def add_singles(rounds, out):
    """Sums in single precision."""
    total = four_sums(rounds, float32(out[1]))
    if total == float32(0.5):
        out[0] = total


# Times ------------------------------------------------------------------------------------------


def on_device(work: Callable[[], Any], repeats: int = 5) -> float:
    """The least seconds that the device takes for some work, after once for compiling."""
    work()
    best = np.inf
    for _ in range(repeats):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        best = min(best, cuda.event_elapsed_time(begin, end) / 1000)
    return best


def on_host(work: Callable[[], Any], times: int) -> float:
    """Seconds of the host for each of many calls that it does not wait for in between."""
    work()
    cuda.synchronize()
    begin = perf_counter()
    for _ in range(times):
        work()
    cuda.synchronize()
    return (perf_counter() - begin) / times


def each(kernel: Any, blocks: int, threads: int, rounds: tuple[int, int], *rest: Any) -> float:
    """Seconds of one round of a kernel: what more rounds take more."""
    few, many = (on_device(partial(kernel[blocks, threads], n, *rest)) for n in rounds)
    return (many - few) / (rounds[1] - rounds[0])


def cycle(places: int) -> Any:
    """An array on the device that leads from place to place through all of them, at random."""
    order = np.random.default_rng(0).permutation(places)
    following = np.empty(places, dtype=np.int32)
    following[order] = np.roll(order, -1)
    return cuda.to_device(following)


# Measures ---------------------------------------------------------------------------------------


def lines(small: bool) -> Iterator[Line]:
    """Measure one constant after the other."""
    device = cuda.get_current_device()
    processors = device.MULTIPROCESSOR_COUNT
    out = cuda.to_device(np.ones(2))
    times, rounds = (3, (1, 4)) if small else (1000, (1000, 8000))

    def launched(kernel: Any, arrays: int) -> float:
        return on_host(partial(kernel[1, 32], *[out] * arrays), times)

    one, twenty = launched(nothing_much, 1), launched(nothing, 20)
    yield Line("launch with 1 array", one * 1e6, "µs", "5.6 + 1.45")
    yield Line("each further array", (twenty - one) / 19 * 1e6, "µs", "1.45")
    yield Line("reading a status", on_host(lambda: out[0], times) * 1e6, "µs", "20")
    if device.COOPERATIVE_LAUNCH:
        for blocks in sorted({2, min(32, processors), processors}):
            seconds = each(meet, blocks, THREADS, rounds, out)
            yield Line(f"grid synchronisation, {blocks} blocks", seconds * 1e6, "µs", "1.5 to 3")
    seconds = each(wait_in_block, 1, 128, rounds, out)
    yield Line("barrier of 128 threads", seconds * 1e9, "ns", "12 to 21 (30 cycles)")
    seconds = each(follow_shared, 1, 32, rounds, cycle(1024), out)
    yield Line("shared memory answers after", seconds * 1e9, "ns", "12 to 21 (30 cycles)")
    # Bytes that fit in the L2 of all cards, and far more.
    sizes = {"L2": 2**12 if small else 2**22, "memory": 2**13 if small else 2**28}
    answers = {"L2": "90 to 240 (220 to 340 cycles)", "memory": "600 to 1200"}
    rates = {"L2": "5.0, 4.0, 5.5 TB/s peak", "memory": "1.0, 2.0, 3.35 TB/s peak"}
    for where, size in sizes.items():
        seconds = each(follow, 1, 1, rounds, cycle(size // 4), out)
        yield Line(f"{where} answers after", seconds * 1e9, "ns", answers[where])
    for where, size in sizes.items():
        values = cuda.to_device(np.ones(size // 8))
        for blocks in sorted({1, min(32, processors), processors, 8 * processors}):
            rate = size / each(read, blocks, THREADS, (1, 5), values, out)
            yield Line(f"reading {where}, {blocks} blocks", rate / 1e9, "GB/s", rates[where])
    for name, kernel, assumed in (
        ("float64", add_doubles, "0.65, 4.9, 17"),
        ("float32", add_singles, "41, 9.7, 33"),
    ):
        seconds = each(kernel, 8 * processors, THREADS, rounds, out)
        rate = 4 * 8 * processors * THREADS / seconds
        yield Line(f"sums in {name}", rate / 1e12, "T/s", assumed)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="little work, figures without meaning")
    parser.add_argument(
        "--output", type=Path, default=RESULTS / "cuda-probe.md", help="where to write"
    )
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", "Grid size")  # few blocks are meant
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else device.name
    major, minor = device.compute_capability
    found = []
    for line in lines(arguments.small):
        print(f"{line.what}: {figure(line.measured, 3)} {line.unit}", flush=True)
        found.append([line.what, f"{figure(line.measured, 3)} {line.unit}", line.assumed])
    text = [
        "# Constants of a card",
        "",
        f"`python -m benchmarks.cuda_probe` on {name}, compute capability {major}.{minor}, "
        f"{device.MULTIPROCESSOR_COUNT} multiprocessors. The last column is what the projections "
        "assume, for RTX 4090, A100 and H100 where there are three.",
        "",
        *table(("what", "measured", "assumed"), found),
    ]
    write(arguments.output, "\n".join(text) + "\n")


if __name__ == "__main__":
    main()
