"""t-closeness on Census, by merging and first: what each loses.

``python -m benchmarks.closeness`` protects two variables of Census, TAXINC and POTHVAL, with a
sensitive attribute (FEDTAX or FICA), for several k and t, and saves `results/closeness.md`. The
paper uses data of the same file (Soria-Comas et al. 2015). It takes about half a minute.
"""

import time

import numpy as np

from microagg_gpu import datasets, microaggregate

from .common import RESULTS, data_home, machine_line, table, write

KNOWN, SECRETS = ("TAXINC", "POTHVAL"), ("FEDTAX", "FICA")
SIZES, LIMITS = (2, 5, 10), (0.01, 0.05, 0.1, 0.15, 0.25)


def main() -> None:
    """Run all of it and write the page."""
    begun = time.perf_counter()
    census = datasets.fetch("census", data_home())
    columns = dict(zip(census.columns, census.data.T, strict=True))
    rows = []
    for secret in SECRETS:
        data = np.column_stack([columns[name] for name in (*KNOWN, secret)])
        related = np.corrcoef(data[:, 0], data[:, 2])[0, 1]
        for k in SIZES:
            plain = microaggregate(data, k, sensitive=2)
            assert plain.closeness is not None
            for t in LIMITS:
                row = [f"{secret} (r = {related:.2f})", str(k), f"{t:g}", f"{plain.loss:.2f}"]
                row.append(f"{plain.closeness.distance:.3f}")
                for how in ("first", "merge"):
                    result = microaggregate(data, k, sensitive=2, t=t, t_method=how)
                    row += [f"{result.loss:.2f}", f"{len(result.sizes):,}"]
                rows.append(row)
                print(*row, flush=True)
    heads = (
        "sensitive", "k", "t", "loss % without t", "distance without t", "loss % first",
        "groups first", "loss % merge", "groups merge",
    )  # fmt: skip
    text = [
        "# t-closeness",
        "",
        f"What t-closeness costs on Census: {' and '.join(KNOWN)} are protected by MDAV and the "
        "sensitive attribute is published as it is (*r*: its correlation with TAXINC). "
        "Made by `python -m benchmarks.closeness` in "
        f"{time.perf_counter() - begun:.0f} s on {machine_line()}.",
        "",
        "`first` is better for a small t, `merge` for a large one, or if few groups are beyond it. "
        "The default does both and keeps what loses less.",
        "",
        *table(heads, rows, numbers=True),
        "",
    ]
    write(RESULTS / "closeness.md", "\n".join(text))


if __name__ == "__main__":
    main()
