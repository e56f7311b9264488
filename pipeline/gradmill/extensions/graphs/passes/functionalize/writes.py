"""In-place operators: the functional variant computes the new value, which replaces the old one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gradmill.extensions.graphs.model import Bool, Call, GraphError, Item, Nothing, Ref, Result, Value
from gradmill.extensions.graphs.operator import Operator, tensor_arguments, written_arguments
from gradmill.extensions.graphs.passes.functionalize.program import (
    Apply,
    Check,
    ErrorIfRequiresGrad,
    Flags,
    Overlap,
    tensors_of,
)
from gradmill.extensions.graphs.passes.functionalize.state import State, stem
from gradmill.extensions.graphs.passes.functionalize.storage import Alias
from gradmill.extensions.graphs.traits import DROPOUTS, FILLS, OVERLAPS, WRITES, Hidden
from gradmill.model.schema import is_list, schema_kind

_NONE = Hidden()


def hidden_writes(call: Call, operator: Operator) -> list[str]:
    """The arguments that a call writes to without an annotation in its schema."""
    row = WRITES.get(operator.name, _NONE)
    if call.arguments.get(row.switch) == Bool(False):
        return []
    return [name for name in row.arguments if not isinstance(call.arguments.get(name), Nothing)]


def write_in_place(state: State, call: Call, operator: Operator) -> None:
    """Adds a call that writes to some of its arguments. Raises a GraphError for an argument that is a list."""
    hidden, declared = hidden_writes(call, operator), written_arguments(operator.schema)
    if hidden and declared:
        what = f"'{call.op}' writes to '{declared[0]}', and to '{hidden[0]}', which its schema does not declare"
        raise GraphError(call.place, what, "call the operator without out arguments")
    names = hidden or declared
    types = {a.name: a.type for a in operator.schema.arguments}
    for name in names:
        if is_list(types[name]) or not isinstance(call.arguments[name], (Ref, Item)):
            kind = "a whole list" if is_list(types[name]) else "not a tensor"
            what = f"'{call.op}' writes to '{name}', which is {kind}"
            raise GraphError(call.place, what, "use an operator that returns new tensors, or write to each tensor")
    # Random numbers depend on the layout of what they are written to, and the gradients of a composite operator on its
    # dtype: a functional variant keeps neither.
    as_it_is = operator.composite or any(a.type.startswith("Generator") for a in operator.schema.arguments)
    if schema_kind(operator.schema) == "inplace" and operator.functional is not None and not as_it_is:
        _one(state, call, operator, names[0])
    else:
        # Autograd does not know that an operator writes which is neither an in-place nor an out variant.
        unknown = bool(hidden) or schema_kind(operator.schema) == "mutable"
        bumps = WRITES.get(operator.name, _NONE).bumps
        _cloned(state, call, operator, names, hidden=unknown, silent=unknown and not bumps)


def _one(state: State, call: Call, operator: Operator, name: str) -> None:
    """Adds a call of an in-place operator with a functional variant."""
    handle, grad = state.handle(call.arguments[name]), call.grad and operator.tracked
    alias, arguments = handle.alias, state.arguments(call, operator)
    check_write(state, call, operator, alias, arguments)
    check_overlaps(state, call, operator, name)
    new_name = state.names.new(stem(arguments[name]))
    result = Result(new_name, "Tensor")
    made = Apply(call.function, arguments, (result,), call.place, call.grad, written=arguments[name])
    state.steps.append(replace(made, assigns=call.assigns))
    state.write(alias, Ref(new_name), grad=grad, place=call.place, same=operator.name in FILLS)
    for output in call.results:
        state.tensors[output.name] = handle


def _cloned(state: State, call: Call, operator: Operator, names: list[str], *, hidden: bool, silent: bool) -> None:
    """Adds a call of an operator without a functional variant: it writes to copies, which become the new values."""
    arguments = state.arguments(call, operator)
    handles = {name: state.handle(call.arguments[name]) for name in names}
    is_out = schema_kind(operator.schema) == "out"
    switch = arguments.get("train" if operator.name in DROPOUTS else WRITES.get(operator.name, _NONE).switch)
    when = (switch,) if isinstance(switch, Ref) else ()
    for name in names:
        check_write(state, call, operator, handles[name].alias, {} if hidden or is_out else arguments, when)
        check_overlaps(state, call, operator, name)
    state.refuse(operator, arguments, call)
    if call.grad and is_out:
        _refuse_grad(state, call, operator, arguments)
    sized = {name: handles[name].is_whole_value for name in names if is_out}
    clones = {name: state.names.new(stem(arguments[name])) for name in names}
    returned = {
        r.annotation: a.name
        for r in operator.schema.returns
        if r.is_write
        for a in operator.schema.arguments
        if a.annotation == r.annotation
    }
    held = [r for r, s in zip(call.results, operator.schema.returns) if not s.is_write]
    results = tuple(Result(state.names.new(r.name), r.type, r.length) for r in held)
    copies = tuple(clones.items())
    made = Apply(call.function, arguments, results, call.place, call.grad, clones=copies, sized=sized)
    state.steps.append(replace(made, assigns=call.assigns))
    grad = call.grad and operator.tracked and not hidden
    for name, handle in handles.items():
        state.write(handle.alias, Ref(clones[name]), grad=grad, place=call.place, silent=silent, when=when)
    for named, result in zip(held, results):
        state.bind(named, Ref(result.name))
    for named, declared in zip(call.results, operator.schema.returns):
        if declared.is_write:
            state.tensors[named.name] = handles[returned[declared.annotation]]


def _refuse_grad(state: State, call: Call, operator: Operator, arguments: dict[str, Value]) -> None:
    """Adds the error of eager: an operator with out arguments refuses tensors that need a gradient."""
    if operator.outputs or operator.composite:
        values = tuple(each for name in tensor_arguments(operator.schema) for each in tensors_of(arguments[name]))
        name = operator.schema.name.unqualified
        state.steps.append(ErrorIfRequiresGrad(values, _OUT.format(name=name), call.place))


_OUT = (
    "{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
    "requires grad."
)


def check_write(
    state: State,
    call: Call,
    operator: Operator,
    alias: Alias,
    arguments: dict[str, Value],
    when: Flags = (),
) -> None:
    """Adds eager's errors for a write: to a leaf that needs a gradient, to one of several views, across no_grad.

    `when`: flags that are true at run time if the operator writes.
    """
    if not call.grad or not operator.tracked or not arguments:
        return
    values = tuple(each for name in tensor_arguments(operator.schema) for each in tensors_of(arguments[name]))
    chain, storage = alias.chain, alias.storage
    if alias.untracked and not alias.detached:
        values = (*values, *tensors_of(storage.value))  # such a view needs a gradient if what it is of does
    checked = {each.input for each in state.checks if not (each.flags or any(link.cut for link in each.chain))}
    if storage.input and (alias.untracked or storage.input not in checked):
        state.checks.append(Check(storage.input, chain, values, (*alias.flags, *when)))
    elif alias.untracked:
        state.steps.append(ErrorIfRequiresGrad(values, alias.untracked, call.place))


# ---- writes whose other arguments are in the same memory


def check_overlaps(state: State, call: Call, operator: Operator, written: str) -> None:
    """Adds eager's check of the other arguments of a write that are in the memory of the argument `written`."""
    into = state.handle(call.arguments[written]).alias
    for name, every in OVERLAPS.get(operator.name, {}).items():
        for value in tensors_of(call.arguments[name]) if name != written else ():
            alias = _alias(state, value)
            if alias is not None and alias.storage is into.storage and (every or alias is not into):
                state.steps.append(_overlap(into, alias, call, every=every))


