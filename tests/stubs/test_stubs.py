"""The stubs of a backend: its files, the verdict on what is wrong, what an edit writes, `gradmill backend-stubs`.

All releases and files of vendors: python -m tests.campaigns releases --only stubs
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import forked
import pytest
from checkouts import PLACES, TESTS
from cli.test_generate_code import Checkout, make
from project import CORE, Run, files_in
from releases.stubs import Case, Made, by_torchgen, definitions, with_classes, without_meta
from vendors.vendor import Vendor

TEXT = (TESTS / "lazy" / "ts_native_functions.yaml").read_text()
HEADER, REGISTER, AUTOGRAD = "LazyNativeFunctions.h", "RegisterLazy.cpp", "RegisterAutogradLazy.cpp"
OUT = "out/stubs"


@pytest.fixture(scope="module")
def checkout(torch_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the functions of `core`. Its cache is filled."""
    checkout = make(tmp_path_factory.mktemp("stubs") / "pytorch", CORE.joinpath, torch_specs)
    (checkout.root / "first.yaml").write_text(TEXT)
    assert stubs(checkout, "first.yaml").stderr == ""
    return checkout


def stubs(checkout: Checkout, file: object, *words: object, out: object = OUT) -> Run:
    return checkout.run("backend-stubs", "specs=.", "-s", str(file), "-o", str(out), *map(str, words))


def edited(edits: dict[str, str]) -> str:
    text = TEXT
    for old, new in edits.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


# ---- equality


def test_the_files_are_what_torchgen_writes(checkout: Checkout, tmp_path: Path) -> None:
    """Also what its own command line names as the generator, and the folder by which files include others."""
    words = ["--source-yaml", "first.yaml", "--output_dir", "./out//by torchgen"]
    command = [sys.executable, "-m", "torchgen.gen_backend_stubs", *words]
    subprocess.run(command, cwd=checkout.root, check=True)
    expected = files_in(checkout.root / "out" / "by torchgen")
    assert [*expected] == [HEADER, AUTOGRAD, REGISTER]
    for path in (checkout.root / "out" / "by torchgen").iterdir():
        path.unlink()
    checkout.run("backend-stubs", "specs=.", *words).clean()
    assert files_in(checkout.root / "out" / "by torchgen") == expected
    assert checkout.run("backend-stubs", "specs=.", *words).ran == []


def test_the_specs_and_templates_of_the_checkout_are_read(checkout: Checkout, tmp_path: Path) -> None:
    """As a run reads them, and as PyTorch's program does, which is the checkout's own there."""
    words, root = ("-s", "first.yaml", "-o", "out/own"), checkout.root
    template = root / "aten/src/ATen/templates/RegisterDispatchKey.cpp"
    before = template.read_text()
    template.write_text(f"// of this checkout\n{before}")
    try:
        run = checkout.run("backend-stubs", *words).ok()
        checkout.run("backend-stubs", "specs=.", "-s", "first.yaml", "-o", "out/named").clean()
    finally:
        template.write_text(before)
    assert run.stderr.startswith("specs=.: the spec set of this folder, which has aten/src/ATen/native/")
    assert (root / "out/own" / REGISTER).read_text().startswith("// of this checkout\n")
    assert files_in(root / "out/own").keys() == files_in(root / "out/named").keys()
    elsewhere = tmp_path / "plugin"
    elsewhere.mkdir()
    (elsewhere / "first.yaml").write_text(TEXT)
    forked.gradmill(["backend-stubs", *words], elsewhere).clean()
    assert "// of this checkout" not in (elsewhere / "out/own" / REGISTER).read_text()


