"""``microagg methods`` and ``microagg info``."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from rich import box
from rich.table import Table

from ..engines import gpu_available, usable_engines
from ..methods import METHODS
from .output import stdout
from .parsing import defaults


def list_methods() -> None:
    """List the methods, where they were published, what they cost and their options."""
    table = Table("method", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("published", min_width=16)
    for name, width in (("time", 12), ("groups", 8), ("d", 3)):
        table.add_column(name, max_width=width)
    table.add_column("options", no_wrap=True, min_width=19)
    table.padding = (0, 1, 0, 0)
    for name, method in METHODS.items():
        options = "\n".join(f"{option}={value}" for option, value in defaults(name).items())
        variables = "1" if method.univariate else "any"
        table.add_row(name, method.paper, method.cost, method.sizes, variables, options)
    stdout().print(table)
    stdout().print("n records of d variables; options are given as --option NAME=VALUE")


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
