"""The split layout: which file a Node is in, and what an edit touches."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from project import Project, files_in, sources

from gradmill.families.nodes.parts import formulas
from gradmill.families.rows import FAMILY_ROWS

SPLIT = {"layout": "split"}
DECLARED = re.compile(r"^struct (?:TORCH_API )?(\w+) : ", re.MULTILINE)


def build(project: Project, **variables: object) -> None:
    project.run(**SPLIT, **variables).ok()


def shards(project: Project) -> dict[str, str]:
    """The header that declares each Node."""
    files = {path: path.read_text() for path in project.generated.glob("Functions_*.h")}
    return {node: path.stem for path, text in files.items() for node in DECLARED.findall(text)}


def trimmed(text: str) -> str:
    """Without spaces at line ends: templates drop them."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def put_together(node: str, formulas: str, frames: str) -> str:
    """The definition of a Node from the two sources of its shard, which declare its gradient function alike."""
    begin = f"variable_list {node}_apply_functional("
    function = begin + between(formulas, f"C10_HIDDEN {begin}", "\n}\n") + "\n}\n"
    head = function.partition("\n{\n")[0]
    frame = frames.partition(f"C10_HIDDEN {head};\n\n")[2]
    applied, last, rest = frame.partition(f"variable_list {node}::apply_with_saved(")
    return f"static {function}{applied}{last}{rest}"


def between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def written(project: Project, before: dict[str, int]) -> set[str]:
    now = project.mtimes()
    return {name for name in now if before.get(name) != now[name] and not name.endswith(".d")}


def test_every_node_is_in_one_shard_as_upstream_writes_it(project: Project, tmp_path: Path) -> None:
    build(project)
    split = project.files()
    where = shards(project)
    upstream = tmp_path / "upstream"
    assert project.run(generated=upstream).status == 0
    header, source = (trimmed((upstream / f"Functions.{end}").read_text()) for end in ("h", "cpp"))
    assert where.keys() == set(DECLARED.findall(header))
    for row in (row for row in project.run("show", "emit").rows if row["family"] == "nodes"):
        declaration, definition = (trimmed(row["pieces"][piece]) for piece in ("declaration", "definition"))
        shard = where[row["unit"]]
        assert declaration in header and declaration in trimmed(split[f"{shard}.h"].decode())
        function, frame = (trimmed(split[f"{shard}{part}.cpp"].decode()) for part in ("_formulas", ""))
        assert definition in source
        assert put_together(row["unit"], function, frame).startswith(definition)
        assert function.count(f"C10_HIDDEN variable_list {row['unit']}_apply_functional(") == 1
        assert frame.count(f"variable_list {row['unit']}::apply(") == 1


def test_a_definition_says_which_entry_it_is_from(project: Project) -> None:
    build(project)
    actual = {path.name: path.read_text() for path in project.generated.glob("Functions_*.cpp")}
    for end in (".cpp", "_formulas.cpp"):
        name = shards(project)["ForeachExpBackward0"] + end
        lines = actual[name].split("\n")
        at = next(i for i, line in enumerate(lines) if "ForeachExpBackward0_apply_functional(" in line)
        assert lines[at - 1] == "// derivatives.yaml: - name: exp(…)"


@pytest.mark.parametrize("tree", ["checkout", "csrc"])
def test_files_are_the_same_in_the_folders_of_a_checkout(project: Project, tmp_path: Path, tree: str) -> None:
    build(project, generated=tmp_path / "tree", tree=tree, families="nodes")
    build(project, families="nodes")
    inner = getattr(FAMILY_ROWS["nodes"].in_trees, tree)
    assert sources(files_in(tmp_path / "tree" / inner)) == sources(project.files())


def test_formulas_do_without_compiled_autograd(project: Project) -> None:
    """It takes a quarter of the time that they are compiled in."""
    build(project)
    paths = [*project.generated.glob("Functions_*.cpp")]
    assert len(paths) == 32
    for path in paths:
        frames = not path.stem.endswith("_formulas")
        text = path.read_text()
        assert ("dynamo/compiled_autograd.h" in text) is frames
        assert ("compiled_autograd_apply_functional(\n" in text) is frames
        assert "using torch::autograd::generated::details::copy_range;" in text


