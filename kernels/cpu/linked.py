"""Kernels that only other kernels call become machine code as parts of their callers only.

Numba optimises such a kernel and makes machine code of it, and again in each of its callers, where
its code is linked in. Without the first, compiling takes a third less time; what runs is the same.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import binding as llvm
from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, compile_result


class LinkedLibrary(JITCodeLibrary):
    """Code that waits for its callers: neither optimised as a whole nor loaded."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """What `CompileResult._reduce` keeps of it: there is no object code."""
        return self.name, self._get_module_for_linking().as_bitcode()


class InnerCompiler(Compiler):
    """Compiles a kernel that only other kernels call."""

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        super().__init__(typing, target, library, *others)
        state = self.state
        state.library = LinkedLibrary(target.codegen(), "inner")
        state.targetctx = state.targetctx.subtarget(get_executable=_no_function)


class EntryCompiler(Compiler):
    """Compiles a kernel that Python calls, with the kernels that it calls linked in."""

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        """Compile, and give the code that was linked in its environments."""
        compiled = super().compile_extra(func)
        for environment in compiled._find_referenced_environments():
            compiled.codegen.set_env(environment.env_name, environment)
        return compiled


def _no_function(library: Any, description: Any, environment: Any) -> Any:
    """Stand for a kernel in Numba's tables; to call it from Python ends the process."""
    module, name = description.lookup_module(), description.qualname.split(".")[-1]
    return _dynfunc.make_function(module, name, "A kernel.", 0, environment, (library,))


def rebuild(
    target: Any, code: tuple[str, bytes], description: Any, environment: Any, signature: Any,
    objectmode: bool, lifted: Any, annotation: str, reload: Any, referenced: Any,
) -> CompileResult:  # fmt: skip
    """An inner kernel from what `CompileResult._reduce` kept of it."""
    for function in reload:
        function()
    name, bitcode = code
    library = LinkedLibrary(target.codegen(), name)
    library._final_module = llvm.parse_bitcode(bitcode)
    library._finalize_final_module()
    if hasattr(library, "_reload_init"):  # since Numba 0.62
        library._reload_init.update(reload)  # its callers need it too
    return compile_result(
        target_context=target, typing_context=target.typing_context, library=library,
        entry_point=_no_function(library, description, environment), fndesc=description,
        environment=environment, signature=signature, objectmode=objectmode, lifted=lifted,
        type_annotation=annotation, reload_init=reload, referenced_envs=referenced,
    )  # fmt: skip
