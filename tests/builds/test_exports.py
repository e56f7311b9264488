"""Rules for other build systems: `export cmake`, `export bazel`; snippets and lines of jq in docs/consumers.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cpp import toolchain
from project import ROOT, Project, files_in
from with_bazel import Bazel, needs_bazel

from gradmill.cli.commands.export import FORMATS

DOCS = (ROOT / "docs" / "consumers.md").read_text()
FORMULA = "  self: grad * result.conj()\n"  # of exp
EXAMPLE = ROOT / "examples" / "bazel"
SPLIT = {"layout": "split", "shards": 2, "families": "nodes"}
BAZEL = """
load("//:gradmill.bzl", "gradmill_inputs")
gradmill_inputs(name = "gradmill_inputs")
local_repository(name = "rules_cc", path = "stand_ins/rules_cc")
local_repository(name = "rules_java", path = "stand_ins/rules_java")
"""


def snippets(heading: str, kind: str) -> list[str]:
    """The code blocks of a kind under a heading of docs/consumers.md."""
    section = DOCS.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{kind}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def edit(project: Project) -> None:
    project.replace("derivatives.yaml", FORMULA, FORMULA.replace("grad * ", "grad * 1 * "))


# ---- what is written


def loaded(text: str) -> dict[str, Any]:
    """What a .bzl file defines. Starlark is a part of Python; `genrule` gives the arguments that it got."""
    rules: list[dict[str, Any]] = []
    native = type("native", (), {"genrule": staticmethod(lambda **given: rules.append(given))})
    scope: dict[str, Any] = {"native": native, "repository_rule": lambda **given: given}
    exec(compile(text, "gradmill.bzl", "exec"), scope)  # noqa: S102
    scope["gradmill_generate"]("generate")
    return {**scope, "rule": rules[0]}


def test_the_rule_of_bazel_declares_the_files_of_the_manifest(tiny: Project) -> None:
    run = tiny.run("export", "bazel").ok()
    file = loaded(run.stdout)
    lists = ["cache/set/manifest.json", "cache/set/units.json"]
    assert file["MANIFEST"] == lists
    made = {*lists, *(f"generated/{name}" for name in tiny.files())}
    assert set(file["rule"]["outs"]) == made and len(file["rule"]["outs"]) == len(made)
    assert file["SOURCES"] == ["generated/Functions.cpp"]
    assert "generated/Functions.h" in file["HEADERS"]
    assert "generated/python_functionsEverything.cpp" in file["OTHERS"]


def test_the_rule_of_bazel_names_every_input(tiny: Project) -> None:
    inputs = loaded(tiny.run("export", "bazel").stdout)["_INPUTS"]
    read = {each["name"] for each in json.loads(tiny.manifest())["inputs"]} - {"gradmill"}
    assert {str(tiny.specs / name) for name in read} <= set(inputs.values())
    assert inputs["gradmill"] == str(ROOT / "pipeline" / "gradmill")
    assert inputs["helpers/core_helpers.h"] == str(tiny.specs / "templates" / "core_helpers.h")


def test_the_rule_of_bazel_generates_what_a_run_generates(tiny: Project, tmp_path: Path) -> None:
    file = loaded(tiny.run("export", "bazel").stdout)
    script = file["rule"]["cmd"].replace("$(@D)", "out").replace("$$", "$")
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    written = files_in(tmp_path / "out" / "generated")
    assert written == tiny.files()
    assert all((tmp_path / "out" / path).is_file() for path in file["rule"]["outs"])


def test_every_rule_declares_the_list_of_units(tiny: Project) -> None:
    units = str(tiny.rows.with_name("units.json"))
    assert f" {units} " in tiny.run("export", "ninja").stdout
    text = tiny.run("export", "cmake").stdout
    assert f"set(gradmill_units [==[{units}]==])" in text
    assert "BYPRODUCTS ${gradmill_units} " in text


@pytest.mark.parametrize("format_", [name for name in FORMATS if name != "ninja"])
def test_an_error_of_the_set_is_reported_and_no_rule_is_written(project: Project, format_: str) -> None:
    project.replace("derivatives.yaml", FORMULA, FORMULA.replace("self", "slef"))
    run = project.run("export", format_)
    assert (run.status, run.stdout) == (1, "")
    assert "did you mean 'self'?" in run.stderr


def test_a_path_that_cmake_would_split_is_refused(tiny: Project, tmp_path: Path) -> None:
    run = tiny.run("export", "cmake", cache=tmp_path / "a;b")
    assert (run.status, run.stdout) == (3, "")
    assert "a;b: CMake cannot have ';' in a path\n  rename the folder\n" in run.stderr


def test_files_that_a_rule_names_are_absolute(tiny: Project) -> None:
    for format_, variable in (("ninja", "depfile"), ("cmake", "outputs")):
        text = tiny.run("export", format_, **{variable: "near"}).stdout
        assert f"{variable}={ROOT / 'near'}" in text


# ---- with the real programs


def run_in(folder: Path, *words: str) -> str:
    """What a program prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(words, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for a project of CMake's."""
    if reason := toolchain.missing("ninja", "cmake"):
        pytest.skip(reason)
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


START = "cmake_minimum_required(VERSION 3.21)\nproject(mine LANGUAGES CXX)\n"


@pytest.mark.slow
def test_cmake_runs_the_exported_rule_if_an_input_changed(built: Project, folder: Path) -> None:
    (folder / "gradmill.cmake").write_text(built.run("export", "cmake", **SPLIT).stdout)
    (snippet,) = (text for text in snippets("Build with CMake", "cmake") if "include(gradmill.cmake)" in text)
    lists = f"{START}{snippet}add_custom_target(made DEPENDS ${{gradmill_manifest}})\n"
    (folder / "CMakeLists.txt").write_text(lists)
    run_in(folder, "cmake", "-G", "Ninja", "-S", ".", "-B", "build")
    make = ("cmake", "--build", "build", "--target", "made")
    assert ".  shard: " in run_in(folder, *make)
    assert "no work to do" in run_in(folder, *make)
    edit(built)
    assert ".  emit: ExpBackward0" in run_in(folder, *make)
    assert "no work to do" in run_in(folder, *make)
    units = built.rows.with_name("units.json")
    before = units.read_bytes()
    units.unlink()
    run_in(folder, *make)
    assert units.read_bytes() == before
    assert "no work to do" in run_in(folder, *make)
    listed = run_in(folder, "ninja", "-C", "build", "-t", "query", "libmine.so")
    assert listed.count(".cpp.o") == 4  # Functions_<k>.cpp, Functions_<k>_formulas.cpp


@pytest.mark.slow(9)
@needs_bazel
def test_bazel_runs_the_exported_rule_if_an_input_changed(built: Project, bazel_files: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    shutil.copytree(EXAMPLE / "stand_ins", workspace / "stand_ins")
    (workspace / "WORKSPACE").write_text(BAZEL)
    (workspace / "BUILD.bazel").write_text('load("//:gradmill.bzl", "gradmill_generate")\ngradmill_generate("made")\n')
    (workspace / "gradmill.bzl").write_text(built.run("export", "bazel", **SPLIT).stdout)
    made = workspace / "bazel-bin" / "generated"
    with Bazel(bazel_files, workspace, {}) as bazel:
        assert "Executing genrule //:made" in bazel.build("//:made")
        assert "Executing" not in bazel.build("//:made")
        (units,) = (workspace / "bazel-bin" / "cache").glob("*/units.json")
        assert json.loads(units.read_bytes())["units"]
        before = files_in(made)
        edit(built)
        bazel.build("//:made")
        after = files_in(made)
        assert units.is_file()
    (changed,) = (name for name in after if before[name] != after[name])
    assert changed.endswith("_formulas.cpp")


@pytest.mark.slow(15)
def test_the_snippet_of_the_docs_works_alone(folder: Path) -> None:
    (snippet,) = (text for text in snippets("Build with CMake", "cmake") if "project(" in text)
    (configure,) = (text for text in snippets("Build with CMake", "sh") if "-B build" in text)
    (folder / "CMakeLists.txt").write_text(snippet.replace("SHARDS 8", "SHARDS 64"))  # one of them is fast to compile
    configure = configure.partition(" && ")[0]
    assert shlex.split(configure)[0] == "cmake"
    run_in(folder, "bash", "-euc", f'{configure} -DCMAKE_CXX_FLAGS="-O0 {" ".join(toolchain.hasty_flags())}"')
    name = "CMakeFiles/mine.dir/gradmill/mine/generated/Functions_0_formulas.cpp.o"
    run_in(folder, "ninja", "-C", "build", name)
    assert (folder / "build" / name).stat().st_size > 0
    commands = run_in(folder, "ninja", "-C", "build", "-t", "commands", "libmine.so")
    assert "libtorch_cpu.so" in commands.splitlines()[-1]


@pytest.mark.slow
def test_without_torch_cmake_says_how_to_find_it(folder: Path) -> None:
    lists = f"{START}find_package(gradmill REQUIRED)\nadd_library(mine OBJECT)\ngradmill_generate(TARGET mine SHARDS 1"
    configure = (
        f'cmake -G Ninja -S . -B build -Dgradmill_DIR="{ROOT / "pipeline/gradmill/builds/exports"}"'
        " -DCMAKE_DISABLE_FIND_PACKAGE_Torch=1"
    )
    (folder / "CMakeLists.txt").write_text(f"{lists})\n")
    said = run_in(folder, "bash", "-c", f"{configure} 2>&1 || true")
    assert "PyTorch was not found" in said and "-DTorch_DIR=" in said and "NO_TORCH" in said
    (folder / "CMakeLists.txt").write_text(f"{lists} NO_TORCH)\n")
    run_in(folder, "bash", "-euc", configure)


# ---- the manifest


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is absent: apt-get install jq")
def test_each_line_of_jq_in_the_docs_prints_something(small_built: Project, tmp_path: Path) -> None:
    (block,) = snippets("Read the manifest", "sh")
    lines = block.splitlines()
    assert len(lines) > 10 and all(line.startswith("jq -r ") for line in lines)
    (tmp_path / "cache" / "core").mkdir(parents=True)
    for name in ("manifest.json", "units.json"):
        shutil.copy(small_built.rows.with_name(name), tmp_path / "cache" / "core" / name)
    manifest = json.loads(small_built.rows.with_name("manifest.json").read_text())
    manifest["files"].pop()
    (tmp_path / "old.json").write_text(json.dumps(manifest))
    for line in lines:
        printed = run_in(tmp_path, "bash", "-euc", line)
        assert printed.strip() and "null" not in printed, line
