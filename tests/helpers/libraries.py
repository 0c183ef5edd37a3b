"""The array libraries that the methods are tested on."""

from importlib.util import find_spec

from microagg_gpu.engines import gpu_available

ARRAY_LIBRARIES = [
    name for name in ("numpy", "array_api_strict", "torch") if find_spec(name) is not None
] + ["cupy"] * gpu_available()
