"""`gradmill generate-code` in builds with upstream's shape: one command, all its files as outputs in the source tree.

A copy stands in for the compiler: what is compiled, and from which text, is then read from the objects.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from checkouts import GENERATED, PLACES
from project import ROOT, Project

from front.test_generate_code import FORMULA, SUBSET, Checkout, make

GRADMILL = [sys.executable, "-m", "pipeline", "generate-code", *SUBSET]
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

CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project(code LANGUAGES NONE)
set(command {command} $<$<BOOL:${{INTERN_DISABLE_AUTOGRAD}}>:--disable-autograd> --force_schema_registration)
execute_process(
  COMMAND {command} --outputs "${{CMAKE_BINARY_DIR}}/code.cmake"
  WORKING_DIRECTORY "{root}" COMMAND_ERROR_IS_FATAL ANY)
include("${{CMAKE_BINARY_DIR}}/code.cmake")
add_custom_command(
  OUTPUT ${{gradmill_outputs}}
  COMMAND ${{command}} --depfile "${{CMAKE_BINARY_DIR}}/code.d"
  DEPENDS {inputs}
  DEPFILE "${{CMAKE_BINARY_DIR}}/code.d"
  WORKING_DIRECTORY "{root}")
foreach(source ${{gradmill_sources}})
  get_filename_component(name "${{source}}" NAME)
  add_custom_command(OUTPUT "${{name}}.o" COMMAND cp "${{source}}" "${{name}}.o" DEPENDS "${{source}}" VERBATIM)
  list(APPEND objects "${{name}}.o")
endforeach()
add_custom_target(code ALL DEPENDS ${{objects}})
"""


class Build(NamedTuple):
    """A configured build of a checkout."""

    checkout: Checkout
    folder: Path

    def run(self) -> set[str]:
        """Builds; returns the sources that were compiled."""
        before = self.times()
        assert self.ninja().returncode == 0
        return {name for name, time in self.times().items() if before.get(name) != time}

    def ninja(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["ninja", "-C", self.folder], capture_output=True, text=True, check=False)

    def times(self) -> dict[str, int]:
        return {path.name.removesuffix(".o"): path.stat().st_mtime_ns for path in self.folder.glob("*.o")}

    def paths(self) -> list[Path]:
        """The files of the tree that are compiled."""
        found = sorted((self.checkout.root / "torch").rglob("*.cpp"))
        return [path for path in found if "Everything" not in path.name and path.parent.name != "templates"]

    def sources(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.paths()}

    def objects(self) -> dict[str, bytes]:
        return {path.name.removesuffix(".o"): path.read_bytes() for path in self.folder.glob("*.o")}


def inputs(root: Path) -> list[Path]:
    """What upstream's builds list as dependencies of the command."""
    return [root / place for name, place in PLACES.items() if name != "templates"]


def with_ninja(checkout: Checkout, folder: Path) -> Build:
    folder.mkdir()
    checkout.generate()
    build = Build(checkout, folder)
    command, outputs = shlex.join(GRADMILL), " ".join(str(checkout.root / "torch" / name) for name in checkout.files())
    listed = " ".join(map(str, inputs(checkout.root)))
    text = NINJA.format(root=checkout.root, command=command, build=folder, outputs=outputs, inputs=listed)
    objects = [f"build {path.name}.o: compile {path}\n" for path in build.paths()]
    (folder / "build.ninja").write_text(text + "".join(objects))
    shutil.rmtree(checkout.root / "torch")  # else Ninja, which has no dependencies yet, runs the command twice
    return build


