"""`gradmill torchgen` in a checkout: the files that torchgen.gen writes, for builds that call it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from checkouts import PLACES
from project import ROOT, Project, Run, replace_once
from torchgen_gen import INSTALL, SHIMS, Generated, Refused, run_gen, shared_gen

from cli.test_generate_code import Checkout, edit_generator, make
from gradmill.cli.commands.torchgen import TYPES, Torchgen
from gradmill.problems.problem import SpecError

NATIVE, TAGS = PLACES["native_functions.yaml"], PLACES["tags.yaml"]
ATEN = "aten/src/ATen"
HEADERS = ("--per-operator-headers", "--generate", "headers")
LISTS = ("-o", "lists.cmake")
ALL = ("--per-operator-headers", "-d", INSTALL, "--aoti-install-dir", f"{INSTALL}/{SHIMS}")
# Upstream numbers the keys of the first operator by hash, if it has `ufunc_inner_loop`, and leaves out the headers of
# keys that no entry names.
KEYS = """\
- func: keys(Tensor self) -> Tensor
  dispatch:
    CPU: keys_cpu
    CUDA: keys_cuda
    Meta: keys_meta

- func: keys.other(Tensor self, Tensor other) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: keys

"""


@pytest.fixture
def checkout(tiny_built: Project, torch_specs: Path, tmp_path: Path) -> Checkout:
    return with_keys(make(tmp_path / "pytorch", tiny_built.path, torch_specs))


def with_keys(checkout: Checkout) -> Checkout:
    """A checkout in which entries name all keys that have headers."""
    path = checkout.root / NATIVE
    path.write_text(KEYS + path.read_text())
    return checkout


def generate(checkout: Checkout, *words: str) -> Run:
    """A run that must succeed."""
    run = checkout.run("torchgen", "-d", INSTALL, *HEADERS, *words).ok()
    return run


def files(checkout: Checkout) -> dict[str, bytes]:
    return Generated(checkout.root).files


def by_torchgen(checkout: Checkout, shared: Path) -> Generated:
    return shared_gen(shared, checkout.root / ATEN, *HEADERS, *LISTS)


# ---- arguments


@cache
def upstream(cases: tuple[tuple[str, ...], ...]) -> list[Any]:
    """The options that torchgen.gen has, and its values for lists of words; None where it refuses them."""
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    command = [sys.executable, ROOT / "tests" / "torchgen_arguments.py"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def parsed(words: Sequence[str]) -> dict[str, Any] | None:
    """gradmill's values, None if it refuses the words."""
    try:
        values: Namespace = Torchgen().arguments().read(words)
    except SpecError:
        return None
    return vars(values)


WRONG = [("--generate", "header"), ("--rocm=1",), ("--install-dir",), ("all",), ("-o",)]
SHORT = [("--source", "x"), ("--per-op",), ("-sx", "-dy")]


@pytest.mark.usefixtures("torch_specs")
def test_arguments_are_parsed_as_torchgen_does() -> None:
    (options,) = upstream(())
    cases = [(), *SHORT, *WRONG]
    for names, values in options:
        cases += [(name, *words) for name in names for words in values]
        cases += [(f"{name}=A",) for name in names if values == [["A"]]]
    for case, expected in zip(cases, upstream(tuple(cases))[1:]):
        actual = parsed(case)
        assert expected == (actual and {name: actual[name] for name in expected or ()}), case
    assert sum(parsed(case) is None for case in cases) < len(cases) / 4


BUCK = """\
--force_schema_registration --op_selection_yaml_path selected.yaml --backend_whitelist CPU QuantizedCPU
--static_dispatch_backend CPU
""".split()


@pytest.mark.parametrize("by", [pytest.param("a variable", marks=pytest.mark.slow), "the current folder"])
def test_bucks_folder_with_aten_alone_is_the_checkouts_copy(
    checkout: Checkout, shared: Path, by: str, tmp_path: Path
) -> None:
    (checkout.root / "selected.yaml").write_text("operators: {aten::add: {}}\n")
    copy = tmp_path / "buck" / ATEN
    shutil.copytree(checkout.root / ATEN, copy)
    words = ["torchgen", "--source-path", str(copy), "--install_dir", INSTALL, *ALL[3:], *BUCK]
    here = checkout
    if by == "a variable":
        here = Checkout(tmp_path / "elsewhere")
        here.root.mkdir()
        shutil.copyfile(checkout.root / "selected.yaml", here.root / "selected.yaml")
        words.append(f"specs={checkout.root}")
    run = here.run(*words).ok()
    path = str(checkout.root / "selected.yaml")
    expected = shared_gen(shared, checkout.root / ATEN, *(path if word == "selected.yaml" else word for word in BUCK))
    assert files(here) == expected.files
    assert "RegisterCUDA_0.cpp" not in expected.files
    for name in (NATIVE, f"{ATEN}/templates/Functions.h"):
        path_, text = tmp_path / "buck" / name, (checkout.root / name).read_text()
        path_.write_text(f"{text}\n")
        run = here.run(*words)
        assert (run.status, f"{path_} is not a copy of the checkout's" in run.stderr) == (3, True)
        path_.write_text(text)


