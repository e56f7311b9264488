"""The descriptions in examples, on files of the shape of the vendors': ordinary edits of these give what the vendor's
generator prints. The rules of Ascend's and FlagOS's are here, applied to PyTorch's own text; MUSA's is PyTorch's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path

import forked
import pytest
from project import ROOT, files_in

EXAMPLE = ROOT / "examples" / "vendor-descriptions" / "ascend"
# What the example of Ascend reads, in the form of their files. Entries with keys and lists that it does not name.
ASCEND = {
    "torch_npu/csrc/aten/npu_native_functions.yaml": """\
backend: NPU
cpp_namespace: at_npu::native
supported:
  - as_strided
  - func: clone
    op_api: True
custom:
  - func: npu_change_data_ptr(Tensor dst, Tensor src, int index) -> int
    exposed: True
  - func: npu_format_cast.Tensor(Tensor self, Tensor dst) -> Tensor
  - func: npu_format_cast_(Tensor(a!) self, Tensor src) -> Tensor(a!)
  - func: npu_format_cast_.acl_format(Tensor(a!) self, int acl_format) -> Tensor(a!)
""",
    "third_party/op-plugin/op_plugin/config/op_plugin_functions.yaml": """\
all_version: [v2.1, v2.6, v2.12, v2.13, v2.14, v2.15]
official:
  - func: abs(Tensor self) -> Tensor
    acl_op: all_version
    gen_opapi:
      structured_inherit: abs.out
custom:
  - func: npu_dtype_cast(Tensor self, int dtype, int? input_dtype=None) -> Tensor
    acl_op: all_version
    op_api: [v2.1, newest]
    exposed: [v2.1, newest]
    tags: pt2_compliant_tag
  - func: _npu_dtype_cast(Tensor self, ScalarType dtype) -> Tensor
    op_api: all_version
    dvm: all_version
    internal_format_opapi: all_version
    device_check: NoCheck
  - func: npu_nsa_compress_attention(Tensor query, Tensor key) -> (Tensor, Tensor)
    op_api: [v2.6, newest]
  - func: npu_fusion_attention_grad(Tensor query, Tensor key, Tensor value, Tensor d, int n) -> (Tensor, Tensor, Tensor)
    op_api: [v2.6, newest]
  - func: npu_scaled_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)
    op_api: v2.13
    dispatch:
      CompositeExplicitAutograd: npu_scaled_
symint:
  - func: zeros(SymInt[] size) -> Tensor
""",
    "third_party/op-plugin/op_plugin/config/derivatives.yaml": """\
all_version: [v2.1, v2.6, v2.12, v2.13, v2.14, v2.15]
backward:
- name: matmul(Tensor self, Tensor other) -> Tensor
  self, other: matmul_backward(grad, self, other, grad_input_mask)
  version: [v2.1, newest]
- name: matmul_backward(Tensor grad_out, Tensor self, Tensor other, bool[2] mask) -> (Tensor, Tensor)
  grad_out, self, other: matmul_double_backward(grads[0], grads[1], grad_out, self, other, grad_input_mask)
  version: all_version
- name: npu_dtype_cast(Tensor self, int dtype, int? input_dtype=None) -> Tensor
  self: grad.sum_to_size_symint(self.sym_sizes())
  version: all_version
- name: npu_nsa_compress_attention(Tensor query, Tensor key) -> (Tensor, Tensor)
  query, key: npu_fusion_attention_grad(query, key, result1, grad, query.sym_size(0).expect_int())
  version: [v2.6, newest]
- name: npu_scaled_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)
  self: grad.expand_symint(size)
  version: all_version
""",
    "torchnpugen/autograd/templates/VariableType.cpp": """\
