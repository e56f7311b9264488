"""The releases: texts, numbers and ordered lists of the oldest one, then each later one's changes, with the reason.

A row of CHANGES names a release, a field of `Release`, the reason, and what the field becomes or gains. Sets and
mappings are in `facts/`, changed C++ text is in the families' text files. `python -m tests.add_release VERSION` adds a
release and reports the facts that still need a row.
"""

from __future__ import annotations

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


OLDEST: dict[str, object] = {
    "ufunc_keys": ("CUDA", "CPU"),
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
    "scalars_getter_tail": " " * 28,  # upstream's text includes the indentation of its source
    "trace_shards": 5,
    "variable_type_shards": 5,
    "qualifies_declarations": False,
    "generator": "torchgen/gen.py",
    "stubs_generator": "torchgen/gen.py",
    "registers_composed_views": False,
    # Of dispatch keys.
    "hip_guard": "c10::hip::OptionalHIPGuardMasqueradingAsCUDA",
    "static_keys": (),
    "merges_macros": False,
    "kernel_shards": {},
    # Of C functions.
    "shim_devices": ("cpu", "cuda"),
    "shims_by_key": True,
    "shim_versions": "",
    "shims_pass_defaults": False,
    "shims_extend": False,
    # Of a described set and of options.
    "left_out": (),
    "described": False,
    "omitted_keys": (),
}

_STD_OPTIONAL = "c10::optional became std::optional"

CHANGES: tuple[Change, ...] = (
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
    Change(
        "2.5",
        "generator",
        "the intermediate template names the script that a build runs",
        set="tools/setup_helpers/generate_code.py",
    ),
    Change("2.5", "stubs_generator", "comments name the script that runs", set="torchgen/gen_backend_stubs.py"),
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
    Change("2.6", "shim_devices", "the Intel GPU backend moved in-tree", add=("xpu",)),
    Change("2.7", "const_ref_refuses_out", "const out arguments generated wrong kernels", set=True),
    Change("2.7", "qualifies_declarations", "one way to print types", set=True),
    Change("2.7", "kernel_shards", "RegisterCPU.cpp took long to compile", set={"": 1, "CPU": 4}),
    Change("2.8", "normal_paths", "torchgen uses pathlib", set=True),
    Change("2.8", "trims_lines", "generated code passes the linters' check of trailing white space", set=True),
    Change("2.8", "scalars_getter_tail", "lines are trimmed", set=""),
    Change(
        "2.8", "spaces_docstrings", "generated Python stubs are formatted, and one function writes all files", set=True
    ),
    Change("2.8", "shim_devices", "models for MPS", add=("mps",)),
    Change("2.8", "shims_by_key", "they are written apart from the registrations of kernels", set=False),
    Change("2.8", "shim_versions", "operators may gain arguments", set="arguments"),
    Change("2.9", "has_view_metas", "lambdas that replayed views became classes", set=True),
    Change("2.9", "shim_devices", "stable C++ code calls some operators by the dispatcher", add=("aten",)),
    Change("2.10", "registers_composed_views", "composed views decompose before they are functionalized", set=True),
    Change("2.11", "hip_guard", "HIP's guards are called as CUDA's", set=""),
    Change("2.12", "header_only_tags", "tags can be used without libtorch", set=True),
    Change("2.12", "shims_pass_defaults", "arguments that are not optional may be added", set=True),
    Change("2.13", "self_pointer", "Nodes became intrusive pointers", set="getptr()"),
    Change(
        "2.13",
        "automatic_tags",
        "out and in-place ops are tagged as such",
        set=("pt2_compliant_tag", "out", "inplace"),
    ),
    Change("2.13", "trace_shards", "twice as many files, half as large", set=10),
    Change("2.13", "variable_type_shards", "compile time of the largest files", set=10),
    Change("2.13", "shim_versions", "versions have the release that has them first", set="metadata"),
    Change("2.15", "has_native_aot", "kernels in DSLs are compiled for libtorch", set=True),
    Change("2.15", "seeded_exempt", "the stateless philox ops are determined by their key input", set=("_philox_",)),
    Change("2.15", "merges_macros", "a declaration names the library that has the kernel", set=True),
)
