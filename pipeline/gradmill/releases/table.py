"""The releases: the oldest one in full, then the changes of each later one, with the reason.

A row of CHANGES names a release, a field of `Release`, the reason, and what the field gains, loses or becomes. Changed
C++ text is in the families' text files instead. `python -m tests.add_release VERSION` adds a release
and reports the facts that still need a row.
"""

from __future__ import annotations

from gradmill.releases import bindings, dispatch, functionalization, kernels, shims, tracing, views
from gradmill.releases.model import Change

# Every minor release with output known to equal upstream's, each as its newest checked patch release.
KNOWN = (
    "2.4.1",
    "2.5.1",
    "2.6.0",
    "2.7.1",
    "2.8.0",
    "2.9.1",
    "2.10.0",
    "2.11.0",
    "2.12.1",
    "2.13.0",
    "2.14.1",
    "2.15.0",
)
NAMES_OF = "2.15.0"  # the newest release with a package that `pipeline/gradmill/releases/names` was read from


_BACKENDS = "CPU CUDA HIP XLA MTIA MPS IPU XPU HPU VE Lazy Meta PrivateUse1 PrivateUse2 PrivateUse3".split()
_PREFIXES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")

_OTHER_KEYS = """
    Undefined CatchAll FPGA MAIA Vulkan Metal MKLDNN OpenGL OpenCL IDEEP CustomRNGKeyId MkldnnCPU Sparse SparseCsr
    NestedTensor Dense PythonTLSSnapshot PreDispatch PythonDispatcher Python FuncTorchDynamicLayerBackMode ZeroTensor
    Conjugate Negative BackendSelect Named AutogradOther AutogradFunctionality AutogradNestedTensor Tracer Autocast
    AutocastCPU AutocastCUDA Batched VmapMode FuncTorchGradWrapper FuncTorchBatched BatchedNestedTensor
    FuncTorchVmapMode FuncTorchDynamicLayerFrontMode Functionalize TESTING_ONLY_GenericWrapper
    TESTING_ONLY_GenericMode ADInplaceOrView Autograd CompositeImplicitAutograd CompositeImplicitAutogradNestedTensor
    CompositeExplicitAutograd CompositeExplicitAutogradNonFunctional FuncTorchBatchedDecomposition
""".split()

_INTEGRAL = ("Byte", "Char", "Int", "Long", "Short")
_FLOATING = ("Float", "Double")
_COMPLEX = ("ComplexFloat", "ComplexDouble")