// ${generated_comment}
${type_derived_method_definitions}
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
    ${wrapper_registrations_aten}
}
TORCH_LIBRARY_IMPL(npu, AutogradPrivateUse1, m) {
    ${wrapper_registrations_npu}
}
""",
    "torchnpugen/autograd/templates/VariableType.h": "// ${generated_comment}\n${npu_variable_type}\n",
}


@pytest.fixture
def ascend(tmp_path: Path) -> Path:
    """The example of Ascend, with files of that shape."""
    for name, text in ASCEND.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("specset.toml", "hooks.py"):
        shutil.copy(EXAMPLE / name, tmp_path)
    return tmp_path


def build(folder: Path) -> dict[str, str]:
    """The files of the description, without a message."""
    shutil.rmtree(folder / "generated", ignore_errors=True)
    status, _, errors = forked.gradmill(["specs=."], folder)
    assert (status, errors) == (0, "")
    (made,) = (folder / "generated").iterdir()
    return {name: data.decode() for name, data in files_in(made).items()}


# ---- the rules of the vendor's generator, `gen_variable_type_func` and the like, on the files that PyTorch's writes

PLAIN = """\
if (std::getenv("TORCH_NPU_USE_COMPATIBLE_IMPL") == nullptr || \
std::string(std::getenv("TORCH_NPU_USE_COMPATIBLE_IMPL")) != "1") {
    %s}"""
WRAPPED = {"matmul", "matmul.out", "matmul_backward"}
KERNEL = re.compile(r"^\S[^\n]* (\w+)\(c10::DispatchKeySet ks[^\n]*\{\n.*?^\}$", re.MULTILINE | re.DOTALL)
REGISTRATION = re.compile(r'^    m\.impl\("([\w.]+)",\n *TORCH_FN\(VariableType::(\w+)\)\n *\);$', re.MULTILINE)


def by_rules(plain: dict[str, str], own: set[str]) -> dict[str, str]:
    """The files as the vendor's generator changes them. `own`: the operators of its `custom` lists."""
    kernels = plain["VariableType_0.cpp"]
    operators = {match[2]: match[1] for match in REGISTRATION.finditer(kernels)}

    def kernel(match: re.Match[str]) -> str:
        text, operator = match[0], operators[match[1]]
        if operator.startswith("matmul_backward"):
            text = re.sub(r"unpack\((\w+), [^)]*\)", r"\1", text)
        if operator in own:
            if "_outf(" in text:
                text = re.sub(r"at::redispatch::(\w+)_outf", r"at_npu::redispatch::\1_out", text)
            else:
                text = text.replace("at::redispatch", "at_npu::redispatch")
            text = text.replace("_symint", "")
        return text

    def registration(match: re.Match[str]) -> str:
        if match[1] not in WRAPPED:
            return match[0]
        piece = "\n".join(line.removeprefix("    ") for line in match[0].split("\n"))
        return "\n".join(f"    {line}" for line in (PLAIN % f"{piece}\n").split("\n"))

    changed = {"VariableType_0.cpp": REGISTRATION.sub(registration, KERNEL.sub(kernel, kernels))}
    changed["VariableTypeEverything.cpp"] = changed["VariableType_0.cpp"]
    for name, text in plain.items():
        if name.startswith(("Functions", "python_functions")):
            changed[name] = text.replace("_symint", "")
        if name.startswith("ADInplaceOrViewType"):
            changed[name] = re.sub(r"at::_ops::(\w+)::redispatch", r"at_npu::redispatch::\1", text)
    return {**plain, **changed}


def own_operators(folder: Path) -> set[str]:
    texts = [(folder / name).read_text().partition("\ncustom:\n")[2] for name in ASCEND if "functions.yaml" in name]
    return {name for text in texts for name in re.findall(r"- func: (?:\w+::)?([\w.]+)\(", text)}


def check_rules(folder: Path) -> dict[str, str]:
    """The files of the description, which are those that the rules give."""
    actual = build(folder)
    description = folder / "specset.toml"
    hooks = 'hooks = "hooks.py"\n'
    assert description.read_text().count(hooks) == 1
    description.write_text(description.read_text().replace(hooks, ""))
    plain = build(folder)
    assert actual == by_rules(plain, own_operators(folder)) and actual != plain
    return actual


# ---- ordinary edits

