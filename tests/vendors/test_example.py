"""The toy backend in examples/vendor: compiled, loaded into torch as PrivateUse1, differentiated; and the tutorial of
docs/vendors.md, which ends with it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import forked
import pytest
from cpp import toolchain
from pairs.sets import SETS
from project import ROOT, files_in
from test_recipes import is_shown, ran, steps

EXAMPLE = ROOT / "examples" / "vendor"
NAMES = ("cube", "cube_", "cube_ of a row", "row", "_foreach_cube", "gated", "shifted", "mish", "mm", "relu")

TUTORIAL = (ROOT / "docs" / "vendors.md").read_text().partition("## Tutorial\n")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)  # language, file, text

pytestmark = pytest.mark.skipif(bool(toolchain.missing()), reason=toolchain.missing())


@pytest.mark.parametrize(("release", "type_"), [("2.12.1", "int64_t"), ("2.15.0", "const at::Scalar &")])
def test_an_operator_has_the_schema_and_the_derivatives_of_each_release_it_lists(
    tmp_path: Path, release: str, type_: str
) -> None:
    SETS["toy"].make(tmp_path, release)
    forked.gradmill([f"specs={tmp_path / 'set'}", "generated=generated", "cache=cache"], tmp_path).clean()
    kernels = (tmp_path / "generated" / "VariableType_0.cpp").read_text()
    assert f"shifted(c10::DispatchKeySet ks, const at::Tensor & self, {type_} by)" in kernels


def test_it_generates_kernels_of_its_own_operators_and_of_one_of_pytorchs(tmp_path: Path) -> None:
    forked.gradmill([f"specs={EXAMPLE}", "generated=generated", "cache=cache"], tmp_path).ok()
    actual = {name: data.decode() for name, data in files_in(tmp_path / "generated").items()}
    text = actual["VariableType_0.cpp"]
    pytorchs, _, own = text.partition("TORCH_LIBRARY_IMPL(toy,")
    assert pytorchs.count('m.impl("') == 3, "mish, and its variants"
    assert own.count('m.impl("') == 7
    assert "int64_t by)" not in text, "that schema is for an earlier release"
    assert "toy::_ops::cube::redispatch(ks" in text and "at::redispatch::mish(ks" in text
    assert "ForeachCubeBackward0" in actual["Functions.h"]
    assert "squared_error" not in "".join(actual.values()), "a composite has no kernel"
    assert "struct structured_mm_out : public at::meta::structured_mm {" in actual["PrivateUse1NativeFunctions.h"]
    registered = re.findall(r'm\.impl\("(.*?)"', actual["RegisterPrivateUse1.cpp"])
    assert registered == ["mm", "mm.out", "relu", "relu.out", "relu_"]


@pytest.mark.slow(15)
def test_formulas_are_verified_with_functions_that_say_what_the_operators_do(tmp_path: Path) -> None:
    (tmp_path / "reference.py").write_text(
        "def row(self, index):\n    return self.select(0, index)\n"
        "def gated(self, limit):\n"
        "    mask = self.abs().lt(limit).to(self.dtype)\n"
        "    return self * mask, mask\n"
    )
    words = ["verify", "gated", "row", "--format=json", f"specs={EXAMPLE}", "cache=cache"]
    rows = json.loads(forked.gradmill([*words, "python=reference.py"], tmp_path).stdout)["rows"]
    row, gated = sorted(rows, key=lambda each: each["name"], reverse=True)
    assert (row["status"], gated["status"]) == ("verified", "verified"), rows
    assert not any("Could not find schema" in each for each in gated["skipped"])
    assert any("Could not find schema for toy::row" in each for each in row["skipped"])  # its forward formula calls it


def follow_tutorial(folder: Path, *, compile_all: bool) -> list[str]:
    """Writes the files of the tutorial and runs its commands next to a clone: all, or those before the first that calls
    the compiler. Each must print what the page shows. Returns those that ran."""
    (folder / "gradmill").symlink_to(ROOT)
    own = folder / "backend"
    own.mkdir()
    done: list[str] = []
    for language, name, text in BLOCKS:
        if name:
            (own / name).write_text(text)
        for _, command, shown in steps(f"```{language}\n{text}```"):
            if not compile_all and re.search(r" verify |^python ", command):
                return done
            status, output = ran(re.sub(r"^python ", f"{sys.executable} ", command), own)
            good = status == 0 or "error" in shown
            assert good and is_shown(shown, output), f"{command}: {status}\n{output}"
            done.append(command)
    return done


@pytest.mark.extension("verify")
def test_the_tutorial_before_its_first_compilation(tmp_path: Path) -> None:
    assert len(follow_tutorial(tmp_path, compile_all=False)) > 3


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with libtoy.so, by the commands of the tutorial."""
    folder = tmp_path_factory.mktemp("tutorial")
    assert any("train.py" in command for command in follow_tutorial(folder, compile_all=True))
    return folder / "backend" / "build" / "toy"


