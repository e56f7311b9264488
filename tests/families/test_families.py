"""`families=`: a run computes only the chosen families, and deletes the files of others."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import forked
import pytest
from project import KERNEL_FILES, NODE_FILES, RECORD, ROOT, SHARDS, Project, files_in
from test_recipes import is_shown, steps

from gradmill.families.family import Family
from gradmill.families.rows import TEMPLATES
from gradmill.families.table import FAMILIES
from gradmill.stages.kinds import kind_of
from gradmill.stages.kinds.kind import Kind, found

VIEWS = ["ViewFuncs.cpp", "ViewFuncs.h"]


def test_all_families_with_templates_are_generated_by_default(kernels: Project) -> None:
    assert sorted(kernels.files()) == sorted([*SHARDS, *KERNEL_FILES])
    assert kernels.run(families="").ran == []


def test_files_of_a_family_do_not_depend_on_the_choice_of_others(kernels: Project) -> None:
    before = kernels.files()
    run = kernels.run(families="view_funcs,factories")
    assert (run.status, run.ran) == (0, ["manifest"])
    assert kernels.files() == {name: before[name] for name in [*VIEWS, "variable_factories.h"]}
    assert kernels.files() == kernels.clean_build(families="factories,view_funcs,factories")


def test_only_units_of_the_chosen_families_are_computed(project: Project, kernels_built: Project) -> None:
    for name in VIEWS:
        project.path(f"templates/{name}").write_bytes(kernels_built.path(f"templates/{name}").read_bytes())
    run = project.run(families="view_funcs").ok()
    units = {row["unit"] for row in project.run("show", "emit", families="view_funcs").rows}
    assert set(run.units) == units == {"SelectIntViewFunc", "TransposeIntViewFunc", "ViewViewFunc"}
    assert sorted(run.shards) == VIEWS


def test_returning_to_all_families_recomputes_no_unit(kernels: Project) -> None:
    before = kernels.files()
    kernels.build(families="nodes")
    assert sorted(kernels.files()) == sorted(NODE_FILES)
    run = kernels.run()
    assert (run.status, run.units) == (0, [])
    assert kernels.files() == before
    assert kernels.run().ran == []


def test_an_edit_of_an_omitted_family_runs_no_unit(kernels: Project) -> None:
    kernels.build(families="trace_type")
    kernels.set_formula("exp", "self", "grad * result + 0 * result")
    run = kernels.run(families="trace_type")
    assert (run.status, run.units, run.shards) == (0, [], [])
    kernels.append("templates/ViewFuncs.h", "// The end.")
    run = kernels.run(families="trace_type")
    assert (run.status, run.units, run.shards) == (0, [], [])


def test_files_of_an_omitted_family_that_no_record_names_stay_in_a_named_folder(kernels: Project) -> None:
    before = kernels.files()
    shutil.rmtree(kernels.cache)
    shutil.rmtree(kernels.generated / RECORD)
    kernels.build(families="inplace_or_view")
    assert kernels.files() == before
    kernels.append("templates/ADInplaceOrViewType.cpp", "// The end.")
    kernels.build(families="inplace_or_view")
    assert kernels.files().keys() == before.keys()


def test_files_of_an_omitted_family_are_removed_from_the_default_folder_without_the_cache(kernels: Project) -> None:
    words = [f"specs={kernels.specs}", "families=inplace_or_view"]
    place = kernels.folder / "generated" / "set"
    kernels.build(generated=place)
    shutil.rmtree(kernels.cache)
    assert forked.gradmill(words, kernels.folder).status == 0
    assert sorted(files_in(place)) == sorted(name for name in KERNEL_FILES if name.startswith("ADInplaceOrView"))


def test_the_manifest_and_the_list_have_only_the_chosen_families(kernels: Project) -> None:
    kernels.build(families="view_funcs")
    manifest = json.loads(kernels.manifest())
    assert sorted(file["path"] for file in manifest["files"]) == VIEWS
    assert {unit["family"] for unit in manifest["units"]} == {"view_funcs"}
    templates = [input_["name"] for input_ in manifest["inputs"] if input_["name"].startswith("templates/")]
    assert templates == ["templates/ViewFuncs.h", "templates/ViewFuncs.cpp"]
    listed = kernels.run("list", "--all", families="view_funcs").stdout
    assert "emit:TransposeIntViewFunc" in listed
    assert "ExpBackward0" not in listed
    assert "Functions.cpp" not in kernels.run("export", "ninja", families="view_funcs").stdout


def test_the_kernels_of_an_operator_are_explained_by_their_cpp_names(kernels: Project) -> None:
    text = kernels.run("explain", "transpose.int").stdout
    assert "TraceType::transpose_int, in TraceType_" in text
    assert "ADInplaceOrView::transpose_int, in ADInplaceOrViewType_" in text
    assert "VariableType::transpose_int, in VariableType_" in text
    assert "ADInplaceOrView" not in kernels.run("explain", "transpose.int", families="trace_type").stdout
    assert "TraceTypeEverything.cpp" in kernels.run("explain", "TraceType::transpose_int").stdout


def listed(*words: str) -> dict[str, dict[str, Any]]:
    """What `gradmill families` prints as JSON, by name."""
    run = forked.gradmill(["families", *words, "format=json"], ROOT).clean()
    return {row["name"]: row for row in json.loads(run.stdout)}


def test_the_command_lists_each_family_with_what_it_says_of_itself() -> None:
    rows = listed()
    assert list(rows) == list(FAMILIES)
    for name, family in FAMILIES.items():
        own = {"by_default": family.row.by_default, "subsets": [*family.row.subsets], "described": family.described}
        own |= {"templates": [*family.row.templates], "pieces": [*family.pieces]}
        assert {key: rows[name][key] for key in own} == own
    assert [name for name, row in rows.items() if row["files"] == []] == ["hook_files"]
    assert [name for name, row in rows.items() if not row["about"] or "Family" in row["about"]] == []
    assert listed("lazy", "nodes") == {"nodes": rows["nodes"], "lazy": rows["lazy"]}
    assert listed("sources", "nodes").keys() == {"nodes"} | {
        name for name, row in rows.items() if "sources" in row["subsets"]
    }


def test_the_listed_files_are_those_of_a_run(kernels: Project) -> None:
    rows = listed()
    expected = {name for row in rows.values() if row["by_default"] for name in row["files"]}
    assert {*kernels.files()} - {"templates/VariableType.cpp"} <= expected


def test_the_slots_of_a_family_are_holes_of_its_templates(torch_specs: Path) -> None:
    for row in listed().values():
        if row["described"] and row["templates"]:
            places = (name if name.startswith("ATen/") else f"autograd/{name}" for name in row["templates"])
            text = "".join((torch_specs / place.replace("/", "/templates/", 1)).read_text() for place in places)
            assert [slot for slot in row["slots"] if not re.search(rf"\${{?,?{slot}\b", text)] == []


def test_the_page_shows_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    section = page[page.index("## Families") : page.index("## doit")]
    shown = [(step.shown, forked.gradmill(step.command.split()[1:], ROOT).clean().stdout) for step in steps(section)]
    assert len(shown) == 2
    assert [own for own, printed in shown if not is_shown(own, printed)] == []


def test_an_unknown_family_names_the_nearest_one() -> None:
    run = forked.gradmill(["families", "nods"], ROOT)
    assert (run.status, run.stderr) == (3, "ERROR: families: no family is called 'nods'\n  did you mean 'nodes'?\n")


@pytest.fixture
def with_a_new_family(own_code: Project) -> Project:
    """A project built by a gradmill with an additional family: a folder, and its name in the table."""
    families = own_code.root / "pipeline" / "gradmill" / "families"
    (families / "made_up").mkdir()
    (families / "made_up" / "__init__.py").write_text(_MADE_UP)
    table = families / "rows.py"
    row = '"made_up": FamilyRow(("MadeUp.h",), "MadeUp.h")'
    table.write_text(table.read_text().replace('    "c_shims": ', f'    {row},\n    "c_shims": '))
    own_code.path("templates/MadeUp.h").write_text("// ${generated_comment}\n${names}\n")
    return own_code


_MADE_UP = """
from gradmill.families.family import Family
from gradmill.families.file import File, pieces_in


