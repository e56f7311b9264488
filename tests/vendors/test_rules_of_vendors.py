"""The descriptions in examples, on files of the shape of the vendors': ordinary edits of these give what the vendor's
generator prints, by `generators`. Those of FlagOS are lists of operators, whose kernels lose two parts."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from difflib import unified_diff
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import forked
import pytest
import yaml
from project import ROOT, files_in

from vendors.generators import DECOMPOSED, USE_COUNT

EXAMPLES, SHAPES = ROOT / "examples" / "vendor-descriptions", ROOT / "tests" / "vendors" / "shapes"
NATIVE, TAGS, FORMULAS = "native_functions.yaml", "tags.yaml", "derivatives.yaml"
WRONG_THERE = {"split-group", "untracked-view", "undeclared-call"}
Replacements = list[tuple[str, str, str]]  # in a file, of the one place with a text, by another

# ---- ordinary edits: functions, each with keys of its entry, and definitions of derivatives, each with its lines

OPTIONS = "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
SIZED = "(Tensor self, int[] size) -> Tensor"
SIZED_OUT = ".out(Tensor self, int[] size, *, Tensor(a!) out) -> Tensor(a!)"
MAKE = f"own_make(Tensor self, {OPTIONS}) -> Tensor"
SEEN = "own_seen(Tensor(a) self, SymInt[] size) -> Tensor(a)"
ZAP, ZAP_ = "own_zap(Tensor self, SymInt n) -> Tensor", "own_zap_(Tensor(a!) self, SymInt n) -> Tensor(a!)"
RANDOM = ("tags: nondeterministic_seeded",)
NOISE = "own_noise(Tensor self, *, Generator? generator=None) -> Tensor"
SHUFFLE = "own_shuffle(Tensor self, *, Generator? generator=None) -> (Tensor, Tensor, Tensor)"
ADDCMUL = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor"
DOUBLE = "matmul_double_backward(Tensor? grad, Tensor grad_out, Tensor self, Tensor other, bool[2] mask) -> Tensor"
THIN = "own_thin(Tensor self) -> Tensor"
GRAD = ("self: grad",)


class Edit(NamedTuple):
    functions: dict[str, tuple[str, ...]] = {}
    definitions: dict[str, tuple[str, ...]] = {}


EDITS = {  # in what way a vendor makes one of entries that it has, is among the vendor's `edits`
    "out": Edit({f"own_widen{SIZED}": (), f"own_widen{SIZED_OUT}": ()}, {f"own_widen{SIZED}": GRAD}),
    "factory": Edit({MAKE: ()}, {MAKE: GRAD}),
    "view": Edit({SEEN: ()}, {SEEN: ("self: grad.reshape_symint(self.sym_sizes())",)}),
    "list": Edit({"own_scale_list(Tensor[] self, float by) -> Tensor[]": ()}),
    "foreach": Edit({"_foreach_own_halve(Tensor[] self) -> Tensor[]": ("device_check: NoCheck",)}),
    "inplace": Edit({ZAP: (), ZAP_: ()}, {ZAP: ("self: grad * n", "result: auto_linear")}),
    "generator": Edit({NOISE: RANDOM}, {NOISE: GRAD}),
    "namespace": Edit({"second::own_far(Tensor self) -> Tensor": ()}, {"own_far(Tensor self) -> Tensor": GRAD}),
    "removed": Edit(),
    "renamed": Edit(),
    "version": Edit({}, {THIN: GRAD}),
    "out of its own": Edit({f"own_spread{SIZED}": (), f"own_spread{SIZED_OUT}": ()}, {f"own_spread{SIZED_OUT}": GRAD}),
    "several results": Edit(
        {SHUFFLE: RANDOM}, {SHUFFLE: ("output_differentiability: [True, False, False]", "self: grad * result1")}
    ),
    "twice": Edit({}, {DOUBLE: GRAD}),
    "out of PyTorch": Edit({}, {ADDCMUL: ("self: grad", "tensor1: grad * tensor2", "tensor2: grad * tensor1")}),
    "inplace of PyTorch": Edit({}, {"squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)": GRAD}),
}


class Place(NamedTuple):
    """Where functions or definitions are added: before a text of a file."""

    file: str
    before: str
    keys: tuple[str, ...] = ()  # of each
    indent: str = ""

    def addition(self, key: str, entries: dict[str, tuple[str, ...]]) -> Replacements:
        text = ""
        for schema, keys in entries.items():
            lines = [f"- {key}: {schema}", *(f"  {each}" for each in (*keys, *self.keys))]
            text += "".join(f"{self.indent}{line}\n" for line in lines)
        return [(self.file, self.before, text + self.before)] if text else []


class Vendor(NamedTuple):
    functions: Place
    definitions: Place
    edits: dict[str, Replacements]
    inapplicable: dict[str, str]  # edits that it cannot have, and why
    always: Replacements = []
    patches: dict[str, str] = {}  # of PyTorch's files, if it has none of its own

    def replacements(self, edits: dict[str, Edit]) -> Replacements:
        made: Replacements = []
        for name, each in edits.items():
            made += self.functions.addition("func", each.functions)
            made += self.definitions.addition("name", each.definitions) + self.edits.get(name, [])
        return made

    @property
    def applicable(self) -> dict[str, Edit]:
        return {name: each for name, each in EDITS.items() if name not in self.inapplicable}


def edit(folder: Path, replacements: Replacements) -> None:
    for file, old, text in replacements:
        before = (folder / file).read_text()
        assert before.count(old) == 1, (file, old)
        (folder / file).write_text(before.replace(old, text))


def build(folder: Path) -> dict[str, str]:
    """The files of the description, without a message but those on what the generator prints, too."""
    status, _, errors = forked.gradmill(["specs=."], folder)
    rules = {*re.findall(r" \[([\w-]+)\]$", errors, re.MULTILINE)}
    assert (status, rules - WRONG_THERE, bool(errors)) == (0, set(), bool(rules)), errors
    (made,) = (folder / "generated").iterdir()
    return {name: data.decode() for name, data in files_in(made).items()}


# ---- those who have operators of their own: Ascend; and cosdt, whose files are those of Ascend before it had versions

CONFIG = "third_party/op-plugin/op_plugin/config/"
FUNCTION, DEFINITION = "  - func: npu_dtype_cast(", "- name: npu_dtype_cast("
RENAMED = ("dtype_cast(Tensor self, int dtype, int?", "dtype_cast(Tensor self, int to, int?")
KEPT = {  # the keys of entries that the generator leaves
    "ascend": {"func", "tags", "dispatch", "device_check", "structured", "structured_delegate", "structured_inherits"},
    "cosdt": {"func", "tags", "dispatch"},
}


def with_its_own(vendor: str, functions: Place, definitions: Place, **inapplicable: str) -> Vendor:
    last = {functions.file: "  - func: npu_scaled_", definitions.file: "- name: npu_scaled_"}
    new_key = ("specset.toml", 'keys = ["acl_op", "op_api"]', 'keys = ["acl_op", "op_api", "sparse"]')
    by_new_key = functions._replace(keys=("sparse: all_version",))
    edits = {
        "removed": [
            (file, at + (SHAPES / vendor / file).read_text().partition(at)[2], "") for file, at in last.items()
        ],
        "renamed": [(file, *RENAMED) for file in last],
        "version": [new_key, *by_new_key.addition("func", {THIN: ()})],
    }
    return Vendor(functions, definitions, edits, inapplicable)


def is_selected(entry: dict[str, Any], *keys: str) -> bool:
    """Whether an entry is for torch 2.13, as one of its keys says."""
    values = [entry[key] for key in keys if key in entry]
    return any(value in ("all_version", "v2.13") or value[-1] == "newest" for value in values)


def merge(vendor: str, folder: Path, merged: Path) -> None:
    """Makes of PyTorch's set the one that the vendor's generator reads its own files into."""
    own = []
    for file in sorted(folder.rglob("*functions.yaml"), key=lambda path: path.name):
        if merged not in file.parents:
            entries = yaml.safe_load(file.read_text())["custom"]
            if CONFIG in str(file):
                entries = [each for each in entries if is_selected(each, "acl_op", "op_api", "sparse")]
            own += [{key: each[key] for key in each if key in KEPT[vendor]} for each in entries]
    formulas = yaml.safe_load((folder / VENDORS[vendor].definitions.file).read_text())
    if vendor == "ascend":
        formulas = [each for each in formulas["backward"] if is_selected(each, "version") and each.pop("version")]
    edit(merged, [(NATIVE, "matmul_backward(Tensor grad, ", "matmul_backward(Tensor grad_out, ")])
    with (merged / NATIVE).open("a") as native:
        native.write(yaml.safe_dump(own))
    (merged / FORMULAS).write_text(yaml.safe_dump(formulas, sort_keys=False))
    (templates,) = folder.glob("*/autograd/templates")
    shutil.copytree(templates, merged / "templates", dirs_exist_ok=True)


# ---- those who patch PyTorch's YAML, and run its generator

PATCHED = Place(NATIVE, "- func: exp(Tensor self) -> Tensor\n", ("dispatch: {CPU: kernel}",))
PATCHED_FORMULAS = Place(FORMULAS, "- name: exp(Tensor self) -> Tensor\n")
LOSS = (ROOT / "specs" / "core" / FORMULAS).read_text().partition("- name: mse_loss(")[2].partition("\n\n")[0]
HALF, WIDE = "(Tensor self, int dim, bool half_to_float", "(Tensor self, int dim, bool wide"
COPY = """\
- func: own_seen_copy(Tensor self, SymInt[] size) -> Tensor
  tags: view_copy
  autogen: own_seen_copy.out
  dispatch: {CompositeExplicitAutogradNonFunctional: copy}
