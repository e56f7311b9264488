"""Lowers the wrapper's code before the forward: its types, the guards of inputs, the choice of a variant."""

from __future__ import annotations

from collections.abc import Container, Sequence

from gradmill.extensions.graphs.ir import Code, Do, Let, Return, Stmt, When, code, separated, variable
from gradmill.extensions.graphs.model import Constant, Input, Item, Nothing, Ref
from gradmill.extensions.graphs.passes.functionalize.program import Flags, Shown, names_in
from gradmill.extensions.graphs.passes.keep.aliases import label
from gradmill.extensions.graphs.plan import GraphPlan, Variant
from gradmill.extensions.graphs.print.expressions import (
    GIVEN,
    NUMBER_TYPES,
    Named,
    all_of,
    by_name,
    call,
    constant,
    linked,
    number,
    quoted,
    with_given,
    without_grad,
)
from gradmill.extensions.graphs.print.saved import needs_text

_PASSED = {
    "Tensor": "const at::Tensor&",
    "Tensor?": "const std::optional<at::Tensor>&",
    "Tensor[]": "at::TensorList",
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "c10::string_view",
    "int[]": "at::IntArrayRef",
    "int[]?": "at::OptionalIntArrayRef",
    "float[]": "at::ArrayRef<double>",
    "bool[]": "const c10::List<bool>&",
    "Scalar": "const at::Scalar&",
    "Scalar?": "const std::optional<at::Scalar>&",
}


def passed_type(type_: str) -> str:
    """The C++ parameter type of an input of the wrapper."""
    if type_ in _PASSED:
        return _PASSED[type_]
    if type_.endswith("?"):
        return f"std::optional<{passed_type(type_[:-1])}>"
    return NUMBER_TYPES[type_]


def parameters(plan: GraphPlan) -> list[str]:
    """The C++ parameters of the wrapper."""
    return [f"{passed_type(input_.type)} {name}" for name, input_ in plan.functional.inputs.items()]


def inner(input_: Input) -> str:
    """The C++ parameter type of an input of the forward. None becomes an undefined tensor."""
    return "const at::Tensor&" if input_.type == "Tensor?" else passed_type(input_.type)


def result_type(plan: GraphPlan) -> str:
    """The C++ return type of the wrapper."""
    types = [NUMBER_TYPES[output.type] for output in plan.functional.function.outputs]
    if not types:
        return "void"
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>"


def guards(plan: GraphPlan) -> list[Stmt]:
    """The statements that reject inputs that the graph is not specialised to, or that share memory undeclared."""
    function = plan.functional.function
    statements: list[Stmt] = []
    for name, input_ in plan.functional.inputs.items():
        if input_.facts is not None:
            statements.append(_metadata_guard(function.name, input_, name))
        if input_.fixed is not None and not isinstance(input_.fixed, Nothing):
            fixed = number(input_.fixed).text
            message = quoted(f"{function.name}: the graph is made for {input_.name} = {fixed}")
            statements.append(Do(code("TORCH_CHECK($ == $, $)", name, fixed, message)))
    return [*statements, *_apart(plan)]


def _apart(plan: GraphPlan) -> list[Stmt]:
    """The check that no written input shares memory with another one; the written ones by their places."""
    names = [*plan.tensors]
    written = ", ".join(str(names.index(name)) for name in plan.functional.written)
    if not written or len(names) < 2:
        return []
    inputs = ", ".join(f'{{"{name}", {name}}}' for name in names)
    return [Do(code("graph::check_apart($, {$}, {$})", quoted(plan.functional.function.name), written, inputs))]


def _metadata_guard(graph: str, input_: Input, name: str) -> Stmt:
    """The guard of a tensor with the metadata that the graph is specialised to."""
    facts = input_.facts
    assert facts is not None
    sizes, dtype = ", ".join(map(str, facts.sizes)), constant(Constant("ScalarType", facts.dtype))
    return Do(code('graph::check_metadata("$", $, $, {$}, $)', graph, quoted(input_.name), name, sizes, dtype))


def checks(plan: GraphPlan, *, late: bool) -> list[Stmt]:
    """Eager's checks before a write. `late`: those that use values of the forward; nothing is written before them."""
    statements: list[Stmt] = []
    known, named, undecided = set(plan.functional.names.values()), numbers(plan), plan.needs.late
    for check, needs in zip(plan.functional.checks, plan.needs.checks):
        itself = any(link.is_itself for link in check.chain)
        if needs and late == (itself or not undecided.isdisjoint(needs) or not names_in(check.chain) <= known):
            view = linked(code("graph::some($)", check.input), check.chain, plan.operators, named, modes=True)
            flags = [named(flag) for flag in check.flags if itself or flag.name in known]
            condition = separated([f"({needs_text(needs)})" if flags else needs_text(needs), *flags], " && ")
            statements.append(When(condition, (Do(code("torch::autograd::check_inplace($, true)", view)),)))
    return statements


