"""Rules on contributors on the reference files: groups that break them, and what a repair costs.

``python -m benchmarks.contributors`` runs quick methods on Census, Tarragona and EIA (first 1,080
records) with (1, 85)-dominance and the 10 % rule, before and after the repair, and saves
`results/contributors.md`. It takes about a minute.
"""

import time
from typing import Any

from microagg_gpu import datasets, microaggregate

from .common import RESULTS, data_home, machine_line, table, write

FILES = "census", "tarragona", "eia"
RECORDS = 1080
RULE: dict[str, Any] = {"dominance": (1, 85), "p_percent": 10}
RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mdav", {}),
    ("vmdav", {}),
    ("mst", {"split": "centroid"}),
    ("projection", {}),
    ("individual", {}),
    ("mdav", {"refine_steps": 200}),
)


def main() -> None:
    """Run all of it and write the page."""
    begun = time.perf_counter()
    rows = []
    for name in FILES:
        data = datasets.fetch(name, data_home()).data[:RECORDS]
        for k in (3, 5, 10):
            for method, options in RUNS:
                result = microaggregate(data, k, method, **RULE, **options)
                repair = result.dominance
                assert repair is not None
                label = method + ", refined" * ("refine_steps" in options)
                rows.append(
                    [
                        name, str(k), label, f"{repair.before.broken:,}",
                        f"{repair.before.groups:,}", f"{repair.after.broken:,}",
                        f"{repair.loss_before:.2f}", f"{result.loss:.2f}",
                        f"{result.seconds:.1f}",
                    ]
                )  # fmt: skip
                print(*rows[-1], flush=True)
    heads = (
        "file", "k", "method", "broken before", "of groups", "broken after", "loss before %",
        "loss after %", "seconds",
    )  # fmt: skip
    text = [
        "# Rules on contributors",
        "",
        "How many groups break (1, 85)-dominance or the 10 % rule in some variable, with each "
        "method, before and after their repair, and what the repair costs in loss. Made by "
        "`python -m benchmarks.contributors` "
        f"in {time.perf_counter() - begun:.0f} s on {machine_line()}. EIA: the first "
        f"{RECORDS:,} records.",
        "",
        *table(heads, rows, numbers=True),
        "",
    ]
    write(RESULTS / "contributors.md", "\n".join(text))


if __name__ == "__main__":
    main()
