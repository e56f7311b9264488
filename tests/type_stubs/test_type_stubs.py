"""Type stubs, `gradmill pyi`: the files of PyTorch's script, what an edit of a schema writes again, errors."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections import defaultdict
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import forked
import pytest
from checkouts import whole_checkout
from cli.test_generate_code import Checkout, make
from project import files_in
from releases import WHEELS, find_wheel

from gradmill.releases import KNOWN
from gradmill.session.own_code import OwnCode
from type_stubs.stub_checkouts import SCRIPT, add_stubs, by_script

NATIVE = "aten/src/ATen/native/native_functions.yaml"
FUNCTIONS, METHODS = "torch/_C/_VariableFunctions.pyi", "torch/_C/__init__.pyi"
ODD = """
- func: odd(Tensor self, int[2] size=[1,2], Tensor?[] indices=[], *, str mode="a") -> (Tensor values, int count)
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: odd

- func: sizes(SymInt[] size, *, Device? device=None, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CompositeExplicitAutograd: sizes

- func: lists(Tensor[] self, Scalar[] scalars, float[]? values, bool[3] mask, int[]? at=None) -> Tensor[]
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: lists
"""
OTHER_NAMES = """
- func: odd.other(Tensor self, str name) -> (Tensor values, int number)
  dispatch:
    CompositeExplicitAutograd: odd_other
"""
BY_HAND = (  # what PyTorch's script has no hints from signatures for
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul copy_ div div_"
    " einsum floor_divide floor_divide_ meshgrid mul mul_ norm range split stft sub sub_ tensordot to true_divide"
    " true_divide_ unique_consecutive"
)
BY_SMALL_SCRIPT = {"exp", "add", "tensor", "__ge__", "__eq__"}
DOCUMENTED_BEFORE = '''
def add_docstr_to_hint(docstr: str, hint: str) -> str:
    if "..." not in hint:
        return f'{hint}\\nr"""{docstr}"""\\n'
    return "\\n    ".join([hint[:-3], 'r"""', *docstr.split("\\n"), '"""', "..."])
'''  # before 2.8
DEPRECATED = """
- name: add(Tensor self, Scalar alpha, Tensor other) -> Tensor
  aten: add(self, other, alpha)
- name: add(Tensor self, Scalar alpha, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  aten: add_out(out, self, other, alpha)
"""


@pytest.fixture(scope="module")
def built(small_specs: Path, torch_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with a few functions, and with their stubs."""
    checkout = make(tmp_path_factory.mktemp("stubs") / "pytorch", small_specs.joinpath, torch_specs, DEPRECATED)
    add_stubs(checkout.root)
    with (checkout.root / NATIVE).open("a") as file:
        file.write(ODD)
    checkout.run("pyi", "--out", "out").clean()
    return checkout


@pytest.fixture
def checkout(built: Checkout, tmp_path: Path) -> Checkout:
    """A copy of it, to edit."""
    return Checkout(Path(shutil.copytree(built.root, tmp_path / "pytorch", symlinks=True)))


def edit(checkout: Checkout, name: str, old: str, new: str) -> None:
    path = checkout.root / name
    assert path.read_text().count(old) == 1, old
    path.write_text(path.read_text().replace(old, new))


def stubs(checkout: Checkout) -> dict[str, bytes]:
    return files_in(checkout.root / "out")


# ---- equality


def test_the_stubs_are_what_the_script_writes(built: Checkout, tmp_path: Path) -> None:
    """Of schemas, deprecated forms, docstrings, and what it writes by hand."""
    assert stubs(built) == by_script(built.root, tmp_path / "out")


def test_a_name_is_listed_with_its_schema_and_one_that_is_written_by_hand_alone(built: Checkout) -> None:
    words = ("specs=.", "families=type_stubs", "generated=build/listed", "cache=build/listed")
    lines = built.run("list", "--all", *words).clean().stdout.splitlines()
    docs = dict(line.split(maxsplit=1) for line in lines)
    assert docs["emit:Tensor.sin"] == "sin(Tensor self) -> Tensor"
    assert docs["emit:Tensor.is_cpu"] == "is_cpu"


def hints(text: str, name: str = "") -> dict[str, list[str]]:
    """The text of each function of a stub, or of a class in it, by name: with its docstring, without decorators."""
    tree, lines = ast.parse(text), text.split("\n")
    body = next((node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), tree.body)
    found = defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name].append("\n".join(lines[node.lineno - 1 : node.end_lineno]))
    return found


def release(version: str, installed: Path, folder: Path) -> Path:
    """The folder with the stubs, docstrings and torchgen of a release: that of the installed torch, or of its wheel."""
    if version == metadata.version("torch").partition("+")[0]:
        return installed
    wheel = find_wheel(version, WHEELS)
    if wheel is None:
        pytest.skip(f"no wheel of {version} in {WHEELS}")
    with ZipFile(wheel) as archive:
        docs, stubs = ("torch/_torch_docs.py", "torch/_tensor_docs.py"), ("torch/_C/", "torch/return_types.pyi")
        archive.extractall(folder, [n for n in archive.namelist() if n.startswith(("torchgen/", *docs, *stubs))])
    return folder


@pytest.mark.parametrize(
    "version",
    [pytest.param(each, marks=pytest.mark.slow(12) if each == "2.13.0" else pytest.mark.campaign) for each in KNOWN],
)
def test_the_stubs_of_all_functions_are_those_of_the_release(version: str, torch_specs: Path, tmp_path: Path) -> None:
    """A package has them, with docstrings, and with what PyTorch's own script writes by hand."""
    package = release(version, torch_specs.parent.parent, tmp_path / "package")
    checkout = Checkout(whole_checkout(package, tmp_path / "pytorch", version))
    add_stubs(checkout.root)
    by_hand = BY_HAND if KNOWN.index(version) >= KNOWN.index("2.13.0") else f"{BY_HAND} align_tensors"
    edit(checkout, SCRIPT, "blocklist = [", f"blocklist = [*'{by_hand}'.split(), ")
    if KNOWN.index(version) < KNOWN.index("2.8.0"):
        edit(checkout, SCRIPT, "def gen_pyi(", f"{DOCUMENTED_BEFORE}\n\ndef gen_pyi(")
        edit(checkout, SCRIPT, ": Tensor | None = None", ": Optional[Tensor] = None")
    if KNOWN.index(version) < KNOWN.index("2.6.0"):
        old, new = "List[Tensor]] = None", "List[Tensor], None] = None"
        edit(
            checkout,
            SCRIPT,
            'replace("at::Reduction::Mean"',
            f'replace("{old}", "{new}").replace("at::Reduction::Mean"',
        )
    for name in ("torch/_torch_docs.py", "torch/_tensor_docs.py"):
        shutil.copyfile(package / name, checkout.root / name)
    checkout.run("pyi", "--out", "out").clean()
    counts = []
    for name, of in ((FUNCTIONS, ""), (METHODS, "TensorBase")):
        ours = hints(stubs(checkout)[name].decode(), of)
        theirs = hints((package / name).read_text(), of)
        found = {key: own for key, own in ours.items() if key not in BY_SMALL_SCRIPT}
        wrong = {key: own for key, own in found.items() if not _contains(theirs[key], own)}
        assert wrong == {}
        counts.append(sum(map(len, found.values())))
    assert counts > [1200, 650], counts
    classes = stubs(checkout)["torch/return_types.pyi"].decode().partition("\n")[2].partition("\nall_return_types")[0]
    assert classes.strip() in (package / "torch/return_types.pyi").read_text()


def _contains(listed: list[str], own: list[str]) -> bool:
    """Whether a list has another one as a part."""
    return any(listed[at : at + len(own)] == own for at in range(len(listed) - len(own) + 1))


# ---- edits


def test_an_edit_of_a_schema_runs_its_own_hints(checkout: Checkout, tmp_path: Path) -> None:
    edit(checkout, NATIVE, "- func: exp(Tensor self) -> Tensor", "- func: exp(Tensor self, *, int digits=1) -> Tensor")
    edit(checkout, NATIVE, "- func: exp.out(Tensor self, *", "- func: exp.out(Tensor self, *, int digits=1")
    run = checkout.run("pyi", "--out", "out").ok()
    assert sorted(run.units) == ["Tensor.exp", "torch.exp"]
    assert sorted(run.shards) == [FUNCTIONS, METHODS, "torch/_VF.pyi"]
    assert stubs(checkout) == by_script(checkout.root, tmp_path / "out")
    run = checkout.run("pyi", "--out", "out").ok()
    assert (run.units, run.shards) == ([], [])


def test_an_edit_of_a_docstring_or_of_the_script_runs_what_it_changes(checkout: Checkout, tmp_path: Path) -> None:
    edit(checkout, "torch/_tensor_docs.py", "On the CPU.", "Whether it is on the CPU.")
    run = checkout.run("pyi", "--out", "out").ok()
    assert (run.units, run.shards) == (["Tensor.is_cpu"], [METHODS])
    edit(checkout, SCRIPT, '"def exp(input: str) -> Tensor: ..."', '"def exp(input: bytes) -> Tensor: ..."')
    run = checkout.run("pyi", "--out", "out").ok()
    assert (run.units, sorted(run.shards)) == (["torch.exp"], [FUNCTIONS, "torch/_VF.pyi"])
    edit(checkout, "torch/_C/_nn.pyi.in", "${c_nn", "# by hand\n${c_nn")
    assert checkout.run("pyi", "--out", "out").ok().shards == ["torch/_C/_nn.pyi"]
    assert stubs(checkout) == by_script(checkout.root, tmp_path / "out")


def test_what_the_script_corrects_is_corrected_wherever_it_does_so(checkout: Checkout, tmp_path: Path) -> None:
    """In a function of any name, in hints of methods, too, and in those of one name."""
    new = '        type_hint = type_hint.replace("Tensor", "Any")\n    type_hints.append(type_hint)'
    edit(checkout, SCRIPT, "    type_hints.append(type_hint)", f'    if sig_group.signature.name == "odd":\n{new}')
    edit(checkout, SCRIPT, "def replace_special_case(hint", "def fixed(hint")
    edit(checkout, SCRIPT, "replace_special_case(h) for", "fixed(h) for")
    edit(
        checkout,
        SCRIPT,
        '.replace("at::Reduction::Mean"',
        '.replace("memory_format: ", "format: ").replace("at::Reduction::Mean"',
    )
    old = "in sorted(unsorted_tensor_method_hints.items()):\n"
    edit(checkout, SCRIPT, old, f'{old}        hints = [hint.replace("str", "bytes") for hint in hints]\n')
    checkout.run("pyi", "--out", "out").ok()
    assert b" format: memory_format | None" in stubs(checkout)[FUNCTIONS]
    assert b"mode: bytes = " in stubs(checkout)[METHODS]
    assert stubs(checkout) == by_script(checkout.root, tmp_path / "out")


def test_a_checkout_without_docstrings_has_stubs_without_them(checkout: Checkout, tmp_path: Path) -> None:
    (checkout.root / "torch/_torch_docs.py").unlink()
    run = checkout.run("pyi", "--out", "out").ok()
    assert "Tensor.is_cpu" in run.units
    assert stubs(checkout) == by_script(checkout.root, tmp_path / "out")


def test_a_new_function_is_in_all_lists(checkout: Checkout, tmp_path: Path) -> None:
    entry = "\n- func: pair(Tensor self) -> (Tensor first, Tensor second)\n  variants: function, method\n"
    with (checkout.root / NATIVE).open("a") as file:
        file.write(entry + "  dispatch:\n    CompositeExplicitAutograd: pair\n")
    run = checkout.run("pyi", "--out", "out").ok()
    assert sorted(run.units) == ["Tensor.pair", "torch.pair"]
    assert b'    "pair",' in stubs(checkout)[FUNCTIONS]
    assert b"class pair(tuple[Tensor, Tensor]):" in stubs(checkout)["torch/return_types.pyi"]
    assert stubs(checkout) == by_script(checkout.root, tmp_path / "out")


def test_explain_says_what_a_hint_is_made_from(checkout: Checkout) -> None:
    """Not all schemas, whose names the script was given."""
    words = ("families=stubs", "tree=checkout", "generated=out", "specs=.", "cache=build/gradmill")
    run = checkout.run("explain", "torch.exp", *words).ok()
    assert [line.split()[-1] for line in run.stdout.split("\n") if NATIVE in line] == ["exp", "exp.out"]
    assert "type_stubs unit that is written by hand" in checkout.run("explain", "torch.tensor", *words).ok().stdout
    edit(checkout, "torch/_tensor_docs.py", "On the CPU.", "Whether it is on the CPU.")
    assert f"_tensor_docs.py → Tensor.is_cpu → {METHODS}" in checkout.run("explain", *words).ok().stdout


@pytest.mark.extension("browse")
def test_an_editor_does_not_run_the_script_unless_it_may(built: Checkout) -> None:
    """A checkout is a set of others."""
    from gradmill.extensions.browse.lsp.sessions.sets import Sets

    path = str(built.root / NATIVE)
    for allowed, expected in (("0", ("nodes",)), ("1", ("nodes", "type_stubs"))):
        variables = {"specs": str(built.root), "families": "nodes,stubs", "hooks": allowed}
        session = Sets(variables, OwnCode()).of(path)
        assert session is not None and session.config.families == expected
        session.close()


# ---- errors


ERRORS = {  # what is replaced in the script -> with what, and the report
    "FACTORY = [": ("FACTORY = [][0], [", "IndexError: list index out of range"),
    "blocklist = [": ("blocked = [", "NameError: name 'blocklist' is not defined"),
    '"def exp(input: str) -> Tensor: ..."': ('"def exp(input: str)', "SyntaxError: unterminated string literal"),
    '        "torch/_C/_nn.pyi",': ('        "torch/_C/_other.pyi",', "gradmill does not know torch/_C/_other.pyi"),
    "    gen_nn_functional(fm)": (
        "    if FileManager.all:\n        gen_nn_functional(fm)",
        "__bool__ should return bool",
    ),
    "def gen_pyi(": ("def generate(", "it has no gen_pyi"),
    '"function_hints": function_hints,': ("", "it has no function_hints"),
    '"dispatched_hints": hints': ('"dispatched_hints": [Variant.method]', "no text fills dispatched_hints"),
    '"imported_hints": imported': ('"imported_hints": f"{Variant.method}"', "__str__ returned non-string"),
    "for key in DispatchKey]": ("for key in Variant]", "TypeError: 'StandIn' object is not iterable"),
    "    docstrs = gather_docstrs()": (
        '    if Variant.method == "method":\n        pass\n    docstrs = gather_docstrs()',
        "__bool__ should return bool",
    ),
    "from torchgen.utils import FileManager": (
        "from torchgen.utils import FileManager\nfrom tools.pyi.more import add_hints",
        "ImportError: 'tools.pyi' is not a built-in module",
    ),
    "def gather_docstrs(": ("def docstrings_of(", "it has no gather_docstrs"),
    "in sorted(unsorted_function_hints.items())": (
        "in sorted(unsorted_function_hints.items(), reverse=True)",
        "of the same tables gradmill makes other function_hints",
    ),
    '"torch/_C/return_types.pyi.in"': (
        '"torch/return_types.pyi.in"',
        "gradmill does not know torch/return_types.pyi from torch/return_types.pyi.in",
    ),
    "DEVICE = ": (
        "DEVICE = open('secret').read() and ",
        "reads and writes nothing but its arguments and result (open)",
    ),
}


@pytest.mark.parametrize("old", ERRORS)
def test_a_script_that_fails_without_pytorch_is_an_error(checkout: Checkout, old: str) -> None:
    before, (new, problem) = stubs(checkout), ERRORS[old]
    edit(checkout, SCRIPT, old, new)
    checkout.run("pyi", "--out", "out").failed(f"{SCRIPT}:", "the script fails without PyTorch: ", problem)
    assert stubs(checkout) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (SCRIPT, "    for op in comparison_ops:", "    for op in comparison_ops.all:"),
        (SCRIPT, "    for op in comparison_ops:", "    for op in comparison_ops)"),
        ("torch/_torch_docs.py", 'torch.mul.__module__ = "torch"', "torch.mul()()[0]"),
        ("torch/_tensor_docs.py", "from torch._torch_docs import common_args", "from torch._torch_docs import none"),
        ("torch/_torch_docs.py", "import re", "import typing_extensions"),
    ],
)
def test_the_place_of_an_error_is_the_line_of_the_checkout(checkout: Checkout, name: str, old: str, new: str) -> None:
    edit(checkout, name, old, new)
    line = 1 + (checkout.root / name).read_text().split("\n").index(new)
    checkout.run("pyi", "--out", "out").failed(f"{name}:{line}:1: error: ", "write it as PyTorch's releases do")


