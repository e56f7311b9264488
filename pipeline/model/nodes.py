"""What is known between definitions and text: whose derivatives serve whom, and which Nodes there are."""

from msgspec import Struct

from pipeline.model.autograd import Info
from pipeline.model.native import NativeFunction


class Target(Struct, frozen=True, gc=False, array_like=True):
    """The function that a definition is for."""

    function: str


class Defined(Struct, frozen=True, gc=False, array_like=True):
    """A function with derivatives of its own: by which definition, and whether as the copy of the view it is for."""

    function: str
    op: str  # with overload
    definition: str
    first: str  # the definition at whose place it stands
    is_copy: bool = False


class Shape(Struct, frozen=True, gc=False, array_like=True):
    """What a definition came to, as far as names of Nodes and lookups depend on it."""

    definition: str
    operator: str
    keys: tuple[tuple[str, bool], ...]  # dispatch keys in order, and whether there is a derivative to compute


class Reference(Struct, frozen=True, gc=False, array_like=True):
    """A foreach function without a definition of its own, and the function that is applied to each member."""

    function: str
    name: str  # with overload
    cpp_name: str
    inplace: bool
    reference: str  # function
    reference_name: str
    definition: str

    @property
    def base(self) -> str:
        """`_foreach_add` of `_foreach_add.List`."""
        return self.name.partition(".")[0]

    @property
    def overload(self) -> str:
        """`List` of `_foreach_add.List`; "" if the name has no overload."""
        return self.name.partition(".")[2]


class NodeRow(Struct, frozen=True, gc=False, array_like=True):
    """One info, and the Node that it is printed as."""

    node: str | None  # the C++ struct; None where there is no derivative to compute
    operator: str  # decides the shard
    op: str  # with overload
    dispatch_key: str
    function: str
    definition: str  # of the entry, of the reference's where it is synthesized
    is_copy: bool = False
    synthesized: bool = False


class Pair(Struct, frozen=True, gc=False, array_like=True):
    """One native function, and the functions whose infos serve it, by dispatch key."""

    function: str
    op: str  # with overload
    cpp_name: str
    source: dict[str, str] | None


class Dependent(Struct, frozen=True, gc=False, array_like=True):
    """A function for which it matters what the infos that serve it say."""

    name: str  # with overload
    inplace: bool  # else generated from a mutable function
    exact: bool  # whether the infos were written for it
    source: dict[str, str]


class Outputs(Struct, frozen=True, gc=False, array_like=True):
    """A function, and the names of its outputs that carry history; of functions that make no view, none are told."""

    function: NativeFunction
    differentiable: tuple[str, ...] = ()


Keyed = tuple[str, Info]  # a dispatch key, and the info under it
