"""What kernels allocate is freed, also by those that count no references."""

import os
import subprocess
import sys

CODE = """
import numpy as np
from numba.core.runtime import rtsys
from microagg_gpu import METHODS, measures, microaggregate

rng = np.random.default_rng(0)
broad, one = rng.normal(size=(700, 4)), rng.normal(size=(700, 1))
kinds = {"ordinal": [0], "nominal": [1]}
codes = rng.integers(0, 5, size=(700, 3)).astype(float)
runs = {
    name: [lambda name=name, data=data, options=options: microaggregate(
        data, 3, name, engine="cpu", **options) for options in METHODS[name].variants
        if (name, options) != ("best", {})]
    for name in METHODS
    for data in [one if name in ("fixed", "optimal") else broad]
}
more = {
    "mixed": [lambda: microaggregate(codes, 3, engine="cpu", **kinds)],
    "large groups": [lambda: microaggregate(broad, 300, engine="cpu")],
    "refine": [lambda: microaggregate(broad, 3, refine_steps=20, engine="cpu")],
    "bound": [lambda: microaggregate(broad, 3, engine="cpu").bound()],
    "linkage": [lambda: measures.record_linkage(broad, broad.round(1))],
}
for name, calls in (runs | more).items():
    if name == "best":
        calls = [lambda: microaggregate(broad, 3, "best", steps=20, engine="cpu")]
    for call in calls:
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