@pytest.mark.parametrize("option", ["--static-dispatch-backend", "--backend-whitelist"])
def test_a_dispatch_key_that_does_not_exist_is_refused(checkout: Checkout, option: str) -> None:
    run = checkout.run("torchgen", *HEADERS, option, "CPU", "Cpu")
    assert (run.status, f"ERROR: {option} CPU,Cpu: PyTorch 2.13 has no dispatch key 'Cpu'" in run.stderr) == (3, True)


@pytest.mark.parametrize("type_", ["headers", "sources"])
def test_a_key_without_kernels_cannot_be_called_without_the_dispatcher(checkout: Checkout, type_: str) -> None:
    run = checkout.run("torchgen", *HEADERS[:-1], type_, "--static-dispatch-backend", "CPU", "MPS")
    problem = "no function has a kernel for MPS: operators cannot call them without the dispatcher"
    assert (run.status, problem in run.stderr) == (1, True)


REFUSED = {
    "--update-aoti-c-shim -o x.cmake": "--update-aoti-c-shim: CMake's lists are of builds\n  leave out --output-dep",
    "--generate": "--generate: there is nothing to generate\n  name some of headers, sources, declarations_yaml",
    "--generate=header": "--generate: invalid choice: 'header'",
    "-s aten": "--source-path aten: this is neither aten/src/ATen of a PyTorch checkout nor ATen of torchgen/packaged",
    "-d=": "--install-dir: the path is empty",
    "--headeronly-install-dir=": "--headeronly-install-dir: the path is empty",
    "tree=aten": "tree=aten: the arguments determine it\n  write --install-dir DIR",
    "native_aot=ops": "native_aot=ops: the arguments determine it\n  write --native-aot-ops-dir DIR",
    "registrations=none": "registrations=none: the arguments determine it\n  write --skip-dispatcher-op-registration",
    "--op-registration-whitelist a --op-selection-yaml-path b": "there are two lists of operators",
    "--op-registration-whitelist aten::add,aten::mul": "--op-registration-whitelist aten::add,aten::mul: a word is",
    "--backend-whitelist Meta CPU,CUDA": "--backend-whitelist CPU,CUDA: a word is one name",
    "--static-dispatch-backend CPU,CUDA": "--static-dispatch-backend CPU,CUDA: a word is one name\n  write",
    "lines=1": "lines=1: the arguments determine it\n  torchgen writes PyTorch's files",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_argument_is_refused(checkout: Checkout, words: str) -> None:
    usual = [] if words.startswith("--generate") else HEADERS
    run = checkout.run("torchgen", *usual, *words.split())
    assert (run.status, run.stdout) == (3, "")
    assert f"ERROR: torchgen: {REFUSED[words]}" in run.stderr
    assert not (checkout.root / "build").exists()


def test_a_list_of_names_is_no_file_of_selected_operators(checkout: Checkout, tmp_path: Path) -> None:
    (checkout.root / "selected.yaml").write_text("# Two.\n- aten::add\n- aten::mul\n")
    run = checkout.run("torchgen", *HEADERS, "--op-selection-yaml-path", "selected.yaml")
    assert (run.status, "selected.yaml: this is a list of names" in run.stderr) == (3, True)
    with pytest.raises(Refused, match="'list' object has no attribute 'keys'"):
        run_gen(checkout.root / ATEN, tmp_path, "--op-selection-yaml-path", str(checkout.root / "selected.yaml"))
    run = checkout.run("generate-code", "--operators-yaml-path", "selected.yaml")
    assert (run.status, "--operators-yaml-path selected.yaml: this is a list" in run.stderr) == (3, True)
    checkout.run("generate-code", "--subset=libtorch", "--selected-op-list-path", "selected.yaml").ok()


LATER = {
    "--headeronly-install-dir core": (
        "2.11",
        "for PyTorch 2.12 and newer, not for 2.11\n  leave out --headeronly-install-dir, or",
    ),
    "--native-aot-ops-dir torch": ("2.13", "--native-aot-ops-dir: this is for PyTorch 2.15 and newer"),
    "--extend-aoti-c-shim": ("2.5", "--extend-aoti-c-shim 1: this is for PyTorch 2.6 and newer"),
    "--xpu": ("2.5", "--xpu: PyTorch 2.5 has no optional backend 'xpu'\n  leave it out; there are --mps and"),
    "--mps --xpu": ("2.4", "torchgen: --xpu: PyTorch 2.4 has no optional backend 'xpu'"),
    "--mtia": ("2.7", "--mtia: PyTorch 2.7 has no optional backend 'mtia'"),
}


@pytest.mark.parametrize("words", LATER)
def test_an_option_of_later_releases_is_refused(checkout: Checkout, words: str) -> None:
    release, problem = LATER[words]
    (checkout.root / "version.txt").write_text(f"{release}.0\n")
    run = checkout.run("torchgen", *HEADERS, *words.split())
    assert (run.status, problem in run.stderr) == (3, True), run.stderr


@pytest.mark.parametrize("words", ["-d out/type=debug", "--install_dir out/type=debug", "-d layout=x"])
def test_a_value_of_an_option_is_no_variable(checkout: Checkout, words: str) -> None:
    checkout.run("torchgen", *words.split(), *HEADERS, "--dry-run", "release=2.13").clean()
    checkout.run("torchgen", *HEADERS, "out/type=debug").failed("out/type=debug: there is no such variable", status=3)


def test_a_dry_run_says_what_it_does_not_write(checkout: Checkout) -> None:
    files = [word for name in ("stamp", "depfile", "outputs") for word in (f"--{name}", f"build/{name}")]
    run = checkout.run("torchgen", *HEADERS, "--dry-run", *files).ok()
    assert run.stderr.splitlines() == [
        f"torchgen: --{name} build/{name}: it is not written with --dry-run" for name in ("stamp", "depfile", "outputs")
    ]
    assert [path.name for path in checkout.root.glob("build/*")] == ["gradmill"]  # the cache


def test_the_types_are_those_of_torchgen() -> None:
    (options,) = upstream(())
    assert [tuple(values[1]) for names, values in options if "--generate" in names] == [TYPES]


# ---- files and lists


def times(checkout: Checkout) -> dict[Path, int]:
    paths = [*(checkout.root / INSTALL).rglob("*"), *checkout.root.glob("*.cmake")]
    return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}


