"""`gradmill schema`: each JSON that a command prints has the form that its schema asks for, and no other field."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from cpp.toolchain import torch_folder
from jsonschema import Draft202012Validator
from project import Project

from gradmill.cli.commands.schema import PRINTED
from gradmill.cli.commands.table import COMMANDS as TABLE
from gradmill.reports.show import stages

# Command lines that print JSON, and the names of their schemas.
PRINTS = {
    "check format=json": "problems",
    "coverage format=json": "coverage",
    "coverage --format=json exp": "coverage",
    "diff against={before} format=json": "diff",
    "diff against={before} --format=json": "diff",
    "diff --code against={before} format=json": "diff.code",
    "explain format=json": "explain",
    "explain exp Functions.h match format=json": "explain",
    "explain derivatives.yaml:10 {generated}/Functions.h:20 format=json": "explain",
    "families format=json": "families",
    "list format=json": "list",
    "list --all --status format=json": "list",
    "rule format=json": "rule",
    "rule unknown-name format=json": "rule",
}
SCHEMAS = {"derivatives": "derivatives.row"}  # of a stage's rows, if it has another name than the stage
GRAPH = """
import torch

def wave(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x)
"""
FORMULA = "  self: grad * result.conj()\n"  # of exp


def closed(schema: Any) -> Any:
    """A schema that allows no other fields than those that it names."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    own = {"additionalProperties": False} if "properties" in schema else {}
    return {**own, **{name: closed(value) for name, value in schema.items()}}


def schema_of(project: Project, name: str) -> Draft202012Validator:
    run = project.run("schema", name).ok()
    schema = json.loads(run.stdout)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(closed(schema))


def test_every_command_that_prints_json_has_a_schema() -> None:
    named = set()
    for name, command in TABLE.items():
        choices = [choice for option in command.options for choice in option.values]
        if "json" in f"{command.usage} {command.sentence} {command.description}".lower() or "json" in choices:
            named.add(name)
    tried = {line.partition(" ")[0] for line in PRINTS}
    # Schemas themselves; below; as `run`; messages, in test_worker.py; in verify/test_verify.py.
    assert named - tried == {"schema", "show", "generate-code", "torchgen", "backend-stubs", "worker", "verify"} & named
    others = {"work-request", "work-response", "verify", *stages()}  # tested elsewhere; rows of `show`
    assert set(PRINTED) - others <= set(PRINTS.values())


def test_what_commands_print_has_the_form_of_its_schema(built: Project, tiny_specs: Path) -> None:
    built.replace("derivatives.yaml", FORMULA, FORMULA.replace("grad * ", "grad * 1 * "))
    schemas = {name: schema_of(built, name) for name in dict.fromkeys(PRINTS.values())}
    printed: dict[str, int] = {}
    for line, name in PRINTS.items():
        run = built.run(*line.format(generated=built.generated, before=tiny_specs).split())
        assert run.status == ("--code" in line), (line, run.stderr)
        document = json.loads(run.stdout)
        errors = [error.message for error in schemas[name].iter_errors(document)]
        assert errors == [], line
        printed[line] = len(document)
    empty = [line for line, size in printed.items() if not size]
    assert empty == []


def test_problems_have_the_form_of_their_schema(built: Project) -> None:
    built.replace("derivatives.yaml", FORMULA, FORMULA.replace("self", "slef"))
    run = built.run("check", "format=json")
    document = json.loads(run.stdout)
    assert run.status == 1 and document["problems"]
    assert [error.message for error in schema_of(built, "problems").iter_errors(document)] == []


def test_the_manifest_has_the_form_of_its_schema(tiny: Project) -> None:
    for schema, file in (("manifest", "manifest.json"), ("manifest.units", "units.json")):
        document = json.loads(tiny.rows.with_name(file).read_text())
        assert document["files" if schema == "manifest" else "units"]
        assert [error.message for error in schema_of(tiny, schema).iter_errors(document)] == []


@pytest.mark.parametrize("stage", stages())
def test_the_lines_of_a_stage_have_the_form_of_its_schema(tiny: Project, stage: str) -> None:
    if stage == "bindings":
        for template in (torch_folder() / "../torchgen/packaged/autograd/templates").glob("python_*"):
            copyfile(template, tiny.path(f"templates/{template.name}"))
    graph = tiny.folder / "doubled.py"
    graph.write_text(GRAPH)
    rows = tiny.run("show", stage, **({"graphs": graph} if stage == "graphs" else {})).rows
    schema = schema_of(tiny, SCHEMAS.get(stage, stage))
    assert rows
    assert [error.message for row in rows[:20] for error in schema.iter_errors(row)] == []


def test_a_field_that_no_schema_has_is_noticed(tiny: Project) -> None:
    (row,) = json.loads(tiny.run("rule", "unknown-name", "format=json").stdout)
    schema = schema_of(tiny, "rule")
    assert list(schema.iter_errors([{**row, "until": "0.2"}])) != []
    assert list(schema.iter_errors([{name: value for name, value in row.items() if name != "meaning"}])) != []


def test_a_schema_that_does_not_exist_is_reported(tiny: Project) -> None:
    run = tiny.run("schema", "coverag")
    assert (run.status, run.stderr) == (3, "ERROR: schema: no type 'coverag'\n  did you mean 'coverage'?\n")
    assert tiny.run("schema").stderr.startswith("ERROR: schema: name a type\n  types: derivatives, ")
