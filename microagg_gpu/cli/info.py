"""``microagg methods`` and ``microagg info``."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version

from rich import box
from rich.table import Table

from ..engines import gpu_available, usable_engines
from ..methods import METHODS
from .output import stdout
from .parsing import defaults


def list_methods() -> None:
    """List the methods: what each is good for, its options and where it was published."""
    table = Table("method", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("good for", min_width=20)
    table.add_column("options", no_wrap=True, min_width=19)
    table.add_column("published", min_width=16)
    table.padding = (0, 1, 0, 0)
    for first in (True, False):
        for name, method in METHODS.items():
            if method.recommended == first:
                options = "\n".join(f"{o}={value}" for o, value in defaults(name).items())
                style = "bold" if first else ""
                # Without what follows the year: the paper's own names of its methods.
                paper = re.sub(r"(\d{4}),.*", r"\1", method.paper)
                table.add_row(name, method.good_for, options, paper, style=style)
        table.add_section()
    stdout().print(table)
    stdout().print(
        "The first two are for most users. Options are given as --option NAME=VALUE; the site "
        "and `help(microagg_gpu.METHODS)` say more."
    )


def info() -> None:
    """Print versions, engines, devices and threads."""
    table = Table(box=None, show_header=False)
    table.add_row("python", platform.python_version())
    libraries = ("numpy", "array-api-compat", "narwhals", "numba", "numba-cuda", "cupy", "torch")
    for name in ("microagg-gpu", *libraries, "dask", "pyarrow", "pandas", "polars", "scikit-learn"):
        table.add_row(name, _version(name))
    table.add_row("engines", ", ".join(usable_engines()))
    table.add_row("processor cores", str(os.cpu_count()))
    table.add_row("threads", os.environ.get("NUMBA_NUM_THREADS", str(cores())))
    table.add_row("GPU", _gpus() if gpu_available() else "none found")
    stdout().print(table)


def cores() -> int:
    """Cores that this process may use, which are the threads that Numba takes."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(name: str) -> str:
    # CuPy's packages are named after the version of CUDA.
    for package in ["cupy", "cupy-cuda12x", "cupy-cuda13x"] if name == "cupy" else [name]:
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "not installed"


def _gpus() -> str:
    from cupy.cuda import runtime

    found = [runtime.getDeviceProperties(i)["name"] for i in range(runtime.getDeviceCount())]
    return ", ".join(name.decode() for name in found)
