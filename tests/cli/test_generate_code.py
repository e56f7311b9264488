"""`gradmill generate-code` in a checkout: the tree that PyTorch's script writes, for builds that call that script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import forked
import pytest
from checkouts import GENERATED, PLACES, complete, lay_out, run_script
from project import CORE, PACKAGED, Project, Run, files_in, is_plain, replace_once

from gradmill.cli.commands.generate_code import SUBSETS

VERSION = f"{(CORE / 'RELEASE').read_text().strip()}a0"
FORMULA = "self: grad * result.conj()\n"
SUBSET = ("--subset", "libtorch")


class Checkout(NamedTuple):
    """A checkout that gradmill generates code in."""

    root: Path

    def run(self, *words: str) -> Run:
        return forked.gradmill([*words], self.root)

    def generate(self, *words: str) -> Run:
        """A run that must succeed."""
        run = self.run("generate-code", *(words or SUBSET)).ok()
        return run

    def edit(self, old: str, new: str) -> None:
        replace_once(self.root / PLACES["derivatives.yaml"], old, new)

    def files(self) -> dict[str, bytes]:
        """All files of the tree."""
        return files_in(self.root / "torch") if (self.root / "torch").exists() else {}

    def times(self) -> dict[str, int]:
        return {name: (self.root / "torch" / name).stat().st_mtime_ns for name in self.files()}


def make(root: Path, path: Callable[[str], Path], packaged: Path, deprecated: str = "[]\n") -> Checkout:
    """A checkout with all templates; `path` gives the place of a file of the set."""
    lay_out(root, path, VERSION)
    for template in (packaged / "autograd" / "templates").iterdir():
        if not (place := root / PLACES["templates"] / template.name).exists():
            shutil.copyfile(template, place)
    (root / "tools" / "autograd" / "deprecated.yaml").write_text(deprecated)
    shutil.copytree(packaged / "ATen" / "templates", root / "aten" / "src" / "ATen" / "templates")
    complete(root, packaged.parent, "checkout_script.py")
    return Checkout(root)


@pytest.fixture
def checkout(tiny_built: Project, torch_specs: Path, tmp_path: Path) -> Checkout:
    return make(tmp_path / "pytorch", tiny_built.path, torch_specs)


def by_script(checkout: Checkout, *arguments: str) -> dict[str, bytes]:
    """The tree that the script writes in a copy of the checkout. In equal ones it runs once."""
    key = _inputs(checkout.root), arguments
    if key not in _TREES:
        other = Checkout(checkout.root.with_name("by the script"))
        shutil.copytree(checkout.root, other.root, symlinks=True, ignore=shutil.ignore_patterns(*MADE))
        try:
            run_script(other.root, *arguments)
            _TREES[key] = other.files()
        finally:
            shutil.rmtree(other.root)
    return _TREES[key]


def _inputs(root: Path) -> bytes:
    """A digest of what the script may read."""
    digest = sha256()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if name not in MADE)
        for path in (Path(folder, name) for name in sorted(names)):
            digest.update(repr((path.relative_to(root), path.read_bytes())).encode())
    return digest.digest()


MADE = ("torch", "build")  # folders with what the script and gradmill write
_TREES: dict[tuple[bytes, tuple[str, ...]], dict[str, bytes]] = {}


# ---- the tree


SELECTED = """\
operators:
  aten::exp: {is_root_operator: true, is_used_for_training: true, include_all_overloads: true, debug_info: [model]}
  aten::mul.Tensor: {is_used_for_training: true, include_all_overloads: false}
