"""Each rule of the catalog: its bad example reports it, its good example reports nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copyfile

import pytest
from copies import copy_of
from project import CORE, KERNEL_TEMPLATES, ROOT, Project
from vendors.vendor import Vendor

from gradmill import __version__
from gradmill.problems.catalog.rule import Rule
from gradmill.problems.catalog.table import RULES
from gradmill.problems.catalog.verification import VERIFICATION
from problems.test_bad_specs import NAMES, read

BASE = ROOT / "tests" / "bad" / "base"
ENTRIES = ("derivatives.yaml", "native_functions.yaml", "tags.yaml")
VARIABLES = {"not-generated": {"families": "return_types"}, "unknown-operator": {"operators": "operators.yaml"}}
# In tests of other folders: cli, families, graphs, specs, stubs, vendors.
ELSEWHERE = {
    "ignored-operator",
    "listed-twice",
    "lost-gradient",
    "changed-generator",
    "lost-backward",
    "other-namespace",
    "missing-family",
    "untracked-view",
}
OF_VERIFY = {*VERIFICATION}  # in tests/verify/test_rules.py: only `verify` reports them
ADDED = {"no-function": ["- func: halve(Tensor self) -> Tensor\n  variants: method\n  dispatch:\n    CPU: halve"]}
LAYERED = {"specset.toml": "specset.toml"} | {"functions.yaml": "plugin/config/functions.yaml"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, torch_specs: Path) -> Project:
    project = Project(tmp_path_factory.mktemp("rules"), BASE, (BASE / "RELEASE").read_text())
    for name in ("python_return_types.h", "python_return_types.cpp"):
        copyfile(torch_specs / "autograd" / "templates" / name, project.path(f"templates/{name}"))
    return project.build(families="nodes")


@pytest.fixture(scope="module")
def vendor(layers_built: Vendor, tmp_path_factory: pytest.TempPathFactory) -> Vendor:
    return layers_built.copy(tmp_path_factory.mktemp("vendor"))


def with_entries(text: str, entries: str) -> str:
    """A YAML file with some entries in place of those of the same operators."""
    pieces = re.split(r"^(?=- )", entries, flags=re.MULTILINE)[1:]
    for name in {re.split(r"[(\n]", piece)[0] for piece in pieces}:
        text = re.sub(rf"^{re.escape(name)}\b(?![._]).*?(?=^- |\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    return f"{text.rstrip()}\n" + "".join(f"{piece.rstrip()}\n" for piece in pieces)


def check(rule: Rule, example: str, base: Project, vendor: Vendor, folder: Path) -> list[str]:
    """The rules that are reported for an example: within the base of the bad specs, or within a set of layers."""
    if rule.file in LAYERED:
        path = vendor.path(LAYERED[rule.file])
        text = path.read_text()
        whole = example.startswith("[base]")
        assert whole or text.count(rule.good) == 1, rule.good
        if whole:
            for template in KERNEL_TEMPLATES:
                copyfile(CORE / "templates" / template, vendor.folder / "base" / "templates" / template)
        try:
            path.write_text(example if whole else text.replace(rule.good, example))
            return vendor.run("check", format="json").rules
        finally:
            path.write_text(text)
    project = copy_of(base, folder)
    if rule.file in ENTRIES:
        path = project.path(rule.file)
        text = path.read_text()
        path.write_text(text.replace(rule.good, example) if rule.good in text else with_entries(text, example))
        for added in ADDED.get(rule.name, ()):
            project.append("native_functions.yaml", added)
    elif rule.file.startswith("templates/"):
        project.replace(rule.file, rule.good, example)
    else:
        (project.folder / rule.file).write_text(f"{example}\n")
    variables = {"families": "nodes", **VARIABLES.get(rule.name, {})}
    if "operators" in variables:
        variables["operators"] = str(project.folder / rule.file)
    return project.run("check", format="json", **variables).rules


@pytest.mark.slow(0.4)
@pytest.mark.parametrize("name", [name for name in RULES if name not in ELSEWHERE | OF_VERIFY])
def test_the_bad_example_reports_the_rule_and_the_good_one_does_not(
    name: str, base: Project, vendor: Vendor, tmp_path: Path
) -> None:
    rule = RULES[name]
    assert check(rule, rule.good, base, vendor, tmp_path / "good") == []
    assert name in check(rule, rule.bad, base, vendor, tmp_path / "bad")


@pytest.mark.extension("graphs")
def test_rules_that_are_tried_elsewhere_are_rules() -> None:
    names = ("families/test_lazy_backend.py", "stubs/test_lost_gradient.py")
    names += ("cli/test_generate_code.py", "graphs/test_exported_modes.py", "vendors/init.yaml")
    files = (ROOT / "tests" / name for name in names)
    others = "".join(path.read_text() for path in files)
    assert [name for name in ELSEWHERE if name not in RULES or name not in others] == []


# ---- the rule of each warning


def test_every_warning_of_the_golden_messages_names_a_rule_of_the_catalog() -> None:
    goldens = [ROOT / "tests" / name for name in ("vendors/errors.yaml", "bad/typing_errors.txt")]
    texts = [*(read(name).expected for name in NAMES), *(path.read_text() for path in goldens)]
    warnings = re.findall(r"^.*:\d+: warning: .*$", "\n".join(texts), re.MULTILINE)
    assert len(warnings) > 100
    assert [each for each in warnings if not (each.endswith("]") and each.rpartition("[")[2][:-1] in RULES)] == []


@pytest.fixture
def warned(base: Project, tmp_path: Path) -> Project:
    project = copy_of(base, tmp_path)
    project.replace("derivatives.yaml", "self: grad * result\n", "self: grad * reslt\n")
    return project


def test_a_warning_has_its_rule_in_every_format(warned: Project) -> None:
    message = "exp: self: unknown name 'reslt'"
    assert f": warning: {message} [unknown-name]\n" in warned.run("check", families="nodes").stdout
    assert f"::{message} [unknown-name]%0A" in warned.run("check", families="nodes", format="github").stdout
    assert warned.run("check", families="nodes", format="json").rules == ["unknown-name"]
    (log,) = json.loads(warned.run("check", families="nodes", format="sarif").stdout)["runs"]
    (rule,) = log["tool"]["driver"]["rules"]
    assert rule["id"] == log["results"][0]["ruleId"] == "unknown-name"
    assert rule["fullDescription"]["text"] == RULES["unknown-name"].meaning
    assert RULES["unknown-name"].bad in rule["help"]["text"]


def test_an_error_has_no_brackets(warned: Project) -> None:
    warned.replace("derivatives.yaml", "self: grad * reslt", "slef: grad")
    first = warned.run("check", families="nodes").stdout.partition("\n")[0]
    assert first.endswith(": error: exp: slef: 'slef' is neither an input nor an output of the op")


# ---- the command


def test_a_rule_is_explained_with_its_examples(base: Project) -> None:
    run = base.gradmill("rule", "unknown-method").clean()
    assert run.stdout == (
        "unknown-method\n"
        "  A tensor has no method of this name.\n"
        "  Since gradmill 0.1.0.\n"
        "\n"
        "bad, in derivatives.yaml:\n"
        "  - name: exp(Tensor self) -> Tensor\n"
        "    self: grad * result.cnoj()\n"
        "\n"
        "good:\n"
        "  - name: exp(Tensor self) -> Tensor\n"
        "    self: grad * result.conj()\n"
    )
    assert base.gradmill("rule", "[unknown-method]").stdout == run.stdout


def test_all_rules_are_listed(base: Project) -> None:
    listed = base.gradmill("rule").stdout.splitlines()
    assert [line.split()[0] for line in listed] == list(RULES)
    assert all(len(line) <= 120 for line in listed)
    assert [rule["name"] for rule in json.loads(base.gradmill("rule", format="json").stdout)] == list(RULES)


def test_each_rule_is_since_this_version_or_an_earlier_one() -> None:
    own = [int(part) for part in __version__.split(".")]
    assert [rule.name for rule in RULES.values() if [int(part) for part in rule.since.split(".")] > own] == []


def test_an_unknown_rule_names_the_nearest_one(base: Project) -> None:
    run = base.gradmill("rule", "unkown-name")
    assert (run.status, run.stdout) == (3, "")
    assert run.stderr == "ERROR: rule: no rule is called 'unkown-name'\n  did you mean 'unknown-name'?\n"
    assert "gradmill rule lists all" in base.gradmill("rule", "xyz").stderr
