"""Classes of structured kernels as texts of a description, next to the stubs that torchgen's rules give; what a text
may say of a function's variants; orders by groups.

Files of public generators: python -m tests.vendors.generators DESCRIPTION FOLDER...
"""

from __future__ import annotations

import shutil
from pathlib import Path

from vendors.test_docs import EXAMPLES
from vendors.vendor import Vendor

TAKEN = "Tensor self, Tensor? weight, Tensor[] others, int[1] dim, *, Scalar? fill=None"
FUNCTIONS = f"""
- func: pick({TAKEN}) -> (Tensor values, Tensor at)
  structured_delegate: pick.values
- func: pick.values({TAKEN}, Tensor(a!) values, Tensor(b!) at) -> (Tensor(a!) values, Tensor(b!) at)
  structured: True
  precomputed:
  - dim -> int first, int second
  - float scale
  dispatch:
    CPU, CUDA: pick_out
"""
OF_TORCH = ("mul.", "mul_.", "pow.", "pow_.")
LISTED = """\
backend: PrivateUse1
cpp_namespace: accel
supported:
  - pick.values: {structured: true}
  - add.out: {structured: true}
  - mul.out: {structured: true}
  - pow.Scalar_out: {structured: true}
  - pow.Tensor_Tensor_out: {structured: true}
  - pow.Tensor_Scalar_out: {structured: true}
"""
KINDS = """\
- func: pick.values
  dispatch: {CPU: pick_out}
- func: add_.Tensor
- func: exp
  dispatch: {CPU: exp_mine, CUDA: exp_cuda}
- func: add.out
  checked: true
- func: add.Tensor
- func: pick
- func: chunks
"""
DESCRIPTION = '''\
name = "accel"
families = ["own_files"]
base = "../base"

[[backend]]
file = "listed.yaml"

[[marks]]
file = "kinds.yaml"

[[marks]]
file = "listed.yaml"
list = "supported"

[family.own_files]
functions = "in:kinds"

[family.own_files.text]
primary_name = { each = "primary", text = "${name}" }
meta_name = { each = "functional", text = "${name}" }
kind = [{ of = "functional", text = "functional" }, { of = "out", text = "out" }, { text = "inplace" }]
class = { text = "structured_${primary_name}_${kind}" }
overload_name = { of = "overload", text = "_${overload}" }
op = [{ of = "functional", text = "" }, { of = "out", text = "(${outs})" }, { text = "(self)" }]
outs = { each = "out", between = ", ", text = "${name}" }
met = { each = "meta", between = ", ", text = "${passed}" }
computed = { of = "primary:precomputes", text = "auto precompute = " }
used = { of = "primary:precomputes", text = "(void)precompute;" }
given = { each = "impl", between = ", ", after = ", ", text = "${argument}" }
argument = [{ of = "precomputed", text = "precompute.${name}" }, { text = "${passed}" }]
written = { each = "results", between = ", ", text = "${output}" }
output = [{ of = "out", text = "op.maybe_get_output(${index})" }, { text = "op.outputs_[${index}]" }]
copied = [
    { of = "functional", text = "" },
    { each = "results", text = "if (op.${proxy}.has_value()) op.outputs_[${index}].get().copy_(*op.${proxy});" },
]
proxy = { text = "proxy_outputs_[${index}]" }
moved = { each = "results", between = ", ", text = "std::move(op.outputs_[${index}])" }
result = [
    { of = "functional tuple", text = "std::make_tuple(${moved})" },
    { of = "functional", text = "${moved}" },
    { of = "inplace", text = "self" },
    { of = "tuple", text = "std::forward_as_tuple(${outs})" },
    { text = "${outs}" },
]
super = { of = "primary:inherits", text = "::structured_${primary_name}::set_output_raw_strided(" }
wrapper = { of = "functional:key:structured_delegate | primary:structured", dense = true, text = """
${returns} wrapper_PrivateUse1_${cpp_name}${overload_name}(${kernel_parameters}) {
${class} op${op};
${computed}op.meta(${met});
${used}
op.impl(${given}${written});
${copied}
return ${result};
}""" }
array = { of = "primary:structured", text = "struct ${class} final\\n, ${result_count}> outputs_;\\n${super}" }
parameters_of_class = { each = "impl results", between = ", ", text = "${type} ${name}" }
declaration = { of = "structured", text = """
struct structured_${name} : public at::meta::structured_${meta_name} {
void impl(${parameters_of_class});
};""" }
order = [
    { of = "in:supported key:structured key:checked", text = "${operator} structured: ${key_structured}" },
    { of = "primary:key:checked", text = "${operator} checked" },
    { of = "functional:undefined", text = "${operator} ${own}" },
    { of = "kernel:CUDA", text = "${operator} ${literal}" },
    { text = "${operator}" },
]
literal = { quoted = true, each = "positional", text = '${schema}, "default"' }
own = { each = "dispatch", where = "CUDA listed:dispatch_CPU", text = "${key}=${kernel}(${passed})" }
direct = { of = "symint", each = "signatures", text = "${name}: ${kernel_passed}" }

[family.own_files.file."calls.txt"]
template = "calls.txt"
raw = true
slots.text = { piece = "wrapper", between = "\\n----\\n" }
[family.own_files.file."classes.txt"]
template = "classes.txt"
raw = true
slots.text = { piece = "array", between = "\\n" }
[family.own_files.file."declared.txt"]
template = "declared.txt"
raw = true
slots.text = { piece = "declaration", between = "\\n----\\n" }
[family.own_files.file."order.txt"]
template = "order.txt"
order = "groups of marks"
raw = true
slots.text = { piece = ["order", "direct"], between = "|" }
'''
NAMES = ("calls.txt", "classes.txt", "declared.txt", "order.txt")


