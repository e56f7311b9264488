"""`gradmill generate-code` in builds with upstream's shape: one command, all its files as outputs in the source tree.

A copy stands in for the compiler: what is compiled, and from which text, is then read from the objects.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from checkouts import GENERATED, PLACES
from cli.test_generate_code import FORMULA, SUBSET, Checkout, make
from project import ROOT, Project, files_in, replace_once, run_program

_TICK = 0.1  # a process refuses code that was saved within a tick of the clock before it began
GRADMILL = [sys.executable, "-m", "gradmill", "generate-code"]
NO_WORK = "ninja: no work to do."

NINJA = """\
rule generate
  command = cd {root} && {command} --depfile {build}/code.d
  depfile = {build}/code.d
  deps = gcc
  restat = 1
rule compile
  command = cp $in $out
build {outputs}: generate {inputs}
"""

# PyTorch's caffe2/CMakeLists.txt with the change of docs/pytorch.md. The list of outputs begins with Functions.cpp,
# lacks the files that no build compiles, and has one that another command writes.
CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project(code LANGUAGES NONE)
set(TORCH_ROOT "{root}")
set(TORCH_GENERATED_CODE {outputs})
add_custom_command(
  OUTPUT
  "${{CMAKE_BINARY_DIR}}/generate_code.stamp"
  BYPRODUCTS
  ${{TORCH_GENERATED_CODE}}
  COMMAND
  {command}
    --stamp "${{CMAKE_BINARY_DIR}}/generate_code.stamp"
    --depfile "${{CMAKE_BINARY_DIR}}/generate_code.d"
    $<$<BOOL:${{INTERN_DISABLE_AUTOGRAD}}>:--disable-autograd>
    --force_schema_registration
  COMMAND "${{CMAKE_COMMAND}}" -E touch "${{CMAKE_BINARY_DIR}}/generate_code.stamp"
  DEPENDS
  {inputs}
  DEPFILE "${{CMAKE_BINARY_DIR}}/generate_code.d"
  WORKING_DIRECTORY "${{TORCH_ROOT}}")
add_custom_target(
  generate-torch-sources
  DEPENDS "${{CMAKE_BINARY_DIR}}/generate_code.stamp"
  )
foreach(source ${{TORCH_GENERATED_CODE}})
  get_filename_component(name "${{source}}" NAME)
  if(name MATCHES "cpp$")
    add_custom_command(OUTPUT "${{name}}.o" COMMAND cp "${{source}}" "${{name}}.o" DEPENDS "${{source}}" VERBATIM)
    list(APPEND objects "${{name}}.o")
  endif()
endforeach()
add_custom_target(code ALL DEPENDS ${{objects}})
add_dependencies(code generate-torch-sources)
"""
OF_OTHERS = "aoti_torch/c_shim_cpu.h"


class Build(NamedTuple):
    """A configured build of a checkout."""

    checkout: Checkout
    folder: Path
    arguments: tuple[str, ...]
    program: str = "ninja"

    def run(self) -> set[str]:
        """Builds; returns the sources that were compiled."""
        before = self.times()
        time.sleep(_TICK)
        done = self.build()
        assert done.returncode == 0, done.stdout + done.stderr
        return {name for name, moment in self.times().items() if before.get(name) != moment}

    def build(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.program, "-C", self.folder], capture_output=True, text=True, check=False)

    def has_no_work(self) -> bool:
        """Whether a build runs no command."""
        done = self.build()
        return done.returncode == 0 and (
            NO_WORK in done.stdout if self.program == "ninja" else "Generating" not in done.stdout
        )

    def times(self) -> dict[str, int]:
        return {path.name.removesuffix(".o"): path.stat().st_mtime_ns for path in self.folder.glob("*.o")}

    def paths(self) -> list[Path]:
        """The files of the tree that are compiled."""
        result = sorted((self.checkout.root / "torch").rglob("*.cpp"))
        return [path for path in result if "Everything" not in path.name and path.parent.name != "templates"]

    def sources(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.paths()}

    def objects(self) -> dict[str, bytes]:
        return {path.name.removesuffix(".o"): path.read_bytes() for path in self.folder.glob("*.o")}


