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
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from microagg_gpu.kernels.arguments import Partition, Sweep

from ..common import ROOT

ENGINE = "microagg_gpu.kernels.cuda"
REALS = ("float64", "float32")
RECORDS, K = 26, 3
# Tours from each record, and walks of warps, are slow to simulate.
FEW = {"tsp": 8, "mst": 10, "path": 8, "best": 6}
# Options that reach other kernels than a method's variants do.
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "centroid": ({"gather": "seed"},),
    "diameter": ({"gather": "seed"},),
    "individual": ({"inner": "optimal"}, {"inner": "kward"}),
    "tsp": ({"tour": "nearest"},),
}
# Dtype and dimensions, 0 for a number; of a named tuple its module and name, and its types.
Type = tuple[str, int | tuple[Any, ...]]


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what must be known to compile it.

    Attributes
    ----------
    module, factory, name : str
        Where it comes from: ``module.factory(real, ...).name``; without a factory ``module.name``.
    real : str
        "float64" or "float32".
    cooperative : bool or None
        Whether its team is the whole grid; None where the factory does not ask.
    types : tuple of Type
        Those of its arguments; empty if no method launched it.
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


def module_kernels() -> Iterator[tuple[str, str, Any]]:
    """Module, name and kernel of those that no factory makes, in Numba's simulator."""
    package = import_module(ENGINE)
    for found in pkgutil.iter_modules(package.__path__):
        module = import_module(f"{ENGINE}.{found.name}")
        for name, value in vars(module).items():
            python = getattr(value, "fn", None)
            own = getattr(python, "__module__", "") == module.__name__
            if own and not getattr(value, "_device", True):
                yield found.name, name, value


def asks_for_team(factory: Any) -> bool:
    """Whether a factory makes other kernels for a team that is the grid."""
    return "cooperative" in inspect.signature(factory).parameters


def made(factory: Any, real: str, team: bool | None) -> dict[str, Any]:
    """The kernels of a factory by name."""
    return vars(factory(getattr(np, real), *(() if team is None else (team,))))


def described(argument: Any) -> Type:
    """The type of an argument."""
    if isinstance(argument, tuple):
        kind = type(argument)
        return f"{kind.__module__}.{kind.__name__}", tuple(described(each) for each in argument)
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
        points = points[: FEW.get(name, RECORDS)]
        few = {"genetic": {"generations": 2, "population": 4}, "best": {"steps": 2}}.get(name, {})
        for options in (*method.variants, *MORE.get(name, ())):
            yield name, options | few, points


