"""Results that alias arguments, by the annotations of schemas or by the table of `traits.py`."""

from __future__ import annotations

from msgspec.structs import replace

from gradmill.extensions.graphs.model import Bool, Call, Float, GraphError, Item, Many, Ref, Result, Value
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.passes.functionalize.program import SAME_MEMORY, Apply, Choose, Link, Number
from gradmill.extensions.graphs.passes.functionalize.state import State
from gradmill.extensions.graphs.passes.functionalize.storage import Alias
from gradmill.extensions.graphs.traits import CUT, DROPOUTS, Shares
from gradmill.model.schema import is_list


def share(state: State, call: Call, operator: Operator, row: Shares) -> bool:
    """Adds a call with a result that may alias an argument; False if the result never aliases."""
    viewed = call.arguments[row.argument]
    if row.untracked:
        return False
    if row.whole and not (row.annotated and call.grad):
        _itself(state, call, operator, row)
    elif not is_list(next(a.type for a in operator.schema.arguments if a.name == row.argument)):
        rest = {name: state.value(each) for name, each in call.arguments.items() if name != row.argument}
        cut = operator.name in CUT or not (operator.composite or operator.outputs)
        link = _link(call, row, rest, cut=cut)
        state.view(call.results[0], state.handle(viewed).alias, link, itself=row.itself)
    else:
        return _of_list(state, call, row)
    return True


def _link(call: Call, row: Shares, rest: dict[str, Value], *, cut: bool = False) -> Link:
    grad = call.grad and not cut
    return Link(call.function, row.argument, rest, grad, place=call.place, conditional=row.copied, cut=cut)


def _of_list(state: State, call: Call, row: Shares) -> bool:
    """Views of the tensors of a list: one of each tensor, or one of a single tensor."""
    viewed, result = call.arguments[row.argument], call.results[0]
    known = state.lists.get(viewed.name) if isinstance(viewed, Ref) else None
    if known is None and not isinstance(viewed, Many):
        what = f"'{call.op}' may return views of the tensors of '{row.argument}', which is passed as a whole list"
        raise GraphError(call.place, what, "unpack it, `a, b = xs`, and name its tensors: [a, b]")
    handles = known or tuple(map(state.handle, viewed.values if isinstance(viewed, Many) else ()))
    listed = result.type.endswith("]")
    if not listed and len(handles) != 1:
        return False
    if listed and result.length not in (None, len(handles)):
        raise GraphError(call.place, f"{result.length} names for a list of {len(handles)} tensors")
    values: tuple[Value, ...] = tuple(state.read(each.alias) for each in handles)
    rest = {name: state.value(each) for name, each in call.arguments.items() if name != row.argument}
    names = [state.names.new(result.name) for _ in handles] if listed else [result.name]
    for i, (name, handle) in enumerate(zip(names, handles)):
        others = Many(tuple(_metadata_of(state, call, each) for each in (*values[:i], *values[i + 1 :])))
        link = replace(_link(call, row, {**rest, row.argument: others}), operand=i, listed=listed)
        state.view(Result(name, "Tensor"), handle.alias, link, itself=row.itself)
    if listed:
        state.lists[result.name] = tuple(state.tensors.pop(name) for name in names)
    return True


def _metadata_of(state: State, call: Call, value: Value) -> Value:
    """A tensor that only contributes its metadata: no gradient flows to it."""
    assert isinstance(value, (Ref, Item))
    result = Result(state.names.new(value.name), "Tensor")
    state.steps.append(Number("graph::metadata", {"a": value}, result, call.place))
    return Ref(result.name)


def _itself(state: State, call: Call, operator: Operator, row: Shares) -> None:
    """Adds a call with a result that is the argument itself or a copy; a flag at run time decides."""
    arguments = state.arguments(call, operator)
    source, parent = arguments[row.argument], state.handle(call.arguments[row.argument]).alias
    state.refuse(operator, arguments, call)
    result = Result(state.names.new(call.results[0].name), "Tensor", dtype=call.results[0].dtype)
    value: Value = Ref(result.name)
    state.steps.append(Apply(call.function, arguments, (result,), call.place, call.grad, shares=(source,)))
    flag = state.compare(SAME_MEMORY, "is_view", value, source, call.place)
    if not call.grad:  # if it is the argument itself, it has the argument's history
        chosen = state.names.new(result.name)
        state.steps.append(Choose((flag,), source, value, chosen, call.place))
        value = Ref(chosen)
    link, now = Link("", row.argument, {}, True, place=call.place, conditional=True), parent.storage.version
    alias = Alias(parent.storage, parent, link, value, seen=now, first_version=now, flag=flag)
    state.name(call.results[0].name, alias, itself=row.itself)


def returned_argument(call: Call, operator: Operator) -> Value | None:
    """The argument that a call always returns, without a write to it: dropout that drops nothing; None for others."""
    if operator.name not in DROPOUTS:
        return None
    nothing = call.arguments.get("train") == Bool(False) or call.arguments.get("p") in (Float(0.0),)
    return call.arguments[operator.schema.arguments[0].name] if nothing else None
