"""What commands print on the pages: ``python docs/outputs.py`` runs them and writes it down.

A page has a command in a fenced block ``sh``. The block ``text`` right below it holds what the
command prints, in a terminal of 80 columns. The commands of a page run in order, in one folder that
holds the demo's ``companies.csv`` when they start. ``tests/docs/test_shown_outputs.py`` runs them
again and compares; `masked` says which figures may differ.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BLOCKS = re.compile(r"^```sh\n(?P<command>.*?)^```\n```text\n(?P<output>.*?)^```$", re.M | re.S)


def pages() -> list[Path]:
    """The README and the pages of the site that show what a command prints."""
    written = [
        p for part in ("tutorial", "howto", "explanation") for p in (DOCS / part).glob("*.md")
    ]
    return [
        p for p in [ROOT / "README.md", *sorted(written)] if BLOCKS.search(p.read_text("utf-8"))
    ]


def outputs(page: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Each command of a page, with the output it shows, and what it prints now."""
    with tempfile.TemporaryDirectory() as folder:
        run("python -m benchmarks.demo_data companies.csv", folder)
        for block in BLOCKS.finditer(page.read_text("utf-8")):
            yield block, run(block["command"], folder)


def run(command: str, folder: str) -> str:
    """Run a command of one line or several in a folder, and return what it prints."""
    name, *arguments = shlex.split(command.replace("\\\n", ""))
    python = {"python": [], "microagg": ["-m", "microagg_gpu"]}
    first = [sys.executable, *python[name]] if name in python else [name]
    own = {name: value for name, value in os.environ.items() if "COLOR" not in name}
    own |= {"COLUMNS": "80", "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [*first, *arguments], cwd=folder, env=own, text=True, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.replace("\xa0", " ").splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def masked(text: str) -> str:
    """A text without what differs from run to run: seconds, and whether kernels were compiled.

    They are numbers before the unit s, and the last column of the table that `compare` prints.
    """
    text = re.sub(r"^compiling took .*\n", "", text, flags=re.M)
    text = re.sub(r"\b\d+(\.\d+)? s\b", "... s", text)
    return re.sub(r"^( +\d+ .*?) +\d+\.\d\d$", r"\1 ...", text, flags=re.M)


if __name__ == "__main__":
    for page in pages():
        text = page.read_text("utf-8")
        for block, now in outputs(page):
            print(f"{page.name}: {block['command'].split(chr(10))[0]}", flush=True)
            if masked(now) != masked(block["output"]):
                text = text.replace(
                    block[0], block[0].replace(f"```text\n{block['output']}", f"```text\n{now}")
                )
        page.write_text(text, "utf-8")
