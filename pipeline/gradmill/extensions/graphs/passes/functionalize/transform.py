"""Functionalizes a function call by call: removes mutation and aliasing.

The schema of an operator decides the kind of its calls: it computes, makes a view, writes, or mutates only metadata.
Rules: the notes of torch._functorch.aot_autograd and of torch/csrc/autograd.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from gradmill.extensions.graphs.model import Call, Function, GraphError, Item, Many, Output, Ref, Result, Value
from gradmill.extensions.graphs.operator import Operator, shares, viewed_argument, written_arguments
from gradmill.extensions.graphs.passes.functionalize.program import (
    SAME_MEMORY,
    Apply,
    Choose,
    Copied,
    ErrorIfRequiresGrad,
    Functional,
    Number,
    OutputValue,
    Scatter,
    Shared,
    Shown,
    Step,
    Update,
    names_in,
)
from gradmill.extensions.graphs.passes.functionalize.state import State
from gradmill.extensions.graphs.passes.functionalize.storage import DETACHED, Alias, Handle
from gradmill.extensions.graphs.passes.functionalize.views import returned_argument, share
from gradmill.extensions.graphs.passes.functionalize.writes import check_write, hidden_writes, write_in_place
from gradmill.extensions.graphs.scalars import CHECK_SUBSCRIPT, SELECTS
from gradmill.extensions.graphs.traits import DETACH_IN_PLACE, REFUSED
from gradmill.problems.problem import all_of


def functional(function: Function, operators: Mapping[str, Operator]) -> Functional:
    """The functionalized function. Raises a GraphError with all errors for what a graph does not support.

    `operators` has the operators of all calls, by identity.
    """
    state = State(function)
    errors = []
    for call in function.calls:
        try:
            _call(state, call, operators)
        except GraphError as error:
            errors.append(error)
            for result in call.results:  # placeholders, so that later calls are checked as well
                state.bind_new(result.name, Ref(state.names.new(result.name)), listed=result.type != "Tensor")
    if errors:
        raise all_of(list(errors))
    state.grad = False
    outputs = tuple(_output(state, output) for output in function.outputs)
    updates = tuple(
        Update(name, each.value, tuple(each.with_grad), tuple(each.conditions), each.silent)
        for name, each in state.written_inputs.items()
    )
    return Functional(
        function,
        state.inputs,
        _needed(state, outputs, updates),
        updates,
        tuple(state.metadata),
        tuple(state.checks),
        outputs,
        {name: tuple(conditions) for name, conditions in state.bumped.items()},
        tuple(state.written_inputs),
    )


def _needed(state: State, outputs: tuple[OutputValue, ...], updates: tuple[Update, ...]) -> tuple[Step, ...]:
    """The steps without unused Scatter and Choose steps, and without the flags that only those use."""
    used = names_in((*outputs, *updates, *state.checks, *map(tuple, state.bumped.values())))
    needed: list[Step] = []
    for step in reversed(state.steps):
        kept = _kept(step, used)
        if kept is not None:
            used |= names_in(kept)
            needed.append(kept)
    return tuple(reversed(needed))


def _kept(step: Step, used: set[str]) -> Step | None:
    """A step, None if nothing uses its result; of a subscript's flag that nothing uses, the check alone."""
    if isinstance(step, (Scatter, Choose)):
        return step if step.result in used else None
    if not isinstance(step, Number) or step.result.name in used:
        return step
    if step.op == SELECTS:
        return replace(step, op=CHECK_SUBSCRIPT)
    return None if step.op == SAME_MEMORY else step


def _call(state: State, call: Call, operators: Mapping[str, Operator]) -> None:
    state.grad = call.grad and not call.is_python
    if call.is_python:
        _number(state, call)
        return
    operator = operators.get(call.function)
    if operator is None:
        raise GraphError(call.place, f"the set has no operator '{call.op}'", "use one that native_functions.yaml has")
    if operator.name in REFUSED:
        hint = REFUSED[operator.name]
        raise GraphError(call.place, f"'{call.op}' is not supported in a graph", hint)
    if (argument := returned_argument(call, operator)) is not None:
        state.tensors[call.results[0].name] = state.handle(argument)
    elif operator.name == DETACH_IN_PLACE:
        state.detach(call)
    elif operator.inplace_view:
        _mutate_metadata(state, call, operator)
    elif written_arguments(operator.schema) or hidden_writes(call, operator):
        write_in_place(state, call, operator)
    elif not ((row := shares(operator.function)) is not None and share(state, call, operator, row)):
        _compute(state, call, operator)


def _number(state: State, call: Call) -> None:
    name = state.names.new(call.results[0].name)
    result = Result(name, call.results[0].type, call.results[0].length)
    state.steps.append(Number(call.op, state.arguments(call), result, call.place))
    state.scalars[call.results[0].name] = name


def _compute(state: State, call: Call, operator: Operator) -> None:
    arguments = state.arguments(call, operator)
    state.refuse(operator, arguments, call)
    results = tuple(Result(state.names.new(r.name), r.type, r.length, r.sizes, r.dtype) for r in call.results)
    row = shares(operator.function)
    source = arguments[row.argument] if row is not None and row.untracked else None
    shared = (source,) if isinstance(source, (Ref, Item)) else ()
    step = Apply(call.function, arguments, results, call.place, call.grad, shares=shared, autocast=call.autocast)
    state.steps.append(step)
    for declared, result in zip(call.results, results):
        state.bind(declared, Ref(result.name))
    if call.selects:
        state.select(call)
    elif row is not None and row.untracked:
        state.untrack(call, row.argument)


def _mutate_metadata(state: State, call: Call, operator: Operator) -> None:
    if operator.functional is None or viewed_argument(operator.functional) is None:
        raise GraphError(call.place, f"'{call.op}' has no variant that returns a view", "write the view operator")
    written = written_arguments(operator.schema)[0]
    check_write(state, call, operator, state.handle(call.arguments[written]).alias, state.arguments(call, operator))
    state.mutate_metadata(call, written)


# ---- the outputs


def _output(state: State, output: Output) -> OutputValue:
    value = output.value
    if isinstance(value, Many):
        return Shared(tuple(_shown(state, state.handle(each)) for each in value.values))
    if isinstance(value, Ref) and value.name in state.lists:
        return Shared(tuple(_shown(state, each) for each in state.lists[value.name]))
    if isinstance(value, (Ref, Item)) and value.name not in state.scalars:
        return _shown(state, state.handle(value))
    return state.value(value)


def _shown(state: State, handle: Handle) -> Shown:
    alias = handle.alias
    storage, which = alias.storage, state.which(alias)
    state.refuse_stale(storage)
    if alias.has_own_history:
        state.steps.append(ErrorIfRequiresGrad((state.read(alias),), DETACHED, alias.chain[-1].place))
    if handle.input:
        return Shown(Ref(handle.input), True)
    base: Value = storage.whole()
    if storage.input:
        base = storage.value if isinstance(storage.value, Item) else Ref(storage.input)
    return Shown(base, bool(storage.input), alias.chain, alias.listed, which, _copies(state, alias), alias.early)


def _copies(state: State, alias: Alias) -> tuple[Copied, ...]:
    """The tensors on the chain to a view that may be copies. Without a write, recomputing the view makes the copy."""
    if alias.parent is None or alias.link is None:
        return ()
    held = alias.storage.version > 0 or alias.link.is_itself
    own = (Copied(len(alias.chain), alias.flag, state.read(alias)),) if alias.flag and held else ()
    return (*_copies(state, alias.parent), *own)
