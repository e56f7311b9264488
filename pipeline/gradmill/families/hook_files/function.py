"""What hooks see of a function: its names, its place in the set, its C++ types, arguments, signatures and kernels.

torchgen: `dispatcher.arguments`, `native.arguments`, `signatures.CppSignatureGroup`, `translate.translate`,
`structured.meta_arguments`, `structured.impl_arguments`, `structured.out_arguments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from gradmill.cpp.backend_kernels import to_kernel
from gradmill.cpp.bindings import cpp_name, passing_of
from gradmill.cpp.dispatcher import Parameter, goals, parameters, returns_type, values
from gradmill.cpp.native import native_defaults, native_parameters
from gradmill.cpp.signatures import cpp_signatures, passed
from gradmill.cpp.structured import goals as structured_goals
from gradmill.cpp.structured import impl_arguments, meta_arguments, precomputed_arguments
from gradmill.cpp.translate import Value, translate
from gradmill.families.overrides import FunctionFacts
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, schema_kind
from gradmill.releases.model import Release


class _Seen(Struct, frozen=True, tag_field="a struct", tag=True):
    """What hooks see with attributes, as `child.py` makes it of JSON."""


class HookArgument(_Seen, frozen=True):
    """An argument of an operator. `cpp_type` and `default` are the dispatcher's, and those of a kernel that takes
    SymInt; `kernel_…` are those of one that takes int64_t."""

    name: str
    schema: str  # `int dim=0`
    type: str  # of the schema: `Tensor(a!)`
    place: str  # self, positional, keyword or out
    written: bool
    cpp_type: str
    default: str
    kernel_type: str
    kernel_default: str
    passed: str  # the expression that a call of such a kernel with the dispatcher's arguments passes


class HookSignature(_Seen, frozen=True):
    """A C++ function of an operator. `passed`, `kernel_passed`: the arguments of its call of the dispatcher's function,
    and with the parameters of a kernel."""

    name: str
    parameters: str
    declared: str  # the parameters with defaults
    names: str
    passed: str
    kernel_passed: str


class HookParameter(_Seen, frozen=True):
    """A parameter of a structured kernel's functions. `passed`: the expression with the parameters of a kernel."""

    name: str
    schema: str
    type: str
    passed: str = ""
    precomputed: bool = False  # whether the meta function returns it


class HookFunction(_Seen, frozen=True):
    """A function as hooks see it."""

    operator: str  # `add_.Tensor`
    namespace: str
    base: str  # `add`
    function: str  # `add_`
    overload: str  # `Tensor`
    name: str  # `add__Tensor`, as in `at::_ops`
    cpp_name: str  # `add_`, of an out variant `add_out`
    schema: str
    kind: str  # functional, inplace, out, mutable, scratch
    own: bool
    defined: bool
    generated: bool
    layer: str
    tags: tuple[str, ...]
    keys: dict[str, object]  # of its entry, those that are not PyTorch's, and of its items in [[marks]]
    lists: tuple[str, ...]  # of [[marks]]
    group: tuple[str, ...]  # its functional and its out variant; none for a function without them
    device_check: bool
    device_guard: bool
    dispatch: dict[str, str]  # dispatch key -> kernel
    structured: bool
    structured_inherits: bool
    precomputed: bool
    returns: str  # C++
    result_count: int
    arguments: tuple[HookArgument, ...]
    signatures: tuple[HookSignature, ...]
    meta: tuple[HookParameter, ...]  # of the structured kernel that it is implemented by, as are the next two
    impl: tuple[HookParameter, ...]
    results: tuple[HookParameter, ...]