def test_overloads_with_other_named_results_are_refused_as_by_the_script(checkout: Checkout, tmp_path: Path) -> None:
    with (checkout.root / NATIVE).open("a") as file:
        file.write(OTHER_NAMES)
    checkout.run("pyi", "--out", "out").failed(f"{NATIVE}:", "its named results differ from those of another overload")
    with pytest.raises(subprocess.CalledProcessError):
        by_script(checkout.root, tmp_path / "out")


# ---- the command


def test_a_package_has_no_stubs(tmp_path: Path, torch_specs: Path) -> None:
    """It lacks the templates."""
    run = forked.gradmill(
        ["pyi", "--native-functions-path", str(torch_specs / "ATen/native/native_functions.yaml")], tmp_path
    )
    run.failed("not that of a PyTorch checkout", "packages of torch lack the templates")
    forked.gradmill(["specs=torch", "families=stubs"], tmp_path).failed(
        "families=stubs: the spec set has no gen_pyi.py"
    )
    assert [*tmp_path.iterdir()] == []


def test_a_checkout_without_a_template_is_an_error(checkout: Checkout) -> None:
    (checkout.root / "torch/nn/functional.pyi.in").unlink()
    checkout.run("pyi", "--out", "out").failed("torch/nn/functional.pyi.in")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--tags-path", "version.txt"], "--tags-path version.txt: not that of a PyTorch checkout"),
        (
            ["--deprecated-functions-path", "missing"],
            "--deprecated-functions-path missing: not that of a PyTorch checkout",
        ),
        (["--template-dir", "torch"], "--template-dir torch: not that of a PyTorch checkout"),
        (["--out", ""], "--out: the path is empty"),
        (["families=nodes"], "the script writes the stubs alone"),
    ],
)
def test_what_the_script_does_not_take_is_refused(built: Checkout, words: list[str], problem: str) -> None:
    built.run("pyi", *words).failed(problem)


def test_the_stubs_are_written_into_the_checkout(checkout: Checkout) -> None:
    """By default, and with all of the script's arguments from another folder."""
    checkout.run("pyi").clean()
    assert (checkout.root / METHODS).read_bytes() == stubs(checkout)[METHODS]
    words = ["--native_functions_path", f"pytorch/{NATIVE}", "--tags-path", "pytorch/aten/src/ATen/native/tags.yaml"]
    words += ["--deprecated-functions-path", "pytorch/tools/autograd/deprecated.yaml", "--template-dir", "pytorch"]
    forked.gradmill(["pyi", *words, "--out=other"], checkout.root.parent).clean()
    assert files_in(checkout.root.parent / "other") == stubs(checkout)