class MadeUp(Family):
    name, label = "made_up", "made-up names"
    rendered, slots = ("name",), {"names": "name"}
    folders = ("made",)

    def files(self, units, layout, release):
        return [File("made/MadeUp.h", "MadeUp.h", pieces_in(self.slots), tuple(unit.name for unit in units))]

    def owns(self, name):
        return name == "made/MadeUp.h"

    def titled(self, names):
        return f"made up {names.name}"

    def render(self, subject, release, *, markers=False):
        return {"name": f"// {str(subject.func.name)}"}


MADE_UP = MadeUp()
"""


def test_a_new_family_is_a_folder_and_a_row(with_a_new_family: Project) -> None:
    project = with_a_new_family.build()
    header = project.files()["made/MadeUp.h"].decode().splitlines()
    assert header[0] == "// @generated from packaged/autograd/templates/MadeUp.h"
    assert {"// exp", "// exp.out", "// mv"} <= {*header}
    assert project.run().ran == []
    manifest = json.loads(project.manifest())
    assert "templates/MadeUp.h" in {input_["name"] for input_ in manifest["inputs"]}
    assert "made up exp" in {unit["unit"] for unit in manifest["units"] if unit["family"] == "made_up"}
    assert "shard:made/MadeUp.h" in project.run("list", "shard:made/MadeUp.h").stdout
    assert "emit:made up exp.out" in project.run("list", "--all").stdout
    assert "made_up unit of exp(Tensor self)" in project.run("explain", "made up exp").stdout


_LETTERS = """
from gradmill.stages.kinds.kind import Kind
from gradmill.model.units import Unit
from gradmill.query.query import table
from gradmill.stages.schemas import buckets, heads