AUTOGRAD_LIST = "autograd:\n  - pixel_shuffle\n  - native_layer_norm\n  - lerp.Scalar\n"
NO_KERNEL = TEXT[TEXT.index("full_codegen:") :]
RIGHT = (
    {"backend: Lazy\n": "backend: XLA\ndevice_guard: true\nclass_name: A\n", "torch::lazy\n": "mine\n"},
    {"backend: Lazy\n": "backend: HPU\nuse_out_as_primary: true\nclass_name:\n", AUTOGRAD_LIST: ""},
    {"backend: Lazy\n": "backend: PrivateUse1\nclass_name: 1\n", "  - softplus\n  - index_add\n": "  [a., 1]\n"},
    {"  - softplus\n": "  - softpluss\n", "symint:\n": "symint:\n  - mv\n", "  - topk\n": "  - topk\n  - topk\n"},
    {NO_KERNEL: "supported:\nautograd: []\n"},
    {NO_KERNEL: f"{AUTOGRAD_LIST}  - _foreach_add.Scalar\n"},
    {"backend: Lazy\n": "backend: XLA\nclass_name: [A, 1, ~]\n"},
)
IGNORED = (
    "warning: mv: 'mv' has no kernel: torchgen ignores it here [ignored-operator]",
    "warning: topk: 'topk' is twice in supported [listed-twice]",
)
WRONG = {  # an edit -> the place and the beginning of its message
    ("backend: Lazy\n", ""): "2:1: error: the file has no value for 'backend'",
    ("cpp_namespace: torch::lazy\n", ""): "2:1: error: the file has no value for 'cpp_namespace'",
    ("torch::lazy\n", "a::b::c::d\n"): "3:16: error: 'a::b::c::d' is more than 3 namespaces",
    ("backend: Lazy", "backend: Lasy"): "2:10: error: unknown dispatch key 'Lasy'",
    ("backend: Lazy", "backend: NPU"): "hint: write PrivateUse1, the key of backends outside of PyTorch",
    ("backend: Lazy", "backend: CPU"): "2:10: error: the kernels of 'CPU' are in native_functions.yaml",
    ("backend: Lazy\n", "backend: SparseCPU\n"): "2:10: error: 'SparseCPU' has no key for autograd",
    ("backend: Lazy\n", "backend: Lazy\nextra_headers: a.h\n"): "3:1: error: unknown key 'extra_headers'",
    ("backend: Lazy\n", "backend: Lazy\ndevice_guard: 1\n"): "3:15: error: device_guard is neither true nor false",
    ("full_codegen:\n", "full_codegen: abs\nir_gens:\n"): "4:15: error: full_codegen is not a list",
    (AUTOGRAD_LIST, "autograd: {}\n"): "error: autograd is not a list",
    ("  - topk\n", "  - topq\n"): "error: topq: no function is called 'topq'",
    ("  - abs\n", "  - abz\n"): "5:5: error: abz: no function is called 'abz'",
    ("  - topk\n", "  - [topk]\n"): "error: an item of supported is not the name of an operator",
    ("  - topk\n", "  - func: topk\n    structured: true\n"): "error: an item of supported is not the name of",
    ("  - lerp.Scalar\n", "  - mul.out\n"): "error: mul.out: 'mul.out' has a kernel for autograd, and 'mul.Tensor'",
    ("  - topk\n", "  - _foreach_add.Scalar\n"): "error: _foreach_add.Scalar: '_foreach_add_.Scalar' cannot be made",
    ("symint:\n", "symint:\n  - mul.Tensor\n"): "error: mul.Tensor: the kernel of 'mul.Tensor' cannot take SymInt",
    (
        "  - topk\n",
        "  - topk: {structured: true}\n",
    ): "topk: 'topk' is not the structured variant: it delegates to 'topk",
    ("  - topk\n", "  - _to_copy: {structured: true}\n"): "_to_copy: '_to_copy' has no meta function: native_functions",
    (
        "  - topk\n",
        "  - mul.out: {structured: true}\n",
    ): "error: mul.out: 'mul.Tensor' has a kernel, and the structured",
    (
        "symint:\n",
        "  - mm.out: {structured: true}\nsymint:\n  - mm.out\n",
    ): "mm.out: the kernel of 'mm.out' cannot take SymInt",
    ("  - topk\n", "  - mm.outs: {structured: true}\n"): "error: mm.outs: no function is called 'mm.outs'",
    ("  - topk\n", "  - mm.out: {structred: true}\n"): "error: unknown option 'structred'",
    ("  - topk\n", "  - mm.out: {structured: 1}\n"): "error: structured is neither true nor false",
    ("  - topk\n", "  - mm.out:\n"): "error: 'mm.out' has no options",
    ("  - topk\n", "  - mm.out: {device_guard: 0}\n"): "error: device_guard is neither true nor false",
    ("  - topk\n", "  - mm.out: {define_meta: true}\n"): "error: 'mm.out' has define_meta, and is not structured",
    ("  - topk\n", "  - mm.out:\n    define_mta: true\n"): "error: unknown option 'define_mta'\n",
    ("  - lerp.Scalar\n", "  - lerp.Scalar_out: {structured: true}\n"): "error: an item of autograd is not the name of",
}
STRUCTURED = ("max.dim_max", "mul.out", "topk.values", "mm.out", "index_add.out", "cat.out", "eq.Tensor_out")