def inputs(root: Path) -> list[Path]:
    """What upstream's builds list as dependencies of the command."""
    return [root / place for name, place in PLACES.items() if name != "templates"]


def with_ninja(checkout: Checkout, folder: Path, arguments: tuple[str, ...]) -> Build:
    folder.mkdir()
    words = [*GRADMILL, *arguments]
    run_program(*words, cwd=checkout.root)
    build = Build(checkout, folder, arguments)
    command, outputs = shlex.join(words), " ".join(str(checkout.root / "torch" / name) for name in checkout.files())
    listed = " ".join(map(str, inputs(checkout.root)))
    text = NINJA.format(root=checkout.root, command=command, build=folder, outputs=outputs, inputs=listed)
    objects = [f"build {path.name}.o: compile {path}\n" for path in build.paths()]
    (folder / "build.ninja").write_text(text + "".join(objects))
    shutil.rmtree(checkout.root / "torch")  # else Ninja, which has no dependencies yet, runs the command twice
    return build


def with_cmake(
    checkout: Checkout, folder: Path, arguments: tuple[str, ...], generator: str = "Ninja", program: str = "ninja"
) -> Build:
    run_program(*GRADMILL, *arguments, cwd=checkout.root)
    build = Build(checkout, folder, arguments, program)
    outputs = sorted(build.paths(), key=lambda path: path.name != "Functions.cpp")
    outputs += [path for path in (checkout.root / "torch").rglob("*.h") if path.parent.name != "templates"]
    shutil.rmtree(checkout.root / "torch")
    other = checkout.root / OF_OTHERS
    other.parent.mkdir(parents=True)
    other.write_text("// of another command\n")
    source = folder.with_name("cmake")
    source.mkdir()
    listed, made = (" ".join(f'"{path}"' for path in paths) for paths in (inputs(checkout.root), [*outputs, other]))
    command = " ".join([*GRADMILL, *arguments])
    text = CMAKE.format(command=command, root=checkout.root, inputs=listed, outputs=made)
    (source / "CMakeLists.txt").write_text(text)
    run_program("cmake", "-G", generator, "-S", source, "-B", folder)
    return build


def with_make(checkout: Checkout, folder: Path, arguments: tuple[str, ...]) -> Build:
    return with_cmake(checkout, folder, arguments, "Unix Makefiles", "make")


Configure = Callable[[Checkout, Path, tuple[str, ...]], Build]


@pytest.fixture(params=[with_ninja, with_cmake, with_make])
def configure(request: pytest.FixtureRequest) -> Configure:
    if any(shutil.which(program) is None for program in ("ninja", "cmake", "make")):
        pytest.skip("Ninja, CMake or Make is absent")
    result: Configure = request.param
    return result


@pytest.fixture
def checkout(tiny_built: Project, torch_specs: Path, tmp_path: Path) -> Checkout:
    return make(tmp_path / "pytorch", tiny_built.path, torch_specs)


@pytest.fixture
def build(configure: Configure, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "pipeline"))
    return configure(checkout, tmp_path / "build", SUBSET)


