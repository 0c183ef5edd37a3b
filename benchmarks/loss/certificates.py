"""How close the best losses are to the optimum: set partitioning by column generation."""

import os
import time
from functools import partial
from typing import Any

import numpy as np

from microagg_gpu import microaggregate
from microagg_gpu.datasets import fetch
from microagg_gpu.kernels.compiling import clock
from microagg_gpu.measures import sse, sst
from microagg_gpu.measures.columns import Columns

from ..common import SavedRuns, data_home, machine_line

SECONDS = {3: 120.0, 4: 240.0, 5: 240.0}  # for the bound
BEST = 20.0  # seconds of method best, to begin with
WHOLE = 90.0  # at most, for whole groups among the columns


def whole_groups(columns: Columns, seconds: float) -> np.ndarray | None:
    """A partition made of the columns, as good as is found in the time: its labels."""
    groups, n = columns.groups, columns.n
    highs = columns.highs.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("time_limit", seconds)):
        highs.setOptionValue(name, value)
    program = columns.highs.HighsLp()
    program.num_col_, program.num_row_ = len(groups), n
    program.col_cost_ = columns._costs(groups)
    program.col_lower_, program.col_upper_ = np.zeros(len(groups)), np.ones(len(groups))
    program.row_lower_ = program.row_upper_ = np.ones(n)
    start = np.append(0, np.cumsum((groups >= 0).sum(axis=1)))
    program.a_matrix_.format_ = columns.highs.MatrixFormat.kColwise
    program.a_matrix_.start_ = start.astype(np.int32)
    program.a_matrix_.index_ = groups[groups >= 0].astype(np.int32)
    program.a_matrix_.value_ = np.ones(start[-1])
    program.integrality_ = [columns.highs.HighsVarType.kInteger] * len(groups)
    highs.passModel(program)
    highs.run()
    labels = np.full(n, -1)
    for number, group in enumerate(groups[np.array(highs.getSolution().col_value) > 0.5]):
        labels[group[group >= 0]] = number
    return labels if labels.min() >= 0 else None


def certificate(name: str, k: int) -> dict[str, Any]:
    """Bound and losses of a file, in percent, with processor time, load and machine."""
    data = fetch(name, data_home()).data
    points = (data - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    total = sst(points)
    result = microaggregate(data, k, "best", seconds=BEST)
    begun, load = time.process_time(), os.getloadavg()[0]
    columns = Columns(points, k, result.labels, clock() + SECONDS[k])
    bound = columns.solve(0.0, None)
    took = time.process_time() - begun
    found = {"best": result.loss, "loss": 100 * bound / total, "processor": round(took, 1)}
    labels = whole_groups(columns, WHOLE)
    if labels is not None:
        found["whole"] = 100 * sse(points, labels) / total
    return found | {"load": round(load, 1), "machine": machine_line()}


def certificates(runs: SavedRuns, names: list[str], sizes: list[int]) -> None:
    """Bounds by set partitioning, for k = 3, 4 and 5."""
    for k in sizes:
        for name in names:
            if k in SECONDS:
                runs(f"certificate {name} k={k}", partial(certificate, name, k))
