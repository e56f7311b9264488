"""What hooks see of a function: its names, its place in the set, its C++ types, arguments, signatures and kernels.

torchgen: `dispatcher.arguments`, `native.arguments`, `signatures.CppSignatureGroup`, `translate.translate`,
`structured.meta_arguments`, `structured.impl_arguments`, `structured.out_arguments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradmill.cpp.backend_kernels import parameters_of, to_kernel
from gradmill.cpp.bindings import cpp_name
from gradmill.cpp.dispatcher import Parameter, goals, returns_type, values
from gradmill.cpp.native import native_defaults, native_parameters
from gradmill.cpp.signatures import cpp_signatures, passed
from gradmill.cpp.structured import goals as structured_goals
from gradmill.cpp.structured import impl_arguments, meta_arguments, precomputed_arguments
from gradmill.cpp.translate import Value, translate
from gradmill.families.overrides import FunctionFacts
from gradmill.model.native import NativeFunction
from gradmill.model.schema import Argument, schema_kind
from gradmill.releases.model import Release

Seen = dict[str, Any]  # what hooks see with attributes: docs/vendors.md lists these


def _seen(**attributes: Any) -> Seen:
    return {"a struct": True, **attributes}  # as `child.py` reads it


def arguments_of(function: NativeFunction, release: Release) -> list[Seen]:
    """The arguments of a function. `cpp_type` and `default` are the dispatcher's, and those of a kernel that takes
    SymInt; `kernel_…` are those of one that takes int64_t. SpecError for a type without C++."""
    schema = function.func
    of_self = () if schema.self_argument is None else (schema.self_argument,)
    groups = {"keyword": schema.kwarg_only, "out": schema.out, "self": of_self}
    places = {argument.name: place for place, own in groups.items() for argument in own}
    taken, kernel = parameters_of(function, release, symint=True), _kernel(function, release)
    defaults, kernel_defaults = (native_defaults(function, release, symint=symint) for symint in (True, False))
    passed_on = to_kernel(function, release, symint=False)
    columns = zip(schema.arguments, taken, kernel, passed_on, defaults, kernel_defaults)
    return [
        _seen(
            name=argument.name,
            schema=str(argument),  # `int dim=0`
            type=argument.type,  # of the schema: `Tensor(a!)`
            place=places.get(argument.name, "positional"),
            written=argument.is_write,
            cpp_type=of.type,
            default=default.removeprefix("="),
            kernel_type=own.type,
            kernel_default=kernel_default.removeprefix("="),
            passed=expression,  # by a call of such a kernel with the dispatcher's arguments
        )
        for argument, of, own, expression, default, kernel_default in columns
    ]


def signatures_of(function: NativeFunction, release: Release) -> list[Seen]:
    """The C++ functions of an operator. `passed`, `kernel_passed`: the arguments of its call of the dispatcher's
    function, and with the parameters of a kernel. SpecError as above."""
    taken = goals(parameters_of(function, release, symint=True))
    return [
        _seen(
            name=each.name,
            parameters=", ".join(each.declared(defaults=False)),
            declared=", ".join(each.declared()),
            names=", ".join(p.name for p in each.parameters),
            passed=passed(each, taken),
            kernel_passed=passed(each, goals(_kernel(function, release))),
        )
        for each in cpp_signatures(function, release)
    ]


def of_structured(function: NativeFunction, group: Sequence[NativeFunction], release: Release) -> dict[str, list[Seen]]:
    """The parameters of the meta function and of the implementation that a variant calls, and the results, as the
    implementation takes them; `passed` is the expression with the parameters of a kernel. None of these if no
    structured kernel implements the function. SpecError if a parameter has no value there."""
    functional, primary = group or (function, function)
    outputs = primary.func.out
    if not primary.structured or not outputs:
        return {"meta": [], "impl": [], "results": []}
    computed, kernel = precomputed_arguments(primary), values(_kernel(function, release))

    def typed(taken: Sequence[Argument], own: Sequence[Argument], scope: Sequence[Value]) -> Iterator[Seen]:
        wanted = structured_goals(taken, release)
        for a, (_, type_), expression in zip(taken, wanted, translate(scope, wanted)):
            yield _seen(name=a.name, schema=str(a), type=type_, passed=expression, precomputed=a in own)

    inputs = impl_arguments(primary)[: -len(outputs)]
    returned = [Value(*goal, goal[0]) for goal in structured_goals(computed, release)]
    results = zip(outputs, structured_goals(outputs, release))
    return {
        "meta": list(typed(meta_arguments(functional), (), kernel)),
        "impl": list(typed(inputs, computed, [*kernel, *returned])),
        "results": [_seen(name=a.name, schema=str(a), type=of, passed="", precomputed=False) for a, (_, of) in results],
    }


def hook_function(
    function: NativeFunction,
    release: Release,
    facts: FunctionFacts,
    group: Sequence[NativeFunction],
    **of_entry: object,
) -> Seen:
    """A function as hooks see it. `group`: its functional and its out variant, if it has both; `of_entry`: attributes
    that depend on its place in the set. SpecError for a type without C++."""
    schema = function.func
    return _seen(
        **facts.names,
        **of_entry,
        **of_structured(function, group, release),
        cpp_name=cpp_name(schema),  # `add_`, of an out variant `add_out`
        schema=str(schema),
        kind=schema_kind(schema),
        own="own" in facts.words,
        defined="defined" in facts.words,
        tags=function.tags,
        group=[str(each.func.name) for each in group],
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
    )


def _kernel(function: NativeFunction, release: Release) -> tuple[Parameter, ...]:
    return native_parameters(function, release, symint=False)
