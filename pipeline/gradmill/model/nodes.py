"""Data between definitions and printed text: which derivatives serve which function, and which Nodes exist."""

from msgspec import Struct

from gradmill.model.autograd import Info
from gradmill.model.native import NativeFunction


class Defined(Struct, frozen=True, gc=False, array_like=True):
    """A function with its own derivatives, and their definition."""

    function: str
    op: str  # with overload
    definition: str
    first: str  # the definition that decides its place in the order
    is_copy: bool = False  # whether it is the `_copy` variant of the view that the definition is for


class Shape(Struct, frozen=True, gc=False, array_like=True):
    """The part of a definition that names of Nodes and lookups depend on."""

    definition: str
    operator: str
    keys: tuple[tuple[str, bool], ...]  # dispatch keys in order, each with whether there is a derivative to compute


class Reference(Struct, frozen=True, gc=False, array_like=True):
    """A foreach function without its own definition, and the function that it applies to each member of its lists."""

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
    """One info, and the Node that is printed from it."""

    node: str | None  # the C++ struct; None if there is no derivative to compute
    operator: str  # decides the shard
    op: str  # with overload
    dispatch_key: str
    function: str
    definition: str  # of the entry; if synthesized, of the reference's entry
    is_copy: bool = False
    synthesized: bool = False


class FunctionWithInfo(Struct, frozen=True, gc=False, array_like=True):
    """One native function, and by dispatch key the functions with the infos that serve it."""

    function: str
    op: str  # with overload
    cpp_name: str
    source: dict[str, str] | None


class Dependent(Struct, frozen=True, gc=False, array_like=True):
    """A function that must be checked against the infos that serve it."""

    name: str  # with overload
    inplace: bool  # if False, the function is generated from a mutable one
    exact: bool  # whether the infos are defined for this very function
    source: dict[str, str]


class Outputs(Struct, frozen=True, gc=False, array_like=True):
    """A function, and its differentiable outputs."""

    function: NativeFunction
    differentiable: tuple[str, ...] = ()  # names; always empty for functions that create no view


Keyed = tuple[str, Info]  # a dispatch key, and the info under it