def with_cmake(checkout: Checkout, folder: Path) -> Build:
    source = folder.with_name("cmake")
    source.mkdir()
    listed = " ".join(f'"{path}"' for path in inputs(checkout.root))
    text = CMAKE.format(command=" ".join(GRADMILL), root=checkout.root, inputs=listed)
    (source / "CMakeLists.txt").write_text(text)
    command = ["cmake", "-G", "Ninja", "-S", source, "-B", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Build(checkout, folder)


Configure = Callable[[Checkout, Path], Build]


@pytest.fixture(params=[with_ninja, with_cmake])
def build(
    request: pytest.FixtureRequest,
    tiny_built: Project,
    torch_specs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Build:
    if any(shutil.which(program) is None for program in ("ninja", "cmake")):
        pytest.skip("Ninja or CMake is absent")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    configure: Configure = request.param
    return configure(make(tmp_path / "pytorch", tiny_built.path, torch_specs), tmp_path / "build")


def edits(checkout: Checkout, number: int) -> Iterator[tuple[str, bool]]:
    """Edits one after another: what each is, and whether it changes generated files."""
    derivatives = checkout.root / PLACES["derivatives.yaml"]
    native = checkout.root / PLACES["native_functions.yaml"]
    template = checkout.root / PLACES["templates"] / "VariableType.cpp"
    formulas = [f"self: grad * {number} * result.conj()\n" for number in range(number)]
    old = FORMULA
    for turn, formula in enumerate(formulas):
        kind = ("formula", "comment", "touch", "template", "back", "native")[turn % 6]
        if kind in ("formula", "back"):
            new = FORMULA if kind == "back" else formula
            checkout.edit(old, new)
            old = new
        elif kind in ("comment", "native"):
            path = derivatives if kind == "comment" else native
            path.write_text(f"{path.read_text()}\n# a comment of turn {turn}\n")
        elif kind == "touch":
            os.utime(derivatives)
        else:
            template.write_text(f"// turn {turn}\n{template.read_text()}")
        yield kind, kind in ("formula", "back", "template")


def check_edits(build: Build, number: int) -> None:
    """Each edit compiles the sources that change, and nothing is stale or dirty afterwards."""
    assert build.run() == build.sources().keys()
    assert NO_WORK in build.ninja().stdout
    for kind, changes in edits(build.checkout, number):
        before = build.sources()
        compiled, now = build.run(), build.sources()
        assert compiled == {name for name, data in now.items() if before.get(name) != data}, kind
        assert bool(compiled) == changes, kind
        assert build.objects() == now, kind
        assert NO_WORK in build.ninja().stdout, kind
    written = build.checkout.files()
    clean = Checkout(build.checkout.root)
    clean.generate(*SUBSET, "--gen-dir", "clean", f"cache={build.folder}/clean")
    assert {f"torch/{name}" for name in written} == {
        path.relative_to(build.checkout.root / "clean").as_posix()
        for path in (build.checkout.root / "clean").rglob("*")
        if path.is_file()
    }
    assert all((build.checkout.root / "clean" / "torch" / name).read_bytes() == written[name] for name in written)


def test_an_edit_compiles_the_least_and_nothing_is_stale(build: Build) -> None:
    check_edits(build, 6)


@pytest.mark.slow
def test_twenty_edits_compile_the_least_and_nothing_is_stale(build: Build) -> None:
    check_edits(build, 20)


def test_a_deleted_output_is_made_again_and_nothing_else(build: Build) -> None:
    build.run()
    place = build.checkout.root / GENERATED / "TraceType_3.cpp"
    text = place.read_bytes()
    place.unlink()
    assert build.run() <= {"TraceType_3.cpp"}
    assert place.read_bytes() == text
    assert NO_WORK in build.ninja().stdout


def test_an_error_stops_the_build_with_its_line_and_its_fix_goes_on(build: Build) -> None:
    build.run()
    build.checkout.edit(FORMULA, FORMULA.replace("self:", "slef:"))
    done = build.ninja()
    assert done.returncode != 0
    assert re.search(r"tools/autograd/derivatives\.yaml:\d+:\d+: error: exp: slef:", done.stdout)
    build.checkout.edit(FORMULA.replace("self:", "slef:"), FORMULA)
    assert build.run() == set()
    assert NO_WORK in build.ninja().stdout