def test_both_come_to_one_verdict_and_to_the_same_files(checkout: Checkout, tmp_path: Path) -> None:
    """For structured kernels, the files that torchgen would write if it did not reject them for a backend."""
    texts = [*map(edited, RIGHT), *(edited(dict([edit])) for edit in WRONG)]
    cases = [Case(tmp_path / f"{number}.yaml") for number in range(len(texts))]
    for case, text in zip(cases, texts):
        case.file.write_text(text)
    guards = ("true", "false")
    functions, symint = ["relu", "gelu.out"], {"true": ["topk.values"], "false": []}
    classes = [with_classes(tmp_path / f"{each}.yaml", STRUCTURED, functions, each, symint[each]) for each in guards]
    *wanted, guarded, unguarded = by_torchgen(checkout.root, [*cases, *classes], tmp_path / "torchgen")
    for case, expected in zip(cases[: len(RIGHT)], wanted):
        assert run_of(checkout, case) == expected == Made("", expected.files)
    assert [len(each.files) for each in wanted[: len(RIGHT)]] == [3, 2, 3, 3, 0, 0, 3]
    for case, expected in zip(classes, (guarded, unguarded)):
        assert run_of(checkout, case) == expected == Made("", expected.files)
    assert guarded.files != unguarded.files
    assert b"topk_values_symint : public" in guarded.files["PrivateUse1NativeFunctions.h"]
    for case, expected, message in zip(cases[len(RIGHT) :], wanted[len(RIGHT) :], WRONG.values()):
        error = run_of(checkout, case).error
        assert expected.error and re.search(rf"^{case.file}:\d+:\d+: error: ", error), (message, expected.error)
        assert message in error and "hint: " in error


@pytest.mark.parametrize("name", ["M(", "M)", "(M)", "M*"])
def test_a_class_that_is_no_name_is_refused_if_torchgen_looks_for_its_kernels(
    checkout: Checkout, tmp_path: Path, name: str
) -> None:
    file, kernels = tmp_path / "backend.yaml", tmp_path / "kernels.cpp"
    file.write_text(f"backend: XLA\ncpp_namespace: a\nclass_name: '{name}'\nsupported:\n- abs\n")
    kernels.write_text("at::Tensor M::abs(const at::Tensor &) {}\n")
    (expected,) = by_torchgen(checkout.root, [Case(file, kernels)], tmp_path / "torchgen")
    run = stubs(checkout, file, "--impl-path", kernels)
    assert (run.status, bool(expected.error)) == ((0, False) if name == "M*" else (1, True))
    assert (f"class_name '{name}' is not the name of a class" in run.stderr) == bool(expected.error)


ODD = "\n- func: odd(Tensor self) -> Tensor\n\n- func: odd.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"


