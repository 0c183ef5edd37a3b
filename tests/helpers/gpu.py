"""A GPU for tests: a card, or the emulated one of ``make test-gpu-emulated``."""

import os

EMULATED = os.environ.get("CUDAEMU_STANDIN") == "1"
# The most records in a test: a card takes 20,000 in seconds, the emulated one some hundred.
RECORDS = int(os.environ.get("MICROAGG_GPU_RECORDS") or (120 if EMULATED else 20_000))


def at_most(n: int) -> int:
    """A number of records that the GPU can take in a test."""
    return min(n, RECORDS)
