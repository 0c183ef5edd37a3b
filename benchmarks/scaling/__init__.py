"""Time and memory against the number of records: ``python -m benchmarks.scaling``."""