def _alias(state: State, value: Ref | Item) -> Alias | None:
    """The tensor of a value; None for a number or a whole list."""
    if value.name in state.scalars or (isinstance(value, Ref) and value.name in state.lists):
        return None
    alias = state.handle(value).alias
    return None if alias.listed else alias


def _overlap(written: Alias, read: Alias, call: Call, *, every: bool) -> Overlap:
    """The check. Both are made from the last tensor, not a list, that both are views of: it may be a copy."""
    one, other = written.chain, read.chain
    common = 0
    for links in range(min(len(one), len(other))):
        above = _above(written, links)
        if above is not _above(read, links):
            break
        common = common if above.listed else links + 1
    flags = tuple(dict.fromkeys(flag for each in (written, read) for flag in _flags(each, common)))
    base = written.storage.first
    return Overlap(base, one[:common], one[common:], other[common:], every, call.assigns, flags, call.place)


def _flags(alias: Alias, depth: int) -> Iterator[Ref]:
    """The flags of a tensor that are all true at run time if it is a view of the one at this depth, and no copy."""
    while alias.parent is not None and alias.depth > depth:
        if alias.flag:
            yield alias.flag
        alias = alias.parent


def _above(alias: Alias, links: int) -> Alias:
    """The tensor on the way to `alias`, one link after the first `links` of its chain."""
    while alias.parent is not None and alias.depth > links + 1:
        alias = alias.parent
    return alias
