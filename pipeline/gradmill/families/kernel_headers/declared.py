"""What headers declare of kernels: their functions and classes by namespace, and the functions that call the kernels of
one dispatch key.

torchgen: `gen.get_ns_grouped_kernels`, `native_functions.compute_native_function_declaration`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from gradmill.cpp.dispatcher import returns_type
from gradmill.cpp.native import native_declared
from gradmill.cpp.signatures import cpp_signatures
from gradmill.cpp.structured import declared, impl_arguments
from gradmill.families.kernel_headers import NAMESPACE, keys_with_headers
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import CUDA, Group, callable_for_key

_MACRO = "TORCH_API"
_LEVELS = 2  # of namespaces around functions for a key


class Declaration(Struct, frozen=True, gc=False, array_like=True):
    """A kernel: a function, or the class of a structured kernel."""

    kernel: str
    parameters: str  # of the function, or of the class's implementation
    returns: str  # "" for a class
    meta: str  # the meta function that a class is derived from; "" for a function


Kernels = dict[str, dict[tuple[str, Declaration], str]]


def check_namespace(group: Group, key: str) -> None:
    """SpecError if the namespace of a key's kernel has more levels than upstream's blocks of such namespaces."""
    kernel = group.kernel(key)
    if kernel is None or len(space := kernel.namespace.removesuffix("::native").split("::")) <= _LEVELS:
        return
    name = "::".join([*space, kernel.name])
    problem = f"kernel '{name}' has more than two levels of namespace"
    error = SpecError(problem, "put it into an outer one", field=("dispatch",), needle=name)
    error.op = str(group.primary.func.name)
    raise error


@contextmanager
def _about(function: NativeFunction) -> Iterator[None]:
    """Errors within are in the entry of this function of the operator."""
    try:
        yield
    except SpecError as error:
        error.op = str(function.func.name)
        raise


def kernels_by_namespace(groups: Sequence[Group], keys: tuple[str, ...], release: Release) -> Kernels:
    """The different declarations of kernels by namespace, with what tells them apart; each with its macro. A key
    without kernels counts for the usual namespace."""
    found: Kernels = {}
    for group in groups:
        own = {key for function in group.functions for key in function.dispatch}
        signatures: dict[tuple[int, bool], str] = {}
        for key in keys:
            primary = group.kernel(key) if key in own else None
            listed = found.setdefault(NAMESPACE if primary is None else primary.namespace, {})
            for each in _declarations(group, key, signatures, release) if key in own else ():
                macro = _macro(each, key, release)
                same = ("" if release.merges_macros else macro, each)
                if same not in listed or macro == _MACRO:
                    listed[same] = macro
    return found


def _declarations(
    group: Group, key: str, signatures: dict[tuple[int, bool], str], release: Release
) -> Iterator[Declaration]:
    """What a key declares for a group. `signatures`: the parameters of its functions that are known already."""
    primary = group.kernel(key)
    if group.structured and primary is not None and primary.structured:
        with _about(group.primary):
            yield class_declaration(group, key, release)[1]
        return
    for i, function in enumerate(group.functions):
        kernel = function.dispatch.get(key)
        if kernel is not None:
            at = i, kernel.supports_symint
            with _about(function):
                if at not in signatures:
                    signatures[at] = native_declared(function, release, symint=kernel.supports_symint)
                returns = returns_type(function, release)
            yield Declaration(kernel.name, signatures[at], returns, "")


def class_declaration(group: Group, key: str, release: Release) -> tuple[str, Declaration]:
    """The class of a structured kernel, with its macro."""
    kernel = group.kernel(key)
    assert kernel is not None
    parameters = declared(impl_arguments(group.primary), release)
    declaration = Declaration(kernel.name, parameters, "", unambiguous_name(group.functional.func.name))
    return _macro(declaration, key, release), declaration


def _macro(declaration: Declaration, key: str, release: Release) -> str:
    """The macro of a declaration, which names the library that has the kernel."""
    if key.endswith(CUDA) and declaration.kernel in release.cpu_library_kernels:
        return _MACRO
    return (release.struct_macros if declaration.meta else release.function_macros).get(key, _MACRO)


def functions_by_key(groups: Sequence[Group], keys: tuple[str, ...], release: Release) -> dict[str, list[str]]:
    """The declarations of the functions that call the kernels of one key, by key, as a text for each operator. A key
    without any has none."""
    signatures: dict[str, list[str]] = {}  # by operator
    found = {}
    for key in (each for each in keys_with_headers(release) if each in keys):
        declarations: list[str] = []
        macro = release.function_macros.get(key, _MACRO)
        for function in (each for group in groups for each in callable_for_key(group, key)):
            name = str(function.func)
            if name not in signatures:
                with _about(function):
                    signatures[name] = [each.declaration for each in cpp_signatures(function, release)]
            declarations.append("\n".join(f"{macro} {each};" for each in signatures[name]))
        if declarations:
            found[key] = declarations
    return found
