"""Files that each operator has, of a family that is only here: written, checked and removed one by one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from project import Project

_MADE_UP = """
from pipeline.families.family import Family, OperatorHeader


class MadeUp(Family):
    name, label = "made_up", "made-up names"
    templates, needs = ("MadeUp.h",), "MadeUp.h"
    rendered = ("name", "inplace")
    folders, folder = ("ops",), "ATen"
    shards_by = "base"
    by_default = described = False

    def headers(self, release):
        return (
            OperatorHeader("_all", "MadeUp.h", {"names": "name"}, {"what": "all of {operator}"}),
            OperatorHeader("_inplace", "MadeUp.h", {"names": "inplace"}, {"what": "in-place"}, optional="inplace"),
        )

    def files(self, units, layout, release):
        return self.header_files(units, release)

    def owns(self, name):
        return name.startswith("ops/")

    def titled(self, names):
        return f"made up {names.name}"

    def plan(self, subject, release):
        return subject.func

    def render(self, plan, release):
        return {"name": f"// {plan}", "inplace": f"// {plan.name}" if plan.name.inplace else ""}


MADE_UP = MadeUp()
"""
_FAMILY = {"families": "made_up"}


@pytest.fixture
def project(own_code: Project) -> Project:
    """A project built by a gradmill that has the family."""
    families = own_code.root / "pipeline" / "families"
    (families / "made_up").mkdir()
    (families / "made_up" / "__init__.py").touch()
    (families / "made_up" / "files.py").write_text(_MADE_UP)
    table = families / "table.py"
    text = table.read_text().replace("GRAPHS,", "MADE_UP, GRAPHS,")
    table.write_text(text.replace("\nFAMILIES", "from pipeline.families.made_up.files import MADE_UP\n\nFAMILIES", 1))
    own_code.path("templates/MadeUp.h").write_text("// ${generated_comment}\n// ${what}\n  ${names}\n")
    return own_code.build(**_FAMILY)


def _header(project: Project, name: str) -> Path:
    return project.generated / "ATen" / "ops" / name


def _changes(project: Project, before: dict[str, bytes]) -> dict[str, str]:
    """What a run wrote and removed."""
    after = project.files()
    found = {name: "written" for name, data in after.items() if before.get(name) != data}
    return found | {name: "removed" for name in before if name not in after}


def test_each_operator_has_its_own(project: Project) -> None:
    text = _header(project, "exp_all.h").read_text().splitlines()
    assert text[:2] == ["// @generated from packaged/autograd/templates/MadeUp.h", "// all of exp"]
    assert [line.partition("(")[0] for line in text[2:]] == ["  // exp", "  // exp_", "  // exp.out"]
    assert _header(project, "exp_inplace.h").read_text().splitlines()[2:] == ["  // exp_"]
    assert not _header(project, "mv_inplace.h").exists()
    assert project.run(**_FAMILY).ran == []
    assert project.files() == project.clean_build(**_FAMILY)


def test_an_edit_writes_the_files_of_its_operator(project: Project) -> None:
    before = project.files()
    project.replace("native_functions.yaml", "exp(Tensor self) -> Tensor", "exp(Tensor self, int n=0) -> Tensor")
    project.replace("native_functions.yaml", "exp.out(Tensor self, *", "exp.out(Tensor self, int n=0, *")
    project.replace("native_functions.yaml", "exp_(Tensor(a!) self) ->", "exp_(Tensor(a!) self, int n=0) ->")
    project.build(**_FAMILY)
    assert _changes(project, before) == {"ATen/ops/exp_all.h": "written"}
    assert project.files() == project.clean_build(**_FAMILY)


def test_a_new_operator_and_a_removed_one(project: Project) -> None:
    before = project.files()
    project.append("native_functions.yaml", "- func: made_up_(Tensor(a!) self) -> Tensor(a!)\n")
    run = project.run(**_FAMILY)
    assert (run.status, sorted(run.shards)) == (0, ["ATen/ops/{operator}_all.h", "ATen/ops/{operator}_inplace.h"])
    made = {"ATen/ops/made_up_all.h": "written", "ATen/ops/made_up_inplace.h": "written"}
    assert {name: what for name, what in _changes(project, before).items() if "functional" not in name} == made
    project.replace("native_functions.yaml", "- func: made_up_(Tensor(a!) self) -> Tensor(a!)\n", "")
    project.build(**_FAMILY)
    assert project.files() == before


def test_a_template_changes_all_of_them(project: Project) -> None:
    before = project.files()
    project.append("templates/MadeUp.h", "// The end.")
    run = project.run(**_FAMILY)
    assert (run.status, run.units) == (0, [])
    assert _changes(project, before) == dict.fromkeys(before, "written")
    project.replace("templates/MadeUp.h", "${what}", "${when}")
    run = project.run(**_FAMILY)
    assert run.status != 0
    assert run.stderr.count("the template has an unknown hole '${when}'") == 1


def test_a_damaged_or_deleted_file_is_written_again(project: Project) -> None:
    before = project.files()
    _header(project, "exp_all.h").write_text("// @generated from MadeUp.h, damaged\n")
    _header(project, "mv_all.h").unlink()
    run = project.run(**_FAMILY)
    assert (run.status, run.units, run.shards) == (0, [], ["ATen/ops/{operator}_all.h"])
    assert project.files() == before


def test_a_file_of_others_stops_the_run_before_any_is_written(own_code: Project, project: Project) -> None:
    before = project.files()
    foreign = _header(project, "zz_all.h")
    foreign.write_text("// mine\n")
    project.append("native_functions.yaml", "- func: zz(Tensor self) -> Tensor\n")
    project.append("native_functions.yaml", "- func: aa(Tensor self) -> Tensor\n")
    run = project.run(**_FAMILY)
    assert run.status != 0
    assert f"{foreign}: there is a file that gradmill did not generate" in run.stderr
    assert foreign.read_text() == "// mine\n"
    assert {
        name: data for name, data in project.files().items() if "zz" not in name
    } == before  # `aa_all.h` is not there


def test_an_edited_file_of_a_removed_operator_stays_and_is_reported(project: Project) -> None:
    project.append("native_functions.yaml", "- func: zz(Tensor self) -> Tensor\n")
    project.build(**_FAMILY)
    header = _header(project, "zz_all.h")
    header.write_text(header.read_text() + "// mine\n")
    project.replace("native_functions.yaml", "- func: zz(Tensor self) -> Tensor\n", "")
    run = project.run(**_FAMILY)
    assert f"{header}: this file was changed after gradmill generated it" in run.stderr
    assert header.exists()


def test_a_unit_and_a_file_explain_one_another(project: Project) -> None:
    text = project.run("explain", "made up exp_", **_FAMILY).stdout
    assert "ATen/ops/exp_all.h" in text and "ATen/ops/exp_inplace.h" in text
    assert "ATen/ops/mv_inplace.h" not in project.run("explain", "made up mv", **_FAMILY).stdout
    text = project.run("explain", "ATen/ops/exp_all.h", **_FAMILY).stdout
    assert "MadeUp.h 3 functions made into" in " ".join(text.split())
    line = project.run("explain", f"{_header(project, 'exp_all.h')}:4", **_FAMILY).stdout
    assert "made up exp_, made_up unit of exp_" in line
    assert "a line of the template" in project.run("explain", "ATen/ops/exp_all.h:2", **_FAMILY).stdout
    project.append("native_functions.yaml", "- func: zz(Tensor self) -> Tensor\n")
    text = project.run("explain", **_FAMILY).stdout
    assert "ATen/ops/zz_all.h" in text and "exp_all.h" not in text


def test_they_are_compared_unit_by_unit(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.specs, tmp_path / "other")
    run = project.run("diff", "--code", against=tmp_path / "other", **_FAMILY)
    assert (run.status, "no generated byte" in run.stdout) == (0, True), run.stdout
    project.append("native_functions.yaml", "- func: zz(Tensor self) -> Tensor\n")
    run = project.run("diff", "--code", against=tmp_path / "other", **_FAMILY)
    assert run.status == 1
    assert "+  // zz(Tensor self) -> Tensor" in run.stdout, run.stdout + run.stderr


def test_they_go_with_their_family(project: Project) -> None:
    project.build(families="nodes")
    assert not (project.generated / "ATen").exists()
    project.build(**_FAMILY)
    assert _header(project, "exp_all.h").exists()
    assert project.run("clean", **_FAMILY).status == 0
    assert [*project.generated.iterdir()] == []


def test_tasks_and_reports_have_one_name_for_all_of_them(project: Project) -> None:
    name = "ATen/ops/{operator}_all.h"
    listed = project.run("list", "--all", **_FAMILY).stdout
    assert f"shard:{name}" in listed
    assert "exp_all.h" not in listed
    _header(project, "exp_all.h").unlink()
    run = project.run("run", str(_header(project, "exp_all.h")), **_FAMILY)
    assert (run.status, run.shards) == (0, [name])
    _header(project, "exp_inplace.h").unlink()
    _header(project, "exp_all.h").unlink()
    assert f"\n{len(project.files()) + 2} files in {project.generated}, " in (out := project.run(**_FAMILY).stdout)
    assert out.endswith("; 2 changed\n")
    assert f"\n{len(project.files())} files in {project.generated}; none" in project.run(**_FAMILY).stdout
    files = {file["path"]: file for file in json.loads(project.manifest())["files"]}
    assert files["ATen/ops/exp_all.h"]["units"] == ["made up exp", "made up exp_", "made up exp.out"]
    assert files.keys() == project.files().keys()
