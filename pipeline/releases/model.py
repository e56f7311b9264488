"""What differs between PyTorch releases, as one value that the stages are given."""

from msgspec import Struct

# Parts of kernels that a set of layers may leave out.
JIT_DECOMPOSITION = "jit_decomposition"  # for forward mode, of what has no forward formula
STORAGE_USE_COUNT = "storage_use_count"  # the check that nobody else has a result's storage
BOXED_FALLBACK = "boxed_fallback"  # of functions without derivatives, which then get a kernel
OWN_KERNEL = "own_kernel"  # the check that what has derivatives has a kernel of its own: a backend may give it one
PARTS = (OWN_KERNEL, JIT_DECOMPOSITION, STORAGE_USE_COUNT, BOXED_FALLBACK)


class Change(Struct, frozen=True):
    """One difference: `add` and `remove` members of a collection, or `set` the whole value."""

    since: str
    field: str
    why: str
    add: tuple[str, ...] | dict[str, str] = ()
    remove: tuple[str, ...] = ()
    set: object = None


class Release(Struct, frozen=True):
    """The facts of one release. Nothing in a stage or an emitter asks for a version: it asks for one of these."""

    version: str  # "2.13": the minor release
    base_types: dict[str, str]  # schema type -> C++ type, "" where C++ has none
    cpp_defaults: dict[str, str]  # default value in a schema -> in C++, where the two differ
    dispatch_keys: frozenset[str]  # every dispatch key that exists
    kernel_keys: frozenset[str]  # the keys that `dispatch:` may name
    structured_keys: frozenset[str]  # the keys that can have structured kernels
    ufunc_keys: tuple[str, ...]  # the keys that `ufunc_inner_loop` fills in
    autograd_keys: frozenset[str]  # the keys of derivatives.yaml's `dispatch:`, besides Default
    ufunc_loops: frozenset[str]  # the keys of a `ufunc_inner_loop` mapping
    dtypes: frozenset[str]
    dtype_classes: dict[str, tuple[str, ...]]
    out_without_functional: frozenset[str]  # out ops that have no other variant to be grouped with
    mutable_without_out: frozenset[str]  # mutable ops that can have no out variant
    functional_without_out: frozenset[str]  # functional ops that can have no out variant: no tensor among the returns
    inplace_ungrouped: frozenset[str]  # in-place ops whose schema does not match their functional variant
    foreach_inplace_reference: frozenset[str]  # foreach ops whose reference is an in-place op
    foreach_tensor_overload: frozenset[str]  # foreach ops that take one Tensor for all members of the list
    foreach_skip_length: frozenset[str]  # foreach ops with fewer arguments than their reference (alpha)
    views: dict[str, str]  # base names of view ops -> the argument that their outputs are views of
    untold_views: frozenset[str]  # base names of ops whose result is one in storage, and to autograd is none
    metadata_views: frozenset[str]  # views that as_strided cannot make again: they change more than the geometry
    made_of_views: frozenset[str]  # base names of functions that return views of `self` that other functions make
    manual_kernels: frozenset[str]  # C++ names of functions whose kernels for autograd and tracing are by hand
    unrecorded: frozenset[str]  # base names of functions that the tracer does not record
    unrecorded_types: frozenset[str]  # types of arguments that it cannot record
    recorded_as: dict[str, str]  # base names of in-place functions -> what the tracer records in their place
    trace_shards: int
    keyword_arguments: frozenset[str]  # `op.argument` pairs allowed to be Python keywords; see check_keywords
    check_keywords: bool  # whether an argument may not be named as a Python keyword
    seeded_exempt: tuple[str, ...]  # parts of names that excuse an op with `rand` in its name from being tagged
    core_generates: bool  # whether ops tagged core get generated variants although CompositeImplicitAutograd
    variants_from: tuple[str, ...]  # which variant of an op the missing ones are generated from, in this order
    automatic_tags: tuple[str, ...]  # tags that every op of its kind receives
    const_ref_refuses_out: bool  # whether use_const_ref_for_mutable_tensors is refused on out ops
    optional_tensor_sizes: str  # C++ saved for `x->sym_sizes()`; {name} is the argument
    optional_string: str  # C++ that replaces an optional string argument in a formula
    optional_string_type: str  # of a Node's field for a saved optional string
    functional_apply: bool  # whether a Node's gradient function is free, and told which inputs need a gradient
    self_pointer: str  # how a Node points at itself when it unpacks a saved output
    collect_variable: str  # how compiled autograd collects a saved variable; {name}, {is_output}
    trims_lines: bool  # whether white space at the ends of lines is removed when a block is filled in
    spaces_docstrings: bool  # whether a blank line is put between a docstring and the next definition
    scalars_getter_tail: str  # what follows the getter of a saved list of scalars
    manual_backend: frozenset[str]  # C++ functions whose kernels are registered by hand for every key
    undifferentiable: frozenset[str]  # base or C++ names of ops that autograd does not look at, with derivatives or not
    complex_differentiable: frozenset[str]  # base names of ops whose gradients are right for complex tensors too
    resets_accumulator: frozenset[str]  # in-place ops after which the gradient is accumulated by another Node
    replacing_tensors: frozenset[str]  # C++ functions that may exchange what their arguments consist of
    sharing_tensors: frozenset[str]  # kernels that may return tensors which others hold too
    sharing_storage: frozenset[str]  # kernels that may return tensors whose storage others hold too: those, and more
    foreach_without_derivatives: frozenset[str]  # in-place foreach ops that have no reference
    foreach_of_other_arity: frozenset[str]  # in-place foreach ops that may have fewer arguments than their reference
    variable_type_shards: int  # source files of VariableType
    left_out: frozenset[str]  # parts of kernels that are not printed: a set of layers may say so
    described: bool  # whether a description has a say in output
    not_unpacked: frozenset[str]  # functions whose arguments kernels take as they are
    exported_helpers: frozenset[str]  # of formulas: libtorch exports them, or its headers define them
    generator: str  # what a template that is made of a template says it was made by: a script of PyTorch's sources

    def viewed(self, base: str) -> str | None:
        """The argument that the outputs of functions of this base name are views of; None where they are none."""
        return "self" if base in self.made_of_views else self.views.get(base)

    def aliased(self, base: str) -> str | None:
        """The argument whose storage the result of functions of this base name shares; None where they share none."""
        return "self" if base in self.untold_views else self.views.get(base)
