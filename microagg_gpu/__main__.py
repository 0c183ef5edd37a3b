"""``python -m microagg_gpu``: the command ``microagg``."""

import os
import sys
from contextlib import suppress

from . import stopping
from .cli import limits


def main() -> None:
    """Run the command; signals are heard from the beginning."""
    stopping.listen()
    _fill_standard_streams()
    problem = limits.prepare(sys.argv[1:])
    if problem is None:
        try:
            from .cli.app import main as run
        except (ImportError, MemoryError, OSError) as error:
            if not limits.is_want_of_memory(error):
                raise
            problem = "there is not enough memory to start; nothing was written"
    if problem is not None:
        if sys.stderr is not None:
            with suppress(OSError):
                print(f"microagg: {problem}", file=sys.stderr)
        sys.exit(2)
    run()


def _fill_standard_streams() -> None:
    """Where a standard stream is closed, let no data file get its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