def test_texts_can_say_what_structured_kernels_do(torch_specs: Path, tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    base = tmp_path / "base"
    (base / "templates" / "ATen").symlink_to(torch_specs / "ATen" / "templates")
    with (base / "native_functions.yaml").open("a") as file:
        file.write(FUNCTIONS)
        of_torch = (torch_specs / "ATen/native/native_functions.yaml").read_text().split("\n- func: ")
        file.writelines(f"- func: {entry}\n" for entry in of_torch if entry.startswith(OF_TORCH))
    shutil.copy(torch_specs / "ATen/native/tags.yaml", base)
    for name, text in {"listed.yaml": LISTED, "kinds.yaml": KINDS, "specset.toml": DESCRIPTION}.items():
        vendor.path(name).write_text(text)
    for name in NAMES:
        vendor.path(name).write_text("// ${generated_comment}\n${text}")
    made = {name: text.partition("\n")[2] for name, text in vendor.build().items()}
    vendor.run(families="backend_stubs", generated="stubs", cache="other").ok()
    registered = (tmp_path / "stubs/RegisterPrivateUse1.cpp").read_text()
    check_example(vendor, registered)
    wrappers = made["calls.txt"].split("\n----\n")
    assert len(wrappers) == 5 and all(wrapper in registered for wrapper in wrappers)
    assert "precompute.second, " in made["calls.txt"]
    lines = [line for line in made["classes.txt"].split("\n") if line]
    assert len(lines) == 13 and all(line in registered for line in lines)
    declared = made["declared.txt"].split("\n----\n")
    header = (tmp_path / "stubs/PrivateUse1NativeFunctions.h").read_text()
    assert len(declared) == 2 and all(each in header for each in declared)
    assert made["order.txt"].split("|") == [
        *("pick ", "pick.values CUDA=pick_out(self, weight, others, dim, fill, values, at)"),
        *("add.Tensor checked", "add.out structured: True", "add_.Tensor checked"),
        r'exp "Tensor self, \"default\""',
        *("chunks", "chunks: self, size\nchunks_symint: self, size.guard_int(__FILE__, __LINE__)"),
    ]


def check_example(vendor: Vendor, registered: str) -> None:
    """The example of docs for the functional variants of the same kernels: calls and results are those of the stubs."""
    example = next(text for text in EXAMPLES if "struct ${class}_functional" in text)
    vendor.path("specset.toml").write_text(f'base = "../base"\n{example}')
    vendor.path("codegen").mkdir()
    vendor.path("codegen/structured.cpp").write_text("// ${generated_comment}\n${classes}\n${wrappers}\n")
    vendor.run(generated="example", cache="another").ok()
    made = (vendor.folder / "example/structured.cpp").read_text()
    blocks = [block.partition("\n}\n")[0] for block in made.split(" {\n  structured_")[1:]]
    assert len(blocks) == 6
    for block in blocks:
        lines = [line.strip() for line in f"structured_{block}".split("\n")]
        assert "\n".join(lines) in registered, lines
        name = lines[0].removesuffix("_functional op;")
        assert made.count(f"struct {name} : ") == made.count(f"struct {name}_functional final : {name} {{") == 1
