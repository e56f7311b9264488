"""Plans a graph: the functionalized function, its backward, and how each operator is called in C++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from gradmill.cpp.bindings import return_names
from gradmill.cpp.dispatcher import Signature, signature_of
from gradmill.extensions.graphs.arguments import arguments
from gradmill.extensions.graphs.model import Callee, Custom, Function, GraphError, Item, Many, Place, Ref, Value
from gradmill.extensions.graphs.operator import Operator, branches, callee_operator, viewed_argument
from gradmill.extensions.graphs.passes.differentiate.histories import Histories
from gradmill.extensions.graphs.passes.differentiate.plan import plan_backward
from gradmill.extensions.graphs.passes.functionalize.bases import sharings, with_bases
from gradmill.extensions.graphs.passes.functionalize.program import (
    Apply,
    ErrorIfRequiresGrad,
    Functional,
    OutputValue,
    Shared,
    Shown,
    names_in,
    tensors_of,
    values_of,
)
from gradmill.extensions.graphs.passes.functionalize.transform import functional
from gradmill.extensions.graphs.passes.gradients import CallBlock
from gradmill.extensions.graphs.passes.keep.aliases import Aliases, label
from gradmill.extensions.graphs.passes.needs import AnyOf
from gradmill.extensions.graphs.plan import (
    CondPlan,
    GraphPlan,
    OperatorPlan,
    RequiresGrad,
    Returned,
    Variant,
)
from gradmill.extensions.graphs.traits import AS_STRIDED, COPIES, name_of, unqualified
from gradmill.families.nodes.plan import plan
from gradmill.model.native import NativeFunction
from gradmill.releases.model import Release


class _Wanted(NamedTuple):
    """What is asked of a graph's gradients."""

    twice: bool
    memory: float
    shared: bool = False  # whether a base replaces inputs that share memory


def operators_of(function: Function) -> list[str]:
    """The identities of the set's operators that a function and its branches call, each once."""
    every = (function, *branches(function))
    named = [c.function for f in every for c in f.calls if not c.is_python and c.function not in f.callees]
    return list(dict.fromkeys([*named, *([unqualified(AS_STRIDED)] if function.may_alias else [])]))


def plan_graph(
    function: Function, operators: Mapping[str, Operator], release: Release, *, twice: bool = False, memory: float = 1.0
) -> GraphPlan:
    """The plan of a function, with variants for inputs that share memory.

    `operators` has every identity of `operators_of(function)`. `twice`: whether its gradients shall be differentiated
    again, if possible. `memory`: the fraction of what a backward uses that may be held for it. Raises a GraphError for
    what a graph does not support.
    """
    arguments(function)  # the operator can be registered
    wanted = _Wanted(twice, memory)
    main = _plan(function, operators, release, wanted)
    written = [name for name, called in main.functional.names.items() if called in main.functional.written]
    of_base = wanted._replace(shared=True)
    variants = tuple(
        Variant(_plan(with_bases(function, shared, number, operators), operators, release, of_base), shared)
        for number, shared in enumerate(sharings(function, written), 1)
    )
    return replace(main, variants=variants)


def _callee(callee: Callee, operators: Mapping[str, Operator], release: Release, wanted: _Wanted) -> CondPlan | Custom:
    if isinstance(callee, Custom):
        return callee
    then, otherwise = (_branch(each, operators, release, wanted) for each in (callee.then, callee.otherwise))
    return CondPlan(then, otherwise)


def _branch(function: Function, operators: Mapping[str, Operator], release: Release, wanted: _Wanted) -> GraphPlan:
    """The plan of a branch. Raises a GraphError for one that changes its inputs."""
    branch = _plan(function, operators, release, wanted)
    if changed := branch.functional.changed:
        what = f"a branch of 'cond' changes its input '{changed[0]}' in place"
        raise GraphError(function.place, what, "change a copy, x.clone(), and return it")
    return branch


def _plan(function: Function, operators: Mapping[str, Operator], release: Release, wanted: _Wanted) -> GraphPlan:
    callees = {identity: _callee(each, operators, release, wanted) for identity, each in function.callees.items()}
    called = ((call, function.callees.get(call.function)) for call in function.calls)
    own = {call.function: callee_operator(call, callee) for call, callee in called if callee is not None}
    operators = {**operators, **own}
    program = functional(function, operators)
    types = {name: input_.type for name, input_ in program.inputs.items()}
    tensors = {name: type_ for name, type_ in types.items() if type_.startswith("Tensor")}
    histories = Histories(program, operators, {name: place for place, name in enumerate(tensors)})
    returned = _returned(program, histories)
    aliases = Aliases(program, operators, types, [each.name for each in returned])
    outputs = [each.value for each in returned if each.needs]
    lists = [name for name, type_ in tensors.items() if type_.endswith("]")]
    once = None
    if wanted.twice:
        once = why_not_differentiable_twice(program, operators, callees, histories, shared=wanted.shared)
    memory = 1.0 if once == "" else wanted.memory  # autograd, which records the forward, holds all values
    backward = plan_backward(program, operators, histories, aliases, outputs, lists, memory)
    used = {b.step.identity for b in backward.blocks if isinstance(b, CallBlock) and b.style in ("own", "library")}
    names = names_in(program.steps).union(*map(values_of, program.steps))
    named = ((name, _any_of(histories, Ref(name))) for name in sorted(names))
    values = {name: any_of for name, any_of in named if any_of}
    checks = tuple(_any_of(histories, *check.values) for check in program.checks)
    steps = enumerate(program.steps)
    refusals = {i: _any_of(histories, *step.values) for i, step in steps if isinstance(step, ErrorIfRequiresGrad)}
    needs = RequiresGrad(tuple(histories.rows.rows), histories.rows.decided, values, checks, refusals)
    planned = {
        identity: OperatorPlan(
            _signature(operator.called, release),
            _signature(operator.function, release),
            return_names(operator.called.func),
            viewed_argument(operator.called) or "",
            plan(operator.reverse, release) if operator.reverse is not None and identity in used else None,
            callees.get(identity),
            operator.real,
        )
        for identity, operator in operators.items()
    }
    return GraphPlan(program, backward, returned, tensors, needs, planned, once=once)


