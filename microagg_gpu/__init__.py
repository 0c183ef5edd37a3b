"""Microaggregation: groups of at least k records, published as their centroids."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, measures
    from .api import compare, microaggregate, refine
    from .errors import DataWarning, InputError
    from .methods import METHODS
    from .pipeline.blocks import suggest_blocks
    from .pipeline.comparison import Comparison
    from .pipeline.result import Result

__version__ = "0.1.0"

# The package microagg_gpu.kernels is the folder `kernels` of the repository. In a clone a symbolic
# link leads there; where git cannot make one (Windows), it is found beside this folder.
if not os.path.isdir(os.path.join(__path__[0], "kernels")):
    __path__.append(os.path.dirname(__path__[0]))

__all__ = [
    "METHODS",
    "Comparison",
    "DataWarning",
    "InputError",
    "Result",
    "compare",
    "datasets",
    "measures",
    "microaggregate",
    "refine",
    "suggest_blocks",
]

# Each is imported when it is first asked for: the command must hear signals, and see whether
# there is memory enough, before NumPy is there.
_HOMES = {
    "METHODS": "methods",
    "Comparison": "pipeline.comparison",
    "DataWarning": "errors",
    "InputError": "errors",
    "Result": "pipeline.result",
    "compare": "api",
    "datasets": "",
    "measures": "",
    "microaggregate": "api",
    "refine": "api",
    "suggest_blocks": "pipeline.blocks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if not home:
        return import_module(f".{name}", __name__)
    found = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