def test_variants_that_do_not_go_together_are_refused_as_torchgen_does(checkout: Checkout, tmp_path: Path) -> None:
    path = checkout.root / PLACES["native_functions.yaml"]
    before, case = path.read_text(), Case(checkout.root / "first.yaml")
    try:
        path.write_text(before + ODD.replace("odd.out", "mine::odd.out"))
        (expected,) = by_torchgen(checkout.root, [case], tmp_path / "torchgen")
        assert "functional.namespace (aten) != out.namespace (mine)" in expected.error
        assert "'odd.out' is in namespace 'mine', its variant in 'aten'" in run_of(checkout, case).error
    finally:
        path.write_text(before)


def test_what_torchgen_ignores_is_a_warning(checkout: Checkout, tmp_path: Path) -> None:
    file = tmp_path / "backend.yaml"
    file.write_text(edited(RIGHT[3]))
    assert re.findall("warning: .*", stubs(checkout, file).stderr) == [*sorted(IGNORED, reverse=True)]
    file.write_text(edited(RIGHT[5]))
    ran = stubs(checkout, file)
    assert f"{file}:2:10: warning: supported is empty: torchgen writes no file" in ran.stderr


def test_kernels_must_be_defined(checkout: Checkout, tmp_path: Path) -> None:
    first, kernels, missing = checkout.root / "first.yaml", tmp_path / "kernels.cpp", tmp_path / "missing.cpp"
    assert stubs(checkout, first).status == 0
    kernels.write_text(definitions((checkout.root / OUT / HEADER).read_text(), "LazyNativeFunctions"))
    text = kernels.read_text()
    lines = text.splitlines(keepends=True)
    missing.write_text("".join(line for line in lines if "::mul(" not in line).replace("::cat(", "::cat::cat("))
    twice = tmp_path / "twice.cpp"
    twice.write_text(text + next(line for line in lines if "::abs(" in line))
    cases = [Case(first, each) for each in (kernels, missing, twice)]
    wanted = by_torchgen(checkout.root, cases, tmp_path / "torchgen")
    assert [bool(each.error) for each in wanted] == [False, True, True]
    errors = [stubs(checkout, case.file, "--impl-path", case.kernels).stderr for case in cases]
    assert errors[0] == ""
    assert re.findall("error: .*", errors[1]) == [
        f"error: {name}: missing.cpp defines LazyNativeFunctions::{kernel} 0 times, not once"
        for name, kernel in (("cat", "cat"), ("mul.Tensor", "mul"))
    ]
    assert (
        "  hint: define, in the class LazyNativeFunctions: static at::Tensor mul(const at::Tensor & self" in errors[1]
    )
    assert "error: abs: " in errors[2] and " defines LazyNativeFunctions::abs 2 times, not once" in errors[2]
    kernels.write_text(f"// A comment.\n{text}")
    assert stubs(checkout, first, "--impl-path", kernels).shards == []


def test_structured_kernels_must_be_defined_once(checkout: Checkout, tmp_path: Path) -> None:
    """By their names, or by a macro: overloads of a function have kernels of their own."""
    file, kernels = tmp_path / "backend.yaml", tmp_path / "kernels.cpp"
    with_classes(file, ["mul.out", "pow.Scalar_out", "pow.Tensor_Tensor_out", "mm.out"], ["relu"], "true")
    kernels.write_text(
        "at::Tensor PrivateUse1NativeFunctions::relu(const at::Tensor& self) {}\n"
        "void PrivateUse1NativeFunctions::structured_mul_out::impl(const at::Tensor& self) {}\n"
        "#define OWN_IMPL_FUNC(name) void PrivateUse1NativeFunctions::structured_##name::impl\n"
        "OWN_IMPL_FUNC(pow_Scalar_out)(const at::Scalar& self) {}\nOWN_IMPL_FUNC(mm_out)(const at::Tensor& self) {}\n"
        "OWN_IMPL_FUNC(mm_out)(const at::Tensor& self) {}\n"
    )
    ran = stubs(checkout, file, "--impl-path", kernels)
    name = "PrivateUse1NativeFunctions::structured"
    assert re.findall("error: .*", ran.stderr) == [
        f"error: pow.Tensor_Tensor_out: kernels.cpp defines {name}_pow_Tensor_Tensor_out 0 times, not once",
        f"error: mm.out: kernels.cpp defines {name}_mm_out 2 times, not once",
    ]
    assert f"define void {name}_pow_Tensor_Tensor_out::impl(const at::Tensor & self, const at" in ran.stderr