@pytest.mark.parametrize(
    "needs", ["static int f(PackedArgs& a) {\n}\n", "using X = torch::dynamo::Y;\n", "g(compute_output_metadata);\n"]
)
def test_formulas_keep_compiled_autograd_where_a_template_needs_it(needs: str) -> None:
    template = """#include "torch/csrc/dynamo/compiled_autograd.h"
using torch::dynamo::autograd::PackedArgs;
// What it is for.
static at::IValue compute_output_metadata(const edge_list& next_edges) {
  if (true) {
  }
}

${autograd_function_definitions}
"""
    assert formulas(template, "autograd_function_definitions") == "${autograd_function_definitions}\n"
    assert formulas(needs + template, "autograd_function_definitions") == needs + template


@pytest.mark.parametrize("line", ["// \n", "static\n", "static compute_output_metadata(\n", "x" * 100])
def test_a_long_template_is_cut_in_no_time(line: str) -> None:
    """Linear: what took the square of its length would take minutes."""
    text = line * 200_000
    assert formulas(text, "autograd_function_definitions") == text


def test_where_an_entry_stands_changes_no_source(project: Project) -> None:
    build(project)
    before = project.mtimes()
    path = project.path("derivatives.yaml")
    path.write_text(f"# moved\n\n{path.read_text()}")
    build(project)
    assert written(project, before) == set()


def test_an_op_stays_in_its_shard_when_others_go(project: Project) -> None:
    build(project)
    before = shards(project)
    path = project.path("derivatives.yaml")
    head, start, rest = path.read_text().partition("- name: exp(")
    assert start
    path.write_text(head + rest.partition("\n\n")[2])
    build(project)
    after = shards(project)
    assert before.keys() - after.keys() == {"ExpBackward0", "ForeachExpBackward0"}
    assert after == {node: before[node] for node in after}


@pytest.mark.slow(4)
def test_the_largest_shard_is_not_much_larger_than_the_mean(torch_project: Project) -> None:
    build(torch_project)
    for end in (".h", ".cpp", "_formulas.cpp"):
        sizes = [path.stat().st_size for path in torch_project.generated.glob(f"Functions_*[0-9]{end}")]
        assert len(sizes) == 16
        assert max(sizes) <= 1.35 * sum(sizes) / len(sizes)


@pytest.mark.parametrize(("op", "node"), [("relu", "ReluBackward0"), ("exp", "ForeachExpBackward0")])
def test_a_formula_changes_one_source_and_saved_state_its_header_too(project: Project, op: str, node: str) -> None:
    build(project)
    shard = shards(project)[node]
    text = next(t for t in project.path("derivatives.yaml").read_text().split("\n- ") if t.startswith(f"name: {op}("))
    formula = next(line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("  self: "))
    before = project.mtimes()
    project.set_formula(op, "self", f"{formula} * 1")
    build(project)
    assert written(project, before) == {f"{shard}_formulas.cpp"}
    assert project.run(**SPLIT).ran == []

    before = project.mtimes()
    project.set_formula(op, "self", f"{formula} * self.sign()")
    build(project)
    functions = {name for name in written(project, before) if name.startswith("Functions")}
    assert functions == {f"{shard}_formulas.cpp", f"{shard}.cpp", f"{shard}.h"}


def test_shards_that_are_no_longer_asked_for_go(project: Project) -> None:
    build(project, shards=8)
    build(project, shards=4)
    left = {path.name for path in project.generated.glob("Functions_*.cpp")}
    assert left == {f"Functions_{k}{part}.cpp" for k in range(4) for part in ("", "_formulas")}
    manifest = json.loads(project.manifest())
    assert {file["path"] for file in manifest["files"]} == {n for n in project.files() if not n.endswith(".d")}


def test_files_of_a_template_that_is_deleted_do_not_stay_whatever_layout_they_have(kernels: Project) -> None:
    template = kernels.path("templates/TraceType.cpp")
    text = template.read_text()
    kernels.build(layout="split", shards=2)
    template.unlink()
    kernels.build()
    assert [name for name in kernels.files() if "TraceType" in name] == []
    template.write_text(text)
    kernels.build()
    kernels.build(layout="split", shards=2)
    by_hand = kernels.generated / "TraceType_0.cpp"
    by_hand.write_text(f"{by_hand.read_text()}// by hand\n")
    template.unlink()
    kernels.build()
    assert [name for name in kernels.files() if "TraceType" in name] == ["TraceType_0.cpp"]
