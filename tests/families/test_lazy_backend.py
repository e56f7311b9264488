"""The lazy TorchScript backend: what its file lists, what an edit runs, what is wrong with a file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkouts import LAZY_PLACES, TESTS, add_lazy, run_script
from cli.test_generate_code import Checkout, make
from project import CORE, PACKAGED, Run, files_in

from gradmill.problems.catalog.table import RULES

FLAG = "--gen-lazy-ts-backend"
PYTHON = ("--subset", "python")  # the subset that costs least
VARIABLES = ("specs=.", "generated=.", "cache=build/gradmill", "families=lazy", "tree=checkout")
MADE = "torch/csrc/lazy/generated"
NODES, OWN_NODES, REGISTER, REGISTER_AUTOGRAD = (
    f"{MADE}/{name}" for name in ("LazyIr.h", "LazyNonNativeIr.h", "RegisterLazy.cpp", "RegisterAutogradLazy.cpp")
)
HEADER, KERNELS = (f"{MADE}/LazyNativeFunctions.{ending}" for ending in ("h", "cpp"))
YAML = LAZY_PLACES["ts_native_functions.yaml"]
NATIVE = "aten/src/ATen/native/native_functions.yaml"
DERIVATIVES = "tools/autograd/derivatives.yaml"
AUTOGRAD = "autograd:\n  - pixel_shuffle\n  - native_layer_norm\n  - lerp.Scalar\n"
EDITED = (*LAZY_PLACES.values(), NATIVE, DERIVATIVES)
BY_SCRIPT = "by the script"


@pytest.fixture(scope="module")
def built(torch_specs: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the backend of tests/lazy, built."""
    checkout = make(tmp_path_factory.mktemp("lazy") / "pytorch", CORE.joinpath, torch_specs)
    add_lazy(checkout.root)
    assert run(checkout).stderr == ""
    return checkout


@pytest.fixture
def checkout(built: Checkout) -> Iterator[Checkout]:
    """This checkout; what a test changes there is undone after it, for a run of little more than the edit."""
    texts = {place: (built.root / place).read_text() for place in EDITED}
    kept = {*built.root.iterdir()}
    yield built
    for place, text in texts.items():
        (built.root / place).write_text(text)
    for path in {*built.root.iterdir()} - kept:
        shutil.rmtree(path)
    shutil.rmtree(built.root.with_name(BY_SCRIPT), ignore_errors=True)
    assert run(built).stderr == ""


def change(checkout: Checkout, place: str, old: str, new: str) -> None:
    path = checkout.root / place
    assert path.read_text().count(old) == 1, old
    path.write_text(path.read_text().replace(old, new))


def run(checkout: Checkout) -> Run:
    return checkout.run(*VARIABLES)


def by_script(checkout: Checkout, *arguments: str) -> dict[str, bytes]:
    """The backend's files as torchgen writes them, in a copy of the checkout."""
    other = checkout.root.with_name(BY_SCRIPT)
    shutil.copytree(checkout.root, other, symlinks=True)
    shutil.rmtree(other / MADE)
    run_script(other, *PYTHON, FLAG, *arguments)
    return files_in(other / MADE)


# ---- equality


@pytest.mark.parametrize("arguments", [(), ("--per_operator_headers",)])
def test_the_files_are_what_torchgen_writes(checkout: Checkout, arguments: tuple[str, ...]) -> None:
    checkout.generate(*PYTHON, FLAG, *arguments)
    files = files_in(checkout.root / MADE)
    assert files == by_script(checkout, *arguments)
    assert len(files) == 6
    assert checkout.generate(*PYTHON, FLAG, *arguments).ran == []


OTHERS = [
    {"backend: Lazy\n": "backend: XLA\ndevice_guard: true\nclass_name: A\n", "torch::lazy\n": "mine\n"},
    {"backend: Lazy\n": "backend: Lazy\nuse_out_as_primary: true\n", AUTOGRAD: "autograd: []\n"},
]


