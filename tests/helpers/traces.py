"""Records with a secret in them, and a search for it in what was published."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

SECRET = "Zacharias Quillfeather the only one in his village"
NUMBER = 7_654_321_987.125  # an amount that stands behind a null
N = 24


def survey():
    """Records of 24 people; the last is alone in his region and is suppressed."""
    rng = np.random.default_rng(3)
    return {
        "name": [*(f"a person with the number {i}" for i in range(N - 1)), SECRET],
        "region": ["north", "south"] * ((N - 1) // 2) + ["south", SECRET],
        "level": ["low", "high", "low"] * (N // 3),
        "turnover": [*rng.normal(100, 9, N - 1).tolist(), NUMBER],
        "staff": rng.integers(1, 9, N).tolist(),
    }


CHOICES = {"columns": ["turnover", "staff"], "by": ["region"], "small_strata": "suppress"}


def traces(data):
    """What of the secrets is in some bytes, as text or as a number."""
    words = {SECRET: SECRET.encode(), "number": np.float64(NUMBER).tobytes(),
             "number as text": str(NUMBER).encode()}  # fmt: skip
    return [name for name, word in words.items() if word in data]


def uncompressed(name):
    """The columns of a file as they lie in memory, with dictionaries and metadata."""
    table = pq.read_table(name) if name.endswith("t") else pyarrow.feather.read_table(name)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