@table
def letters(db, bucket) -> dict[str, list[str]]:
    found = {}
    for name, head in heads(db, bucket):
        found.setdefault(f"{bucket} {head.base[0]}", []).append(name)
    return found


def counted(db, name):
    return letters.item(db, name.partition(" ")[0], name)


def listed(db, family):
    return [unit for bucket in db.names(buckets) for unit in in_bucket(db, family, bucket)]


def named(db, family, name):
    functions = counted(db, name)
    return None if functions is None else unit_of(name, functions)


def in_bucket(db, family, bucket):
    return [unit_of(*each) for each in letters(db, bucket).items()]


def of_function(db, family, function):
    return [unit.name for unit in listed(db, family) if function in unit.functions]


def unit_of(name, functions):
    first = functions[0]
    return Unit(name, f"letter {name}", name, first, "native", first, function=first, functions=tuple(functions))


KIND = Kind(listed, named, in_bucket, of_function)
"""


def test_a_new_kind_of_units_is_a_module_and_a_name(with_a_new_family: Project) -> None:
    """With its family, it touches four files: two of `stages/kinds`, two of `families`."""
    kinds = with_a_new_family.root / "pipeline" / "gradmill" / "stages" / "kinds"
    (kinds / "letters.py").write_text(_LETTERS)
    registry = kinds / "__init__.py"
    registry.write_text(registry.read_text().replace("_OWN = {\n", '_OWN = {\n    "letter": "letters",\n'))
    family = kinds.parents[1] / "families" / "made_up" / "__init__.py"
    own = 'unit, subject = "letter", "kinds.letters.counted"\n    rendered, slots'
    planned = "' '.join(map(str, subject))"
    text = _MADE_UP.replace("rendered, slots", own, 1).replace("str(subject.func.name)", planned)
    family.write_text(text)
    project = with_a_new_family.build(families="made_up,nodes")
    lines = project.files()["made/MadeUp.h"].decode().splitlines()
    assert any({"exp", "exp.out"} <= {*line.split()} for line in lines)
    assert project.run(families="made_up,nodes").ran == []
    project.append("native_functions.yaml", "- func: exp.again(Tensor self, int other) -> Tensor\n")
    run = project.run(families="made_up,nodes")
    assert len(run.units) == 1 and run.shards == ["made/MadeUp.h"]
    explained = project.run("explain", run.units[0], families="made_up").stdout
    assert f"{run.units[0]}: made_up unit of exp(Tensor self)" in explained
    assert b"exp.again" in project.files()["made/MadeUp.h"]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_what_a_family_names_is_found(family: Family) -> None:
    """By name, since stages import families: units' kind, what they are planned from, their order, what files need."""
    assert isinstance(kind_of(family), Kind)
    assert callable(found(family.subject)) and callable(found(family.order))
    assert not family.given or callable(found(family.given))


