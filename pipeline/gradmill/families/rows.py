"""The table of families: what decides whether a family is generated, and where its files are. A new family is a new
folder and a row, or an extension's.

The rows stand apart from the families, since each run reads all of them, and few families are imported.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gradmill.doors import FamilyRow, TreeFolders, extensions
from gradmill.specs.spec_set import Templates


def in_csrc(folder: str) -> TreeFolders:
    """The place of a folder within `torch/csrc`."""
    return TreeFolders(f"torch/csrc/{folder}", folder)


IN_ATEN = "ATen"  # the folder of ATen's files, apart from others
OF_ATEN = TreeFolders("build/aten/src/ATen", IN_ATEN)
SHIMS = "aoti"  # in the tree of ATen's files: the folder that `shims=` replaces
SHIM_DEVICES = ("aten", "cpu", "cuda", "mps", "xpu")  # of any release
NOWHERE = TreeFolders("", "")
HOOK_FILES = "hook_files"  # the family of files that the hooks of a description write


def _aten(*templates: str, **more: Any) -> FamilyRow:
    """The row of a family of ATen's files, which needs the first of its templates unless `more` names another."""
    needs = {"needs": templates[0]} if templates else {}
    return FamilyRow(templates, folder=IN_ATEN, by_default=False, **needs | more)


_LIBTORCH = {"libtorch": ""}
BACKEND = (  # of backends outside of ATen
    "ATen/DispatchKeyNativeFunctions.h",
    "ATen/RegisterDispatchKey.cpp",
    "ATen/RegisterDispatchDefinitions.ini",
)
_SHIM_SOURCES = tuple(f"c_shim_{device}.cpp" for device in SHIM_DEVICES)

