"""The least loss of every method, next to the papers' figures and a certified lower bound.

``python -m benchmarks.loss`` runs all parts and saves `results/loss.json` after every run and
`results/loss.md` at the end. Runs that the JSON file already has are not repeated, so that it can
be stopped and goes on where it was; ``--fresh`` begins anew. Parts (``--parts``):

files     Tarragona, Census and EIA for k = 3, 4, 5, 10 (or ``-k 25,50,100``): the portfolio "best"
          with ``--seeds`` seeds (``--seconds`` each), every method, the bound
certificates  the same files for k = 3, 4, 5: bounds by set partitioning (needs highspy)
sim13     SIM_13, k = 5: "best" in 10, 45 and 180 s
clusters  SIM_1 to SIM_8, k = 4: below the upper bound UB of Table 7 of the 2005 paper?
million   1,000,000 x 10 in clusters, k = 5: "best" in 30, 60, 150 and 300 s
"""

import argparse
import time
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from microagg_gpu import METHODS, microaggregate
from microagg_gpu.datasets import clusters, fetch, simulated
from microagg_gpu.methods import annealing

from ..common import RESULTS, SavedRuns, data_home, load, write
from ..papers.simulations import upper_bound
from .certificates import certificates
from .report import report

best: Any = import_module("microagg_gpu.methods.best")  # in its package the name is the function's
SAVED = RESULTS / "loss.json"
FILES = ("tarragona", "census", "eia")
SKIPPED = ("fixed", "optimal", "individual", "best")  # of one variable; of no whole records
SLOW_TSP = 1500  # records


def protect(data: np.ndarray, k: int, method: str = "mdav", **given: Any) -> dict[str, float]:
    """Loss of a method."""
    begun = time.thread_time()
    loss = microaggregate(data, k=k, method=method, **given).loss
    if method != "best" or best.clock is not time.thread_time:
        return {"loss": loss}
    return {"loss": loss, "load": load(), "shared": time.thread_time() - begun}


def warm_up() -> None:
    """Compile what will be timed."""
    data = np.random.default_rng(0).normal(size=(20_000, 3))
    microaggregate(data[:800], 3, "best", seconds=1.0)
    microaggregate(data, 3, refine_steps=1)  # lists of neighbours


def bound(data: np.ndarray, k: int) -> dict[str, float]:
    """The certified lower bound."""
    return {"loss": microaggregate(data, k).bound().loss}


def files(runs: SavedRuns, seconds: float, names: list[str], sizes: list[int], seeds: int) -> None:
    """The three reference files, or some of them."""
    for k in sizes:
        for name in names:
            data = fetch(name, data_home()).data
            for seed in range(seeds):
                runs(
                    f"files {name} k={k} best {seconds:g} s seed={seed}",
                    partial(protect, data, k, "best", seconds=seconds, seed=seed),
                )
    for k in sizes:
        for name in names:
            data = fetch(name, data_home()).data
            for method in METHODS:
                if method in SKIPPED or (method == "tsp" and len(data) > SLOW_TSP):
                    continue
                for options in METHODS[method].variants:
                    words = " ".join([method, *map(str, options.values())])
                    runs(
                        f"files {name} k={k} method {words}",
                        partial(protect, data, k, method, **options),
                    )
            runs(f"files {name} k={k} bound", partial(bound, data, k))


def sim13(runs: SavedRuns) -> None:
    """SIM_13 by MDAV and the portfolio, and its bound."""
    data = simulated("SIM_13")
    runs("sim13 mdav", partial(protect, data, 5))
    for seconds in (10, 45, 180):
        runs(f"sim13 best {seconds} s", partial(protect, data, 5, "best", seconds=seconds))
    runs("sim13 bound", partial(bound, data, 5))


def true_clusters(data: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Row UB of Table 7 of the 2005 paper."""
    return {"loss": upper_bound(data, truth, 4)}


def clustered(runs: SavedRuns, seconds: float) -> None:
    """SIM_1 to SIM_8 against the loss of their true clusters divided by D or C."""
    for number in range(1, 9):
        name = f"SIM_{number}"
        data, truth = simulated(name, labels=True)
        runs(f"clusters {name} UB", partial(true_clusters, data, truth))
        runs(f"clusters {name} mdav", partial(protect, data, 4))
        runs(f"clusters {name} refine={seconds:g}", partial(protect, data, 4, refine=seconds))


def million(runs: SavedRuns) -> None:
    """1,000,000 records: the portfolio, and the methods that it starts from."""
    data = clusters(2000, 10, 0.05, 500, 500, seed=1)
    runs("million path curve", partial(protect, data, 5, "path", order="curve"))
    runs("million mdav", partial(protect, data, 5))
    for seconds in (30, 60, 150, 300):
        runs(f"million best {seconds} s", partial(protect, data, 5, "best", seconds=seconds))


def main() -> None:
    """Run the parts asked for, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default="files,certificates,sim13,clusters,million")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each run of best")
    parser.add_argument("--files", default=",".join(FILES))
    parser.add_argument("-k", default="3,4,5,10", help="sizes for the files")
    parser.add_argument("--seeds", type=int, default=5, help="of best")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument(
        "--shared", action="store_true",
        help="on a machine that others use: count processor seconds of the first thread",
    )  # fmt: skip
    given = parser.parse_args()
    parts = given.parts.split(",")
    runs = SavedRuns(given.fresh, SAVED)
    warm_up()
    if given.shared:
        best.clock = annealing.clock = time.thread_time
    if "files" in parts:
        sizes = [int(k) for k in given.k.split(",")]
        files(runs, given.seconds, given.files.split(","), sizes, given.seeds)
    if "certificates" in parts:
        certificates(runs, given.files.split(","), [int(k) for k in given.k.split(",")])
    if "sim13" in parts:
        sim13(runs)
    if "clusters" in parts:
        clustered(runs, 30.0)
    if "million" in parts:
        million(runs)
    text = report(runs.done)
    write(SAVED.with_suffix(".md"), text)
    print(text)


if __name__ == "__main__":
    main()
