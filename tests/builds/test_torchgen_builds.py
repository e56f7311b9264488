"""`gradmill torchgen` in PyTorch's CMake: rules for files whose lists come from dry runs, as cmake/Codegen.cmake has
them, with the change of docs/pytorch.md. A copy stands in for the compiler.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.test_generate_code import Checkout, make
from cli.test_torchgen import NATIVE, TYPES, with_keys
from project import ROOT, Project, files_in, run_program

_TICK = 0.1  # a process refuses code that was saved within a tick of the clock before it began
NO_WORK = "ninja: no work to do."
INSTALL = "aten/src/ATen"
KINDS = ("", "core_", "cpu_vec_", "cuda_", "ops_")

CHANGE = "      gradmill torchgen\n"
CMAKE = """\
cmake_minimum_required(VERSION 3.21)
project(aten LANGUAGES NONE)
set(GEN_COMMAND
{change}
      --source-path {root}/cmake/../aten/src/ATen
      --install_dir ${{CMAKE_BINARY_DIR}}/aten/src/ATen
      --aoti-install-dir {root}/aoti
      --per-operator-headers)
file(GLOB_RECURSE headers_templates "{root}/aten/src/ATen/templates/*\\.h")
foreach(gen_type "headers" "sources" "declarations_yaml")
    set("GEN_COMMAND_${{gen_type}}"
        ${{GEN_COMMAND}}
        --generate ${{gen_type}}
        --output-dependencies ${{CMAKE_BINARY_DIR}}/aten/src/ATen/generated_${{gen_type}}.cmake
    )
    execute_process(
        COMMAND ${{GEN_COMMAND_${{gen_type}}}} --dry-run
        RESULT_VARIABLE status
        WORKING_DIRECTORY {root})
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "there is no list of ${{gen_type}}")
    endif()
    set(files)
    set(lists)
    foreach(kind "" core_ cpu_vec_ cuda_ ops_)
      set(list "${{CMAKE_BINARY_DIR}}/aten/src/ATen/${{kind}}generated_${{gen_type}}.cmake")
      include("${{list}}")
      list(APPEND files ${{${{kind}}generated_${{gen_type}}}})
      list(APPEND lists "${{list}}")
    endforeach()
    add_custom_command(
      OUTPUT ${{files}} ${{lists}}
      COMMAND ${{GEN_COMMAND_${{gen_type}}}}
      DEPENDS ${{headers_templates}} {root}/{native}
      WORKING_DIRECTORY {root}
    )
    list(APPEND all_files ${{files}})
endforeach()
foreach(file ${{all_files}})
  file(RELATIVE_PATH name "${{CMAKE_BINARY_DIR}}/aten/src/ATen" "${{file}}")
  string(REPLACE "/" "+" name "${{name}}")
  add_custom_command(OUTPUT "${{name}}.o" COMMAND cp "${{file}}" "${{name}}.o" DEPENDS "${{file}}" VERBATIM)
  list(APPEND objects "${{name}}.o")
endforeach()
add_custom_target(all_objects ALL DEPENDS ${{objects}})
"""


@pytest.fixture
def checkout(tiny_built: Project, torch_specs: Path, tmp_path: Path) -> Checkout:
    return with_keys(make(tmp_path / "pytorch", tiny_built.path, torch_specs))


@pytest.fixture
def build(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], set[str]]:
    """Builds with Ninja; returns the names of the files whose objects were made."""
    if any(shutil.which(program) is None for program in ("ninja", "cmake")):
        pytest.skip("Ninja or CMake is absent")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "pipeline"))
    (checkout.root / "cmake").mkdir()
    source, folder = tmp_path / "cmake", tmp_path / "build"
    source.mkdir()
    change = CHANGE.replace("gradmill torchgen", f"{sys.executable} -m gradmill torchgen")
    text = CMAKE.format(root=checkout.root, change=change, native=NATIVE)
    (source / "CMakeLists.txt").write_text(text)
    run_program("cmake", "-G", "Ninja", "-S", source, "-B", folder)
    lists = {f"{kind}generated_{type_}.cmake" for kind in KINDS for type_ in TYPES}
    assert files_in(folder / INSTALL).keys() == lists

    def build() -> set[str]:
        before = {path: path.stat().st_mtime_ns for path in folder.glob("*.o")}
        time.sleep(_TICK)
        run_program("ninja", "-C", folder)
        assert NO_WORK in run_program("ninja", "-C", folder)
        made = {path for path in folder.glob("*.o") if before.get(path) != path.stat().st_mtime_ns}
        return {path.name.replace("+", "/").removesuffix(".o") for path in made}

    return build


def listed(folder: Path) -> dict[str, bytes]:
    """The files that torchgen lists: all but one that is header-only, and those that repeat all shards."""
    left_out = re.compile(r"core/enum_tag\.h|.*Everything\.cpp|.*\.cmake")
    return {name: data for name, data in files_in(folder).items() if not left_out.fullmatch(name)}


def test_the_change_is_the_one_of_the_documentation() -> None:
    added = re.findall(r"^\+(.*\n)", (ROOT / "docs" / "pytorch.md").read_text(), re.MULTILINE)
    assert CHANGE in added


@pytest.mark.slow(10)
def test_an_edit_makes_the_objects_of_the_files_that_differ(
    checkout: Checkout, build: Callable[[], set[str]], tmp_path: Path
) -> None:
    folder, native = tmp_path / "build" / INSTALL, checkout.root / NATIVE
    assert build() == listed(folder).keys()
    text = native.read_text()
    edits = {
        "a comment": text + "# A comment.\n",
        "another argument": text.replace("keys.other(Tensor self, Tensor other)", "keys.other(Tensor self, Tensor it)"),
        "a new operator": text + "- func: new(Tensor self) -> Tensor\n",
        "none": text,
    }
    for what, edited in edits.items():
        before = listed(folder)
        native.write_text(edited)
        made, after = build(), listed(folder)
        assert made == {name for name, data in after.items() if before.get(name) != data}, what
        assert (len(made) > 0) == (what != "a comment")
        assert ("ops/new_ops.h" in after) == (what == "a new operator")