@pytest.fixture
def whole(configure: Configure, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """A build of all subsets by a copy of gradmill, with a list of selected operators."""
    copy = tmp_path / "gradmill"
    for name in ("pipeline", "specs"):
        shutil.copytree(ROOT / name, copy / name)
    time.sleep(_TICK)
    (checkout.root / LIST).write_text(SELECTED)
    monkeypatch.setenv("PYTHONPATH", str(copy / "pipeline"))
    return configure(checkout, tmp_path / "build", ("--operators-yaml-path", LIST))


class Edit(NamedTuple):
    """What happens to a checkout or its build, and the files of the tree that then change, as patterns of names."""

    what: str
    make: Callable[[Build], object]
    changes: tuple[str, ...] = ()


def edit(place: str, what: str, old: str, new: str, *changes: str) -> Edit:
    """Replaces a text that stands once in a file of the checkout, or of gradmill."""

    return Edit(what, lambda build: replace_once(build.checkout.root / place, old, new), changes)


def appended(place: str, what: str, text: str, *changes: str) -> Edit:
    """Adds a text at the end of a file."""

    def make(build: Build) -> None:
        with (build.checkout.root / place).open("a") as file:
            file.write(text)

    return Edit(what, make, changes)


def touched(what: str, *places: str) -> Edit:
    return Edit(what, lambda build: [os.utime(build.checkout.root / place) for place in places])


def edited_by_hand(build: Build) -> None:
    """A generated file is edited, and an input touched: else Ninja has no reason to run the command."""
    path = build.checkout.root / GENERATED / "TraceType_2.cpp"
    path.write_text(path.read_text() + "// edited by hand\n")
    os.utime(build.checkout.root / DERIVATIVES)


def deleted(name: str) -> Edit:
    def delete(build: Build) -> None:
        (build.checkout.root / GENERATED / name).unlink()
        if build.program == "make":  # which has no rule for a file among BYPRODUCTS
            (build.folder / "generate_code.stamp").unlink()

    return Edit(f"{name} deleted", delete, (name,))


DERIVATIVES, NATIVE, TAGS = (PLACES[f"{name}.yaml"] for name in ("derivatives", "native_functions", "tags"))
DEPRECATED, LIST = "tools/autograd/deprecated.yaml", "selected.yaml"
TEMPLATES = PLACES["templates"]
OTHER = "self: grad * 2 * result.conj()\n"
PAIR = """
- func: pair(Tensor self, int dim=0) -> Tensor
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: pair
"""
FORM = """
- name: mul(Tensor other, *, Tensor self) -> Tensor
  aten: mul(self, other)
"""
SELECTED = "include_all_operators: true\noperators: {}\n"
ONE = "operators:\n  aten::exp: {is_used_for_training: true, include_all_overloads: true}\n"
OF_BINDINGS = ("python_torch_functions_1.cpp", "python_torch_functionsEverything.cpp", "python_variable_methods.cpp")
OF_A_FUNCTION = (
    *OF_BINDINGS,
    "annotated_fn_args.py",
    *(f"{kind}{shard}.cpp" for kind in ("TraceType", "VariableType") for shard in ("_4", "Everything")),
)
OF_FORMS = ("python_torch_functions_0.cpp", *OF_BINDINGS[1:])
OF_A_LIST = ("VariableType*.cpp", "ADInplaceOrViewType*.cpp", "Functions.cpp", "Functions.h")
OF_EXP = ("Functions.cpp", "VariableType_[0247].cpp", "VariableTypeEverything.cpp")

CODE = "../gradmill/pipeline/gradmill/families/enum_tag/__init__.py"  # of a copy of gradmill
OF_TAGS = "python_enum_tag.cpp"
EDITS = (
    edit(DERIVATIVES, "formula", FORMULA, OTHER, *OF_EXP),
    edit(DERIVATIVES, "formula back", OTHER, FORMULA, *OF_EXP),
    edit(DERIVATIVES, "backward formula", "grad.mul(self.conj())", "grad * self.conj()", "Functions.cpp"),
    appended(DERIVATIVES, "comment", "\n# A comment.\n"),
    touched("touched inputs", DERIVATIVES, NATIVE, TAGS, f"{TEMPLATES}/Functions.cpp"),
    edit(f"{TEMPLATES}/TraceType.cpp", "template", "namespace TraceType {", "namespace  TraceType {", "TraceType*.cpp"),
    appended(NATIVE, "comment on functions", "\n# A comment.\n"),
    appended(NATIVE, "new operator", PAIR, *OF_A_FUNCTION),
    edit(NATIVE, "default in a schema", "int dim=0", "int dim=1", *OF_BINDINGS),
    edit(NATIVE, "default removed", "int dim=1", "int dim", *OF_BINDINGS, "annotated_fn_args.py"),
    edit(NATIVE, "tag of an operator", PAIR[-30:], f"{PAIR[-30:]}  tags: core\n"),
    edit(NATIVE, "deleted operator", PAIR.replace("dim=0", "dim") + "  tags: core\n", "", *OF_A_FUNCTION),
    edit(DEPRECATED, "deprecated form", "[]\n", FORM, *OF_FORMS),
    appended(DEPRECATED, "comment on forms", "\n# A comment.\n"),
    edit(DEPRECATED, "argument of a form", "*, Tensor self", "Tensor self", *OF_FORMS),
    appended(TAGS, "new tag", "\n- tag: a_new_one\n  desc: A tag.\n", OF_TAGS),
    edit(TAGS, "description of a tag", "desc: A tag.", "desc: The tag."),
    edit(f"{TEMPLATES}/{OF_TAGS}", "template of tags", "#include <pybind11", "# include <pybind11", OF_TAGS),
    edit(LIST, "selected list", SELECTED, ONE, *OF_A_LIST),
    appended(LIST, "comment on the list", "# A comment.\n"),
    edit(DERIVATIVES, "formula of a kernel that is not selected", "self_t.mul(other)", "self_t.mul(2)"),
    edit(LIST, "selected list back", f"{ONE}# A comment.\n", SELECTED, *OF_A_LIST),
    Edit("edited output", edited_by_hand, ("TraceType_2.cpp",)),
    deleted(OF_TAGS),
    deleted("Functions.h"),
    appended(CODE, "comment in gradmill's code", "\n# A comment.\n"),
    edit(CODE, "gradmill's code", "at::Tag::{", "at::Tags::{", OF_TAGS),
    edit(CODE, "gradmill's code back", "at::Tags::{", "at::Tag::{", OF_TAGS),
)


def check_edits(build: Build, made: Iterable[Edit]) -> None:
    """Each edit writes the files that it changes, compiles these, and nothing is stale or dirty afterwards."""
    assert build.run() == build.sources().keys()
    assert build.has_no_work()
    for what, make_, changes in made:
        times = build.checkout.times()
        make_(build)
        compiled, sources = build.run(), build.sources()
        now = build.checkout.times()
        written = {name.rpartition("/")[2] for name, time in now.items() if time != times.get(name)}
        matched = [fnmatch.filter(written, pattern) for pattern in changes]
        assert (sorted(written), all(matched)) == (sorted({name for names in matched for name in names}), True), what
        assert compiled == written & sources.keys(), what
        assert build.objects() == sources, what
        assert build.has_no_work(), what
    words = ["--gen-dir", "clean", f"cache={build.folder}/clean"]
    subprocess.run([*GRADMILL, *build.arguments, *words], cwd=build.checkout.root, check=True)
    assert files_in(build.checkout.root / "clean" / "torch") == build.checkout.files()


def test_the_rule_is_the_one_of_the_documentation() -> None:
    (rule,) = re.findall(r"```cmake\n(.*?)```", (ROOT / "docs" / "pytorch.md").read_text(), re.DOTALL)
    words = {"…", "gradmill generate-code"}  # those that the test replaces
    lines = [line.strip() for line in rule.replace("{", "{{").replace("}", "}}").splitlines()]
    made = [line.strip() for line in CMAKE.splitlines()]
    assert [line for line in lines if line not in (*words, *made)] == []
    assert len(lines) > 20


@pytest.mark.slow(12)
def test_all_edits_compile_the_least_and_nothing_is_stale(whole: Build) -> None:
    check_edits(whole, EDITS)


@pytest.mark.slow(3)
def test_an_error_stops_the_build_with_its_line_and_its_fix_goes_on(build: Build) -> None:
    build.run()
    build.checkout.edit(FORMULA, FORMULA.replace("self:", "slef:"))
    done = build.build()
    assert done.returncode != 0
    assert re.search(r"tools/autograd/derivatives\.yaml:\d+:\d+: error: exp: slef:", done.stdout + done.stderr)
    build.checkout.edit(FORMULA.replace("self:", "slef:"), FORMULA)
    assert build.run() == set()
    assert build.has_no_work()
