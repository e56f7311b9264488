"""Which values share memory: storages, and the views of them.

A storage belongs to an input, or to the result of a call. It has a current value; a write to it or to one of its views
replaces that value. A view has the chain of operators that makes it from its storage. If the storage has a newer value
when a view is read, the view is recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradmill.extensions.graphs.model import GraphError, Place, Ref, Value
from gradmill.extensions.graphs.passes.functionalize.program import Flags, Link

SEVERAL = "one of several views that an operator returns, or its base, is modified in place: autograd forbids that"
_NO_VALUE = Ref("")
MOST_VIEWS = 200  # of one another: each is a call around the next in C++
DETACHED = (
    "the result of detach() or view(dtype) got a value that needs a gradient: a graph has its history only until what"
    " it is a view of is written to, and cannot return it"
)
SELECTED = (
    "a subscript is a tensor of one integer, without dimensions: x[i] is then a view, which a graph cannot know in"
    " advance, and one of the two was written to; write x[i.view(1)][0] for a copy, or pass the number as an int"
)
UNTRACKED = (
    "autograd treats the results of '{}' as new memory, and this writes to memory that they may share with its argument"
)
UNTRACKED_HINT = "write to a clone(), or call an operator that returns views that autograd knows: split, chunk, view"
ITSELF = (
    "the metadata of a tensor is changed in place, and another name is the same tensor, since contiguous(), to() or "
    "the like returned its argument: call the operator that returns a view"
)
_TOO_MANY_VIEWS = "make a tensor with new memory in between: .clone()"
INPUT_ITEM = "an item of an input list cannot be changed in place"
ITEM_CHANGED = "an item of a list is changed in place, and the list is used as a whole afterwards"
UNDER_NO_GRAD = (
    "a view that was made under no_grad, or its base, is modified in grad mode: autograd does not allow that"
)


@dataclass(eq=False)
class Storage:
    """Memory, with its current value."""

    value: Value
    input: str = ""  # the input that it belongs to; "" for the result of a call
    version: int = 0
    conditions: list[Flags] = field(default_factory=list)  # for each write, the flags under which it happens
    with_grad: list[Flags] = field(default_factory=list)  # the same for writes in grad mode
    silent: bool = True  # whether no write so far bumps the version counter
    listed: bool = False  # whether it is a list of tensors, each with its own memory
    inside: Storage | None = None  # the list that it is an item of
    changed: Place | None = None  # of a list: the place where one of its items was changed in place
    metadata_version: int = 0  # the number of in-place metadata mutations of the input and of its views
    selects: Flags = ()  # of a subscript's result: the flag, true at run time, under which eager's is a view,
    selected_from: tuple[Storage, ...] = ()  # and what it is a view of
    selections: list[Storage] = field(default_factory=list)  # the results of subscripts and of such operators of it
    untracked: str = ""  # the operator that made it, if it may share the memory of `selected_from` without a view
    overwritten: GraphError | None = None  # the error if it is read: memory that it so shares was written to
    stale: dict[Ref, Place] = field(default_factory=dict)  # by flag: where what it may be a view of was written to
    first: Value = field(init=False)  # its value before any write, in the layout that eager's memory keeps

    def __post_init__(self) -> None:
        self.first = self.value

    def whole(self) -> Value:
        """The current value. Raises a GraphError for a list after one of its items was changed in place."""
        if self.changed is not None:
            raise GraphError(self.changed, ITEM_CHANGED, "name its items: [a, b]")
        return self.value

    def change(self, place: Place) -> None:
        """Records a change in place. An item is a separate tensor from then on; its list has the old value.

        Raises a GraphError for an item of an input.
        """
        if self.inside is not None and self.input:
            raise GraphError(place, INPUT_ITEM, "make it a separate input, or write to x[0].clone()")
        if self.inside is not None:
            self.inside.changed = place


@dataclass(eq=False)
class Alias:
    """A tensor: a whole storage, or a view of its parent."""

    storage: Storage
    parent: Alias | None = None
    link: Link | None = None
    value: Value = _NO_VALUE  # its value as of the version `seen`
    seen: int = -1  # the version of its storage that `value` was computed from
    first_version: int = -1  # the version of its storage that it was first computed from
    own: bool = False  # whether it was detached and then written to: its history then differs from its storage's
    listed: bool = False  # whether it is a list of views
    flag: Ref | None = None  # if it may be a copy: the flag, computed at run time, that is true for a view
    length: int | None = None  # of a list: the required number of views
    sizes: tuple[int, ...] | None = None  # of a tensor, if the graph is specialised to them
    items: dict[int, Handle] = field(default_factory=dict)
    metadata_version: int = field(init=False)  # `metadata_version` of its storage when this was created
    depth: int = field(init=False)  # the number of views between it and its storage

    def __post_init__(self) -> None:
        self.metadata_version = self.storage.metadata_version
        self.depth = self.parent.depth + 1 if self.parent is not None else 0
        if self.depth > MOST_VIEWS and self.link is not None:
            raise GraphError(self.link.place, f"more than {MOST_VIEWS} views of one another", _TOO_MANY_VIEWS)

    @property
    def chain(self) -> tuple[Link, ...]:
        """The links from the storage to it."""
        if self.parent is None or self.link is None:
            return ()
        return (*self.parent.chain, self.link)

    @property
    def flags(self) -> Flags:
        """The flags that are all true at run time if it is a view of its storage and not a copy."""
        if self.parent is None:
            return ()
        return (*self.parent.flags, *([self.flag] if self.flag else []))

    @property
    def early(self) -> int:
        """The number of links of the chain before the last in-place metadata mutation of the input."""
        if self.parent is None or self.metadata_version < self.storage.metadata_version or not self.metadata_version:
            return len(self.chain)
        return self.parent.early

    @property
    def cut(self) -> bool:
        """Whether it was detached."""
        return self.link is not None and self.link.cut

    @property
    def detached(self) -> bool:
        """Whether it, or a tensor that it is a view of, was detached."""
        return any(link.cut for link in self.chain)

    @property
    def has_own_history(self) -> bool:
        """Whether it, or a tensor that it is a view of, has another history than its storage."""
        return self.own or (self.parent is not None and self.parent.has_own_history)

    @property
    def untracked(self) -> str:
        """Why autograd does not track it across writes: one of several views, or made under no_grad; "" if it does."""
        if any(link.item is not None for link in self.chain):
            return SEVERAL
        return UNDER_NO_GRAD if any(not link.grad and not link.cut for link in self.chain) else ""

    @property
    def behind(self) -> bool:
        """Whether its storage was written to since it was made. An operator's several views are all made at once."""
        first = self.parent.first_version if self.parent is not None and self.parent.listed else self.first_version
        return 0 <= first < self.storage.version

    @property
    def current(self) -> bool:
        """Whether its value is up to date with its storage."""
        return self.seen == self.storage.version


@dataclass(eq=False)
class Handle:
    """A tensor object of the program. In-place metadata mutation, as by `t_`, replaces its alias."""

    alias: Alias
    input: str = ""  # the input that it is, or ""

    @property
    def is_whole_value(self) -> bool:
        """Whether it is a whole result of a call, and neither a view nor an input."""
        return self.alias.parent is None and not self.alias.storage.input


def item_of(views: tuple[Handle, ...], index: int) -> Handle:
    """One of the views in an operator's result. Raises a GraphError if there is no such item."""
    if -len(views) <= index < len(views):
        return views[index]
    link = views[0].alias.link
    assert link is not None
    raise GraphError(link.place, f"item {index} of a list of {len(views)}")
