"""Files of a vendor's own generator: texts of a description next to the stubs that torchgen's rules give, lists of
operators, orders, what an edit writes, and errors.

Files of public generators: python -m tests.vendors.generators DESCRIPTION FOLDER...
"""

from __future__ import annotations

import re
from pathlib import Path

import forked
import pytest

from pipeline.families.own_files import text as own_text
from pipeline.families.own_files.text import render
from pipeline.families.own_files.values import Values
from pipeline.releases.model import Release
from vendors.test_docs import EXAMPLES
from vendors.vendor import Vendor

LISTED = """\
backend: PrivateUse1
cpp_namespace: accel
device_guard: true
use_out_as_primary: true
supported:
  - add.out
  - add_.Tensor
  - add.Tensor
  - chunks
  - sort
  - exp_
  - swish.out
  - swish
symint:
  - chunks
"""
FAST = """\
all_version: [v2.12, v2.13]
fast:
  - func: exp_(Tensor(a!) self, float mine=1) -> Tensor(a!)
    quick: [v2.13, newest]
  - func: add.out
    quick: v2.12
    note: slow
  - func: sort
    quick: v2.12
"""
KINDS = """\
- func: swish
  dispatch:
    CPU, CUDA: swish_fast
"""
TEXTS = '''\
name = "accel"
families = ["own_files"]

[base]
specs = "../base"

[[layer]]
name = "accel"
native = { file = "accel/functions.yaml", list = "custom", drop = "exposed" }

[[facts]]
add.kernel_keys = ["AutogradPrivateUse1"]
add.functional_without_out = ["count"]
add.views = { head = "self" }

[[backend]]
file = "listed.yaml"

[[marks]]
file = "listed.yaml"
list = ["supported", "symint"]

[[marks]]
file = "fast.yaml"
list = "fast"
versions = { keys = "quick", all = "all_version" }

[[marks]]
file = "kinds.yaml"

[family.own_files]
functions = "in:supported"
symint = "in:symint"

[family.own_files.text]
declaration = { text = "static ${returns} ${kernel}(${kernel_parameters});" }
wrapper = { text = "wrapper_PrivateUse1_${overload}_${cpp_name}" }
check = { each = "out positional", where = "tensor", text = """
  c10::impl::check_and_update_common_device(common_device, ${name}, "${wrapper}", "${name}");""" }
checks = [
    { of = "unchecked", text = "  // No device check" },
    { text = """
std::optional<Device> common_device = std::nullopt;
(void)common_device; // Suppress unused variable warning
${check}""" },
]
first = { each = "self out positional", where = "tensor", first = true, text = "${name}" }
definition = { dense = true, text = """
namespace {
${returns} ${wrapper}(${parameters}) {
  ${checks}
  const OptionalDeviceGuard device_guard(device_of(${first}));
  return accel::PrivateUse1NativeFunctions::${kernel}(${passed});
}
} // anonymous namespace""" }
registration = { text = """
m.impl("${operator}",
TORCH_FN(${wrapper}));""" }
mark = [
    { of = "in:kinds", text = "${operator}: ${key_dispatch_CUDA}" },
    { of = "in:fast !key:quick", text = "${operator}: ${key_note}, ${slow}" },
    { of = "key:quick | foreach", text = "${operator}: fast" },
    { of = "all", text = "" },
]
slow = { each = "dispatch", where = "CPU as:CUDA", text = "${key}=${namespace}::${kernel}", empty = "no kernel" }
typed = { each = "arguments", sorted = true, between = "; ", text = "${of_tensor}", before = "${base}: " }
of_tensor = [{ of = "tensor symint", text = "never" }, { of = "tensor", text = "${type}" }]

[family.own_files.file."kernels.h"]
slots.declarations = { piece = "declaration", sorted = true }
[family.own_files.file."kernels.cc"]
order = "groups"
slots.definitions = "definition"
slots.registrations = "registration"
[family.own_files.file."marks.txt"]
order = "marks"
raw = true
slots.marks = { piece = "mark", between = " | " }
[family.own_files.file."types.txt"]
order = "name"
raw = true
slots.types = { piece = ["typed", "mark"], between = "|", once = true }
'''
TEMPLATES = {
    "kernels.h": "// ${generated_comment}\n${declarations}\n",
    "kernels.cc": "// ${generated_comment}\n${definitions}\n${registrations}\n",
    "marks.txt": "// ${generated_comment}\n${marks}\n",
    "types.txt": "// ${generated_comment}\n${types}\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    """The set with its files and a cache. Tests that edit it work on a copy of the description."""
    vendor = described(tmp_path_factory.mktemp("own"))
    vendor.build()
    return vendor


def described(folder: Path) -> Vendor:
    vendor = Vendor(folder)
    for name, text in TEMPLATES.items():
        vendor.path(name).write_text(text)
    vendor.path("listed.yaml").write_text(LISTED)
    vendor.path("fast.yaml").write_text(FAST)
    vendor.path("kinds.yaml").write_text(KINDS)
    templates = "".join(f'\n[family.own_files.file."{name}"]\ntemplate = "{name}"\n' for name in TEMPLATES)
    text = TEXTS
    for block in templates.strip().split("\n\n"):
        head, line = block.split("\n")
        text = text.replace(head, f"{head}\n{line}")
    vendor.path("specset.toml").write_text(text)
    return vendor


def body(text: str) -> str:
    """A file without its comment."""
    return text.partition("\n")[2].removesuffix("\n")


def test_texts_can_say_what_torchgens_stubs_do(built: Vendor, torch_specs: Path) -> None:
    templates = built.folder / "base" / "templates" / "ATen"
    templates.symlink_to(torch_specs / "ATen" / "templates")
    made = built.files()
    stubs = built.build(families="backend_stubs", generated="stubs", cache="other") or {}
    stubs = {path.name: path.read_text() for path in (built.folder / "stubs").iterdir() if path.is_file()}
    declared = stubs["PrivateUse1NativeFunctions.h"].partition("struct PrivateUse1NativeFunctions {\n\n")[2]
    assert body(made["kernels.h"]) == declared.partition("\n\n};")[0]
    sections = re.split(r"\n(?=m\.impl)", body(made["kernels.cc"]), maxsplit=1)
    registered = stubs["RegisterPrivateUse1.cpp"]
    actual = "\n".join(line.strip() for line in registered.split("\n"))
    for section in sections:
        assert "\n".join(line.strip() for line in section.split("\n")) in actual
    assert sections[0].count("namespace {") == sections[1].count("m.impl") == LISTED.count("\n  - ") - 1


def test_lists_select_functions_in_their_order_and_for_a_release(built: Vendor, tmp_path: Path) -> None:
    made = built.files()
    assert body(made["marks.txt"]) == "exp_: fast | swish: swish_fast"
    types = body(made["types.txt"]).split("|")
    assert types[:2] == ["add: const at::Tensor &", "add: at::Tensor &; const at::Tensor &"]
    vendor = described(tmp_path)
    (tmp_path / "base" / "RELEASE").write_text("2.12.1\n")
    assert body(vendor.build()["marks.txt"]) == "add.out: fast | sort: fast | swish: swish_fast"


def test_functions_may_have_the_schemas_of_lists(built: Vendor, tmp_path: Path) -> None:
    vendor = described(tmp_path)
    vendor.replace("specset.toml", 'symint = "in:symint"\n', 'symint = "in:symint"\nlisted_schemas = true\n')
    vendor.replace("fast.yaml", "    quick: [v2.13, newest]\n", "")
    base, exp = tmp_path / "base/native_functions.yaml", "- func: exp_(Tensor(a!) self) -> Tensor(a!)\n"
    base.write_text(base.read_text().replace(exp, f"{exp}  device_check: NoCheck\n"))
    made = vendor.build()
    assert "static at::Tensor & exp_(at::Tensor & self, double mine);" in made["kernels.h"]
    wrapper = made["kernels.cc"].partition("__exp_(at::Tensor & self, double mine) {")[2].partition("}")[0]
    assert "// No device check" in wrapper
    vendor.replace("fast.yaml", "float mine", "flaot mine")
    assert "set/fast.yaml:3:5: error: exp_: " in vendor.run().stderr


def test_an_edit_of_a_list_writes_the_files_that_differ(built: Vendor, tmp_path: Path) -> None:
    vendor = described(tmp_path)
    vendor.build()
    assert vendor.run().ran == []
    vendor.replace("fast.yaml", "    quick: v2.12\n    note: slow\n", "    note: slow\n")
    run = vendor.run()
    assert sorted(run.shards) == ["marks.txt", "types.txt"], run.stderr
    assert (
        body(vendor.files()["marks.txt"]) == "add.out: slow, CPU=at::native::add_out | exp_: fast | swish: swish_fast"
    )
    vendor.replace("listed.yaml", "  - exp_\n", "")
    assert sorted(vendor.run().shards) == sorted(TEMPLATES)


def test_an_edit_renders_the_functions_that_it_affects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a hole takes the texts of all functions, sorted."""
    vendor, rendered = described(tmp_path), tmp_path / "rendered"

    def noting(plan: Values, release: Release) -> dict[str, str]:
        with rendered.open("a") as file:
            file.write(f"{plan.of.facts.operator}\n")
        return render(plan, release)

    def build() -> str:
        words = ["specs=set", "generated=generated", "cache=cache"]
        forked.forked(lambda: forked.run_gradmill(words), ["gradmill", *words], tmp_path).ok()
        return rendered.read_text()

    monkeypatch.setattr(own_text, "render", noting)
    assert "exp_\n" in build()
    rendered.unlink()
    vendor.replace("listed.yaml", "symint:\n  - chunks\n", "symint: []\n")
    assert set(build().split()) == {"chunks"}


def test_a_set_without_such_files_has_none(built: Vendor) -> None:
    run = built.run(specs="base", families="own_files", generated="none", cache="none")
    assert run.status == 3 and "no description names a file of 'own_files'" in run.stderr


def test_the_example_of_docs_is_what_it_says(vendor: Vendor) -> None:
    example = next(text for text in EXAMPLES if 'families = ["own_files"]' in text)
    vendor.path("specset.toml").write_text(f'base = "../base"\n{example}')
    vendor.path("operators.yaml").write_text(
        "all_version: [v2.10, v2.13]\nfast: [add.out, {func: mm, quick: [v2.10, newest]}]\nsymint: []\n"
    )
    vendor.path("codegen").mkdir()
    vendor.path("codegen/wrappers.cpp").write_text("// ${generated_comment}\n${wrappers}\n${registrations}\n")
    made = vendor.build()["wrappers.cpp"]
    assert body(made) == (
        "at::Tensor & wrap_out_add_out(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha,"
        " at::Tensor & out) {\n  check(out);\n  check(self);\n  check(other);\n"
        "  return slow::add_out(self, other, alpha, out);\n}\n"
        "at::Tensor wrap__mm(const at::Tensor & self, const at::Tensor & mat2) {\n  check(self);\n  check(mat2);\n"
        "  return quick::mm(self, mat2);\n}\n"
        'm.impl("add.out", TORCH_FN(wrap_out_add_out));\nm.impl("mm", TORCH_FN(wrap__mm));'
    )


MISSPELT = """\
set/specset.toml:21:10: error: marks: 0: list: there is no list 'suported' in the file
    21 | list = ["suported", "symint"]
       |          ^
  hint: did you mean 'supported'? it has backend, cpp_namespace, device_guard, use_out_as_primary, supported, symint
1 error
"""

# Edits of files, and the messages for them. All edits of a group are made at once.
ERRORS: list[list[tuple[str, str, str, str]]] = [
    [
        ("specset.toml", "static ${returns}", "static ${return}", "'${return}' is unknown here"),
        ("specset.toml", "device_of(${first})", "device_of(${first}${type})", "'${type}' is unknown here"),
        ("specset.toml", 'first = { each = "self out', 'first = { each = "self outs', "there is no list 'outs'"),
        ("specset.toml", 'where = "tensor", first', 'where = "tensors", first', "no argument is 'tensors'"),
        ("specset.toml", 'text = "${key}=', 'text = "${mark}${key}=', "'mark' is within itself"),
        ("specset.toml", "slow = {", "kernel = { first = true }\nslow = {", "'kernel' is the name of a value"),
        ("specset.toml", "kernel = {", "other = { sorted = true }\nkernel = {", "'sorted' is for a text with `each`"),
        ("specset.toml", '{ of = "unchecked"', '{ of = "uncheckd"', "did you mean 'unchecked'?"),
        ("specset.toml", '{ of = "all", text', '{ of = "primary:structurd", text', "did you mean 'structured'?"),
        ("specset.toml", '"key:quick | foreach"', '"functional:kernel:CPUU | foreach"', "did you mean 'CPU'?"),
    ],
    [("specset.toml", 'slow = { each = "dispatch"', 'slow = { each = "results"', "'where' is for items of arguments")],
    [
        (
            "listed.yaml",
            "  - chunks\n  - sort",
            "  - chunk\n  - sort",
            "listed.yaml:9:5: warning: chunk: no",
        ),
        (
            "specset.toml",
            '"in:fast !key:quick"',
            '"in:fist !key:quick"',
            "warning: family: own_files: text: mark: 1",
        ),
        (
            "listed.yaml",
            "symint:\n",
            "symint:\n  - exp_\n",
            "symint: the kernels of exp_ cannot take SymInt: their schemas have none [unused-setting]",
        ),
        ("specset.toml", "typed = {", 'other = { text = "" }\ntyped = {', "text: other: no slot takes the text"),
        ("specset.toml", 'of = "key:quick | foreach"', 'of = "key:quack"', "did you mean 'key:quick'?"),
    ],
    [("specset.toml", 'definitions = "definition"', 'definitions = "defined"', "'own_files' has no piece 'defined'")],
    [("fast.yaml", "  - func: sort\n", "  - fun: sort\n", "set/fast.yaml:8:5: error: an item of fast does not name")],
    [("fast.yaml", "[v2.13, newest]", "[v2.13, newer]", "set/fast.yaml:3:5: error: exp_: 'newer' is not a release")],
    [("fast.yaml", "fast:\n", "fist:\n", "marks: 1: list: there is no list 'fast' in the file\n")],
    [("fast.yaml", "fast:\n", "fast: {\n", "set/fast.yaml:3:3: error: ")],
    [("specset.toml", 'list = ["supported", "symint"]', 'list = ["suported", "symint"]', MISSPELT)],
    [("specset.toml", 'file = "fast.yaml"', 'file = "fst.yaml"', "marks.1.file: there is no file 'fst.yaml'")],
]


@pytest.mark.parametrize("edits", ERRORS, ids=[str(i) for i in range(len(ERRORS))])
def test_what_is_wrong_is_reported(edits: list[tuple[str, str, str, str]], tmp_path: Path) -> None:
    vendor = described(tmp_path)
    for file, old, new, _ in edits:
        vendor.replace(file, old, new)
    stderr = vendor.run().stderr
    assert "Traceback" not in stderr
    for *_, message in edits:
        assert message in stderr, stderr
