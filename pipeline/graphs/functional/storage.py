"""Which values share memory: storages, and the views of them.

A storage is an input's, or that of what a call made. It has a current value, and whoever writes to it or to one of its
views gives it the next one. A view knows how it was made; when its storage has a newer value it is made again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.graphs.errors import GraphError
from pipeline.graphs.functional.program import Link
from pipeline.graphs.model import Place, Ref, Value

SEVERAL = "a view that is one of several outputs of an operator meets a write in place: autograd does not allow that"
_NO_VALUE = Ref("")
MOST_VIEWS = 200  # of one another: each is a call around the next in C++
DETACHED = (
    "a detached tensor got a value that needs a gradient: a graph has its history only until what it was detached from"
    " is written to, and cannot return it"
)
ITSELF = (
    "a tensor gets other looks in place, and another name stands for the same tensor, since contiguous(), to() or the "
    "like had nothing to do: write the operator that returns a view"
)
_TOO_MANY_VIEWS = "make a tensor with memory of its own in between: .clone()"
INPUT_ITEM = "an item of a list that is an input cannot be changed in place"
ITEM_CHANGED = "an item of a list is changed in place, and the list is used as a whole afterwards"
UNDER_NO_GRAD = "a view that was made under no_grad meets a write in grad mode: autograd does not allow that"


@dataclass(eq=False)
class Storage:
    """Memory, by the value that it holds now."""

    value: Value
    input: str = ""  # the input whose memory it is; "" of what a call made
    version: int = 0
    conditions: list[tuple[str, ...]] = field(default_factory=list)  # of each write, the numbers that say if it was one
    with_grad: list[tuple[str, ...]] = field(default_factory=list)  # the same of writes in grad mode
    silent: bool = True  # whether all writes are such as do not count for versions
    listed: bool = False  # whether it is a list of tensors with memory of their own each
    inside: Storage | None = None  # the list that it is an item of
    changed: Place | None = None  # of a list: where one of its items was changed in place
    looks: int = 0  # how often the input, or a view of it, came to look otherwise in place

    def whole(self) -> Value:
        """The value, which is not that of a list where one of its items is another tensor by now."""
        if self.changed is not None:
            raise GraphError(self.changed, ITEM_CHANGED, "name its items: [a, b]")
        return self.value

    def change(self, place: Place) -> None:
        """Says that it is changed in place. An item is a tensor of its own from then on: its list still has the old."""
        if self.inside is not None and self.input:
            raise GraphError(place, INPUT_ITEM, "make it an input of its own, or write to x[0].clone()")
        if self.inside is not None:
            self.inside.changed = place


@dataclass(eq=False)
class Alias:
    """A tensor: a storage as a whole, or a view of it by way of its parent."""

    storage: Storage
    parent: Alias | None = None
    link: Link | None = None
    value: Value = _NO_VALUE  # the value that it was last given, and when
    seen: int = -1
    first_version: int = -1  # the version that it was first made of
    own: bool = False  # whether it is detached and was written to since: its history is then not that of its storage
    listed: bool = False  # whether it is a list of views
    flag: str = ""  # the number that says whether it is a view of its parent, where it may be a copy
    length: int | None = None  # how many there must be
    items: dict[int, Handle] = field(default_factory=dict)
    looks: int = field(init=False)  # those of its storage when it was made
    depth: int = field(init=False)  # how many views lead to it

    def __post_init__(self) -> None:
        self.looks = self.storage.looks
        self.depth = self.parent.depth + 1 if self.parent is not None else 0
        if self.depth > MOST_VIEWS and self.link is not None:
            raise GraphError(self.link.place, f"more than {MOST_VIEWS} views of one another", _TOO_MANY_VIEWS)

    @property
    def chain(self) -> tuple[Link, ...]:
        """The way from the storage to it."""
        if self.parent is None or self.link is None:
            return ()
        return (*self.parent.chain, self.link)

    @property
    def flags(self) -> tuple[str, ...]:
        """The numbers that say whether it is a view of its storage, where it may be a copy."""
        if self.parent is None:
            return ()
        return (*self.parent.flags, *([self.flag] if self.flag else []))

    @property
    def early(self) -> int:
        """How many links of the chain lead to what was there before the input last came to look otherwise."""
        if self.parent is None or self.looks < self.storage.looks or not self.looks:
            return len(self.chain)
        return self.parent.early

    @property
    def cut(self) -> bool:
        """Whether it was detached."""
        return self.link is not None and self.link.cut

    @property
    def has_own_history(self) -> bool:
        """Whether it, or what it is a view of, has another history than its storage."""
        return self.own or (self.parent is not None and self.parent.has_own_history)

    @property
    def untracked(self) -> str:
        """Why autograd refuses to follow it through writes: it is one of several views, or made under no_grad."""
        if any(link.item is not None for link in self.chain):
            return SEVERAL
        return UNDER_NO_GRAD if any(not link.grad and not link.cut for link in self.chain) else ""

    @property
    def behind(self) -> bool:
        """Whether there was a write since it was made. Of several views all are made at once."""
        first = self.parent.first_version if self.parent is not None and self.parent.listed else self.first_version
        return 0 <= first < self.storage.version

    @property
    def current(self) -> bool:
        """Whether its last value is what its memory holds."""
        return self.seen == self.storage.version


@dataclass(eq=False)
class Handle:
    """A tensor as a program has it: what it names may come to look otherwise in place, as by `t_`."""

    alias: Alias
    input: str = ""  # the input that it is

    @property
    def is_whole_value(self) -> bool:
        """Whether it is all of what a call made: nothing else is of its size."""
        return self.alias.parent is None and not self.alias.storage.input


def item_of(views: tuple[Handle, ...], index: int) -> Handle:
    """One of the views that an operator made of several tensors."""
    if -len(views) <= index < len(views):
        return views[index]
    link = views[0].alias.link
    assert link is not None
    raise GraphError(link.place, f"item {index} of a list of {len(views)}")