def operations(engine: Any) -> dict[str, Callable[[np.ndarray], Any]]:
    """What no method on so few records reaches."""

    def best_moves(points: np.ndarray) -> None:
        every = np.arange(len(points))
        partition = Partition(every // 2, every.reshape(-1, 2), points[::2].astype(np.float64))
        engine.best_moves(points, partition, every[::-1].reshape(-1, 1).copy(), every, 2, 0.0)

    return {
        "rounds of mdav and vmdav": _rounds,
        "rounds of kward": _ward_rounds,
        "mst of many variables": lambda points: import_module(f"{ENGINE}.prim").prim(points),
        "neighbours": lambda points: engine.neighbours(points, 2),
        "nearest_records": lambda points: engine.nearest_records(points, points),
        "best_moves": best_moves,
        "annealing": _anneal,
        "searches of mst": _search_and_cut,
    }


def _anneal(points: np.ndarray) -> None:
    """A sweep in shared memory and one in the device's; values are in double precision."""
    annealing: Any = import_module(f"{ENGINE}.annealing")
    regions: Any = import_module(f"{ENGINE}.regions")
    points, labels = points.astype(np.float64), np.arange(len(points)) // 2
    near = np.arange(len(points))[::-1].reshape(-1, 1).copy()
    usual = annealing.SHARED
    try:
        for annealing.SHARED in (usual, 0):
            groups, starts = regions.divide(points, labels, 2, np.uint64(0))
            sweep = Sweep(groups, starts, np.ones(len(points)), 1.0, np.uint64(0))
            annealing.anneal(points, near, labels.copy(), 2, sweep)
    finally:
        annealing.SHARED = usual


def _rounds(points: np.ndarray) -> None:
    """Both methods in rounds; records in single precision are never."""
    rounds: Any = import_module(f"{ENGINE}.rounds")
    usual, rounds.FEW = rounds.FEW, 0
    try:
        if rounds.possible(points, K):
            rounds.mdav(points, K)
            rounds.vmdav(points, K, 0.2)
    finally:
        rounds.FEW = usual


def _ward_rounds(points: np.ndarray) -> None:
    """Both steps of k-Ward as for many records; those in single precision take others."""
    rounds, ward_rounds, engine = (
        import_module(name) for name in (f"{ENGINE}.rounds", f"{ENGINE}.ward_rounds", ENGINE)
    )
    every, within = np.arange(len(points)), np.zeros(len(points), dtype=np.int64)
    with patch.object(rounds, "FEW", 0), patch.object(ward_rounds, "FEW", 0):
        engine.extreme_groups(points, within, K, False)
        engine.merge_until_k(points, every, within, K)


def _search_and_cut(points: np.ndarray) -> None:
    """A spanning tree of which every component has to search, and which the device cuts."""
    mst: Any = import_module(f"{ENGINE}.mst")
    usual, mst.LISTED = mst.LISTED, 1
    try:
        tree = mst.minimum_spanning_tree(points)
        boxes = mst.flattened(mst.build(points))  # of many records they have another level
        common = np.zeros((len(boxes.lowest) + 1, *boxes.lowest.shape[1:]), boxes.lowest.dtype)
        mst.launch(mst.find_common, 1, boxes, common, 1)
    finally:
        mst.LISTED = usual
    import_module(f"{ENGINE}.cut").cut_in_rounds(*tree, len(points), K)


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
    launching.blocks_that_fit = lambda *arguments: 2


def launched(methods: list[str]) -> tuple[dict[int, dict[tuple[Type, ...], set[str]]], list[str]]:
    """Argument types of each kernel launched, by its id, with the methods; and what failed.

    Every run is done twice: by teams of one block, then by teams of two up to where they meet.
    """
    from microagg_gpu import METHODS

    engine = import_module(ENGINE)
    launching: Any = import_module(f"{ENGINE}.launching")
    seen: dict[int, dict[tuple[Type, ...], set[str]]] = {}
    failed: dict[str, None] = {}
    jobs: list[tuple[str, str, Callable[[np.ndarray], Any], np.ndarray]] = []
    for name, options, points in runs():
        call = " ".join([name, *map(str, options.values())])
        function = partial(METHODS[name].function, k=K, engine=engine, **options)
        jobs += [(name, call, function, points)] if name in (methods or METHODS) else []
    if not methods or "mst" in methods:
        table = np.random.default_rng(0).normal(size=(10, 3))
        jobs += [(name, name, does, table) for name, does in operations(engine).items()]
    for teams in (False, True):
        if teams:
            pretend_teams(launching)
        for (name, call, function, points), real in itertools.product(jobs, REALS):
            launching.LAUNCHES = _Notes()
            try:
                function(points.astype(real))
            except _Enough:
                pass
            except Exception as error:
                failed[f"{call}: {type(error).__name__}: {error}"] = None
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
    for module, name, kernel in module_kernels():
        for types, users in (seen.get(id(kernel)) or {(): set()}).items():
            by = tuple(sorted(users))
            result.append(Kernel(module, "", name, _real_of(types), None, types, by))
    return result, failed


def _real_of(types: tuple[Type, ...]) -> str:
    """The type of the numbers among a kernel's arguments."""
    inside = [kind[1] if isinstance(kind[1], tuple) else (kind,) for kind in types]
    names = {name for kinds in inside for name, _ in kinds}
    return "float32" if "float32" in names and "float64" not in names else "float64"


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
        types = _in_tuples(row.pop("types"))
        rows.append(Kernel(**row | {"types": types, "methods": tuple(row["methods"])}))
    return rows, answer["failed"]


def _in_tuples(value: Any) -> Any:
    """What JSON has in lists."""
    return tuple(map(_in_tuples, value)) if isinstance(value, list) else value


if __name__ == "__main__":
    every, problems = kernels(sys.argv[1:])
    print(json.dumps({"kernels": [asdict(kernel) for kernel in every], "failed": problems}))