def script(folder: Path, name: str) -> str:
    """What a script of the example prints, which succeeds."""
    command = [sys.executable, str(EXAMPLE / name), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.slow(18)
def test_it_compiles_loads_and_passes_gradcheck(compiled: Path) -> None:
    lines = script(compiled, "use.py").splitlines()
    passed = [line.partition(":")[0] for line in lines if line.endswith("gradgradcheck pass")]
    assert (passed, lines[-1]) == ([*NAMES, "squared_error"], "mm.out: resized, strided, rejected")


@pytest.mark.slow(18)
def test_its_formulas_are_verified_on_its_device(
    compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY", str(compiled))
    copytree(EXAMPLE, tmp_path / "set")
    words = ["specs=set", "generated=generated", "cache=cache", f"python={EXAMPLE / 'verify.py'}"]
    run = forked.gradmill(["verify", "--all", *words], tmp_path).clean()
    assert "6 verified, with torch " in run.stdout
    path = tmp_path / "set" / "csrc" / "toy_formulas.h"
    path.write_text(path.read_text().replace("(grad * mask)", "(grad * (1 - mask))"))
    run = forked.gradmill(["verify", "gated", *words], tmp_path)
    assert run.status == 1
    assert "gated: self: the gradient of self" in run.stdout


EDITS = (  # of a file -> the objects that are compiled
    (
        "specs/toy_derivatives.yaml",
        "self: row_gradient(grad, self",
        "self: row_gradient(grad * 1, self",
        ["Functions_0_formulas"],
    ),
    ("specs/toy_backend.yaml", "device_guard: true", "device_guard: false", ["RegisterPrivateUse1"]),
    ("specs/toy_backend.yaml", "# A kernel", "# One", []),
)


@pytest.mark.campaign
def test_cmake_compiles_it_in_the_split_layout_and_an_edit_recompiles_one_file(tmp_path: Path) -> None:
    if reason := toolchain.missing("ninja", "cmake"):
        pytest.skip(reason)
    copytree(EXAMPLE, tmp_path / "set")
    build = tmp_path / "build"
    words = {
        "Python3_EXECUTABLE": sys.executable,
        "gradmill_DIR": ROOT / "pipeline" / "gradmill" / "builds" / "exports",
        "SHARDS": 1,
    }
    definitions = [f"-D{name}={value}" for name, value in {**words, "CMAKE_CXX_FLAGS": "-O0"}.items()]
    cmake("-G", "Ninja", "-S", str(tmp_path / "set"), "-B", str(build), *definitions)
    assert len(cmake("--build", str(build))) == 8
    for name, old, new, objects in EDITS:
        path = tmp_path / "set" / name
        assert path.read_text().count(old) == 1
        path.write_text(path.read_text().replace(old, new))
        assert cmake("--build", str(build)) == objects, new
    assert script(build, "use.py").endswith("mm.out: resized, strided, rejected\n")
    assert float(script(build, "train.py").split()[-1]) < 0.01


def cmake(*words: str) -> list[str]:
    """The objects that a run of CMake compiles."""
    run = subprocess.run(["cmake", *words], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return re.findall(r"Building CXX object \S*?(\w+)\.cpp\.o", run.stdout)
