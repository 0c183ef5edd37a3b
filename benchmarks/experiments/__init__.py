"""The experiments of Laszlo and Mukherjee (2005): ``python -m benchmarks.experiments``."""