"""
LISTS = {"selected.yaml": SELECTED, "none.yaml": "operators: {}\n", "names.yaml": "- aten::exp\n- aten::mul.Tensor\n"}
OPTIONS = [
    (),
    ("--disable-autograd",),
    ("--operators_yaml_path", "selected.yaml"),
    ("--operators-yaml-path=none.yaml",),
    ("--selected-op-list-path", "names.yaml", "--force_schema_registration"),
]
ARGUMENTS = [("--subset", subset) for subset in SUBSETS if subset != "libtorch"] + [
    (*SUBSET, *more) for more in OPTIONS
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_the_tree_is_what_the_script_writes(checkout: Checkout, arguments: tuple[str, ...]) -> None:
    for name, text in LISTS.items():
        (checkout.root / name).write_text(text)
    checkout.generate(*arguments)
    files = checkout.files()
    assert files == by_script(checkout, *arguments)
    assert files
    before = checkout.times()
    assert checkout.generate(*arguments).ran == []
    assert checkout.times() == before


def test_files_that_are_no_longer_made_do_not_stay(checkout: Checkout) -> None:
    run_script(checkout.root, "--subset", "pybindings")
    others = checkout.files()
    checkout.generate()
    checkout.generate(*SUBSET, "--disable-autograd")
    assert checkout.files() == others | by_script(checkout, *SUBSET, "--disable-autograd")


@pytest.mark.slow(5)
@pytest.mark.parametrize("subset", SUBSETS)
def test_the_tree_of_a_whole_release_is_what_the_script_writes(subset: str, torch_specs: Path, tmp_path: Path) -> None:
    deprecated = (torch_specs / "autograd" / "deprecated.yaml").read_text()
    checkout = make(tmp_path / "pytorch", lambda name: torch_specs / PACKAGED[name], torch_specs, deprecated)
    checkout.generate("--subset", subset)
    assert checkout.files() == by_script(checkout, "--subset", subset)


@pytest.mark.parametrize("option", ["--gen-dir", "--install_dir"])
def test_the_tree_is_where_the_script_puts_it(checkout: Checkout, option: str) -> None:
    checkout.generate(*SUBSET, option, "made/here")
    assert checkout.files() == {}
    run_script(checkout.root, *SUBSET, option, "by_script")
    written = files_in(checkout.root / "by_script")
    assert files_in(checkout.root / "made" / "here") == written


def test_an_edited_formula_rewrites_the_least(checkout: Checkout) -> None:
    checkout.generate()
    times, files = checkout.times(), checkout.files()
    checkout.edit(FORMULA, "self: result.conj() * grad\n")
    checkout.generate()
    now = checkout.files()
    changed = {name for name, data in files.items() if now[name] != data}
    assert {name for name, time in checkout.times().items() if time != times[name]} == changed
    assert "csrc/autograd/generated/Functions.cpp" in changed
    assert len(changed) < len(files) / 2
    assert now == by_script(checkout, *SUBSET)


def test_a_tree_of_the_script_is_taken_over(checkout: Checkout) -> None:
    run_script(checkout.root)
    stale = checkout.root / GENERATED / "VariableType_77.cpp"
    shutil.copyfile(checkout.root / GENERATED / "VariableType_1.cpp", stale)
    written, before = checkout.files(), checkout.times()
    assert "VariableType_77.cpp: 1 generated files are not part of the output" in checkout.generate().stderr
    assert checkout.files() == written
    assert checkout.times() == before
    checkout.edit(FORMULA, "self: result.conj() * grad\n")
    assert checkout.generate().stderr == ""
    files = checkout.files()
    assert {name for name in files if files[name] != written.get(name)} < {*by_script(checkout, *SUBSET)}
    assert files.keys() == written.keys()  # those of other subsets stay, and what gradmill did not write


def test_a_file_that_was_edited_is_put_back_in_a_tree_and_a_copy_with_notes_stays(checkout: Checkout) -> None:
    checkout.generate()
    files = checkout.files()
    place = checkout.root / GENERATED / "Functions.cpp"
    copy = place.with_name("VariableType_77.cpp")
    copy.write_text(notes := place.with_name("VariableType_1.cpp").read_text() + "// hours of my notes\n")
    os.truncate(place, 10)
    checkout.generate()
    assert copy.read_text() == notes
    checkout.generate("--subset", "pybindings")
    checkout.generate()
    assert copy.read_text() == notes
    assert {name: checkout.files()[name] for name in files} == files


def test_files_of_another_build_of_the_tree_go_only_if_they_are_as_gradmill_wrote_them(checkout: Checkout) -> None:
    checkout.generate(*SUBSET)
    place = checkout.root / GENERATED / "VariableType_1.cpp"
    place.write_text(notes := place.read_text() + "// hours of my notes\n")
    run = checkout.generate(*SUBSET, "--disable-autograd")
    assert f"{place}: this file was changed after gradmill generated it; it is no longer part" in run.stderr
    assert (place.read_text(), place.with_name("VariableType_0.cpp").exists()) == (notes, False)


def test_files_of_a_build_of_the_tree_go_after_another_build_wrote_to_it(checkout: Checkout) -> None:
    checkout.generate(*SUBSET)
    checkout.generate("--subset", "pybindings")
    before = checkout.files()
    assert checkout.generate(*SUBSET, "--disable-autograd").stderr == ""
    gone = before.keys() - checkout.files().keys()
    assert {f"csrc/autograd/generated/VariableType_{shard}.cpp" for shard in range(5)} < gone


def test_what_is_at_the_place_of_a_file_is_overwritten_as_by_the_script(checkout: Checkout) -> None:
    place = checkout.root / GENERATED / "Functions.cpp"
    place.parent.mkdir(parents=True)
    place.write_text("mine")
    place.with_name("mine.cpp").write_text("mine")
    checkout.generate()
    mine = {"csrc/autograd/generated/mine.cpp": b"mine"}
    assert checkout.files() == {**by_script(checkout, *SUBSET), **mine}


@pytest.mark.parametrize("kind", ["folder", "link", "input"])
def test_what_is_no_file_of_its_own_is_not_overwritten(checkout: Checkout, kind: str) -> None:
    place, other = checkout.root / GENERATED / "Functions.cpp", checkout.root / "other"
    place.parent.mkdir(parents=True)
    other.write_text("mine")
    native = checkout.root / PLACES["native_functions.yaml"]
    before = native.read_text()
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to(other)
    else:
        place.hardlink_to(native)
    run = checkout.run("generate-code", *SUBSET)
    assert (run.status, is_plain(run)) == (1, True)
    what = {"folder": "there is a folder", "link": "there is a link", "input": "this is an input"}[kind]
    assert f"torch/csrc/autograd/generated/Functions.cpp: {what}" in run.stderr
    assert (other.read_text(), native.read_text()) == ("mine", before)
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_an_error_is_shown_at_its_line_and_nothing_is_written(checkout: Checkout) -> None:
    checkout.edit(FORMULA, FORMULA.replace("self:", "slef:"))
    checkout.run("generate-code", *SUBSET).failed("tools/autograd/derivatives.yaml:", "did you mean 'self'", status=1)
    assert checkout.files() == {}


UNMATCHED = {  # formulas of exp that upstream refuses when it matches functions with derivatives
    "synthesized": FORMULA.replace("result.conj()", "self.sym_strides()[0]"),
    "without default": "dispatch:\n    AutogradCUDA:\n      " + FORMULA,
}


@pytest.mark.parametrize("formula", UNMATCHED.values(), ids=UNMATCHED)
def test_what_only_matching_finds_fails_only_the_subset_that_matches(checkout: Checkout, formula: str) -> None:
    checkout.edit(FORMULA + "  result: auto_element_wise\n", formula)
    for subset in ("pybindings", "python"):
        run = checkout.generate("--subset", subset)
        assert "warning: exp: " in run.stderr
        assert "foreach op '_foreach_exp' refers to this definition" in run.stderr
        assert checkout.files() == by_script(checkout, "--subset", subset)
        assert checkout.generate("--subset", subset).ran == []
        shutil.rmtree(checkout.root / "torch")
    for words in (SUBSET, ("--subset", "pybindings", "strict=1"), ("--gen-dir=.",)):
        checkout.run("generate-code", *words).failed("foreach op '_foreach_exp' refers to this definition", status=1)
    assert checkout.files() == {}
    with pytest.raises(subprocess.CalledProcessError):
        by_script(checkout, *SUBSET)


UNREAD = {  # pieces of derivatives.yaml that upstream refuses when it loads it
    "a schema": ("- name: exp(Tensor self) -> Tensor\n", "- name: exp(Tensor self -> Tensor\n"),
    "a key": (FORMULA, FORMULA.replace("self:", "selv:")),
    "no YAML": (FORMULA, FORMULA.replace("self: ", "self: [")),
}


@pytest.mark.parametrize(("old", "new"), UNREAD.values(), ids=UNREAD)
def test_derivatives_fail_only_the_subsets_that_load_them(checkout: Checkout, old: str, new: str) -> None:
    checkout.edit(old, new)
    run = checkout.generate("--subset", "python")
    assert "derivatives.yaml:" in run.stderr
    assert "warning: " in run.stderr
    assert "error: " not in run.stderr
    assert checkout.files() == by_script(checkout, "--subset", "python")
    for subset in ("libtorch", "pybindings"):
        assert checkout.run("generate-code", "--subset", subset).status == 1


def test_other_commands_know_the_tree_by_the_same_variables(checkout: Checkout) -> None:
    checkout.generate()
    variables = (
        "specs=.",
        "generated=.",
        "cache=build/gradmill",
        "families=libtorch,functionalization",
        "tree=checkout",
    )
    listed = checkout.run("list", "--all", "--status", *variables).clean()
    assert "U shard:torch/csrc/autograd/generated/Functions.h" in listed.stdout
    place = f"{GENERATED}/Functions.cpp"
    lines = (checkout.root / place).read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "ExpBackward0" in text)
    assert "ExpBackward0" in checkout.run("explain", f"{place}:{line}", *variables).stdout
    checkout.edit(FORMULA, "self: result.conj() * grad\n")
    assert place in checkout.run("explain", *variables).stdout
    assert checkout.run("clean", *variables).status == 0
    assert checkout.files() == {}


# ---- the checkout's own generator

EDITED = "tools/autograd/gen_inplace_or_view_type.py"
OTHERS = ("torchgen/api/autograd.py", "torchgen/utils.py")


def edit_generator(checkout: Checkout, place: str, old: str, new: str) -> None:
    """Edits a file of the checkout's generator. `make` links the installed torchgen's files into it."""
    torchgen = checkout.root / "torchgen"
    if torchgen.is_symlink():
        source = torchgen.resolve()
        torchgen.unlink()
        shutil.copytree(source, torchgen, ignore=shutil.ignore_patterns("packaged"))
    path = checkout.root / place
    text = path.read_text()
    assert old in text
    path.unlink()
    path.write_text(text.replace(old, new))


def test_an_edited_generator_is_a_warning_for_as_long_as_it_is_edited(checkout: Checkout) -> None:
    def warning(*names: str) -> str:
        problem = "the generator is not that of PyTorch 2.13, whose output gradmill writes"
        return f"{names[0].split()[0]}: warning: {problem}: {', '.join(names)} [changed-generator]\n"

    assert checkout.generate().stderr == ""
    edit_generator(checkout, EDITED, "num_shards=2", "num_shards=3")
    for ran in (["specs"], []):
        run = checkout.generate()
        assert run.stderr.startswith(warning(EDITED))
        assert run.ran == ran
    edit_generator(checkout, OTHERS[0], "\n", "\r\n")  # as git may convert lines
    edit_generator(checkout, OTHERS[1], "\n", "\n\n")
    assert checkout.generate().stderr.startswith(warning(EDITED, OTHERS[1]))
    (checkout.root / OTHERS[1]).unlink()
    assert checkout.generate().stderr.startswith(warning(EDITED, f"{OTHERS[1]} (missing)"))
    run = checkout.run("generate-code", *SUBSET, "strict=1")
    assert (run.status, "changed-generator" in run.stderr) == (1, True)
    for path in (checkout.root / "torchgen" / "api").glob("*.py"):
        path.unlink()
    shown = checkout.generate().stderr.partition(" [changed-generator]")[0]
    assert (shown.count(".py (missing)"), shown[-5:]) == (3, " more")
    shutil.rmtree(checkout.root / "torchgen")
    for path in (checkout.root / "tools" / "autograd").glob("*.py"):
        path.unlink()
    assert checkout.generate().stderr == ""  # nothing to compare with


def test_a_checkout_of_an_unknown_release_is_compared_with_the_one_that_it_is_read_as(checkout: Checkout) -> None:
    (checkout.root / "version.txt").write_text("2.99.0a0\n")
    assert "release=2.15 reads the checkout as that one" in checkout.run("generate-code", *SUBSET).stderr
    run = checkout.generate(*SUBSET, "release=2.13")
    assert run.stderr == "warning: version.txt: PyTorch 2.99.0a0 is not known; it is read as 2.13\n"
    run = checkout.generate(*SUBSET, "release=2.12")
    assert "the generator is not that of PyTorch 2.12" in run.stderr


# ---- arguments

REFUSED = {
    "--subset libtroch": "--subset libtroch\n  did you mean 'libtorch'?",
    "--subset": "--subset: expected one argument\n  generate-code --help lists the arguments",
    "--sub-set libtorch": "'--sub-set' is not expected here\n  did you mean '--subset'?",
    "--subset libtorch all": "'all' is not expected here\n  generate-code --help lists the arguments",
    "--selected-op-list-path a --operators_yaml_path b": (
        "there are two lists of operators\n  leave out --selected-op-list-path or --operators-yaml-path"
    ),
    "--native-functions-path native.yaml": (
        "--native-functions-path native.yaml: there is no such file\n"
        "  run the command in the root of a PyTorch checkout"
    ),
    "--tags-path version.txt": (
        "--tags-path version.txt: this is not the checkout's aten/src/ATen/native/tags.yaml\n"
        "  docs/vendors.md: files of your own"
    ),
    "--subset libtorch specs=tools": (
        "tools/tools/autograd/derivatives.yaml: there is no such file\n"
        "  run the command in the root of a PyTorch checkout, or name it: specs=DIR"
    ),
    "--subset libtorch lines=1": (
        "lines=1: the arguments determine it\n"
        "  generate-code writes PyTorch's files; for others write gradmill specs=. layout=split lines=1"
    ),
    "--selected-op-list-path=": "--selected-op-list-path: the path is empty\n  name a path, or leave the option out",
    "--operators_yaml_path=": "--operators-yaml-path: the path is empty\n  name a path, or leave the option out",
    "--install-dir=": "--install-dir: the path is empty\n  name a path, or leave the option out",
    "--subset libtorch tree=csrc": "tree=csrc: the arguments determine it\n  write --gen-dir or --install-dir",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_argument_is_refused(checkout: Checkout, words: str) -> None:
    run = checkout.run("generate-code", *words.split())
    assert (run.status, run.stderr, run.stdout) == (3, f"ERROR: generate-code: {REFUSED[words]}\n", "")
    assert checkout.files() == {}


FOREIGN = f"{GENERATED}/Functions.cpp"
FOUND = f"{FOREIGN}: there is a file that gradmill did not generate\n  move it, or name another place: "
LINK = f"{GENERATED}/Functions.h"
LINKED = f"{LINK}: there is a link, which gradmill did not create\n  move it, or name another place: "
OPTIONS = {  # arguments -> what the message names in place of a variable
    "": f"{LINKED}--gen-dir DIR",
    "--install_dir=torch/csrc": f"{LINKED}--install-dir DIR",
    f"--gen-dir out --stamp {FOREIGN}": f"{FOUND}--stamp FILE",
    f"--gen-dir out --depfile {FOREIGN}": f"{FOUND}--depfile FILE",
    "--outputs tools": "--outputs tools: this is a folder\n  name a file",
    "--operators-yaml-path versoin.txt": (
        "--operators-yaml-path versoin.txt: there is no such file\n  did you mean 'version.txt'?"
    ),
    "--selected_op_list_path=tools": (
        "--selected-op-list-path tools: this is a folder\n  name a file, as selected_operators.yaml"
    ),
}


@pytest.mark.parametrize("words", OPTIONS)
def test_a_message_names_the_options_of_the_command(checkout: Checkout, words: str) -> None:
    place = checkout.root / FOREIGN
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("mine\n")
    (checkout.root / LINK).symlink_to(place)
    run = checkout.run("generate-code", *SUBSET, *words.split())
    assert run.status != 0
    assert OPTIONS[words] in run.stderr
    assert not re.search(r"\b(generated|stamp|depfile|outputs|operators)=", run.stderr)
    assert place.read_text() == "mine\n"


def test_a_checkout_without_a_lazy_backend_is_refused(checkout: Checkout) -> None:
    run = checkout.run("generate-code", *SUBSET, "--gen_lazy_ts_backend")
    assert run.status == 3
    assert "aten/src/ATen/native/ts_native_functions.yaml: there is no such file" in run.stderr
    assert checkout.files() == {}


def test_the_command_is_for_a_checkout(tmp_path: Path) -> None:
    run = forked.gradmill(["generate-code", *SUBSET], tmp_path)
    assert run.status == 3
    assert "run the command in the root of a PyTorch checkout" in run.stderr
    assert [*tmp_path.iterdir()] == []


def test_the_checkout_may_be_elsewhere(checkout: Checkout, tmp_path: Path) -> None:
    native = f"pytorch/{PLACES['native_functions.yaml']}"
    words = [*SUBSET, "--native-functions-path", native, f"--tags-path=pytorch/{PLACES['tags.yaml']}", "--gen-dir=out"]
    assert forked.gradmill(["generate-code", *words, "--force_schema_registration"], tmp_path).status == 0
    assert files_in(tmp_path / "out" / "torch") == by_script(checkout, *SUBSET)
    assert checkout.files() == {}


def test_an_empty_subset_is_all_of_them_and_an_empty_folder_the_current_one(checkout: Checkout) -> None:
    checkout.generate("--subset=", "--gen-dir", "")
    assert checkout.files() == by_script(checkout, "--subset=", "--gen-dir=.")


@pytest.mark.parametrize("by", ["a variable", pytest.param("the current folder", marks=pytest.mark.slow)])
def test_a_folder_with_aten_alone_is_the_checkouts_copy(checkout: Checkout, by: str, tmp_path: Path) -> None:
    shutil.copytree(checkout.root / "aten", tmp_path / "buck" / "aten")
    native, tags = (tmp_path / "buck" / PLACES[f"{name}.yaml"] for name in ("native_functions", "tags"))
    words = [
        *SUBSET,
        f"--native-functions-path={native}",
        "--tags-path",
        str(tags),
        "--install_dir",
        str(tmp_path / "out"),
    ]
    here, more = (tmp_path, [f"specs={checkout.root}"]) if by == "a variable" else (checkout.root, [])
    forked.gradmill(["generate-code", *words, *more], here).ok()
    by_the_script = checkout.root.with_name("by the script")
    run_script(checkout.root, *SUBSET, "--install_dir", str(by_the_script))
    assert files_in(tmp_path / "out") == files_in(by_the_script)
    with native.open("a") as file:
        file.write("# Not that of the checkout.\n")
    run = forked.gradmill(["generate-code", *words, *more], here)
    assert (run.status, "this is not the checkout's" in run.stderr) == (3, True)


# ---- for build systems

FILES = ("--depfile", "build/code.d", "--outputs", "build/code.cmake")


def test_the_depfile_and_the_list_of_files_are_kept_up_to_date(checkout: Checkout) -> None:
    made = [checkout.root / "build" / name for name in ("code.d", "code.cmake")]
    checkout.generate(*SUBSET, *FILES)
    depfile, outputs = (path.read_text() for path in made)
    targets, _, sources = depfile.partition(": ")
    files = {str(checkout.root / "torch" / name) for name in checkout.files()}
    assert {*targets.split()} == files
    assert {str(checkout.root / place) for name, place in PLACES.items() if name != "templates"} < {*sources.split()}
    assert {str(checkout.root / place) for place in (EDITED, *OTHERS)} < {*sources.split()}
    assert all(f"[==[{name}]==]" in outputs for name in files)
    times = [path.stat().st_mtime_ns for path in made]
    assert checkout.generate(*SUBSET, *FILES).ran == []
    assert [path.stat().st_mtime_ns for path in made] == times
    for path, text in zip(made, (depfile, outputs)):
        path.unlink()
        checkout.generate(*SUBSET, *FILES)
        assert path.read_text() == text
    checkout.generate(*SUBSET, *FILES, "--stamp", "build/stamp")
    assert made[0].read_text() == f"{checkout.root}/build/stamp: {sources}"