@pytest.mark.parametrize(
    ("variables", "problem", "hint"),
    [
        ({"families": "tracetype"}, "families=tracetype: there is no family 'tracetype'", "did you mean 'trace_type'?"),
        ({"families": "nodes,"}, "families=nodes,: there is no family ''", "write some of nodes, variable_type, "),
        ({"family": "nodes"}, "family=nodes: there is no such variable", "did you mean 'families'?"),
        ({"families": "trace_type"}, "made from the template TraceType.cpp", "leave trace_type out"),
    ],
)
def test_unknown_families_are_errors(project: Project, variables: dict[str, object], problem: str, hint: str) -> None:
    project.run(**variables).failed(problem, hint)
    assert not project.generated.exists()


_NODES = ["Functions.h", "Functions.cpp", "python_functions.h", "python_functions.cpp"]


@pytest.mark.parametrize("families", ["", "all"])
def test_families_without_any_template_are_omitted_even_the_nodes(kernels: Project, families: str) -> None:
    for path in kernels.path("templates").iterdir():
        if path.name in TEMPLATES.main and path.name != "variable_factories.h":
            path.unlink()
    run = kernels.run(families=families).clean()
    assert sorted(kernels.files()) == ["variable_factories.h"]
    kernels.path("templates/variable_factories.h").unlink()
    run = kernels.run(families=families)
    assert run.status != 0
    assert run.stderr.count(" error: ") == 1
    assert "templates/Functions.h: error: 'nodes' is made from the template Functions.h, which" in run.stderr


@pytest.mark.parametrize(
    ("family", "missing", "named"),
    [
        ("nodes", _NODES[2:], "python_functions.h"),
        ("nodes", _NODES[:3], "Functions.h"),
        ("view_funcs", ["ViewFuncs.cpp"], "ViewFuncs.cpp"),
        ("view_funcs", ["ViewFuncs.h"], "ViewFuncs.h"),
    ],
)
def test_a_family_with_only_some_of_its_templates_is_one_error(
    kernels: Project, family: str, missing: list[str], named: str
) -> None:
    for name in missing:
        kernels.path(f"templates/{name}").unlink()
    for families in ("", "all", family):
        run = kernels.run(families=families)
        assert run.status != 0
        problem = f"error: '{family}' is made from the template {named}, which the spec set does not have"
        assert f"templates/{named}: {problem}\n  hint: leave {family} out, or add the template" in run.stderr
        assert run.stderr.count(" error: ") == 1
    assert kernels.run(families="factories").status == 0


def test_a_subset_needs_only_the_templates_of_its_files(kernels: Project) -> None:
    for name in _NODES[2:]:
        kernels.path(f"templates/{name}").unlink()
    assert kernels.run(families="libtorch").status == 0
    assert "python_functions.h, which the spec set does not have" in kernels.run(families="libtorch,nodes").stderr


def test_a_family_whose_templates_another_one_has_too_is_omitted(kernels: Project) -> None:
    kernels.path("templates/ATen").mkdir()
    kernels.path("templates/ATen/NativeFunctions.h").write_text("// ${generated_comment}\n")
    assert kernels.run(families="all").status == 0
    kernels.path("templates/ATen/NativeMetaFunction.h").write_text("// ${generated_comment}\n")
    assert "'kernel_headers' is made from the template ATen/" in kernels.run(families="all").stderr
