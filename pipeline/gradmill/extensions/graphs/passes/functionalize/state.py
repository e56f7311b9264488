"""The state of functionalization: the storage of each tensor, and the steps so far."""

from __future__ import annotations

from gradmill.extensions.graphs.model import Call, Function, GraphError, Item, Many, Nothing, Place, Ref, Result, Value
from gradmill.extensions.graphs.operator import Operator
from gradmill.extensions.graphs.passes.functionalize.names import Names
from gradmill.extensions.graphs.passes.functionalize.program import (
    SAME_LAYOUT,
    SAME_MEMORY,
    Apply,
    Check,
    Choose,
    ErrorIf,
    ErrorIfRequiresGrad,
    Flags,
    Link,
    Number,
    Scatter,
    Step,
)
from gradmill.extensions.graphs.passes.functionalize.storage import (
    DETACHED,
    ITSELF,
    SELECTED,
    UNTRACKED,
    UNTRACKED_HINT,
    Alias,
    Handle,
    Storage,
    item_of,
)


class State:
    """The state, and its changes."""

    def __init__(self, function: Function) -> None:
        self.names = names = Names()
        self.steps: list[Step] = []
        self.grad = False  # whether the call that reads values is in grad mode
        self.tensors: dict[str, Handle] = {}
        self.lists: dict[str, tuple[Handle, ...]] = {}  # lists of views, each of another tensor
        self.scalars: dict[str, str] = {}
        self.metadata: list[tuple[str, Link]] = []
        self.shown: list[Alias] = []
        self.selves: list[Alias] = []  # results that may be the argument tensor itself
        self.checks: list[Check] = []
        self.bumped: dict[str, list[Flags]] = {}  # inputs whose views had a metadata mutation: see Functional
        self.written_inputs: dict[str, Storage] = {}
        self.inputs: dict[str, str] = {}  # the C++ names of inputs
        for input_ in function.inputs:
            name = self.inputs[input_.name] = names.new(input_.name)
            if input_.type.startswith("Tensor"):
                listed = input_.type.endswith("]")
                alias = Alias(Storage(Ref(name), input=name, listed=listed), listed=listed)
                self.tensors[input_.name] = Handle(alias, input="" if listed else name)
            else:
                self.scalars[input_.name] = name

    # ---- names

    def bind(self, result: Result, value: Ref) -> None:
        """Binds the value of a call's result to the function's name for it."""
        if result.type.startswith("Tensor"):
            self.bind_new(result.name, value, listed=result.type.endswith("]"))
        else:
            self.scalars[result.name] = value.name

    def bind_new(self, name: str, value: Value, *, listed: bool = False) -> None:
        """Binds a name to a tensor with new memory, or to a list of such tensors."""
        self.tensors[name] = Handle(Alias(Storage(value, listed=listed), listed=listed))

    def handle(self, value: Value) -> Handle:
        """The tensor of a value."""
        if isinstance(value, Item) and value.name in self.lists:
            return item_of(self.lists[value.name], value.index)
        if isinstance(value, Item):
            return self._item(self.tensors[value.name], value.index)
        assert isinstance(value, Ref)
        return self.tensors[value.name]

    def _item(self, listed: Handle, index: int) -> Handle:
        """An item of a list; the same tensor for the same index."""
        alias = listed.alias
        if index not in alias.items:
            if alias.parent is None:
                value = Item(self._name(alias.storage.value), index)
                item = Alias(Storage(value, input=alias.storage.input, inside=alias.storage))
            else:
                item = Alias(alias.storage, alias, Link("", "", {}, alias.link.grad if alias.link else True, index))
            alias.items[index] = Handle(item)
        return alias.items[index]

    @staticmethod
    def _name(value: Value) -> str:
        assert isinstance(value, Ref)
        return value.name

    def which(self, alias: Alias) -> tuple[int, ...]:
        """The numbers of the tensors on the chain from a storage to one of its views."""
        if alias.parent is None:
            return ()
        if alias not in self.shown:
            self.shown.append(alias)
        return (*self.which(alias.parent), self.shown.index(alias))

    # ---- reading

    def value(self, value: Value) -> Value:
        """Converts a value of the function to a value of the steps."""
        if isinstance(value, Many):
            return Many(tuple(self.value(each) for each in value.values))
        if isinstance(value, Ref) and value.name in self.scalars:
            return Ref(self.scalars[value.name])
        if isinstance(value, Item) and value.name in self.scalars:
            return Item(self.scalars[value.name], value.index)
        if isinstance(value, Ref) and value.name in self.lists:
            return Many(tuple(self.read(each.alias) for each in self.lists[value.name]))
        if isinstance(value, (Ref, Item)):
            return self.read(self.handle(value).alias)
        return value

    def arguments(self, call: Call, operator: Operator | None = None) -> dict[str, Value]:
        """Converts the arguments of a call to values of the steps. A computed number for a tensor becomes a tensor."""
        types = {a.name: a.type for a in operator.schema.arguments} if operator is not None else {}
        values = {}
        for name, argument in call.arguments.items():
            value = self.value(argument)
            values[name] = self._operand(value, call) if types.get(name) in ("Tensor", "Tensor?") else value
        return values

    def _operand(self, value: Value, call: Call) -> Value:
        if not (isinstance(value, (Ref, Item)) and value.name in self.scalars.values()):
            return value
        name = self.names.new("number")
        self.steps.append(Number("graph::operand", {"a": value}, Result(name, "Tensor"), call.place))
        return Ref(name)

    def read(self, alias: Alias) -> Value:
        """The current value of a tensor. If its storage was written to, a view is recomputed."""
        self.refuse_stale(alias.storage)
        if alias.parent is None:
            return alias.storage.whole()
        if not alias.current:
            old, again = alias.value, alias.seen >= 0
            parent, link = self.read(alias.parent), alias.link
            assert link is not None
            if alias.behind and alias.untracked and (link.grad or (self.grad and not alias.detached)):
                self.steps.append(ErrorIfRequiresGrad((alias.storage.value,), alias.untracked, link.place))
            if alias.own:
                self.steps.append(ErrorIfRequiresGrad((old,), DETACHED, link.place))
                alias.own = False
            alias.value = self._view_value(alias, parent, link)
            if link.conditional:
                alias.value = self._chosen(alias, parent, old, again=again)
            alias.seen = alias.storage.version
            alias.first_version = alias.first_version if again else alias.seen
        return alias.value

    def _chosen(self, alias: Alias, parent: Value, old: Value, *, again: bool) -> Value:
        """The value of a tensor that may be a copy: the recomputed view, or the earlier copy, by its flag."""
        link, value = alias.link, alias.value
        assert link is not None
        if alias.flag is None or not again:
            alias.flag = self.compare(SAME_MEMORY, "is_view", value, parent, link.place)
            return value
        name = self.names.new(stem(value))
        self.steps.append(Choose((alias.flag,), value, old, name, link.place))
        return Ref(name)

    def _view_value(self, alias: Alias, parent: Value, link: Link) -> Value:
        if link.item is not None:
            return Item(self._name(parent), link.item)
        if link.is_itself:
            return parent
        kind = "Tensor[]" if alias.listed or link.listed else "Tensor"
        name = self.names.new(stem(alias.value))
        result, view = Result(name, kind, alias.length, alias.sizes), link.operand is None
        arguments, shares = link.all_arguments(parent), () if view else (parent,)
        self.steps.append(Apply(link.identity, arguments, (result,), link.place, link.grad, view=view, shares=shares))
        return Ref(name) if link.operand is None or not link.listed else Item(name, link.operand)

    # ---- views

    def view(self, result: Result, parent: Alias, link: Link, *, itself: bool) -> None:
        """Adds a view, or a list of views, of `parent`. `itself`: whether it may be the same tensor as `parent`."""
        alias = Alias(
            parent.storage, parent, link, Ref(result.name), listed=result.type != "Tensor", length=result.length
        )
        alias.sizes = result.sizes
        self.read(alias)
        self.name(result.name, alias, itself=itself)

    def name(self, name: str, alias: Alias, *, itself: bool) -> None:
        """Binds a name to a view. `itself`: whether it may be the same tensor as its parent."""
        self.tensors[name] = Handle(alias)
        if itself:
            self.selves.append(alias)

    def _may_be_parent(self, alias: Alias, place: Place) -> Ref:
        """The flag, computed at run time, that is true if a view may be the same tensor as its parent."""
        assert alias.parent is not None
        return self.compare(SAME_LAYOUT, "is_same", self.read(alias), self.read(alias.parent), place)

    def compare(self, how: str, hint: str, one: Value, other: Value, place: Place) -> Ref:
        """Adds a comparison of two tensors; the flag with its result."""
        name = self.names.new(hint)
        self.steps.append(Number(how, {"a": one, "b": other}, Result(name, "bool"), place))
        return Ref(name)

    def mutate_metadata(self, call: Call, written: str) -> None:
        """Applies an in-place operator that mutates the metadata of its argument `written`."""
        handle = self.handle(call.arguments[written])
        flags = handle.alias.flags
        handle.alias.storage.change(call.place)
        for each in self.selves:
            if handle.alias in (each, each.parent):
                self.steps.append(ErrorIf(each.flag or self._may_be_parent(each, call.place), ITSELF, call.place))
        rest = {name: self.value(argument) for name, argument in call.arguments.items() if name != written}
        link = Link(call.function, written, rest, call.grad, place=call.place, inplace=True)
        handle.alias = Alias(
            handle.alias.storage, handle.alias, link, Ref(call.results[0].name if call.results else "")
        )
        storage = handle.alias.storage
        if handle.input:
            self.metadata.append((handle.input, link))
        elif storage.input:
            self.bumped.setdefault(storage.input, []).append(flags)
        storage.metadata_version += 1 if storage.input else 0
        if call.results:
            self.tensors[call.results[0].name] = handle
        self.read(handle.alias)

    def detach(self, call: Call) -> None:
        """Applies `detach_`: the value loses its history; its version stays. Raises a GraphError if a view of it has
        been made, which keeps the history until the next write, or if the caller has the tensor, too."""
        handle = self.handle(call.arguments["self"])
        storage = handle.alias.storage
        every = (*self.tensors.values(), *(each for listed in self.lists.values() for each in listed))
        if not handle.is_whole_value or any(e.alias.storage is storage and e is not handle for e in every):
            what = f"'{call.op}' of an input, of a view, or of a tensor with views is not supported"
            raise GraphError(call.place, what, "write x = x.detach()")
        storage.change(call.place)
        result = Result(self.names.new(stem(storage.value)), "Tensor")
        self.steps.append(Apply(call.function, {"self": storage.value}, (result,), call.place, grad=False, view=True))
        storage.value = Ref(result.name)
        self.tensors[call.results[0].name] = handle

    def refuse(self, operator: Operator, arguments: dict[str, Value], call: Call) -> None:
        """Adds an error at run time for arguments that need a gradient and that the operator has no derivative for."""
        for name in operator.refused if call.grad else ():
            if not isinstance(arguments.get(name), Nothing):
                message = (
                    f"The function '{operator.schema.name.unqualified}' is not differentiable with respect to argument"
                    f" '{name}'. This input cannot have requires_grad True."
                )
                self.steps.append(ErrorIfRequiresGrad((arguments[name],), message, call.place))

    # ---- subscripts that select

    def select(self, call: Call) -> None:
        """Records that the result of a subscript with tensors is a view in eager if its flag is true."""
        made, base = (self.handle(each).alias.storage for each in (Ref(call.results[0].name), call.arguments["self"]))
        made.selects, made.selected_from = (Ref(self.scalars[call.selects]),), (base, *base.selected_from)
        for each in made.selected_from:
            each.selections.append(made)

    def untrack(self, call: Call, argument: str) -> None:
        """Records that the results of a call may be in the memory of an argument, unnoticed by autograd."""
        given = call.arguments[argument]
        for result in call.results:
            made = self.handle(Ref(result.name)).alias.storage
            made.untracked = call.op
            for value in given.values if isinstance(given, Many) else (given,):
                base = self.handle(value).alias.storage
                made.selected_from += (base, *base.selected_from)
            for each in made.selected_from:
                each.selections.append(made)

    def refuse_stale(self, storage: Storage) -> None:
        """Adds errors at run time for a copy that is a view in eager, of what was written to since.

        Raises a GraphError if that is known already.
        """
        overwritten = storage.overwritten or (storage.inside and storage.inside.overwritten)
        if overwritten:
            raise overwritten
        self.steps += [ErrorIf(flag, SELECTED, place) for flag, place in storage.stale.items()]
        storage.stale.clear()

    def _check_selections(self, storage: Storage, place: Place) -> None:
        """Before a write to a storage: adds an error at run time if it is a view in eager, and
        marks what may be a view of it, or what it may be a view of. Raises a GraphError if that may be an input."""
        self.steps += [ErrorIf(flag, SELECTED, place) for flag in storage.selects]
        storage.selects = ()
        made = storage.inside or storage
        if made.untracked:
            error = GraphError(place, UNTRACKED.format(made.untracked), UNTRACKED_HINT)
            for base in made.selected_from:
                if base.input:
                    raise error
                for each in (base, *base.selections):
                    each.overwritten = each.overwritten if each is made else error
        for each in storage.selections:
            each.stale |= dict.fromkeys(each.selects, place)
            if each.untracked:
                each.overwritten = GraphError(place, UNTRACKED.format(each.untracked), UNTRACKED_HINT)

    # ---- writing

    def write(
        self,
        alias: Alias,
        value: Ref,
        *,
        grad: bool,
        place: Place,
        silent: bool = False,
        same: bool = False,
        when: Flags = (),
    ) -> None:
        """Writes a value to a tensor: its storage gets a new value, in which `value` replaces the view.

        `silent`: whether the write does not bump the version. `same`: whether elements that overlap in memory have
        equal values, as after `fill_`. `when`: flags that are true at run time if the operator writes; else `value` is
        the old value.
        """
        storage, chain = alias.storage, alias.chain
        if storage.listed:
            raise GraphError(place, "a list as a whole cannot be written to", "write to its items")
        storage.change(place)
        self._check_selections(storage, place)
        copies = self._copies(alias, value, place, grad=grad)
        alias.own = alias.own or (grad and alias.cut)
        grad = grad and all(link.grad for link in chain)
        if chain:
            name = self.names.new(stem(storage.value))
            self.steps.append(Scatter(storage.value, value, chain, name, place, grad, alias.flags, same))
            storage.value = Ref(name)
        else:
            storage.value = value
        storage.version += 1
        storage.silent &= silent
        storage.conditions.append((*alias.flags, *when))
        storage.with_grad += [(*alias.flags, *when)] if grad else []
        for each, written in [*copies, (alias, value)]:
            each.value, each.seen = written, storage.version
        if storage.input:
            self.written_inputs[storage.input] = storage

    def _copies(self, alias: Alias, value: Ref, place: Place, *, grad: bool) -> list[tuple[Alias, Ref]]:
        """Applies the same write to those ancestors of `alias` that may be copies, and then have their own memory, and
        to those that were detached, and have their own history."""
        copies = []
        above = alias.parent
        while above is not None:
            if above.flag or above.cut:
                chain, flags = alias.chain[len(above.chain) :], alias.flags[len(above.flags) :]
                base, name = self.read(above), self.names.new("copy" if above.flag else "detached")
                tracked = grad and all(link.grad for link in (chain if above.cut else alias.chain))
                self.steps.append(Scatter(base, value, chain, name, place, tracked, flags))
                above.own = above.own or (tracked and above.cut)
                copies.append((above, Ref(name)))
            above = above.parent
        return copies


def stem(value: Value) -> str:
    """The base for the name of a value that replaces this one."""
    return (value.name if isinstance(value, (Ref, Item)) else "value") or "view"