@pytest.mark.parametrize("edits", OTHERS)
def test_what_the_file_says_of_the_backend_is_printed(checkout: Checkout, edits: dict[str, str]) -> None:
    for old, new in edits.items():
        change(checkout, YAML, old, new)
    kernels = checkout.root / LAZY_PLACES["ts_native_functions.cpp"]
    text = kernels.read_text()
    kernels.write_text(text + text.replace("Lazy", "XLA"))
    assert run(checkout).status == 0, run(checkout).stderr
    assert files_in(checkout.root / MADE) == by_script(checkout)


@pytest.mark.parametrize("option", ["--gen-dir", "--install-dir"])
def test_files_include_others_by_the_folder_that_is_written_to(checkout: Checkout, option: str) -> None:
    checkout.generate(*PYTHON, FLAG, option, "./made/here")
    made = files_in(checkout.root / "made")
    shutil.rmtree(checkout.root / "made")
    run_script(checkout.root, *PYTHON, FLAG, option, "./made/here")
    assert made == files_in(checkout.root / "made")
    assert any(b"made/here" in data for data in made.values())


@pytest.mark.slow
def test_the_backend_of_a_whole_release_is_what_torchgen_writes(torch_specs: Path, tmp_path: Path) -> None:
    deprecated = (torch_specs / "autograd" / "deprecated.yaml").read_text()
    checkout = make(tmp_path / "pytorch", lambda name: torch_specs / PACKAGED[name], torch_specs, deprecated)
    add_lazy(checkout.root)
    checkout.generate(*PYTHON, FLAG)
    assert files_in(checkout.root / MADE) == by_script(checkout)


# ---- what runs


def test_a_formula_runs_nothing_of_the_backend(checkout: Checkout) -> None:
    checkout.edit("self: grad * result.conj()\n", "self: result.conj() * grad\n")
    ran = run(checkout)
    assert (ran.status, ran.units, ran.shards) == (0, [], [])


EMBEDDING = "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-2"


def test_a_schema_runs_its_own_unit_and_the_files_that_print_it(checkout: Checkout) -> None:
    for place in (NATIVE, DERIVATIVES):
        change(checkout, place, "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1", EMBEDDING)
    ran = run(checkout).clean()
    assert {*ran.units} == {"Lazy::embedding", "Lazy::embedding_out_out"}  # its out variant wraps it
    assert ran.shards == [KERNELS]


def test_a_listed_operator_runs_its_own_units(checkout: Checkout) -> None:
    change(checkout, YAML, "  - index_add\n", "  - index_add\n  - sin\n")
    ran = run(checkout)
    assert (ran.status, ran.units, ran.shards) == (0, ["Lazy::sin"], [NODES])


def test_a_comment_in_the_file_runs_no_unit(checkout: Checkout) -> None:
    change(checkout, YAML, "backend: Lazy\n", "# The one in PyTorch.\nbackend: Lazy\n")
    ran = run(checkout)
    assert (ran.status, ran.units, ran.shards) == (0, [], [])


def test_an_own_node_rewrites_its_file_alone(checkout: Checkout) -> None:
    change(checkout, YAML, "opkind: lazy_noise", "opkind: lazy_noises")
    ran = run(checkout)
    assert (ran.status, ran.units, ran.shards) == (0, [], [OWN_NODES])


def test_other_families_do_not_read_the_files_of_a_backend(checkout: Checkout) -> None:
    assert checkout.run("specs=.", "generated=out", "families=factories").status == 0
    for place in LAZY_PLACES.values():
        (checkout.root / place).write_text("- no backend\n")
    assert checkout.run("specs=.", "generated=out", "families=factories").ran == []


# ---- where it is, and what is there


def test_files_of_the_script_are_taken_over(checkout: Checkout) -> None:
    shutil.rmtree(checkout.root / "build")
    run_script(checkout.root, *PYTHON, FLAG)
    change(checkout, YAML, "cpp_namespace: torch::lazy\n", "cpp_namespace: mine\n")
    assert run(checkout).status == 0, run(checkout).stderr
    assert files_in(checkout.root / MADE) == by_script(checkout)


def test_the_registration_of_autograd_goes_with_its_last_operator(checkout: Checkout) -> None:
    change(checkout, YAML, AUTOGRAD, "")
    assert run(checkout).status == 0
    assert not (checkout.root / REGISTER_AUTOGRAD).exists()