OPTIONS = """\
backend: PrivateUse1
cpp_namespace: a::b::c
device_guard: true
supported:
  - mul.out: {structured: true}
  - index_add.out: {structured: true}
  - relu
"""


def test_options_that_torchgen_has_in_an_open_pull_request(checkout: Checkout, tmp_path: Path) -> None:
    """Without its guard an operator is as without the backend's, written in one mapping or as keys next to it."""

    def made(text: str) -> tuple[str, str]:
        (tmp_path / "options.yaml").write_text(text)
        stubs(checkout, tmp_path / "options.yaml").clean()
        files = files_in(checkout.root / OUT)
        return files["PrivateUse1NativeFunctions.h"].decode(), files["RegisterPrivateUse1.cpp"].decode()

    header, register = made(OPTIONS)
    assert "namespace a {\nnamespace b {\nnamespace c {\n" in header and " a::b::c::PrivateUse1" in register
    unguarded = OPTIONS.replace("true}", "true, device_guard: false}").replace("relu", "relu: {device_guard: false}")
    assert made(unguarded) == made(OPTIONS.replace("guard: true", "guard: false")) != (header, register)
    assert made(re.sub(r": \{(.*), (.*)\}", r":\n    \1\n    \2", unguarded)) == made(unguarded)
    own, same = made(OPTIONS.replace("true}", "true, define_meta: true}"))
    assert same == register
    assert [line for line in own.splitlines() if line not in header.splitlines()] == [
        "using base = at::meta::structured_index_add;",
        "meta_return_ty meta(const at::Tensor & self, int64_t dim, const at::Tensor & index,"
        " const at::Tensor & source, const at::Scalar & alpha);",
        "using base = at::meta::structured_mul_Tensor;",
        "void meta(const at::Tensor & self, const at::Tensor & other);",
    ]


def test_own_meta_functions_must_be_defined(checkout: Checkout, tmp_path: Path) -> None:
    file, kernels, name = tmp_path / "backend.yaml", tmp_path / "kernels.cpp", "PrivateUse1NativeFunctions::structured"
    file.write_text(OPTIONS.replace("true}", "true, define_meta: true}").replace("  - relu\n", ""))
    kernels.write_text(
        f"OWN_IMPL_FUNC(mul_out)() {{}}\nvoid {name}_mul_out::meta() {{}}\nOWN_IMPL_FUNC(index_add_out)()"
    )
    ran = stubs(checkout, file, "--impl-path", kernels)
    assert re.findall("error: .*", ran.stderr) == [
        f"error: index_add.out: kernels.cpp defines {name}_index_add_out::meta 0 times, not once"
    ]
    assert f"define {name}_index_add_out::meta_return_ty {name}_index_add_out::meta(const at::Tensor & se" in ran.stderr
    kernels.write_text(kernels.read_text() + "\nOWN_META_FUNC(index_add_out)() {}\n")
    assert stubs(checkout, file, "--impl-path", kernels).status == 0


def run_of(checkout: Checkout, case: Case) -> Made:
    ran = stubs(checkout, case.file)
    return Made(ran.stderr, {}) if ran.status else Made("", without_meta(files_in(checkout.root / OUT)))


# ---- edits

EDITS = (  # an edit -> the units that run, the files that are written
    ({"  - topk\n": "  - topk\n  - mv\n"}, ["mv", "mv_out_out"], [HEADER, REGISTER]),
    ({"  - lerp.Scalar\n": ""}, [], [HEADER, AUTOGRAD]),
    ({"symint:\n": "symint:\n  - repeat\n"}, ["repeat"], [HEADER, REGISTER]),
    ({"  - index_add\n": "", "opkind: lazy_noise": "opkind: x", "backend: Lazy\n": "# Ours.\nbackend: Lazy\n"}, [], []),
    ({"  - topk\n": "", "  - abs\n": "  - abs\n  - topk\n"}, [], []),
)