def test_a_dry_run_writes_the_lists_alone(checkout: Checkout, shared: Path) -> None:
    generate(checkout, *LISTS, "--dry-run")
    assert (files(checkout), Generated(checkout.root).lists) == ({}, by_torchgen(checkout, shared).lists)
    generate(checkout, *LISTS)
    before = times(checkout)
    (checkout.root / NATIVE).write_text((checkout.root / NATIVE).read_text() + "- func: new(Tensor self) -> Tensor\n")
    generate(checkout, *LISTS, "--dry-run")
    changed = {path.name for path, time in times(checkout).items() if before.get(path) != time}
    assert changed == {"ops_lists.cmake"}
    assert "new_ops.h" in (checkout.root / "ops_lists.cmake").read_text()
    generate(checkout, *LISTS)
    assert files(checkout) == by_torchgen(checkout, shared).files


def test_lists_of_torchgen_are_taken_over_and_others_stay(checkout: Checkout, shared: Path) -> None:
    for name, text in by_torchgen(checkout, shared).lists.items():
        (checkout.root / name).write_text(text.replace('"', '"./'))
    (checkout.root / "core_lists.cmake").write_text("# mine\n")
    for more in ((), ("--dry-run",)):
        run = checkout.run("torchgen", "-d", INSTALL, *HEADERS, *LISTS, *more)
        assert run.status != 0
        assert "core_lists.cmake: there is a file that gradmill did not generate" in run.stderr
        assert "--output-dependencies FILE" in run.stderr
        assert files(checkout) == {}
    (checkout.root / "core_lists.cmake").unlink()
    generate(checkout, *LISTS)
    assert Generated(checkout.root).lists == by_torchgen(checkout, shared).lists


