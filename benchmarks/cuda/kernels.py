"""Every kernel of the CUDA engine and the types it is launched with.

``NUMBA_ENABLE_CUDASIM=1 python -m benchmarks.cuda.kernels`` runs every method on tiny tables in
Numba's simulator, notes what is launched and prints it as JSON: no GPU and no CUDA compiler is
needed. `found` does that in a process of its own, since a process either simulates or compiles.
"""

import inspect
import itertools
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..common import ROOT

ENGINE = "microagg_gpu.kernels.cuda"
REALS = ("float64", "float32")
RECORDS, K = 26, 3
# Options that reach other kernels than a method's variants do.
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "centroid": ({"gather": "seed"},),
    "diameter": ({"gather": "seed"},),
    "individual": ({"inner": "optimal"}, {"inner": "kward"}),
    "tsp": ({"tour": "nearest"},),
}
Type = tuple[str, int]  # dtype and number of dimensions, 0 for a number


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what must be known to compile it.

    Attributes
    ----------
    module, factory, name : str
        Where it comes from: ``module.factory(real, ...).name``.
    real : str
        "float64" or "float32".
    cooperative : bool or None
        Whether its team is the whole grid; None where the factory does not ask.
    types : tuple of (dtype, dimensions)
        Its arguments; empty if no method launched it.
    methods : tuple of str
        Those that launch it.
    """

    module: str
    factory: str
    name: str
    real: str
    cooperative: bool | None
    types: tuple[Type, ...] = ()
    methods: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its short name, the same for both types of numbers."""
        team = {None: "", True: ", grid", False: ", block"}[self.cooperative]
        return f"{self.module}.{self.name}{team}"


def factories() -> Iterator[tuple[str, str, Any]]:
    """Module, name and function of each cached function of the engine that makes kernels."""
    package = import_module(ENGINE)
    for found in pkgutil.iter_modules(package.__path__):
        module = import_module(f"{ENGINE}.{found.name}")
        for name, value in vars(module).items():
            own = getattr(value, "__module__", "") == module.__name__
            if own and name.startswith("make_") and hasattr(value, "cache_info"):
                yield found.name, name, value


def asks_for_team(factory: Any) -> bool:
    """Whether a factory makes other kernels for a team that is the grid."""
    return "cooperative" in inspect.signature(factory).parameters


def made(factory: Any, real: str, team: bool | None) -> dict[str, Any]:
    """The kernels of a factory by name."""
    return vars(factory(getattr(np, real), *(() if team is None else (team,))))


def described(argument: Any) -> Type:
    """The type of an argument."""
    if hasattr(argument, "dtype"):
        if argument.ndim and not argument.flags.c_contiguous:
            raise ValueError("a kernel got an array that is not contiguous")
        return str(argument.dtype), argument.ndim
    return str(np.asarray(argument).dtype), 0


def runs() -> Iterator[tuple[str, dict[str, Any], np.ndarray]]:
    """Methods, options and tables that together launch every kernel."""
    from microagg_gpu import METHODS

    table = np.random.default_rng(0).normal(size=(RECORDS, 3))
    for name, method in METHODS.items():
        points = table[:, :1] if method.univariate else table
        points = points[:8] if name == "tsp" else points  # a tour from each: slow
        few = {"generations": 2, "population": 4} if name == "genetic" else {}
        for options in (*method.variants, *MORE.get(name, ())):
            yield name, few | options, points


class _Enough(Exception):
    """A kernel cannot be executed here."""


class _Notes(list):
    """Launches of one run, which ends where the blocks of a kernel would meet."""

    def append(self, launch: tuple[Any, int, tuple[Any, ...]]) -> None:
        super().append(launch)
        if meets(launch[0].fn):
            raise _Enough


def meets(function: Any) -> bool:
    """Whether a function, or one that it calls, waits for the whole grid."""
    inner = (getattr(cell.cell_contents, "fn", None) for cell in function.__closure__ or ())
    return "this_grid" in function.__code__.co_names or any(meets(f) for f in inner if f)


def pretend_teams(launching: Any) -> None:
    """Form teams of two blocks, as on a device."""
    device = SimpleNamespace(MULTIPROCESSOR_COUNT=2, COOPERATIVE_LAUNCH=True)
    launching.SIMULATED = False
    launching.RECORDS_PER_BLOCK = RECORDS // 2
    launching.cuda = SimpleNamespace(get_current_device=lambda: device)


def launched(methods: list[str]) -> tuple[dict[int, dict[tuple[Type, ...], set[str]]], list[str]]:
    """Argument types of each kernel launched, by its id, with the methods; and what failed.

    Every run is done twice: by teams of one block, then by teams of two up to where they meet.
    """
    from microagg_gpu import METHODS

    engine = import_module(ENGINE)
    launching: Any = import_module(f"{ENGINE}.launching")
    seen: dict[int, dict[tuple[Type, ...], set[str]]] = {}
    failed: dict[str, None] = {}
    jobs = [run for run in itertools.product(runs(), REALS) if run[0][0] in (methods or METHODS)]
    for teams in (False, True):
        if teams:
            pretend_teams(launching)
        for (name, options, points), real in jobs:
            launching.LAUNCHES = _Notes()
            try:
                METHODS[name].function(points.astype(real), K, engine=engine, **options)
            except _Enough:
                pass
            except Exception as error:
                told = " ".join([name, *map(str, options.values())])
                failed[f"{told}: {type(error).__name__}: {error}"] = None
            note(seen, name, launching.LAUNCHES)
    return seen, list(failed)


def note(seen: dict[int, dict[tuple[Type, ...], set[str]]], method: str, launches: _Notes) -> None:
    """Add the launches of a run of a method to those seen."""
    for kernel, _, arguments in launches:
        types = tuple(described(argument) for argument in arguments)
        seen.setdefault(id(kernel), {}).setdefault(types, set()).add(method)


def kernels(methods: list[str]) -> tuple[list[Kernel], list[str]]:
    """Every kernel for both types of numbers, and what failed.

    What was launched for a team that is a block takes the same arguments for one that is the
    whole grid, and the other way round.
    """
    sys.setswitchinterval(1e-6)  # the simulator's threads are Python's: at 5 ms it would crawl
    seen, failed = launched(methods)
    result = []
    for (module, factory, function), real in itertools.product(factories(), REALS):
        teams = (False, True) if asks_for_team(function) else (None,)
        by_name = {team: made(function, real, team) for team in teams}
        for name in by_name[teams[0]]:
            known: dict[tuple[Type, ...], set[str]] = {}
            for team in teams:
                for types, users in seen.get(id(by_name[team][name]), {}).items():
                    known.setdefault(types, set()).update(users)
            for team, types in itertools.product(teams, known or {(): set()}):
                by = tuple(sorted(known.get(types, ())))
                result.append(Kernel(module, factory, name, real, team, types, by))
    return result, failed


def found(methods: list[str]) -> tuple[list[Kernel], list[str]]:
    """What `kernels` finds, in a process that simulates."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cuda.kernels", *methods],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    answer = json.loads(done.stdout.splitlines()[-1])
    rows = []
    for row in answer["kernels"]:
        types = tuple((dtype, dimensions) for dtype, dimensions in row.pop("types"))
        rows.append(Kernel(**row | {"types": types, "methods": tuple(row["methods"])}))
    return rows, answer["failed"]


if __name__ == "__main__":
    every, problems = kernels(sys.argv[1:])
    print(json.dumps({"kernels": [asdict(kernel) for kernel in every], "failed": problems}))
