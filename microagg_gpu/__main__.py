"""``python -m microagg_gpu``: the command ``microagg``."""

import sys


def main() -> None:
    """Run the command; Ctrl-C is heard from the beginning."""
    try:
        from .cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