def test_a_tree_of_torchgen_is_taken_over(checkout: Checkout, shared: Path) -> None:
    """Some of its files do not name a generator."""
    (checkout.root / INSTALL).mkdir()
    for name, data in shared_gen(shared, checkout.root / ATEN, *ALL[:1]).files.items():
        path = checkout.root / INSTALL / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    path = checkout.root / NATIVE
    path.write_text(path.read_text().replace("Scalar alpha=1", "Scalar alpha=2"))
    expected = shared_gen(shared, checkout.root / ATEN, *ALL[:1]).files
    before = times(checkout)
    checkout.run("torchgen", *ALL).ok()
    assert files(checkout) == expected
    assert checkout.root / INSTALL / "core" / "TensorBody.h" in {
        path for path, time in times(checkout).items() if before[path] != time
    }
    shutil.rmtree(checkout.root / "build")  # the cache
    path.write_text(path.read_text().replace("Scalar alpha=2", "Scalar alpha=3"))
    checkout.run("torchgen", *ALL).ok()
    assert files(checkout) == shared_gen(shared, checkout.root / ATEN, *ALL[:1]).files


def test_an_empty_word_is_the_value_of_its_option(checkout: Checkout, tmp_path: Path) -> None:
    run = checkout.run("torchgen", "-d", "", *HEADERS)
    assert (run.status, "ERROR: torchgen: --install-dir: the path is empty" in run.stderr) == (3, True)
    checkout.run("torchgen", *ALL[:3], "--aoti-install-dir", "").ok()
    expected = run_gen(checkout.root / ATEN, tmp_path, ALL[0], "--aoti-install-dir", "").files
    assert (files(checkout), "c_shim_cpu.cpp" in expected) == (expected, True)


def test_an_operator_that_goes_takes_its_headers_along_and_files_of_others_stay(checkout: Checkout) -> None:
    generate(checkout)
    before = files(checkout)
    others = {"ops/mine.h": b"// mine\n", "RegisterSchema.cpp": b"// written by torchgen.gen\n"}
    for name, data in others.items():
        (checkout.root / INSTALL / name).write_bytes(data)
    path = checkout.root / NATIVE
    text = path.read_text()
    path.write_text(text + "- func: new(Tensor self) -> Tensor\n")
    generate(checkout)
    made = files(checkout).keys() - before.keys() - others.keys()
    assert made == {f"ops/new{kind}.h" for kind in ("", "_ops", "_native", "_compositeimplicitautograd_dispatch")}
    path.write_text(text)
    generate(checkout)
    assert files(checkout) == before | others


def test_what_goes_is_removed_from_other_folders_too(checkout: Checkout) -> None:
    """From that of the shims, and from one below `ops`."""
    path, shims = checkout.root / NATIVE, checkout.root / "shims"
    words = ("torchgen", *ALL[:3], "--aoti-install-dir", "shims")
    checkout.run(*words).ok()
    before = files(checkout), sorted(shims.iterdir())
    text = path.read_text()
    path.write_text(text + "- func: in/one(Tensor self) -> Tensor\n")
    checkout.run(*words, "--xpu", "-o", str(checkout.root / "lists.cmake")).ok()
    assert {path.name for path in checkout.root.glob("*_lists.cmake")} >= {"cpu_vec_lists.cmake", "xpu_lists.cmake"}
    made = {*files(checkout)} - {*before[0]}
    assert {"RegisterXPU_0.cpp", "ops/in/one_ops.h"} <= made and (shims / "c_shim_xpu.cpp").exists()
    path.write_text(text)
    checkout.run(*words).ok()
    assert (files(checkout), sorted(shims.iterdir())) == before
    assert not (checkout.root / INSTALL / "ops" / "in").exists()


def test_all_types_of_files_and_their_lists_are_those_of_torchgen(checkout: Checkout, shared: Path) -> None:
    checkout.run("torchgen", *ALL, *LISTS).ok()
    expected = shared_gen(shared, checkout.root / ATEN, "--per-operator-headers", *LISTS)
    assert files(checkout) == expected.files
    assert Generated(checkout.root).lists == expected.lists and len(expected.lists) == 5
    assert {"RegisterCPU_0.cpp", "Declarations.yaml", f"{SHIMS}/c_shim_cpu.cpp", "ops/add.h"} <= files(checkout).keys()
    before = times(checkout)
    for type_ in TYPES:  # as CMake does
        own = checkout.run("torchgen", *ALL, "--generate", type_)
        assert (own.status, times(checkout)) == (0, before), own.stderr


EDITED = "- func: edited(Tensor self, int dim=0) -> Tensor\n"
EDITS = (  # what each writes of all files: aten/test_contract.py
    (NATIVE, EDITED, f"{EDITED}  variants: function, method\n  dispatch:\n    CPU: edited\n  autogen: edited.out\n"),
    (NATIVE, "edited(Tensor self, int dim=0)", "edited(Tensor self, int dim=1)"),
    (TAGS, "- tag: core\n", "- tag: a_new_one\n  desc: A tag.\n\n- tag: core\n"),
)


