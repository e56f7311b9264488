"""`gradmill diff`: the differences between two spec sets, and their report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from project import Project
from site_of_pages import Page

from gradmill.reports.diff.html import mark


def diff(project: Project, before: Path) -> dict[str, Any]:
    """The report from a set to the project's edited copy of it."""
    run = project.run("diff", "--format", "json", against=before).ok()
    return json.loads(run.stdout)


def kinds(report: dict[str, Any]) -> dict[str, set[str]]:
    """What changed, by operator."""
    return {op["op"]: {change["kind"] for change in op["changes"]} for op in report["ops"]}


def change(report: dict[str, Any], op: str, kind: str) -> dict[str, Any]:
    """The one change of a kind that an operator has."""
    result = [c for o in report["ops"] if o["op"] == op for c in o["changes"] if c["kind"] == kind]
    assert len(result) == 1, result
    return result[0]


def test_a_set_does_not_differ_from_itself(project: Project, small_specs: Path) -> None:
    report = diff(project, small_specs)
    assert report["ops"] == []
    assert report["before"]["nodes"] == report["after"]["nodes"] > 0


def test_a_formula_is_reported_in_both_wordings_and_foreach_functions_follow(
    project: Project, small_specs: Path
) -> None:
    project.set_formula("exp", "self", "grad * result.conj() * 1")
    report = diff(project, small_specs)
    assert kinds(report) == {
        "exp": {"formula", "forward-formula"},
        "_foreach_exp": {"formula", "forward-formula"},
    }
    edited = change(report, "exp", "formula")
    assert edited["names"] == ["self"]
    assert edited["after"] == "grad * result.conj() * 1"
    assert edited["before"] != edited["after"]
    assert {op["op"]: op["follows"] for op in report["ops"]} == {"exp": "", "_foreach_exp": "exp"}


def test_white_space_in_a_formula_is_no_change(project: Project, small_specs: Path) -> None:
    project.set_formula("sub.Scalar", "self", "match_domain(self.scalar_type(),   grad)")
    assert diff(project, small_specs)["ops"] == []


def test_a_comment_is_no_change(project: Project, small_specs: Path) -> None:
    project.append("derivatives.yaml", "# nothing new")
    assert diff(project, small_specs)["ops"] == []


def test_a_forward_derivative_is_lost_one_way_and_gained_the_other(project: Project, small_specs: Path) -> None:
    project.replace("derivatives.yaml", "  result: self_t.mul(other)\n", "")
    report = diff(project, small_specs)
    assert kinds(report)["mul.Scalar"] == {"forward-lost"}
    assert change(report, "mul.Scalar", "forward-lost")["before"] == "self_t.mul(other)"
    back = project.run("diff", "--format", "json", specs=small_specs, against=project.specs)
    assert kinds(json.loads(back.stdout))["mul.Scalar"] == {"forward-gained"}


def test_saved_variables_are_reported_by_name_and_type(project: Project, small_specs: Path) -> None:
    project.set_formula("sub.Scalar", "self", "match_domain(self.scalar_type(), grad * other)")
    report = diff(project, small_specs)
    assert kinds(report)["sub.Scalar"] == {"formula", "saved"}
    assert change(report, "sub.Scalar", "saved")["names"] == ["other"]
    assert change(report, "sub.Scalar", "saved")["after"] == "at::Scalar"


def test_an_entry_that_is_removed_renumbers_later_nodes(project: Project, small_specs: Path) -> None:
    text = project.path("derivatives.yaml").read_text()
    start = text.index("- name: div.Scalar(")
    project.path("derivatives.yaml").write_text(text[:start] + text[text.index("- name: ", start + 8) :])
    report = diff(project, small_specs)
    actual = kinds(report)
    assert actual["div.Scalar"] == {"removed"}
    assert actual["div.Tensor_mode"] == {"renumbered"}
    moved = change(report, "div.Tensor_mode", "renumbered")
    assert (moved["before"], moved["after"]) == ("DivBackward2", "DivBackward1")
    assert next(op for op in report["ops"] if op["op"] == "div.Scalar")["note"].startswith("now ")