def test_files_of_another_backend_go_with_it_and_those_of_others_stay(checkout: Checkout) -> None:
    other = (checkout.root / REGISTER).read_text().replace("Lazy", "CPU")
    (checkout.root / MADE / "RegisterCPU.cpp").write_text(other)
    change(checkout, YAML, "backend: Lazy\n", "backend: XLA\n")
    kernels = checkout.root / LAZY_PLACES["ts_native_functions.cpp"]
    kernels.write_text(kernels.read_text().replace("Lazy", "XLA"))
    assert run(checkout).status == 0, run(checkout).stderr
    assert {path.name for path in (checkout.root / MADE).glob("Register*")} == {
        "RegisterCPU.cpp",
        "RegisterXLA.cpp",
        "RegisterAutogradXLA.cpp",
    }
    (checkout.root / MADE / "RegisterCPU.cpp").unlink()


def test_a_set_without_the_file_has_no_backend(checkout: Checkout) -> None:
    (checkout.root / YAML).unlink()
    run(checkout).failed("is made from ts_native_functions.yaml, which the spec set does not have")


# ---- errors

# The edit -> line, column, and the message. What all backends have in common is in stubs/test_stubs.py.
WRONG = {
    ("cpp_namespace: torch::lazy", "cpp_namespace: a::b::c"): "3:16: error: 'a::b::c' is more than 2 namespaces",
    ("ir_gen:", "ir_gens:"): "27:1: error: unknown key 'ir_gens'",
    ("backend: Lazy\n", "backend: Lazy\nextra_headers: a.h\n"): "3:1: error: unknown key 'extra_headers'",
    ("  - topk\n", "  - topk.\n"): ": error: empty overload name in 'topk.'",
    ("  - gelu ", "  - index.Tensor_out "): ": error: index.Tensor_out: argument 'indices' has the type 'Tensor?[]'",
    (
        "  - gelu ",
        "  - _foreach_exp_ ",
    ): ": error: _foreach_exp_: '_foreach_exp_' writes to its arguments and returns",
    (
        "  - view_copy  #",
        "  - mv\n  - view_copy  #",
    ): ": error: mv: shape_inference.h does not declare the function of",
    ("properties: [CreateFnDeclOnly]", "properties: [CreateFun]"): ": error: noise: unknown property 'CreateFun'",
    ("noise(Scalar scale, ", "noise(Storage scale, "): ": error: noise: argument 'scale' has the type 'Storage'",
    ("noise(Scalar scale, ", "noise(Scaler scale, "): ": error: unrecognized type 'Scaler'",
    (
        "  - topk\n",
        "  - topk\n  - mv\n",
    ): ": error: mv: ts_native_functions.cpp defines LazyNativeFunctions::mv 0",
}


def test_what_torchgen_refuses_is_refused_at_its_place(checkout: Checkout) -> None:
    before, text = files_in(checkout.root / MADE), (checkout.root / YAML).read_text()
    for edit, message in WRONG.items():
        change(checkout, YAML, *edit)
        refused = run(checkout)
        assert refused.status == 1, edit
        assert f"{YAML}:" in refused.stderr, edit
        assert message in refused.stderr
        assert "hint: " in refused.stderr, edit
        (checkout.root / YAML).write_text(text)
    assert files_in(checkout.root / MADE) == before


@pytest.mark.slow(3)
def test_torchgen_refuses_the_same_files(checkout: Checkout, tmp_path: Path) -> None:
    text = (checkout.root / YAML).read_text()
    for number, (old, new) in enumerate({**WRONG, ("", ""): ""}):
        (tmp_path / f"{number:03}.yaml").write_text(text.replace(old, new) if old else text)
    command = [sys.executable, TESTS / "lazy" / "verdicts.py", tmp_path]
    done = subprocess.run(command, cwd=checkout.root, capture_output=True, text=True, check=True)
    verdicts = json.loads(done.stdout)
    assert [number for number, error in verdicts.items() if not error] == [
        f"{len(WRONG):03}"
    ]  # the one without an edit