def dispatch(plan: GraphPlan) -> list[Stmt]:
    """The statements that call a variant if inputs share memory."""
    if not plan.variants:
        return []
    named = ", ".join(plan.tensors)
    tangents = Do(code("graph::check_tangents($, {$})", quoted(plan.functional.function.name), named))
    return [tangents, *(_variant(plan, variant) for variant in plan.variants)]


def _variant(plan: GraphPlan, variant: Variant) -> Stmt:
    names = plan.functional.names
    sets = [[names[name] for name in members] for members in variant.shared]
    condition = " && ".join(f"graph::meet({{{', '.join(members)}}})" for members in sets)
    shared = {name for members in variant.shared for name in members}
    passed: list[str] = []
    changed = {name for name, _ in plan.functional.metadata}
    graph = quoted(plan.functional.function.name)
    distinct = [Do(code("graph::check_distinct($, {$})", graph, ", ".join(each))) for each in sets if changed & {*each}]
    for members in sets:
        passed.append(f'graph::base_of("{plan.functional.function.name}", {{{", ".join(members)}}})')
        passed += [f"{name}.{part}" for name in members for part in ("sizes()", "strides()", "storage_offset()")]
    passed += [name for name, input_ in plan.functional.inputs.items() if input_.name not in shared]
    call_ = code("$($)", variant.plan.name, ", ".join(passed))
    back = metadata(plan, shared)  # the variant bumps versions
    outputs = plan.functional.outputs
    if not outputs:
        return When(code(condition), (*distinct, Do(call_), *back, RETURN))
    own: list[Stmt] = []
    for i, each in enumerate(outputs):
        if isinstance(each, Shown) and each.is_input and not each.chain and isinstance(each.base, Ref):
            into = f"std::get<{i}>(shared_results)" if len(outputs) > 1 else "shared_results"
            own.append(Do(code("$ = $", into, each.base.name)))
    results = Let("auto", ("shared_results",), call_)
    return When(code(condition), (*distinct, results, *own, *back, Return(code("shared_results"))))


RETURN = Do(code("return"))  # of a function without a result


def metadata(plan: GraphPlan, only: Container[str] | None = None) -> list[Stmt]:
    """The statements that mutate the metadata of inputs, as the source does; of the inputs `only`, None for all."""
    statements: list[Stmt] = []
    for name, link in plan.functional.metadata:
        if only is None or name in only:
            named = with_given(code("graph::mutable_($)", name), numbers(plan))
            value = call(plan.operators[link.identity].original, link.all_arguments(GIVEN), named)
            statements.append(Do(value if link.grad else without_grad(value)))
    return statements


def bumps(plan: GraphPlan) -> list[Stmt]:
    """The statements that bump the versions of inputs for metadata mutations of their views."""
    statements: list[Stmt] = []
    for name, conditions in plan.functional.bumped.items():
        statements += where(plan, conditions, [Do(code("torch::autograd::impl::bump_version($)", name))])
    return statements


def where(
    plan: GraphPlan,
    conditions: tuple[Flags, ...],
    then: Sequence[Stmt],
    otherwise: Sequence[Stmt] | None = None,
) -> Sequence[Stmt]:
    """Statements for any of some conditions: of a changed tensor that is a copy, the input stays as it is."""
    if () in conditions:
        return then
    named = numbers(plan)
    either = (code("($)", all_of(flags, named)) for flags in dict.fromkeys(conditions))
    return [When(separated(either, " || "), (*then,), None if otherwise is None else (*otherwise,))]


def numbers(plan: GraphPlan) -> Named:
    """The wrapper's expressions for values: an input by its name, any other value as a result of the forward."""
    known, returned = set(plan.functional.names.values()), {each.name for each in plan.returned}
    plain = by_name(lambda name: code(name) if name in known else result(name))

    def named(value: Ref | Item) -> Code:
        own = isinstance(value, Item) and value.name not in known and label(value) in returned
        return result(label(value)) if own else plain(value)

    return named


def result(name: str) -> Code:
    """The wrapper's expression for a value of the forward."""
    return variable(f"results.{name}")