def test_a_new_operator_is_added(project: Project, small_specs: Path) -> None:
    project.append("native_functions.yaml", "- func: wholly_new(Tensor self) -> Tensor")
    project.append("derivatives.yaml", "- name: wholly_new(Tensor self) -> Tensor\n  self: grad * self")
    report = diff(project, small_specs)
    assert kinds(report) == {"wholly_new": {"added"}}
    assert report["ops"][0]["note"] == "new operator"
    assert report["ops"][0]["before"] is None


def test_a_renamed_argument_changes_the_schema_and_keeps_its_gradient(project: Project, small_specs: Path) -> None:
    for name in ("native_functions.yaml", "derivatives.yaml"):
        text = project.path(name).read_text()
        project.path(name).write_text(text.replace("Tensor end, Scalar weight", "Tensor goal, Scalar weight"))
    project.replace("derivatives.yaml", "  end: grad.mul(weight.conj())", "  goal: grad.mul(weight.conj())")
    project.replace("derivatives.yaml", "at::lerp(self_t, end_t, weight)", "at::lerp(self_t, goal_t, weight)")
    report = diff(project, small_specs)
    assert kinds(report)["lerp.Scalar"] == {"schema", "forward-formula"}
    assert "goal" in change(report, "lerp.Scalar", "schema")["after"]


def test_the_text_names_both_sides_and_counts(project: Project) -> None:
    before = shutil.copytree(project.specs, project.folder / "before")
    project.set_formula("exp", "self", "grad * result.conj() * 1")
    run = project.run("diff", against=before).ok()
    assert run.stdout.startswith("autograd from before (PyTorch 2.13.0) to set (PyTorch 2.13.0)\n")
    assert "    + grad * result.conj() * 1\n" in run.stdout
    assert "  _foreach_exp  as exp: formula changed, forward formula changed\n" in run.stdout


def test_the_page_is_whole_escaped_and_needs_nothing_else(project: Project, small_specs: Path) -> None:
    project.set_formula("exp", "self", '"grad * (result < 1).conj() /* <b>&amp; */"')
    target = project.cache / "reports" / "diff.html"
    run = project.run("diff", "--format", "html", "--output", str(target), against=small_specs)
    assert (run.status, run.stdout) == (0, "")
    text = target.read_text()
    page = Page(target)
    assert page.text  # its elements are closed in order
    assert len(page.ids) == len(set(page.ids))
    assert {"exp", "_foreach_exp"} <= set(page.ids)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "<b>&amp;" not in text
    assert "&lt;" in text


def test_tokens_that_differ_are_marked() -> None:
    assert mark("self <= max", "self < max") == ("self <del>&lt;=</del> max", "self <ins>&lt;</ins> max")


def test_nothing_is_marked_where_nothing_is_alike() -> None:
    assert mark('not_implemented("x")', "a + b") == ("not_implemented(&quot;x&quot;)", "a + b")


def test_the_same_set_can_be_read_as_two_releases(project: Project) -> None:
    (project.specs / "RELEASE").unlink()
    run = project.run("diff", "--format", "json", against=project.specs, against_release="2.12.1", release="2.13.0")
    report = json.loads(run.stdout)
    assert (report["before"]["release"], report["after"]["release"]) == ("2.12", "2.13")


def test_without_anything_to_compare_with_it_is_asked_for(project: Project) -> None:
    project.run("diff").failed("write against=")


def test_a_missing_set_is_reported_by_its_variable(project: Project) -> None:
    project.run("diff", against="cora").failed("against=cora: there is no such spec set")


def test_errors_on_either_side_are_reported_with_their_place(project: Project, small_specs: Path) -> None:
    project.replace("derivatives.yaml", "- name: exp(Tensor self)", "- name: exq(Tensor self)")
    for variables in ({"against": small_specs}, {"specs": small_specs, "against": project.specs}):
        run = project.run("diff", **variables)
        assert run.status != 0
        assert run.stdout == ""
        assert "derivatives.yaml:" in run.stderr
        assert "Traceback" not in run.stderr