"""
PATCHES = {
    "view": [(NATIVE, PATCHED.before, COPY + PATCHED.before)],
    "removed": [(FORMULAS, f"- name: mse_loss({LOSS}\n\n", "")],
    "renamed": [
        (file, f"_log_softmax{name}{HALF}", f"_log_softmax{name}{WIDE}")
        for file, name in ((NATIVE, ""), (NATIVE, ".out"), (FORMULAS, ""))
    ],
}
NOT_PATCHED = {
    "namespace": "PyTorch's generator registers kernels of any namespace in aten; gradmill, in a block of their own",
    "version": "no entry names a release: a patch is of one",
    "twice": "it has no such operator",
    **dict.fromkeys(("out of PyTorch", "inplace of PyTorch"), "PyTorch's definitions are there"),
}
CHOICE, FIRST = "cross_entropy_loss_2d_choice(Tensor self, Tensor target) -> int", "own_first(Tensor self) -> Tensor"
TAG = "- tag: inplace_view\n"


def patching(patches: dict[str, str], functions: dict[str, tuple[str, ...]], *definitions: str) -> Vendor:
    """One who always has these functions and definitions, so that no patch that the description names is empty."""
    always = PATCHED.addition("func", functions)
    always += PATCHED_FORMULAS.addition("name", dict.fromkeys(definitions, GRAD))
    if TAGS in patches:
        always.append((TAGS, TAG, f"- tag: own\n  desc: own\n{TAG}"))
    return Vendor(PATCHED, PATCHED_FORMULAS, PATCHES, NOT_PATCHED, always, patches)


def patch(vendor: str, folder: Path, base: Path, merged: Path) -> None:
    """Writes the diffs of PyTorch's files and the vendor's; the description names each that is not empty."""
    for file, name in VENDORS[vendor].patches.items():
        lines = [(each / file).read_text().splitlines(keepends=True) for each in (base, merged)]
        diff = "".join(unified_diff(*lines, f"a/{file}", f"b/{file}"))
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("a") as patches:
            patches.write(diff)
        if diff and name not in (folder / "specset.toml").read_text():
            edit(folder, [("specset.toml", "native = {", f'derivatives = {{ diff = "{name}" }}\nnative = {{')])
    for each in (merged / "templates").iterdir():
        each.write_text(f"// {vendor}\n{each.read_text()}" if vendor == "ipex" else each.read_text())
    shutil.copytree(merged / "templates", folder / "templates")


# ---- all of them

VENDORS = {
    "ascend": with_its_own(
        "ascend",
        Place(f"{CONFIG}op_plugin_functions.yaml", FUNCTION, ("op_api: all_version",), "  "),
        Place(f"{CONFIG}{FORMULAS}", DEFINITION, ("version: all_version",)),
    ),
    "cosdt": with_its_own(
        "cosdt",
        Place("csrc/aten/op_plugin_functions.yaml", FUNCTION, ("impl_ns: acl_op",), "  "),
        Place(f"csrc/aten/{FORMULAS}", DEFINITION),
        version="no entry names a release: a branch is of one",
        foreach="its generator drops device_check, without which torchgen refuses such a name: see list",
    ),
    "musa": patching(
        {
            NATIVE: "torch_patches/aten_src_ATen_native_native_functions.yaml.patch",
            FORMULAS: "torch_patches/tools_autograd_derivatives.yaml.patch",
        },
        {CHOICE: (), FIRST: ()},
        FIRST,
    ),
    "metax": patching({NATIVE: "native_functions.yaml.patch", FORMULAS: "derivatives.yaml.patch"}, {FIRST: ()}),
    "ipex": patching(dict.fromkeys((NATIVE, TAGS, FORMULAS), "ipex.patch"), {FIRST: ("tags: own",)}, FIRST),
}
MORE = """
- func: matmul_backward(Tensor grad, Tensor self, Tensor other, bool[2] mask) -> (Tensor, Tensor)
  dispatch: {CompositeExplicitAutograd: kernel}

