"""Tables and files for tests on a Dask cluster."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from distributed import LocalCluster

VARIABLES = ["a", "b", "c"]

# Any port, and no noise about workers that end.
start = partial(LocalCluster, threads_per_worker=1, dashboard_address=":0", silence_logs=50)


def computed(collection, client):
    """A Dask DataFrame or Series as a whole.

    Its own compute() sends an expression, and Dask's cache of expressions is not made for a
    scheduler in this process: now and then that is a KeyError.
    """
    return pd.concat(client.gather(client.compute(list(collection.to_delayed()))))


def table(n=1200, seed=0):
    """Records with whole numbers, strata, weights and columns to be left alone."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["c"] = rng.integers(0, 1000, n)
    frame["region"] = rng.choice(["north", "south", "west"], n)
    frame["w"] = rng.uniform(1, 5, n)
    frame["id"] = np.arange(n)[::-1]
    return frame.set_index(pd.Index(np.arange(n) * 3, name="key"))


def gaps(frame, seed=1):
    """The same with values missing in two variables."""
    rng = np.random.default_rng(seed)
    return frame.assign(
        a=frame["a"].mask(rng.random(len(frame)) < 0.2), b=frame["b"].mask(frame["a"] > 1)
    )


def assert_k(frame, columns, k):
    """Counted by pandas: each record is one of k with equal values."""
    assert frame.groupby(columns, dropna=False, observed=True).size().min() >= k


def read_files(paths):
    """What stands in Parquet files, as one frame."""
    return pa.concat_tables([pq.read_table(path) for path in paths]).to_pandas()


def write_files(frame, folder="in", parts=3):
    """Parquet files, one of them empty, with types and notes that pandas would lose."""
    whole = pa.Table.from_pandas(frame.reset_index(drop=True), preserve_index=False)
    whole = whole.set_column(2, "c", whole["c"].cast(pa.int16()))
    whole = whole.set_column(3, "region", whole["region"].dictionary_encode().unify_dictionaries())
    whole = whole.replace_schema_metadata({"source": "survey 2026"})
    Path(folder).mkdir()
    size = -(-len(frame) // parts)
    for i in range(parts):
        pq.write_table(whole.slice(i * size, size), f"{folder}/part-{i}.parquet")
    pq.write_table(whole.slice(0, 0), f"{folder}/part-{parts}.parquet")
    return whole
