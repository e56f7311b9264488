"""The lists of a release's own torchgen that gradmill has as facts of releases: JSON by field of `Release`.

    python tests/releases/upstream_rules.py ROOT

ROOT is a folder that contains the release's `torchgen/`, whose parts of autograd are in `torchgen/packaged`.
"""

import ast
import json
import sys
from enum import Enum
from importlib import import_module
from pathlib import Path

AUTOGRAD = "packaged.autograd."
# Field -> module, name in it; sets of names.
SETS = {
    "autograd_keys": ("model", "AUTOGRAD_KEYS"),
    "dispatch_keys": ("model", "DispatchKey"),
    "dtypes": ("model", "ScalarType"),
    "structured_keys": ("model", "STRUCTURED_DISPATCH_KEYS"),
    "kernel_keys": ("model", "dispatch_keys"),
    "ufunc_keys": ("model", "UFUNC_DISPATCH_KEYS"),
    "ufunc_loops": ("model", "UfuncKey"),
    "out_without_functional": ("native_function_generation", "OUT_OPS_THAT_DONT_GET_GROUPED_PROPERLY"),
    "mutable_without_out": ("native_function_generation", "MUTABLE_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT"),
    "functional_without_out": ("native_function_generation", "FUNCTIONAL_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT"),
    "inplace_ungrouped": ("native_function_generation", "INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY"),
    "foreach_inplace_reference": ("api.autograd", "_foreach_with_inplace_ref"),
    "foreach_tensor_overload": ("api.autograd", "_foreach_with_tensor_overload"),
    "foreach_skip_length": ("api.autograd", "_skip_argument_len_check"),
    "skip_python_bindings": (AUTOGRAD + "gen_python_functions", "_SKIP_PYTHON_BINDINGS"),
    "unbound_schemas": (AUTOGRAD + "gen_python_functions", "SKIP_PYTHON_BINDINGS_SIGNATURES"),
    "metadata_views": (AUTOGRAD + "gen_inplace_or_view_type", "VIEW_FUNCTIONS_WITH_METADATA_CHANGE"),
    "manual_kernels": (AUTOGRAD + "gen_trace_type", "MANUAL_AUTOGRAD"),
    "manual_backend": (AUTOGRAD + "gen_trace_type", "MANUAL_BACKEND"),
    "unrecorded": (AUTOGRAD + "gen_trace_type", "DONT_RECORD_TRACE"),
    "dont_require_derivative": (AUTOGRAD + "gen_variable_type", "DONT_REQUIRE_DERIVATIVE"),
    "complex_differentiable": (AUTOGRAD + "gen_variable_type", "GRADIENT_IMPLEMENTED_FOR_COMPLEX"),
    "resets_accumulator": (AUTOGRAD + "gen_variable_type", "RESET_GRAD_ACCUMULATOR"),
    "dont_enforce_same_tensor_impl_or_storage": (
        AUTOGRAD + "gen_variable_type",
        "DONT_ENFORCE_SAME_TENSOR_IMPL_OR_STORAGE",
    ),
    "dont_enforce_tensor_impl_use_count": (AUTOGRAD + "gen_variable_type", "DONT_ENFORCE_TENSOR_IMPL_USE_COUNT"),
    "dont_enforce_storage_impl_use_count": (AUTOGRAD + "gen_variable_type", "DONT_ENFORCE_STORAGE_IMPL_USE_COUNT"),
    "foreach_without_derivatives": (AUTOGRAD + "gen_variable_type", "_foreach_ops_without_differentiability_info"),
    "foreach_of_other_arity": (AUTOGRAD + "gen_variable_type", "_foreach_ops_with_different_arity"),
}
UNGROUPED = ("out_without_functional", "mutable_without_out", "inplace_ungrouped")
DICTIONARIES = {
    "cpp_defaults": ("api.cpp", "JIT_TO_CPP_DEFAULT"),
    "views": (AUTOGRAD + "gen_inplace_or_view_type", "VIEW_FUNCTIONS"),
    "recorded_as": (AUTOGRAD + "gen_trace_type", "RENAME_TRACE"),
    "dtype_classes": ("model", "DTYPE_CLASSES"),
}
# Sets that older releases lack.
LATER_SETS = {
    "keeping_out_dtype": ("gen_functionalization_type", "CUMULATIVE_OUT_OPS_PRESERVING_OUT_DTYPE"),
    "cpu_library_kernels": ("dest.native_functions", "_CPU_DLL_CUDA_KERNELS"),
}
# Lists that functions of torchgen have in their text: field -> module, name of the variable there.
IN_FUNCTIONS = {
    "header_keys": ("gen", "functions_keys"),
    "keyword_arguments": ("gen", "EXCLUSION_LIST"),
    "shim_devices": ("gen", "aoti_backends"),
    "shims_with_optional_returns": ("gen_aoti_c_shim", "name"),
    "vmap_other_returns": ("gen_vmap_plumbing", "return_symint_overrides"),
}
# The only number of source files that a module names.
SHARDS = {
    "trace_shards": AUTOGRAD + "gen_trace_type",
    "variable_type_shards": AUTOGRAD + "gen_variable_type",
}
ATEN_SHIMS = "aten"  # of the devices with shims, what torchgen calls None


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    lists: dict[str, object] = {}
    for field, (module, name) in SETS.items():
        lists[field] = sorted(set(map(named, members(value_of(module, name)))))
    for field, (module, name) in DICTIONARIES.items():
        lists[field] = {key: value if isinstance(value, str) else sorted(map(named, value))
                        for key, value in value_of(module, name).items()}  # fmt: skip
    views, returned = (value_of(AUTOGRAD + "gen_inplace_or_view_type", name) for name in
                       ("VIEW_FUNCTIONS", "RETURNS_VIEWS_OF_INPUT"))  # fmt: skip
    lists["made_of_views"] = sorted(set(returned) - set(views))
    sharing = value_of(AUTOGRAD + "gen_inplace_or_view_type", "ALL_VIEW_FUNCTIONS")
    lists["aliases_not_views"] = sorted(set(sharing) - set(views))
    by_hand = value_of("gen_functionalization_type", "MUTABLE_OPS_NOT_USING_FUNCTIONALIZATION")
    ungrouped = {name for field in UNGROUPED for name in lists[field]}
    lists["not_functionalized"] = sorted(set(map(str, by_hand)) - ungrouped)
    for field, (module, name) in LATER_SETS.items():
        lists[field] = sorted(map(str, getattr(import_module(f"torchgen.{module}"), name, ())))
    for field, (module, name) in IN_FUNCTIONS.items():
        found = members_in_text(module, name)
        if found is not None:
            lists[field] = found
    lists.setdefault("vmap_other_returns", [])  # before there were any
    if "shim_devices" in lists:
        lists["shim_devices"] = [each.lower() for each in lists["shim_devices"]]
    for field, module in SHARDS.items():
        (lists[field],) = numbers_of_files(module)
    types, scalars = value_of("api.types", "BaseTypeToCppMapping"), value_of("model", "BaseTy")
    lists["base_types"] = {each.name: str(types[each]) if each in types else "" for each in scalars}
    json.dump(lists | of_keys(), sys.stdout)


