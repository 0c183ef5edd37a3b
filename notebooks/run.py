"""Run the notebooks, each in a fresh kernel: ``python -m notebooks.run``.

A notebook passes if no cell raises and none writes to stderr (a warning, say). They are kept
without outputs: ``--write FOLDER`` puts executed copies into a folder, and ``--strip`` cleans
those that were edited in Jupyter.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TIMEOUT = 1800  # seconds of a cell
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def stripped(notebook: dict[str, Any]) -> str:
    """The text of a notebook as it is kept: no outputs, and no metadata but tags."""
    cells = []
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags")
        kept = {**cell, "metadata": {"tags": tags} if tags else {}}
        if cell["cell_type"] == "code":
            kept |= {"outputs": [], "execution_count": None}
        cells.append(kept)
    kept = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def execute(path: Path) -> tuple[Any, str]:
    """The notebook with its outputs, and what went wrong or an empty text."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        startup_timeout=TIMEOUT,
        iopub_timeout=TIMEOUT,  # on a busy machine outputs come late, and would be left out
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError) as error:
        return notebook, str(error)
    said = [
        output["text"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.get("name") == "stderr"
    ]
    return notebook, "".join(said)


def main() -> int:
    """Run or strip the notebooks from the command line."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.run", description=__doc__)
    parser.add_argument("names", nargs="*", help="such as 2 or 2-how-the-methods-work (all)")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="put executed copies there")
    parser.add_argument("--strip", action="store_true", help="only remove outputs, run nothing")
    options = parser.parse_args()
    known = sorted(HERE.glob("*.ipynb"))
    paths = [path for path in known if path.name.startswith(tuple(options.names) or "")]
    if not paths:
        names = ", ".join(path.stem for path in known)
        parser.error(f"no notebook begins with {' or '.join(options.names)}: there are {names}")
    failed = []
    for path in paths:
        if options.strip:
            path.write_text(stripped(json.loads(path.read_text("utf-8"))), encoding="utf-8")
            continue
        start = time.perf_counter()
        notebook, wrong = execute(path)
        seconds = time.perf_counter() - start
        print(f"{path.name}: {'FAILED' if wrong else 'ok'}, {seconds:.0f} s", flush=True)
        if wrong:
            failed.append(path.name)
            print(wrong, file=sys.stderr)
        if options.write is not None:
            import nbformat

            options.write.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebook, options.write / path.name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
