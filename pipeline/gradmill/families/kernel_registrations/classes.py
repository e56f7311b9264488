"""The plan of a structured kernel: the class that allocates its outputs, and the calls of its meta function and its
implementation.

torchgen: `register_dispatch_key.StructuredRegisterDispatchKey.gen_one`,
`register_dispatch_key.StructuredRegisterDispatchKey.gen_class`.
"""

from __future__ import annotations

from msgspec import Struct

from gradmill.cpp.dispatcher import Parameter, values
from gradmill.cpp.signatures import cpp_signatures
from gradmill.cpp.structured import goals, impl_arguments, meta_arguments, precomputed_arguments
from gradmill.cpp.translate import Value, translate
from gradmill.families.backends.wrappers import checked_arguments
from gradmill.grammar.names import unambiguous_name
from gradmill.model.native import NativeFunction
from gradmill.model.native_aot import AotDeclaration
from gradmill.model.schema import schema_kind
from gradmill.problems.problem import SpecError
from gradmill.releases.model import Release
from gradmill.rules.dispatch.groups import CUDA, MADE, META, Group
from gradmill.rules.native.dispatch import EXPLICIT_NON_FUNCTIONAL

_SUFFIXES = {META: "meta", EXPLICIT_NON_FUNCTIONAL: "default_backend"}  # of classes without an implementation


class StructuredKernel(Struct, frozen=True, gc=False, array_like=True):
    """A class of a structured kernel, and what its wrapper does with an object of it."""

    kind: str  # of the function: functional, in-place or out
    name: str
    base: str
    guard: str  # the type of its device guard; "" for none
    sets_guard: bool
    calls_base: bool  # whether the base class gets the outputs, too
    outs: tuple[str, ...]  # the out arguments
    returns: int  # the number of results
    checks: bool  # whether the key's wrappers check devices
    checked: tuple[str, ...] | None  # the arguments that must be on one; None if that is not checked
    meta: str  # the arguments of the meta function
    precomputes: bool
    call: str  # the function that implements the kernel; "" if there is none
    arguments: str  # of its call
    compiled_ahead: AotDeclaration | None  # of a kernel that is tried before


class Guards(Struct, frozen=True, gc=False, array_like=True):
    """How the structured kernels of a key guard and check the device."""

    of_class: str  # the type of the guard in their classes; "" for none
    is_set: bool
    checks: bool  # whether their wrappers check devices


def guards_of(key: str, release: Release) -> Guards:
    """How those of a key of ATen do."""
    hip = release.hip_guard if key == CUDA and release.for_hip else ""
    own = hip or release.class_guards.get(key, "")
    return Guards(own, key not in release.unset_guards, key in release.guarded_keys)


def structured_kernel(
    function: NativeFunction,
    group: Group,
    key: str,
    parameters: tuple[Parameter, ...],
    ahead: AotDeclaration | None,
    guards: Guards,
    release: Release,
) -> StructuredKernel:
    """The plan of a structured kernel of a key. SpecError for an argument that it cannot take."""
    schema, kind = function.func, schema_kind(function.func)
    if kind not in ("functional", "inplace", "out"):
        raise SpecError(f"a structured kernel cannot be of a {kind} function", field=("func",))
    if any(a.type != "Tensor" for a in group.primary.func.out):
        raise SpecError("a structured kernel can only write to tensors", field=("func",))
    name, base = _class(group, key)
    scope = values(parameters)
    meta = translate(scope, goals(meta_arguments(group.functional), release))
    computed = goals(precomputed_arguments(group.primary), release)
    scope += [Value(name, type_, f"precompute.{name}") for name, type_ in computed]
    output = "op.maybe_get_output({0})" if kind == "out" else "op.outputs_[{0}]"
    scope += [Value(a.name, "at::Tensor &", output.format(i)) for i, a in enumerate(group.primary.func.out)]
    return StructuredKernel(
        kind,
        f"{name}_{kind}",
        base,
        guards.of_class,
        guards.is_set,
        group.primary.structured_inherits is not None,
        tuple(a.name for a in schema.out),
        len(schema.returns),
        guards.checks,
        checked_arguments(function),
        ", ".join(meta),
        bool(group.primary.precomputed),
        *_call(function=function, group=group, key=key, scope=scope, release=release),
        ahead if key not in MADE else None,
    )


def _class(group: Group, key: str) -> tuple[str, str]:
    """The name of the class without its kind, and its base."""
    meta, kernel = unambiguous_name(group.functional.func.name), group.kernel(key)
    if key in _SUFFIXES or kernel is None:
        return f"structured_{meta}_{_SUFFIXES[key]}", f"at::meta::structured_{meta}"
    return f"structured_{kernel.name}", f"{kernel.namespace}::structured_{kernel.name}"


def _call(function: NativeFunction, group: Group, key: str, scope: list[Value], release: Release) -> tuple[str, str]:
    """The function that implements a kernel, its own or through the dispatcher the out variant, and the arguments."""
    if key == META:
        return "", ""
    if key == EXPLICIT_NON_FUNCTIONAL:
        _, faithful, *_ = cpp_signatures(group.primary, release, fallback=function.manual_cpp_binding)
        return f"at::{faithful.name}", ", ".join(translate(scope, [(p.meaning, p.type) for p in faithful.parameters]))
    return "op.impl", ", ".join(translate(scope, goals(impl_arguments(group.primary), release)))
