"""The lowest loss of every method: ``python -m benchmarks.loss``."""
