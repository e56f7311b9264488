"""Which values share memory: storages, and the views of them.

A storage is an input's, or that of what a call made. It has a current value, and whoever writes to it or to one of its
views gives it the next one. A view remembers how it was made; when its storage has a newer value it is made again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.graphs.functional.program import Link
from pipeline.graphs.model import Place, Ref, Value


@dataclass(eq=False)
class Storage:
    """Memory, by the value that it holds now."""

    value: Value
    input: str = ""  # the input whose memory it is; "" of what a call made
    version: int = 0
    wrote_with_grad: bool = False
    listed: bool = False  # whether it is a list of tensors with memory of their own each
    uncertain: Place | None = None  # where a view of it was made that may be a copy, and was written to


@dataclass(eq=False)
class Alias:
    """A tensor: a storage as a whole, or a view of it by way of its parent."""

    storage: Storage
    parent: Alias | None = None
    link: Link | None = None
    value: Value = Ref("")  # the value that it was last given, and when
    seen: int = -1
    listed: bool = False  # whether it is a list of views
    length: int | None = None  # how many there must be
    items: dict[int, Handle] = field(default_factory=dict)

    @property
    def chain(self) -> tuple[Link, ...]:
        """The way from the storage to it."""
        if self.parent is None or self.link is None:
            return ()
        return (*self.parent.chain, self.link)

    @property
    def conditional(self) -> Place | None:
        """Where on the way a view was made that may be a copy."""
        return next((link.place for link in self.chain if link.conditional), None)

    @property
    def fresh(self) -> bool:
        """Whether its last value is what its memory holds."""
        return self.seen == self.storage.version


@dataclass(eq=False)
class Handle:
    """A tensor as a program has it: what it names may come to look otherwise in place, as by `t_`."""

    alias: Alias
    input: str = ""  # the input that it is