OLDEST: dict[str, object] = {
    "base_types": {
        "Generator": "at::Generator",
        "ScalarType": "at::ScalarType",
        "Tensor": "at::Tensor",
        "int": "int64_t",
        "Dimname": "at::Dimname",
        "DimVector": "at::DimVector",
        "float": "double",
        "str": "c10::string_view",
        "bool": "bool",
        "Layout": "at::Layout",
        "Device": "at::Device",
        "DeviceIndex": "at::DeviceIndex",
        "Scalar": "at::Scalar",
        "MemoryFormat": "at::MemoryFormat",
        "QScheme": "at::QScheme",
        "Storage": "at::Storage",
        "Stream": "at::Stream",
        "SymInt": "c10::SymInt",
        "ConstQuantizerPtr": "",
    },
    "cpp_defaults": {
        "False": "false",
        "True": "true",
        "None": "::std::nullopt",
        "Mean": "at::Reduction::Mean",
        "[]": "{}",
        "contiguous_format": "MemoryFormat::Contiguous",
        "long": "at::kLong",
    },
    "dispatch_keys": (*_OTHER_KEYS, *(prefix + backend for prefix in _PREFIXES for backend in _BACKENDS)),
    "kernel_keys": tuple(
        """
        CPU SparseCPU SparseCsrCPU MkldnnCPU CUDA MPS SparseCUDA SparseCsrCUDA QuantizedCPU QuantizedCUDA
        CompositeImplicitAutograd CompositeImplicitAutogradNestedTensor CompositeExplicitAutograd
        CompositeExplicitAutogradNonFunctional NestedTensorCPU NestedTensorCUDA Meta SparseMeta SparseCsrMeta
        QuantizedMeta NestedTensorMeta ZeroTensor
        """.split()
    ),
    "structured_keys": ("CPU", "CUDA", "MPS"),
    "ufunc_keys": ("CUDA", "CPU"),
    "autograd_keys": ("AutogradNestedTensor", *(f"Autograd{backend}" for backend in _BACKENDS)),
    "ufunc_loops": tuple(
        "CUDAFunctor CUDAFunctorOnOther CUDAFunctorOnSelf CPUScalar CPUVector ScalarOnly Generic".split()
    ),
    "dtypes": tuple(
        """
        Byte Char Short Int Long Half Float Double ComplexHalf ComplexFloat ComplexDouble Bool BFloat16 Float8_e5m2
        Float8_e5m2fnuz Float8_e4m3fn Float8_e4m3fnuz
        """.split()
    ),
    "dtype_classes": {
        "Integral": _INTEGRAL,
        "Floating": _FLOATING,
        "Complex": _COMPLEX,
        "All": _INTEGRAL + _FLOATING,
        "AllAndComplex": _INTEGRAL + _FLOATING + _COMPLEX,
        "FloatingAndComplex": _FLOATING + _COMPLEX,
    },
    "out_without_functional": ("adaptive_avg_pool3d_backward.grad_input", "_slow_conv2d_backward.grad_input"),
    "mutable_without_out": ("_cummax_helper", "_cummin_helper"),
    "functional_without_out": tuple(
        """
        _assert_async _assert_async.msg _cslt_sparse_mm_search _assert_scalar _dimI _dimV _has_same_storage_numel
        _linalg_check_errors _local_scalar_dense _nested_tensor_from_mask_left_aligned _nnz _use_cudnn_ctc_loss
        _use_cudnn_ctc_loss.Tensor _validate_compressed_sparse_indices allclose dense_dim equal is_coalesced is_pinned
        is_same_size is_set_to q_per_channel_axis q_scale q_zero_point qscheme record_stream sparse_dim
        sym_constrain_range sym_constrain_range_for_size _nested_tensor_storage_offsets
        _chunk_grad_outputs_efficient_attention _fused_sdp_choice _print _sink_tokens _nested_get_ragged_idx
        """.split()
    ),
    "inplace_ungrouped": ("polygamma_",),
    "foreach_inplace_reference": ("_foreach_zero_",),
    "foreach_tensor_overload": ("_foreach_add.Tensor", "_foreach_mul.Tensor", "_foreach_div.Tensor"),
    "foreach_skip_length": tuple(
        f"_foreach_{op}{inplace}.{overload}"
        for op in ("add", "sub")
        for inplace in ("", "_")
        for overload in ("Scalar", "ScalarList")
    ),
    "keyword_arguments": ("_has_compatible_shallow_copy_type.from", "random_.from.from", "uniform_.from"),
    "check_keywords": False,
    "seeded_exempt": (),
    "core_generates": False,
    "variants_from": ("inplace", "mutable", "out", "functional"),
    "automatic_tags": ("pt2_compliant_tag",),
    "const_ref_refuses_out": False,
    "optional_tensor_sizes": "{name}.has_value() ? "
    "c10::optional<c10::SymIntArrayRef>({name}->sym_sizes()) : c10::nullopt",
    "optional_string": "{name}.has_value() ? c10::optional<c10::string_view>({name}.value()) : c10::nullopt",
    "optional_string_type": "c10::optional<std::string>",
    "functional_apply": False,
    "self_pointer": "shared_from_this()",
    "collect_variable": "args.collect({name});",
    "trims_lines": False,
    "header_only_tags": False,
    "normal_paths": False,
    "has_native_aot": False,
    "has_view_metas": False,
    "spaces_docstrings": False,
    "autocast_full": (),
    "exported_helpers": tuple(
        """
        GradMode::is_enabled IndexRangeGenerator any_variable_defined apply_loss_reduction copy_range
        copysign_tensor_self_backward not_implemented not_implemented_list wrap_opt_if
        """.split()
    ),
    "scalars_getter_tail": " " * 28,  # upstream's text includes the indentation of its source
    **bindings.OLDEST,
    **views.OLDEST,
    **tracing.OLDEST,
    **kernels.OLDEST,
    **dispatch.OLDEST,
    **functionalization.OLDEST,
    **shims.OLDEST,
}

_XPU = "the Intel GPU backend moved in-tree"
_STD_OPTIONAL = "c10::optional became std::optional"
_MPS_SPARSE = "sparse tensors on MPS"