def arguments_of(function: NativeFunction, release: Release) -> tuple[HookArgument, ...]:
    """The arguments of a function. SpecError for a type without C++."""
    schema = function.func
    of_self = () if schema.self_argument is None else (schema.self_argument,)
    groups = {"keyword": schema.kwarg_only, "out": schema.out, "self": of_self}
    places = {argument.name: place for place, own in groups.items() for argument in own}
    defaults = zip(*(native_defaults(function, release, symint=symint) for symint in (True, False)))
    taken, kernel = parameters(schema, passing_of(function, release, symint=True)), _kernel(function, release)
    return tuple(
        HookArgument(
            *(a.name, str(a), a.type, places.get(a.name, "positional"), a.is_write),
            *(of.type, default.removeprefix("="), own.type, kernel_default.removeprefix("="), expression),
        )
        for a, of, own, expression, (default, kernel_default) in zip(
            schema.arguments, taken, kernel, to_kernel(function, release, symint=False), defaults
        )
    )


def signatures_of(function: NativeFunction, release: Release) -> tuple[HookSignature, ...]:
    """The C++ functions of an operator. SpecError as above."""
    taken = goals(parameters(function.func, passing_of(function, release, symint=True)))
    return tuple(
        HookSignature(
            each.name,
            ", ".join(each.declared(defaults=False)),
            ", ".join(each.declared()),
            ", ".join(p.name for p in each.parameters),
            passed(each, taken),
            passed(each, goals(_kernel(function, release))),
        )
        for each in cpp_signatures(function, release)
    )


def of_structured(
    function: NativeFunction, functional: NativeFunction, primary: NativeFunction, release: Release
) -> tuple[tuple[HookParameter, ...], tuple[HookParameter, ...], tuple[HookParameter, ...]]:
    """The parameters of the meta function and of the implementation that a variant calls, and the results, as the
    implementation takes them. SpecError if a parameter has no value there."""
    computed, kernel = precomputed_arguments(primary), values(_kernel(function, release))
    returned = [Value(*goal, goal[0]) for goal in structured_goals(computed, release)]

    def typed(taken: Sequence[Argument], own: Sequence[Argument], scope: Sequence[Value]) -> Iterator[HookParameter]:
        wanted = structured_goals(taken, release)
        for a, (_, type_), expression in zip(taken, wanted, translate(scope, wanted)):
            yield HookParameter(a.name, str(a), type_, expression, a in own)

    inputs, outputs = impl_arguments(primary)[: -len(primary.func.out)], primary.func.out
    results = (HookParameter(name, str(a), of) for (name, of), a in zip(structured_goals(outputs, release), outputs))
    meta, impl = typed(meta_arguments(functional), (), kernel), typed(inputs, computed, [*kernel, *returned])
    return tuple(meta), tuple(impl), tuple(results)


def hook_function(
    function: NativeFunction,
    release: Release,
    facts: FunctionFacts,
    group: tuple[NativeFunction, NativeFunction] | None,
    *,
    generated: bool,
    layer: str,
    keys: dict[str, object],
    lists: tuple[str, ...],
) -> HookFunction:
    """A function as hooks see it. `group`: its functional and its out variant. SpecError for a type without C++."""
    names, schema = facts.names, function.func
    functional, primary = group or (function, function)
    structured = primary.structured and bool(primary.func.out)
    meta, impl, results = of_structured(function, functional, primary, release) if structured else ((), (), ())
    return HookFunction(
        *(facts.operator, facts.namespace, facts.base, names["function"], names["overload"], names["name"]),
        *(cpp_name(schema), str(schema), schema_kind(schema), "own" in facts.words, "defined" in facts.words),
        generated=generated,
        layer=layer,
        tags=function.tags,
        keys=keys,
        lists=lists,
        group=() if group is None else (str(functional.func.name), str(primary.func.name)),
        device_check=function.device_check != "NoCheck",
        device_guard=function.device_guard,
        dispatch={key: kernel.name for key, kernel in function.dispatch.items()},
        structured=function.structured,
        structured_inherits=function.structured_inherits is not None,
        precomputed=function.precomputed is not None,
        returns=returns_type(function, release),
        result_count=len(schema.returns),
        arguments=arguments_of(function, release),
        signatures=signatures_of(function, release),
        meta=meta,
        impl=impl,
        results=results,
    )


def _kernel(function: NativeFunction, release: Release) -> tuple[Parameter, ...]:
    return native_parameters(function, release, symint=False)
