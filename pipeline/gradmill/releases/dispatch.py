"""Dispatch keys of ATen's own code, by release: which have kernels, headers and macros."""

from __future__ import annotations

from gradmill.releases.model import Change

_CUDA = tuple(f"{kind}CUDA" for kind in ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor"))
_XPU = tuple(f"{kind}XPU" for kind in ("", "Sparse", "SparseCsr", "NestedTensor"))
_GUARD = "c10::OptionalDeviceGuard"
_COMPOSITE = "CompositeExplicitAutogradNonFunctional"
_IN_LIBRARY = {**dict.fromkeys(_CUDA, "TORCH_CUDA_CPP_API"), **dict.fromkeys(_XPU, "TORCH_XPU_API")}

OLDEST: dict[str, object] = {
    "optional_backends": {"mps": ("MPS",), "rocm": ()},
    "hip_guard": "c10::hip::OptionalHIPGuardMasqueradingAsCUDA",
    "header_keys": tuple(
        """
        CPU CUDA CompositeImplicitAutograd CompositeImplicitAutogradNestedTensor CompositeExplicitAutograd
        CompositeExplicitAutogradNonFunctional Meta MPS
        """.split()
    ),
    "omitted_keys": (),
    "static_keys": (),
    "function_macros": {},
    "struct_macros": {},
    "merges_macros": False,
    "cpu_library_kernels": (),
    "guarded_keys": _CUDA,
    "class_guards": {"CUDA": "c10::cuda::OptionalCUDAGuard", _COMPOSITE: _GUARD, "MPS": _GUARD},
    "unset_guards": (),
    "empty_headers": {
        "CPU": "ATen/EmptyTensor.h",
        "Meta": "ATen/EmptyTensor.h",
        "CUDA": "ATen/cuda/EmptyTensor.h",
        "MPS": "ATen/mps/EmptyTensor.h",
    },
    "kernel_shards": {},
}

_XPU_OPTION = "kernels for XPU are generated on request"
_XPU_IN_TREE = "the Intel GPU backend moved in-tree"
_MPS_SPARSE = "sparse tensors on MPS"
_LIBRARIES = "a declaration names the library that has the kernel"

CHANGES: tuple[Change, ...] = (
    Change("2.5", "guarded_keys", _XPU_IN_TREE, add=_XPU),
    Change("2.5", "empty_headers", _XPU_IN_TREE, add={"XPU": "ATen/xpu/EmptyTensor.h"}),
    Change("2.6", "class_guards", _XPU_IN_TREE, add={"XPU": _GUARD}),
    Change("2.7", "kernel_shards", "RegisterCPU.cpp took long to compile", set={"": 1, "CPU": 4}),
    Change("2.8", "class_guards", "MTIA in-tree", add={"MTIA": _GUARD}),
    Change("2.8", "unset_guards", "MTIA in-tree", add=("MTIA",)),
    Change("2.8", "empty_headers", "MTIA in-tree", add={"MTIA": "ATen/native/mtia/EmptyTensor.h"}),
    Change("2.6", "optional_backends", _XPU_OPTION, add={"xpu": ("XPU",)}),
    Change("2.6", "header_keys", _XPU_OPTION, add=("XPU",)),
    Change("2.6", "struct_macros", "kernels for XPU are outside of libtorch", set={"XPU": "TORCH_XPU_API"}),
    Change("2.8", "optional_backends", "MTIA in-tree", add={"mtia": ("MTIA",)}),
    Change("2.8", "header_keys", "MTIA in-tree", add=("MTIA",)),
    Change("2.9", "optional_backends", _MPS_SPARSE, add={"mps": ("MPS", "SparseMPS", "SparseCsrMPS")}),
    Change("2.9", "header_keys", _MPS_SPARSE, add=("SparseMPS", "SparseCsrMPS")),
    Change("2.11", "hip_guard", "HIP's guards are called as CUDA's", set=""),
    Change("2.14", "optional_backends", "the option concerns all keys of XPU", add={"xpu": _XPU}),
    Change("2.14", "struct_macros", "kernels for XPU are in libtorch", set={}),
    Change("2.15", "function_macros", _LIBRARIES, set=_IN_LIBRARY),
    Change("2.15", "struct_macros", _LIBRARIES, set=_IN_LIBRARY),
    Change("2.15", "merges_macros", _LIBRARIES, set=True),
    Change(
        "2.15",
        "cpu_library_kernels",
        _LIBRARIES,
        add=tuple(
            """
            count_nonzero_cuda log_sigmoid_backward_cuda log_sigmoid_backward_cuda_out triton_multi_head_attention
            NestedTensor_softmax_dropout_cuda masked_fill__quantized_cuda _index_put_impl_quantized_cuda_
            """.split()
        ),
    ),
)