def _signature(function: NativeFunction, release: Release) -> Signature:
    """The signature of a function, with the identity by which tables know it as its operator."""
    return replace(signature_of(function, release), operator=name_of(function))


def _any_of(histories: Histories, *values: Value) -> AnyOf:
    return histories.rows.any_of(histories.needs(Many(values)))


def _returned(program: Functional, histories: Histories) -> tuple[Returned, ...]:
    """The values of updates and of outputs, and the bases of outputs that are views; each once."""
    returned: dict[str, Returned] = {}
    values = [(update.value, False) for update in program.updates]
    for output in program.outputs:
        values += [(shown.base, shown.listed and not shown.chain) for shown in _shown(output) if not shown.is_input]
        values += [(copied.value, False) for shown in _shown(output) for copied in shown.copies]
    for value, listed in values:
        slot = histories.slot(value)
        needs = _any_of(histories, slot)
        if listed and needs:
            raise _list_returned(program, value)
        returned.setdefault(label(value), Returned(label(value), value, needs, label(slot), listed))
    for value in _named_by_views(program):  # for its sizes alone: it may be an input itself, which has its own history
        returned.setdefault(label(value), Returned(label(value), value, (), label(value), False))
    return tuple(returned.values())


def _list_returned(program: Functional, value: Value) -> GraphError:
    makers = [s for s in program.steps if isinstance(s, Apply) and any(Ref(r.name) == value for r in s.results)]
    hint = "unpack it and return its items: a, b = …; return [a, b]"
    what = "the list that an operator returns is returned as a whole, and its tensors may need gradients"
    return GraphError(makers[0].place if makers else program.function.place, what, hint)


def _named_by_views(program: Functional) -> list[Ref | Item]:
    """The tensors that the wrapper needs to make views: `y` of `x.view_as(y)`."""
    chains = [shown.chain for output in program.outputs for shown in _shown(output)]
    chains += [check.chain for check in program.checks] + [(link,) for _, link in program.metadata]
    computed = {name: type_ for step in program.steps for name, type_ in values_of(step).items()}
    arguments = (value for chain in chains for link in chain for value in link.arguments.values())
    values = {each for value in arguments for each in tensors_of(value)}
    return sorted((each for each in values if computed.get(each.name, "").startswith("Tensor")), key=label)


def _shown(output: OutputValue) -> tuple[Shown, ...]:
    if isinstance(output, Shared):
        return output.items
    return (output,) if isinstance(output, Shown) else ()


# ---- whether the backward can be differentiated again


def why_not_differentiable_twice(
    program: Functional,
    operators: Mapping[str, Operator],
    callees: Mapping[str, CondPlan | Custom],
    histories: Histories,
    *,
    shared: bool = False,
) -> str:
    """Why the backward of a graph cannot be differentiated again, "" if it can. Names the line that prevents it.
    `shared`: whether a base replaces inputs that share memory. Of other inputs that the graph changes, autograd records
    copies; what is called under no_grad, or without an input, has no history, or that of what it writes to."""
    if shared and program.changed:
        return "the graph changes an input that shares memory with another"
    calls = [step for step in program.steps if isinstance(step, Apply) and step.grad]
    for step in calls:
        if not histories.needs(Many(tuple(step.arguments.values()))):
            continue
        operator = operators[step.identity]
        if reason := _reason(step, operator, callees.get(step.identity)):
            return f"{_where(step.place)}: '{unqualified(operator.name)}' {reason}"
    return ""


def _where(place: Place) -> str:
    if place.line:
        return f"line {place.line} of the function"
    return f"{place.source}, node '{place.node}'" if place.source else f"node '{place.node}'"


def _reason(step: Apply, operator: Operator, callee: CondPlan | Custom | None) -> str:
    if step.sized:
        return "writes to an out argument"
    if "generated" in operator.called.tags and operator.name not in COPIES and step.results:
        return "has no functional variant with a derivative"
    reason = callee.then.once or callee.otherwise.once if isinstance(callee, CondPlan) else ""
    return f"has a branch that cannot be: {reason}" if reason else ""
