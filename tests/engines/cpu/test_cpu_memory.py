"""What kernels allocate is freed, also by those that count no references."""

import os
import subprocess
import sys

CODE = """
from functools import partial
import numpy as np
from numba.core.runtime import rtsys
from microagg_gpu import METHODS, measures, microaggregate

rng = np.random.default_rng(0)
broad, one = rng.normal(size=(700, 4)), rng.normal(size=(700, 1))
kinds = {"ordinal": [0], "nominal": [1]}
codes = rng.integers(0, 5, size=(700, 3)).astype(float)
calls = {
    "mixed": partial(microaggregate, codes, 3, engine="cpu", **kinds),
    "large groups": partial(microaggregate, broad, 300, engine="cpu"),
    "refine": partial(microaggregate, broad, 3, refine_steps=20, engine="cpu"),
    "bound": lambda: microaggregate(broad, 3, engine="cpu").bound(),
    "linkage": lambda: measures.record_linkage(broad, broad.round(1)),
}
for name, method in METHODS.items():
    data = one if method.univariate else broad
    for options in [{"steps": 20}] if name == "best" else method.variants:
        call = partial(microaggregate, data, 3, name, engine="cpu", **options)
        calls[f"{name} {options}"] = call
for name, call in calls.items():
    call()
    kept = []
    for _ in range(2):
        call()
        counts = rtsys.get_allocation_stats()
        kept.append((counts.alloc - counts.free, counts.mi_alloc - counts.mi_free))
    assert kept[0] == kept[1], (name, kept)
print("nothing is kept")
"""


def test_nothing_is_kept():
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True, text=True, env={**os.environ, "NUMBA_NRT_STATS": "1"}, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("nothing is kept\n", 0), done.stderr[-2000:]
