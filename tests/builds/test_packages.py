"""What other builds find of an installed gradmill: the CMake package, without a clone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import forked
import pytest
from cpp import toolchain
from installed import run
from project import CORE, ROOT, Project, files_in
from specs.test_spec_set import write_wheel
from vendors.vendor import Vendor

from gradmill import __version__

CONFIG = ROOT / "pipeline" / "gradmill" / "builds" / "exports"
LISTS = """
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES CXX)
find_package(gradmill {version} REQUIRED)
add_library(mine OBJECT hand.cpp)
gradmill_generate({arguments})
message(STATUS "templates ${{gradmill_TEMPLATES}}")
get_target_property(sources mine SOURCES)
message(STATUS "sources ${{sources}}")
add_custom_target(made DEPENDS "${{gradmill_MANIFEST}}")
"""
ARGUMENTS = "TARGET mine SPECS specs FAMILIES nodes factories SHARDS 3"


def test_the_version_of_the_cmake_package_is_that_of_gradmill() -> None:
    text = (CONFIG / "gradmillConfigVersion.cmake").read_text()
    assert re.findall(r'set\(PACKAGE_VERSION "(.*)"\)', text) == [__version__]


def test_the_command_names_the_folder_of_the_cmake_package(built: Project) -> None:
    run = built.run("export", "cmakedir")
    assert (run.status, run.stdout) == (0, f"{CONFIG}\n")
    assert (CONFIG / "gradmillConfig.cmake").is_file()


def test_a_copy_of_the_folder_of_a_set_is_the_set(built: Project, tmp_path: Path) -> None:
    """Of the included one, too, which an installed package has in its own folder."""
    assert built.run("export", "specsdir").stdout == f"{built.specs}\n"
    status, out, _ = forked.gradmill(["export", "specsdir", "specs=core"], tmp_path)
    assert status == 0
    shutil.copytree(out.removesuffix("\n"), tmp_path / "mine")
    status, out, error = forked.gradmill(["specs=mine", "diff", "against=core"], tmp_path)
    assert (status, error) == (0, "") and out.endswith("no differences\n")


def test_the_folder_of_a_described_set_is_that_of_its_description(tmp_path: Path) -> None:
    vendor = Vendor(tmp_path)
    assert vendor.run("export", "specsdir").stdout == f"{tmp_path / 'set'}\n"


def test_a_set_in_an_archive_has_no_folder(tmp_path: Path) -> None:
    write_wheel(tmp_path / "torch-2.13.0.whl", CORE)
    status, out, error = forked.gradmill(["export", "specsdir", "specs=torch-2.13.0.whl"], tmp_path)
    assert (status, out) == (3, "")
    assert "torch-2.13.0.whl: the spec set is inside an archive\n  unpack it first" in error


def test_the_exported_lists_are_the_files_of_the_manifest(built: Project) -> None:
    text = built.run("export", "cmake").stdout
    lists = {
        name: re.findall(r"\[==\[(.*?)\]==\]", values) for name, values in re.findall(r"set\((\w+) (.*)\)\n", text)
    }
    of_files = [path for name in ("sources", "python_sources", "others") for path in lists[f"gradmill_{name}"]]
    assert sorted(of_files) == sorted(str(built.generated / name) for name in built.files())
    assert lists["gradmill_sources"] == [str(built.generated / "Functions.cpp")]
    assert [Path(path).name for path in lists["gradmill_python_sources"]] == [
        f"python_functions_{i}.cpp" for i in range(5)
    ]
    assert lists["gradmill_templates"] == [str(built.specs / "templates")]
    assert lists["gradmill_manifest"] == [str(built.rows.parent / "manifest.json")]


# ---- in CMake


class Cmake:
    """A project of CMake's, and how it is built."""

    def __init__(self, folder: Path, commands: Path, specs: Path) -> None:
        self.folder = folder
        shutil.copytree(specs, folder / "specs")
        (folder / "hand.cpp").write_text("int hand() { return 0; }\n")
        ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        environment = {name: value for name, value in os.environ.items() if name not in ours}
        self.environment = environment | {"PATH": f"{commands}{os.pathsep}{environment['PATH']}"}

    def cmake(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(
            ["cmake", *words], cwd=self.folder, env=self.environment, check=False, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    def configure(self, arguments: str = ARGUMENTS, *, version: str = "", generator: str = "Ninja") -> tuple[int, str]:
        (self.folder / "CMakeLists.txt").write_text(LISTS.format(arguments=arguments, version=version))
        shutil.rmtree(self.folder / "build", ignore_errors=True)
        return self.cmake("-G", generator, "-S", ".", "-B", "build")

    def make(self) -> str:
        status, text = self.cmake("--build", "build", "--target", "made")
        assert status == 0, text
        return text


@pytest.fixture
def cmake(tmp_path: Path, commands: Path, tiny_built: Project) -> Cmake:
    if reason := toolchain.missing("ninja", "cmake"):
        pytest.skip(reason)
    return Cmake(tmp_path, commands, tiny_built.specs)


@pytest.mark.slow
def test_cmake_finds_an_installed_gradmill_and_generates_with_it(cmake: Cmake, commands: Path) -> None:
    status, text = cmake.configure(version=__version__)
    assert status == 0, text
    assert f"templates {cmake.folder}/specs/templates" in text
    sources = [Path(path).name for path in text.partition("-- sources ")[2].partition("\n")[0].split(";")]
    shards = [f"Functions_{k}{part}.cpp" for k in range(3) for part in ("", "_formulas")]
    assert sources == ["hand.cpp", *shards, "manifest.json"]
    assert ".  emit: " in cmake.make()
    made = files_in(cmake.folder / "build" / "gradmill" / "mine" / "generated")
    words = ["specs=specs", "families=nodes,factories", "layout=split", "shards=3"]
    assert run(commands / "gradmill", *words, cwd=cmake.folder).status == 0
    by_hand = files_in(cmake.folder / "generated" / "specs")
    assert {name for name in made if name.endswith(".d")} == {name for name in by_hand if name.endswith(".d")}
    assert {n: data for n, data in made.items() if not n.endswith(".d")} == {
        n: data for n, data in by_hand.items() if not n.endswith(".d")
    }
    assert "no work to do" in cmake.make()
    path = cmake.folder / "specs" / "derivatives.yaml"
    path.write_text(path.read_text().replace("self: grad * result.conj()\n", "self: result.conj() * grad\n"))
    assert ".  emit: ExpBackward0" in cmake.make()
    assert "no work to do" in cmake.make()


@pytest.mark.slow
def test_with_lines_a_generated_source_says_where_a_formula_is_from(cmake: Cmake) -> None:
    status, text = cmake.configure(f"{ARGUMENTS} LINES")
    assert status == 0, text
    cmake.make()
    made = files_in(cmake.folder / "build" / "gradmill" / "mine" / "generated")
    named = b'"%s/specs/derivatives.yaml"' % os.fsencode(cmake.folder)
    assert any(re.search(rb"#line \d+ " + re.escape(named), data) for data in made.values())


@pytest.mark.slow
def test_an_edit_of_the_list_of_operators_is_one_step(cmake: Cmake) -> None:
    path = cmake.folder / "list.yaml"
    path.write_text("- aten::exp\n")
    status, text = cmake.configure(f"{ARGUMENTS} OPERATORS list.yaml")
    assert status == 0, text
    cmake.make()
    generated = cmake.folder / "build" / "gradmill" / "mine" / "generated"
    assert not any(b"ForeachExpBackward0" in data for data in files_in(generated).values())
    path.write_text("- aten::_foreach_exp\n")
    cmake.make()
    assert any(b"ForeachExpBackward0" in data for data in files_in(generated).values())
    assert "no work to do" in cmake.make()


@pytest.mark.slow
def test_cmake_says_what_is_wrong(cmake: Cmake) -> None:
    for arguments, wanted in {
        "TARGET nobody": "TARGET 'nobody': there is no such target",
        "TARGET mine SPECS nowhere": "there is no such spec set",
        "TARGET mine FAMILY nodes": "'FAMILY;nodes' is not expected",
        "TARGET mine SHARDS many": "shards=many",
    }.items():
        status, text = cmake.configure(arguments)
        assert status != 0 and wanted in " ".join(text.split()), text  # CMake breaks lines, by the length of paths
    status, text = cmake.configure(generator="Unix Makefiles")
    assert status != 0 and "cmake -G Ninja" in text
    status, text = cmake.configure(version="99.0")
    assert status != 0 and "gradmill" in text
    path = cmake.folder / "specs" / "derivatives.yaml"
    path.write_text(path.read_text().replace("self: grad * result.conj()\n", "slef: grad * result.conj()\n"))
    status, text = cmake.configure()
    assert status != 0 and "did you mean 'self'?" in text


@pytest.mark.slow
def test_the_embedded_set_serves_where_no_other_is_named(cmake: Cmake, commands: Path) -> None:
    status, text = cmake.configure("TARGET mine LAYOUT upstream PYTHON")
    assert status == 0, text
    assert "python_functions_4.cpp" in text and "Everything" not in text
    folder = Path(text.partition("-- templates ")[2].partition("\n")[0])
    assert folder.is_relative_to(commands.parent)
    assert (folder / "core_helpers.h").read_bytes() == (CORE / "templates" / "core_helpers.h").read_bytes()
