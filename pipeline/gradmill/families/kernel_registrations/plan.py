"""The plan of what is registered for a dispatch key: wrappers of kernels, and functions that call these wrappers.

torchgen: `register_dispatch_key.RegisterDispatchKey.__call__`, `gen.get_kernel_namespace`.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gradmill.cpp.bindings import cpp_name
from gradmill.cpp.dispatcher import Parameter, declared, goals, returns_type, signature_of, values
from gradmill.cpp.native import native_name, native_parameters
from gradmill.cpp.signatures import cpp_signatures, passed
from gradmill.cpp.translate import translate
from gradmill.families.backends.wrappers import GuardedCall, call_of
from gradmill.families.family import ATEN
from gradmill.families.kernel_headers.plan import Declaration, Meta, check_namespace, class_declaration, meta_class
from gradmill.families.kernel_registrations.classes import Guards, StructuredKernel, guards_of, structured_kernel
from gradmill.families.kernel_registrations.pieces import NATIVE
from gradmill.families.kernel_registrations.ufunc import Ufunc, ufunc
from gradmill.model.native import NativeFunction, RegisteredKernels
from gradmill.model.native_aot import AotDeclaration
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import Group, callable_for_key, is_class


class Direct(Struct, frozen=True, gc=False, array_like=True):
    """A function that calls a wrapper, as `at::cpu::add`."""

    returns: str
    name: str
    parameters: str
    arguments: str


class Wrapper(Struct, frozen=True, gc=False, array_like=True):
    """The wrapper of a kernel. Without a call and a class, it returns its argument, which must be a meta tensor."""

    operator: str
    name: str
    returns: str
    parameters: str
    call: GuardedCall | None
    of_class: StructuredKernel | None
    own: str  # the argument that a wrapper without both returns
    direct: tuple[Direct, ...]


class Registration(Struct, frozen=True, gc=False, array_like=True):
    """All that is registered for a key and a group of functions."""

    key: str
    library: str  # the namespace of the operators
    namespace: str  # of the kernels
    wrappers: tuple[Wrapper, ...]
    omitted: tuple[str, ...]  # the operators that are not registered
    ufunc: Ufunc | None
    class_of: tuple[str, Declaration] | None  # that of a ufunc, with its macro
    meta: Meta | None  # that of a ufunc


def plan(subject: RegisteredKernels, release: Release) -> Registration:
    """The plan of a registration. SpecError for a type without C++, or an argument that a kernel cannot take."""
    group, key = Group(subject.functions), subject.key
    kernel = group.kernel(key)
    namespace = NATIVE if kernel is None else kernel.namespace
    if not release.kernel_shards and group.functional.namespace != ATEN:
        problem = "kernels of operators of other libraries are for PyTorch 2.7 and newer"
        hint = "older torchgen drops other registrations for the key; leave out the family kernel_registrations"
        raise SpecError(problem, hint, field=("func",))
    loops = ufunc(group, key, release)
    ahead = subject.compiled_ahead
    if any(callable_for_key(group, key)):
        check_namespace(group, key)
    return Registration(
        key=key,
        library=group.functional.namespace,
        namespace=namespace,
        wrappers=tuple(
            _of_class(function=each, group=group, key=key, ahead=ahead, release=release)
            if is_class(group, key)
            else _wrapper(each, group, key, release)
            for each in callable_for_key(group, key)
        ),
        omitted=subject.omitted,
        ufunc=loops,
        class_of=class_declaration(group, key, release) if loops is not None else None,
        meta=meta_class(group, release) if loops is not None else None,
    )


def _wrapper(function: NativeFunction, group: Group, key: str, release: Release) -> Wrapper:
    schema, signature = function.func, signature_of(function, release)
    name = f"wrapper_{key}_{schema.name.overload}_{cpp_name(schema)}"
    kernel = function.dispatch.get(key)
    call = None
    if kernel is not None:
        taken = native_parameters(function, release, symint=kernel.supports_symint)
        arguments = ", ".join(translate(values(signature.parameters), goals(taken)))
        guards = key in release.guarded_keys
        call = call_of(function, key, f"{kernel.namespace}::{kernel.name}", arguments, guards=guards)
    direct = _direct(function, name, signature.parameters, release)
    own = "" if schema.self_argument is None else schema.self_argument.name
    parameters = declared(signature.parameters)
    return Wrapper(
        operator=str(schema.name),
        name=name,
        returns=signature.returns,
        parameters=parameters,
        call=call,
        of_class=None,
        own=own,
        direct=direct,
    )


def _of_class(
    function: NativeFunction, group: Group, key: str, ahead: AotDeclaration | None, release: Release
) -> Wrapper:
    parameters = _parameters(function, key, release)
    own = class_wrapper(
        function=function, group=group, key=key, guards=guards_of(key, release), release=release, ahead=ahead
    )
    return replace(own, direct=_direct(function, own.name, parameters, release))


def class_wrapper(
    function: NativeFunction,
    group: Group,
    key: str,
    guards: Guards,
    release: Release,
    ahead: AotDeclaration | None = None,
) -> Wrapper:
    """The wrapper of a structured kernel, without functions that call it. SpecError as in `structured_kernel`."""
    parameters = _parameters(function, key, release)
    own = structured_kernel(
        function=function, group=group, key=key, parameters=parameters, ahead=ahead, guards=guards, release=release
    )
    schema, returns = function.func, returns_type(function, release)
    name = f"wrapper_{key}_{native_name(schema)}"
    return Wrapper(
        operator=str(schema.name),
        name=name,
        returns=returns,
        parameters=declared(parameters),
        call=None,
        of_class=own,
        own="",
        direct=(),
    )


def _parameters(function: NativeFunction, key: str, release: Release) -> tuple[Parameter, ...]:
    """The parameters of a function with a structured kernel."""
    kernel = function.dispatch.get(key)
    return native_parameters(function, release, symint=kernel is not None and kernel.supports_symint)


def _direct(
    function: NativeFunction, wrapper: str, parameters: tuple[Parameter, ...], release: Release
) -> tuple[Direct, ...]:
    wanted = goals(parameters)
    return tuple(
        Direct(each.returns, each.name, ", ".join(each.declared(defaults=False)), passed(each, wanted))
        for each in cpp_signatures(function, release)
    )