OPTIONS = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
CONFIG = "third_party/op-plugin/op_plugin/config"
FUNCTIONS, DERIVATIVES = f"{CONFIG}/op_plugin_functions.yaml", f"{CONFIG}/derivatives.yaml"
BOTH = (FUNCTIONS, DERIVATIVES)
FUNCTION, DEFINITION = "symint:\n", "- name: npu_scaled_"  # what is added stands before these


def new(functions: str, derivatives: str = "") -> list[tuple[str, str, str]]:
    """The edits that add functions, and definitions of their derivatives."""
    listed = [(FUNCTIONS, FUNCTION, functions), (DERIVATIVES, DEFINITION, derivatives)]
    return [(file, at, f"{text}{at}") for file, at, text in listed if text]


def function(schema: str, *keys: str) -> str:
    return "".join([f"  - func: {schema}\n", *(f"    {key}\n" for key in keys or ("op_api: all_version",))])


def definition(schema: str, *lines: str) -> str:
    return "".join([f"- name: {schema}\n", *(f"  {line}\n" for line in (*lines, "version: all_version"))])


def own(schema: str, *lines: str, keys: tuple[str, ...] = (), more: str = "") -> list[tuple[str, str, str]]:
    """The edits that add a function with derivatives, and `more` functions without."""
    return new(function(schema, *keys) + more, definition(schema, *lines))


KERNELS = "VariableType_0.cpp"
SIZED = "(Tensor self, int[] size) -> Tensor"
SIZED_OUT = ".out(Tensor self, int[] size, *, Tensor(a!) out) -> Tensor(a!)"
RANDOM = ("op_api: [v2.1, newest]", "tags: nondeterministic_seeded")
SHUFFLE = "npu_shuffle(Tensor self, *, Generator? generator=None) -> (Tensor, Tensor, Tensor)"
ADDCMUL = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"
RELU = "- name: relu(Tensor self) -> Tensor\n  self: threshold_backward(grad, result, 0)\n  version: v2.13\n"
EDITS: dict[str, tuple[list[tuple[str, str, str]], dict[str, str]]] = {  # edits, and what files then have
    "out": (
        own(f"npu_widen{SIZED}", "self: grad", more=function(f"npu_widen{SIZED_OUT}")),
        {KERNELS: "at_npu::redispatch::npu_widen_out("},
    ),
    "factory": (
        own(f"npu_make(Tensor self, {OPTIONS}) -> Tensor", "self: grad"),
        {"variable_factories.h": "Tensor npu_make("},
    ),
    "view": (
        own("npu_seen(Tensor(a) self, SymInt[] size) -> Tensor(a)", "self: grad.reshape_symint(self.sym_sizes())"),
        {KERNELS: "at_npu::redispatch::npu_seen(", "Functions.cpp": "grad.reshape("},
    ),
    "foreach": (new(function("npu_scale_list(Tensor[] self, float by) -> Tensor[]")), {}),
    "inplace": (
        own(
            "npu_zap(Tensor self, SymInt n) -> Tensor",
            "self: grad * n",
            more=function("npu_zap_(Tensor(a!) self, SymInt n) -> Tensor(a!)"),
        ),
        {KERNELS: "at_npu::redispatch::npu_zap_("},
    ),
    "generator": (
        own("npu_noise(Tensor self, *, Generator? generator=None) -> Tensor", "self: grad", keys=RANDOM),
        {KERNELS: "at_npu::redispatch::npu_noise("},
    ),
    "namespace": (
        own("second::npu_far(Tensor self) -> Tensor", "self: grad"),
        {KERNELS: "at_npu::redispatch::npu_far("},
    ),
    "removed": (
        [(DERIVATIVES, ASCEND[DERIVATIVES][ASCEND[DERIVATIVES].index(DEFINITION) :], "")],
        {KERNELS: "at_npu::redispatch::npu_dtype_cast("},
    ),
    "renamed": (
        [(file, "dtype_cast(Tensor self, int dtype, int?", "dtype_cast(Tensor self, int to, int?") for file in BOTH],
        {KERNELS: "at_npu::redispatch::npu_dtype_cast(ks & c10::after_autograd_keyset, self_, to"},
    ),
    "out of its own": (
        new(
            function(f"npu_spread{SIZED}") + function(f"npu_spread{SIZED_OUT}"),
            definition(f"npu_spread{SIZED_OUT}", "self: grad"),
        ),
        {KERNELS: "at_npu::redispatch::npu_spread_out("},
    ),
    "out of PyTorch": (
        new("", definition(ADDCMUL, "self: grad", "tensor1: grad * tensor2", "tensor2: grad * tensor1")),
        {KERNELS: "at::redispatch::addcmul_outf("},
    ),
    "inplace of PyTorch": (
        new("", definition("squeeze_(Tensor(a!) self) -> Tensor(a!)", "self: grad") + RELU),
        {KERNELS: "at::redispatch::squeeze_(", "Functions.h": "struct TORCH_API ReluBackward0"},
    ),
    "several results": (
        own(SHUFFLE, "output_differentiability: [True, False, False]", "self: grad * result1", keys=RANDOM),
        {KERNELS: "at_npu::redispatch::npu_shuffle(", "Functions.h": "SavedVariable result1_;"},
    ),
    "version": (
        [
            ("specset.toml", 'keys = ["acl_op", "op_api"]', 'keys = ["acl_op", "op_api", "sparse"]'),
            *own("npu_thin(Tensor self) -> Tensor", "self: grad", keys=("sparse: all_version",)),
        ],
        {KERNELS: "at_npu::redispatch::npu_thin("},
    ),
}


