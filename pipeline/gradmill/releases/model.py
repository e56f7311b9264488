"""The differences between PyTorch releases, as one value that is an argument of the stages."""

from typing import Any, Literal

from msgspec import Struct

# Parts of kernels that a described set may leave out.
Part = Literal["own_kernel", "jit_decomposition", "storage_use_count", "boxed_fallback"]
JIT_DECOMPOSITION: Part = "jit_decomposition"  # forward mode of an op without a forward formula
STORAGE_USE_COUNT: Part = "storage_use_count"  # the check that a result does not share its storage
BOXED_FALLBACK: Part = "boxed_fallback"  # for functions without derivatives; if left out, they get a kernel
OWN_KERNEL: Part = "own_kernel"  # the check that a function with derivatives has a kernel: a backend may provide it


class Change(Struct, frozen=True):
    """What a description changes: `add` members to a collection, or `set` the whole value."""

    field: str
    add: tuple[str, ...] | dict[str, Any] = ()
    set: object = None


class Release(Struct, frozen=True, kw_only=True):
    """The facts of one release. Stages and emitters never compare versions: they use one of these facts."""

    version: str  # "2.13": the minor release
    base_types: dict[str, str]  # schema type -> C++ type, "" if C++ has none
    cpp_defaults: dict[str, str]  # default value in a schema -> in C++, if the two differ
    dispatch_keys: frozenset[str]  # every dispatch key that exists
    kernel_keys: frozenset[str]  # the keys that `dispatch:` may name
    structured_keys: frozenset[str]  # the keys that can have structured kernels
    ufunc_keys: tuple[str, ...]  # the keys that `ufunc_inner_loop` fills in
    autograd_keys: frozenset[str]  # the keys of derivatives.yaml's `dispatch:`, besides Default
    ufunc_loops: frozenset[str]  # the keys of a `ufunc_inner_loop` mapping
    dtypes: frozenset[str]
    dtype_classes: dict[str, tuple[str, ...]]
    out_without_functional: frozenset[str]  # out ops without another variant to group them with
    mutable_without_out: frozenset[str]  # mutable ops that cannot have an out variant
    functional_without_out: frozenset[str]  # functional ops that cannot have an out variant: they return no tensor
    inplace_ungrouped: frozenset[str]  # in-place ops whose schema does not match their functional variant
    foreach_inplace_reference: frozenset[str]  # foreach ops whose reference is an in-place op
    foreach_tensor_overload: frozenset[str]  # foreach ops that take one Tensor for all members of the list
    foreach_skip_length: frozenset[str]  # foreach ops with fewer arguments than their reference (alpha)
    views: dict[str, str]  # base names of view ops -> the argument that their outputs are views of
    aliases_not_views: frozenset[str]  # base names of ops whose results share storage, but are not views to autograd
    metadata_views: frozenset[str]  # views that as_strided cannot recreate: they change more than the geometry
    header_only_tags: bool  # whether `enum_tag.h` is a header-only file, which torchgen's lists of outputs lack
    normal_paths: bool  # whether these lists have normalized paths, and a line for each
    has_native_aot: bool  # whether operators may have kernels that are compiled ahead of time, with dispatch stubs
    has_view_metas: bool  # whether functionalization replays views by generated classes
    copied_in_views: frozenset[str]  # types of arguments that a ViewMeta copies, besides lists of integers
    made_of_views: frozenset[str]  # base names of functions that return views of `self` created by other functions
    manual_kernels: frozenset[str]  # C++ names of functions with handwritten kernels for autograd and tracing
    skip_python_bindings: frozenset[str]  # patterns of C++ names of functions that have no generated Python binding
    unbound_schemas: frozenset[str]  # schemas of functions that have none
    unrecorded: frozenset[str]  # base names of functions that the tracer does not record
    unrecorded_types: frozenset[str]  # types of arguments that the tracer cannot record
    recorded_as: dict[str, str]  # base names of in-place functions -> the name that the tracer records
    vmap_other_returns: frozenset[str]  # unambiguous names of ops that vmap batches, not all results tensors
    qualifies_declarations: bool  # whether declarations of kernels for backends name types with `at::`
    trace_shards: int  # source files of TraceType
    keyword_arguments: frozenset[str]  # `op.argument` pairs allowed to be Python keywords; see check_keywords
    check_keywords: bool  # whether a Python keyword is refused as the name of an argument
    seeded_exempt: tuple[str, ...]  # parts of names that exempt an op with `rand` in its name from the seeded tag
    core_generates: bool  # whether ops tagged core get generated variants despite CompositeImplicitAutograd
    variants_from: tuple[str, ...]  # which variant of an op the missing ones are generated from, in this order
    automatic_tags: tuple[str, ...]  # tags that every op of its kind receives
    const_ref_refuses_out: bool  # whether use_const_ref_for_mutable_tensors is refused on out ops
    optional_tensor_sizes: str  # C++ saved for `x->sym_sizes()`; {name} is the argument
    optional_string: str  # C++ that replaces an optional string argument in a formula
    optional_string_type: str  # C++ type of a Node's field for a saved optional string
    functional_apply: bool  # whether a Node's gradient function is free, and receives which inputs need a gradient
    self_pointer: str  # C++ by which a Node refers to itself when it unpacks a saved output
    collect_variable: str  # C++ by which compiled autograd collects a saved variable; {name}, {is_output}
    trims_lines: bool  # whether white space at the ends of lines is removed when a block is filled in
    spaces_docstrings: bool  # whether a blank line is put between a docstring and the next definition
    manual_backend: frozenset[str]  # C++ functions with kernels registered by hand for every key
    # Base or C++ names of ops that autograd ignores, even if they have derivatives.
    dont_require_derivative: frozenset[str]
    complex_differentiable: frozenset[str]  # base names of ops with gradients that are correct for complex tensors
    resets_accumulator: frozenset[str]  # in-place ops after which another Node accumulates the gradient
    # C++ functions that may replace the TensorImpl or storage of their arguments.
    dont_enforce_same_tensor_impl_or_storage: frozenset[str]
    dont_enforce_tensor_impl_use_count: frozenset[str]  # kernels that may return tensors with other owners
    # Kernels that may return tensors with shared storage; includes dont_enforce_tensor_impl_use_count.
    dont_enforce_storage_impl_use_count: frozenset[str]
    foreach_without_derivatives: frozenset[str]  # in-place foreach ops that have no reference
    foreach_of_other_arity: frozenset[str]  # in-place foreach ops that may have fewer arguments than their reference
    variable_type_shards: int  # source files of VariableType
    left_out: frozenset[str] = frozenset()  # parts of kernels that a described set leaves out
    described: bool = False  # whether a description changes the output
    autocast_full: frozenset[str]  # overloads that autocast casts to float32 on devices other than the CPU, lately
    exported_helpers: frozenset[str]  # helpers of formulas that libtorch exports or its headers define
    # Backends -> the keys of kernels that ATen omits unless it is asked. With `rocm` files for CUDA are for HIP.
    optional_backends: dict[str, tuple[str, ...]]
    header_keys: frozenset[str]  # the keys that have headers of their own in ATen, with or without optional_backends
    # Since a build asks for it: keys without files in ATen, whose kernels are declared; keys whose kernels operators
    # call without the dispatcher.
    omitted_keys: frozenset[str] = frozenset()
    static_keys: tuple[str, ...] = ()
    function_macros: dict[str, str]  # keys -> the macro before declarations of functions, if it is not TORCH_API
    struct_macros: dict[str, str]  # keys -> the macro of structured kernels, if it is not TORCH_API
    merges_macros: bool  # whether declarations that differ only by their macro are one
    cpu_library_kernels: frozenset[str]  # kernels for CUDA in the library for CPU
    guarded_keys: frozenset[str]  # keys whose wrappers of kernels guard and check the device
    class_guards: dict[str, str]  # keys -> the type of the guard in classes of structured kernels
    hip_guard: str  # the type of that guard for CUDA, in a build for HIP; "": as for CUDA
    unset_guards: frozenset[str]  # keys whose guards in classes are never set
    empty_headers: dict[str, str]  # keys with an `empty` of their own -> the header that declares it
    kernel_shards: dict[str, int]  # keys -> source files with their kernels, "": other keys; none: one without number
    shim_devices: tuple[str, ...]  # devices, and `aten`, that AOTInductor has C functions for
    shims_by_key: bool  # whether only keys with files in ATen have them
    shim_versions: str  # how their list gives versions: `arguments`, `metadata`, with releases; "": it has none
    shims_pass_defaults: bool  # whether they pass the default for an argument that they lack
    shims_extend: bool = False  # whether they only call kernels of their device: those of a backend outside of PyTorch
    shims_with_optional_returns: tuple[str, ...]  # parts of names of those that return only what is asked for
    not_functionalized: frozenset[str]  # functions that write to arguments and that functionalization leaves alone
    keeping_out_dtype: frozenset[str]  # out ops that compute in the dtype of `out` if no dtype is given
    registers_composed_views: bool  # whether functionalization registers kernels of ATen for views composed of others
    generator: str  # the script of PyTorch's sources that an intermediate template names as its generator
    stubs_generator: str  # the one that comments of a backend's stubs name

    def functionalizes(self, *names: str) -> bool:
        """Whether functionalization treats a function that writes to its arguments, by its names."""
        ungrouped = self.out_without_functional | self.mutable_without_out | self.inplace_ungrouped
        return ungrouped.isdisjoint(names) and self.not_functionalized.isdisjoint(names)

    def viewed(self, base: str) -> str | None:
        """The argument that outputs of functions with this base name are views of; None if they are not views."""
        return "self" if base in self.made_of_views else self.views.get(base)

    def aliased(self, base: str) -> str | None:
        """The argument that results of functions with this base name share storage with; None if they share none."""
        return "self" if base in self.aliases_not_views else self.views.get(base)

    @property
    def absent_keys(self) -> frozenset[str]:
        """The keys of kernels that ATen omits."""
        return frozenset(key for keys in self.optional_backends.values() for key in keys)

    @property
    def file_keys(self) -> frozenset[str]:
        """The keys of kernels that have files in ATen."""
        return self.kernel_keys - self.absent_keys - self.omitted_keys

    @property
    def for_hip(self) -> bool:
        """Whether CUDA's files are for HIP: `rocm` was asked for."""
        return "rocm" not in self.optional_backends
