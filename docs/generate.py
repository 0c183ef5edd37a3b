"""The parts of the site made from the code: tables of methods, options, operations, the command."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

from numpydoc.docscrape import FunctionDoc

from microagg_gpu.cli.parsing import defaults
from microagg_gpu.kernels import Engine
from microagg_gpu.methods import METHODS


def write(folder: Path) -> None:
    """Write them as Markdown files that pages include."""
    texts = {"methods": methods(), "operations": operations(), "command": command()}
    texts |= {f"options-{name}": options(name) for name in METHODS}
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")


def methods() -> str:
    """The number of methods, and a table with a line for each."""
    lines = [
        f"The library has {len(METHODS)} methods:",
        "",
        "| method | good for | published | variables | time of a full scan | group sizes |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, method in METHODS.items():
        variables = "one" if method.univariate else "any"
        link = f"[`{name}`](#method-{name})"
        row = [
            link,
            method.good_for,
            method.paper,
            variables,
            method.cost,
            method.sizes.replace("-", "\N{MINUS SIGN}"),
        ]
        lines.append(f"| {' | '.join(row)} |".replace("^2", "²").replace("^3", "³"))
    return "\n".join(lines)


def options(method: str) -> str:
    """The options of a method, with their defaults, from its docstring."""
    known = defaults(method)
    lines = []
    for parameter in FunctionDoc(METHODS[method].function)["Parameters"]:
        names = [name.strip() for name in parameter.name.split(",")]
        if not set(names) & set(known):
            continue
        default = ", ".join(repr(known[name]) for name in names)
        text = "\n  ".join(line for line in parameter.desc)
        lines.append(
            f"- **{', '.join(names)}** : {parameter.type}, `{default}` by default.  \n  {text}"
        )
    return "Options:\n\n" + "\n".join(lines) if lines else "This method has no options."


def operations() -> str:
    """What every engine offers, as the protocol says it."""
    lines = ["| operation | what it does |", "| --- | --- |"]
    for name, operation in vars(Engine).items():
        if not name.startswith("_"):
            first = (inspect.getdoc(operation) or "").partition("\n\n")[0]
            lines.append(f"| `{name}` | {' '.join(first.split())} |")
    return "\n".join(lines)


def command() -> str:
    """The help of the command, as Typer writes it."""
    typer = [sys.executable, "-m", "typer", "microagg_gpu.cli.app", "utils", "docs"]
    done = subprocess.run(
        [*typer, "--name", "microagg"], capture_output=True, text=True, check=True
    )
    text = re.sub(r"^    (?=\S)", "", done.stdout, flags=re.MULTILINE)
    return re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)+", "", text)  # cut short, and below anyhow