_OF_CORE = {
    "nodes": FamilyRow(
        ("Functions.h", "Functions.cpp", "python_functions.h", "python_functions.cpp"),
        "Functions.h",
        subsets={"libtorch": "Functions", "pybindings": "python_functions"},
    ),
    "variable_type": FamilyRow(("VariableType.h", "VariableType.cpp"), "VariableType.cpp", subsets=_LIBTORCH),
    "inplace_or_view": FamilyRow(("ADInplaceOrViewType.cpp",), "ADInplaceOrViewType.cpp", subsets=_LIBTORCH),
    "trace_type": FamilyRow(("TraceType.cpp",), "TraceType.cpp", subsets=_LIBTORCH),
    "view_funcs": FamilyRow(("ViewFuncs.h", "ViewFuncs.cpp"), "ViewFuncs.h", subsets=_LIBTORCH),
    "factories": FamilyRow(("variable_factories.h",), "variable_factories.h", subsets=_LIBTORCH),
    "bindings": FamilyRow(
        (
            "python_torch_functions.cpp",
            "python_variable_methods.cpp",
            "python_nn_functions.cpp",
            "python_fft_functions.cpp",
            "python_linalg_functions.cpp",
            "python_nested_functions.cpp",
            "python_sparse_functions.cpp",
            "python_special_functions.cpp",
        ),
        "python_torch_functions.cpp",
        reads=("deprecated",),
        subsets={"pybindings": ""},
        by_default=False,
    ),
    "annotated_args": FamilyRow(
        ("annotated_fn_args.py.in",),
        "annotated_fn_args.py.in",
        subsets={"python": ""},
        in_trees=TreeFolders("torch/testing/_internal/generated", ""),
        by_default=False,
    ),
    "return_types": FamilyRow(
        ("python_return_types.h", "python_return_types.cpp"),
        "python_return_types.cpp",
        subsets={"pybindings": ""},
        by_default=False,
    ),
    "enum_tag": FamilyRow(
        ("python_enum_tag.cpp",), "python_enum_tag.cpp", subsets={"pybindings": ""}, by_default=False
    ),
    "view_metas": _aten("ATen/ViewMetaClasses.h", "ATen/ViewMetaClasses.cpp", subsets={"aten": "", "sources": ""}),
    "view_meta_bindings": FamilyRow(
        ("ATen/ViewMetaClassesPythonBinding.cpp",),
        "ATen/ViewMetaClassesPythonBinding.cpp",
        subsets={"functionalization": ""},
        in_trees=in_csrc("functionalization/generated"),
        by_default=False,
    ),
    "lazy": FamilyRow(
        ("ATen/LazyIr.h", "ATen/LazyNonNativeIr.h", "ATen/DispatchKeyNativeFunctions.cpp", *BACKEND),
        "ATen/LazyIr.h",
        "backend",
        reads=("backend", "shape_inference", "backend_kernels"),
        subsets={"lazy_ts_backend": ""},
        in_trees=in_csrc("lazy/generated"),
        by_default=False,
    ),
    "backend_stubs": FamilyRow(
        BACKEND,
        "ATen/RegisterDispatchKey.cpp",
        "external_backend",
        reads=("external_backend", "external_kernels"),
        subsets={"gen_backend_stubs": ""},
        in_trees=NOWHERE,
        by_default=False,
    ),
    "dispatcher_api": _aten(
        "ATen/Operator.h",
        "ATen/Operators.h",
        "ATen/MethodOperators.h",
        "ATen/RegisterSchema.cpp",
        "ATen/ATenOpList.cpp",
        "ATen/RegistrationDeclarations.h",
        "ATen/aten_interned_strings.h",
        "ATen/enum_tag.h",
        "ATen/Operators.cpp",
        subsets={
            "aten": "",
            "headers": (
                *("Operator.h", "Operators.h", "MethodOperators.h", "RegistrationDeclarations"),
                *("VmapGeneratedPlumbing.h", "aten_interned_strings", "enum_tag.h"),
            ),
            "sources": ("Operators.cpp", "RegisterSchema", "ATenOpList"),
        },
    ),
    "backend_select": _aten("ATen/RegisterBackendSelect.cpp", subsets={"aten": "", "sources": ""}),
    "cpp_api": _aten(
        "ATen/Function.h",
        "ATen/Functions.h",
        "ATen/TensorBody.h",
        "ATen/RedispatchFunctions.h",
        "ATen/Functions.cpp",
        "ATen/TensorMethods.cpp",
        subsets={
            "aten": "",
            "headers": ("Function.h", "Functions.h", "TensorBody.h", "RedispatchFunctions.h"),
            "sources": ("Functions.cpp", "TensorMethods.cpp"),
        },
    ),
    "kernel_headers": _aten(
        "ATen/NativeFunction.h",
        "ATen/NativeMetaFunction.h",
        "ATen/DispatchKeyFunction.h",
        "ATen/NativeFunctions.h",
        "ATen/NativeMetaFunctions.h",
        "ATen/DispatchKeyFunctions.h",
        "ATen/DispatchKeyFunctions_inl.h",
        subsets={"aten": "", "headers": ""},
        of_operators=True,
    ),
    "aggregated_headers": _aten(
        "ATen/NativeFunctions.h",
        "ATen/NativeMetaFunctions.h",
        "ATen/DispatchKeyFunctions.h",
        "ATen/DispatchKeyFunctions_inl.h",
        subsets={"aten": "", "headers": ""},
        of_operators=False,
    ),
    "kernel_registrations": _aten(
        "ATen/RegisterDispatchKey.cpp",
        "ATen/RegisterDispatchDefinitions.ini",
        "ATen/UfuncCPU.cpp",
        "ATen/UfuncCPUKernel.cpp",
        "ATen/UfuncCUDA.cu",
        reads=("native_aot",),
        subsets={"aten": "", "sources": ""},
    ),
    "composite_kernels": _aten(
        "ATen/CompositeViewCopyKernels.cpp", subsets={"aten": "", "sources": "CompositeViewCopyKernels.cpp"}
    ),
    "functionalize": _aten(
        "ATen/FunctionalInverses.h",
        "ATen/RegisterFunctionalization.cpp",
        needs="ATen/RegisterFunctionalization.cpp",
        subsets={"aten": "", "sources": ("RegisterFunctionalization.cpp", "FunctionalInverses.h")},
    ),
    "native_aot_stubs": _aten(
        "ATen/NativeAotStubs.h",
        "ATen/NativeAotStubs.cpp",
        reads=("native_aot",),
        subsets={"aten": "", "headers": "NativeAotStubs.h", "sources": "NativeAotStubs.cpp"},
    ),
    "declarations": _aten(
        needs="ATen/Operator.h",
        reads=("native_aot",),  # torchgen checks them whatever it writes
        subsets={"aten": "", "declarations_yaml": ""},
    ),
    "c_shims": FamilyRow(
        needs_file="fallback_ops",
        reads=("fallback_ops",),
        subsets={
            "aten": _SHIM_SOURCES,
            "sources": _SHIM_SOURCES,
            "shim_headers": tuple(f"c_shim_{device}.h" for device in SHIM_DEVICES),
        },
        in_trees=TreeFolders("torch/csrc/inductor/aoti_torch/generated", "inductor/aoti_torch/generated", SHIMS),
        folder=SHIMS,
        by_default=False,
    ),
}
_ADDED = {name: row for extension in extensions().values() for name, row in extension.families.items()}
_OF_SETS = _OF_CORE | {name: row for name, row in _ADDED.items() if not row.source}
_OF_SETS[HOOK_FILES] = FamilyRow(in_trees=NOWHERE, by_default=False)
FAMILY_ROWS = _OF_SETS | _ADDED  # in the order of lists and messages
TEMPLATES = Templates(
    tuple(name for row in _OF_SETS.values() for name in row.templates),
    tuple(name for row in _ADDED.values() if row.source for name in row.templates),
)
_USERS = Counter(name for row in FAMILY_ROWS.values() for name in row.templates)


def distinctive(row: FamilyRow) -> tuple[str, ...]:
    """The templates of which a spec set must have one to have the family: the one it needs, and those that no other
    family has. None if it needs none."""
    return (row.needs, *(name for name in row.templates if _USERS[name] == 1)) if row.needs else ()
