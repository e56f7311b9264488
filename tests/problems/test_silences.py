"""Warnings that a comment on an entry, or the description of a set, silences."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project
from vendors.vendor import Vendor

WRONG = "  self: grad * reslt\n"
REASON = "a macro of the template declares it"
SILENT = f"  # gradmill: ignore unknown-name {REASON}\n"


@pytest.fixture
def project(project: Project) -> Project:
    """The base of the bad specs, with an unknown name in the formula of `exp`."""
    project.replace("derivatives.yaml", "  self: grad * result\n", WRONG)
    return project


def check(project: Project, **variables: object) -> list[str]:
    return project.run("check", format="json", **variables).rules


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WRONG, SILENT + WRONG),
        (WRONG, WRONG.replace("\n", f"  {SILENT.strip()}\n")),
        ("- name: exp(Tensor", f"{SILENT.strip()}\n# and more about it\n- name: exp(Tensor"),
        (WRONG, f"{WRONG}  # gradmill:ignore unknown-name {REASON}\n"),
    ],
    ids=["above the formula", "behind it", "above the entry", "below the formula"],
)
def test_a_comment_on_the_entry_silences_a_warning(project: Project, old: str, new: str) -> None:
    assert check(project) == ["unknown-name"]
    project.replace("derivatives.yaml", old, new)
    assert check(project) == []
    project.run(strict=1).clean()


def test_a_silence_follows_every_edit(project: Project) -> None:
    """Each run reports what a clean build reports; one with nothing to do, too."""
    report = project.run().stderr
    assert "[unknown-name]" in report and "1 warning\n" in report
    project.replace("derivatives.yaml", WRONG, SILENT + WRONG)
    run = project.run()
    assert (run.ran, run.stderr) == (["specs", "manifest"], "")
    assert (project.run().ran, project.run().stderr) == ([], "")
    project.replace("derivatives.yaml", REASON, "another reason")
    assert project.run().stderr == ""
    project.replace("derivatives.yaml", "unknown-name another reason", "unknown-name")
    assert ["[malformed-silence]" in project.run().stderr for _ in range(2)] == [True, True]
    project.replace("derivatives.yaml", "  # gradmill: ignore unknown-name\n", "")
    assert [project.run().stderr for _ in range(2)] == [report, report]
    assert project.files() == project.clean_build()


def test_a_silence_is_for_its_rule_and_its_entry_alone(project: Project) -> None:
    project.replace("derivatives.yaml", WRONG, SILENT.replace("unknown-name", "unknown-type") + WRONG)
    assert sorted(check(project)) == ["unknown-name", "unused-silence"]
    project.replace("derivatives.yaml", "unknown-type", "unknown-name")
    project.replace("derivatives.yaml", "self: grad.mm(mat2.t())", "self: grad.mm(mta2.t())")
    assert check(project) == ["unknown-name"]


def test_a_silence_hides_no_error(project: Project) -> None:
    project.replace("derivatives.yaml", WRONG, f"{SILENT}  slef: grad\n")
    assert check(project) == ["derivatives"]


def test_a_silence_that_is_not_needed_is_reported_at_its_place(project: Project) -> None:
    project.replace("derivatives.yaml", WRONG, f"{SILENT}  self: grad * result\n")
    line = project.path("derivatives.yaml").read_text().splitlines().index(SILENT.rstrip()) + 1
    run = project.run()
    assert f"derivatives.yaml:{line}:3: warning: this silences nothing: the entry has no warning" in run.stderr
    assert "[unknown-name] [unused-silence]" in run.stderr
    assert project.run(strict=1).status == 1


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("  # gradmill: ignore unknown-name\n", "this has no reason"),
        ("  # gradmill: ignore unkown-name it is declared\n", "did you mean 'unknown-name'?"),
        ("  # gradmill: ignore\n", "this names no rule"),
    ],
)
def test_a_malformed_silence_is_reported_and_silences_nothing(project: Project, comment: str, message: str) -> None:
    project.replace("derivatives.yaml", WRONG, comment + WRONG)
    run = project.run()
    assert message in run.stderr and "[malformed-silence]" in run.stderr and "[unknown-name]" in run.stderr


def test_a_silence_on_no_entry_is_reported(project: Project) -> None:
    project.append("derivatives.yaml", SILENT.strip())
    assert sorted(check(project)) == ["malformed-silence", "unknown-name"]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("derivatives.yaml", WRONG, f'{SILENT}  self: "grad\n'),
        ("derivatives.yaml", WRONG, f"{SILENT}  self: grad: result\n"),
        ("native_functions.yaml", "- func: add.Tensor", f"- func: [\n{SILENT}- func: add.Tensor"),
    ],
    ids=["open quote", "colon", "open bracket"],
)
def test_a_file_that_is_no_yaml_has_no_silences(project: Project, name: str, old: str, new: str) -> None:
    project.replace(name, old, new)
    run = project.run("check")
    assert "not YAML" in run.stdout + run.stderr and "1 error\n" in run.stdout + run.stderr


def test_a_file_without_entries_has_no_silences(project: Project) -> None:
    project.path("derivatives.yaml").write_text(SILENT)
    assert check(project) == ["derivatives"]


def test_text_that_looks_like_a_silence_is_none(project: Project) -> None:
    project.replace("derivatives.yaml", WRONG, f'  self: "grad * reslt {SILENT.strip()}"\n')
    assert "comment" in check(project)
    project.replace("derivatives.yaml", f'"grad * reslt {SILENT.strip()}"', f"|\n    grad * reslt\n  {SILENT.rstrip()}")
    assert "unused-silence" not in check(project)


def test_other_files_have_silences_too(project: Project) -> None:
    project.replace("derivatives.yaml", WRONG, "  self: grad * result\n")
    project.replace("native_functions.yaml", "autogen: exp.out", "autogen: epx.out")
    assert check(project) == ["unknown-variant"]
    project.replace(
        "native_functions.yaml", "autogen: epx.out", "autogen: epx.out  # gradmill: ignore unknown-variant why"
    )
    assert check(project) == []
    project.replace("tags.yaml", "- tag: core\n", "# gradmill: ignore tag-name it is never printed\n- tag: core ops\n")
    assert check(project) == []


def test_a_part_of_a_run_reports_no_unused_silence(project: Project) -> None:
    project.replace("derivatives.yaml", WRONG, f"{SILENT}  self: result * grad\n")
    assert project.run("schemas").stderr == ""
    assert "[unused-silence]" in project.run().stderr


# ---- descriptions


@pytest.fixture
def vendor(layers_built: Vendor, tmp_path: Path) -> Vendor:
    vendor = layers_built.copy(tmp_path)
    vendor.replace("specset.toml", "at::redispatch::$", "at::redispach::$")
    return vendor


def ignore(rule: str, more: str = "") -> str:
    return f'\n[[ignore]]\nrule = "{rule}"\nreason = "an older release prints it"\n{more}'


def test_a_description_silences_a_rule(vendor: Vendor) -> None:
    assert vendor.run("check", format="json").rules == ["unmatched-text"]
    vendor.append("specset.toml", ignore("unmatched-text"))
    assert vendor.run("check", format="json").rules == []
    assert vendor.run().stderr == vendor.run().stderr == ""
    vendor.replace("specset.toml", "at::redispach", "at::redispatch")
    assert vendor.run("check", format="json").rules == ["unused-silence"]
    assert vendor.run("check", format="json", families="nodes").rules == []  # others may have the warning


def test_a_description_silences_a_rule_for_some_entries_or_releases(vendor: Vendor) -> None:
    vendor.replace("specset.toml", "at::redispach", "at::redispatch")
    vendor.replace("plugin/config/derivatives.yaml", "swish_gradient(grad, self)", "swish_gradient(grad, slef)")
    assert vendor.run("check", format="json").rules == ["unknown-name"]
    text = vendor.path("specset.toml").read_text()
    for more, rules in (
        ('entries = "swish"\n', []),
        ('entries = ["mm", "swish"]\nsince = "2.13"\n', []),
        ('entries = "mm"\n', ["unknown-name", "unused-silence"]),
        ('until = "2.12"\n', ["unknown-name"]),
    ):
        vendor.path("specset.toml").write_text(text + ignore("unknown-name", more))
        assert sorted(vendor.run("check", format="json").rules) == rules, more


def test_a_comment_silences_a_warning_at_a_line_of_a_description(vendor: Vendor) -> None:
    """At the end of the line, or above it; what looks like one in a text is none."""
    line, comment = '    { from = "at::redispach', "# gradmill: ignore unmatched-text an older release prints it"
    text = vendor.path("specset.toml").read_text()
    for above, beside, rules in (
        (f"    {comment}\n    # with its namespace\n", "", []),
        ("", f"  {comment}", []),
        ("", "  # gradmill: ignore unmatched-text", ["malformed-silence", "unmatched-text"]),
        (f'    {{ from = "{comment}", to = "x" }},\n', "", ["unmatched-text"] * 2),
        (
            f"    {comment}\n    {{ from = 'DispatchKeySet ks', to = 'DispatchKeySet ks' }},\n",
            "",
            ["unmatched-text", "unused-silence"],
        ),
    ):
        own = text.partition(line)[2].partition("\n")[0]
        vendor.path("specset.toml").write_text(text.replace(line + own, f"{above}{line}{own}{beside}"))
        assert sorted(vendor.run("check", format="json").rules) == rules, above + beside
    assert sorted(vendor.run("check", format="json", families="variable_type").rules) == ["unmatched-text"]


def test_comments_in_files_of_layers_silence_warnings(vendor: Vendor) -> None:
    vendor.replace("specset.toml", "at::redispach", "at::redispatch")
    path = "plugin/config/derivatives.yaml"
    vendor.replace(
        path, "swish_gradient(grad, self)", "swish_gradient(grad, slef)  # gradmill: ignore unknown-name why"
    )
    assert vendor.run("check", format="json").rules == []
