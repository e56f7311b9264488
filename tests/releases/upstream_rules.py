"""The lists of a release's own torchgen that gradmill has as facts of releases: JSON by field of `Release`.

    python tests/releases/upstream_rules.py ROOT

ROOT is a folder that contains the release's `torchgen/`, whose parts of autograd are in `torchgen/packaged`.
"""

import json
import sys
from enum import Enum
from importlib import import_module

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
    "metadata_views": (AUTOGRAD + "gen_inplace_or_view_type", "VIEW_FUNCTIONS_WITH_METADATA_CHANGE"),
    "manual_kernels": (AUTOGRAD + "gen_trace_type", "MANUAL_AUTOGRAD"),
    "manual_backend": (AUTOGRAD + "gen_trace_type", "MANUAL_BACKEND"),
    "unrecorded": (AUTOGRAD + "gen_trace_type", "DONT_RECORD_TRACE"),
    "undifferentiable": (AUTOGRAD + "gen_variable_type", "DONT_REQUIRE_DERIVATIVE"),
    "complex_differentiable": (AUTOGRAD + "gen_variable_type", "GRADIENT_IMPLEMENTED_FOR_COMPLEX"),
    "resets_accumulator": (AUTOGRAD + "gen_variable_type", "RESET_GRAD_ACCUMULATOR"),
    "replacing_tensors": (AUTOGRAD + "gen_variable_type", "DONT_ENFORCE_SAME_TENSOR_IMPL_OR_STORAGE"),
    "sharing_tensors": (AUTOGRAD + "gen_variable_type", "DONT_ENFORCE_TENSOR_IMPL_USE_COUNT"),
    "sharing_storage": (AUTOGRAD + "gen_variable_type", "DONT_ENFORCE_STORAGE_IMPL_USE_COUNT"),
    "foreach_without_derivatives": (AUTOGRAD + "gen_variable_type", "_foreach_ops_without_differentiability_info"),
    "foreach_of_other_arity": (AUTOGRAD + "gen_variable_type", "_foreach_ops_with_different_arity"),
}
DICTIONARIES = {
    "cpp_defaults": ("api.cpp", "JIT_TO_CPP_DEFAULT"),
    "views": (AUTOGRAD + "gen_inplace_or_view_type", "VIEW_FUNCTIONS"),
    "recorded_as": (AUTOGRAD + "gen_trace_type", "RENAME_TRACE"),
    "dtype_classes": ("model", "DTYPE_CLASSES"),
}


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
    types, scalars = value_of("api.types", "BaseTypeToCppMapping"), value_of("model", "BaseTy")
    lists["base_types"] = {each.name: str(types[each]) if each in types else "" for each in scalars}
    json.dump(lists, sys.stdout)


def value_of(module: str, name: str):
    return getattr(import_module(f"torchgen.{module}"), name)


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
