"""Who may import whom, and what importing the package must not do."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import microagg_gpu

ROOT = Path(__file__).resolve().parents[1]

# A package or module of microagg_gpu imports only from lines below its own.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("app",),
    ("tasks", "distributed"),
    ("sklearn",),
    ("api",),
    ("pipeline",),
    ("report", "plots"),
    ("methods", "measures"),
    ("data",),
    ("engines",),
    ("files", "datasets"),
    ("settings",),
    ("checks",),
    ("errors", "stopping", "progress"),
    ("kernels",),
)
# These import even less than their line allows.
ONLY = {
    "files": {"errors", "stopping"},
    "datasets": {"errors", "checks"},
    "checks": {"errors"},
    "errors": set(),
    "stopping": set(),
    "cpu": {"arguments", "arrays", "cache", "compiling", "generic", "protocol"},
    "cuda": {"arguments", "arrays", "cache", "compiling", "cpu", "generic", "protocol"},
    "generic": {"arguments", "arrays", "protocol"},
    "protocol": {"arguments", "bounding", "point_set"},
    "optional": {"protocol"},
    "bounding": {"arguments"},
    "point_set": set(),
    "arguments": set(),
    "cache": set(),
    "compiling": set(),
}


def modules() -> dict[str, Path]:
    """Every module of the package but its own __init__, with its file."""
    found = {}
    for folder, name in ((ROOT / "microagg_gpu", ""), (ROOT / "kernels", "kernels.")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if folder.name != "kernels" and parts[0] == "kernels":
                continue  # the link
            module = (name + ".".join(parts)).removesuffix(".__init__")
            if module != "__init__":
                found[module] = path
    return found


MODULES = modules()


def imported(module: str) -> set[str]:
    """Modules of the package that a module imports, wherever in its text."""
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ["microagg_gpu", *package][: len(package) + 2 - node.level]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("microagg_gpu.") and name != "microagg_gpu.__version__":
                found.add(home(name.removeprefix("microagg_gpu.")))
    return found - {module}


def home(name: str) -> str:
    """The module that a name is in; names of the package itself are in `_HOMES`."""
    if name in microagg_gpu._HOMES:
        name = microagg_gpu._HOMES[name] or name
    while name not in MODULES:
        assert "." in name, f"nothing is called {name}"
        name = name.rpartition(".")[0]
    return name


IMPORTED = {module: imported(module) for module in MODULES}


def test_imports_go_downwards():
    line = {name: i for i, names in enumerate(LAYERS) for name in names}
    for module, others in IMPORTED.items():
        for other in others:
            me, it = module.split(".")[0], other.split(".")[0]
            assert me == it or line[me] < line[it], f"{module} imports {other}"


@pytest.mark.parametrize("name", ONLY)
def test_some_import_even_less(name):
    for module, others in IMPORTED.items():
        inside = module.removeprefix("kernels.").split(".")[0]
        if inside == name:
            seen = {other.removeprefix("kernels.").split(".")[0] for other in others} - {name}
            assert seen <= ONLY[name], module


def test_no_module_imports_itself_by_way_of_others():
    # A package's own __init__ names what is in it, and some of that names the package.
    graph = {module: others - {module.rpartition(".")[0]} for module, others in IMPORTED.items()}
    tuple(TopologicalSorter(graph).static_order())


def test_kernels_are_seen_only_by_their_contracts():
    contracts = ("bounding", "optional", "point_set", "protocol")
    inside = ("arguments", "arrays", "cache", "compiling", *contracts)
    allowed = {"kernels", *(f"kernels.{name}" for name in inside)}
    for module, others in IMPORTED.items():
        if not module.startswith("kernels"):
            assert {name for name in others if name.startswith("kernels")} <= allowed, module


def test_the_engine_is_chosen_in_three_places_at_most():
    assert len(calls_of("engine_for")) <= 3


def test_signatures_are_read_in_one_place():
    assert calls_of("inspect.signature") == ["methods.options"]


def calls_of(function: str) -> list[str]:
    """Modules that call a function, as often as they do."""
    pattern = rf"(?<!def )\b{re.escape(function)}\("
    return [
        module
        for module, path in MODULES.items()
        for _ in re.findall(pattern, path.read_text(encoding="utf-8"))
    ]


def test_a_gpu_is_looked_for_without_numba_and_without_a_context():
    code = (
        "import sys; from microagg_gpu.engines import gpu_available, usable_engines\n"
        "gpu_available(), usable_engines()\n"
        "print([m for m in ('numba', 'numba.cuda', 'numba_cuda') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_is_light():
    heavy = [
        "cupy",
        "numba",
        "numba.cuda",
        "numba_cuda",
        "torch",
        "pandas",
        "polars",
        "matplotlib",
        "typer",
        "rich",
        "pooch",
        "rdata",
        "scipy",
    ]
    code = f"import sys, microagg_gpu; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def clone(folder: Path) -> Path:
    """The files of the package that git knows, in another folder and not installed."""
    listed = subprocess.run(
        ["git", "ls-files", "microagg_gpu", "kernels"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode != 0:
        pytest.skip("not a checkout")
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.mark.parametrize("link", ["symbolic", "text"])
def test_a_plain_clone_can_be_imported(link, tmp_path):
    """Without installation; and where git wrote the link as a text file, as on Windows."""
    folder = clone(tmp_path)
    assert (folder / "microagg_gpu" / "kernels").is_symlink()
    if link == "text":
        (folder / "microagg_gpu" / "kernels").unlink()
        (folder / "microagg_gpu" / "kernels").write_text("../kernels", encoding="utf-8")
    code = (
        "import microagg_gpu.kernels, microagg_gpu.kernels.generic as generic\n"
        "from microagg_gpu import microaggregate\n"
        "labels = microaggregate([[1.0], [2.0], [8.0], [9.0]], 2, engine='generic').labels\n"
        "print(microagg_gpu.__file__, generic.__file__, labels.tolist(), sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    package, generic, labels = done.stdout.strip().split("|")
    assert Path(package).is_relative_to(folder)
    assert Path(generic).is_relative_to(folder)
    assert labels == "[0, 0, 1, 1]"


def test_a_wheel_holds_every_package():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {path.parent for path in (*MODULES.values(), ROOT / "microagg_gpu" / "__init__.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)
    packages = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    named = {re.sub("^kernels", "microagg_gpu.kernels", name) for name in packages}
    assert sorted(setup["tool"]["setuptools"]["packages"]) == sorted(named)
