"""Native functions as data: what one entry of native_functions.yaml declares, generated functions included."""

from typing import Literal

from msgspec import Struct

from gradmill.model.native_aot import AotDeclaration
from gradmill.model.schema import Argument, Schema, SchemaKind

ViewKind = Literal["non_aliasing", "aliasing", "aliasing_inplace"]


class Kernel(Struct, frozen=True, gc=False, array_like=True):
    """The kernel that a dispatch key maps to."""

    name: str
    namespace: str = "at::native"
    structured: bool = False

    @property
    def supports_symint(self) -> bool:
        """Whether the kernel takes SymInt. Upstream decides by the name (torchgen.model.BackendMetadata)."""
        return "_symint" in self.name


class UfuncLoop(Struct, frozen=True, gc=False, array_like=True):
    """One `ufunc_inner_loop` row: the loop's name and the dtypes it covers."""

    name: str
    dtypes: tuple[str, ...]


class Precompute(Struct, frozen=True, gc=False, array_like=True):
    """`precomputed:`, kernel arguments that the meta function replaces by computed values, and added arguments."""

    replace: dict[str, tuple[Argument, ...]]
    add: tuple[Argument, ...] = ()


class NativeFunction(Struct, frozen=True, gc=False, array_like=True):
    """One operator overload. Sets are sorted tuples; `dispatch` keeps the order of the entry."""

    func: Schema
    namespace: str = "aten"
    variants: tuple[str, ...] = ("function",)
    dispatch: dict[str, Kernel] = {}
    tags: tuple[str, ...] = ()
    autogen: tuple[str, ...] = ()
    structured: bool = False
    structured_delegate: str | None = None
    structured_inherits: str | None = None
    precomputed: Precompute | None = None
    ufunc_inner_loop: dict[str, UfuncLoop] = {}
    use_const_ref_for_mutable_tensors: bool = False
    device_guard: bool = True
    device_check: str = "ExactSame"
    python_module: str | None = None
    category_override: str | None = None
    manual_kernel_registration: bool = False
    manual_cpp_binding: bool = False
    cpp_no_default_args: tuple[str, ...] = ()
    is_abstract: bool = False
    generated_from: str | None = None  # schema of the function that it was generated from

    @property
    def part_of_structured_group(self) -> bool:
        """Whether the function is structured, or delegates to a structured out variant."""
        return self.structured or self.structured_delegate is not None


class Operator(Struct, frozen=True, gc=False, array_like=True):
    """All functions with one base name, as the headers of an operator declare them: `add.Tensor`, `add_.Scalar`."""

    name: str  # the base name, `add`
    functions: tuple[NativeFunction, ...]  # declared ones in the order of the file, then generated ones
    # Places in `functions`, by group, in the order of their first members: functional, out, in-place, mutable variant.
    # A function without functional or out variant is alone.
    groups: tuple[tuple[int, ...], ...]


class WithOrigin(Struct, frozen=True, gc=False, array_like=True):
    """A function, and the one that it was generated from: if it is declared, itself."""

    function: NativeFunction
    origin: NativeFunction


class OperatorKernels(Struct, frozen=True, gc=False, array_like=True):
    """An operator, and the dispatch keys that any operator has kernels for, in upstream's order."""

    operator: Operator
    keys: tuple[str, ...]


class DeclaredKernels(Struct, frozen=True, gc=False, array_like=True):
    """A group of variants among those that may declare the same kernels and functions."""

    keys: tuple[str, ...]  # as in OperatorKernels
    groups: tuple[tuple[NativeFunction, ...], ...]  # in the order of the file
    own: int  # the place of the group


class RegisteredKernels(Struct, frozen=True, gc=False, array_like=True):
    """What is registered for a dispatch key: the kernels of a group of variants, or of one function."""

    key: str
    functions: tuple[NativeFunction, ...]  # the functional, out, in-place and mutable variant; or one function
    omitted: tuple[str, ...] = ()  # the operators whose kernels are defined and not registered
    compiled_ahead: AotDeclaration | None = None  # of a kernel that is tried before the structured one


class AotStub(Struct, frozen=True, gc=False, array_like=True):
    """The stub of a kernel that is compiled ahead of time, and the out variant of its operator."""

    declaration: AotDeclaration
    out: NativeFunction


class Structseq(Struct, frozen=True, gc=False, array_like=True):
    """A class of named results."""

    name: str  # of the C++ function
    fields: tuple[str, ...]  # "" for a result without a name, which upstream refuses
    place: int = 0  # among the classes of the function's overloads


class TagSet(Struct, frozen=True, gc=False, array_like=True):
    """The tags of some functions of a namespace, which share a variable in C++."""

    number: int
    first: str  # of these functions, by identity: it declares the variable


class SchemaRegistration(Struct, frozen=True, gc=False, array_like=True):
    """A function, and how its schema is registered."""

    function: NativeFunction
    selected: bool  # whether it is registered
    number: int | None  # of its tags; None if it has none
    declares: bool  # whether it is the first function with its tags
    begins: bool  # whether it is the first that is registered in its namespace


class FunctionNames(Struct, frozen=True, gc=False, array_like=True):
    """The names of a function."""

    schema: str  # the schema's text, unique in a spec set
    name: str  # with overload
    cpp_name: str  # of the C++ function: `add_`, `add_out`
    base: str  # `add` of `add_.Tensor`
    namespace: str  # `aten` of PyTorch's own


class FunctionSummary(FunctionNames, frozen=True, gc=False, array_like=True):
    """The properties of a function that grouping, matching and reference lookup use; it has no arguments."""

    unqualified: str  # `add_` of `add_.Tensor`
    kind: SchemaKind
    view_kind: ViewKind
    signature: str  # the schema that all variants of the operator share
    undefaulted: str | None  # the signature without defaults; None if it has none
    delegate: str | None
    structured: bool
    generated: bool
    core: bool
    inplace_view: bool
    view_copy: bool
    manual_cpp_binding: bool
    implicit: bool  # has a CompositeImplicitAutograd kernel
    implicit_nested: bool
    autogen_out: bool
    returns_tensors: bool
    callable: bool  # as a function, not only as a method
    has_options: bool  # dtype, layout, device, pin_memory
    method: bool  # callable as a method of Tensor
    python_module: str | None
    abstract: bool  # has a kernel for some device: it is not composed of other functions

    @property
    def plain_signature(self) -> str:
        """The signature without defaults."""
        return self.signature if self.undefaulted is None else self.undefaulted

    @property
    def returns_what_it_writes(self) -> bool:
        """Whether the function returns an argument that it writes to: such a return has an annotation with a `!`."""
        return "!" in self.schema.partition(") -> ")[2]

    @property
    def is_foreach(self) -> bool:
        """Whether the operator applies another one to each member of its lists of tensors."""
        return self.base.startswith("_foreach_")

    @property
    def is_view(self) -> bool:
        """Whether an output aliases an input, in-place views included."""
        return self.view_kind != "non_aliasing"
