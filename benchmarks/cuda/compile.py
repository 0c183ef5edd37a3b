"""Kernels of the CUDA engine compiled and assembled, without a GPU or a driver.

A launch links with optimisation (LTO), so that is done here: registers and spills are those of a
card, and the PTX that is looked through is what link-time optimisation leaves. The LLVM text of a
kernel is the same for every compute capability that is asked for here (Numba's differs below 7.5
only), so each kernel is compiled for the lowest one, and linked for all.
"""

import re
from functools import cache
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

from .kernels import ENGINE, Kernel, Type

THREADS = 256
WARP = 32
CAPABILITIES = ((7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0))
Capability = tuple[int, int]

# Of a multiprocessor: warps, blocks, KiB of shared memory ("Technical Specifications per Compute
# Capability" of NVIDIA's CUDA C++ Programming Guide). All have 65,536 registers.
LIMITS = {
    (7, 5): (32, 16, 64),
    (8, 0): (64, 32, 164),
    (8, 6): (48, 16, 100),
    (8, 9): (48, 24, 100),
    (9, 0): (64, 32, 228),
    (10, 0): (64, 32, 228),
    (12, 0): (48, 24, 100),
}
REGISTERS = 65_536


def up(x: int, unit: int) -> int:
    """The next multiple of a unit."""
    return -(-x // unit) * unit


def resident_blocks(cc: Capability, registers: int, shared: int, threads: int = THREADS) -> int:
    """Blocks that fit on a multiprocessor, by the rules of NVIDIA's ``cuda_occupancy.h``.

    Registers are dealt out to warps by 256 in each quarter of a multiprocessor, shared memory by
    256 bytes before compute capability 8.0 and by 128 since, with 1 KiB for the system.
    """
    warps, blocks, kib = LIMITS[cc]
    mine = -(-threads // WARP)
    by_registers = REGISTERS // 4 // up(registers * WARP, 256) * 4 // mine
    taken = up(shared, 256) if cc < (8, 0) else up(shared + 1024, 128)
    by_shared = kib * 1024 // taken if taken else blocks
    return min(blocks, warps // mine, by_registers, by_shared)


def occupancy(cc: Capability, registers: int, shared: int, threads: int = THREADS) -> float:
    """Share of the warps of a multiprocessor that can be there at one time."""
    warps = resident_blocks(cc, registers, shared, threads) * -(-threads // WARP)
    return warps / LIMITS[cc][0]


def missing() -> str:
    """What must be installed before kernels can be compiled; empty if nothing."""
    try:
        cuda = import_module("numba.cuda")
        assert getattr(cuda, "implementation", "") == "NVIDIA"
        import_module("numba.cuda.cudadrv.nvvm").NVVM()
        import_module("cuda.bindings.nvjitlink").version()
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return f"numba-cuda with its compilers: pip install 'numba-cuda[cu13]' ({lines[0]})"
    return ""


class _Device:
    """What Numba asks the current device for when it compiles a device function."""

    compute_capability: Capability = CAPABILITIES[0]


@cache
def _without_driver() -> None:
    """Let device functions be compiled where no driver can tell of a device."""
    for name in ("api", "compiler", "dispatcher"):
        module: Any = import_module(f"numba.cuda.{name}")
        module.get_current_device = _Device


def signature(kernel: Kernel) -> tuple[Any, ...]:
    """The types of a kernel's arguments as Numba has them."""
    return tuple(map(_numba_type, kernel.types))


def _numba_type(kind: Type) -> Any:
    types = import_module("numba").types
    name, inside = kind
    if isinstance(inside, tuple):
        module, _, named = name.rpartition(".")
        python = getattr(import_module(module), named)
        return types.BaseTuple.from_types(tuple(map(_numba_type, inside)), python)
    number = import_module("numba.np.numpy_support").from_dtype(np.dtype(name))
    return types.Array(number, inside, "C") if inside else number


def function(kernel: Kernel) -> Any:
    """The Python function of a kernel."""
    module = import_module(f"{ENGINE}.{kernel.module}")
    if not kernel.factory:
        return getattr(module, kernel.name).py_func
    factory = getattr(module, kernel.factory)
    team = () if kernel.cooperative is None else (kernel.cooperative,)
    return getattr(factory(getattr(np, kernel.real), *team), kernel.name).py_func


@cache
def _device_runtime() -> bytes:
    path = import_module("numba.cuda.cudadrv.libs").get_cudalib("cudadevrt", static=True)
    with open(path, "rb") as file:
        return file.read()


def assembled(ptx: str, cc: Capability, grid: bool) -> str:
    """What nvJitLink says while it makes machine code of PTX."""
    link = import_module("cuda.bindings.nvjitlink")
    options = [f"-arch=sm_{cc[0]}{cc[1]}", "-verbose"]
    handle = link.create(len(options), options)
    code = ptx.encode()
    try:
        link.add_data(handle, link.InputType.PTX, code, len(code), "kernel")
        if grid:  # grid synchronisation is a function of the device runtime
            runtime = _device_runtime()
            link.add_data(handle, link.InputType.LIBRARY, runtime, len(runtime), "cudadevrt")
        link.complete(handle)
        log = bytearray(link.get_info_log_size(handle))
        link.get_info_log(handle, log)
    except link.nvJitLinkError as error:
        log = bytearray(link.get_error_log_size(handle))
        link.get_error_log(handle, log)
        raise RuntimeError(log.decode().strip("\0\n ")) from error
    finally:
        link.destroy(handle)
    return log.decode()


def linked_ptx(ltoir: bytes, cc: Capability) -> str:
    """The PTX that is left of LTO-IR after link-time optimisation, without the device runtime."""
    link = import_module("cuda.bindings.nvjitlink")
    options = [f"-arch=sm_{cc[0]}{cc[1]}", "-lto", "-ptx"]
    handle = link.create(len(options), options)
    try:
        link.add_data(handle, link.InputType.LTOIR, ltoir, len(ltoir), "kernel")
        link.complete(handle)
        text = bytearray(link.get_linked_ptx_size(handle))
        link.get_linked_ptx(handle, text)
    finally:
        link.destroy(handle)
    return text.decode().rstrip("\0")


def read_log(log: str) -> dict[str, int]:
    """Registers, spilled bytes and stack of a kernel from nvJitLink's report.

    The assembler's lines are about the kernel alone. The linker's, which follow where it links
    the device runtime, count what the kernel calls too: a grid synchronisation has 16 bytes of
    stack.
    """
    entry = re.findall(r"Compiling entry function '(\w+)'", log)[0]
    frames = re.findall(
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", log
    )
    registers = re.findall(r"ptxas info\s*: Used (\d+) registers", log)
    after = re.findall(
        rf"Function properties for '{entry}':\s*\n\s*info\s*: used (\d+) registers,"
        r"[^\n]*?(\d+) stack",
        log,
    )
    return {
        "registers": max(int(x) for x in [*registers, *(x for x, _ in after)]),
        "spills": sum(int(stores) + int(loads) for _, stores, loads in frames),
        "stack": max(int(x) for x in [*(x for x, _, _ in frames), *(x for _, x in after)]),
    }


DOUBLE = re.compile(r"\.f64\b")
FUSED = re.compile(r"\b(?:fma|mad)\.[a-z.]*f(?:32|64)\b")
PRODUCT = re.compile(r"\bmul(?:\.ftz)?\.f(?:32|64)\s+(%\w+)")
SUM = re.compile(r"\b(?:add|sub)(?:\.ftz)?\.f(?:32|64)\s")
STALE = re.compile(r"\bld\.global\.nc\b")  # not coherent: may miss what other blocks wrote


def fused(ptx: str) -> list[int]:
    """Lines in which a product is not rounded before it is added to something.

    Besides the fused instructions these are sums of products that both have no rounding
    modifier, which the assembler may fuse.
    """
    code = [line.split("//")[0] for line in ptx.splitlines()]
    products = {match[1] for line in code if (match := PRODUCT.search(line))}
    return [
        i
        for i, line in enumerate(code)
        if FUSED.search(line)
        or (SUM.search(line) and not products.isdisjoint(re.findall(r"%\w+", line)[1:]))
    ]


def read_ptx(ptx: str) -> dict[str, int]:
    """What is in the text of a kernel: instructions that must not be, and shared memory."""
    shared = re.findall(r"^\s*(?:\.\w+ )*\.shared .*\[(\d+)\];", ptx, re.MULTILINE)
    return {
        "doubles": sum(bool(DOUBLE.search(line)) for line in ptx.splitlines()),
        "fused": len(fused(ptx)),
        "stale": len(STALE.findall(ptx)),
        "shared": sum(map(int, shared)),
    }


def places(ptx: str) -> list[str]:
    """Lines of the source that fused products come from, in PTX compiled with line numbers."""
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', ptx, re.MULTILINE))
    wanted = set(fused(ptx))
    here = ""
    result: dict[str, None] = {}
    for i, line in enumerate(ptx.splitlines()):
        if at := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", line):
            here = f"{files[at[1]].rsplit('/', 1)[-1]}:{at[2]}"
        elif i in wanted:
            result[here] = None
    return list(result)


def _ltoir(kernel: Kernel, cc: Capability) -> bytes:
    _without_driver()
    _Device.compute_capability = cc
    code, _ = import_module("numba.cuda").compile(
        *(function(kernel), signature(kernel)), cc=cc, device=False, abi="numba", output="ltoir"
    )
    return code


def seconds(kernels: list[Kernel], cc: Capability = (8, 0)) -> float:
    """Seconds of one core for compiling and linking kernels as launches do, in a new process."""
    import_module("numba.cuda")
    begun = process_time()
    for kernel in kernels:
        assembled(linked_ptx(_ltoir(kernel, cc), cc), cc, bool(kernel.cooperative))
    return process_time() - begun


def compiled(kernel: Kernel, capabilities: list[Capability]) -> list[dict[str, Any]]:
    """A row for each compute capability: what is in the linked PTX and in the machine code."""
    ltoir = _ltoir(kernel, min(capabilities))
    rows = []
    for cc in capabilities:
        ptx = linked_ptx(ltoir, cc)
        grid = "cudaCGSynchronize" in ptx
        row: dict[str, Any] = read_ptx(ptx) | read_log(assembled(ptx, cc, grid))
        row["cc"] = cc
        if row["fused"]:
            with_lines, _ = import_module("numba.cuda").compile_ptx(
                function(kernel), signature(kernel), cc=cc, lineinfo=True
            )
            row["places"] = places(with_lines)
        rows.append(row)
    return rows
