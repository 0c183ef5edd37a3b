"""The data of the papers: simulated clusters, printed examples and the three reference files."""

from .reference import Dataset, fetch
from .simulated import clusters, simulated
from .toy import toy

__all__ = ["Dataset", "clusters", "fetch", "simulated", "toy"]