def edit(folder: Path, edits: list[tuple[str, str, str]]) -> None:
    for file, old, text in edits:
        before = (folder / file).read_text()
        assert before.count(old) == 1, (file, old)
        (folder / file).write_text(before.replace(old, text))


def check_edits(folder: Path, names: list[str]) -> None:
    for name in names:
        edit(folder, EDITS[name][0])
    files = check_rules(folder)
    for name in names:
        for file, text in EDITS[name][1].items():
            assert text in files[file], (name, text)
    assert "_outf(" not in "".join(re.findall(r".*at_npu.*", files[KERNELS]))


def test_every_setting_of_the_description_matches_something(ascend: Path) -> None:
    check_rules(ascend)


def test_the_rules_are_right_after_all_ordinary_edits(ascend: Path) -> None:
    check_edits(ascend, [name for name in EDITS if name != "removed"])


@pytest.mark.slow(4)
@pytest.mark.parametrize("name", EDITS)
def test_the_rules_are_right_after_an_ordinary_edit(name: str, ascend: Path) -> None:
    check_edits(ascend, [name])


# ---- a vendor who prints kernels of PyTorch's operators without two of their parts, by two regular expressions

FLAGOS = EXAMPLE.parent / "flagos.toml"
TWO_HOLES = "${definitions}\nTORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {\n${registrations}\n}\n"
DECOMPOSED = re.compile(
    r"if \(\(.*\)\) \{\n\s*static c10::OperatorName [\s\S]*?\} else \{\n([\s\S]*?)\n\s*\}(?=\n\s*\}\))"
)
USE_COUNT = re.compile(r"if \(\w+\.has_storage\(\) [^\n]*\{\n\s*[^\n]*\.storage\(\)\.use_count\(\) == 1[^\n]*\n\s*\}")
LISTS = {  # of operators, as they may be in the description
    "functional": ["mul.Tensor", "mm"],
    "decomposed": ["sum.dim_IntList", "add.Tensor"],
    "inplace": ["exp_", "mul_.Tensor"],
    "out": ["mm.out"],
    "view": ["view"],
    "foreach": ["_foreach_add.Scalar", "_foreach_pow.ScalarAndTensor"],
    "several results": ["topk"],
    "with SymInt": ["expand"],
}
KEEP = ("inplace", "out", "view", "with SymInt")  # those whose kernels have neither part