def of_keys() -> dict[str, object]:
    """What functions of torchgen return for each key that has kernels."""
    model, dest = import_module("torchgen.model"), import_module("torchgen.dest.native_functions")
    predicates = (getattr(model, name, None) for name in ("is_cuda_dispatch_key", "is_xpu_dispatch_key"))
    guarded = [key.name for is_in in predicates if is_in for key in model.DispatchKey if is_in(key)]
    macros, headers = {}, {}
    for key in model.dispatch_keys:
        index = model.BackendIndex(key, use_out_as_primary=True, device_guard=False, external=False, index={})
        prefix = getattr(dest, "torch_api_key_word_prefix", lambda _: "")(index).strip()
        if prefix not in ("", "TORCH_API"):
            macros[key.name] = prefix
        lines = import_module("torchgen.dest").gen_registration_headers(index, per_operator_headers=True, rocm=False)
        header = next((line for line in lines if line.endswith("EmptyTensor.h>")), None)
        if header is not None:
            headers[key.name] = header.removeprefix("#include <").removesuffix(">")
    return {"guarded_keys": sorted(guarded), "struct_macros": macros, "empty_headers": headers}


def value_of(module: str, name: str):
    return getattr(import_module(f"torchgen.{module}"), name)


def tree_of(module: str) -> ast.Module:
    return ast.parse(Path(import_module(f"torchgen.{module}").__file__).read_text())


def members_in_text(module: str, name: str) -> list[str] | None:
    """What a variable of a function holds by the text: what is assigned, what it goes through, what is added. None if
    there is no such variable."""
    found: list[str] | None = None
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == [name]:
            values = node.value
        elif isinstance(node, ast.For) and ast.unparse(node.target) == name:
            values = node.iter
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in (f"{name}.add", f"{name}.update"):
            values = node.args[0]
        else:
            continue
        if isinstance(values, ast.Name):
            found = (found or []) + (members_in_text(module, values.id) or [])
        elif isinstance(values, ast.Set | ast.List | ast.Tuple):
            found = (found or []) + [member for each in values.elts for member in of_text(each)]
        else:
            found = (found or []) + of_text(values)
    return None if found is None else sorted(set(found))


def of_text(node: ast.expr) -> list[str]:
    """The member that a text names: `DispatchKey.CPU`, a name in quotes, an operator with an argument; None is ATen."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Tuple):
        return [".".join(part for each in node.elts for part in of_text(each))]
    if not isinstance(node, ast.Constant):
        return []
    return [ATEN_SHIMS if node.value is None else str(node.value)]


def numbers_of_files(module: str) -> set[int]:
    """The numbers of source files that a module writes: the values of `num_shards`."""
    calls = (node for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call))
    named = (each for call in calls for each in call.keywords if each.arg == "num_shards")
    return {each.value.value for each in named if isinstance(each.value, ast.Constant)}


def members(collection):
    """The members of a collection; those of an enumeration with the aliases."""
    return getattr(collection, "__members__", collection)


def named(member: object) -> str:
    """A member of an enumeration by its name; an operator and its overload as in a schema."""
    if isinstance(member, tuple):
        return ".".join(filter(None, member))
    return member.name if isinstance(member, Enum) else str(member)


if __name__ == "__main__":
    main()
