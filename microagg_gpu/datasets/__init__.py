"""Data of the papers: simulated clusters, printed toy examples, the three reference files."""

from .reference import Dataset, fetch
from .simulated import clusters, simulated
from .toy import toy

__all__ = ["Dataset", "clusters", "fetch", "simulated", "toy"]