@pytest.mark.parametrize(("edits", "units", "files"), EDITS)
def test_an_edit_writes_the_files_that_differ(
    checkout: Checkout, tmp_path: Path, edits: dict[str, str], units: list[str], files: list[str]
) -> None:
    file, out = tmp_path / "backend.yaml", tmp_path / "out"
    file.write_text(TEXT)
    assert stubs(checkout, file, out=out).status == 0
    file.write_text(edited(edits))
    ran = stubs(checkout, file, out=out)
    assert (ran.units, sorted(ran.shards)) == ([f"Stub::{name}" for name in units], sorted(files))
    made = files_in(out)
    (file.parent / "other").mkdir()
    assert stubs(checkout, file, f"cache={tmp_path / 'cache'}", out=out).shards == []
    assert files_in(out) == made


TANH = ["tanh", "tanh_out_out", "tanh_"]  # as units


def test_another_structured_kernel_renders_its_variants_alone(checkout: Checkout, tmp_path: Path) -> None:
    """The order of operators in the list does not matter."""
    file, out = tmp_path / "backend.yaml", tmp_path / "out"
    for operators, units in ((["mul.out", "exp.out"], None), (["tanh.out", "exp.out", "mul.out"], TANH)):
        with_classes(file, operators, ["relu"], "true")
        ran = stubs(checkout, file, out=out)
        assert units is None or (ran.units, len(ran.shards)) == ([f"Stub::{name}" for name in units], 2)
    header = (out / "PrivateUse1NativeFunctions.h").read_text()
    assert re.findall(r"ops/(\w+)_meta.h", header) == ["exp", "mul", "tanh"]


def test_the_registration_of_autograd_goes_with_its_last_operator(checkout: Checkout, tmp_path: Path) -> None:
    file, out = tmp_path / "backend.yaml", tmp_path / "out"
    out.mkdir()
    (out / "RegisterXLA.cpp").write_text("// Not gradmill's.\n")
    for text, names in ((TEXT, {AUTOGRAD}), (edited({AUTOGRAD_LIST: ""}), set())):
        file.write_text(text)
        assert stubs(checkout, file, out=out).status == 0
        assert {path.name for path in out.iterdir()} == {HEADER, REGISTER, "RegisterXLA.cpp", *names}


# ---- the command, and other ways to name a backend

REFUSED = {
    ("-o", "x"): "backend-stubs: --source-yaml is missing\n  write --source-yaml PATH",
    ("-s", "first.yaml"): "backend-stubs: --output-dir is missing\n  write --output-dir PATH",
    ("--source_yaml=", "-o", "x"): "backend-stubs: --source-yaml: the path is empty",
    ("-s", "first.yml", "-o", "x"): "--source-yaml first.yml: there is no such file\n  did you mean 'first.yaml'?",
    ("-s", "out", "-o", "x"): "--source-yaml out: this is a folder\n  name a file",
    ("-s", "first.yaml", "-o", "x", "--impl-path", "k.cpp"): "--impl-path k.cpp: there is no such file",
    ("-s", "first.yaml", "-o", "x", "--dry-run"): "--dry-run: expected one argument",
    ("-s", "first.yaml", "-o", "x", "--impl-paht=k.cpp"): "'--impl-paht=k.cpp' is not expected here",
    ("-s", "first.yaml", "-o", "x", "families=nodes"): "families=nodes: the arguments determine it",
}


@pytest.mark.parametrize(("words", "message"), REFUSED.items())
def test_what_the_command_does_not_take_is_refused(checkout: Checkout, words: tuple[str, ...], message: str) -> None:
    ran = checkout.run("backend-stubs", "specs=.", *words)
    assert (ran.status, ran.stdout) == (3, "")
    assert message in ran.stderr


