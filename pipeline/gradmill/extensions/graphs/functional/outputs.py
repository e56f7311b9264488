"""The effects that the caller sees: outputs that are inputs, views of inputs or of values, and mutated inputs.

The graph returns the base of a view, and the wrapper recomputes the view from it. So the view aliases the same tensors
as in eager, and has the history of the base.
"""

from __future__ import annotations

from gradmill.extensions.graphs.functional.program import (
    Copied,
    ErrorIfRequiresGrad,
    OutputValue,
    Shared,
    Shown,
    Update,
)
from gradmill.extensions.graphs.functional.state import State
from gradmill.extensions.graphs.functional.storage import DETACHED, Alias, Handle
from gradmill.extensions.graphs.model import Item, Many, Output, Ref, Value


def outputs_of(state: State) -> tuple[OutputValue, ...]:
    """The outputs, in order."""
    return tuple(_output(state, output) for output in state.function.outputs)


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


def updates_of(state: State) -> tuple[Update, ...]:
    """The inputs that were written to, with their new contents."""
    return tuple(
        Update(name, each.value, tuple(each.with_grad), tuple(each.conditions), each.silent)
        for name, each in state.written_inputs.items()
    )