@pytest.fixture(scope="module")
def of_pytorch(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The kernels of core, by name."""
    folder = tmp_path_factory.mktemp("kernels")
    forked.gradmill(["specs=core", "families=variable_type", "generated=plain", "cache=cache"], folder).ok()
    text = (folder / "plain" / "VariableTypeEverything.cpp").read_text()
    return {match[1]: match[0] for match in KERNEL.finditer(text)}


def lines_of(text: str) -> list[str]:
    """The lines with text, which that file does not indent."""
    return [line.strip() for line in text.split("\n") if line.strip()]


@pytest.mark.parametrize("name", LISTS)
def test_other_operators_lose_the_same_parts(name: str, tmp_path: Path, of_pytorch: dict[str, str]) -> None:
    (tmp_path / "variable_type.cc").write_text(TWO_HOLES)
    text = FLAGOS.read_text().replace('specs = "torch"', 'specs = "core"')
    listed = f"functions = {LISTS[name]}".replace("'", '"')
    assert text.count('functions = ["matmul"]') == 1
    (tmp_path / "specset.toml").write_text(text.replace('functions = ["matmul"]', listed))
    (made,) = build(tmp_path).values()
    kernels, _, registered = made.partition("TORCH_LIBRARY_IMPL(")
    operators = re.findall(r'm\.impl\("([\w.]+)",\s*TORCH_FN\(VariableType::(\w+)\)', registered)
    assert {each for each, _ in operators} == {*LISTS[name]}
    wanted = [USE_COUNT.sub("", DECOMPOSED.sub(r"\1", of_pytorch[kernel])) for _, kernel in operators]
    assert lines_of(kernels) == lines_of("\n".join(wanted))
    assert wanted != [of_pytorch[kernel] for _, kernel in operators] or name in KEEP


# ---- a vendor who patches PyTorch's own YAML, and runs PyTorch's generator, with one list of operators changed

MUSA = EXAMPLE.parent / "musa.toml"
GENERATOR = """\
import sys
sys.path.insert(0, {tests!r})
from torchgen import native_function_generation
native_function_generation.FUNCTIONAL_OPS_THAT_CANNOT_GET_AN_OUT_VARIANT.append("cross_entropy_loss_2d_choice")
import torchgen_oracle
torchgen_oracle.main()
"""
NATIVE, FORMULAS = "native_functions.yaml", "derivatives.yaml"
PATCHED_FILES = {
    NATIVE: "torch_patches/aten_src_ATen_native_native_functions.yaml.patch",
    FORMULAS: "torch_patches/tools_autograd_derivatives.yaml.patch",
}
CHOICE = "- func: cross_entropy_loss_2d_choice(Tensor self, Tensor target) -> int\n  dispatch:\n    CPU: choice\n\n"
BEFORE, DEFINED_BEFORE = "- func: exp(Tensor self) -> Tensor\n", "- name: exp(Tensor self) -> Tensor\n"


def added(functions: dict[str, str], formulas: str = "") -> list[tuple[str, str, str]]:
    """The edits that add functions, each with its keys, and the definition of the first."""
    kernel = "  dispatch:\n    CPU: kernel\n"
    texts = [f"- func: {schema}\n{keys}{'' if 'dispatch' in keys else kernel}\n" for schema, keys in functions.items()]
    definition = f"- name: {next(iter(functions))}\n{formulas}\n" if formulas else ""
    return [(NATIVE, BEFORE, "".join(texts) + BEFORE), (FORMULAS, DEFINED_BEFORE, definition + DEFINED_BEFORE)]


LOSS = (ROOT / "specs" / "core" / FORMULAS).read_text().partition("- name: mse_loss(")[2].partition("\n\n")[0]
PATCHES: dict[str, list[tuple[str, str, str]]] = {
    "out": added(
        {
            "musa_widen(Tensor self, int[] size) -> Tensor": "",
            "musa_widen.out(Tensor self, int[] size, *, Tensor(a!) out) -> Tensor(a!)": "",
        },
        "  self: grad\n",
    ),
    "factory": added({f"musa_make(Tensor self, {OPTIONS}) -> Tensor": ""}, "  self: grad\n"),
    "view": added(
        {
            "musa_seen(Tensor(a) self, SymInt[] size) -> Tensor(a)": "",
            "musa_seen_copy(Tensor self, SymInt[] size) -> Tensor": "  tags: view_copy\n  autogen: musa_seen_copy.out\n"
            "  dispatch:\n    CompositeExplicitAutogradNonFunctional: copy\n",
        },
        "  self: grad.reshape_symint(self.sym_sizes())\n",
    ),
    "foreach": added({"_foreach_musa_halve(Tensor[] self) -> Tensor[]": "  device_check: NoCheck\n"}),
    "inplace": added(
        {"musa_zap(Tensor self, SymInt n) -> Tensor": "", "musa_zap_(Tensor(a!) self, SymInt n) -> Tensor(a!)": ""},
        "  self: grad * n\n  result: auto_linear\n",
    ),
    "generator": added(
        {"musa_noise(Tensor self, *, Generator? generator=None) -> Tensor": "  tags: nondeterministic_seeded\n"},
        "  self: grad\n",
    ),
    "removed": [(FORMULAS, f"- name: mse_loss({LOSS}\n\n", "")],
    "renamed": [
        *(
            (
                NATIVE,
                f"_log_softmax{out}(Tensor self, int dim, bool half_to_float",
                f"_log_softmax{out}(Tensor self, int dim, bool wide",
            )
            for out in ("", ".out")
        ),
        (
            FORMULAS,
            "_log_softmax(Tensor self, int dim, bool half_to_float)",
            "_log_softmax(Tensor self, int dim, bool wide)",
        ),
    ],
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The set core without functions of another namespace, which PyTorch's YAML has none of."""
    folder = tmp_path_factory.mktemp("base")
    shutil.copytree(ROOT / "specs" / "core", folder, dirs_exist_ok=True)
    names = "|".join(re.findall(r"- func: gradmill::(\w+)", (folder / NATIVE).read_text()))
    for file in PATCHED_FILES:
        entries = (folder / file).read_text().split("\n\n")
        kept = [entry for entry in entries if not re.search(rf"gradmill::|- name: ({names})\(", entry)]
        (folder / file).write_text("\n\n".join(kept).rstrip("\n") + "\n")
    return folder


def check_patches(folder: Path, base: Path, names: list[str]) -> None:
    """The files of the description are those that PyTorch's generator prints for the patched YAML."""
    patched = folder / "patched"
    shutil.copytree(base, patched)
    edit(patched, [(NATIVE, BEFORE, CHOICE + BEFORE), *(each for name in names for each in PATCHES[name])])
    shutil.copy(MUSA, folder / "specset.toml")
    edit(folder, [("specset.toml", 'specs = "torch"', f'specs = "{base}"')])
    for file, diff in PATCHED_FILES.items():
        lines = [(each / file).read_text().splitlines(keepends=True) for each in (base, patched)]
        (folder / diff).parent.mkdir(exist_ok=True)
        (folder / diff).write_text("".join(unified_diff(*lines, f"a/{file}", f"b/{file}")))
    made = build(folder)
    files = {"native": NATIVE, "tags": "tags.yaml", "derivatives": FORMULAS, "templates": "templates", "out": "out"}
    words = [f"--{name}={patched / file}" for name, file in files.items()]
    subprocess.run([sys.executable, "-c", GENERATOR.format(tests=str(ROOT / "tests")), *words], check=True)
    expected = files_in(patched / "out")
    different = [name for name, data in expected.items() if made.get(name) != data.decode()]
    assert expected and different == []


def test_patches_of_pytorchs_yaml_give_what_its_generator_prints(tmp_path: Path, base: Path) -> None:
    check_patches(tmp_path, base, [*PATCHES])


@pytest.mark.slow(4)
@pytest.mark.parametrize("name", [name for name in PATCHES if name != "foreach"])  # which alone needs no second patch
def test_a_patch_of_pytorchs_yaml_gives_what_its_generator_prints(name: str, tmp_path: Path, base: Path) -> None:
    check_patches(tmp_path, base, [name])
