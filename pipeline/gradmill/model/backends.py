"""Backends outside of ATen as data: what the YAML file of one says, and what a function needs of it."""

from typing import Literal

from msgspec import Struct

from gradmill.model.native import NativeFunction
from gradmill.model.schema import Schema

# The lists of operators, and the options that these have in one.
List = Literal["supported", "full_codegen", "autograd", "symint", "ir_gen", "structured", "define_meta", "unguarded"]
KERNELS: tuple[List, ...] = ("supported", "full_codegen")  # of the backend's key
AUTOGRAD: List = "autograd"
LISTS: tuple[List, ...] = (*KERNELS, AUTOGRAD, "symint", "ir_gen")
# Not lists of the file: whether the kernel is the implementation of a structured one, whether the backend has a meta
# function of its own for that, and whether the device is not guarded, as `device_guard: false` says.
STRUCTURED: List = "structured"
DEFINE_META: List = "define_meta"
UNGUARDED: List = "unguarded"
OPTIONS: tuple[List, ...] = (STRUCTURED, DEFINE_META, UNGUARDED)


class Item(Struct, frozen=True, gc=False, array_like=True):
    """An operator in a list of the file."""

    name: str
    listed: List
    line: int
    column: int


class OwnNode(Struct, frozen=True, gc=False, array_like=True):
    """A node of `non_native`: an operation that no native function declares."""

    schema: Schema
    kind: str  # the C++ of its OpKind; "" for the operator's symbol
    properties: tuple[str, ...]


class Backend(Struct, frozen=True, gc=False, array_like=True):
    """What the file says of the backend as a whole."""

    key: str  # the dispatch key, `Lazy`
    namespace: str  # of its kernels
    device_guard: bool = False
    out_as_primary: bool = False  # whether no in-place and out variants are made of functional kernels
    kernels: bool = True  # whether it has kernels for its key
    autograd: bool = False  # whether it has some for autograd's
    own_class: str | None = None  # the class that all kernels are members of; None: the one by default
    structured: bool = False  # whether it has structured kernels
    class_words: tuple[str, ...] | None = None  # the items of `own_class` if it is a list, which the header joins

    @property
    def class_name(self) -> str:
        """The class that all kernels are members of."""
        return self.default_class if self.own_class is None else self.own_class

    @property
    def default_class(self) -> str:
        """The name of that class unless the file has one, and of the header that declares it."""
        return f"{self.key}NativeFunctions"

    @property
    def autograd_key(self) -> str:
        """The dispatch key of its kernels for autograd."""
        return f"Autograd{self.key}"


class BackendFile(Struct, frozen=True, gc=False, array_like=True):
    """The whole file, with places."""

    backend: Backend
    nodes: tuple[OwnNode, ...]
    items: tuple[Item, ...]
    places: tuple[tuple[int, int], ...]  # line and column of the backend's key, then of each of its nodes


class Roles(Struct, frozen=True, gc=False, array_like=True):
    """The lists that an operator is in."""

    listed: tuple[List, ...]

    @property
    def kernel(self) -> bool:
        """Whether it has a kernel for the backend's key."""
        return any(each in KERNELS for each in self.listed)

    @property
    def autograd(self) -> bool:
        """Whether it has one for autograd's key."""
        return AUTOGRAD in self.listed

    @property
    def symint(self) -> bool:
        """Whether its kernel takes SymInt."""
        return "symint" in self.listed

    @property
    def traced(self) -> bool:
        """Whether its kernel is generated."""
        return "full_codegen" in self.listed

    @property
    def has_node(self) -> bool:
        """Whether it has a class of nodes."""
        return self.traced or "ir_gen" in self.listed


class Member(Struct, frozen=True, gc=False, array_like=True):
    """A function that a backend has text for. Without a kernel and with a functional variant, it wraps this one, unless
    the out variant is structured: then it calls the implementation of that."""

    function: str
    order: str  # lazy tensors sort functions by it
    functional: str = ""  # the functional variant to wrap; "" if the function has a kernel, or a node alone
    key: str = ""  # of registration: the backend's or autograd's; "" for a node alone
    kernel: str = ""  # the name of its kernel; "" if there is none
    traced: bool = False
    has_node: bool = False
    first: str = ""  # the first function with its signature, whose place in the file it has otherwise
    out: str = ""  # the structured out variant that implements it, maybe itself; then `functional` is always there
    guarded: bool = True  # whether its device is guarded if the backend's are
    defines_meta: bool = False  # whether the class of the kernel has a meta function of its own
    symint: bool = False  # whether that out variant takes SymInt


class BackendFunction(Struct, frozen=True, gc=False, array_like=True):
    """A function of a backend, as its text is planned from it."""

    backend: Backend
    member: Member
    function: NativeFunction
    functional: NativeFunction | None
    out: NativeFunction | None = None  # as in `Member`
