"""``python -m microagg_gpu``: the command ``microagg``."""

from .cli import main

if __name__ == "__main__":
    main()
