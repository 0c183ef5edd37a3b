"""How often the library and its command go wrong: random calls, signals, broken files, a cluster.

``python -m benchmarks.reliability`` runs all parts; see `__main__`.
"""