def test_what_torchgen_ignores_is_a_warning(checkout: Checkout) -> None:
    change(checkout, YAML, "  - softplus\n", "  - softpluss\n")
    ran = run(checkout).ok()
    assert "warning: softpluss: no function is called 'softpluss': torchgen ignores it" in ran.stderr
    assert files_in(checkout.root / MADE) == by_script(checkout)


@pytest.mark.parametrize("name", ["ignored-operator", "listed-twice"])
def test_the_bad_example_of_a_rule_reports_it(checkout: Checkout, name: str) -> None:
    """The good one is a part of the file, of which nothing is reported."""
    change(checkout, YAML, f"{RULES[name].good}\n", f"{RULES[name].bad}\n")
    assert f"[{name}]\n" in run(checkout).stderr


@pytest.mark.parametrize(("place", "text"), [(HEADER, " embedding(const"), (KERNELS, "compute_shape_embedding(")])
def test_a_line_of_the_backend_is_explained(checkout: Checkout, place: str, text: str) -> None:
    lines = (checkout.root / place).read_text().splitlines()
    number = next(number for number, line in enumerate(lines, 1) if text in line)
    explained = checkout.run("explain", f"{place}:{number}", *VARIABLES)
    assert explained.stdout.startswith(f"{place}:{number}: Lazy::embedding, ")


# ---- diff


@pytest.mark.slow(3)
def test_diff_reports_functions_of_the_backend_that_changed(checkout: Checkout, tmp_path: Path) -> None:
    before = tmp_path / "before"
    shutil.copytree(checkout.root, before, symlinks=True)
    change(checkout, YAML, "  - abs\n", "")
    change(checkout, YAML, "  - softplus\n", "  - softplus\n  - neg\n")
    change(checkout, YAML, "    opkind: lazy_noise\n", "")
    words = ("diff", "specs=.", f"against={before}", "cache=build/gradmill")
    ended = checkout.run(*words, "families=lazy", "format=json").ok()
    report = json.loads(ended.stdout)
    wraps, kernel = ["registered for Lazy", "wraps abs"], "at::Tensor abs(const at::Tensor & self)"
    node = "node Abs(torch::lazy::Value self), outputs: 1"
    assert {each["name"]: (each["change"], each["before"], each["after"]) for each in report["lazy"]} == {
        "abs": ("removed", ["in full_codegen", "registered for Lazy", kernel, node], []),
        "abs.out": ("removed", wraps, []),
        "abs_": ("removed", wraps, []),
        "neg": ("added", [], ["in ir_gen", node.replace("Abs", "Neg")]),
        "non_native noise": ("changed", ["opkind: lazy_noise"], []),
    }
    assert report["ops"] == []
    text = checkout.run(*words, "families=lazy").stdout
    assert "\nlazy backend: 1 added, 1 changed, 3 removed\n" in text
    assert f"\n    - {kernel}\n" in text
    page = checkout.run(*words, "families=lazy", "--format=html").stdout
    assert "Lazy backend: 1 added, 1 changed, 3 removed" in page
    assert '<article id="lazy-non_native-noise"' in page
    assert json.loads(checkout.run(*words, "format=json").stdout)["lazy"] == []
    ended = checkout.run(*words, "families=lazy", "--code", "format=json")
    code = json.loads(ended.stdout)
    assert ended.status == 1
    files = {"LazyIr.h", "LazyNonNativeIr.h", "LazyNativeFunctions.h", "LazyNativeFunctions.cpp", "RegisterLazy.cpp"}
    assert {each["name"] for each in code["files"]} == files
    changes = {(each["file"], each["change"]): each["names"][0] for each in code["changes"]}
    assert changes["LazyIr.h", "added"]["op"] == "neg" and changes["LazyIr.h", "removed"]["op"] == "abs [Lazy]"
    assert {"op": "", "name": "LazyNonNativeIr.h"} in (name for each in code["changes"] for name in each["names"])


def test_diff_reports_errors_of_a_backend_at_their_place(checkout: Checkout) -> None:
    change(checkout, YAML, "  - abs\n", "  - abz\n")
    ended = checkout.run("diff", "specs=.", "against=.", "families=lazy", "cache=build/gradmill")
    assert (ended.status, ended.stdout) == (1, "")
    assert f"{YAML}:5:5: error: abz: no function is called 'abz'" in ended.stderr