def test_an_edit_writes_what_differs_and_an_error_nothing(checkout: Checkout, shared: Path) -> None:
    def edit(name: str, old: str, new: str) -> Run:
        replace_once(checkout.root / name, old, new)
        return checkout.run("torchgen", *ALL)

    assert edit(NATIVE, KEYS, f"{KEYS}{EDITED}\n").status == 0
    for each in EDITS:
        before, then = files(checkout), times(checkout)
        run = edit(*each).ok()
        written = {
            path.relative_to(checkout.root / INSTALL) for path, at in times(checkout).items() if then.get(path) != at
        }
        assert written == {Path(name) for name, data in files(checkout).items() if before.get(name) != data}, each
    assert files(checkout) == shared_gen(shared, checkout.root / ATEN, *ALL[:1]).files
    then = times(checkout)
    of_one = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha={})"  # and not of its two variants
    run = edit(NATIVE, of_one.format(1), of_one.format(2))
    assert (run.status, "add" in run.stderr, times(checkout)) == (1, True, then)


def test_files_without_headers_of_each_operator_are_those_of_torchgen(checkout: Checkout, shared: Path) -> None:
    checkout.run("torchgen", *ALL[1:], *LISTS).ok()
    expected = shared_gen(shared, checkout.root / ATEN, *LISTS)
    assert files(checkout) == expected.files
    assert Generated(checkout.root).lists == expected.lists
    assert b"struct TORCH_API add_Tensor {" in files(checkout)["MethodOperators.h"]


def test_headers_of_shims_are_updated_or_compared(checkout: Checkout, shared: Path) -> None:
    run = checkout.run("torchgen", *ALL, "--update-aoti-c-shim").ok()
    updated = files(checkout)
    assert updated == shared_gen(shared, checkout.root / ATEN, *ALL[:1], "--update-aoti-c-shim").files
    header = checkout.root / INSTALL / SHIMS / "c_shim_cpu.h"
    declared = header.read_text()
    assert "aoti_torch_cpu_add_Scalar(" in declared
    assert checkout.run("torchgen", *ALL, "--depfile", "aten.d").status == 0
    assert str(header) in (checkout.root / "aten.d").read_text()
    before = times(checkout)
    for text in ("", declared.replace("aoti_torch_cpu_add_Scalar(", "aoti_torch_cpu_add_Scalar(double late, ")):
        header.write_text(text)
        run = checkout.run("torchgen", *ALL)
        assert (run.status, "aoti_torch_cpu_add_Scalar" in run.stderr) == (1, True)
        assert {path: time for path, time in times(checkout).items() if path != header} == {
            path: time for path, time in before.items() if path != header
        }
    header.unlink()
    assert checkout.run("torchgen", *ALL).status == 0  # as with torchgen.gen
    assert not header.exists()


def test_an_error_of_the_lists_is_not_hidden_by_the_functions_that_are_missing_after_it(checkout: Checkout) -> None:
    checkout.run("torchgen", *ALL, "--update-aoti-c-shim").ok()
    edit_generator(checkout, "torchgen/aoti/fallback_ops.py", "inductor_fallback_ops", ")")
    run = checkout.run("torchgen", *ALL)
    assert (run.status, "not Python: unmatched ')'" in run.stderr, "compiled models" in run.stderr) == (1, True, False)
    assert run.stderr.endswith("\n1 error\n")


def test_the_tags_may_be_elsewhere(checkout: Checkout) -> None:
    generate(checkout)
    before = files(checkout)
    generate(checkout, "--headeronly_install_dir", "headeronly/core")
    moved = (checkout.root / "headeronly" / "core" / "enum_tag.h").read_bytes()
    assert files(checkout) | {"core/enum_tag.h": moved} == before
    assert "core/enum_tag.h" not in files(checkout)


def test_the_depfile_names_the_templates_that_upstreams_build_misses(checkout: Checkout) -> None:
    generate(checkout, "--depfile", "aten.d", "--stamp", "aten.stamp")
    text = (checkout.root / "aten.d").read_text()
    assert text.startswith(f"{checkout.root}/aten.stamp: ")
    for name in ("Operator.h", "NativeFunction.h"):
        assert f"{checkout.root}/{ATEN}/templates/{name}" in text
    assert f"{checkout.root}/{NATIVE}" in text