def test_a_dry_run_reports_errors_and_writes_nothing(checkout: Checkout, tmp_path: Path) -> None:
    """As with torchgen, any word means yes."""
    words = ("-o", str(tmp_path / "out"), "--dry_run", "False")
    assert checkout.run("backend-stubs", "specs=.", "-s", "first.yaml", *words).status == 0
    (tmp_path / "wrong.yaml").write_text(edited({"  - topk\n": "  - topq\n"}))
    ran = checkout.run("backend-stubs", "specs=.", "-s", str(tmp_path / "wrong.yaml"), *words)
    assert ran.status == 1 and "no function is called 'topq'" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_variables_name_a_backend_next_to_other_families(checkout: Checkout, tmp_path: Path) -> None:
    words = ["specs=.", "cache=build/gradmill", f"generated={tmp_path / 'out'}", "backend_yaml=first.yaml"]
    checkout.run(*words, "families=factories,backend_stubs").ok()
    assert {HEADER, REGISTER, "variable_factories.h"} < {*files_in(tmp_path / "out")}
    assert f'#include "{tmp_path}/out/{HEADER}"' in (tmp_path / "out" / REGISTER).read_text()
    explained = checkout.run("explain", "Stub::topk", *words, "families=factories,backend_stubs")
    assert "RegisterLazy.cpp" in explained.stdout
    checkout.run("diff", "--code", "against=.", *words, "families=backend_stubs").clean()
    ran = checkout.run(*words, "families=factories")
    assert "backend_yaml=first.yaml: no requested family reads it" in ran.stderr
    ran = checkout.run(*words[:3], "families=backend_stubs")
    assert "'backend_stubs' is made from the YAML file of a backend" in ran.stderr
    assert "also write backend_yaml=FILE" in ran.stderr


DESCRIBED = """\
[[backend]]
file = "old.yaml"
until = "2.5"

[[backend]]
file = "backend.yaml"
kernels = "kernels.cpp"
since = "2.6"
"""
BACKEND = "backend: PrivateUse1\ncpp_namespace: accel\nsupported:\n  - add.Tensor\n  - swish\n"


def test_a_description_names_a_backend(torch_specs: Path, tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    templates = torch_specs / "ATen" / "templates"
    (vendor.folder / "base" / "templates" / "ATen").symlink_to(templates)
    vendor.replace("specset.toml", "[base]\n", f"{DESCRIBED}\n[base]\n")
    vendor.path("backend.yaml").write_text(BACKEND)
    kernels = "void PrivateUse1NativeFunctions::add() {}\nvoid PrivateUse1NativeFunctions::swish() {}\n"
    vendor.path("kernels.cpp").write_text(kernels)
    vendor.replace("specset.toml", 'name = "accel"\ncomment', 'name = "accel"\nfamilies = ["backend_stubs"]\ncomment')
    made = vendor.build()
    assert '#include "generated/PrivateUse1NativeFunctions.h"' in made["RegisterPrivateUse1.cpp"]
    assert [*made] == ["PrivateUse1NativeFunctions.h", "RegisterPrivateUse1.cpp"]
    assert "accel::PrivateUse1NativeFunctions::swish(self)" in made["RegisterPrivateUse1.cpp"]
    vendor.append("backend.yaml", "  - scaled\n")  # of a layer in another namespace
    ran = vendor.run(families="backend_stubs")
    assert "set/backend.yaml:6:5: error: scaled: no function is called 'scaled'" in ran.stderr
    vendor.path("backend.yaml").write_text(f"{BACKEND}  - mm\n")
    ran = vendor.run(families="backend_stubs")
    assert "error: mm: kernels.cpp defines PrivateUse1NativeFunctions::mm 0 times" in ran.stderr
    for edit, message in (
        (('until = "2.5"', 'until = "2.13"'), "a second backend applies to this release"),
        (('"kernels.cpp"', '"kernel.cpp"'), "there is no file 'kernel.cpp'\n  hint: did you mean 'kernels.cpp'?"),
    ):
        vendor.replace("specset.toml", *edit)
        assert message in vendor.run(families="backend_stubs").stderr