- func: stft(Tensor self, int n_fft) -> Tensor
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The set core with more of PyTorch's functions, and without those of another namespace, of which it has none."""
    folder = tmp_path_factory.mktemp("base")
    shutil.copytree(ROOT / "specs" / "core", folder, dirs_exist_ok=True)
    names = "|".join(re.findall(r"- func: gradmill::(\w+)", (folder / NATIVE).read_text()))
    for file, more in ((NATIVE, MORE), (FORMULAS, "")):
        entries = (folder / file).read_text().split("\n\n")
        kept = [entry for entry in entries if not re.search(rf"gradmill::|- name: ({names})\(", entry)]
        (folder / file).write_text("\n\n".join(kept).rstrip("\n") + "\n" + more)
    return folder


def check(vendor: str, folder: Path, base: Path, edits: dict[str, Edit]) -> None:
    """The files of the description are those that the vendor's generator prints, with kernels of what is defined."""
    it, merged = VENDORS[vendor], folder / "merged"
    shutil.copytree(base, merged)
    source = EXAMPLES / f"{vendor}.toml"
    if not it.patches:
        shutil.copytree(SHAPES / vendor, folder, dirs_exist_ok=True)
    if vendor == "ascend":
        source = shutil.copytree(EXAMPLES / vendor, folder, dirs_exist_ok=True) / "specset.toml"
    (folder / "specset.toml").write_text(source.read_text().replace('specs = "torch"', f'specs = "{base}"'))
    edit(merged if it.patches else folder, [*it.always, *it.replacements(edits)])
    if it.patches:
        patch(vendor, folder, base, merged)
    else:
        merge(vendor, folder, merged)
    made = build(folder)
    command = [sys.executable, "-m", "vendors.generators", vendor, merged, base / NATIVE]
    subprocess.run(command, cwd=ROOT / "tests", check=True)
    expected = {name: data.decode() for name, data in files_in(merged / "out").items()}
    if vendor not in ("musa", "metax"):  # the others' own templates are elsewhere
        for files in (made, expected):
            files |= {name: re.sub("// ?@ ?generated (from|by).*", "", text) for name, text in files.items()}
    assert expected and {name for name in {*made, *expected} if made.get(name) != expected.get(name)} == set()
    kernels = "".join(text for name, text in made.items() if name.startswith("VariableType"))
    names = [schema.partition("(")[0] for each in edits.values() for schema in each.definitions]
    assert [name for name in names if f'm.impl("{name}"' not in kernels] == []


