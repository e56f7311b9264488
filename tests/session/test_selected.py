"""`operators=FILE` and `autograd=0`: what a list selects, its errors, what an edit of it runs, which files go."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import copy_of
from pairs.sets import GRAPH
from project import Project, assert_clean
from watching import Watching

from gradmill.problems.problem import TextError
from gradmill.specs.operators import read_operators

KERNELS = ("VariableType", "ADInplaceOrViewType", "TraceType")


def listing(project: Project, text: str) -> str:
    """Writes the list of a project; returns its path."""
    path = project.specs / "selected_operators.yaml"
    path.write_text(text)
    return str(path)


def kernels(project: Project) -> set[str]:
    """The functions with VariableType kernels, from the manifest."""
    units = json.loads(project.manifest())["units"]
    return {unit["schema"].partition("(")[0] for unit in units if unit["family"] == "variable_type"}


def operators(*lines: str) -> str:
    return "\n  ".join(["operators:", *lines]) + "\n"


@pytest.fixture
def project(tmp_path: Path, kernels_built: Project) -> Project:
    """A small set with all templates, built without a list."""
    return copy_of(kernels_built, tmp_path)


SELECTED = [
    ("operators: {}\n", set()),
    ("[]\n", set()),
    ("- aten::exp\n", {"exp", "exp.out"}),
    ("- aten::exp.out\n", {"exp", "exp.out"}),
    (operators("aten::exp: {}", "aten::exp_: {is_used_for_training: false}"), {"exp", "exp.out"}),
    (operators("aten::exp.out: {}"), {"exp.out"}),
    (operators("aten::exp: {include_all_overloads: false}"), {"exp"}),
]


def test_a_list_selects_operators(project: Project) -> None:
    assert {"exp", "exp_", "exp.out"} < kernels(project)
    for text, selected in SELECTED:
        project.gradmill(operators=listing(project, text)).clean()
        assert kernels(project) == selected, text


def test_all_operators_are_those_without_a_list(project: Project) -> None:
    before, selected = project.files(), kernels(project)
    text = "include_all_operators: true\noperators:\n  aten::exp: {is_used_for_training: false}\n"
    assert project.gradmill(operators=listing(project, text)).status == 0
    assert (project.files(), kernels(project)) == (before, selected)


def test_an_added_operator_runs_what_it_touches(project: Project) -> None:
    shutil.rmtree(project.cache)
    path = listing(project, operators("aten::exp: {}"))
    assert project.run(operators=path).status == 0
    listing(project, operators("aten::exp: {}", "# a comment", "aten::mul.Tensor: {debug_info: [model]}"))
    run = project.run(operators=path)
    assert run.units == ["VariableType::mul_Tensor"]
    assert all(name.startswith("VariableType") for name in run.shards)
    assert kernels(project) == {"exp", "exp.out", "mul.Tensor"}
    assert_clean(project, operators=path)
    listing(project, operators("aten::exp: {is_root_operator: false}", "aten::mul.Tensor: {}"))
    assert not project.run(operators=path).shards
    listing(project, operators("aten::exp: {}"))
    assert project.run(operators=path).units == []  # what was made before is found again
    assert_clean(project, operators=path)
    assert project.run(operators=path).ran == []


def test_a_foreach_operator_brings_its_node(project: Project) -> None:
    path = listing(project, operators("aten::exp: {}"))
    assert project.run(operators=path).status == 0
    assert "ForeachExpBackward0" not in project.files()["Functions.h"].decode()
    listing(project, operators("aten::exp: {}", "aten::_foreach_exp: {}"))
    run = project.run(operators=path)
    assert {"Functions.h", "Functions.cpp"} <= set(run.shards)
    assert "struct TORCH_API ForeachExpBackward0" in project.files()["Functions.h"].decode()
    assert_clean(project, operators=path)


@pytest.mark.extension("graphs")
def test_a_graph_calls_any_operator(project: Project) -> None:
    folder = project.folder / "graphs"
    folder.mkdir()
    (folder / "model.py").write_text(GRAPH)
    assert project.gradmill(graphs="graphs", families="graphs").status == 0
    before = project.files()
    assert "graphs/model.cpp" in before
    project.gradmill(graphs="graphs", families="graphs", operators=listing(project, "[]\n")).ok()
    assert project.files() == before


@pytest.mark.parametrize("layout", ["upstream", "split"])
def test_files_that_are_no_longer_generated_are_deleted(project: Project, layout: str) -> None:
    path = listing(project, operators("aten::exp: {}"))
    assert project.gradmill(operators=path, layout=layout).status == 0
    assert any(name.startswith(KERNELS) for name in project.files())
    assert project.gradmill(operators=path, layout=layout, autograd="0").status == 0
    assert not [name for name in project.files() if name.removeprefix("templates/").startswith(KERNELS)]
    assert {"Functions.h", "ViewFuncs.h", "variable_factories.h"} <= set(project.files())
    assert_clean(project, operators=path, layout=layout, autograd="0")


def test_the_reports_name_the_list(project: Project) -> None:
    path = listing(project, operators("aten::exp: {}"))
    assert project.gradmill(operators=path).status == 0
    manifest = json.loads(project.manifest())
    assert "selected_operators.yaml" in [each["name"] for each in manifest["inputs"]]
    listed = project.gradmill("list", "--all", operators=path).stdout
    assert "emit:VariableType::exp" in listed
    assert "emit:VariableType::mul_Tensor" not in listed
    listing(project, operators("aten::mul.Tensor: {}"))
    assert "selected_operators.yaml → VariableType" in project.gradmill("explain", operators=path).stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1:1: the file is empty"),
        ("aten::add\n", "1:1: the file is neither a mapping nor a list of names"),
        ("operators: [\n", "2:1: not YAML"),
        ("- aten::exp\n- 3\n", "2:3: 3 is not the name of an operator"),
        ("operators:\n- aten::exp\n", "2:1: operators is not a mapping"),
        ("operater: {}\n", "1:1: unknown key 'operater'"),
        (operators("aten::exp:"), "2:3: 'aten::exp' needs a mapping"),
        (operators("aten::exp: {name: aten::mul}"), "2:3: 'aten::exp' has another name, 'aten::mul'"),
        (operators("aten::exp: {is_root: true}"), "2:15: unknown key 'is_root'"),
        (operators("aten::exp: {is_root_operator: 1}"), "2:33: is_root_operator is not true or false"),
        (operators("aten::exp: {}", "aten::exp: {}"), "3:3: duplicate key 'aten::exp'"),
        ("operators: {}\ndebug_info: model\n", "2:13: debug_info is not a list"),
        ("kernel_metadata: {add: 3}\n", "1:18: kernel_metadata is not a mapping of lists"),
        ("build_features: 3\n", "1:17: build_features is not a list of names"),
    ],
)
def test_an_error_has_its_line(text: str, expected: str) -> None:
    with pytest.raises(TextError) as raised:
        read_operators(text)
    error = raised.value
    assert f"{error.line}:{error.column}: {error.problem}".startswith(expected)


def test_all_errors_are_reported_at_once_and_nothing_is_written(project: Project) -> None:
    before = project.files()
    path = listing(project, operators("aten::exp: {a: 1}", "aten::mul.Tensor: {b: 2}"))
    for command in ((), ("check",)):
        run = project.gradmill(*command, operators=path)
        assert run.status != 0
        assert f"{path}:2:15: error: unknown key 'a'" in run.stderr + run.stdout
        assert f"{path}:3:22: error: unknown key 'b'" in run.stderr + run.stdout
    assert project.files() == before


UNKNOWN = [
    ("aten::epx: {}", "'aten::exp'"),
    ("'aten::epx_': {is_used_for_training: false}", "'aten::exp_'"),
    ("exp: {}", "write 'aten::exp'"),
    ("aten::mul: {include_all_overloads: false}", "include_all_overloads: true"),
    ("aten::mul.Tenser: {}", "its overloads: aten::mul.Scalar"),
]


def test_an_operator_that_no_function_is_called_is_a_warning(project: Project) -> None:
    path = listing(project, operators(*(line for line, _ in UNKNOWN)))
    for _ in range(2):  # the second run reports it, too
        run = project.gradmill(operators=path).ok()
        reports = run.stderr.split(path)[1:]
        for number, (report, (line, hint)) in enumerate(zip(reports, UNKNOWN, strict=True)):
            name = line.partition(": ")[0].strip("'")
            column = 4 if line.startswith("'") else 3
            assert report.startswith(f":{number + 2}:{column}: warning: no function is called '{name}'")
            assert hint in report
    assert project.gradmill(operators=path, strict="1").status != 0


def test_fix_mends_the_name_of_an_operator(project: Project) -> None:
    path = listing(project, "- aten::pixel_shufle\n- 'aten::pixel_shufle'\n")
    run = project.gradmill("check", operators=path, fix="1")
    assert Path(path).read_text() == "- aten::pixel_shuffle\n- 'aten::pixel_shuffle'\n", run


def test_a_missing_file_is_refused(project: Project) -> None:
    listing(project, "[]\n")
    project.gradmill(operators="set/selected_operator.yaml").failed("there is no such file", "selected_operators.yaml")
    assert "this is a folder" in project.gradmill(operators=".").stderr


def test_a_family_that_autograd_leaves_out_cannot_be_named(project: Project) -> None:
    project.gradmill(families="nodes,trace_type", autograd="0").failed("autograd=0 leaves out 'trace_type'")
    assert project.gradmill(families="nodes", autograd="0").status == 0


def test_watch_follows_the_list(project: Project) -> None:
    path = listing(project, operators("aten::exp: {}"))
    assert project.run(operators=path).status == 0
    watching = Watching(project, operators=path)
    try:
        watching.wait_for("watching")
        listing(project, operators("aten::exp: {}", "aten::mul.Tensor: {}"))
        assert "VariableType" in watching.wait_for("ms:")
    finally:
        watching.stop()
    assert project.files() == project.clean_build(operators=path)


@pytest.mark.extension("browse")
@pytest.mark.asyncio
async def test_an_editor_shows_errors_in_the_list(project: Project) -> None:
    from browse.editor import Editor

    path = Path(listing(project, operators("aten::exp: {}")))
    editor = await Editor.of(project, f"operators={path}")
    assert await editor.open(path) == []
    (shown,) = await editor.edit(path, "aten::exp", "aten::epx")
    assert "no function is called 'aten::epx'" in shown.message
    assert shown.range.start.line == 1
    assert await editor.edit(path, "aten::epx", "aten::exp") == []
    await editor.end_in_peace()
