"""The examples do what their READMEs say: what an edit compiles is read from the build tool's own log."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from cpp import toolchain
from project import ROOT, Project, replace_once, run_program

FORMULA = "  self: grad * result.conj()\n"  # of exp; the Node of `_foreach_exp` is made from it as well
NO_WORK = "ninja: no work to do."


class Log(NamedTuple):
    """What Ninja did."""

    text: str

    @property
    def generated(self) -> bool:
        return re.search(r"\] gradmill$|\] Generating|\] gradmill\b", self.text, re.MULTILINE) is not None

    @property
    def compiled(self) -> list[str]:
        """The sources that were compiled."""
        what = r"\] (?:compile|Building CXX object) \S*?(Functions_\d+(?:_formulas)?)\S*\.o$"
        return re.findall(what, self.text, re.MULTILINE)

    @property
    def linked(self) -> bool:
        return (
            re.search(r"\] (?:link|Linking CXX shared library) libcore_nodes\.so$", self.text, re.MULTILINE) is not None
        )


class Example(NamedTuple):
    """A configured build of a copy of a spec set."""

    specs: Path
    command: list[str]

    def build(self) -> Log:
        return Log(run_program(*self.command))

    def edit(self, old: str, new: str) -> None:
        replace_once(self.specs / "derivatives.yaml", old, new)


def compiler_flags() -> list[str]:
    return ["-O0", *toolchain.hasty_flags()]


def ninja(folder: Path, specs: Path) -> Example:
    build = folder / "build"
    options = ["--build", build, "--specs", specs, "--shards", "1", f"--flags={' '.join(compiler_flags())}"]
    run_program(sys.executable, "examples/ninja/configure.py", *options)
    return Example(specs, ["ninja", "-C", str(build)])


def cmake(folder: Path, specs: Path) -> Example:
    build = folder / "build"
    definitions = [f"SPECS={specs}", "SHARDS=1", f"Python3_EXECUTABLE={sys.executable}"]
    definitions.append(f"CMAKE_CXX_FLAGS={' '.join(compiler_flags())}")
    run_program(
        "cmake", "-G", "Ninja", "-S", "examples/cmake", "-B", str(build), *(f"-D{word}" for word in definitions)
    )
    return Example(specs, ["cmake", "--build", str(build)])


Configure = Callable[[Path, Path], Example]


@pytest.mark.parametrize(
    ("configure", "programs"),
    [
        pytest.param(ninja, ["ninja"], marks=pytest.mark.slow(50)),
        pytest.param(cmake, ["ninja", "cmake"], marks=pytest.mark.campaign),
    ],
)
def test_an_edit_compiles_what_it_changes(
    tmp_path: Path, tiny_built: Project, configure: Configure, programs: list[str]
) -> None:
    if reason := toolchain.missing(*programs):
        pytest.skip(reason)
    specs = tmp_path / "specs"
    shutil.copytree(tiny_built.specs, specs)
    example = configure(tmp_path, specs)

    first = example.build()
    assert first.generated
    assert sorted(first.compiled) == ["Functions_0", "Functions_0_formulas"]
    assert first.linked
    assert "warning:" not in first.text
    assert NO_WORK in example.build().text

    example.edit(FORMULA, FORMULA.replace("grad * ", "grad * 1 * "))
    formula = example.build()
    assert formula.generated
    (compiled,) = formula.compiled
    assert compiled.endswith("_formulas")
    assert formula.linked
    assert NO_WORK in example.build().text

    example.edit(
        FORMULA.replace("grad * ", "grad * 1 * "), "  # a comment\n" + FORMULA.replace("grad * ", "grad * 1 * ")
    )
    comment = example.build()
    assert comment.generated
    assert comment.compiled == []
    assert not comment.linked
    assert NO_WORK in example.build().text

    example.edit("grad * 1 * result.conj()\n", "grad * (1 + self - self) * result.conj()\n")
    saved = example.build()  # the Nodes save their input now: their header changes as well
    assert sorted(saved.compiled) == [compiled.removesuffix("_formulas"), compiled]

    (specs / "derivatives.yaml").touch()
    touched = example.build()
    assert touched.compiled == []
    assert not touched.linked
    assert NO_WORK in example.build().text


def test_the_readme_names_the_object_that_its_edit_compiles(project: Project) -> None:
    assert project.run(layout="split").status == 0
    files = json.loads(project.manifest())["files"]
    shard = next(
        file["path"] for file in files if "SinBackward0" in file["units"] and file["path"].endswith("_formulas.cpp")
    )
    readme = (ROOT / "examples" / "ninja" / "README.md").read_text()
    assert re.findall(r"compile (\w+)\.o", readme) == [shard.removesuffix(".cpp")]


def losses_in(printed: str) -> list[float]:
    return [float(loss) for loss in re.findall(r"step +\d+  loss (\S+)", printed)]


@pytest.mark.slow(50)
def test_a_model_becomes_a_program_that_trains(tmp_path: Path) -> None:
    if reason := toolchain.missing("cmake"):
        pytest.skip(reason)
    readme = (ROOT / "examples" / "graphs" / "README.md").read_text()
    (block,) = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    commands = block.replace('"$PWD/build/graphs/', f'"{tmp_path}/').replace("build/graphs", str(tmp_path))
    assert len(commands.strip().splitlines()) == 6
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    printed = run_program("sh", "-c", f"set -e\n{commands}", env=environment)
    losses = losses_in(printed)
    assert len(losses) == 11 and losses[-1] < losses[0] / 100
    (in_python,) = re.findall(r"in Python: loss (\S+)", printed)
    assert float(in_python) < losses[0] / 100


@pytest.mark.campaign
def test_a_potential_becomes_a_program_that_trains_on_forces(tmp_path: Path) -> None:
    if reason := toolchain.missing("cmake"):
        pytest.skip(reason)
    readme = (ROOT / "examples" / "forces" / "README.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    commands = "".join(blocks).replace('"$PWD/build/forces/', f'"{tmp_path}/').replace("build/forces", str(tmp_path))
    hasty = f'=None -DCMAKE_CXX_FLAGS_NONE="-O0 -fPIC -include {toolchain.precompiled("-O0")}"'
    commands = commands.replace("=Release", hasty)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}
    printed = run_program("sh", "-c", f"set -e\n{commands}", env=environment)
    losses = losses_in(printed)
    assert len(losses) == 22 and losses[10] < losses[0] / 10
    assert losses[:11] == pytest.approx(losses[11:], rel=1e-6)
    found = re.findall(r"(energies|forces|stresses): (\S+) from Python's", printed)
    assert len(found) == 6 and all(float(far) < 1e-10 for _, far in found), found