@pytest.mark.parametrize("vendor", ["ascend", "cosdt"])
def test_every_setting_of_the_description_matches_something(vendor: str, tmp_path: Path, base: Path) -> None:
    check(vendor, tmp_path, base, {})


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_files_are_right_after_all_ordinary_edits(vendor: str, tmp_path: Path, base: Path) -> None:
    check(vendor, tmp_path, base, VENDORS[vendor].applicable)


@pytest.mark.slow(3)
@pytest.mark.parametrize(
    ("vendor", "name"), [(vendor, name) for vendor, it in VENDORS.items() for name in it.applicable]
)
def test_the_files_are_right_after_an_ordinary_edit(vendor: str, name: str, tmp_path: Path, base: Path) -> None:
    check(vendor, tmp_path, base, {name: EDITS[name]})


@pytest.mark.parametrize(
    ("release", "changed"),
    [((2, 4), 'f_symint(unpack(a, "a", 0))'), ((2, 5), 'f(unpack(a, "a", 0))'), ((2, 6), "f(a)")],
)
def test_the_rules_of_ascend_before_2_7(release: tuple[int, int], changed: str) -> None:
    unit = runpy.run_path(str(EXAMPLES / "ascend" / "hooks.py"))["unit"]
    name = "matmul_backward"
    function = SimpleNamespace(operator=name, base=name, own=True, defined=True, kind="functional")
    text = 'at::redispatch::f_symint(unpack(a, "a", 0))'
    assert unit("variable_type", "definition", function, text, release) == f"at_npu::redispatch::{changed}"
    assert unit("variable_type", "registration", function, text, release) == text


# ---- a vendor who prints kernels of PyTorch's operators without two of their parts, by two regular expressions

FLAGOS = EXAMPLES / "flagos.toml"
KERNEL = re.compile(r"^\S[^\n]* (\w+)\(c10::DispatchKeySet ks[^\n]*\{\n.*?^\}$", re.MULTILINE | re.DOTALL)
TWO_HOLES = "${definitions}\nTORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {\n${registrations}\n}\n"
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
