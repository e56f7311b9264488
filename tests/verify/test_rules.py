"""The rules of what `verify` finds: each bad example reports its rule, each good one nothing; silences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from copies import copy_of
from never_wrong.specset import make_folder, of_families, read_specs
from project import CORE, Project, Run

from gradmill.problems.catalog.rule import Rule
from gradmill.problems.catalog.table import RULES
from gradmill.problems.catalog.verification import DIFFERENT, UNCHECKED, VERIFICATION, WRONG

pytestmark = pytest.mark.slow(5)  # they compile

RELEASE = (CORE / "RELEASE").read_text().strip()
OF_VERIFY = [RULES[name] for name in VERIFICATION]
SILENT = "  # gradmill: ignore {} as our users are used to"


def formula_of(example: str) -> tuple[str, str]:
    """The operator of an example, and its formula."""
    name, _, formula = example.removeprefix("- name: ").partition("\n  self: ")
    return name.partition("(")[0], formula


def verify(project: Project, **variables: object) -> Run:
    names = [formula_of(rule.good)[0] for rule in OF_VERIFY]
    run = project.gradmill("verify", *names, **variables)
    assert "Traceback" not in run.stderr, run.stderr
    return run


def edited(project: Project, folder: Path, examples: list[str]) -> Project:
    copy = copy_of(project, folder)
    for example in examples:
        operator, formula = formula_of(example)
        copy.set_formula(operator, "self", formula)
    return copy


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = make_folder(tmp_path_factory.mktemp("few") / "set", CORE, RELEASE)
    of_families(read_specs(CORE), [formula_of(rule.bad)[0] for rule in OF_VERIFY]).write(folder)
    project = Project(tmp_path_factory.mktemp("built"), folder, RELEASE)
    return edited(project.build(), tmp_path_factory.mktemp("bad"), [rule.bad for rule in OF_VERIFY])


@pytest.fixture(scope="module")
def log(bad: Project) -> dict[str, Any]:
    """What is found in the bad examples, as SARIF."""
    (run,) = json.loads(verify(bad, format="sarif").stdout)["runs"]
    return dict(run)


@pytest.mark.parametrize("rule", OF_VERIFY, ids=lambda rule: rule.name)
def test_the_bad_example_reports_the_rule_at_its_operator(rule: Rule, log: dict[str, Any]) -> None:
    operator, _ = formula_of(rule.bad)
    found = [each for each in log["results"] if each["message"]["text"].startswith(f"{operator}: ")]
    assert rule.name in {each["ruleId"] for each in found}, found
    assert {each["level"] for each in found} == {"error" if rule.name == WRONG else "warning"}
    described = {each["id"]: each["fullDescription"]["text"] for each in log["tool"]["driver"]["rules"]}
    assert described[rule.name] == rule.meaning


def test_the_good_examples_report_nothing(bad: Project, log: dict[str, Any], tmp_path: Path) -> None:
    good = edited(bad, tmp_path, [rule.good for rule in OF_VERIFY])  # with the samples that were recorded
    run = verify(good, strict=1).clean()
    assert "4 verified" in run.stdout


def test_a_silenced_warning_fails_no_strict_run(bad: Project, log: dict[str, Any], tmp_path: Path) -> None:
    project = copy_of(bad, tmp_path)
    for rule in OF_VERIFY:
        _, formula = formula_of(rule.bad)
        project.replace("derivatives.yaml", f"self: {formula}", f"self: {formula}{SILENT.format(rule.name)}")
    run = verify(project, format="sarif", strict=1)
    assert run.stderr == "", run.stderr
    (one,) = json.loads(run.stdout)["runs"]
    assert {each["ruleId"] for each in one["results"]} == {WRONG}  # an error
    project.set_formula("exp", "self", "grad * result.conj()")
    run = verify(project, strict=1).ok()
    assert f"[{DIFFERENT}]" not in run.stdout
    assert "1 not checked" in run.stdout


def test_check_knows_of_silences_for_what_only_verify_finds(bad: Project, tmp_path: Path) -> None:
    project = copy_of(bad, tmp_path)
    _, formula = formula_of(RULES[UNCHECKED].bad)
    project.replace("derivatives.yaml", f"self: {formula}", f"self: {formula}{SILENT.format(UNCHECKED)}")
    assert "silence" not in project.gradmill("check").stdout
    project.replace("derivatives.yaml", UNCHECKED, "not-verifyed")
    assert "did you mean 'not-verified'?" in project.gradmill("check").stdout
