"""Files that the command is run on, and running it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

LARGE = 200_000
COLUMNS = "turnover,staff"


def table(n: int, seed: int = 1) -> pa.Table:
    """Companies: an identifier, a region, two numbers."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"c{i:06d}" for i in range(n)],
            "region": rng.choice(["north", "south", "west"], n),
            "turnover": np.round(rng.lognormal(8, 2, n), 2),
            "staff": rng.integers(1, 500, n),
        }
    )


def write_table(content: pa.Table, path: Path) -> None:
    """Write a table as the ending of the name says; ``.stream.arrow`` is an Arrow stream."""
    endings = path.suffixes
    if ".parquet" in endings:
        pa.parquet.write_table(content, path)
    elif ".arrow" in endings:
        kind = pa.ipc.new_stream if ".stream" in endings else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as file, kind(file, content.schema) as writer:
            writer.write_table(content)
    else:
        compression = {".gz": "gzip", ".zst": "zstd"}.get(endings[-1])
        with pa.output_stream(str(path), compression=compression) as stream:
            pa.csv.write_csv(content, stream)


def start(arguments: list[Any], folder: Path, **given: Any) -> "subprocess.Popen[bytes]":
    """Start the real command in a folder, in a session of its own."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "microagg_gpu", *map(os.fsencode, map(str, arguments))],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}, **given,
    )  # fmt: skip


def names(folder: Path) -> set[str]:
    """The names of all files in a folder."""
    return set(os.listdir(folder))