CHANGES: tuple[Change, ...] = (
    Change("2.5", "kernel_keys", _XPU, add=("XPU",)),
    Change("2.5", "structured_keys", _XPU, add=("XPU",)),
    Change("2.5", "base_types", "types of higher-order ops, not yet of C++", add={"SymBool": "", "GraphModule": ""}),
    Change(
        "2.5",
        "cpp_defaults",
        "MemoryFormat is named with its namespace",
        add={"contiguous_format": "c10::MemoryFormat::Contiguous"},
    ),
    Change(
        "2.5",
        "optional_tensor_sizes",
        _STD_OPTIONAL,
        set="{name}.has_value() ? std::optional<c10::SymIntArrayRef>({name}->sym_sizes()) : std::nullopt",
    ),
    Change(
        "2.5",
        "optional_string",
        _STD_OPTIONAL,
        set="{name}.has_value() ? std::optional<c10::string_view>({name}.value()) : std::nullopt",
    ),
    Change("2.5", "optional_string_type", _STD_OPTIONAL, set="std::optional<std::string>"),
    Change(
        "2.5",
        "collect_variable",
        "compiled autograd distinguishes saved outputs from saved inputs",
        set="args.collect({name}, {is_output});",
    ),
    Change("2.6", "base_types", "quantizers left the operator schemas", remove=("ConstQuantizerPtr",)),
    Change("2.6", "kernel_keys", _XPU, add=("SparseXPU", "NestedTensorXPU")),
    Change("2.6", "functional_without_out", "it returns nothing", add=("_assert_tensor_metadata",)),
    Change("2.6", "check_keywords", "an argument named `from` cannot be passed by name in Python", set=True),
    Change("2.6", "functional_apply", "compiled autograd calls the gradient function without its Node", set=True),
    Change("2.6", "core_generates", "core ops are to have all their variants", set=True),
    Change(
        "2.6",
        "variants_from",
        "an op with both mutable and in-place variants is generated from the mutable one",
        set=("mutable", "inplace", "out", "functional"),
    ),
    Change(
        "2.6",
        "optional_string",
        "c10::string_view became std::string_view",
        set="{name}.has_value() ? std::optional<std::string_view>({name}.value()) : std::nullopt",
    ),
    Change("2.7", "dtypes", "the e8m0 scale format", add=("Float8_e8m0fnu",)),
    Change("2.7", "kernel_keys", _XPU, add=("SparseCsrXPU",)),
    Change("2.7", "const_ref_refuses_out", "const out arguments generated wrong kernels", set=True),
    Change("2.8", "kernel_keys", "nested tensors on HPU; MTIA in-tree", add=("NestedTensorHPU", "MTIA")),
    Change("2.8", "normal_paths", "torchgen uses pathlib", set=True),
    Change("2.8", "structured_keys", "MTIA in-tree", add=("MTIA",)),
    Change("2.8", "trims_lines", "generated code passes the linters' check of trailing white space", set=True),
    Change("2.8", "scalars_getter_tail", "lines are trimmed", set=""),
    Change(
        "2.8", "spaces_docstrings", "generated Python stubs are formatted, and one function writes all files", set=True
    ),
    Change("2.9", "kernel_keys", _MPS_SPARSE, add=("SparseMPS", "SparseCsrMPS")),
    Change("2.9", "has_view_metas", "lambdas that replayed views became classes", set=True),
    Change("2.9", "base_types", "SymBool got a C++ type", add={"SymBool": "c10::SymBool"}),
    Change(
        "2.11",
        "functional_without_out",
        "they return a bool",
        add=("_use_miopen_ctc_loss", "_use_miopen_ctc_loss.Tensor"),
    ),
    Change("2.12", "header_only_tags", "tags can be used without libtorch", set=True),
    Change("2.12", "autocast_full", "autocast has a kernel for it", add=("rms_norm",)),
    Change("2.13", "base_types", "named tensors were removed", remove=("Dimname",)),
    Change("2.13", "self_pointer", "Nodes became intrusive pointers", set="getptr()"),
    Change("2.13", "dispatch_keys", "autocast on XPU", add=("AutocastXPU",)),
    Change(
        "2.13",
        "automatic_tags",
        "out and in-place ops are tagged as such",
        set=("pt2_compliant_tag", "out", "inplace"),
    ),
    Change("2.15", "has_native_aot", "kernels in DSLs are compiled for libtorch", set=True),
    Change("2.15", "seeded_exempt", "the stateless philox ops are determined by their key input", set=("_philox_",)),
    *bindings.CHANGES,
    *views.CHANGES,
    *tracing.CHANGES,
    *kernels.CHANGES,
    *dispatch.CHANGES,
    *functionalization.CHANGES,
    *shims.CHANGES,
)
