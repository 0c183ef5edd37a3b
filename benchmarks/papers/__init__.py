"""Every table of the five papers beside ours: ``python -m benchmarks.papers``."""
