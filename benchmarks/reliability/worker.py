"""Cases of a part, one after the other, in a process of their own.

``python -m benchmarks.reliability.worker PART FIRST LAST FOLDER`` prints a line of JSON before and
after each case, so that the parent knows which one was running if this process dies.
"""

import json
import sys
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from .outcome import Outcome

# One module for each part, with ASKED, BATCH, setup, run and describe.
PARTS = {
    "calls": "calls", "kill": "signals", "interrupt": "signals", "terminate": "signals",
    "command": "commands", "hostile": "hostile", "dask": "cluster",
    "suite": "suite",
}  # fmt: skip


def module_of(part: str) -> Any:
    """The module of a part."""
    return import_module(f"{__package__}.{PARTS[part]}")


def attempt(part: str, number: int, state: Any) -> Outcome:
    """Run a case; an exception is a fault of it."""
    module = module_of(part)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of conversions that the checks judge anyway
            given = (number, state) if PARTS[part] != "signals" else (number, state, part)
            return module.run(*given)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        return Outcome(faults=[f"{type(error).__name__} at {where}: {str(error)[:300]}"])


def main() -> None:
    """Run the cases from FIRST to LAST - 1."""
    part, first, last, folder = sys.argv[1:5]
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with module_of(part).setup(path) as state:
        for number in range(int(first), int(last)):
            print(json.dumps({"begins": number}), flush=True)
            begun = time.perf_counter()
            outcome = attempt(part, number, state)
            seconds = time.perf_counter() - begun
            row = {"case": number, "refused": outcome.refused, "faults": outcome.faults[:5]}
            print(json.dumps(row | {"seconds": round(seconds, 3)}), flush=True)


if __name__ == "__main__":
    main()
